"""Strength in battles: paired differences, resumed runs, players that fail."""

from pathlib import Path

import pytest

from experiments.strength import strength_rows
from tests.support.scripts import Scripts, results_in


def test_differences_are_those_of_the_same_dice(tmp_path: Path, scripts: Scripts) -> None:
    line = f"veteran greedy --pool greedy --scenario border-skirmish --battles 8 --out {tmp_path}"
    assert scripts.run(f"experiments.strength {line}").out.endswith(f"results: {tmp_path}\n")
    results = results_in(tmp_path)
    assert len(results["rows"]) == 4  # two players in two seats
    points = {(row["player"], row["seat"]): row["points"] for row in results["rows"]}
    for row in results["rows"]:
        expected = points["veteran", row["seat"]] - row["points"]
        assert row["reference_wins_more"] == pytest.approx(expected)
        assert (row["half_width"] == 0.0) == (row["player"] == "veteran")
    assert (tmp_path / "strength.png").stat().st_size > 10_000
    header, *lines = strength_rows(results)
    assert header == ["battle", "seat", "veteran wins", "lead over greedy"]
    assert [line[:2] for line in lines] == [["border-skirmish", s] for s in ("caster", "dispeller")]


def test_models_of_each_scenario_and_seat_are_one_player(tmp_path: Path, scripts: Scripts) -> None:
    both = "{scenario}/caster+{scenario}/dispeller"
    scenarios = "--scenario apprentice --scenario archmage-duel"
    line = f"random {both} --pool greedy --battles 64 {scenarios} --out {tmp_path}"
    scripts.run(f"experiments.strength {line}")
    for row in results_in(tmp_path)["rows"]:
        assert (row["reference_wins_more"] < 0) == (row["player"] == both)
