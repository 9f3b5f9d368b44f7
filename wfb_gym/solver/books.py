"""Books of moves for optimal opponents, from solutions that are kept on disk."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.opponents.book import no_books, write_moves
from wfb_gym.scenario import Scenario, pack
from wfb_gym.solver.cache import solved
from wfb_gym.solver.files import table_digest

Books = tuple[np.recarray[Any, Any], NDArray[np.uint64]]


_KEPT: dict[tuple[str, ...], Books] = {}
_MOST_KEPT = 4
"""Shelves that a process keeps at hand for its next environments."""


def books(scenarios: Sequence[Scenario], seat: int) -> Books:
    """The moves of one seat in each of some scenarios, solving what is not solved yet.

    Args:
        scenarios: at least one.
        seat: whose moves: 0 or 1.

    Returns:
        Record array of `BOOK`, one for each scenario, and the shelf that holds them.

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
    found, _ = no_books()
    found = np.repeat(found, len(scenarios)).view(np.recarray)
    shelves = []
    end = 0
    for number, scenario in enumerate(scenarios):
        graph = solved(scenario, notice=sys.stderr).graph
        own = np.flatnonzero(graph.kinds[: graph.size] == seat)
        book = found[number]
        book.plan = graph.plan[0]
        book.first = 0
        book.slots = 1 << int(2 * len(own)).bit_length()
        shelf = np.zeros(int(book.slots) * (int(book.plan.words) + 1), np.uint64)
        write_moves(found, number, graph.keys[own], graph.chosen[own], shelf)
        book.first = end
        end += len(shelf)
        shelves.append(shelf)
    return found, np.concatenate(shelves)
