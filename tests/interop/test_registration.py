"""Names that PettingZoo and OpenSpiel know after ``import wfb_gym``, in whichever order."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT

PETTINGZOO = """
import pettingzoo
aec = pettingzoo.make("aec", "wfb_gym/MagicPhase-v0", scenario="apprentice")
parallel = pettingzoo.make("parallel", "wfb_gym/Battle-v0")
print(aec.possible_agents[0], parallel.possible_agents[0])
"""
OPENSPIEL = """
import pyspiel
game = pyspiel.load_game("wfb_gym_phase(scenario=apprentice)")
print(game, pyspiel.load_game("wfb_gym_phase"))
"""
GAMES = "wfb_gym_phase(scenario=apprentice) wfb_gym_phase(scenario=archmage-duel)"


def output_of(code: str) -> str:
    """Run Python code in an interpreter of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr  # there it says what it compiles, if it does
    return done.stdout.strip()


@pytest.mark.needs("pettingzoo")
@pytest.mark.parametrize(
    "imports",
    [
        "import pettingzoo, wfb_gym",
        "import importlib, wfb_gym, pettingzoo; importlib.reload(pettingzoo)",
        "import wfb_gym; from pettingzoo.utils import wrappers",
    ],
)
def test_pettingzoo_knows_the_ids(imports: str) -> None:
    assert output_of(imports + PETTINGZOO) == "caster_0 army_0"


@pytest.mark.needs("pyspiel")
@pytest.mark.parametrize(
    "imports",
    [
        "import wfb_gym",
        "import pyspiel, wfb_gym",
    ],
)
def test_openspiel_knows_the_game(imports: str) -> None:
    assert output_of(imports + OPENSPIEL) == GAMES


def test_an_older_pettingzoo_is_imported_as_ever(tmp_path: Path) -> None:
    """A release that makes nothing by name is left alone, and so is what loaded it."""
    (tmp_path / "pettingzoo.py").write_text("__version__ = '1.24'\n", encoding="utf-8")
    code = (
        f"import sys, importlib.util, wfb_gym; sys.path.insert(0, {str(tmp_path)!r})\n"
        "importlib.util.find_spec('pettingzoo')\n"
        "import pettingzoo\n"
        "print(pettingzoo.__version__, vars(pettingzoo.__loader__).keys() & {'exec_module'})"
    )
    assert output_of(code) == "1.24 set()"


def test_a_library_that_breaks_while_it_loads_can_be_imported_again(tmp_path: Path) -> None:
    """Registration waits until a library has been loaded whole."""
    (tmp_path / "pettingzoo.py").write_text(
        "import sys\n"
        "if not hasattr(sys, 'mended'):\n"
        "    sys.mended = True\n"
        "    raise OSError\n"
        "aec_registry, parallel_registry = {}, {}\n"
        "def register(kind, name, entry, kwargs): print(kind, name)\n",
        encoding="utf-8",
    )
    code = (
        f"import sys, wfb_gym; sys.path.insert(0, {str(tmp_path)!r})\n"
        "try:\n"
        "    import pettingzoo\n"
        "except OSError:\n"
        "    import pettingzoo"
    )
    names = ("MagicPhase-v0", "Battle-v0")
    expected = [f"{kind} wfb_gym/{name}" for kind in ("aec", "parallel") for name in names]
    assert output_of(code).splitlines() == expected
