"""Strength in battles: paired differences, resumed runs, players that fail."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import strength
from experiments.strength import main, strength_rows
from experiments.tournaments.matches import Match, MatchResult, play_match
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import KINDS
from wfb_gym.players.network import PolicyNetwork, save_network

PLAYERS = ["veteran", "greedy"]
LINE = [*PLAYERS, "--pool", "greedy", "--scenario", "border-skirmish", "--battles", "8"]


def _results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text("utf-8"))
    return found


def test_differences_are_those_of_the_same_dice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*LINE, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith(f"results: {tmp_path}\n")
    results = _results(tmp_path)
    assert len(results["rows"]) == 4  # two players in two seats
    for row in results["rows"]:
        (reference,) = (
            one
            for one in results["rows"]
            if (one["player"], one["seat"]) == (PLAYERS[0], row["seat"])
        )
        expected = reference["points"] - row["points"]
        assert row["reference_wins_more"] == pytest.approx(expected)
        assert (row["half_width"] == 0.0) == (row["player"] == PLAYERS[0])
    assert (tmp_path / "strength.png").stat().st_size > 10_000
    header, *lines = strength_rows(results)
    assert header == ["battle", "seat", "veteran wins", "lead over greedy"]
    assert [line[:2] for line in lines] == [["border-skirmish", s] for s in ("caster", "dispeller")]


def test_models_of_each_scenario_and_seat_are_one_player(tmp_path: Path) -> None:
    both = "{scenario}/caster+{scenario}/dispeller"
    line = ["random", both, "--pool", "greedy", "--battles", "64"]
    line += ["--scenario", "apprentice", "--scenario", "archmage-duel"]
    assert main([*line, "--out", str(tmp_path)]) == 0
    for row in _results(tmp_path)["rows"]:
        assert (row["reference_wins_more"] < 0) == (row["player"] == both)


def test_models_play_in_the_sizes_that_they_declare(tmp_path: Path) -> None:
    path, limits = tmp_path / "wide.npz", generated_limits(KINDS["duel"].sizes)
    save_network(PolicyNetwork(limits, width=8), path, {"seat": "either", "scenario": "generated"})
    line = ["random", str(path), "--pool", str(path), "--scenario", "apprentice", "--battles", "64"]
    assert main([*line, "--out", str(tmp_path / "out")]) == 0
    assert len(_results(tmp_path / "out")["rows"]) == 4


def test_a_model_that_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["greedy", "runs/{scenario}.npz", "--scenario", "apprentice", "--pool", "greedy"]
    with pytest.raises(SystemExit):
        main(line)
    assert "runs/apprentice.npz: expected a saved network, found no file" in capsys.readouterr().err


def test_an_interrupted_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def counted(match: Match) -> MatchResult:
        played.append(str(match))
        if len(played) == 2:
            raise KeyboardInterrupt
        return play_match(match)

    monkeypatch.setattr(strength, "play_match", counted)
    assert main([*LINE, "--out", str(tmp_path)]) == 130
    assert main([*LINE, "--out", str(tmp_path)]) == 0
    assert len(played) == 1 + 3  # the interrupted match is played again
    whole = _results(tmp_path)["rows"]
    assert main([*LINE, "--out", str(tmp_path / "again")]) == 0
    again = _results(tmp_path / "again")["rows"]
    for row in (*whole, *again):
        del row["milliseconds"]
    assert whole == again


def test_other_settings_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--out", str(tmp_path)]) == 0
    assert main([*LINE, "--seed", "1", "--out", str(tmp_path)]) != 0
    assert "holds another measurement" in capsys.readouterr().err


def test_a_single_player_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["greedy"])
    assert "expected a reference and at least one more" in capsys.readouterr().err
