"""Damaged states: each is rejected without changes, or can be played to the end.

Runs in a separate process, because a failure may be a crash: ``python -m tests.envs.damage SEED
COUNT SCENARIO ...`` prints how many states were rejected and how many were played.
"""

import sys
from typing import Any

import numpy as np

from tests.support.batches import random_actions
from wfb_gym._records import as_records
from wfb_gym.engine.state import STATE
from wfb_gym.envs.kernel import ENVIRONMENT, Environment
from wfb_gym.envs.vector import CasterVectorEnv, DispellerVectorEnv, MagicPhaseVectorEnv

MOST_STEPS = 5000
_STEPS_BETWEEN = 3


def damaged(env: Any, rng: np.random.Generator) -> bytes:
    """Return an environment with one or two faults: a bit, a byte, or a number of a field."""
    for _ in range(int(rng.integers(1, 3))):
        kind = rng.integers(4)
        if kind < 2:
            data = bytearray(env.tobytes())
            place = int(rng.integers(ENVIRONMENT.itemsize))
            data[place] = data[place] ^ (1 << int(rng.integers(8))) if kind else rng.integers(256)
            env = as_records(Environment, np.frombuffer(data, ENVIRONMENT))
            continue
        field = str(rng.choice(list(STATE.names or ())))
        values = env["state"][field].reshape(-1)
        place = int(rng.integers(len(values)))
        near = int(values[place]) + int(rng.integers(-2, 3))
        number = near if kind == 2 else rng.integers(-128, 128)
        values[place] = np.array(number).astype(values.dtype)
        env["state"][field] = values.reshape(env["state"][field].shape)
    data_of: bytes = env.tobytes()
    return data_of


def play_on(envs: MagicPhaseVectorEnv, rng: np.random.Generator) -> None:
    for _ in range(MOST_STEPS):
        actions = random_actions(envs.action_masks(), rng)
        observations, rewards, ended, _, _ = envs.step(actions)
        assert np.isfinite(rewards).all(), rewards
        assert np.isfinite(observations).all(), observations
        if ended[0]:
            return
    raise AssertionError("the battle does not end")


def search(seed: int, count: int, scenario: str) -> tuple[int, int]:
    """Damage states of a scenario's battles; returns how many were rejected and how many played."""
    rng = np.random.default_rng(seed)
    kind = CasterVectorEnv if seed % 2 else DispellerVectorEnv
    opponent = ["random", "greedy", "veteran"]
    envs, whole = (
        kind(1, scenario=scenario, opponent=opponent, autoreset_mode="Disabled") for _ in range(2)
    )
    whole.reset(seed=seed)
    envs.reset(seed=seed)
    refused, ended = 0, False
    for _ in range(count):
        for _ in range(int(rng.integers(1, _STEPS_BETWEEN))):
            if ended:
                whole.reset()
            actions = random_actions(whole.action_masks(), rng)
            ended = bool(whole.step(actions)[2][0])
        state = whole.get_state()
        broken = {**state, "envs": damaged(whole.batch.envs.copy(), rng)}
        before, message = envs.get_state(), ""
        try:
            envs.set_state(broken)
        except ValueError as error:
            message = str(error)
        if message:
            assert message.startswith("state: environment 0: "), message
            assert envs.get_state() == before
            refused += 1
        else:
            play_on(envs, rng)
    return refused, count - refused


if __name__ == "__main__":
    first, each = int(sys.argv[1]), int(sys.argv[2])
    for number, name in enumerate(sys.argv[3:]):
        counts = search(first + number, each, name)
        sys.stdout.write(f"{name} {counts[0]} {counts[1]}\n")
