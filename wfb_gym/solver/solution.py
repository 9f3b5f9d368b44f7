"""A solved scenario: its value, and the best action and action values at any position.

A solution file is a ZIP archive with a JSON header and NumPy arrays. `load` rejects corrupt files
and solutions computed under different rules.
"""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import rules_digest
from wfb_gym._progress import ProgressBar
from wfb_gym._records import Records
from wfb_gym.encoding.limits import Limits
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import new_states
from wfb_gym.files import atomic_write, open_archive, wrap_read_errors
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario, scenario_from_dict
from wfb_gym.scenario.errors import format_value
from wfb_gym.seats import seat_number
from wfb_gym.solver.estimation import explore
from wfb_gym.solver.game_graph import DEFAULT_BYTES, GameGraph, Progress, SavedGraph
from wfb_gym.solver.graph_arrays import CHANCE, END, LEAF
from wfb_gym.solver.seat_decisions import SeatDecisions, TablePolicy

_FORMAT, _VERSION = "wfb_gym solution", 1
_HEADER = "header.json"
_MOST_RATIO, _SMALL = 100, 2**24
"""Limit on a file's unpacked size: this many bytes per packed byte (4 is typical), but at least the
second number of bytes."""
_FASTEST = 1
"""Compression level; higher levels are slower and hardly reduce the size of keys and values."""


class SolutionError(ValueError):
    """The file is not a solution, is corrupt, or was computed under different rules."""


def packed_digest(packed: Records[PackedScenario]) -> str:
    """Return a packed scenario's hash."""
    return hashlib.sha256(packed.tobytes()).hexdigest()


class Solution:
    """A scenario's exact values and optimal play, at any position.

    Returned by `wfb_gym.solver.solve`. Positions are passed as a `Battle`. A position that the
    scenario cannot reach (one with other pools, for example) is solved on demand.

    Attributes:
        scenario: the solved scenario.
        packed: the packed scenario, shape (1,).
        graph: all reachable positions and their values.
        seconds: time taken to solve the scenario, in seconds.
    """

    def __init__(self, scenario: Scenario, graph: GameGraph, seconds: float) -> None:
        self.scenario = scenario
        self.packed: Records[PackedScenario] = graph.packed
        self.graph = graph
        self.seconds = seconds

    @property
    def value(self) -> float:
        """The first army's expected points under optimal play by both sides."""
        battle = Battle(self.packed)
        return battle.points + self.value_of(battle)

    @property
    def states(self) -> int:
        """Number of solved decisions."""
        return int((~np.isin(self.graph.kinds, (CHANCE, LEAF))).sum())

    @property
    def bytes(self) -> int:
        """Memory used by the solution, in bytes."""
        return self.graph.bytes

    def value_of(self, battle: Battle) -> float:
        """Return the first army's expected future points under optimal play by both sides."""
        if battle.is_over:
            return 0.0
        node = self.graph.explore(battle.state)  # first: it may reallocate the arrays
        return float(self.graph.values[node])

    def action_values(self, battle: Battle) -> Mapping[int, float]:
        """Return the value of each legal action, assuming optimal play afterwards.

        Args:
            battle: a battle at a decision; not modified.

        Returns:
            The first army's expected future points by engine code, in ascending order of codes.

        Raises:
            ValueError: if the battle is not at a decision.
        """
        if not battle.is_decision():
            raise ValueError(f"action values: expected a decision, found {battle.node.name}")
        self.graph.explore(battle.state)
        states = new_states(1)
        states[0] = battle.state
        steps = self.graph.successors(states)[0].copy()
        for k in np.flatnonzero((steps.node < 0) & (steps.node != END)):
            steps.node[k] = self.graph.explore(steps[k].state)  # reached only from here
        after = np.where(steps.node >= 0, self.graph.values[steps.node], 0.0)
        codes = battle.legal_actions()
        sums = np.bincount(steps.action, steps.probability * (steps.gain + after), len(codes))
        return {code: float(value) for code, value in zip(codes, sums, strict=True)}

    def best_action(self, battle: Battle) -> int:
        """Return the engine code of the best action; ties go to the lowest code.

        Raises:
            ValueError: if the battle is not at a decision.
        """
        if not battle.is_decision():
            raise ValueError(f"best action: expected a decision, found {battle.node.name}")
        node = self.graph.explore(battle.state)
        return int(self.graph.chosen[node])

    @cached_property
    def full(self) -> GameGraph:
        """The graph without merging equivalent positions; solved on first access.

        Equivalent positions can have different observations, so a policy may play them differently.

        Raises:
            TooLarge: if the positions do not fit in memory.
        """
        return self.solve_full()

    def solve_full(self, progress: Progress | None = None) -> GameGraph:
        """Return `full`, reporting progress if it is not solved yet.

        Args:
            progress: called with the number of positions solved so far. Defaults to a progress bar,
                shown on a terminal if solving takes long.
        """
        if "full" in vars(self):
            return self.full
        # Use one thread, so that the order of nodes, and of batches for policies, is reproducible.
        graph, horizon = self.graph, self.graph.horizon
        positions = GameGraph(
            self.packed, graph.max_bytes, horizon=horizon, leaf_values=graph.leaf_values
        )
        battle = Battle(self.packed)
        if not battle.is_over:
            near = self.scenario.first_phases(min(horizon, self.scenario.phases))
            bar = ProgressBar(f"solving every position of {self.scenario.name}")
            try:
                explore(positions, near, battle.state, progress or bar, bar.expect)
            finally:
                bar.close()
        self.full = positions
        return positions

    def points_at_start(self, values: NDArray[np.float64]) -> float:
        """Return the points for the whole battle, given the values of `full`'s nodes, (n,)."""
        battle = Battle(self.packed)
        start = self.start_node
        return battle.points + (0.0 if start is None else float(values[start]))

    @property
    def start_node(self) -> int | None:
        """Node of `full` at the start of the battle; None if the battle has no decisions."""
        battle = Battle(self.packed)
        return None if battle.is_over else self.full.find(battle.state)

    def policy(self, seat: int | str, limits: Limits | None = None) -> TablePolicy:
        """Return an agent that plays a seat optimally from observations.

        Args:
            seat: 0 or "caster", 1 or "dispeller".
            limits: limits of the observations. Defaults to limits fitted to the scenario.
        """
        decisions = SeatDecisions(self.full, seat_number(seat), limits)
        return TablePolicy(decisions, decisions.codes_of(Scripted.OPTIMAL))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solution to a compressed file that `wfb_gym.solver.load` can read.

        The write is atomic and replaces an existing file.

        Raises:
            OSError: if the file cannot be written.
            ValueError: if the solution has leaf values, which cannot be saved.
        """
        if self.graph.leaf_values is not None:
            raise ValueError("save: expected a solution to the end, found one with leaf values")
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "rules": rules_digest(),
            "table": packed_digest(self.packed),
            "seconds": self.seconds,
            "scenario": self.scenario.model_dump_json(),
        }
        with (
            atomic_write(path) as draft,
            zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=_FASTEST) as file,
        ):
            file.writestr(_HEADER, json.dumps(header))
            for name, array in self.graph.to_saved()._asdict().items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)


def save(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution to a file; see `Solution.save`."""
    solution.save(path)


