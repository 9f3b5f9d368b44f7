"""The PettingZoo environments: PettingZoo's own checkers, and equality with single ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from numpy.typing import NDArray

from tests.support.batches import COPIED
from tests.support.builders import army, lasting, spell, wizard
from tests.support.hidden import scenarios
from tests.support.packed import scenario as scenario_of
from tests.support.pages import PACKAGE
from tests.support.playing import BATTLE, IDS, episode, pick, picks
from tests.support.scripts import run_python
from wfb_gym.encoding.limits import ArmyLimits, Limits
from wfb_gym.generating import Generated, Generation

pettingzoo = pytest.importorskip("pettingzoo")

from pettingzoo import test as checks  # noqa: E402 (the library may be missing)

from wfb_gym.interop import pettingzoo as interop  # noqa: E402

FIRST = np.zeros(1, np.int64)
DUEL, SKIRMISH = "archmage-duel", "border-skirmish"
SECRET = scenarios()["two phases"]
CHECKERS: dict[str, Callable[..., None]] = {
    "turns": lambda **keys: checks.api_test(interop.env(**keys), 100),
    "seeds": lambda **keys: checks.seed_test(lambda: interop.env(**keys), 100),
    "parallel": lambda **keys: checks.parallel_api_test(interop.parallel_env(**keys), 100),
    "parallel seeds": lambda **k: checks.parallel_seed_test(lambda: interop.parallel_env(**k), 100),
    "states": lambda **keys: checks.state_test(interop.env(**keys), interop.parallel_env(**keys)),
}


@pytest.mark.parametrize(("scenario", "observe_mask"), [(SKIRMISH, False), (SECRET, True)])
@pytest.mark.parametrize("checker", CHECKERS)
# PettingZoo warns about these for dicts of all games but its own.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
def test_its_own_checkers_accept_it(checker: str, scenario: Any, observe_mask: bool) -> None:
    CHECKERS[checker](scenario=scenario, observe_mask=observe_mask)


def test_parallel_infos_name_the_agent_to_decide() -> None:
    env = interop.parallel_env(scenario=DUEL)
    for seed in range(5):
        observations, infos = env.reset(seed=seed)
        while env.agents:
            names = {infos[agent]["active_agent"] for agent in env.agents}
            assert names == {env.unwrapped.agent_selection}
            actions = {a: pick(observations[a], infos[a]["action_mask"]) for a in env.agents}
            observations, *_, infos = env.step(actions)


Records = list[tuple[Any, ...]]


class Whim:
    """Return a policy of the observation for a salt: the opponent of a single environment."""

    def __init__(self, salt: int = 0) -> None:
        self.salt = salt

    def pick(self, observation: NDArray[np.float32], mask: NDArray[Any]) -> int:
        return pick(observation + np.float32(self.salt), mask)

    def __call__(self, observations: NDArray[np.float32], masks: NDArray[Any]) -> NDArray[np.int64]:
        return picks(observations + np.float32(self.salt), masks)


def seats_of(env: Any, learner: str, seed: int | None, whim: Whim | None = None) -> Records:
    """Return an agent's observations, actions and rewards of an episode; both play one policy."""
    whim = whim or Whim()
    env.reset(seed=seed)
    records: Records = []
    for agent in env.agent_iter():
        observation, reward, over, _, info = env.last()
        action = None if over else whim.pick(observation, info["action_mask"])
        if agent == learner:
            records.append((observation, info["action_mask"], action, reward))
        env.step(action)
    return records


def single(env: Any, seed: int | None, whim: Whim) -> Records:
    """Return the same for a single environment; each reward is listed with the step before it."""
    steps = episode(env, seed, whim.pick)
    actions = [*(step.action for step in steps[1:]), None]
    return [(s.observation, s.mask, a, s.reward) for s, a in zip(steps, actions, strict=True)]


DRAWN = Generated(count=4, options=Generation(phases=1))
CASES: list[tuple[Any, str, dict[str, Any]]] = [
    *((DRAWN, name, {}) for name in IDS),  # the dice also draw the scenario
    ("seventh-edition-duel", IDS[0], {}),
    (SKIRMISH, BATTLE, {"seat": 1}),
]


