"""Stepping speed of other libraries' games, on the same machine and in the same run as wfb_gym."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from experiments.benchmarks.stepping import Round, choosing_round, step_round


def peer_rounds(size: int) -> dict[str, Round]:
    """Return a round for each installed peer library, keyed by its name in tables."""
    found = {"Gymnasium CartPole-v1": cartpole_round(size)}
    if find_spec("envpool"):
        found["EnvPool Blackjack-v1"] = envpool_round("Blackjack-v1", size)
    if find_spec("pgx") and find_spec("jax"):
        for game in ("leduc_holdem", "backgammon"):
            found[f"PGX {game}"] = pgx_round(game, size)
    return found


def cartpole_round(size: int) -> Round:
    """Measure Gymnasium's own native vector environment."""
    envs = gym.make_vec("CartPole-v1", num_envs=size, vectorization_mode="vector_entry_point")
    envs.reset(seed=0)
    return step_round(size, _among_two_actions(envs.step, size, np.int64))


def envpool_round(name: str, size: int) -> Round:
    """Measure a two-action game in EnvPool's C++, stepping all environments together."""
    import envpool

    envs = envpool.make(name, env_type="gymnasium", num_envs=size, seed=0)
    envs.reset()
    return step_round(size, _among_two_actions(envs.step, size, np.int32))


def _among_two_actions(
    step: Callable[[NDArray[Any]], Any], size: int, kind: type
) -> Callable[[int], Any]:
    """Return a step function that takes the step number and plays actions drawn in advance."""
    actions: NDArray[Any] = np.random.default_rng(0).integers(2, size=(16, size)).astype(kind)
    return lambda number: step(actions[number % len(actions)])


def pgx_round(game: str, size: int) -> Round:
    """Measure a PGX game under random legal actions, compiled by JAX. Finished games restart."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(game)

    def draw(number: Any, masks: Any) -> Any:
        first, second = jax.random.split(jax.random.key(number))
        actions = jax.random.categorical(first, jax.numpy.where(masks, 0.0, -jax.numpy.inf))
        return actions, jax.random.split(second, size)

    draw_compiled = jax.jit(draw)
    step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))

    def choose(number: int, state: Any) -> Any:
        actions, keys = jax.block_until_ready(draw_compiled(number, state.legal_action_mask))
        return state, actions, keys

    def step_all(chosen: Any) -> Any:
        return jax.block_until_ready(step(*chosen))

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), size))
    for number in range(10):  # puts the games at different stages
        state = step_all(choose(number, state))
    return choosing_round(size, step_all, choose, state)
