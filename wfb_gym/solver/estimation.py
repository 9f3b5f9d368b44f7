"""Estimate the size of a scenario's game and its main causes, and reject oversized games.

The positions are sampled by `wfb_gym.solver.sampling`.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._cpu_count import available_cores
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.keys import new_plan
from wfb_gym.engine.state import State
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver.game_graph import GameGraph, Progress, TooLarge, bytes_of
from wfb_gym.solver.potential import States
from wfb_gym.solver.sampling import Floats, Sample, estimate_count, sample_game, sample_once

SAMPLE_AFTER = 20_000
"""Number of solved positions after which a small sample checks whether the game is far too
large."""
LOOKS_LARGE = 5_000_000
"""If the small sample's positions times its groups reach this, the size is estimated before
solving continues. The number of groups corrects for long games, in which a small sample misses more
positions. Solving such a game takes many times longer than estimating its size."""
ESTIMATE_AFTER = 200_000  # number of solved positions after which the total is estimated
DOUBT = 4
"""An estimate must exceed the memory limit by this factor for a scenario to be rejected early."""
MAX_COUNT = 10**15  # cap on estimates; larger numbers are not meaningful
_CAST = (
    "number", "node", "mover", "spell", "aim", "cast_item", "reserve", "dice", "attempt",
    "declared", "joined", "target", "natural_result", "row", "cursor", "group", "after_miscast",
    "free", "free_aim", "striking", "strike", "hits", "member", "odd_hit", "radius", "return_to",
    "faces", "held",
)  # fmt: skip
_LEAST_BITS = 0.3  # causes with less entropy than this, in bits, are not listed
_DOMINATES = 0.6  # a unit that contributes more than this fraction of all units' entropy is named


@dataclass(frozen=True)
class Estimate:
    """Size of a scenario's game.

    Attributes:
        states: number of stored positions: decisions, and chance nodes with several predecessors.
        bytes: memory for the arrays, in bytes.
        exact: whether the number is exact rather than estimated.
        causes: main causes of the size in descending order, at most four.
    """

    states: int
    bytes: int
    exact: bool
    causes: tuple[str, ...]

    def __str__(self) -> str:
        """Return a one-line summary."""
        about = "" if self.exact else "about "
        causes = f", most of them from {', '.join(self.causes)}" if self.causes else ""
        return f"{about}{count_text(self.states)} positions in {size_text(self.bytes)}{causes}"


class HiddenItemsError(ValueError):
    """The scenario has hidden items, so it is not a game of perfect information."""


def refuse_hidden(scenario: Scenario) -> None:
    """Raise a `HiddenItemsError` if an army has hidden items."""
    if scenario.has_hidden_items:
        raise HiddenItemsError(
            f"{scenario.name}: expected a scenario in which nothing is hidden, found hidden items; "
            "use wfb_gym.solver.HiddenGame to grade a policy, or solve_hidden for the value"
        )


def count_text(number: int) -> str:
    """Return a count in words, rounded to an estimate's precision."""
    units = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))
    return _in_largest_unit(number, units) or f"{number:,}"


def size_text(size: int) -> str:
    """Return a size in bytes as text, in the largest unit that gives at least 1."""
    units = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"))
    return _in_largest_unit(size, units) or f"{size / 2**10:,.0f} KiB"


def _in_largest_unit(number: int, units: Sequence[tuple[int, str]]) -> str:
    for unit, word in units:
        if number >= unit:
            return f"{number / unit:,.{1 if number < 10 * unit else 0}f} {word}"
    return ""


def estimate(scenario: Any, battle: Battle | None = None, first: Sample | None = None) -> Estimate:
    """Estimate the number of positions in a scenario's game, and the memory needed to solve it.

    The result is deterministic. In measurements it was exact for games of up to a few thousand
    positions, and within a factor of 4 for the bundled scenarios that were solved (0.2 to 59
    million positions). For whole battles it only shows that they are far too large.

    Args:
        scenario: the name of a bundled scenario, a path, or a `Scenario`.
        battle: position to start from. Defaults to the start of the battle.
        first: result of `wfb_gym.solver.sampling.sample_once` for this position, if known.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
    """
    loaded = load_scenario(scenario)
    refuse_hidden(loaded)
    start = battle or Battle(pack(loaded))
    if start.is_over:
        return Estimate(0, bytes_of(0, 1), True, ())
    samples = sample_game(start, first)
    last = samples[-1]
    count = round(min(estimate_count(samples), MAX_COUNT))
    words = int(new_plan(last.origin, last.moves)[0].words)
    causes = _causes_of(loaded, last.states, last.weights)
    return Estimate(count, bytes_of(count, words), last.exact, causes)


