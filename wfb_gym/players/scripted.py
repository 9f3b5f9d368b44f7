"""The scripted players as agents: greedy, veteran and, from a book of moves, optimal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.encoding.positions import Positions
from wfb_gym.engine.generator import Rng, new_rngs
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import State, WorkSpace, new_work_spaces
from wfb_gym.opponents.move_tables import MoveTable, no_move_tables
from wfb_gym.opponents.policies import SCRIPTED, Scripted, choose
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import needed
from wfb_gym.scenario import load_scenario
from wfb_gym.solver.move_tables import load_move_tables

NAMES = tuple(name for name, kind in SCRIPTED.items() if kind != Scripted.RANDOM)
"""Scripted players that draw nothing: what they do follows from the position."""


class ScriptedAgent:
    """A player that the batch can play by itself, as an agent: the very same moves.

    Args:
        name: of `NAMES`.
        scenario: what optimal plays; several in the order in which the batch holds them. They are
            solved if they were not before. The others play anything.
        seat: that optimal plays: 0 or 1.

    Raises:
        ValueError: no such player.
        TooLarge: optimal's scenario has more positions than fit.
    """

    sees_positions = True

    def __init__(self, name: str, scenario: Any = "archmage-duel", seat: int = 0) -> None:
        if name not in NAMES:
            raise ValueError(f"scripted: expected one of {', '.join(NAMES)}, found {name!r}")
        self.name = name
        self._kind = int(SCRIPTED[name])
        self._scratch = new_work_spaces()
        self._rngs = new_rngs(1)
        if SCRIPTED[name] == Scripted.OPTIMAL:
            played = scenario if isinstance(scenario, list | tuple) else [scenario]
            self._move_tables, self._move_storage = load_move_tables(
                [load_scenario(each) for each in played], seat
            )
        else:
            self._move_tables, self._move_storage = no_move_tables()

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each row; see `Agent`."""
        seen = needed(positions, self.name)
        actions = np.zeros(len(seen), np.int64)
        _choose_all(
            self._kind, seen.seat, seen.packed_scenarios, seen.scenario, seen.states,
            seen.codec.index_of,
            self._move_tables, self._move_storage, self._rngs, self._scratch, actions,
        )  # fmt: skip
        return actions


@jit(nogil=True)
def _choose_all(
    policy: int,
    seat: int,
    packed_scenarios: Records[PackedScenario],
    scenario: NDArray[np.int64],
    states: Records[State],
    indices: NDArray[np.int64],
    move_tables: Records[MoveTable],
    move_storage: NDArray[np.uint64],
    rngs: Records[Rng],
    scratch: Records[WorkSpace],
    actions: NDArray[np.int64],
) -> None:
    """A scripted player's actions where the seat must decide; the others are left alone."""
    work = scratch[0]
    for i in range(states.shape[0]):
        state = states[i]
        if is_decision(state.node) and state.mover == seat:
            packed = packed_scenarios[scenario[i]]
            count = int64(legal_actions(packed, state, work))
            move_table = move_tables[scenario[i] % move_tables.shape[0]]
            code = choose(policy, packed, state, work, count, rngs[0], move_table, move_storage)
            actions[i] = indices[code]
