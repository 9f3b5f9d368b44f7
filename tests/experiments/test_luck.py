"""Luck-adjusted points: exactly the same mean with any estimate, less variance, exact tracking."""

from collections import defaultdict
from functools import cache
from typing import Any
from zlib import crc32

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

from experiments import luck
from experiments.common import play_battles
from experiments.luck import LuckWatcher, phase_estimate, play_with_luck
from experiments.rolls import RolledPositions
from tests.support.builders import army, miscast, spell, wizard
from tests.support.playing import highest
from wfb_gym import solver
from wfb_gym._records import as_records
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.engine.random_numbers import key_of_seed, new_rngs
from wfb_gym.engine.state import LAST_DECISION, State, new_work_spaces
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS

from ..solver.small import scenario

pytestmark = pytest.mark.slow  # it compiles another copy of the engine

BATTLE = "border-skirmish"


class Highest:
    """Casts and dispels with the most dice."""

    def act(self, observations: Any, action_masks: Any, positions: Any = None) -> Any:
        return highest(observations, action_masks)


@cache
def tiny() -> Scenario:
    """A battle with few possible courses: some thousand battles cover all of them."""
    caster = army(wizard(1, spell("Bolt", 5, 20.0), spell("Beam", 8, 45.0)), power_dice=3)
    return scenario(caster, army(wizard(1), dispel_dice=2), **miscast({"kind": "phase_ends"}))


def course_of(seed: int, views: tuple[View, View], packed: Any) -> tuple[tuple[int, ...], float]:
    """Return outcomes and probability of a seed's dice if both play their highest action."""
    battle, rngs, work = Battle(packed), new_rngs(1), new_work_spaces()
    rngs[0].key = key_of_seed(seed)
    outcomes, chance = [], 1.0
    while not battle.is_over:
        if battle.is_decision():
            codec = views[battle.mover].codec
            battle.act(int(codec.code_of[max(codec.index_of[battle.legal_actions()])]))
            continue
        outcomes.append(int(sample(packed[0], battle.state, rngs[0], work[0])))
        chance *= dict(battle.chance_outcomes())[outcomes[-1]]
        battle.resolve(outcomes[-1])
    return tuple(outcomes), chance


def noise(positions: RolledPositions) -> NDArray[np.float64]:
    return np.array([crc32(state.tobytes()) % 1000 / 10.0 for state in positions.states])


@pytest.mark.parametrize("estimate", [phase_estimate, noise])
def test_luck_sums_to_zero_over_all_dice(estimate: luck.ValueEstimate) -> None:
    battles, packed = 6000, pack(tiny())
    views = View.fitted(packed, 0, None), View.fitted(packed, 1, None)
    some: dict[str, Any] = {"scenario": tiny(), "battles": battles, "seed": 0}
    found = play_with_luck(Highest(), seat="caster", opponent=Highest(), estimate=estimate, **some)
    chances: dict[tuple[int, ...], float] = {}
    values: dict[tuple[int, ...], set[tuple[float, float]]] = defaultdict(set)
    for seed in range(battles):
        course, chances_of_course = course_of(seed, views, packed)
        chances[course] = chances_of_course
        values[course].add((found.points[seed], round(found.luck[seed], 12)))
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-12)  # so these are all courses
    assert len(chances) > 10
    assert {len(each) for each in values.values()} == {1}
    mean_points = sum(chances[course] * points for course, ((points, _),) in values.items())
    mean_luck = sum(chances[course] * luck for course, ((_, luck),) in values.items())
    assert mean_points == pytest.approx(solver.evaluate(tiny(), highest, highest), abs=1e-9)
    assert mean_luck == pytest.approx(0.0, abs=1e-9)
    assert np.abs(found.luck).max() > 1.0


def test_the_adjusted_mean_is_the_exact_value() -> None:
    some: dict[str, Any] = {"scenario": "archmage-duel", "battles": 2000, "seed": 70_000}
    found = play_with_luck(make_agent("veteran"), seat="dispeller", opponent="random", **some)
    exact = -solver.evaluate("archmage-duel", "random", "veteran")
    error = found.adjusted.std() / np.sqrt(len(found.points))
    assert abs(found.adjusted.mean() - exact) < 4.0 * error
    assert found.variance_ratio > 1.5
    assert 4.0 * error < found.points.std() / 10.0


def test_battles_equal_play_and_have_their_own_luck() -> None:
    """With any number of parallel battles, and with internal or external opponents."""
    one: dict[str, Any] = {"seat": "dispeller", "scenario": BATTLE}
    some: dict[str, Any] = {"battles": 300, "seed": 9_000, **one}
    player = make_agent("veteran")
    inside = play_with_luck(player, opponent="greedy", **some)
    outside = play_with_luck(player, opponent=make_agent("greedy"), **some)
    assert np.array_equal(inside.points, play_battles(player, opponent="greedy", **some))
    assert np.array_equal(inside.points, outside.points)
    assert np.array_equal(inside.luck, outside.luck)
    few = play_with_luck(player, opponent="greedy", battles=3, seed=9_297, **one)
    assert np.array_equal(few.luck, inside.luck[297:])
    assert inside.variance_ratio > 4.0


class Checking(LuckWatcher):
    steps = 0

    def follow_step(self, batch: Any, actions: NDArray[np.int64]) -> None:
        super().follow_step(batch, actions)
        for part in ("state", "rng", "opponent"):
            assert self._envs[part].tobytes() == batch.envs[part].tobytes()
        self.steps += 1


def test_tracked_battles_equal_played_ones() -> None:
    watcher = Checking(40)
    play_battles(
        make_agent("random", seed=1), seat="caster", scenario="the-iron-tide",
        opponent=["random", make_agent("veteran"), "veteran:0.3"], battles=40, seed=3,
        watcher=watcher,
    )  # fmt: skip
    assert watcher.steps > 20


def test_luck_of_the_seats_is_opposite() -> None:
    some: dict[str, Any] = {"scenario": BATTLE, "opponent": "veteran", "battles": 8, "seed": 1}
    player = make_agent("veteran")
    caster, dispeller = (play_with_luck(player, seat=seat, **some).luck for seat in SEATS)
    assert np.allclose(caster, -dispeller)
    assert caster.any()


def test_estimates_are_asked_for_decisions() -> None:
    kinds = []

    def estimate(positions: RolledPositions) -> NDArray[np.float64]:
        states = as_records(State, positions.states)
        kinds.extend(states["node"][positions.phases == states["phase"]].tolist())
        return phase_estimate(positions)

    one: dict[str, Any] = {"seat": "caster", "scenario": "archmage-duel", "battles": 20, "seed": 1}
    play_with_luck(make_agent("greedy"), opponent="greedy", estimate=estimate, **one)
    assert kinds
    assert max(kinds) <= LAST_DECISION


def test_restarted_battles_are_rejected() -> None:
    envs: Any = gym.make_vec("wfb_gym/Caster-v0", num_envs=2, scenario="apprentice")
    envs.batch.watcher = LuckWatcher(2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="autoreset_mode Disabled"):
        envs.step(envs.action_masks().argmax(axis=1))