def load(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_BYTES) -> Solution:
    """Load a solution from a file.

    A loaded solution is safe to play: all actions are legal and all values are finite. The values
    themselves are not verified. If the file comes from an untrusted source and exact values matter,
    solve the scenario again.

    Args:
        path: a file written by `Solution.save`.
        max_bytes: maximum memory for the positions, in bytes, including positions solved later.

    Raises:
        FileNotFoundError: if the file does not exist.
        SolutionError: if the file is not a solution, is corrupt, or was computed under different
            rules.
    """
    target = Path(path)
    if not target.is_file():
        raise FileNotFoundError(f"{target}: expected a saved solution, found no file")
    expected = "a solution that wfb_gym saved"
    most = min(max_bytes, max(_SMALL, _MOST_RATIO * target.stat().st_size))
    with wrap_read_errors(target, expected, SolutionError), open_archive(target, most) as archive:
        archive.require([_HEADER, *(f"{name}.npy" for name in SavedGraph._fields)])
        header = json.loads(archive.read_text(_HEADER))
        _check_header(target, header)
        scenario = scenario_from_dict(json.loads(header["scenario"]))
        packed = pack(scenario)
        if packed_digest(packed) != header["table"]:
            raise SolutionError(
                f"{target}: expected a solution with the data of this version, found one of "
                f"{scenario.name} with other data; solve it again"
            )
        seconds = float(header["seconds"])
        if not 0.0 <= seconds < math.inf:
            raise ValueError(f"seconds: expected a number from 0, found {seconds}")
        saved = SavedGraph(*map(archive.read_array, SavedGraph._fields))
        return Solution(scenario, GameGraph.from_saved(packed, max_bytes, saved), seconds)


def _check_header(path: Path, header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise SolutionError(f"{path}: expected a solution that wfb_gym saved, found another file")
    if header["version"] != _VERSION:
        raise SolutionError(
            f"{path}: expected format version {_VERSION}, found "
            f"{format_value(header['version'])}; solve it again"
        )
    if header["rules"] != rules_digest():
        raise SolutionError(
            f"{path}: expected a solution under the rules of this version, found one under other "
            "rules; solve it again"
        )
