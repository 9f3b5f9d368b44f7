"""Calls with invalid arguments, and random battles of random scenarios."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import wfb_gym  # noqa: F401 - registers the ids
from tests.engine.invariants import BROKEN, play_on
from tests.fuzzing.laws import require_message
from tests.fuzzing.mutations import pick
from tests.fuzzing.running import Kind, Rng
from tests.support.batches import random_actions
from tests.support.playing import BATTLE, IDS, PHASES
from wfb_gym.engine.random_numbers import key_of_seed, new_rngs
from wfb_gym.engine.state import new_states, new_work_spaces
from wfb_gym.generating import Generation, generate
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, ScenarioError, bundled_scenarios, load_scenario

OPPONENTS = ("random", "greedy", "veteran", ["random", "veteran"])
BATTLES = ("border-skirmish", "redhorn-pass", "ford-of-the-green-lady")
MISUSES = 40
REJECTED = (ValueError, TypeError, gym.error.Error, AssertionError)
"""Exceptions that an invalid call may raise; assertions are Gymnasium's own."""


def random_scenario(rng: Rng) -> Scenario | None:
    """Return a bundled or generated scenario; None if no army fits the options."""
    if rng.random() < 0.3:
        return load_scenario(str(rng.choice(bundled_scenarios())))
    ranges = {
        "points": (500, 2001), "phases": (1, 13), "wizards": (1, 7), "characters": (1, 7),
        "units": (3, 11), "spells": (4, 13), "items": (0, 9),
    }  # fmt: skip
    options: dict[str, Any] = {name: int(rng.integers(*ends)) for name, ends in ranges.items()}
    options |= {
        "ruleset": str(rng.choice(["6e", "7e"])),
        "opposition": str(rng.choice(["any", "wizards", "dwarfs", "daemons", "none"])),
        "battlefield": bool(rng.random() < 0.7),
    }
    try:
        return generate(int(rng.integers(0, 2**32)), Generation(**options))
    except ScenarioError:
        return None


def _play(rng: Rng, folder: Path) -> str:
    """Play random battles; they break no invariant of the rules."""
    scenario = random_scenario(rng)
    if scenario is None:
        return "no such army"
    play_randomly(scenario, int(rng.integers(0, 2**63)), 3000)
    return "accepted"


def play_randomly(scenario: Scenario, seed: int, steps: int) -> None:
    """Play random battles for a number of steps; an AssertionError if an invariant is broken."""
    packed, states, rngs, scratch = pack(scenario), new_states(1), new_rngs(1), new_work_spaces()
    rngs[0].key = key_of_seed(seed)
    failed, taken, _ = play_on(packed[0], states[0], rngs[0], scratch[0], steps, False)
    assert failed == 0, f"{scenario.name}: {BROKEN[failed]} after {taken} steps: {states[0]}"


def random_envs(rng: Rng, count: int) -> dict[str, Any]:
    """Return valid arguments of `gym.make_vec`."""
    name = pick(rng, (*IDS, BATTLE))
    scenario = pick(rng, BATTLES if name == BATTLE and rng.random() < 0.5 else PHASES)
    opponent = pick(rng, OPPONENTS)
    return {"id": name, "num_envs": count, "scenario": scenario, "opponent": opponent}


def _misuse(rng: Rng, folder: Path) -> str:
    """Make an invalid call: it is rejected, and play continues as if it had not happened."""
    keys = random_envs(rng, 3)
    envs: Any = gym.make_vec(**keys)
    twin: Any = gym.make_vec(**keys)
    seed = int(rng.integers(2**31))
    for each in (envs, twin):
        _, infos = each.reset(seed=seed)
    rejected = 0
    for _ in range(MISUSES):
        name = pick(rng, list(NONSENSE))
        try:
            NONSENSE[name](envs, rng)
        except REJECTED as error:
            require_message(error)
            rejected += 1
        else:
            raise AssertionError(f"accepted: {name}")
        actions = random_actions(infos["action_mask"], rng)
        got, expected = envs.step(actions), twin.step(actions)
        for one, other in zip(got[:4], expected[:4], strict=True):
            assert np.array_equal(one, other), f"{name}: something changed"
        infos = got[4]
    assert rejected == MISUSES
    return "rejected"


_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"scenario": "no-such"}, {"scenario": 3}, {"opponent": "nobody"}, {"opponent": []},
    {"opponent": "random:2"}, {"points_per_reward": float("inf")}, {"num_envs": 0},
    {"points_per_reward": 1e-320}, {"points_per_reward": float("nan")}, {"num_envs": -3},
    {"autoreset_mode": "Sometimes"}, {"render_mode": "smell"}, {"limits": "wide"},
)  # fmt: skip
_VALID: dict[str, Any] = {"id": IDS[0], "num_envs": 2}
_SEEDS = (-1, [1, 2, 3, 4], [1, 2, -3], 1.5, "one", [1, None, "x"], [1, 2])
_MASKS = (np.ones(2, bool), np.zeros(3, bool), [True] * 3, np.ones(3, np.int64), "all")


def _with_bad_state(envs: Any, rng: Rng) -> None:
    whole = envs.get_state()
    bad: list[Any] = [{}, None, {"envs": whole["envs"]}]
    bad += [whole | {"envs": each} for each in (b"", "text")]
    envs.set_state(pick(rng, bad))


def _with_bad_action(envs: Any, rng: Rng) -> None:
    action = pick(rng, (-1, int(envs.single_action_space.n), 2**31, -(2**63), 2**63 - 1))
    envs.step(np.array([0, 0, action]))


NONSENSE: dict[str, Callable[[Any, Rng], object]] = {
    "too many actions": lambda envs, rng: envs.step(np.zeros(int(rng.integers(4, 99)), np.int64)),
    "no integers": lambda envs, rng: envs.step(np.array([rng.normal(), np.nan, np.inf])),
    "texts": lambda envs, _: envs.step(["0", "pass", None]),
    "an action": _with_bad_action,
    "a seed": lambda envs, rng: envs.reset(seed=pick(rng, _SEEDS)),
    "a mask": lambda envs, rng: envs.reset(options={"reset_mask": pick(rng, _MASKS)}),
    "a state": _with_bad_state,
    "arguments": lambda _, rng: gym.make_vec(**_VALID | pick(rng, _ARGUMENTS)),
}


PLAY = Kind(_play, lambda: play_randomly(load_scenario("apprentice"), 1, 100))
MISUSE = Kind(_misuse)
