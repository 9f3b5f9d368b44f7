"""The README: it is short, and each block runs exactly as printed, by itself."""

import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import ROOT
from tests.support.scripts import run_python
from wfb_gym.cli import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^python -m wfb_gym (.*?) *(?:#.*)?$", README, re.MULTILINE)
EXTRAS = "sb3_contrib", "pettingzoo", "pyspiel", "torch"
LONG = ("web", "train")
"""Commands that run long or until they are stopped; tests/web and tests/cli run them."""
SLOW = "MaskablePPO"
"""The block with this name trains; `docs/howto/train-a-caster.md` runs with fewer steps."""


def block_of(code: str) -> Any:
    """Return a block as a parameter; it is skipped if a module that it imports is missing."""
    needed = [name for name in EXTRAS if re.search(rf"^(import|from) {name}\b", code, re.MULTILINE)]
    imports = re.findall(r"^(?:from \S+ )?import (.*)$", code, re.MULTILINE)
    marks = [pytest.mark.needs(*needed), *[pytest.mark.slow] * (SLOW in code)]
    return pytest.param(code, marks=marks, id=", ".join(imports))


@pytest.mark.parametrize("code", [block_of(code) for code in BLOCKS])
def test_every_block_runs_in_a_fresh_interpreter(code: str, tmp_path: Path) -> None:
    done = run_python("-c", code, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)})
    assert done.status == 0, done.err
    # A number after a print is its expected output, to the digits shown.
    documented = re.findall(r"^ *print\(.*\)(?: +# (-?[\d.]*\d)?.*)?$", code, re.MULTILINE)
    last_lines = done.out.splitlines()[-len(documented) :] if documented else []
    for printed, number in zip(last_lines, documented, strict=True):
        if number:
            digits = len(number.partition(".")[2])
            assert float(printed) == pytest.approx(float(number), abs=10.0**-digits)


@pytest.mark.parametrize("command", [each for each in COMMANDS if each not in LONG])
def test_every_command_runs(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())  # without answers on stdin
    assert main(shlex.split(command)) == 0
