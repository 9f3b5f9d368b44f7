"""A solved scenario: its value, the best action and the value of every action anywhere in it."""

import os
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records
from wfb_gym.encoding.limits import Limits
from wfb_gym.engine.battle import Battle
from wfb_gym.opponents.scripted import Scripted
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import seat_number
from wfb_gym.solver import graph
from wfb_gym.solver.estimation import explore
from wfb_gym.solver.game_graph import GameGraph, Progress
from wfb_gym.solver.policies import SeatDecisions
from wfb_gym.solver.progress import Bar
from wfb_gym.solver.table_policy import TablePolicy

DEFAULT_BYTES = 4 * 2**30
"""Memory that a solution may take unless told otherwise."""


class Solution:
    """Exact values of a scenario, and optimal play from any position of it.

    Made by `wfb_gym.solver.solve`. Positions are given as a `Battle`; one that cannot come about
    in the scenario (other pools, say) is worked out when it is first asked for.

    Attributes:
        scenario: what was solved.
        packed: packed, record array of shape (1,).
        graph: every position that can come about, with its value.
        seconds: that solving took.
    """

    def __init__(self, scenario: Scenario, graph_of_it: GameGraph, seconds: float) -> None:
        self.scenario = scenario
        self.packed: Records[PackedScenario] = graph_of_it.packed
        self.graph = graph_of_it
        self.seconds = seconds

    @property
    def value(self) -> float:
        """Points that the first army wins on average if both play optimally."""
        battle = Battle(self.packed)
        return battle.points + self.value_of(battle)

    @property
    def states(self) -> int:
        """Decisions that were worked out."""
        return int((self.graph.kinds[: self.graph.size] != graph.CHANCE).sum())

    @property
    def bytes(self) -> int:
        """Memory that the solution takes."""
        return self.graph.bytes

    def value_of(self, battle: Battle) -> float:
        """Points still to come for the first army, if both play optimally from here."""
        if battle.is_over:
            return 0.0
        node = self.graph.explore(battle.state)  # which may enlarge the arrays
        return float(self.graph.values[node])

    def action_values(self, battle: Battle) -> Mapping[int, float]:
        """What each legal action is worth: points still to come for the first army.

        Args:
            battle: at a decision; it stays as it is.

        Returns:
            By engine code, ascending; play is optimal on both sides afterwards.

        Raises:
            ValueError: nobody decides here.
        """
        if not battle.is_decision():
            raise ValueError(f"action values: expected a decision, found {battle.node.name}")
        self.graph.explore(battle.state)
        steps = self.graph.successors(battle.state)
        for step in steps[steps.node == graph.UNKNOWN]:  # merged into what nothing else led to
            step.node = self.graph.explore(step.state)
        after = np.where(steps.node >= 0, self.graph.values[steps.node], 0.0)
        codes = battle.legal_actions()
        sums = np.bincount(steps.action, steps.chance * (steps.gain + after), len(codes))
        return {code: float(value) for code, value in zip(codes, sums, strict=True)}

    def best_action(self, battle: Battle) -> int:
        """Engine code of the mover's best action; of equally good ones the lowest.

        Raises:
            ValueError: nobody decides here.
        """
        if not battle.is_decision():
            raise ValueError(f"best action: expected a decision, found {battle.node.name}")
        node = self.graph.explore(battle.state)
        return int(self.graph.chosen[node])

    @cached_property
    def full(self) -> GameGraph:
        """The graph in which positions that only an onlooker tells apart are nodes of their own.

        Policies of observations may tell them apart. Worked out when it is first asked for.

        Raises:
            TooLarge: there are more of them than fit.
        """
        positions = GameGraph(self.packed, self.graph.max_bytes)
        battle = Battle(self.packed)
        if not battle.is_over:
            explore(positions, self.scenario, battle)
        return positions

    def whole(self, values: NDArray[np.float64]) -> float:
        """Points of the whole battle, where `full`'s nodes have these values, float64 (n,)."""
        battle = Battle(self.packed)
        if battle.is_over:
            return battle.points
        return battle.points + float(values[self.full.find(battle.state)])

    def policy(self, seat: int | str, limits: Limits | None = None) -> TablePolicy:
        """Optimal play of a seat as a function of observations: an agent.

        Args:
            seat: 0 or "caster", 1 or "dispeller".
            limits: of the observations; fitted to the scenario unless given.
        """
        decisions = SeatDecisions(self.full, seat_number(seat), limits)
        return TablePolicy(decisions, decisions.codes_of(Scripted.OPTIMAL))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solution to one compressed file; `wfb_gym.solver.load` reads it back.

        Raises:
            OSError: the file cannot be written.
        """
        from wfb_gym.solver.files import save

        save(self, path)


def solve(
    scenario: Any,
    *,
    battle: Battle | None = None,
    max_bytes: int = DEFAULT_BYTES,
    progress: Progress | None = None,
) -> Solution:
    """Exact values and optimal play of a scenario, by expectiminimax over the engine's rules.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        battle: a position of the scenario to begin with, if it is not its beginning: what comes
            before is then worked out only if it is asked for.
        max_bytes: memory that the positions may take.
        progress: told the number of positions worked out so far, now and then; unless given, a
            bar shows on a terminal if it takes long.

    Raises:
        TooLarge: the scenario has more positions than fit; names what makes it large.
        ScenarioError: there is no such scenario, or it is refused.
    """
    began = time.perf_counter()
    loaded = load_scenario(scenario)
    positions = GameGraph(pack(loaded), max_bytes, merging=True)
    begun = battle or Battle(positions.packed)
    bar = Bar(f"solving {loaded.name}")
    try:
        if not begun.is_over:
            explore(positions, loaded, begun, progress or bar)
    finally:
        bar.close()
    return Solution(loaded, positions, time.perf_counter() - began)
