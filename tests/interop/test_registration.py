"""Names registered with PettingZoo and OpenSpiel by ``import wfb_gym``."""

from pathlib import Path

import pytest

from tests.support.scripts import run_python

PETTINGZOO = """
import pettingzoo
for kind in ("aec", "parallel"):
    for name, keys in (("MagicPhase", {"scenario": "apprentice"}), ("Battle", {})):
        env = pettingzoo.make(kind, f"wfb_gym/{name}-v0", **keys)
        print(*env.possible_agents, env.metadata["name"])
"""
OPENSPIEL = """
import pyspiel
game = pyspiel.load_game("wfb_gym_phase(scenario=apprentice)")
print(game, pyspiel.load_game("wfb_gym_phase"))
"""
GAMES = "wfb_gym_phase(scenario=apprentice) wfb_gym_phase(scenario=archmage-duel)"


def output_of(code: str) -> str:
    """Run Python code in a new interpreter and return its output."""
    said = run_python("-W", "error", "-c", code)
    assert said.status == 0, said.err  # stderr may contain progress of the compiler
    return said.out.strip()


EITHER = pytest.mark.parametrize(
    "imports", ["{}, wfb_gym", pytest.param("wfb_gym, wfb_gym.interop.{}", marks=pytest.mark.slow)]
)


@pytest.mark.needs("pettingzoo")
@EITHER
def test_pettingzoo_knows_the_ids(imports: str) -> None:
    code = f"import {imports.format('pettingzoo')}{PETTINGZOO}"
    lines = ["caster_0 dispeller_0 magic_phase_v0", "army_0 army_1 battle_v0"]
    assert output_of(code).splitlines() == lines * 2


@pytest.mark.needs("pyspiel")
@EITHER
def test_openspiel_knows_the_game(imports: str) -> None:
    library = "openspiel" if "interop" in imports else "pyspiel"
    assert output_of(f"import {imports.format(library)}{OPENSPIEL}") == GAMES


def test_an_older_pettingzoo_stays_unchanged(tmp_path: Path) -> None:
    """A release without lookup by name stays unchanged."""
    (tmp_path / "pettingzoo.py").write_text("__version__ = '1.24'\n", encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import pettingzoo, wfb_gym\n"
        "print(pettingzoo.__version__)"
    )
    assert output_of(code) == "1.24"


def test_importing_the_package_changes_no_python_settings() -> None:
    code = (
        "import atexit, gymnasium, signal, sys\n"
        "def installed():\n"
        "    return sys.excepthook, sys.unraisablehook, signal.getsignal(signal.SIGINT)\n"
        "before, finders, exits = installed(), [*sys.meta_path], atexit._ncallbacks()\n"
        "import wfb_gym\n"
        "assert installed() == before\n"
        "assert sys.meta_path == finders, sys.meta_path\n"
        "assert atexit._ncallbacks() == exits\n"
    )
    assert output_of(code) == ""