@pytest.mark.parametrize(("scenario", "name", "keys"), CASES)
def test_a_seed_gives_the_battle_of_the_single_environment(
    scenario: Any, name: str, keys: dict[str, Any]
) -> None:
    whim = Whim()
    alone = gym.make(name, scenario=scenario, opponent=whim, **keys).unwrapped
    seat: int = alone.seat  # type: ignore[attr-defined]
    both = interop.raw_env(scenario=scenario, limits="fitted")
    learner = both.possible_agents[seat]
    assert both.observation_space(learner) == alone.observation_space
    assert both.action_space(learner) == alone.action_space
    decided, lengths = 0, set()
    for salt, seed in enumerate((5, None, None, 6, None, *range(20, 32))):
        whim.salt = salt
        found, expected = seats_of(both, learner, seed, whim), single(alone, seed, whim)
        if len(found) == 1:  # never asked; the single environment asks once, to have a last step
            expected = expected[1:]
        else:
            decided += 1
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(mine[0], theirs[0])
            np.testing.assert_array_equal(mine[1], theirs[1])
            assert mine[2] == theirs[2]
        rewards = [records[3] for records in found]
        # The single environment pays points from before the first decision with the next reward.
        wanted = [records[3] for records in expected]
        if len(found) > 1:
            assert rewards[0] + rewards[1] == pytest.approx(wanted[1], abs=1e-12)
            assert rewards[2:] == pytest.approx(wanted[2:], abs=1e-12)
        else:
            assert rewards == pytest.approx(wanted, abs=1e-12)
        lengths.add(len(found))
    assert decided > 3
    assert len(lengths) > 2


def test_a_reset_in_the_middle_continues_the_dice() -> None:
    whim = Whim()
    both = interop.raw_env(limits="fitted")
    alone = gym.make(IDS[0], opponent=whim).unwrapped
    middles = 0
    for salt in range(12):
        whim.salt = salt
        both.reset(seed=4)
        observation, info = alone.reset(seed=4)
        alone.step(whim.pick(observation, info["action_mask"]))
        acted = False  # up to the same decision of the same army, so that as many dice have fallen
        while True:
            seen, _, over, _, records = both.last()
            if over or (acted and both.agent_selection == "caster_0"):
                break
            acted |= both.agent_selection == "caster_0"
            both.step(whim.pick(seen, records["action_mask"]))
        middles += not any(both.terminations.values())
        found, expected = seats_of(both, "caster_0", None, whim), single(alone, None, whim)
        assert [records[2] for records in found] == [records[2] for records in expected]
        np.testing.assert_array_equal(found[-1][0], expected[-1][0])
    assert middles > 3


@pytest.mark.parametrize("scenario", [DUEL, SKIRMISH])
def test_rewards_sum_to_zero(scenario: str) -> None:
    env = interop.raw_env(scenario=scenario, points_per_reward=1.0)
    results, whim = [], Whim()
    for seed in range(12):
        env.reset(seed=seed)
        whim.salt = seed
        totals, steps = dict.fromkeys(env.agents, 0.0), 0.0
        for agent in env.agent_iter():
            observation, reward, over, _, info = env.last()
            totals[agent] += reward
            env.step(None if over else whim.pick(observation, info["action_mask"]))
            if not over:
                first, second = env.possible_agents
                assert env.rewards[first] == -env.rewards[second]
                steps += env.rewards[first]
        assert [*totals.values()] == pytest.approx([steps, -steps])
        results.append(steps)
    assert len(set(results)) > 2


