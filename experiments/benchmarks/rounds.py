"""A measurement's values, one from each round, with their median and range.

Each part of the benchmark returns a tree of dictionaries. A number measured in several rounds is a
list with one value per round. The results hold the median in its place, and the list in the same
place under "rounds".
"""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from experiments.progress import report_progress

ROUNDS = "rounds"
"""Key in the results for the lists with the values of all rounds."""


def alternate(
    cases: Mapping[str, Callable[[], Mapping[str, Any]]],
    rounds: int,
    label: str,
    *,
    warm_up: bool,
) -> dict[str, dict[str, list[Any]]]:
    """Measure all cases in each round, so that other load on the machine slows them alike.

    Args:
        cases: callables that measure a case once and return numbers by name.
        rounds: number of rounds to keep.
        label: title for the progress bar.
        warm_up: whether to begin with a round that is not kept, if there are several rounds.

    Returns:
        Each case's numbers, with one value per round.
    """
    first = int(warm_up and rounds > 1)
    found: dict[str, dict[str, list[Any]]] = {name: {} for name in cases}
    with report_progress(label, (first + rounds) * len(cases)) as report:
        for number in range(first + rounds):
            for name, measure in cases.items():
                report(name, 0)
                for key, value in measure().items():
                    if number >= first:
                        found[name].setdefault(key, []).append(value)
                report("", 1)
    return found


def rounded(tree: Any, digits: int | None = None) -> Any:
    """Return a tree with all numbers rounded, by default to integers."""
    if isinstance(tree, Mapping):
        return {key: rounded(each, digits) for key, each in tree.items()}
    if isinstance(tree, list):
        return [rounded(each, digits) for each in tree]
    return round(tree, digits)


def medians(tree: Any) -> Any:
    """Return a tree with each list replaced by its median."""
    if isinstance(tree, Mapping):
        return {key: medians(each) for key, each in tree.items()}
    return median(tree) if isinstance(tree, list) else tree


def lists_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return only the branches of a tree that lead to lists."""
    found = {}
    for key, each in tree.items():
        kept = lists_of(each) if isinstance(each, Mapping) else each
        if kept and isinstance(kept, dict | list):
            found[key] = kept
    return found


def entry_at(tree: Any, place: tuple[str, ...]) -> Any:
    """Return the entry at a place in a tree, or None if there is no such place."""
    for key in place:
        tree = tree.get(key)
        if tree is None:
            return None
    return tree


def range_of(results: Mapping[str, Any], place: tuple[str, ...]) -> tuple[float, float] | None:
    """Return the lowest and highest value at a place, or None if it has at most one value."""
    values = entry_at(results, (ROUNDS, *place))
    return (min(values), max(values)) if values and len(values) > 1 else None


def with_range(
    results: Mapping[str, Any], place: tuple[str, ...], show: Callable[[float], str]
) -> str:
    """Return the number at a place as text, followed by its range, or "" if there is no number.

    Args:
        results: the benchmark's results.
        place: keys that lead to the number.
        show: formats a number as text.
    """
    value = entry_at(results, place)
    if value is None:
        return ""
    limits = range_of(results, place)
    return show(value) + (f" [{'-'.join(map(show, limits))}]" if limits else "")
