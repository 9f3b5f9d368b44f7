"""Solutions that are kept: solved once on a machine, then read from disk.

They lie beside the compiled code, in a folder that is named after a hash of the sources: another
version of the rules finds none of them.
"""

import contextlib
import time
from typing import Any, TextIO

from wfb_gym._jit import CACHE_FOLDER
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.solver.estimation import explore
from wfb_gym.solver.files import SolutionError, load, save, table_digest
from wfb_gym.solver.game_graph import GameGraph, Progress, TooLarge
from wfb_gym.solver.solution import DEFAULT_BYTES, Solution

_SAVED_EVERY = 120.0
"""Seconds of solving after which what was done so far is kept."""
_TOLD_EVERY = 2.0


def solved(
    scenario: Any,
    *,
    max_bytes: int = DEFAULT_BYTES,
    progress: Progress | None = None,
    notice: TextIO | None = None,
) -> Solution:
    """The solution of a scenario, from disk if it was solved before.

    Solving that is interrupted goes on where it was when it is asked for again.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        max_bytes: memory that the positions may take.
        progress: told the number of positions worked out so far, now and then.
        notice: where a line tells about progress, if it takes long.

    Raises:
        TooLarge: the scenario has more positions than fit; names what makes it large.
        ScenarioError: there is no such scenario, or it is refused.
    """
    loaded = load_scenario(scenario)
    packed = pack(loaded)
    path = CACHE_FOLDER / "solutions" / f"{table_digest(packed)}.zip"
    graph = GameGraph(packed, max_bytes, merging=True)
    before = 0.0
    with contextlib.suppress(OSError, SolutionError):
        kept = load(path, max_bytes=max_bytes)
        if table_digest(kept.packed) == table_digest(packed):
            graph, before = kept.graph, kept.seconds
    battle = Battle(packed)
    if battle.is_over or graph.find(battle.state) >= 0:
        return Solution(loaded, graph, before)
    began = told = kept_at = time.monotonic()

    def tell(nodes: int) -> None:
        nonlocal told, kept_at
        now = time.monotonic()
        if progress is not None:
            progress(nodes)
        if notice is not None and nodes and now - told > _TOLD_EVERY:
            told = now
            notice.write(f"wfb_gym: solving {loaded.name}, {nodes:,} positions so far\n")
        if now - kept_at > _SAVED_EVERY:
            kept_at = now
            keep()

    def keep() -> None:
        with contextlib.suppress(OSError):  # a disk that is full spoils nothing
            path.parent.mkdir(parents=True, exist_ok=True)
            save(Solution(loaded, graph, before + time.monotonic() - began), path)

    try:
        explore(graph, loaded, battle, tell)
    except TooLarge:
        raise
    except BaseException:
        keep()
        raise
    keep()
    return Solution(loaded, graph, before + time.monotonic() - began)
