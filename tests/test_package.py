"""Contents of the wheel other than modules, and side effects of importing the package."""

import re
import tomllib
from importlib import import_module
from typing import Any

import wfb_gym
from tests.support.pages import PACKAGE, ROOT
from tests.support.scripts import run_python
from wfb_gym.cli import main


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {normal(name): release for name, release in pins}


def normal(name: str) -> str:
    return name.lower().replace("_", "-")


def test_every_folder_of_modules_is_a_package_and_types_are_marked() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [folder.name for folder in folders if not (folder / "__init__.py").is_file()] == []
    assert (PACKAGE / "py.typed").is_file()


def test_every_requirement_is_pinned_to_a_release_of_no_single_build() -> None:
    extras = project()["project"]["optional-dependencies"]
    wanted = [*project()["project"]["dependencies"], *extras["train"], *extras["dev"], "torch>=2"]
    assert {normal(line.split(">=")[0]) for line in wanted} <= set(pinned())
    assert [name for name, release in pinned().items() if "+" in release] == []
    assert not {"pip", "setuptools", "wheel", "wfb-gym"} & set(pinned())


def test_import_loads_no_modules_of_extras() -> None:
    code = (
        "import sys, wfb_gym\n"
        "heavy = {'torch', 'stable_baselines3', 'matplotlib', 'pettingzoo', 'ray', 'pyspiel'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run_python("-c", code).out == "[]\n"


def test_named_extras_pythons_and_the_script_exist() -> None:
    about = project()["project"]
    extras = set(about["optional-dependencies"])
    for path in PACKAGE.rglob("*.py"):
        for named in re.findall(r"wfb-gym\[([a-z,]+)\]", path.read_text(encoding="utf-8")):
            assert set(named.split(",")) <= extras, path
    lines = "\n".join(about["classifiers"])
    pythons = re.findall(r"Programming Language :: Python :: (3\.\d+)$", lines, re.MULTILINE)
    assert about["requires-python"] == f">={pythons[0]}"
    module, function = about["scripts"]["wfb-gym"].split(":")
    assert getattr(import_module(module), function) is main


def test_dir_lists_the_public_names() -> None:
    assert set(dir(wfb_gym)) == {*wfb_gym.__all__, "__version__"}
    for name in dir(wfb_gym):
        assert getattr(wfb_gym, name)
