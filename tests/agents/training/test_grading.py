"""Exact scores, also of players whose observations are sized for several scenarios."""

import pytest

from agents.training.grading import Exact, Point, graders, summary
from wfb_gym import solver
from wfb_gym.interop.sb3 import PhaseVecEnv


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
@pytest.mark.parametrize("player", ["random", "greedy", "optimal"])
def test_exact_scores_are_the_solver_s(seat: str, player: str) -> None:
    solution = solver.solved("archmage-duel")
    found = Exact(solution, seat).score(player)
    expected = solver.normalised_score(solution, player, seat)
    assert found.guaranteed == pytest.approx(expected.guaranteed)
    assert found.random == pytest.approx(expected.random)
    assert found.optimum == pytest.approx(expected.optimum)


def test_a_player_of_larger_observations_is_asked_with_them() -> None:
    envs = PhaseVecEnv(2, "caster", scenario=["apprentice", "storm-council"])
    size = envs.observation_space.shape
    exact = Exact(solver.solved("apprentice"), "caster", envs.limits)
    seen = []

    def first(observations, masks):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        seen.append(observations.shape[1:])
        return masks.argmax(axis=1)

    exact.score(first)
    assert set(seen) == {size}


def test_scores_of_several_scenarios_are_told_in_one() -> None:
    scores = {"a": solver.Score(10, 10, 0), "b": solver.Score(10, 5, 0), "c": solver.Score(2, 0, 0)}
    told = summary(scores)
    assert told is not None
    assert told.mean == told.median == pytest.approx(50)
    assert told.exploitability == pytest.approx(7 / 3)
    assert summary({}) is None


def test_points_of_the_curve_come_back_as_they_were() -> None:
    point = Point(5, {}, {"a": solver.Score(1.0, 0.5, 0.0)})
    assert Point.of(point.plain()) == point


def test_a_learner_is_graded_against_saved_models_of_its_pool_too() -> None:
    names = ["random", "greedy", "veteran"]
    assert graders(["self", "optimal:0.2", "a.zip", "mcts"], solvable=False) == [*names, "a.zip"]
    assert graders([], solvable=True) == [*names, "optimal"]
