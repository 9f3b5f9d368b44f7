"""Lessons: decisions of solved scenarios, with what each legal action is worth, exactly.

Made once for each scenario and kept in a file, so that an interruption loses one scenario at most.
Which decisions of a scenario are kept: as many of each number of dice left, so that the opening is
not lost among the thousands of ends.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, as_records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import STATE, State
from wfb_gym.generating import Generated, Generation
from wfb_gym.generating.pools import Split
from wfb_gym.packing import pack
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.solver import TooLarge
from wfb_gym.solver.game_graph import GameGraph
from wfb_gym.solver.policies import SeatDecisions


class Lesson(NamedTuple):
    """Decisions of one seat in one scenario.

    Attributes:
        states: `STATE`, shape (k,).
        values: of the legal actions in ascending order of codes, decision by decision: points still
            to come for that seat if play is optimal afterwards; float32.
        counts: of legal actions, int64 (k,).
        share: of the scenario's decisions of that kind that each stands for, float32 (k,).
    """

    states: Records[State]
    values: NDArray[np.float32]
    counts: NDArray[np.int64]
    share: NDArray[np.float32]


@dataclass(frozen=True)
class Course:
    """Which scenarios are solved, and how much of each is kept.

    Attributes:
        options: of the generated scenarios.
        split: of their seeds, "train" or "test".
        first: seed of the split to begin with.
        max_bytes: memory that a scenario's positions may take; larger ones are left out.
        decisions: most of a seat in a scenario.
        folder: where the lessons are kept.
    """

    options: Generation
    folder: Path
    split: Split = "train"
    first: int = 0
    max_bytes: int = 24 << 20
    decisions: int = 2048


def path_of(course: Course, seed: int) -> Path:
    """The file of a seed's lessons."""
    return course.folder / f"{course.split}-{seed}.npz"


def made(course: Course, seed: int) -> bool:
    """Make the lessons of a seed, unless they are there; returns whether the scenario is of use.

    One that is too large, or in which nothing that anybody decides matters, is of none: its file
    holds nothing.
    """
    path = path_of(course, seed)
    if not path.is_file():
        arrays = _arrays(course, seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.stem}.part.npz")
        np.savez(part, **arrays)
        part.replace(path)
    with np.load(path) as held:
        return bool(held.files)


def _arrays(course: Course, seed: int) -> dict[str, Any]:
    scenario = Generated(course.split, 1, seed, course.options).scenarios()[0]
    positions = GameGraph(pack(scenario), course.max_bytes)
    battle = Battle(positions.packed)
    if battle.is_over:
        return {}
    try:
        positions.explore(battle.state)  # without the estimate, which takes longer than a small one
    except TooLarge:
        return {}
    told, offsets = positions.action_values(), positions.offsets()
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    for seat in range(ARMIES):
        decisions = SeatDecisions(positions, seat)
        nodes = decisions.nodes
        low, high = (_extreme(told, offsets, nodes, how) for how in (np.minimum, np.maximum))
        nodes = nodes[high - low > 1e-6]
        if not len(nodes):
            continue
        dice = np.zeros(len(nodes), np.int64)
        for first in range(0, len(nodes), 1 << 15):
            states = decisions.positions(nodes[first : first + (1 << 15)]).states
            dice[first : first + (1 << 15)] = states.power + states.dispel
        chosen, share = _spread(dice, course.decisions, rng)
        nodes = nodes[chosen]
        lengths = positions.counts[nodes].astype(np.int64)
        places = np.repeat(offsets[nodes] - np.cumsum(lengths) + lengths, lengths)
        values = told[places + np.arange(lengths.sum())]
        arrays[f"states{seat}"] = np.asarray(decisions.positions(nodes).states).view(np.uint8)
        arrays[f"values{seat}"] = (values if seat == 0 else -values).astype(np.float32)
        arrays[f"counts{seat}"] = lengths
        arrays[f"share{seat}"] = share.astype(np.float32)
    return arrays


def _extreme(
    told: NDArray[np.float64], offsets: NDArray[np.int64], nodes: NDArray[np.int64], how: np.ufunc
) -> NDArray[np.float64]:
    """Least or greatest value of each decision's actions."""
    if not len(nodes):
        return np.zeros(0)
    bounds = np.stack([offsets[nodes], offsets[nodes + 1]], 1).ravel()
    if bounds[-1] == len(told):
        bounds = bounds[:-1]
    extreme: NDArray[np.float64] = how.reduceat(told, bounds)[::2]
    return extreme


def _spread(
    kinds: NDArray[np.int64], most: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places of at most so many, as even over the kinds as may be; and each one's share."""
    order = rng.permutation(len(kinds))
    order = order[np.argsort(kinds[order], kind="stable")]
    sizes = np.bincount(kinds)
    sizes = sizes[sizes > 0]
    left, room = most, len(sizes)
    taken = np.zeros(len(sizes), np.int64)
    for place in np.argsort(sizes, kind="stable"):
        taken[place] = min(sizes[place], left // room)
        left, room = left - taken[place], room - 1
    ends = np.cumsum(sizes)
    chosen = np.concatenate(
        [
            order[end - size : end - size + k]
            for end, size, k in zip(ends, sizes, taken, strict=True)
        ]
    )
    return chosen, np.repeat(1.0 / (len(sizes) * np.maximum(taken, 1)), taken)


def read(course: Course, seed: int, seat: int) -> Lesson | None:
    """The lesson of a seed for a seat, if there is one."""
    with np.load(path_of(course, seed)) as held:
        if f"states{seat}" not in held.files:
            return None
        states = as_records(State, held[f"states{seat}"].view(STATE))
        return Lesson(states, held[f"values{seat}"], held[f"counts{seat}"], held[f"share{seat}"])


def make_many(course: Course, seeds: Sequence[int], workers: int) -> Iterator[tuple[int, bool]]:
    """Make lessons of many seeds side by side; tells of each, in turn, whether it is of use."""
    if workers == 1:
        for seed in seeds:
            yield seed, made(course, seed)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from zip(seeds, pool.map(made, [course] * len(seeds), seeds), strict=True)
