"""Targets of the distillation: decisions of solved scenarios, with the exact value of each action.

Targets are made once for each scenario and kept in a file, so an interruption loses only the
scenarios in progress. Each number of dice left gets about the same number of decisions, so that
openings are not outnumbered by endings. Some decisions without a stake are kept for their values.
Optionally, decisions are added as often as nearly optimal play visits them.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.run_folder import RunFolderError
from experiments.workers import HERE, Workers
from wfb_gym._records import Records, as_records
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import STATE, State
from wfb_gym.envs.scenario_set import pack_all
from wfb_gym.files import atomic_write, wrap_read_errors
from wfb_gym.generating import Generated, Generation, Split
from wfb_gym.packing import pack
from wfb_gym.players.interface import Masks, Observations
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.solver import TooLarge
from wfb_gym.solver.game_graph import GameGraph
from wfb_gym.solver.seat_decisions import SeatDecisions

_PER_SCENARIO = 16
"""Decisions of each scenario in a batch."""
_SAME = 1e-6
"""Largest difference between the best and the worst action of a decision without a stake."""
_AT_ONCE = 1 << 15
"""Positions that are looked up at once."""
_PLAYS = 64
"""Simulated plays of a scenario that sample the visited decisions."""
_AT_RANDOM = 0.1
"""Share of random actions in those plays; the others are optimal."""


class TargetError(RunFolderError):
    """A damaged file of targets, or a set without targets."""


class Targets(NamedTuple):
    """Decisions of one seat in one scenario; values are points still to come in optimal play."""

    states: Records[State]  # (k,)
    values: NDArray[np.float32]  # (sum of counts,): of the legal actions by ascending code
    counts: NDArray[np.int64]  # (k,): of legal actions


class TargetBatch(NamedTuple):
    """Decisions of either seat, b of them, as their seats see them."""

    observations: Observations
    masks: Masks
    points: NDArray[np.float32]  # shape of the masks: values of actions; -inf where illegal
    stakes: NDArray[np.float32]  # (b,): points by which the best action exceeds the worst
    most: NDArray[np.float32]  # (b,): maximum stake of a decision in the scenario


@dataclass(frozen=True)
class TargetSource:
    """The scenarios to solve, and how many decisions of each to keep.

    The number of a scenario sets its kind, in turn, and its seed. No two scenarios share a seed,
    because similar kinds would draw the same wizards from it.
    """

    kinds: tuple[Generation, ...]
    folder: Path  # folder of the targets
    split: Split = "train"  # split of the seeds
    max_bytes: int = 24 << 20  # memory limit of a scenario's positions; larger ones are skipped
    # maximum number of decisions of a seat in a scenario, spread over its positions
    decisions: int = 512
    visited: int = 0  # maximum number of additional decisions, drawn as often as play visits them

    def scenario(self, number: int) -> Scenario:
        """Return the scenario with a number."""
        kind = self.kinds[number % len(self.kinds)]
        return Generated(self.split, 1, number, kind).scenarios()[0]

    def path(self, number: int) -> Path:
        """Return the file of a scenario's targets."""
        return self.folder / f"{self.split}-{number}.npz"


