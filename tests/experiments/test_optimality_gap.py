"""The optimality gap: measured numbers equal exact ones where these are known."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.common import FAILED
from experiments.optimality_gap import Settings, bounds, exact_figures
from experiments.optimality_gaps.exploiting import ITSELF, TRAINED, Effort, Trainings, exploit
from experiments.optimality_gaps.tables import bound_rows_of, gap_rows
from tests.support.scripts import Scripts, results_in
from wfb_gym import solver
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS

DUEL = "archmage-duel"
ONE = "apprentice"
COMMAND = "experiments.optimality_gap --quick"


def value_as(seat: int, player: str, opponent: str) -> float:
    """Return a player's exact points in a seat of the duel."""
    pair = (player, opponent) if seat == 0 else (opponent, player)
    return solver.evaluate(DUEL, *pair) * (1.0 if seat == 0 else -1.0)


@pytest.mark.parametrize("seat", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_the_best_exploiter_is_chosen_and_its_gain_is_the_exact_one(seat: int) -> None:
    effort = Effort(exploiter=("random", "greedy", "veteran"), budget=0, battles=3000)
    found = exploit(effort, DUEL, "veteran", seat)
    assert list(found.candidates) == ["random", "greedy", ITSELF]
    exact = {name: value_as(1 - seat, name, "veteran") for name in ("random", "greedy")}
    exact[ITSELF] = value_as(1 - seat, "veteran", "veteran")
    assert found.exploiter == max(exact, key=lambda name: exact[name])
    assert found.exploiter == "greedy" if seat == 0 else ITSELF
    for name, mean in found.candidates.items():
        assert mean == pytest.approx(exact[name], abs=3.0)
    gain = exact[found.exploiter] - exact[ITSELF]
    assert abs(found.gain.mean - gain) <= 2.0 * found.gain.half_width
    best = solver.best_response(DUEL, "veteran", SEATS[seat]).value * (1.0 if seat == 1 else -1.0)
    assert found.gain.mean <= best - exact[ITSELF] + found.gain.half_width


def test_an_exploiter_without_improvement_gains_nothing() -> None:
    effort = Effort(exploiter=("random",), budget=0, battles=100)
    found = exploit(effort, DUEL, "greedy", 1)
    assert (found.exploiter, found.gain.mean, found.gain.half_width) == (ITSELF, 0.0, 0.0)
    assert found.variance_ratio == 1.0
    assert exploit(effort, DUEL, "greedy", 1) == found
    assert exploit(replace(effort, seed=1), DUEL, "greedy", 1).candidates != found.candidates


def test_searching_players_are_met_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[str, Path]] = []

    def run_one(self: Trainings, arguments: list[str], folder: Path) -> Path:
        runs.append((" ".join(arguments), folder))
        return folder / "model.zip"

    monkeypatch.setattr(Trainings, "_run", run_one)
    effort = Effort(budget=900, planner_budget=40, seed=3, out=tmp_path)
    with Trainings(1) as trainings:
        path = trainings.begin(effort, ONE, "veteran+greedy", 0).result()
        (only,) = runs
        assert path == only[1] / "model.zip"
        own = f"--seat dispeller --scenario {ONE} --seed 3"
        assert only[0] == f"{own} --opponent veteran --steps 900"
        runs.clear()
        trainings.begin(effort, ONE, "mcts:5", 1).result()
    first, second = runs
    assert first[0].startswith("--seat caster")
    assert "--opponent greedy --opponent veteran --steps 900" in first[0]
    assert f"--opponent mcts:5 --steps 40 --load {first[1] / 'model.zip'}" in second[0]
    assert first[1] != second[1]


def test_the_reason_for_no_training_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho a warning >&2\necho no space >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    line = f"experiments.optimality_gap --quick --budget 10 --out {tmp_path / 'out'}"
    error = scripts.run(line, FAILED).err
    assert error.endswith("experiments.optimality_gap: agents.train: no space\n")


