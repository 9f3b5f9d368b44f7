"""Errors of commands without the extra `train`; the tests hide its packages."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from tests.support.commands import Said
from tests.support.pages import ROOT
from tests.support.scripts import run_python
from wfb_gym import _commands


def run_without(missing: str, command: str, tmp_path: Path) -> Said:
    """Run a command of the clone with a module hidden."""
    hidden = f"""\
import sys
class Hidden:
    def find_spec(name, path=None, target=None):
        if name == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden)
"""
    (tmp_path / "sitecustomize.py").write_text(hidden, encoding="utf-8")
    path = os.pathsep.join((str(tmp_path), str(ROOT)))
    ended = run_python("-m", *command.split(), env={"PYTHONPATH": path})
    assert ended.status == 1
    return ended


def test_other_modules_are_a_mistake_in_the_code(tmp_path: Path) -> None:
    error = run_without("numpy", "experiments.solve archmage-duel", tmp_path).err
    assert "Traceback" in error
    assert "pip install" not in error


@pytest.mark.parametrize(
    ("missing", "command"),
    [("torch", "agents.train --quick"), ("matplotlib", "experiments.solve archmage-duel")],
)
def test_a_missing_extra_is_named_in_one_line(missing: str, command: str, tmp_path: Path) -> None:
    (line,) = run_without(missing, command, tmp_path).err.splitlines()
    name = command.split(maxsplit=1)[0]
    assert line.startswith(f'python -m {name}: needs {missing}: pip install "wfb-gym[train]"')


def test_all_modules_of_the_extra_are_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[>=]", each)[0] for each in project["optional-dependencies"]["train"]}
    assert {each.replace("-", "_") for each in named} | {"torch"} == _commands._TRAIN
