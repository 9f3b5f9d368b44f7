"""A relaxation: the best response to a player of somebody who knows all dice ahead.

It wins at least what the best response wins that knows no dice, so its mean over battles is an
upper bound of what can be won from the player. With the dice known a battle is a tree of decisions
alone, laid out layer by layer; equal positions of a layer whose dice have come as far are one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Records, as_records
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.view import View
from wfb_gym.engine.chance import sample
from wfb_gym.engine.generator import RNG, Rng, key_of_seed, new_rngs
from wfb_gym.engine.queries import is_chance
from wfb_gym.engine.state import STATE, Node, State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.transition import act, begin, resolve
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Actions, Agent
from wfb_gym.scenario import Scenario

MOST_POSITIONS = 2_000_000
"""In one layer; where a battle has more, there is no bound."""
_BEGIN = -1


class TooWideError(RuntimeError):
    """The battle has too many positions."""


class Layer(NamedTuple):
    """What the actions of a layer lead to: entries of the next layer, and points on the way."""

    parents: NDArray[np.int64]  # (ways,): entry of the layer
    children: NDArray[np.int64]  # (ways,)
    gains: NDArray[np.float64]  # (ways,): of the first army
    size: int  # entries of the layer


@jit(nogil=True)
def _play(
    packed: PackedScenario,
    states: Records[State],
    rngs: Records[Rng],
    codes: NDArray[np.int64],
    gains: NDArray[np.float64],
    scratch: Records[WorkSpace],
) -> None:
    """Play an action in every position, and roll until the next decision."""
    work = scratch[0]
    for k in range(codes.shape[0]):
        state = states[k]
        if codes[k] == _BEGIN:
            gains[k] = begin(packed, state, work)
        else:
            gains[k] = act(packed, state, codes[k], work)
        while is_chance(state.node):
            gains[k] += resolve(packed, state, sample(packed, state, rngs[k], work), work)


def hindsight_points(
    scenario: Scenario, player: Agent, seat: int, seeds: range, most: int = MOST_POSITIONS
) -> NDArray[np.float64]:
    """Points that the other seat wins in each battle if it knows all dice.

    Args:
        scenario: what is played.
        player: draws nothing.
        seat: of the player.
        seeds: of the battles' dice.
        most: positions of a layer.

    Returns:
        Of each battle, float64 (battles,).

    Raises:
        TooWideError: the battles have more positions.
    """
    packed = pack(scenario)
    views = View.fitted(packed, 0, None), View.fitted(packed, 1, None)
    states, rngs, gains = new_states(len(seeds)), new_rngs(len(seeds)), np.zeros(len(seeds))
    rngs.key = [key_of_seed(seed) for seed in seeds]
    scratch = new_work_spaces()
    _play(packed[0], states, rngs, np.full(len(seeds), _BEGIN), gains, scratch)
    layers: list[Layer] = []
    while (open_ := np.flatnonzero(states["node"] != Node.END)).size:
        parents, codes = [], []
        for view in views:
            rows = open_[states["mover"][open_] == view.seat]
            if not len(rows):
                continue
            scenarios = np.zeros(len(rows), np.int64)
            shown = as_records(State, np.ascontiguousarray(states[rows]))
            observations, masks = view.show(scenarios, shown)
            if view.seat == seat:
                asked = Positions(packed, scenarios, shown, seat, view.codec)
                chosen = _chosen(player, observations, masks, asked)
                masks = np.arange(masks.shape[1]) == chosen[:, None]
            rows_of, actions = np.nonzero(masks)
            parents.append(rows[rows_of])
            codes.append(view.codec.code_of[actions])
        origin = np.concatenate(parents)
        if len(origin) > most:
            raise TooWideError(f"{scenario.name}: more than {most:,} positions with known dice")
        size = len(states)
        after = as_records(State, np.ascontiguousarray(states[origin]))
        dice = as_records(Rng, np.ascontiguousarray(rngs[origin]))
        won = np.zeros(len(origin))
        _play(packed[0], after, dice, np.concatenate(codes), won, scratch)
        whole = np.hstack([_bytes(after, STATE), _bytes(dice, RNG)])
        _, first, children = np.unique(
            whole.view(f"V{whole.shape[1]}").ravel(), return_index=True, return_inverse=True
        )
        layers.append(Layer(origin, children, won, size))
        states = as_records(State, np.ascontiguousarray(after[first]))
        rngs = as_records(Rng, np.ascontiguousarray(dice[first]))
    sign = 1.0 if seat == 1 else -1.0
    values = np.zeros(len(states))
    for layer in reversed(layers):
        best = np.full(layer.size, -np.inf)
        np.maximum.at(best, layer.parents, sign * layer.gains + values[layer.children])
        values = np.where(np.isinf(best), 0.0, best)
    return np.asarray(sign * gains + values)


def _chosen(player: Agent, observations: Any, masks: Any, positions: Positions) -> Actions:
    answer = ask_policy(player.act, observations, masks, lambda: positions)
    return validated_actions(answer, masks, "player")


def _bytes(records: Any, dtype: np.dtype[Any]) -> NDArray[np.uint8]:
    return np.asarray(records).view(np.uint8).reshape(len(records), dtype.itemsize)
