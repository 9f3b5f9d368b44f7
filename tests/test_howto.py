"""The how-tos of docs/howto run as written, from top to bottom, and print the shown output.

In a `text` block after Python, and after a command, ``...`` matches anything.
"""

import contextlib
import doctest
import importlib
import io
import json
import re
import shlex
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import ROOT

PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))
SHORTER = {
    "model.learn(50_000)": "model.learn(500)", "model.learn(30_000)": "model.learn(500)",
    "updates=1000": "updates=2", "PhaseVecEnv(128": "PhaseVecEnv(16",
    "num_envs=256": "num_envs=16", "count=32": "count=4",
}  # fmt: skip
FENCES = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def agrees(printed: str, documented: str) -> bool:
    return doctest.OutputChecker().check_output(documented, printed, doctest.ELLIPSIS)


def shell(commands: str) -> None:
    """Run the commands of a block; the text after a command is its expected output."""
    for command, documented in re.findall(
        r"^\$ python (.*)\n((?:(?!\$ ).*\n)*)", commands.replace("\\\n", " "), re.MULTILINE
    ):
        option, module, *words = shlex.split(command)
        assert option == "-m"
        found = (sorted(map(str, Path().glob(word))) if "*" in word else [word] for word in words)
        arguments = [each for word in found for each in word]
        main = importlib.import_module({"wfb_gym": "wfb_gym.cli"}.get(module, module)).main
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(arguments) == 0, command
        printed, shown = (each.rstrip() + "\n" for each in (out.getvalue(), documented))
        assert not shown.strip() or agrees(printed, shown), f"{command}:\n{printed}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = ""
    for language, text in FENCES.findall(path.read_text(encoding="utf-8")):
        if language == "toml":
            name = re.match(r"# (\S+\.toml)\n", text)
            assert name is not None, "the first line of a file names it"
            Path(name[1]).write_text(text, encoding="utf-8")
        elif language == "json":
            json.loads(text)
        elif language == "console":
            assert text.startswith("$ python "), text
            shell(text)
        elif language == "python":
            assert not printed, f"the page does not show this output: {printed}"
            code = reduce(lambda code, each: code.replace(*each), SHORTER.items(), text)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, names)
            printed = out.getvalue()
        else:
            assert language == "text"
            assert agrees(printed, text), printed
            printed = ""
    assert not printed, f"the page does not show this output: {printed}"


def test_differences_are_found() -> None:
    assert agrees("guarantees 8.1 of 9.7\n", "guarantees ... of 9.7\n")
    assert not agrees("guarantees 8.1 of 9.8\n", "guarantees ... of 9.7\n")
    with pytest.raises(AssertionError, match="a made-up table"):
        shell("$ python -m wfb_gym roll --dice 3 --value 8\na made-up table\n")
    with pytest.raises(SystemExit):
        shell("$ python -m wfb_gym scenarios --nonsense\n")