@pytest.mark.slow
def test_a_learner_is_trained_against_the_player(tmp_path: Path) -> None:
    effort = Effort(exploiter=(), budget=150_000, battles=1000, out=tmp_path)
    with Trainings(1) as trainings:
        model = trainings.begin(effort, DUEL, "random", 1).result()
    found = exploit(effort, DUEL, "random", 1, model)
    assert found.exploiter == TRAINED
    assert found.gain.mean > 10.0


def test_only_json_is_printed_for_every_seat(tmp_path: Path, scripts: Scripts) -> None:
    found = scripts.document(f"{COMMAND} greedy veteran --out {tmp_path}")
    assert results_in(tmp_path) == found
    assert [(each["player"], each["seat"]) for each in found["parts"]] == [
        (player, seat) for player in ("greedy", "veteran") for seat in SEATS
    ]
    for each in found["parts"]:
        score = solver.normalised_score(ONE, each["player"], each["seat"])
        assert each["exact"]["score"] == pytest.approx(score.score)
    assert [each["player"] for each in found["bounds"]] == ["greedy", "veteran"]
    assert not found["interrupted"]


@pytest.mark.slow
@pytest.mark.usefixtures("quick_refusals")
def test_too_large_scenarios_are_reported(tmp_path: Path, scripts: Scripts) -> None:
    said = scripts.run(f"{COMMAND} --scenario seventh-edition-duel --memory 1 --out {tmp_path}")
    assert "does not fit into" in said.err
    assert {row[3] for row in gap_rows(results_in(tmp_path)["parts"])[1:]} == {"too large"}
    few = "--planner-decisions 5 --planner-battles 2"
    found = scripts.document(f"{COMMAND} expectimax:1 {few} --out {tmp_path / 'b'}")
    assert "too many to ask a player that searches" in found["parts"][0]["exact"]["rejected"]


def test_only_the_first_phases_are_solved(tmp_path: Path, scripts: Scripts) -> None:
    cut = load_scenario("border-skirmish").first_phases(1)
    for each in scripts.document(f"{COMMAND} --scenario border-skirmish --out {tmp_path}")["parts"]:
        wanted = solver.normalised_score(cut, "greedy", each["seat"])
        assert each["exact"]["score"] == pytest.approx(wanted.score)
        assert (each["exact"]["phases"], each["exact"]["of"]) == (1, 6)


def part(seat: str, mean: float, half_width: float, **changes: Any) -> dict[str, Any]:
    gain = {"mean": mean, "half_width": half_width, "battles": 10}
    exact = {"phases": 1, "of": 6, "score": 50.0, "guaranteed": -2.0}
    exploited = {"exploiter": "greedy", "gain": gain, "variance_ratio": 8.25}
    fields = {"player": "p", "seat": seat, "exact": exact, "exploited": exploited}
    return {"scenario": "s", **fields, **changes}


def test_errors_other_than_size_are_named_rejected() -> None:
    other = exact_figures(Settings(), ONE, f"{DUEL}/caster+{DUEL}/dispeller", 0)
    assert "expected a model for apprentice of one of these sizes" in other["rejected"]
    large = exact_figures(Settings(planner_decisions=5), ONE, "expectimax:1", 0)
    rows = gap_rows([part("caster", 3.0, 3.0, exact=exact) for exact in (other, large)])
    assert [row[3] for row in rows[1:]] == ["rejected", "too large"]


def test_the_mean_of_both_seats_is_a_bound() -> None:
    parts = [part("caster", 3.0, 3.0), part("dispeller", 1.0, 4.0)]
    (found,) = bounds(parts)
    assert found == {"scenario": "s", "player": "p", "value": 2.0, "half_width": 2.5}
    assert bounds(parts[:1]) == []
    assert bound_rows_of([found])[1] == ["s", "p", "+2.00 ± 2.50"]
    row = ["s", "p", "caster", "50.0 (1 of 6)", "greedy", "+3.00 ± 3.00", "8.2"]
    assert gap_rows(parts)[1] == row
