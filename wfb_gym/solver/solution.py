"""A solved scenario: its value, and the best action and every action's value anywhere in it.

Its file is a compressed archive of a header in JSON and the arrays as NumPy writes them. One that
cannot be read back whole, or was solved under other rules, is refused.
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
from wfb_gym.opponents.scripted import Scripted
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
"""Bytes that a file may unpack to for each of its own, and bytes that any may; 4 are usual."""
_FASTEST = 1
"""Compression: keys and values shrink little, whatever time it takes."""


class SolutionError(ValueError):
    """A file that is no solution, is damaged, or belongs to other rules."""


def packed_digest(packed: Records[PackedScenario]) -> str:
    """Return the hash of a packed scenario."""
    return hashlib.sha256(packed.tobytes()).hexdigest()


class Solution:
    """Exact values of a scenario, and optimal play from any position of it.

    Made by `wfb_gym.solver.solve`. Positions are given as a `Battle`; one that cannot come about
    in the scenario (other pools, for example) is solved when it is first asked for.

    Attributes:
        scenario: what was solved.
        packed: the packed scenario, shape (1,).
        graph: every position that can come about, with its value.
        seconds: that solving took.
    """

    def __init__(self, scenario: Scenario, graph: GameGraph, seconds: float) -> None:
        self.scenario = scenario
        self.packed: Records[PackedScenario] = graph.packed
        self.graph = graph
        self.seconds = seconds

    @property
    def value(self) -> float:
        """The points that the first army wins on average if both play optimally."""
        battle = Battle(self.packed)
        return battle.points + self.value_of(battle)

    @property
    def states(self) -> int:
        """The number of solved decisions."""
        return int((~np.isin(self.graph.kinds, (CHANCE, LEAF))).sum())

    @property
    def bytes(self) -> int:
        """The memory that the solution takes."""
        return self.graph.bytes

    def value_of(self, battle: Battle) -> float:
        """Return the points still to come for the first army if both play optimally."""
        if battle.is_over:
            return 0.0
        node = self.graph.explore(battle.state)  # which may enlarge the arrays
        return float(self.graph.values[node])

    def action_values(self, battle: Battle) -> Mapping[int, float]:
        """Return the value of each legal action: points still to come for the first army.

        Args:
            battle: at a decision; it stays as it is.

        Returns:
            By engine code, ascending; play is optimal on both sides afterwards.

        Raises:
            ValueError: The battle is at no decision.
        """
        if not battle.is_decision():
            raise ValueError(f"action values: expected a decision, found {battle.node.name}")
        self.graph.explore(battle.state)
        states = new_states(1)
        states[0] = battle.state
        steps = self.graph.successors(states)[0].copy()
        for k in np.flatnonzero((steps.node < 0) & (steps.node != END)):
            steps.node[k] = self.graph.explore(steps[k].state)  # nothing else led to it
        after = np.where(steps.node >= 0, self.graph.values[steps.node], 0.0)
        codes = battle.legal_actions()
        sums = np.bincount(steps.action, steps.probability * (steps.gain + after), len(codes))
        return {code: float(value) for code, value in zip(codes, sums, strict=True)}

    def best_action(self, battle: Battle) -> int:
        """Return the engine code of the best action; of equally good ones the lowest.

        Raises:
            ValueError: The battle is at no decision.
        """
        if not battle.is_decision():
            raise ValueError(f"best action: expected a decision, found {battle.node.name}")
        node = self.graph.explore(battle.state)
        return int(self.graph.chosen[node])

    @cached_property
    def full(self) -> GameGraph:
        """The graph in which positions that play alike are nodes of their own.

        Policies of observations may tell them apart. Solved when it is first asked for.

        Raises:
            TooLarge: There are more of them than fit.
        """
        return self._explore_full(None)

    def solve_full(self, progress: Progress | None = None) -> GameGraph:
        """Return `full`, with progress if it is still to be solved.

        Args:
            progress: called with the number of positions solved so far. Unless it is given, a bar
                shows on a terminal if solving takes long.
        """
        if "full" not in vars(self):
            self.full = self._explore_full(progress)
        return self.full

    def _explore_full(self, progress: Progress | None) -> GameGraph:
        # One thread: its order of nodes is that of the batches in which policies are asked.
        positions = GameGraph(
            self.packed,
            self.graph.max_bytes,
            horizon=self.graph.horizon,
            leaf_values=self.graph.leaf_values,
        )
        battle = Battle(self.packed)
        if not battle.is_over:
            near = self.scenario.first_phases(min(positions.horizon, self.scenario.phases))
            bar = ProgressBar(f"solving every position of {self.scenario.name}")
            try:
                explore(positions, near, battle.state, progress or bar, bar.expect)
            finally:
                bar.close()
        return positions

    def points_at_start(self, values: NDArray[np.float64]) -> float:
        """Return the points of the whole battle if `full`'s nodes have these values, (n,)."""
        battle = Battle(self.packed)
        start = self.start_node
        return battle.points + (0.0 if start is None else float(values[start]))

    @property
    def start_node(self) -> int | None:
        """Node of `full` with which the battle begins; None where there is nothing to decide."""
        battle = Battle(self.packed)
        return None if battle.is_over else self.full.find(battle.state)

    def policy(self, seat: int | str, limits: Limits | None = None) -> TablePolicy:
        """Return optimal play of a seat as a function of observations: an agent.

        Args:
            seat: 0 or "caster", 1 or "dispeller".
            limits: of the observations; fitted to the scenario unless given.
        """
        decisions = SeatDecisions(self.full, seat_number(seat), limits)
        return TablePolicy(decisions, decisions.codes_of(Scripted.OPTIMAL))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solution to one compressed file; `wfb_gym.solver.load` reads it back.

        It is written whole or not at all; an older one is overwritten.

        Raises:
            OSError: The file cannot be written.
            ValueError: It was solved with values of leaves, which no file holds.
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
    """Read a solution back.

    Whatever the file, what is read can be played from: its actions are legal and its values are
    finite. That the values are the right ones is trusted: solve a scenario yourself where they
    matter and the file comes from somebody whom you do not trust.

    Args:
        path: of a file that `Solution.save` wrote.
        max_bytes: memory that its positions may take, as they are and if more are solved later.

    Raises:
        FileNotFoundError: There is no such file.
        SolutionError: It is no solution, is damaged, or was solved under other rules.
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
                f"{target}: {scenario.name} was solved with other data than this version's; "
                "solve it again"
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
        raise SolutionError(f"{path}: it was solved under other rules than these; solve it again")
