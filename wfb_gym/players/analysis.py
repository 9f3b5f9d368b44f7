"""Values of every legal action at a position: exact if the game is small enough, else from search.

Commands, reviews and the web UI all use this module, so their values agree.
"""

from collections.abc import Mapping
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.ply_search import PlySearchAgent
from wfb_gym.scenario import Scenario
from wfb_gym.solver import Solution, TooLarge
from wfb_gym.solver.game_graph import DEFAULT_BYTES, GameGraph
from wfb_gym.solver.graph_arrays import TIE

MOST_POSITIONS = 400_000
"""Size, in positions, of the largest game that is solved on request; solving it takes seconds."""
_SHARE_WITH_PHASES_TO_COME = 8  # divisor of the limit before the last phase, when games rarely fit
_FEWER_DICE = 2
"""Number of dice that must be spent before another attempt at a game that was too large."""


class Analysis(NamedTuple):
    """Values of the legal actions at a decision.

    Attributes:
        values: the mover's expected future points, by engine code in ascending order.
        best: code of the best action; ties go to the lowest code.
        is_exact: whether the values are exact, assuming optimal play by both sides afterwards.
        method: description of the method, for users.
    """

    values: dict[int, float]
    best: int
    is_exact: bool
    method: str

    @property
    def value(self) -> float:
        """The mover's expected future points after the best action."""
        return self.values[self.best]

    def recommends(self, code: int) -> bool:
        """Return whether an action is the best; False if an estimate rates all actions the same."""
        can_tell = self.is_exact or self.value > min(self.values.values()) + TIE
        return code == self.best and (can_tell or len(self.values) == 1)

    def loss(self, code: int) -> float:
        """Return an action's cost relative to the best action, in points; never negative."""
        return max(0.0, self.value - self.values[code])


class Analyst:
    """Analyses positions in one scenario, and caches solutions for reuse.

    Args:
        scenario: the positions' scenario.
        most_positions: size, in positions, of the largest game that is solved on request.
    """

    def __init__(self, scenario: Scenario, *, most_positions: int = MOST_POSITIONS) -> None:
        self._scenario = scenario
        self._most = most_positions
        self._packed = pack(scenario)
        self._solution: Solution | None = None
        self._phases, self._search = PhaseSearchAgent(), PlySearchAgent()
        self._too_large: dict[int, int] = {}  # by phase: dice left when it was last too large

    def note_too_large(self, battle: Battle) -> None:
        """Record that the game from a position is too large, to avoid another attempt."""
        self._too_large[int(battle.state.phase)] = _dice_left(battle)

    def analyse(self, battle: Battle) -> Analysis:
        """Return the values of all legal actions for the side to move.

        Args:
            battle: a battle at a decision of either army; not modified.

        Raises:
            ValueError: if the battle is not at a decision.
        """
        if not battle.is_decision():
            raise ValueError(f"analysis: expected a decision, found {battle.node.name}")
        solution = self._solved(battle)
        if solution is not None:
            return _analysis(battle, solution.action_values(battle), True, "exact")
        values = self._phases.action_values(battle)
        if len(values) == len(battle.legal_actions()):
            method = "a duel of the best spells"
            if int(battle.state.phase) < int(battle.packed.phases) - 1:
                method += " in each phase, without casualties in later phases"
            return _analysis(battle, values, False, method)
        method = "the positions that can follow, each valued as a duel of its best spells"
        return _analysis(battle, self._search.action_values(battle), False, method)

    def _solved(self, battle: Battle) -> Solution | None:
        """Return a solution that contains the position, if the game is small enough."""
        if self._solution is not None and self._solution.graph.find(battle.state) >= 0:
            return self._solution
        phase, dice = int(battle.state.phase), _dice_left(battle)
        is_last = phase == int(battle.packed.phases) - 1
        if phase in self._too_large:  # in the last phase the game shrinks with every die
            if not is_last or dice > self._too_large[phase] - _FEWER_DICE:
                return None
        most = self._most // (1 if is_last else _SHARE_WITH_PHASES_TO_COME)

        def watch(size: int) -> None:
            if size > most:
                raise TooLarge(f"more than {most:,} positions")

        graph = GameGraph(self._packed, DEFAULT_BYTES, merging=True)
        try:
            graph.explore(battle.state, watch)
        except TooLarge:
            self.note_too_large(battle)
            return None
        self._solution = Solution(self._scenario, graph, 0.0)
        return self._solution


def _dice_left(battle: Battle) -> int:
    """Return the number of remaining power, dispel and own dice."""
    state = battle.state
    return int(state.power + state.dispel + state.own_dice.sum())


def _analysis(battle: Battle, gains: Mapping[int, float], is_exact: bool, method: str) -> Analysis:
    """Convert points from the first army's to the mover's perspective, and find the best action."""
    sign = 1.0 if battle.mover == 0 else -1.0
    values = {code: sign * gain + 0.0 for code, gain in gains.items()}  # + 0.0: no negative zero
    best = min(values)
    for code, value in values.items():
        if value > values[best] + TIE:
            best = code
    return Analysis(values, best, is_exact, method)
