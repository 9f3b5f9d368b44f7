"""Exact results of several policies at once equal the solver's result for each."""

import numpy as np
import pytest
from numpy.typing import NDArray

from experiments.exact import score_of
from wfb_gym import solver
from wfb_gym.encoding.limits import Limits, fit, union
from wfb_gym.encoding.space_sizes import space_sizes
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import OPTIONS_BY_NAME, Generated
from wfb_gym.packing import pack
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
        assert vars(score_of(game, name, seat)) == pytest.approx(vars(wanted), abs=1e-9)


def test_policies_scored_together_have_the_scores_that_each_has_alone(game: ExactGame) -> None:
    own = [(name, seat) for seat in (0, 1) for name in PLAYERS]
    fresh = ExactGame(DUEL)
    for some in (own[:1], own):  # the second time, one seat's random play is known
        given = [game.probabilities(name, seat) for name, seat in some]
        found = fresh.scores(given, [seat for _, seat in some])
        assert found == [score_of(game, name, seat) for name, seat in some]


def test_an_agent_is_asked_as_the_player_of_that_name(game: ExactGame) -> None:
    agent = make_agent("veteran", scenario=DUEL, seat=1)
    assert np.array_equal(game.probabilities(agent, 1), game.probabilities("veteran", 1))


def test_decisions_are_counted(game: ExactGame) -> None:
    full = solver.solve(DUEL).full
    for seat in range(2):
        assert game.decisions(seat) == list(full.kinds).count(seat) > 0


class FirstLegal:
    """Takes the first legal action, and supports one observation size only."""

    name = "first.zip"

    def __init__(self, limits: Limits) -> None:
        self.size, self.actions = space_sizes(limits)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        assert (observations.shape[1], masks.shape[1]) == (self.size, self.actions)
        chosen: NDArray[np.int64] = masks.argmax(axis=1)
        return chosen


@pytest.mark.parametrize("kind", [*OPTIONS_BY_NAME, "both seats", "fitted"])
def test_a_model_is_asked_in_the_sizes_that_it_learned(
    kind: str, game: ExactGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = pack(game.solution.scenario)
    fitted = fit(packed, 0)
    others = {"fitted": fitted, "both seats": union([fitted, fit(packed, 1)])}
    limits = others.get(kind) or generated_limits(Generated.parse(kind).sizes)
    found = {}
    for name, sizes in (("own", limits), ("fitted", fitted)):
        agent = FirstLegal(sizes)
        monkeypatch.setattr("experiments.exact.make_agent", lambda *_, agent=agent, **__: agent)
        found[name] = vars(score_of(game, "first.zip", "caster"))
    assert found["own"] == pytest.approx(found["fitted"])


def test_a_model_of_other_sizes_is_rejected_before_it_is_asked(
    game: ExactGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = FirstLegal(fit(pack(game.solution.scenario), 0))
    agent.size += 1
    monkeypatch.setattr("experiments.exact.make_agent", lambda *_, **__: agent)
    expected = r"first.zip: .* 68 and 10 \(fitted\), .*860 and 84 \(.*; found 69 and 10$"
    with pytest.raises(ValueError, match=expected):
        score_of(game, "first.zip", "caster")


def test_too_large_scenarios_are_rejected() -> None:
    with pytest.raises(solver.TooLarge):
        ExactGame(DUEL, max_bytes=1000)