def test_points_before_the_first_decision_come_with_the_first_rewards() -> None:
    hex_ = lasting("Hex", 7, worth_per_phase=10.0, in_play=True)  # costs ten points at once
    mage = wizard(2, hex_, spell("Bolt", 4, 20.0))
    foe = army(mage, power_dice=2, dispel_dice=0)
    early = scenario_of(army(power_dice=0, dispel_dice=0), foe, phases=2)
    env = interop.raw_env(scenario=early, points_per_reward=1.0)
    env.reset(seed=0)
    assert env.agent_selection == "army_1"
    assert env.rewards == {"army_0": 0.0, "army_1": 0.0}
    assert env.last()[1] == 0
    env.step(0)  # no cast
    assert env.rewards == {"army_0": -10.0, "army_1": 10.0}
    env.step(0)  # nothing to dispel: the phase ends, and the spell in play pays once more
    assert env.rewards == {"army_0": -10.0, "army_1": 10.0}
    assert all(env.terminations.values())
    # 10 of the second step were not seen by its agent, 20 by the other one, which had no decision.
    assert (env.last()[1], env._cumulative_rewards["army_1"]) == (-20.0, 10.0)


def test_an_illegal_action_is_replaced_and_reported() -> None:
    env, other = interop.raw_env(), interop.raw_env()
    env.reset(seed=1)
    other.reset(seed=1)
    env.step(int(env.infos["caster_0"]["action_mask"].argmin()))
    other.step(0)
    assert env.infos["caster_0"]["illegal_action"] is True
    assert env.infos["dispeller_0"]["illegal_action"] is False
    np.testing.assert_array_equal(env.state(), other.state())


def test_the_wrapped_environment_ends_on_an_illegal_action() -> None:
    env = interop.env()
    for seed in (1, None):
        env.reset(seed=seed)
        env.step(int(env.infos["caster_0"]["action_mask"].argmin()))
        assert env.rewards == {"caster_0": interop.ILLEGAL_REWARD, "dispeller_0": 0}
        assert all(env.terminations.values())
    env.reset()
    assert not any(env.terminations.values())


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (3, r"of caster_0 is illegal: expected one of \[0, "),
        *((action, "expected a member of Discrete") for action in (-1, 99, 1.5, None)),
    ],
)
def test_a_strict_environment_rejects_wrong_actions_unchanged(action: Any, message: str) -> None:
    env = interop.raw_env(strict=True)
    env.reset(seed=1)
    before = env.__getstate__()
    with pytest.raises(ValueError, match=message):
        env.step(action)
    assert data_equivalence(env.__getstate__(), before)


def test_agents_that_are_done_take_no_action() -> None:
    env = interop.raw_env(scenario="apprentice")
    env.reset(seed=0)
    env.step(0)
    assert env.agents == ["caster_0", "dispeller_0"]
    assert all(env.terminations.values())
    assert env.infos["caster_0"]["action_mask"].tolist()[:2] == [1, 0]
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    env.step(None)
    env.step(None)
    assert env.agents == []


def test_masks_and_observations() -> None:
    env, dicts = interop.raw_env(), interop.raw_env(observe_mask=True)
    for made in (env, dicts):
        made.reset(seed=3)
    waiting = env.infos["dispeller_0"]["action_mask"]
    assert waiting.dtype == np.int8
    assert not waiting.any()
    for agent in env.agents:
        seen = dicts.observe(agent)
        assert dicts.observation_space(agent).contains(seen)
        np.testing.assert_array_equal(seen["observation"], env.observe(agent))
        np.testing.assert_array_equal(seen["action_mask"], env.infos[agent]["action_mask"])
    first, second = env.observe("caster_0"), env.observe("caster_0")
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(env.state(), env.observe("caster_0"))
    assert not np.array_equal(env.observe("dispeller_0"), env.observe("caster_0"))


def test_raw_features_are_all_features_with_expected_values_of_0() -> None:
    full, bare = (interop.raw_env(features=each) for each in ("all", "raw"))
    for env in (full, bare):
        env.reset(seed=3)
    for agent in full.agents:
        seen, raw = full.observe(agent), bare.observe(agent)
        is_zeroed = full.observation_space(agent).high != bare.observation_space(agent).high
        assert seen[is_zeroed].any()
        np.testing.assert_array_equal(raw, np.where(is_zeroed, 0.0, seen))
        assert bare.observation_space(agent).contains(raw)


