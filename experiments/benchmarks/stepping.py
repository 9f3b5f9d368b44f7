"""Speed of stepping: wfb_gym under random legal actions, and what it is compared with."""

import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numba
import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.engine.generator import mix

Round = Callable[[float], dict[str, float]]
"""Measures for a number of seconds; returns rates by name."""

Flags = NDArray[np.bool_]
Outputs = tuple[NDArray[np.float32], Flags, NDArray[np.float64], Flags, Flags]
"""Observations, masks, rewards, terminations and illegal actions of a step."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@jit(nogil=True)
def draw_legal_actions(masks: NDArray[Any], word: np.uint64, actions: NDArray[np.int64]) -> None:
    """Draw a uniform legal action for each row of masks."""
    for i in range(masks.shape[0]):
        word = mix(word + _GOLDEN)
        legal = 0
        for k in range(masks.shape[1]):
            legal += masks[i, k]
        skip = (np.int64(word >> np.uint64(32)) * legal) >> 32
        for k in range(masks.shape[1]):
            if masks[i, k]:
                if skip == 0:
                    actions[i] = k
                    break
                skip -= 1


@jit
def _three_dice(i: int, counter: np.uint64, outputs: Outputs) -> None:
    """Roll three dice and write all outputs: the least that such an environment can do."""
    observations, masks, rewards, terminations, illegal = outputs
    total = np.uint64(0)
    for k in range(3):
        word = mix(counter + np.uint64(3 * i + k) * _GOLDEN)
        total += ((word >> np.uint64(32)) * np.uint64(6)) >> np.uint64(32)
    for k in range(observations.shape[1]):
        observations[i, k] = np.float32(total + np.uint64(k))
    for k in range(masks.shape[1]):
        masks[i, k] = total > np.uint64(k)
    rewards[i] = float(total)
    terminations[i] = total == np.uint64(0)
    illegal[i] = False


@jit(nogil=True)
def bare_serial(counter: np.uint64, outputs: Outputs) -> None:
    """Run `_three_dice` for each environment, one after the other."""
    for i in range(len(outputs[0])):
        _three_dice(i, counter, outputs)


@jit(parallel=True, nogil=True, _nrt=True)
def bare_parallel(counter: np.uint64, outputs: Outputs) -> None:
    """Run `_three_dice` for each environment, on several threads."""
    for i in numba.prange(len(outputs[0])):
        _three_dice(i, counter, outputs)


def _step_round(size: int, step: Callable[[int], Any]) -> Round:
    """Measure steps of environments side by side; each gets its number.

    As a trainer does, it keeps what a step returns until the next one.
    """

    def measure(seconds: float) -> dict[str, float]:
        steps = 0
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            steps += 1
            _kept = step(steps)
        return {"step": steps * size / (time.perf_counter() - began)}

    return measure


def bare_round(size: int, shape: tuple[int, int], loop: Any) -> Round:
    """Measure a compiled loop that writes a step's bytes into new arrays and knows no rules."""

    def step(number: int) -> Outputs:
        outputs = (
            np.empty((size, shape[0]), np.float32),
            np.empty((size, shape[1]), np.bool_),
            np.empty(size),
            np.empty(size, np.bool_),
            np.empty(size, np.bool_),
        )
        loop(np.uint64(number), outputs)
        return outputs

    return _step_round(size, step)


def cartpole_round(size: int) -> Round:
    """Measure Gymnasium's own native vector environment."""
    envs = gym.make_vec("CartPole-v1", num_envs=size, vectorization_mode="vector_entry_point")
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(2, size=(16, size))
    return _step_round(size, lambda number: envs.step(actions[number % 16]))


def _choosing_round(
    size: int, step: Callable[[Any], Any], choose: Callable[[int, Any], Any], result: Any
) -> Round:
    """Measure steps alone, and with the choosing of actions.

    Actions are chosen by the step's number and the result of the step before; `result` is what the
    first ones are chosen by.
    """

    def measure(seconds: float) -> dict[str, float]:
        nonlocal result
        steps, stepping = 0, 0.0
        began = time.perf_counter()
        while stepping < seconds:
            actions = choose(steps, result)
            before = time.perf_counter()
            result = step(actions)
            stepping += time.perf_counter() - before
            steps += 1
        whole = time.perf_counter() - began
        return {"step": steps * size / stepping, "with_choosing": steps * size / whole}

    return measure


def batch_round(size: int, opponent: str, scenario: str) -> Round:
    """Measure the vector environment under random legal actions."""
    envs: Any = gym.make_vec(
        "wfb_gym/Caster-v0", num_envs=size, opponent=opponent, scenario=scenario
    )
    actions = np.zeros(size, np.int64)

    def choose(number: int, result: Any) -> NDArray[np.int64]:
        draw_legal_actions(result[-1]["action_mask"], np.uint64(number * size), actions)
        return actions

    result = envs.reset(seed=0)
    for number in range(100):  # battles spread over all their phases
        result = envs.step(choose(number, result))
    return _choosing_round(size, envs.step, choose, result)


def single_round(opponent: str) -> Round:
    """Measure one environment through `gym.make`; resets count as choosing."""
    env = gym.make("wfb_gym/Caster-v0", opponent=opponent, disable_env_checker=True)
    actions = np.zeros(1, np.int64)

    def choose(number: int, result: Any) -> np.int64:
        has_ended = len(result) == 5 and result[2]
        *_, info = env.reset() if has_ended else result
        draw_legal_actions(info["action_mask"].reshape(1, -1), np.uint64(number), actions)
        return actions[0]

    return _choosing_round(1, env.step, choose, env.reset(seed=0))
