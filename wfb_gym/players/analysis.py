"""What every legal action of a position is worth: exactly where that can be had, else by search.

Commands, reviews and the page in the browser ask here, so that all of them say the same.
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
"""Positions of the largest game that is solved on the spot: seconds."""
_SHARE_WITH_PHASES_TO_COME = 8
"""Where phases are to come, hardly any game fits: so many times fewer positions are tried."""
_FEWER_DICE = 2
"""Dice that must have been spent since a game was found too large, before it is tried again."""


class Analysis(NamedTuple):
    """What the legal actions of a decision are worth.

    Attributes:
        values: points still to come for the mover, by engine code, ascending.
        best: the code of the best action; of equally good ones the lowest.
        is_exact: whether the values are exact, both sides playing optimally from there on.
        method: how they were found, in plain words.
    """

    values: dict[int, float]
    best: int
    is_exact: bool
    method: str

    @property
    def value(self) -> float:
        """Points still to come for the mover after the best action."""
        return self.values[self.best]

    def recommends(self, code: int) -> bool:
        """Whether an action is the best: none is where an estimate cannot tell them apart."""
        can_tell = self.is_exact or self.value > min(self.values.values()) + TIE
        return code == self.best and (can_tell or len(self.values) == 1)

    def loss(self, code: int) -> float:
        """Return how many points an action gives away against the best one, never negative."""
        return max(0.0, self.value - self.values[code])


class Analyst:
    """Analyses positions of one scenario; what was solved for one of them serves the others.

    Args:
        scenario: that the positions belong to.
        most_positions: of the largest game that is solved on the spot.
    """

    def __init__(self, scenario: Scenario, *, most_positions: int = MOST_POSITIONS) -> None:
        self._scenario = scenario
        self._most = most_positions
        self._packed = pack(scenario)
        self._solution: Solution | None = None
        self._phases, self._search = PhaseSearchAgent(), PlySearchAgent()
        self._refused: dict[int, int] = {}  # fewest dice with which a phase was too large

    def note_too_large(self, battle: Battle) -> None:
        """Note that what can follow a position is too large, so that solving it is not tried."""
        self._refused[int(battle.state.phase)] = _dice_left(battle)

    def analyse(self, battle: Battle) -> Analysis:
        """Return what every legal action is worth to the mover, whichever army that is.

        Args:
            battle: at a decision; it stays as it is.

        Raises:
            ValueError: The battle is at no decision.
        """
        if not battle.is_decision():
            raise ValueError(f"analysis: expected a decision, found {battle.node.name}")
        solution = self._solved(battle)
        if solution is not None:
            return _analysis(battle, solution.action_values(battle), True, "exact")
        values = self._phases.action_values(battle)
        if len(values) == len(battle.legal_actions()):
            method = (
                "this phase and what it leaves for those to come, each a duel of its best spells"
            )
            return _analysis(battle, values, False, method)
        method = "what it may lead to, each as a duel of its best spells"
        return _analysis(battle, self._search.action_values(battle), False, method)

    def _solved(self, battle: Battle) -> Solution | None:
        """Return a solution that has the position, if what can follow it is small enough."""
        if self._solution is not None and self._solution.graph.find(battle.state) >= 0:
            return self._solution
        phase, dice = int(battle.state.phase), _dice_left(battle)
        is_last = phase == int(battle.packed.phases) - 1
        if phase in self._refused:  # in the last phase it shrinks with every die
            if not is_last or dice > self._refused[phase] - _FEWER_DICE:
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
    """Return the dice that both sides may still throw."""
    state = battle.state
    return int(state.power + state.dispel + state.own_dice.sum())


def _analysis(battle: Battle, gains: Mapping[int, float], is_exact: bool, method: str) -> Analysis:
    """Turn points for the first army into those of the mover, and find the best."""
    sign = 1.0 if battle.mover == 0 else -1.0
    values = {code: sign * gain + 0.0 for code, gain in gains.items()}  # no minus before a zero
    best = min(values)
    for code, value in values.items():
        if value > values[best] + TIE:
            best = code
    return Analysis(values, best, is_exact, method)
