"""Points of policies, of their best responses, and their scores."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.builders import army, lasting, spell, wizard
from wfb_gym import solver
from wfb_gym.encoding.limits import Limits, fit, union
from wfb_gym.encoding.space_sizes import space_sizes
from wfb_gym.engine.battle import Battle
from wfb_gym.solver import seat_decisions

from .small import scenario, solved

NAMES = ("a duel", "several wizards", "two phases", "a re-roll of one die", "dice of one's own")
CLOSE = 1e-9


class Mixed:
    """Return random probabilities that depend on the observation."""

    def __init__(self, seed: int, sharp: float) -> None:
        self.seed, self.sharp = seed, sharp

    def __call__(self, observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> Any:
        rng = np.random.default_rng(self.seed)
        weights = rng.normal(size=(observations.shape[1], masks.shape[1]))
        scores = np.einsum("ki,ij->kj", observations.astype(np.float64), weights)
        scores = np.where(masks, np.sin(17.0 * scores) * self.sharp, -np.inf)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        return chances / chances.sum(axis=1, keepdims=True)


def sign(seat: int) -> float:
    return 1.0 if seat == 0 else -1.0


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_no_policy_guarantees_more_than_the_optimum(name: str, seat: int) -> None:
    solution = solved(name)
    lost = []
    for seed in range(4):
        policy = Mixed(seed, 3.0**seed)
        answer = solver.best_response(solution, policy, seat)
        lost.append((solution.value - answer.value) * sign(seat))
        alone: dict[str, Any] = {("caster", "dispeller")[seat]: policy}
        assert solver.exploitability(solution, **alone) == pytest.approx(lost[-1], abs=CLOSE)
    assert min(lost) >= -CLOSE
    assert max(lost) > 0.1


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_a_best_response_wins_its_value(name: str, seat: int) -> None:
    solution = solved(name)
    policy = Mixed(5, 2.0)
    answer = solver.best_response(solution, policy, seat)
    pair: tuple[Any, Any] = (policy, answer.policy) if seat == 0 else (answer.policy, policy)
    value = solver.evaluate(solution, *pair)
    assert value == pytest.approx(answer.value, abs=CLOSE)
    for other in ("random", "greedy", "veteran", "optimal", Mixed(9, 1.0)):
        pair = (policy, other) if seat == 0 else (other, policy)
        assert (solver.evaluate(solution, *pair) - value) * sign(seat) >= -CLOSE


@pytest.mark.parametrize("name", NAMES)
def test_optimal_play_of_both_has_the_value_and_no_exploitability(name: str) -> None:
    solution = solved(name)
    value = pytest.approx(solution.value, abs=CLOSE)
    assert solver.evaluate(solution, "optimal", "optimal") == value
    for seat in (0, 1):
        assert solver.best_response(solution, "optimal", seat).value == value
        assert solver.best_response(solution, solution.policy(seat), seat).value == value
    assert solver.exploitability(solution, "optimal", "optimal") == pytest.approx(0.0, abs=CLOSE)


@pytest.mark.parametrize("seat", [0, "dispeller"])
def test_the_optimum_scores_100_and_random_play_0(seat: int | str) -> None:
    solution = solved("a duel")
    best = solver.normalised_score(solution, "optimal", seat)
    worst = solver.normalised_score(solution, "random", seat)
    assert best.score == pytest.approx(100.0, abs=1e-6)
    assert worst.score == pytest.approx(0.0, abs=1e-6)
    assert best.random == worst.random == pytest.approx(worst.guaranteed, abs=CLOSE)
    half = solver.normalised_score(solution, "optimal:0.5", seat)
    assert half.score is not None
    assert 0.0 < half.score < 100.0


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_decisions_that_a_policy_never_reaches_do_not_count(
    name: str, seat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seat_decisions, "_EXPANDED", 5)
    game = solver.ExactGame(solved(name))
    asked: list[int] = []
    for policy in (solved(name).policy(seat), Mixed(1, 1000.0)):

        def counting(observations: Any, masks: Any, policy: Any = policy) -> Any:
            asked.append(len(masks))
            return policy(observations, masks)

        everywhere = game.score(game.probabilities(counting, seat), seat)
        often = sum(asked)
        asked.clear()
        reached = game.score(game.probabilities(counting, seat, reached=True), seat)
        assert reached == everywhere  # to the last bit: the same sums
        assert sum(asked) <= often
        if (name, seat) == ("several wizards", 0):
            assert sum(asked) < often / 2
        asked.clear()


def test_a_score_is_a_share_of_the_possible_gain() -> None:
    found = solver.Score(optimum=10.0, guaranteed=4.0, random=2.0)
    assert repr(found) == "Score(score=25.0, optimum=10.0, guaranteed=4.0, random=2.0)"
    assert solver.Score(optimum=-1.0, guaranteed=-4.0, random=-3.0).score == pytest.approx(-50.0)
    assert solver.Score(optimum=1.0, guaranteed=1.0, random=1.0 - 1e-12).score is None
    made = scenario(army(wizard(1, spell("Nothing", 5, 0.0)), power_dice=1), army(dispel_dice=1))
    score = solver.normalised_score(made, "greedy", 0)
    assert (score.optimum, score.guaranteed, score.random) == (0.0, 0.0, 0.0)
    assert score.score is None
    assert "-0.0" not in repr(solver.normalised_score(made, "greedy", 1))


def test_other_seats_are_rejected() -> None:
    with pytest.raises(ValueError, match="a caster, a dispeller or both"):
        solver.exploitability(solved("a duel"))
    for call in (solver.best_response, solver.normalised_score):
        with pytest.raises(ValueError, match="seat"):
            call(solved("a duel"), "random", 2)


def test_progress_is_reported() -> None:
    reported: list[int] = []
    solver.evaluate(solved("a duel"), "random", "random", reported.append)
    assert reported[-1] == solved("a duel").full.size


class InSizes:
    """Takes the first legal action, and accepts only rows of certain sizes, like a network."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> Any:
        assert (observations.shape[1], masks.shape[1]) == space_sizes(self.limits)
        return masks.argmax(axis=1)


