"""What a student learns from: decisions of solved scenarios, with the exact value of each action.

Made once for each scenario and kept in a file, so that an interruption loses only what was at work.
As many decisions are kept of each number of dice left, so that the opening is not lost among the
thousands of endings.
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
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import STATE, State
from wfb_gym.envs.scenario_set import generated_limits, pack_all
from wfb_gym.files import refuse_damage, write_whole
from wfb_gym.generating import Generated, Generation, Split
from wfb_gym.packing import pack
from wfb_gym.players.interface import Masks, Observations
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.solver import TooLarge
from wfb_gym.solver.game_graph import GameGraph
from wfb_gym.solver.seat_decisions import SeatDecisions

_PER_SCENARIO = 16
"""Decisions of one scenario in a batch."""
_SAME = 1e-6
"""Points by which the best action must exceed the worst for a decision to matter."""
_AT_ONCE = 1 << 15
"""Decisions whose positions are looked up at once."""


class TargetError(RunFolderError):
    """A file of targets that is damaged, or a set without any."""


class Targets(NamedTuple):
    """Decisions of one seat in one scenario; values are points to come if play is optimal."""

    states: Records[State]  # (k,)
    values: NDArray[np.float32]  # of the legal actions by ascending code, decision by decision
    counts: NDArray[np.int64]  # (k,): of legal actions
    share: NDArray[np.float32]  # (k,): of the decisions of its kind that each stands for


@dataclass(frozen=True)
class TargetSource:
    """Which scenarios are solved, and how much of each is kept."""

    options: Generation
    folder: Path  # of the targets
    split: Split = "train"  # of the seeds
    max_bytes: int = 24 << 20  # of a scenario's positions; larger ones are left out
    decisions: int = 2048  # most of a seat in a scenario

    def scenario(self, seed: int) -> Scenario:
        """The scenario of a seed of the split."""
        return Generated(self.split, 1, seed, self.options).scenarios()[0]

    def path(self, seed: int) -> Path:
        """The file of a seed's targets."""
        return self.folder / f"{self.split}-{seed}.npz"


