"""Solves one or more scenarios, and caches solutions on disk.

Cached solutions are stored in the folder for compiled code, which is named after a hash of the
sources. A different version of the rules therefore never uses them.
"""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from numbers import Integral
from pathlib import Path
from threading import Event
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from wfb_gym._cpu_count import available_cores
from wfb_gym._jit import CACHE_FOLDER
from wfb_gym._progress import ProgressBar
from wfb_gym._records import Records
from wfb_gym.encoding.positions import Positions
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import State
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import load_scenario
from wfb_gym.solver.estimation import explore, refuse_hidden
from wfb_gym.solver.game_graph import DEFAULT_BYTES, GameGraph, Progress, StateValues, TooLarge
from wfb_gym.solver.graph_arrays import NO_HORIZON
from wfb_gym.solver.solution import Solution, SolutionError, load, packed_digest

LeafValues = Callable[[Positions], NDArray[np.float64]]
"""Function from positions (k,) to the first army's future points, float64 (k,)."""

_SAVE_EVERY = 120.0  # seconds between saves of a partial solution to the cache
_NOTICE_EVERY = 2.0  # seconds between progress lines
_MOST_WAITING = 64  # maximum number of solutions in `solve_all` that wait for earlier ones
_BYTES_WAITING = 2**28  # maximum memory for waiting solutions, in bytes


def solve(  # noqa: PLR0913 - keyword-only except for the scenario
    scenario: Any,
    *,
    battle: Battle | None = None,
    horizon: int | None = None,
    leaf_values: LeafValues | None = None,
    max_bytes: int = DEFAULT_BYTES,
    progress: Progress | None = None,
    cache: bool = False,
    notice: TextIO | None = None,
    threads: int | None = None,
) -> Solution:
    """Solve a scenario exactly by expectiminimax, and return its values and optimal play.

    Args:
        scenario: the name of a bundled scenario, a path, or a `Scenario`.
        battle: position to start from. Defaults to the start of the battle. Earlier positions are
            then solved only on demand. Not allowed with `cache`.
        horizon: number of phases to solve, counting from the current phase of `battle` or from the
            first one. Defaults to all phases. Without `leaf_values`, the battle ends after them.
        leaf_values: function of `wfb_gym.encoding.positions.Positions` (k,) at the start of the
            phase after the horizon, before its first roll. Returns the first army's future points,
            float64 (k,). Not allowed with `cache`. The solution cannot be saved.
        max_bytes: maximum memory for the positions, in bytes.
        progress: called repeatedly with the number of positions solved so far. Defaults to a
            progress bar, shown on a terminal if solving takes long, unless `notice` is given.
        cache: whether to use the disk cache: load a stored solution, resume an interrupted one, and
            store the result.
        notice: stream for progress lines if solving takes long.
        threads: number of threads for a large scenario. Defaults to the number of cores. Values and
            actions do not depend on it. With 1, the order of the nodes is reproducible too.

    Raises:
        TooLarge: if the positions do not fit in memory; the message lists the main causes.
        ScenarioError: if the scenario does not exist or is invalid.
        ValueError: if `battle` or `leaf_values` is given together with `cache`; if `horizon` is
            less than 1; if `leaf_values` is given without `horizon`, or does not return one finite
            number per position; if `max_bytes` or `threads` is not a positive integer.
    """
    for name, number in (("max_bytes", max_bytes), ("threads", threads)):
        if number is not None and (not isinstance(number, Integral) or number < 1):
            raise ValueError(f"solve: {name}: expected a positive integer, found {number!r}")
    if cache and (battle is not None or leaf_values is not None):
        given = "a battle" if battle is not None else "leaf_values"
        raise ValueError(f"solve: expected {given} or cache=True, found both")
    if horizon is not None and horizon < 1:
        raise ValueError(f"solve: expected a horizon of 1 or more phases, found {horizon}")
    if leaf_values is not None and horizon is None:
        raise ValueError("solve: expected a horizon with leaf_values, found none")
    began = time.perf_counter()
    loaded = load_scenario(scenario)
    refuse_hidden(loaded)
    near, leaf_phase = loaded, NO_HORIZON
    if horizon is not None:
        done = int(battle.state.phase) if battle is not None else 0
        near = loaded.first_phases(min(done + horizon, loaded.phases))
        if leaf_values is None:
            loaded = near
        elif near.phases < loaded.phases:
            leaf_phase = near.phases
    packed, of_leaves = pack(loaded), None
    if leaf_values is not None and leaf_phase != NO_HORIZON:
        of_leaves = _of_states(leaf_values, packed)
    graph = GameGraph(
        packed,
        max_bytes,
        merging=True,
        threads=available_cores() if threads is None else threads,
        horizon=leaf_phase,
        leaf_values=of_leaves,
    )
    solution = Solution(loaded, graph, 0.0)
    path = CACHE_FOLDER
    if cache:
        digest = packed_digest(solution.packed)
        path = CACHE_FOLDER / "solutions" / f"{digest}.zip"
        with contextlib.suppress(OSError, SolutionError):
            kept = load(path, max_bytes=max_bytes)
            if packed_digest(kept.packed) == digest:
                solution = Solution(loaded, kept.graph, kept.seconds)
                solution.graph.threads = graph.threads
    start = battle or Battle(solution.packed)
    if start.is_over or (cache and solution.graph.find(start.state) >= 0):
        return solution
    before = solution.seconds
    noticed = saved = began
    bar = ProgressBar(f"solving {loaded.name}")

    def report(nodes: int) -> None:
        nonlocal noticed, saved
        now = time.perf_counter()
        solution.seconds = before + now - began
        if progress is not None:
            progress(nodes)
        elif notice is None:
            bar(nodes)
        if notice is not None and nodes and now - noticed > _NOTICE_EVERY:
            noticed = now
            notice.write(f"wfb_gym: {bar.line(nodes)}\n")
        if cache and now - saved > _SAVE_EVERY:
            saved = now
            save()

    def save() -> None:
        with contextlib.suppress(OSError):  # a full disk must not stop solving
            path.parent.mkdir(parents=True, exist_ok=True)
            solution.save(path)

    try:
        explore(solution.graph, near, start.state, report, bar.expect)
        solution.seconds = before + time.perf_counter() - began
    except TooLarge:
        cache = False  # do not store a solution that does not fit
        raise
    finally:
        bar.close()
        if cache:
            save()
    return solution