def test_policies_are_graded_in_their_own_sizes() -> None:
    solution = solved("a duel")
    fitted = [fit(solution.packed, seat) for seat in range(2)]
    both = union(fitted)
    plain, wide = [InSizes(each) for each in fitted], InSizes(both)
    assert space_sizes(both) not in map(space_sizes, fitted)
    wanted = pytest.approx(solver.evaluate(solution, plain[0], plain[1]), abs=CLOSE)
    assert solver.evaluate(solution, wide, wide, limits=both) == wanted
    assert solver.evaluate(solution, plain[0], wide, limits=(None, both)) == wanted
    lost = pytest.approx(solver.exploitability(solution, plain[0], plain[1]), abs=CLOSE)
    assert solver.exploitability(solution, wide, wide, limits=both) == lost
    for seat in range(2):
        score = solver.normalised_score(solution, plain[seat], seat)
        found = solver.normalised_score(solution, wide, seat, limits=both)
        assert vars(found) == pytest.approx(vars(score), abs=CLOSE)
        answer = solver.best_response(solution, wide, seat, limits=both)
        assert answer.value == pytest.approx(score.guaranteed * sign(seat), abs=CLOSE)
    sizes = f"expected a policy for {space_sizes(fitted[0])}, found one for {space_sizes(both)}"
    with pytest.raises(ValueError, match=re.escape(sizes)):
        solver.normalised_score(solution, wide, 0)


def test_errors_of_a_policy_name_the_shapes_of_its_arguments() -> None:
    def network(observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> Any:
        return observations @ np.zeros((1, 2))

    with pytest.raises(ValueError, match="matmul") as raised:
        solver.normalised_score(solved("a duel"), network, 0)
    assert re.search(r"observations of shape \(\d+, \d+\)", raised.value.__notes__[0])


def test_points_before_the_first_decision_count() -> None:
    """No player decides in the first phase; at its end the spell in play pays."""
    kept = lasting("Ward", 6, worth_per_phase=4.0, in_play=True)
    owner = army(wizard(2, kept, spell("Bolt", 5, 20.0)), power_dice=2, dispel_dice=0)
    solution = solver.solve(scenario(army(power_dice=0, dispel_dice=0), owner, phases=2))
    assert Battle(solution.packed).points == -4.0
    assert not Battle(solution.packed).is_over
    exact = pytest.approx(solution.value, abs=CLOSE)
    assert solver.evaluate(solution, "optimal", "optimal") == exact
    assert solver.best_response(solution, "optimal", 1).value == exact
    assert -solver.normalised_score(solution, "optimal", 1).guaranteed == exact
    assert solution.value < -8.0
