"""Golden transcripts are unchanged; `python -m tests.envs.golden` writes them again."""

from difflib import unified_diff
from pathlib import Path

import pytest

import wfb_gym
from tests.support.playing import registered

from . import golden
from .golden import BATTLE_GAMES, FOLDER, PHASE_GAMES, games, transcript

GAMES = games()


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    expected = path.read_text(encoding="utf-8").splitlines()
    found = transcript(*GAMES[path]).splitlines()
    changes = list(unified_diff(expected, found, "written", "played", lineterm="", n=2))
    advice = f"if this is meant: python -m tests.envs.golden {path.stem}, and read the difference"
    assert not changes, "\n".join([advice, *changes[:60]])


def test_every_id_and_every_scenario_has_a_transcript() -> None:
    assert set(FOLDER.glob("*.txt")) == set(GAMES)
    assert {name for name, _, _ in GAMES.values()} == set(registered())
    assert {*PHASE_GAMES, *BATTLE_GAMES} == set(wfb_gym.bundled_scenarios())


def test_the_command_writes_the_transcripts_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(golden, "FOLDER", tmp_path)
    monkeypatch.setattr(golden, "PHASE_GAMES", {"apprentice": PHASE_GAMES["apprentice"]})
    monkeypatch.setattr(golden, "BATTLE_GAMES", {})
    (tmp_path / "gone.txt").touch()
    assert golden.main(["caster-v0.apprentice"]) == 0
    assert capsys.readouterr().out == "1 of 1: caster-v0.apprentice: written\n"
    name = "caster-v0.apprentice.txt"
    assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
    assert (tmp_path / "gone.txt").exists()
    assert golden.main([]) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert (first, last) == ("1 of 2: caster-v0.apprentice: unchanged", "deleted: gone")
    assert second == "2 of 2: dispeller-v0.apprentice: written"
    with pytest.raises(SystemExit):
        golden.main(["caster-v0.aprentice"])
    assert "did you mean caster-v0.apprentice?" in capsys.readouterr().err
