"""wfb_gym's stepping speed under random legal actions, and the rounds that measure it."""

import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.engine.random_numbers import mix

Round = Callable[[float], dict[str, float]]
"""Measures for a few seconds and returns rates by name."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@jit(nogil=True)
def draw_legal_actions(masks: NDArray[Any], word: np.uint64, actions: NDArray[np.int64]) -> None:
    """Draw a legal action uniformly for each row of masks."""
    for i in range(masks.shape[0]):
        word = mix(word + _GOLDEN)
        legal = 0
        for k in range(masks.shape[1]):
            legal += masks[i, k]
        skip = (np.int64(word >> np.uint64(32)) * legal) >> 32  # 0 to legal - 1, without modulo
        for k in range(masks.shape[1]):
            if masks[i, k]:
                if skip == 0:
                    actions[i] = k
                    break
                skip -= 1


def step_round(size: int, step: Callable[[int], Any]) -> Round:
    """Measure steps of parallel environments. `step` is called with the step number.

    Each step's result is kept until the next one, as in a trainer.
    """

    def measure(seconds: float) -> dict[str, float]:
        steps = 0
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            steps += 1
            _kept = step(steps)
        return {"step": steps * size / (time.perf_counter() - began)}

    return measure


def choosing_round(
    size: int, step: Callable[[Any], Any], choose: Callable[[int, Any], Any], result: Any
) -> Round:
    """Measure steps with and without choosing actions.

    `choose` is called with the step number and the previous step's result. `result` is the first
    result.
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
        "wfb_gym/Caster-v0", num_envs=size, opponent=opponent, scenario=scenario, final_infos=False
    )
    actions = np.zeros(size, np.int64)

    def choose(number: int, result: Any) -> NDArray[np.int64]:
        draw_legal_actions(result[-1]["action_mask"], np.uint64(number * size), actions)
        return actions

    result = envs.reset(seed=0)
    for number in range(100):  # puts the battles in different phases
        result = envs.step(choose(number, result))
    return choosing_round(size, envs.step, choose, result)


def single_round(opponent: str) -> Round:
    """Measure a single environment from `gym.make`. Resets count as choosing."""
    env = gym.make("wfb_gym/Caster-v0", opponent=opponent, disable_env_checker=True)
    actions = np.zeros(1, np.int64)

    def choose(number: int, result: Any) -> np.int64:
        has_ended = len(result) == 5 and result[2]
        *_, info = env.reset() if has_ended else result
        draw_legal_actions(info["action_mask"].reshape(1, -1), np.uint64(number), actions)
        return actions[0]

    return choosing_round(1, env.step, choose, env.reset(seed=0))
