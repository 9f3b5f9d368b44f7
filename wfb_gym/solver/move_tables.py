"""Books of moves for optimal opponents, from solutions that are kept on disk."""

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, as_records
from wfb_gym.opponents.move_tables import MoveTable, no_move_tables, write_moves
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.solver.cache import solved
from wfb_gym.solver.files import table_digest

Books = tuple[Records[MoveTable], NDArray[np.uint64]]


_KEPT: dict[tuple[str, ...], Books] = {}
_MOST_KEPT = 4
"""Shelves that a process keeps at hand for its next environments."""


def load_move_tables(scenarios: Sequence[Scenario], seat: int) -> Books:
    """The moves of one seat in each of some scenarios, solving what is not solved yet.

    Args:
        scenarios: at least one.
        seat: whose moves: 0 or 1.

    Returns:
        Record array of `MOVE_TABLE`, one for each scenario, and the shelf that holds them.

    Raises:
        TooLarge: one has more positions than fit.
    """
    name = (str(seat), *(table_digest(pack(scenario)) for scenario in scenarios))
    if name not in _KEPT:
        while len(_KEPT) >= _MOST_KEPT:
            del _KEPT[next(iter(_KEPT))]
        _KEPT[name] = _written(scenarios, seat)
    return _KEPT[name]


def _written(scenarios: Sequence[Scenario], seat: int) -> Books:
    found, _ = no_move_tables()
    found = as_records(MoveTable, np.repeat(np.asarray(found), len(scenarios)))
    storages = []
    end = 0
    for number, scenario in enumerate(scenarios):
        graph = solved(scenario, notice=sys.stderr).graph
        own = np.flatnonzero(graph.kinds[: graph.size] == seat)
        move_table = found[number]
        move_table.plan = graph.plan[0]
        move_table.first = 0
        move_table.slots = 1 << int(2 * len(own)).bit_length()
        move_storage = np.zeros(int(move_table.slots) * (int(move_table.plan.words) + 1), np.uint64)
        write_moves(found, number, graph.keys[own], graph.chosen[own], move_storage)
        move_table.first = end
        end += len(move_storage)
        storages.append(move_storage)
    return found, np.concatenate(storages)