class TargetSet:
    """Existing targets of both seats in many scenarios; draws batches from them.

    Args:
        source: source of the targets.
        numbers: numbers of the scenarios.
        limits: sizes of the observations, the same for both armies.
        seed: seed of the batches.

    Raises:
        TargetError: no scenario has targets, or a file is damaged.
    """

    def __init__(
        self, source: TargetSource, numbers: Sequence[int], limits: Limits, seed: int
    ) -> None:
        scenarios: list[Scenario] = []
        targets: list[Targets] = []
        places: list[tuple[int, int]] = []  # of each target: its scenario, and the seat
        for number in numbers:
            for seat in range(ARMIES):
                found = load_targets(source, number, seat)
                if found is not None:
                    targets.append(found)
                    places.append((len(scenarios), seat))
            if places and places[-1][0] == len(scenarios):
                scenarios.append(source.scenario(number))
        if not targets:
            raise TargetError(f"targets: expected at least one in {source.folder}, found none")
        packed_scenarios = pack_all(scenarios)
        self.scenarios = len(scenarios)
        self.views = [View(packed_scenarios, seat, limits) for seat in range(ARMIES)]
        sizes = [len(one.states) for one in targets]
        self._starts = np.cumsum([0, *sizes])  # first decision of each target
        self._states = as_records(State, np.concatenate([one.states for one in targets]))
        self._counts = np.concatenate([one.counts for one in targets])
        self._values = np.concatenate([one.values for one in targets])
        self._offsets = np.cumsum(self._counts) - self._counts
        self._stakes = np.maximum.reduceat(self._values, self._offsets)
        self._stakes -= np.minimum.reduceat(self._values, self._offsets)
        self._most = np.repeat(np.maximum.reduceat(self._stakes, self._starts[:-1]), sizes)
        self._scenario_of, self._seat_of = (
            np.repeat(column, sizes) for column in np.array(places).T
        )
        self._first_seat = np.array(places)[:, 1] == 0
        weights = np.sqrt(sizes)
        self._weights = weights / weights.sum()
        self.rng = np.random.default_rng(seed)

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return len(self._counts)

    def draw(self, count: int) -> NDArray[np.int64]:
        """Draw the numbers of the decisions of a batch, int64 (about `count`,)."""
        chosen = self.rng.choice(
            len(self._weights), max(1, count // _PER_SCENARIO), p=self._weights
        )
        seats = (chosen[self._first_seat[chosen]], chosen[~self._first_seat[chosen]])
        starts, ends = self._starts[:-1], self._starts[1:]
        return np.concatenate(
            [
                self.rng.integers(starts[which], ends[which], _PER_SCENARIO)
                for which in np.concatenate(seats)
            ]
        )

    def show(self, decisions: NDArray[np.int64]) -> TargetBatch:
        """Return decisions, b of them, as observed by their seats."""
        masks = np.empty((len(decisions), self.views[0].codec.n), np.bool_)
        observations = np.empty((len(decisions), self.views[0].layout.size), np.float32)
        for seat, view in enumerate(self.views):
            places = np.flatnonzero(self._seat_of[decisions] == seat)
            if len(places):
                own = decisions[places]
                states = as_records(State, self._states[own])
                observations[places], masks[places] = view.show(self._scenario_of[own], states)
        counts = self._counts[decisions]
        first = np.cumsum(counts) - counts
        values = np.repeat(self._offsets[decisions] - first, counts) + np.arange(counts.sum())
        points = np.full(masks.shape, -np.inf, np.float32)
        points[masks] = self._values[values]
        return TargetBatch(
            observations, masks, points, self._stakes[decisions], self._most[decisions]
        )


def make_targets(
    source: TargetSource, numbers: Iterable[int], workers: Workers = HERE
) -> Iterator[bool]:
    """Make the missing targets of scenarios; yields for each, in order, whether it has targets.

    A scenario that is too large, or in which no decision matters, has none: its file is empty.
    Workers return the targets and this process writes them, so workers need no access to the
    folder. An interruption loses the scenarios in progress.
    """
    numbers = list(numbers)
    solve = partial(_solve_file, source)
    missing = (number for number in numbers if not source.path(number).is_file())
    made = workers.map(solve, missing, "targets of scenario {}".format)
    for number in numbers:
        path = source.path(number)
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            content = next(made)
            with atomic_write(path) as file:
                file.write(content)
        with _open_targets(path) as stored:
            yield bool(stored.files)


def load_targets(source: TargetSource, number: int, seat: int) -> Targets | None:
    """Load the targets of a scenario for a seat; None if it has none.

    Raises:
        TargetError: the file is damaged; `make_targets` replaces it once it is deleted.
    """
    with _open_targets(source.path(number)) as stored:
        if f"states{seat}" not in stored.files:
            return None
        states = as_records(State, stored[f"states{seat}"].view(STATE))
        return Targets(states, *(stored[f"{name}{seat}"] for name in Targets._fields[1:]))


@contextmanager
def _open_targets(path: Path) -> Iterator[Any]:
    """Open a file of targets; raises a `TargetError` if it is damaged."""
    expected = "targets (delete the file to make them again)"
    with (
        wrap_read_errors(path, expected, TargetError),
        # from memory: NumPy leaves a damaged file open
        np.load(io.BytesIO(path.read_bytes())) as stored,
    ):
        yield stored


def explore_positions(scenario: Scenario, max_bytes: int) -> GameGraph:
    """Return the graph of all reachable positions; raises `TooLarge` beyond the memory limit."""
    positions = GameGraph(pack(scenario), max_bytes)
    battle = Battle(positions.packed)
    if not battle.is_over:
        positions.explore(battle.state)  # without an estimate, which is slower for small graphs
    return positions


def _solve_file(source: TargetSource, number: int) -> bytes:
    """Solve a scenario; returns the content of its targets file."""
    memory = io.BytesIO()  # in memory, as np.savez seeks in its file
    np.savez(memory, **_solve_targets(source, number))
    return memory.getvalue()


def _solve_targets(source: TargetSource, number: int) -> dict[str, Any]:
    """Return the arrays of a targets file: fields of `Targets`, suffixed with the seat."""
    try:
        graph = explore_positions(source.scenario(number), source.max_bytes)
    except TooLarge:
        return {}
    if not graph.size:
        return {}
    action_values, offsets = graph.action_values(), graph.offsets()
    at_stake = np.zeros(graph.size)
    decisions = np.flatnonzero(graph.counts)
    at_stake[decisions] = np.maximum.reduceat(action_values, offsets[decisions])
    at_stake[decisions] -= np.minimum.reduceat(action_values, offsets[decisions])
    rng = np.random.default_rng(number)
    visits = np.zeros(0, np.int64)
    if source.visited:
        start = graph.find(Battle(graph.packed).state)
        visits = visit_decisions(graph, action_values, start, rng)
    arrays: dict[str, Any] = {}
    for seat in range(ARMIES):
        own = SeatDecisions(graph, seat)
        matter = at_stake[own.nodes] > _SAME
        if not matter.any():
            continue
        nodes = own.nodes
        parts = np.split(nodes, range(_AT_ONCE, len(nodes), _AT_ONCE))
        states = (own.positions(part).states for part in parts)
        dice = np.concatenate([part.power + part.dispel for part in states])
        kept = [
            np.flatnonzero(which)[sample_evenly(dice[which], most, rng)]
            for which, most in ((matter, source.decisions), (~matter, source.decisions // 8))
        ]
        nodes = nodes[np.concatenate(kept)]
        own_visits = visits[(graph.kinds[visits] == seat) & (at_stake[visits] > _SAME)]
        nodes = np.append(nodes, rng.permutation(own_visits)[: source.visited])
        lengths = graph.counts[nodes].astype(np.int64)
        places = np.repeat(offsets[nodes] - np.cumsum(lengths) + lengths, lengths)
        values = action_values[places + np.arange(lengths.sum())]
        arrays[f"states{seat}"] = np.asarray(own.positions(nodes).states).view(np.uint8)
        arrays[f"values{seat}"] = (values if seat == 0 else -values).astype(np.float32)
        arrays[f"counts{seat}"] = lengths
    return arrays


def visit_decisions(
    graph: GameGraph, action_values: NDArray[np.float64], start: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Simulate nearly optimal plays from a node; returns the decisions visited, with repeats."""
    offsets = graph.offsets()
    sign = np.where(graph.kinds == 0, 1.0, -1.0)
    visits = []
    nodes = np.full(_PLAYS, start)
    while len(nodes):
        visits.append(nodes[graph.counts[nodes] > 0])
        at, which = np.unique(nodes, return_inverse=True)
        steps, counts = graph.successors(graph.states(at))
        weights = steps.probability.copy()
        ends = np.cumsum(counts)
        for node, first, end in zip(at, ends - counts, ends, strict=True):
            legal = graph.counts[node]
            if legal:
                values = sign[node] * action_values[offsets[node] : offsets[node] + legal]
                best = values > values.max() - _SAME
                play = (1.0 - _AT_RANDOM) * best / best.sum() + _AT_RANDOM / legal
                weights[first:end] *= play[steps.action[first:end]]
        sums = np.append(0.0, np.cumsum(weights))
        # inverse transform sampling: each play draws within its node's range of cumulative weights
        low, high = sums[(ends - counts)[which]], sums[ends[which]]
        drawn = low + (high - low) * rng.random(len(nodes))
        transitions = np.clip(np.searchsorted(sums, drawn, "right") - 1, 0, len(weights) - 1)
        nodes = steps.node[transitions]
        nodes = nodes[nodes >= 0]  # the end has no node
    return np.concatenate(visits)


def sample_evenly(
    kinds: NDArray[np.int64], most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return at most `most` indices, spread over the kinds as evenly as possible."""
    order = rng.permutation(len(kinds))
    if not len(order):
        return order
    order = order[np.argsort(kinds[order], kind="stable")]
    sizes = np.bincount(kinds)
    sizes = sizes[sizes > 0]
    counts = np.zeros(len(sizes), np.int64)
    for done, kind in enumerate(np.argsort(sizes, kind="stable")):
        counts[kind] = min(sizes[kind], (most - counts.sum()) // (len(sizes) - done))
    groups = np.split(order, np.cumsum(sizes)[:-1])
    return np.concatenate([group[:n] for group, n in zip(groups, counts, strict=True)])
