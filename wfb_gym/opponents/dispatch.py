"""Scripted players: compiled opponents that run inside the batch.

Each player is a module in `wfb_gym.opponents.scripted`, with two exceptions:

- **random** chooses uniformly among the legal actions.
- **optimal** plays a solved scenario optimally from a table of moves
  (`wfb_gym.opponents.move_tables`). At a position that is not in the table, it plays like veteran.

Each of them can also act at random with some probability (`with_epsilon`).
"""

from enum import IntEnum
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.encoding.positions import PositionArrays
from wfb_gym.engine import queries
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import Rng, new_rngs, next_choice
from wfb_gym.engine.state import State, WorkSpace, new_work_spaces
from wfb_gym.opponents import policy_spec
from wfb_gym.opponents.move_tables import NO_MOVE, MoveTable, MoveTables, look_up_move
from wfb_gym.opponents.policy_spec import PolicySpec
from wfb_gym.packing.records import PackedScenario


class Scripted(IntEnum):
    """Numbers of players that need special handling; EXTERNAL is played outside the batch."""

    EXTERNAL = -1
    RANDOM = 0
    GREEDY = 1
    VETERAN = 2
    OPTIMAL = 3


SCRIPTED = {name: number for number, name in enumerate(policy_spec.SCRIPTED)}
"""Scripted players' numbers by name. The first four are members of `Scripted`."""
EPSILON_STEPS = 1 << 16
"""Probabilities of random actions are multiples of 1 / `EPSILON_STEPS`."""
_KIND_BITS = 8
_KIND_MASK = (1 << _KIND_BITS) - 1


class ScriptedPlayer(NamedTuple):
    """A scripted player for one scenario, for use in compiled code."""

    number: int  # a number from `SCRIPTED`, or `with_epsilon` of one
    move_table: MoveTable  # the scenario's table, read by optimal
    move_storage: NDArray[np.uint64]  # storage for all move tables


def with_epsilon(kind: int, epsilon: float) -> int:
    """Return the number of a player that takes a random legal action with probability epsilon."""
    return int(kind) | round(epsilon * EPSILON_STEPS) << _KIND_BITS


def kind_and_epsilon(number: int) -> tuple[int, float]:
    """Undo `with_epsilon`."""
    if number < 0:
        return number, 0.0
    return number & _KIND_MASK, (number >> _KIND_BITS) / EPSILON_STEPS


def scripted_number(spec: PolicySpec) -> int:
    """Return the number for a scripted player's spec."""
    return with_epsilon(SCRIPTED[spec.name], spec.epsilon)


def _compile_choice(players: list[tuple[int, Any]]) -> Any:
    """Return a compiled function that calls the player with a given number."""
    # Numba cannot compile a table of functions, so each player becomes a branch.
    if not players:

        @jit
        def raise_unknown(
            kind: int, packed: PackedScenario, state: State, work: WorkSpace, count: int
        ) -> int:
            if kind >= 0:
                raise AssertionError("no scripted player has this number")
            return 0

        return raise_unknown
    number, choose = players[0]
    choose_other = _compile_choice(players[1:])

    @jit
    def choose_one(
        kind: int, packed: PackedScenario, state: State, work: WorkSpace, count: int
    ) -> int:
        if kind == number:
            return int64(choose(packed, state, work, count))
        return int64(choose_other(kind, packed, state, work, count))

    return choose_one


_choose_by_rules = _compile_choice(
    [
        (SCRIPTED[name], getattr(import_module(module), module.rpartition(".")[2]))
        for name, module in policy_spec.MODULES.items()
    ]
)


@jit
def choose_action(
    player: ScriptedPlayer,
    packed: PackedScenario,
    state: State,
    work: WorkSpace,
    count: int,
    rng: Rng,
) -> int:
    """Choose a scripted player's action at a decision node.

    `work.legal` lists the `count` legal actions. The call leaves the state unchanged. The random
    number generator is used only for random actions.

    Returns:
        The action's engine code.
    """
    kind = int64(player.number)
    if kind > _KIND_MASK:
        if next_choice(rng, EPSILON_STEPS) < kind >> _KIND_BITS:
            return int64(work.legal[next_choice(rng, count)])
        kind &= _KIND_MASK
    if kind == Scripted.RANDOM:
        return int64(work.legal[next_choice(rng, count)])
    if kind == Scripted.OPTIMAL:
        move = int64(look_up_move(packed, state, player.move_table, player.move_storage, work))
        if move != NO_MOVE:
            return move
        kind = int64(Scripted.VETERAN)
    return int(_choose_by_rules(kind, packed, state, work, count))


class Chooser(NamedTuple):
    """A scripted player for batches of positions, with move tables and scratch arrays."""

    number: int
    move_tables: MoveTables
    rngs: Records[Rng]
    scratch: Records[WorkSpace]


def new_chooser(kind: int, move_tables: MoveTables) -> Chooser:
    """Return a chooser for a deterministic player; only optimal reads the move tables."""
    return Chooser(int(kind), move_tables, new_rngs(1), new_work_spaces())


@jit(nogil=True)
def choose_actions(chooser: Chooser, positions: PositionArrays, chosen: NDArray[np.int64]) -> None:
    """Write a scripted player's actions for rows in which the seat is to move; keep other rows."""
    work = chooser.scratch[0]
    tables, storage = chooser.move_tables
    for i in range(positions.states.shape[0]):
        state = positions.states[i]
        if queries.is_decision(state.node) and state.mover == positions.seat:
            which = positions.scenario[i]
            packed = positions.packed_scenarios[which]
            count = int64(legal_actions(packed, state, work))
            player = ScriptedPlayer(chooser.number, tables[which % tables.shape[0]], storage)
            code = choose_action(player, packed, state, work, count, chooser.rngs[0])
            chosen[i] = positions.indices[code]
