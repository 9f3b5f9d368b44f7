"""Golden transcripts are unchanged; `python -m tests.envs.golden` writes them again."""

from difflib import unified_diff
from pathlib import Path

import pytest

import wfb_gym
from tests.support.playing import registered

from .golden import BATTLE_GAMES, FOLDER, PHASE_GAMES, games, transcript

GAMES = games()


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    expected = path.read_text(encoding="utf-8").splitlines()
    found = transcript(*GAMES[path]).splitlines()
    changes = list(unified_diff(expected, found, "written", "played", lineterm="", n=2))
    advice = "if this is meant: python -m tests.envs.golden, and read the difference"
    assert not changes, "\n".join([advice, *changes[:60]])


def test_no_file_is_left_over() -> None:
    assert set(FOLDER.glob("*.txt")) == set(GAMES)


def test_every_id_and_every_scenario_has_a_transcript() -> None:
    assert {name for name, _, _ in GAMES.values()} == set(registered())
    assert {*PHASE_GAMES, *BATTLE_GAMES} == set(wfb_gym.bundled_scenarios())
