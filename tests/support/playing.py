"""Play environments in tests: actions that follow from observations, and records of episodes."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.builders import army, spell, wizard
from tests.support.packed import scenario
from wfb_gym.engine.actions import FIRST_ITEM, FIRST_REROLL, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.transcripts import NarratedBattle, Transcript, record
from wfb_gym.view.events import Event

IDS = ("wfb_gym/Caster-v0", "wfb_gym/Dispeller-v0")
SEAT = {"wfb_gym/Caster-v0": 0, "wfb_gym/Dispeller-v0": 1}
BATTLE = "wfb_gym/Battle-v0"
PHASES = tuple(name for name in bundled_scenarios() if load_scenario(name).battlefield is None)
"""Bundled scenarios without a battlefield; the others are battles of whole armies."""
EVERY_SCENARIO = [
    pytest.param(name, marks=[pytest.mark.slow] * (load_scenario(name).phases > 10))
    for name in bundled_scenarios()
]
"""Names of the bundled scenarios, as parameters of tests; scenarios of many phases are slow."""
MOST_STEPS = 2000


class StepRecord(NamedTuple):
    """The result of one call of a single environment, and the action before it."""

    action: int
    observation: NDArray[np.float32]
    reward: float
    terminated: bool
    mask: NDArray[np.int8]


@cache
def table_of(name: str) -> Any:
    """Return a bundled scenario, packed once; read-only."""
    return pack(load_scenario(name))


@cache
def recorded(name: str) -> Transcript:
    """Return a battle of a bundled scenario between a veteran and random play; read-only."""
    return record(name, "veteran", "random", seed=3)


def lines_of(path: Path) -> list[Any]:
    """Return the values in a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def some(name: str, many: int, few: int = 2) -> int:
    """Return the number of games; a whole battle takes as long as dozens of phases."""
    return many if name in PHASES else few


def registered() -> list[str]:
    """Return every id of the package."""
    return sorted(name for name in gym.registry if name.startswith("wfb_gym/"))


def pick(observation: NDArray[np.float32], mask: NDArray[Any]) -> int:
    """Return a legal action that depends on the observation only, by a hash."""
    legal = np.flatnonzero(mask)
    return int(legal[crc32(observation.tobytes()) % len(legal)])


Choose = Callable[[NDArray[np.float32], NDArray[Any]], int]
"""Chooses an action by an observation and a mask."""


def picks(observations: NDArray[np.float32], masks: NDArray[Any]) -> NDArray[np.int64]:
    """Return the action of `pick` for every row."""
    rows = zip(observations, masks, strict=True)
    return np.array([pick(row, mask) for row, mask in rows], np.int64)


def lowest(observations: NDArray[np.float32], masks: NDArray[Any]) -> NDArray[np.int64]:
    return np.array([np.flatnonzero(mask)[0] for mask in masks], np.int64)


def highest(observations: NDArray[np.float32], masks: NDArray[Any]) -> NDArray[np.int64]:
    return np.array([np.flatnonzero(mask)[-1] for mask in masks], np.int64)


def raw(name: str, **keys: Any) -> Any:
    """Return the environment of an id without Gymnasium's wrappers."""
    return gym.make(name, disable_env_checker=True, **keys).unwrapped


def episode(env: Any, seed: int | None, choose: Choose = pick) -> list[StepRecord]:
    """Return one episode from reset to the end."""
    observation, info = env.reset(seed=seed)
    steps = [StepRecord(-1, observation, 0.0, False, info["action_mask"])]
    steps.extend(rest(env, observation, info["action_mask"], choose))
    return steps


def rest(
    env: Any, observation: NDArray[np.float32], mask: NDArray[Any], choose: Choose = pick
) -> Iterator[StepRecord]:
    """Return the steps from here to the end of the episode."""
    for _ in range(MOST_STEPS):
        action = choose(observation, mask)
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        mask = info["action_mask"]
        yield StepRecord(action, observation, reward, terminated, mask)
        if terminated:
            return
    raise AssertionError("the episode does not end")


def same(left: list[StepRecord], right: list[StepRecord]) -> bool:
    """Return whether two records agree bit for bit."""
    pairs: Any = zip(left, right, strict=False)
    fields = (np.array_equal(x, y) for a, b in pairs for x, y in zip(a, b, strict=True))
    return len(left) == len(right) and all(fields)


def play_randomly(battle: Battle, rng: np.random.Generator) -> Iterator[Battle]:
    """Play a battle to its end; yields it at every decision node, before the action."""
    while not battle.is_over:
        if battle.is_decision():
            yield battle
            legal = battle.legal_actions()
            battle.act(legal[int(rng.integers(len(legal)))])
        else:
            throw(battle, rng)


def throw(battle: Battle, rng: np.random.Generator) -> None:
    """Resolve a chance node: with dice, or by an outcome if the number of dice is open."""
    dice = battle.dice_to_roll
    if dice is not None:
        battle.roll(*(int(face) for face in rng.integers(1, 7, dice)))
    else:
        battle.resolve(drawn_outcome(battle, rng))


def drawn_outcome(battle: Battle, rng: np.random.Generator) -> int:
    """Return an outcome of a chance node, drawn with its probability."""
    outcomes, chances = zip(*battle.chance_outcomes(), strict=True)
    return int(rng.choice(outcomes, p=np.array(chances) / sum(chances)))


def narrate_randomly(narrated: NarratedBattle, rng: np.random.Generator) -> Iterator[Event]:
    """Play a narrated battle to its end, mostly with items and casts where they are legal."""
    while not narrated.battle.is_over:
        battle = narrated.battle
        if battle.is_chance():
            yield narrated.resolve(drawn_outcome(battle, rng))
            continue
        legal = battle.legal_actions()
        items = [code for code in legal if FIRST_ITEM <= code < FIRST_REROLL]
        preferred = items or [code for code in legal if code != PASS] or legal
        yield narrated.act(int(rng.choice(preferred if rng.random() < 0.8 else legal)))


def narrate(narrated: NarratedBattle, *steps: int | tuple[int, ...]) -> list[Event]:
    """Choose an action for each number and roll the faces of each tuple; returns the events."""
    return [narrated.act(step) if isinstance(step, int) else narrated.roll(*step) for step in steps]


def no_decision() -> Scenario:
    """Return a phase in which the second army never has a choice."""
    mage = wizard(2, spell("Bolt", 3, 30.0), spell("Beam", 4, 50.0))
    return scenario(army(mage, power_dice=4), army(dispel_dice=0))