def explore(
    graph: GameGraph,
    scenario: Scenario,
    state: State,
    progress: Progress | None = None,
    expect: Callable[[int], None] | None = None,
) -> None:
    """Solve all positions reachable from a position, or raise early if they will not fit.

    If solving takes long, a small sample is drawn first. If the sample suggests that the game is
    too large, as for most whole battles, solving waits for an estimate. Otherwise solving
    continues, and the size is estimated later, in another thread if there is a second core. Both
    paths reject the same scenarios.

    Args:
        graph: graph to add the positions to.
        scenario: the scenario, truncated at the graph's horizon; used for the estimate.
        state: position to start from.
        progress: called with the number of positions solved so far.
        expect: called once with the estimated number of positions if solving takes long.

    Raises:
        TooLarge: if the positions do not fit in memory, or almost certainly will not; the message
            lists the main causes.
    """
    before = graph.size
    expected: Future[Estimate] | None = None
    is_reported = is_refused = False
    pool = ThreadPoolExecutor(1, "wfb_gym estimate")  # starts its thread when it is needed

    sampled: Sample | None = None

    @cache
    def beginning() -> Battle:
        battle = Battle(pack(scenario))
        battle.state.setfield(state, state.dtype)
        return battle

    def estimated_size() -> Estimate:
        return estimate(scenario, beginning(), sampled)

    def too_large(found: str, estimated: Estimate) -> TooLarge:
        causes = f"; main causes: {', '.join(estimated.causes)}" if estimated.causes else ""
        return TooLarge(
            f"{scenario.name} does not fit into {size_text(graph.max_bytes)} of memory: "
            f"it has {found}{causes}"
        )

    def report(estimated: Estimate) -> None:
        nonlocal is_reported, is_refused
        if not is_reported and expect is not None:
            expect(estimated.states)
        is_reported = True
        if estimated.bytes > DOUBT * graph.max_bytes:
            is_refused = True
            count, size_in_bytes = count_text(estimated.states), size_text(estimated.bytes)
            raise too_large(f"about {count} positions in {size_in_bytes}", estimated)

    def watch(size: int) -> None:
        nonlocal expected, sampled
        if progress is not None:
            progress(size)
        if sampled is None and size - before >= SAMPLE_AFTER:
            sampled = sample_once(beginning())
            if sampled.left or sampled.number * sampled.groups >= LOOKS_LARGE:
                expected = Future()
                expected.set_result(estimated_size())
        if expected is None and size - before >= ESTIMATE_AFTER:
            expected = Future()
            if available_cores() > 1:
                expected = pool.submit(estimated_size)
            else:
                expected.set_result(estimated_size())
        if expected is not None and expected.done() and not is_reported:
            report(expected.result())

    try:
        graph.explore(state, watch)
        if expected is not None:
            report(expected.result())
    except TooLarge as error:
        if is_refused:
            raise
        if expected is not None:
            report(expected.result())
        estimated = estimated_size() if expected is None else expected.result()
        raise too_large(f"more than {count_text(graph.size)} positions", estimated) from error
    finally:
        pool.shutdown(wait=False)  # a running estimate ends within seconds


def _causes_of(scenario: Scenario, states: States, weights: Floats) -> tuple[str, ...]:
    """Describe the features with the highest entropy in weighted positions, at most four."""
    probabilities = weights / weights.sum()

    def bits(*columns: NDArray[Any]) -> float:
        return sum(_entropy(column, probabilities) for column in columns)

    def bits_of(*fields: str) -> float:
        return bits(*(column for name in fields for column in _columns(states, name)))

    def bits_together(*fields: str) -> float:
        """Return the joint entropy of fields that depend strongly on each other."""
        whole = np.concatenate([_columns(states, name).astype(np.uint64) for name in fields])
        rows = np.ascontiguousarray(whole.T)
        return bits(rows.view(f"V{8 * len(whole)}").ravel())

    spells = [
        bits(states["castable"] >> bit & 1) for bit in range(8 * states["castable"].dtype.itemsize)
    ]
    varying = sum(each > 0 for each in spells)
    kinds = f"{varying} spells" if varying > 1 else "spell"
    found = [(sum(spells), f"the {kinds} open or not")]

    units, characters, items = [], [], []
    for side, army in enumerate(scenario.armies):
        for i, unit in enumerate(army.units):
            units.append((bits(states["unit_wounds"][:, side, i]), unit.name))
        for i, who in enumerate(army.characters):
            parts = (states[name][:, side, i] for name in ("level", "wounds", "lock"))
            characters.append((bits(*parts), who.name))
        for i, slot in enumerate(scenario.slots[side].items):
            items.append((bits(states["items"][:, side, i]), slot.item.name))
    units, characters, items = (
        [pair for pair in pairs if pair[0] > 0] for pairs in (units, characters, items)
    )
    if units:
        wounds = sum(each for each, _ in units)
        most, name = max(units)
        whose = name if most > _DOMINATES * wounds else f"{len(units)} units"
        found.append((wounds, f"the wounds left of {whose}"))
    if characters:
        whose = characters[0][1] if len(characters) == 1 else f"{len(characters)} characters"
        found.append((sum(each for each, _ in characters), f"wounds and levels of {whose}"))
    if items:
        alike = len({name for _, name in items}) == 1
        which = f"the {items[0][1]}" if alike else f"{len(items)} items"
        found.append((sum(each for each, _ in items), f"uses left of {which}"))

    in_play = bits_together("in_play", "new_in_play", "attempted", "aims", "markers")
    found += [
        (bits_together("fleeing", "phase_models"), "who flees, or may"),
        (bits_of("power", "dispel", "own_dice"), "dice left in the pools"),
        (in_play, "spells in play"),
        (bits_of("marks"), "marks that spells left on their targets"),
        (bits_of("contacts"), "models left around the wizards"),
        (bits_together(*_CAST), "the steps of a cast"),
        (bits_of("phase", "active"), f"the {scenario.phases} phases"),
        (bits(*states["known"].T), "spells drawn or forgotten"),
    ]
    found = sorted((each for each in found if each[0] > _LEAST_BITS), reverse=True)
    return tuple(words for _, words in found[:4])


def _columns(states: States, name: str) -> NDArray[Any]:
    columns: NDArray[Any] = states[name].reshape(len(states), -1).T
    return columns


def _entropy(values: NDArray[Any], weights: Floats) -> float:
    """Return the entropy of weighted values in bits; the weights sum to 1."""
    _, which = np.unique(values, return_inverse=True)
    probabilities = np.bincount(which, weights)
    probabilities = probabilities[probabilities > 0]
    entropy = -(probabilities @ np.log2(probabilities))
    return float(entropy) if len(probabilities) > 1 else 0.0
