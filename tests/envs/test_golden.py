"""The golden transcripts still hold; `python -m tests.envs.golden` writes them anew."""

from difflib import unified_diff
from pathlib import Path

import pytest

from .golden import FOLDER, GAMES, files

FILES = files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    expected = path.read_text(encoding="utf-8").splitlines()
    found = FILES[path].splitlines()
    changes = list(unified_diff(expected, found, "written", "played", lineterm="", n=2))
    advice = "if this is meant: python -m tests.envs.golden, and read the difference"
    assert not changes, "\n".join([advice, *changes[:60]])


def test_no_file_is_left_over() -> None:
    assert set(FOLDER.glob("*.txt")) == set(FILES)
    assert GAMES["archmage-duel"] == "veteran"