def test_one_policy_can_play_both_seats_unless_spaces_are_fitted() -> None:
    for scenario in (DUEL, "seventh-edition-duel", SKIRMISH):
        env = interop.raw_env(scenario=scenario)
        spaces = [(env.observation_space(a), env.action_space(a)) for a in env.possible_agents]
        assert spaces[0] == spaces[1]
    fitted = interop.raw_env(limits="fitted")
    assert fitted.observation_space("caster_0") != fitted.observation_space("dispeller_0")
    wide = Limits(ArmyLimits(2, 8, 2), ArmyLimits(2, 8, 2), 12, in_play=True, free_spells=True)
    one, other = (interop.raw_env(scenario=name, limits=wide) for name in ("apprentice", DUEL))
    assert one.observation_space("caster_0") == other.observation_space("dispeller_0")
    with pytest.raises(ValueError, match="limits: "):
        interop.raw_env(limits=Limits(ArmyLimits(), ArmyLimits(), 1))


def test_unseeded_environments_have_dice_of_their_own() -> None:
    envs = [interop.raw_env() for _ in range(2)]
    for env in envs:
        env.reset()
    assert len({int(env._game.envs["rng"]["key"][0]) for env in envs}) == 2


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    checks.render_test(lambda render_mode: interop.env(scenario=SECRET, render_mode=render_mode))
    capsys.readouterr()
    human, words = (interop.env(scenario="apprentice", render_mode=m) for m in ("human", "ansi"))
    for env in human, words:
        env.reset(seed=0)
    while human.agents:
        printed = capsys.readouterr().out
        assert printed == f"{words.render()}\n\n"
        assert human.render() is None
        assert capsys.readouterr().out == printed
        observation, _, over, _, info = human.last()
        action = None if over else pick(observation, info["action_mask"])
        for env in human, words:
            env.step(action)
        if over:
            return


def test_descriptions_match_the_steps() -> None:
    env: Any = interop.raw_env(render_mode="ansi", points_per_reward=1.0)
    for seed in range(5):
        env.reset(seed=seed)
        whim, total = Whim(seed), 0.0
        while not all(env.terminations.values()):
            assert env._watcher._narrated.battle.key() == env._game.states(FIRST).tobytes()
            assert env._watcher._narrated.battle.points == pytest.approx(total)
            observation, _, _, _, info = env.last()
            env.step(whim.pick(observation, info["action_mask"]))
            total += env.rewards["caster_0"]
            assert env.render()
        assert env._watcher._narrated.battle.is_over
        assert env._watcher._narrated.battle.points == pytest.approx(total)


def test_without_a_mode_nothing_is_rendered() -> None:
    env = interop.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="no render_mode"):
        assert env.render() is None
    with pytest.raises(ValueError, match="expected"):
        interop.raw_env(render_mode="film")


@COPIED
@pytest.mark.parametrize("made", [interop.raw_env, interop.env, interop.parallel_env])
def test_copies_continue_the_same(
    tmp_path: Path, copied: Callable[[Any], Any], made: Callable[..., Any]
) -> None:
    path = tmp_path / "own.toml"
    path.write_text((PACKAGE / "data" / "scenarios" / f"{SKIRMISH}.toml").read_text())
    env = made(scenario=path, features="raw")
    copied(env).reset(seed=0)
    env.reset(seed=8)
    path.unlink()
    if made is interop.parallel_env:
        np.testing.assert_array_equal(env.state(), copied(env).state())
        return
    while env.agents:
        twin = copied(env)
        for one, other in zip(env.last()[:4], twin.last()[:4], strict=True):
            np.testing.assert_array_equal(one, other)
        observation, _, over, _, info = env.last()
        action = None if over else pick(observation, info["action_mask"])
        for each in (env, twin):
            each.step(action)
        assert (env.agents, env.rewards) == (twin.agents, twin.rewards)
        np.testing.assert_array_equal(env.state(), twin.state())
    env.reset()
    twin.reset()
    np.testing.assert_array_equal(env.state(), twin.state())


@pytest.mark.parametrize(
    ("library", "module"), [("pettingzoo", "pettingzoo"), ("pyspiel", "openspiel")]
)
def test_a_missing_library_is_named_with_its_extra(library: str, module: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import wfb_gym.interop.{module}"
    said = run_python("-c", code)
    assert said.status == 1
    assert f'pip install "wfb-gym[{module}]"' in said.err
