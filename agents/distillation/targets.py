"""Distillation targets: decisions from solved scenarios, with every action's exact value.

Each scenario's targets are made once and kept in a file, so an interruption loses only the
scenarios in progress. Each number of remaining dice gets about the same number of decisions, so
that openings are not outnumbered by endings. Some decisions without a stake are kept for their
values. Optionally, more decisions are added, as often as nearly optimal play visits them.
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
"""Number of decisions from each scenario in a batch."""
_SAME = 1e-6
"""Maximum difference between the best and the worst action of a decision without a stake."""
_AT_ONCE = 1 << 15
"""Number of positions to look up at once."""
_PLAYS = 64
"""Number of simulated plays per scenario that sample the visited decisions."""
_AT_RANDOM = 0.1
"""Share of random actions in those plays. All others are optimal."""


class TargetError(RunFolderError):
    """A corrupt targets file, or a set without targets."""


class Targets(NamedTuple):
    """One seat's decisions in one scenario. Values are points still to come under optimal play."""

    states: Records[State]  # (k,)
    values: NDArray[np.float32]  # (sum of counts,): for the legal actions by ascending code
    counts: NDArray[np.int64]  # (k,): number of legal actions


class TargetBatch(NamedTuple):
    """A batch of b decisions of both seats, each as observed by its seat."""

    observations: Observations
    masks: Masks
    points: NDArray[np.float32]  # shaped like the masks: action values; -inf where illegal
    stakes: NDArray[np.float32]  # (b,): points between the best and the worst action
    most: NDArray[np.float32]  # (b,): maximum stake of any decision in the scenario


@dataclass(frozen=True)
class TargetSource:
    """The scenarios to solve, and the number of decisions to keep from each.

    A scenario's number determines its kind, in turn, and its seed. No two scenarios share a seed,
    because similar kinds would draw the same wizards from it.
    """

    kinds: tuple[Generation, ...]
    folder: Path  # folder with the targets
    split: Split = "train"  # split that the seeds come from
    max_bytes: int = 24 << 20  # memory limit for a scenario's positions; larger ones are skipped
    # maximum number of decisions per seat and scenario, spread over its positions
    decisions: int = 512
    visited: int = 0  # maximum number of additional decisions, drawn as often as play visits them

    def scenario(self, number: int) -> Scenario:
        """Return the scenario with the given number."""
        kind = self.kinds[number % len(self.kinds)]
        return Generated(self.split, 1, number, kind).scenarios()[0]

    def path(self, number: int) -> Path:
        """Return the file with a scenario's targets."""
        return self.folder / f"{self.split}-{number}.npz"


class TargetSet:
    """Existing targets for both seats in many scenarios, from which batches are drawn.

    Args:
        source: source of the targets.
        numbers: scenario numbers.
        limits: observation sizes, the same for both armies.
        seed: seed for the batches.

    Raises:
        TargetError: if no scenario has targets, or a file is corrupt.
    """

    def __init__(
        self, source: TargetSource, numbers: Sequence[int], limits: Limits, seed: int
    ) -> None:
        scenarios: list[Scenario] = []
        targets: list[Targets] = []
        places: list[tuple[int, int]] = []  # each target's scenario and seat
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
        self._starts = np.cumsum([0, *sizes])  # each target's first decision
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
        """Draw the decision numbers for a batch, int64 (about `count`,)."""
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
        """Return b decisions as observed by their seats."""
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
    """Make the missing targets, yielding for each scenario, in order, whether it has targets.

    A scenario that is too large, or in which no decision matters, has no targets, and its file is
    empty. Workers return the targets and this process writes them, so workers do not need access to
    the folder. An interruption loses the scenarios in progress.
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
    """Load a scenario's targets for a seat, or return None if it has none.

    Raises:
        TargetError: if the file is corrupt. If you delete it, `make_targets` makes it again.
    """
    with _open_targets(source.path(number)) as stored:
        if f"states{seat}" not in stored.files:
            return None
        states = as_records(State, stored[f"states{seat}"].view(STATE))
        return Targets(states, *(stored[f"{name}{seat}"] for name in Targets._fields[1:]))


@contextmanager
def _open_targets(path: Path) -> Iterator[Any]:
    """Open a targets file, or raise a `TargetError` if it is corrupt."""
    expected = "targets (delete the file to make them again)"
    with (
        wrap_read_errors(path, expected, TargetError),
        # read from memory, because NumPy leaves a corrupt file open
        np.load(io.BytesIO(path.read_bytes())) as stored,
    ):
        yield stored


def explore_positions(scenario: Scenario, max_bytes: int) -> GameGraph:
    """Return the graph of all reachable positions, or raise `TooLarge` beyond the memory limit."""
    positions = GameGraph(pack(scenario), max_bytes)
    battle = Battle(positions.packed)
    if not battle.is_over:
        positions.explore(battle.state)  # without an estimate, which is slower for small graphs
    return positions


def _solve_file(source: TargetSource, number: int) -> bytes:
    """Solve a scenario and return the contents of its targets file."""
    memory = io.BytesIO()  # in memory, because np.savez seeks in its file
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
    """Simulate nearly optimal play from a node, and return the decisions visited, with repeats."""
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
        # inverse transform sampling: each play draws from its node's range of cumulative weights
        low, high = sums[(ends - counts)[which]], sums[ends[which]]
        drawn = low + (high - low) * rng.random(len(nodes))
        transitions = np.clip(np.searchsorted(sums, drawn, "right") - 1, 0, len(weights) - 1)
        nodes = steps.node[transitions]
        nodes = nodes[nodes >= 0]  # the end of the battle has no node
    return np.concatenate(visits)


def sample_evenly(
    kinds: NDArray[np.int64], most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return at most `most` indices, spread as evenly as possible over the kinds."""
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