class TargetSet:
    """Targets of one seat in many scenarios, which have been made, to draw batches from.

    Raises:
        TargetError: no scenario has targets for the seat, or a file is damaged.
    """

    def __init__(self, source: TargetSource, seeds: Sequence[int], seat: int, seed: int) -> None:
        found = {number: load_targets(source, number, seat) for number in seeds}
        scenarios = [source.scenario(number) for number, one in found.items() if one is not None]
        self.targets = [one for one in found.values() if one is not None]
        if not self.targets:
            raise TargetError(f"targets: expected some in {source.folder}, found none of use")
        limits = generated_limits(source.options.sizes)
        limits = limits if seat == 0 else limits.from_other_seat(limits.dice)
        self.view = View(pack_all(scenarios), seat, limits)
        self._offsets = [np.concatenate([[0], np.cumsum(one.counts)]) for one in self.targets]
        weights = np.sqrt([float(len(one.states)) for one in self.targets])
        self._weights = weights / weights.sum()
        self.rng = np.random.default_rng([seed, seat])

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return sum(len(one.states) for one in self.targets)

    def sample(self, count: int) -> tuple[Observations, Masks, NDArray[np.float32]]:
        """Draw a batch of decisions: what the seat observes, and the actions' values in points.

        Values have the shape of the masks; they are -inf where an action is illegal.
        """
        chosen = self.rng.choice(len(self.targets), max(1, count // _PER_SCENARIO), p=self._weights)
        states, values = [], []
        for which in chosen:
            targets, offsets = self.targets[which], self._offsets[which]
            rows = self.rng.integers(len(targets.states), size=_PER_SCENARIO)
            states.append(targets.states[rows])
            values += [targets.values[offsets[row] : offsets[row + 1]] for row in rows]
        records = as_records(State, np.concatenate(states))
        observations, masks = self.view.show(np.repeat(chosen, _PER_SCENARIO), records)
        points = np.full(masks.shape, -np.inf, np.float32)
        points[masks] = np.concatenate(values)
        return observations, masks, points


def make_targets(source: TargetSource, seed: int) -> bool:
    """Make the targets of a seed, unless they are there; returns whether there are any.

    A scenario that is too large, or in which no decision matters, has none: its file is empty.
    """
    (has_any,) = make_many_targets(source, [seed])
    return has_any


def make_many_targets(
    source: TargetSource, seeds: Iterable[int], workers: Workers = HERE
) -> Iterator[bool]:
    """Make the targets of several seeds; yields for each, in order, whether there are any.

    Workers send back what they have made, and this process writes it, so they need not see the
    folder. An interruption loses what they were at.
    """
    seeds = list(seeds)
    solve = partial(_solve_file, source)
    missing = (seed for seed in seeds if not source.path(seed).is_file())
    made = workers.map(solve, missing, "targets of seed {}".format)
    for seed in seeds:
        path = source.path(seed)
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            content = next(made)
            with write_whole(path) as file:
                file.write(content)
        with _open_targets(path) as stored:
            yield bool(stored.files)


def load_targets(source: TargetSource, seed: int, seat: int) -> Targets | None:
    """Load the targets of a seed for a seat; None if it has none.

    Raises:
        TargetError: the file is damaged; deleted, it is made anew.
    """
    with _open_targets(source.path(seed)) as stored:
        if f"states{seat}" not in stored.files:
            return None
        states = as_records(State, stored[f"states{seat}"].view(STATE))
        return Targets(states, *(stored[f"{name}{seat}"] for name in Targets._fields[1:]))


@contextmanager
def _open_targets(path: Path) -> Iterator[Any]:
    """Open a file of targets; a `TargetError` if it is damaged."""
    expected = "targets, which are made anew once it is deleted"
    with (
        refuse_damage(path, expected, TargetError),
        # from memory: NumPy leaves a damaged file open
        np.load(io.BytesIO(path.read_bytes())) as stored,
    ):
        yield stored


def explore_positions(scenario: Scenario, max_bytes: int) -> GameGraph:
    """Every position of a scenario that can be reached; `TooLarge` if they take more memory."""
    positions = GameGraph(pack(scenario), max_bytes)
    battle = Battle(positions.packed)
    if not battle.is_over:
        positions.explore(battle.state)  # without the estimate, which takes longer than a small one
    return positions


def _solve_file(source: TargetSource, seed: int) -> bytes:
    """Solve the scenario of a seed; returns the content of the file of its targets."""
    memory = io.BytesIO()  # NumPy would go back and forth in a file
    np.savez(memory, **_solve_targets(source, seed))
    return memory.getvalue()


def _solve_targets(source: TargetSource, seed: int) -> dict[str, Any]:
    """Arrays of a file; the fields of `Targets` with the seat behind the name."""
    try:
        graph = explore_positions(source.scenario(seed), source.max_bytes)
    except TooLarge:
        return {}
    if not graph.size:
        return {}
    action_values, offsets = graph.action_values(), graph.offsets()
    at_stake = np.zeros(graph.size)
    decisions = np.flatnonzero(graph.counts)
    at_stake[decisions] = np.maximum.reduceat(action_values, offsets[decisions])
    at_stake[decisions] -= np.minimum.reduceat(action_values, offsets[decisions])
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    for seat in range(ARMIES):
        own = SeatDecisions(graph, seat)
        nodes = own.nodes[at_stake[own.nodes] > _SAME]
        if not len(nodes):
            continue
        parts = np.split(nodes, range(_AT_ONCE, len(nodes), _AT_ONCE))
        states = (own.positions(part).states for part in parts)
        dice = np.concatenate([part.power + part.dispel for part in states])
        chosen, share = sample_evenly(dice, source.decisions, rng)
        nodes = nodes[chosen]
        lengths = graph.counts[nodes].astype(np.int64)
        places = np.repeat(offsets[nodes] - np.cumsum(lengths) + lengths, lengths)
        values = action_values[places + np.arange(lengths.sum())]
        arrays[f"states{seat}"] = np.asarray(own.positions(nodes).states).view(np.uint8)
        arrays[f"values{seat}"] = (values if seat == 0 else -values).astype(np.float32)
        arrays[f"counts{seat}"] = lengths
        arrays[f"share{seat}"] = share.astype(np.float32)
    return arrays


def sample_evenly(
    kinds: NDArray[np.int64], most: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sample at most so many indices, as evenly over the kinds as their numbers allow.

    Returns:
        Indices, and what share of its kind each stands for, divided by the number of kinds.
    """
    order = rng.permutation(len(kinds))
    order = order[np.argsort(kinds[order], kind="stable")]
    sizes = np.bincount(kinds)
    sizes = sizes[sizes > 0]
    counts = np.zeros(len(sizes), np.int64)
    for done, kind in enumerate(np.argsort(sizes, kind="stable")):
        counts[kind] = min(sizes[kind], (most - counts.sum()) // (len(sizes) - done))
    groups = np.split(order, np.cumsum(sizes)[:-1])
    chosen = np.concatenate([group[:n] for group, n in zip(groups, counts, strict=True)])
    return chosen, np.repeat(1.0 / (len(sizes) * np.maximum(counts, 1)), counts)
