"""Strength in battles: paired differences, resumed runs, players that fail."""

from pathlib import Path

import pytest

from experiments.strength import strength_rows
from tests.support.scripts import Scripts, results_in
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import KINDS
from wfb_gym.players.network import PolicyNetwork, save_network

PLAYERS = ["veteran", "greedy"]
LINE = (
    "experiments.strength veteran greedy --pool greedy --scenario border-skirmish --battles 8 --out"
)


def test_differences_are_those_of_the_same_dice(tmp_path: Path, scripts: Scripts) -> None:
    assert scripts.run(f"{LINE} {tmp_path}").out.endswith(f"results: {tmp_path}\n")
    results = results_in(tmp_path)
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


def test_models_of_each_scenario_and_seat_are_one_player(tmp_path: Path, scripts: Scripts) -> None:
    both = "{scenario}/caster+{scenario}/dispeller"
    scenarios = "--scenario apprentice --scenario archmage-duel"
    line = f"random {both} --pool greedy --battles 64 {scenarios} --out {tmp_path}"
    scripts.run(f"experiments.strength {line}")
    for row in results_in(tmp_path)["rows"]:
        assert (row["reference_wins_more"] < 0) == (row["player"] == both)


def test_models_play_in_the_sizes_that_they_declare(tmp_path: Path, scripts: Scripts) -> None:
    path, limits = tmp_path / "wide.npz", generated_limits(KINDS["duel"].sizes)
    save_network(PolicyNetwork(limits, width=8), path, {"seat": "either", "scenario": "generated"})
    line = f"random {path} --pool {path} --scenario apprentice --battles 64"
    scripts.run(f"experiments.strength {line} --out {tmp_path / 'out'}")
    assert len(results_in(tmp_path / "out")["rows"]) == 4
