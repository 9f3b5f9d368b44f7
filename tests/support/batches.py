"""Vector environments in tests: two of them side by side, copies, and random actions."""

import copy
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from tests.support.playing import BATTLE, IDS, picks, raw
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import new_states
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.battles import BattleVectorEnv
from wfb_gym.envs.vector import CasterVectorEnv, DispellerVectorEnv

VECTOR = {IDS[0]: CasterVectorEnv, IDS[1]: DispellerVectorEnv, BATTLE: BattleVectorEnv}
MODES = list(AutoresetMode)


def through_pickle(thing: Any) -> Any:
    """Return a copy through pickle."""
    return pickle.loads(pickle.dumps(thing))


COPIED = pytest.mark.parametrize("copied", [copy.deepcopy, through_pickle])
"""Run a test with both kinds of copy."""


def native(name: str, num_envs: int, **keys: Any) -> Any:
    """Return a vector environment of the package."""
    return VECTOR[name](num_envs, **keys)


def sync(name: str, num_envs: int, mode: AutoresetMode, **keys: Any) -> SyncVectorEnv:
    """Return Gymnasium's vector environment of single environments."""
    return SyncVectorEnv([lambda: raw(name, **keys)] * num_envs, autoreset_mode=mode)


def run(envs: Any, steps: int, seed: int, mode: AutoresetMode) -> Iterator[tuple[Any, ...]]:
    """Return the results of resets and steps.

    Actions follow from the observations; some of the first environment's are illegal.
    """
    observations, infos = envs.reset(seed=seed)
    yield observations, infos
    for step in range(steps):
        actions = picks(observations, infos["action_mask"])
        if step % 4 == 0:
            actions[0] = step // 4 % envs.single_action_space.n
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert np.array_equal(np.stack(envs.call("action_masks")), infos["action_mask"])
        yield observations, rewards, terminations, truncations, infos
        if mode == AutoresetMode.DISABLED and terminations.any():
            observations, infos = envs.reset(options={"reset_mask": terminations.copy()})
            # Gymnasium's implementation omits the other environments from `infos`.
            yield observations, infos["action_mask"][terminations]
            infos = {"action_mask": np.stack(envs.call("action_masks"))}


def assert_same_runs(
    ours: Any, theirs: Any, steps: int, seed: int, mode: AutoresetMode = AutoresetMode.SAME_STEP
) -> int:
    """Assert that two vector environments give the same results; return the ended episodes."""
    ended = 0
    pairs = zip(run(ours, steps, seed, mode), run(theirs, steps, seed, mode), strict=True)
    for mine, expected in pairs:
        assert data_equivalence(mine, expected, exact=True)
        ended += int(mine[2].sum()) if len(mine) == 5 else 0
    return ended


def assert_continue_alike(envs: Any, twin: Any, actions: NDArray[np.int64], steps: int) -> None:
    """Assert that two vector environments at one position continue alike."""
    for _ in range(steps):
        left, right = envs.step(actions), twin.step(actions)
        assert data_equivalence(left, right, exact=True)
        actions = picks(left[0], left[4]["action_mask"])


def random_actions(masks: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a random legal action of every row."""
    actions: NDArray[np.int64] = np.where(masks, rng.random(masks.shape), -1.0).argmax(1)
    return actions


def all_equal(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Return whether two lists have as many arrays, or lists of arrays, and all are equal."""
    if isinstance(left, np.ndarray):
        return np.array_equal(left, right)
    return len(left) == len(right) and all(map(all_equal, left, right))


def states_of(battle: Battle) -> Any:
    """Return a copy of a battle's state, (1,)."""
    states = new_states(1)
    states[0] = battle.state
    return states


def play_batch(batch: Batch, steps: int, seed: int = 7) -> list[Any]:
    """Return the arrays of a reset and of steps of a batch whose learner follows `picks`."""
    batch.seed(range(seed, seed + batch.num_envs))
    out = batch.reset(np.ones(batch.num_envs, np.bool_))
    seen: list[Any] = [out.observations, out.masks]
    for _ in range(steps):
        out = batch.step(picks(out.observations, out.masks))
        seen += [out.observations, out.masks, out.rewards, out.terminations]
    return seen
