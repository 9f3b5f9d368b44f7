"""The optimal opponent in batches: every move is optimal, and the mean equals the value."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import gymnasium as gym
import numpy as np
import pytest

from experiments.common import batch_player, play_battles
from tests.support.batches import all_equal, play_batch
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset, Status
from wfb_gym.generating import Generated
from wfb_gym.packing import pack
from wfb_gym.players.baselines import ScriptedAgent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import seat_number
from wfb_gym.solver import move_tables as solver_move_tables
from wfb_gym.solver import solving
from wfb_gym.solver.solution import Solution

from ..solver.small import small

IDS = {"caster": "wfb_gym/Caster-v0", "dispeller": "wfb_gym/Dispeller-v0"}
SEVERAL = ("a duel", "several wizards", "a re-roll of one die", "two phases")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Store solutions only in a temporary folder."""
    monkeypatch.setattr(solving, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(solver_move_tables, "_CACHE", {})
    yield  # noqa: PT022 (the patches end afterwards)


@cache
def duel() -> Solution:
    return solver.solve("archmage-duel")


def batch_of(
    scenarios: Any, seat: int, opponent: Any, count: int = 64, limits: Any = None
) -> Batch:
    return Batch(count, scenarios, seat, opponent, limits, Autoreset.SAME_STEP, 1.0)


@pytest.mark.parametrize(
    ("name", "seat"), [("a duel", 0), ("several wizards", 1), ("two phases", 0)]
)
def test_the_optimal_opponent_plays_the_solution(name: str, seat: int) -> None:
    """A table of the same solution, used as an external opponent, plays the same battles."""
    made = small(name)
    batch = batch_of(made, seat, "optimal")
    packed = solver.solve(made).policy(1 - seat, batch._other.limits)
    moves = 0

    def asked(observations: Any, masks: Any) -> Any:
        nonlocal moves
        moves += len(masks)
        return packed.act(observations, masks)

    expected = play_batch(batch_of(made, seat, asked), 12)
    assert all_equal(play_batch(batch, 12), expected)
    assert moves > 50
    assert not all_equal(play_batch(batch_of(made, seat, "random"), 12), expected)


def test_several_scenarios_share_a_batch() -> None:
    made = [small(name) for name in SEVERAL]
    batch = batch_of(made, 0, "optimal", 16)
    together = play_batch(batch, 10)
    for which in range(len(SEVERAL)):
        alone = play_batch(batch_of(made[which], 0, "optimal", 16, batch.limits), 10)
        assert all_equal(*([each[which::4] for each in found] for found in (together, alone)))


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_the_optimal_chooser_plays_the_best_action_at_every_position(seat: str) -> None:
    made = [load_scenario("archmage-duel"), *(small(name) for name in SEVERAL)]
    solutions = [solver.solve(each) for each in made]
    battles = [Battle(pack(each)) for each in made]
    envs: Any = gym.make_vec(IDS[seat], num_envs=35, scenario=made, opponent="random")
    chooser = batch_player(ScriptedAgent("optimal", made, envs.batch.seat))
    observations, _ = envs.reset(seed=3)
    met = 0
    for _ in range(25):
        actions = chooser(envs, observations, envs.action_masks())
        codes = envs.batch.codec.code_of[actions]
        for env, code in zip(envs.batch.envs, codes, strict=True):
            battle = battles[int(env.scenario)]
            battle._states[0] = env.state
            if battle.is_decision() and env.status == Status.LEARNER_DECIDES:
                met += 1
                assert solutions[int(env.scenario)].best_action(battle) == code
        observations, *_ = envs.step(actions)
    assert met > 300


def test_optimal_play_may_be_one_of_a_pool_but_not_in_generated_battles() -> None:
    batch = batch_of("archmage-duel", 1, ["optimal", "random"], 400)
    play_batch(batch, 1)
    assert 100 < int((batch.envs.opponent == 0).sum()) < 300
    with pytest.raises(ValueError, match="found optimal, which plays only scenarios"):
        batch_of(Generated(count=2), 0, "optimal", 4)


def test_scenarios_too_large_to_solve_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Mock(side_effect=solver.TooLarge("border-skirmish does not fit"))
    monkeypatch.setattr("wfb_gym.solver.move_tables.load_move_tables", refused)
    expected = "opponent: border-skirmish does not fit; optimal plays only scenarios that"
    with pytest.raises(solver.TooLarge, match=expected):
        gym.make_vec("wfb_gym/Battle-v0", num_envs=2, opponent=["veteran", "optimal"])


def mean_and_error(seat: str, battles: int, seed: int) -> tuple[float, float]:
    agent = ScriptedAgent("optimal", seat=seat_number(seat))
    sizes: dict[str, Any] = {"battles": battles, "seed": seed}
    points = play_battles(agent, seat=seat, scenario="archmage-duel", opponent="optimal", **sizes)
    return float(points.mean()), float(points.std(ddof=1)) / battles**0.5


@pytest.mark.parametrize(("seat", "sign"), [("caster", 1.0), ("dispeller", -1.0)])
def test_the_mean_of_optimal_play_is_the_value(seat: str, sign: float) -> None:
    mean, error = mean_and_error(seat, 1 << 13, 1)
    assert abs(mean - sign * duel().value) < 5.0 * error  # one seed in two million
    assert error < 0.5


@pytest.mark.slow
def test_the_mean_of_a_million_optimal_battles_is_within_its_confidence_interval() -> None:
    parts = [mean_and_error("caster", 1 << 17, number << 18) for number in range(8)]
    means, errors = np.transpose(parts)
    half_width = 1.959964 * float(np.linalg.norm(errors)) / len(parts)
    assert abs(means.mean() - duel().value) < half_width
    assert half_width < 0.07
