"""The optimal opponent in batches: every move is optimal, and the mean equals the value."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import gymnasium as gym
import numpy as np
import pytest

from experiments.common import batch_player, play_battles
from tests.support.playing import picks
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


def batch_of(scenarios: Any, seat: int, opponent: Any, num_envs: int = 64, **keys: Any) -> Batch:
    return Batch(num_envs, scenarios, seat, opponent, keys.get("limits"), Autoreset.SAME_STEP, 1.0)


def played(batch: Batch, steps: int, seed: int = 7) -> list[Any]:
    """Return the results of a batch whose learner plays at random."""
    batch.seed(range(seed, seed + batch.num_envs))
    out = batch.reset(np.ones(batch.num_envs, np.bool_))
    seen: list[Any] = [out.observations, out.masks]
    for _ in range(steps):
        out = batch.step(picks(out.observations, out.masks))
        seen += [out.observations, out.masks, out.rewards, out.terminations]
    return seen


def equal(one: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(left, right) for left, right in zip(one, other, strict=True))


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", SEVERAL)
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

    expected = played(batch_of(made, seat, asked), 12)
    assert equal(played(batch, 12), expected)
    assert moves > 50
    assert not equal(played(batch_of(made, seat, "random"), 12), expected)


@pytest.mark.parametrize("seat", [0, 1])
def test_several_scenarios_share_a_batch(seat: int) -> None:
    made = [small(name) for name in SEVERAL]
    batch = batch_of(made, seat, "optimal", 16)
    together = played(batch, 10)
    for which in range(len(SEVERAL)):
        alone = batch_of(made[which], seat, "optimal", 16, limits=batch.limits)
        same = played(alone, 10)
        for left, right in zip(together, same, strict=True):
            assert np.array_equal(left[which::4], right[which::4])


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
@pytest.mark.parametrize("names", [["archmage-duel"], list(SEVERAL)])
def test_the_optimal_chooser_plays_the_best_action_at_every_position(
    names: list[str], seat: str
) -> None:
    made = [load_scenario(n) if n == "archmage-duel" else small(n) for n in names]
    solutions = [solver.solve(each) for each in made]
    battles = [Battle(pack(each)) for each in made]
    envs: Any = gym.make_vec(IDS[seat], num_envs=32, scenario=made, opponent="random")
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


def test_the_same_seed_gives_the_same_battles() -> None:
    one, other = (played(batch_of("archmage-duel", 0, "optimal"), 15) for _ in range(2))
    assert equal(one, other)
    assert not equal(played(batch_of("archmage-duel", 0, "optimal"), 15, seed=500), one)


def test_an_epsilon_of_0_changes_nothing() -> None:
    plain, never, ever = (
        played(batch_of("archmage-duel", 1, f"optimal{chance}"), 15) for chance in ("", ":0", ":1")
    )
    assert equal(plain, never)
    assert not equal(plain, ever)


def test_optimal_play_may_be_one_of_a_pool() -> None:
    batch = batch_of("archmage-duel", 1, ["optimal", "random"], 400)
    played(batch, 1)
    assert 100 < int((batch.envs.opponent == 0).sum()) < 300


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("optimal:2", "chance of a random action"),
        ("optimal:-1", "chance of a random action"),
        ("optimal:much", "chance of a random action"),
        ("optimall", "did you mean optimal"),
        ("Optimal", "expected one of random, greedy, veteran, optimal"),
    ],
)
def test_other_names_are_rejected(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym.make_vec(IDS["caster"], num_envs=2, opponent=name)


def test_generated_battles_are_rejected_before_solving() -> None:
    with pytest.raises(ValueError, match="found optimal, which plays only scenarios"):
        batch_of(Generated(count=2), 0, "optimal", 4)


def test_the_refusal_of_a_large_scenario_names_other_opponents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise solver.TooLarge("border-skirmish does not fit")

    monkeypatch.setattr("wfb_gym.solver.move_tables.load_move_tables", refuse)
    expected = "opponent: border-skirmish does not fit; optimal plays only scenarios that"
    with pytest.raises(solver.TooLarge, match=expected):
        gym.make_vec("wfb_gym/Battle-v0", num_envs=2, opponent=["veteran", "optimal"])


@pytest.mark.slow
@pytest.mark.usefixtures("quick_refusals")
def test_a_scenario_too_large_to_solve_is_rejected() -> None:
    with pytest.raises(solver.TooLarge, match="border-skirmish does not fit"):
        gym.make_vec("wfb_gym/Battle-v0", num_envs=2, opponent="optimal:0.5")


@pytest.mark.parametrize(("seat", "sign"), [("caster", 1.0), ("dispeller", -1.0)])
def test_the_mean_of_optimal_play_is_the_value(seat: str, sign: float) -> None:
    battles = 1 << 14
    points = play_battles(
        ScriptedAgent("optimal", seat=seat_number(seat)), seat=seat, scenario="archmage-duel",
        opponent="optimal", battles=battles, seed=1,
    )  # fmt: skip
    error = float(points.std(ddof=1)) / battles**0.5
    assert abs(points.mean() - sign * duel().value) < 5.0 * error  # one seed in two million
    assert error < 0.5


@pytest.mark.slow
def test_the_mean_of_a_million_optimal_battles_is_within_its_confidence_interval() -> None:
    batches = [
        play_battles(
            ScriptedAgent("optimal"), seat="caster", scenario="archmage-duel",
            opponent="optimal", battles=1 << 17, seed=number << 18,
        )
        for number in range(8)
    ]  # fmt: skip
    points = np.concatenate(batches)
    half_width = 1.959964 * float(points.std(ddof=1)) / len(points) ** 0.5
    assert abs(points.mean() - duel().value) < half_width
    assert half_width < 0.07


def test_no_player_beats_optimal_play_in_expectation() -> None:
    """Tested with the exact values of the policies, and with the batch's results."""
    exact = solver.evaluate(duel(), "veteran", "optimal")
    points = play_battles(
        ScriptedAgent("veteran"), seat="caster", scenario="archmage-duel", opponent="optimal",
        battles=1 << 13, seed=9,
    )  # fmt: skip
    error = float(points.std(ddof=1)) / len(points) ** 0.5
    assert abs(points.mean() - exact) < 5.0 * error
    assert exact < duel().value