def _of_states(leaf_values: LeafValues, packed: Records[PackedScenario]) -> StateValues:
    """Convert leaf values to a function of states instead of positions."""
    codec = View.fitted(packed, 0).codec

    def ask(states: Records[State]) -> NDArray[np.float64]:
        where = np.zeros(len(states), np.int64)
        return leaf_values(Positions(packed, where, states, 0, codec))

    return ask


def solve_all(
    scenarios: Iterable[Any],
    *,
    max_bytes: int = DEFAULT_BYTES,
    cache: bool = False,
    notice: TextIO | None = None,
) -> Iterator[Solution]:
    """Solve several scenarios in parallel, one thread per scenario.

    While an earlier scenario is still running, later ones are solved: at least twice as many as the
    process has cores, and more if their solutions are small.

    Args:
        scenarios: names of bundled scenarios, paths, or `Scenario` objects.
        max_bytes: maximum memory for each scenario's positions, in bytes.
        cache: see `solve`.
        notice: see `solve`.

    Yields:
        Each scenario's solution, in the given order.

    Raises:
        TooLarge: if a scenario is too large, after yielding the solutions of earlier scenarios;
            later ones are canceled.
        ScenarioError: if a scenario does not exist or is invalid; raised at the same point.
        ValueError: if `scenarios` is a single name or path.
    """
    if isinstance(scenarios, str | Path):
        raise ValueError(f"solve_all: expected several scenarios, found {scenarios!r}")
    some, cores = list(scenarios), available_cores()
    if len(some) == 1 or cores == 1:
        for scenario in some:
            yield solve(scenario, max_bytes=max_bytes, cache=cache, notice=notice)
        return
    given_up = Event()

    def watch(_: int) -> None:
        if given_up.is_set():
            raise _GivenUpError

    def solve_one(scenario: Any) -> Solution:
        return solve(
            scenario, max_bytes=max_bytes, progress=watch, cache=cache, notice=notice, threads=1
        )

    pool = ThreadPoolExecutor(cores, "wfb_gym solve")
    left, begun = deque(some), deque[Future[Solution]]()
    try:
        while left or begun:
            at_work = [each for each in begun if not each.done()]
            while left and len(at_work) < 2 * cores and _has_free_memory(begun, 2 * cores):
                begun.append(pool.submit(solve_one, left.popleft()))
                at_work.append(begun[-1])
            if begun[0].done():
                yield begun.popleft().result()
            else:
                wait(at_work, return_when=FIRST_COMPLETED)
    finally:
        given_up.set()
        pool.shutdown(cancel_futures=True)


def _has_free_memory(begun: Collection[Future[Solution]], least: int) -> bool:
    """Whether another scenario may be started before earlier ones are yielded."""
    if len(begun) < least:
        return True
    done = (each.result() for each in begun if each.done() and each.exception() is None)
    return len(begun) < _MOST_WAITING and sum(each.bytes for each in done) < _BYTES_WAITING


class _GivenUpError(Exception):
    """Raised in a worker thread: the solution is no longer needed."""
