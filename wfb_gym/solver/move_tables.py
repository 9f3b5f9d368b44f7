"""Move tables for optimal players, from solutions that are cached on disk."""

import sys
from collections.abc import Sequence

import numpy as np

from wfb_gym._records import as_records
from wfb_gym.opponents.move_tables import MoveTable, MoveTables, no_move_tables, write_moves
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.solver.solution_files import packed_digest
from wfb_gym.solver.solving import solve

_CACHE: dict[tuple[str, ...], MoveTables] = {}
_CACHE_SIZE = 4
"""Move tables that a process keeps for its next environments."""


def load_move_tables(scenarios: Sequence[Scenario], seat: int) -> MoveTables:
    """Make the move tables of one seat, solving the scenarios that are not solved yet.

    Args:
        scenarios: at least one.
        seat: whose moves: 0 or 1.

    Returns:
        A table for each scenario.

    Raises:
        TooLarge: one has more positions than fit.
    """
    name = (str(seat), *(packed_digest(pack(scenario)) for scenario in scenarios))
    if name not in _CACHE:
        while len(_CACHE) >= _CACHE_SIZE:
            del _CACHE[next(iter(_CACHE))]
        _CACHE[name] = _make_move_tables(scenarios, seat)
    return _CACHE[name]


def _make_move_tables(scenarios: Sequence[Scenario], seat: int) -> MoveTables:
    found, _ = no_move_tables()
    found = as_records(MoveTable, np.repeat(np.asarray(found), len(scenarios)))
    storages = []
    end = 0
    for number, scenario in enumerate(scenarios):
        graph = solve(scenario, cache=True, notice=sys.stderr).graph
        own = np.flatnonzero(graph.kinds == seat)
        move_table = found[number]
        move_table.plan = graph.plan[0]
        move_table.first = 0
        move_table.slots = 1 << int(2 * len(own)).bit_length()
        move_storage = np.zeros(int(move_table.slots) * (int(move_table.plan.words) + 1), np.uint64)
        write_moves(found, number, graph.keys[own], graph.chosen[own], move_storage)
        move_table.first = end
        end += len(move_storage)
        storages.append(move_storage)
    return MoveTables(found, np.concatenate(storages))
