"""Exact results of several policies at once are what the solver says of each."""

import numpy as np
import pytest
from numpy.typing import NDArray

from experiments.exact import score_of
from wfb_gym import solver
from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.layout import layout
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import Generation
from wfb_gym.players.registry import make_agent
from wfb_gym.solver import ExactGame

DUEL = "archmage-duel"
PLAYERS = ("random", "veteran", "optimal:0.3")


@pytest.fixture(scope="module")
def game() -> ExactGame:
    return ExactGame(DUEL)


def test_points_of_pairs_are_the_solvers(game: ExactGame) -> None:
    casters = {name: game.probabilities(name, "caster") for name in PLAYERS}
    dispellers = {name: game.probabilities(name, 1) for name in PLAYERS}
    for caster, given in casters.items():
        for dispeller, answer in dispellers.items():
            wanted = solver.evaluate(DUEL, caster, dispeller)
            assert game.value(given, answer) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_scores_are_the_solvers(game: ExactGame, seat: str) -> None:
    for name in PLAYERS:
        wanted = solver.normalised_score(DUEL, name, seat)
        for found in (game.score(game.probabilities(name, seat), seat), score_of(game, name, seat)):
            assert vars(found) == pytest.approx(vars(wanted), abs=1e-9)


def test_an_agent_is_asked_as_the_player_of_that_name(game: ExactGame) -> None:
    agent = make_agent("veteran", scenario=DUEL, seat=1)
    assert np.array_equal(game.probabilities(agent, 1), game.probabilities("veteran", 1))


def test_decisions_are_counted(game: ExactGame) -> None:
    full = solver.solve(DUEL).full
    for seat in range(2):
        assert game.decisions(seat) == list(full.kinds).count(seat) > 0


def test_a_policy_may_have_the_sizes_of_generated_scenarios(
    game: ExactGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = generated_limits(Generation().sizes)
    wide = (layout(limits).size, action_codec(limits).n)

    class Wide:
        """Lets the first legal action happen, and knows one size alone."""

        def act(
            self, observations: NDArray[np.float32], masks: NDArray[np.bool_]
        ) -> NDArray[np.int64]:
            if (observations.shape[1], masks.shape[1]) != wide:
                raise ValueError("expected other sizes")
            chosen: NDArray[np.int64] = masks.argmax(axis=1)
            return chosen

    class Fitted:
        def act(
            self, observations: NDArray[np.float32], masks: NDArray[np.bool_]
        ) -> NDArray[np.int64]:
            if (observations.shape[1], masks.shape[1]) == wide:
                raise ValueError("expected fitted sizes")
            chosen: NDArray[np.int64] = masks.argmax(axis=1)
            return chosen

    scores = []
    for kind in (Wide, Fitted):
        monkeypatch.setattr("experiments.exact.make_agent", lambda *_, kind=kind, **__: kind())
        scores.append(score_of(game, "some.zip", "caster"))
    assert vars(scores[0]) == pytest.approx(vars(scores[1]))


def test_what_fits_no_size_is_refused_with_the_first_reason(
    game: ExactGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost:
        def act(
            self, observations: NDArray[np.float32], masks: NDArray[np.bool_]
        ) -> NDArray[np.int64]:
            raise ValueError(f"found {observations.shape[1]}")

    monkeypatch.setattr("experiments.exact.make_agent", lambda *_, **__: Lost())
    with pytest.raises(ValueError, match="found 68"):
        score_of(game, "some.zip", "caster")


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(solver.TooLarge):
        ExactGame(DUEL, max_bytes=1000)
