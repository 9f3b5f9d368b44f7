"""Move tables for optimal players, built from solutions cached on disk."""

import sys
from collections.abc import Sequence

import numpy as np

from wfb_gym._records import new_records
from wfb_gym.opponents.move_tables import MoveTable, MoveTables, write_moves
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.solver.solution import packed_digest
from wfb_gym.solver.solving import solve_all

_CACHE: dict[tuple[str, ...], MoveTables] = {}
_CACHE_SIZE = 4  # number of move tables that a process keeps for later environments


def load_move_tables(scenarios: Sequence[Scenario], seat: int) -> MoveTables:
    """Return a seat's move table for each scenario; solve scenarios that are not cached.

    Raises:
        TooLarge: if a scenario's positions do not fit in memory.
    """
    name = (str(seat), *(packed_digest(pack(scenario)) for scenario in scenarios))
    if name in _CACHE:
        return _CACHE[name]
    while len(_CACHE) >= _CACHE_SIZE:
        del _CACHE[next(iter(_CACHE))]
    tables = new_records(MoveTable, len(scenarios))
    storages = []
    end = 0
    solutions = solve_all(scenarios, cache=True, notice=sys.stderr)
    for number, (solution, table) in enumerate(zip(solutions, tables, strict=True)):
        graph = solution.graph
        own = np.flatnonzero(graph.kinds == seat)
        table.plan = graph.plan[0]
        table.slots = 1 << int(2 * len(own)).bit_length()
        storage = np.zeros(int(table.slots) * (int(table.plan.words) + 1), np.uint64)
        write_moves(tables, number, graph.keys[own], graph.chosen[own], storage)
        table.first = end
        end += len(storage)
        storages.append(storage)
    _CACHE[name] = MoveTables(tables, np.concatenate(storages))
    return _CACHE[name]
