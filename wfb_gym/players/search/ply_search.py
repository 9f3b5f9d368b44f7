"""Ply search: an exact search to a fixed depth, with phase search's values at the leaves.

Expectimax expands every position for a number of decisions, with exact dice, casualties and
miscasts. Each leaf is valued by its duel, including unused resources for later phases
(`wfb_gym.players.search.phase_values`). Decisions that no duel represents (re-rolls, spell swaps,
stored dice) are expanded further. If several spells are nearly as good to cast, the least valuable
one goes first, as in phase search. A network can restrict the choice to likely actions. If a single
decision has too many transitions, phase search decides.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import PositionArrays, position_of
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, new_states
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.expectimax import (
    BACK_UP,
    DONE,
    LAY_OUT,
    TOO_MANY,
    ExpectimaxAgent,
    enlarged,
    new_graph,
    search,
)
from wfb_gym.players.search.future_phases import has_units
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.solver.graph_arrays import new_expansion

DEFAULT_PLIES = 1
DEFAULT_TRANSITIONS = 200_000  # default limit on the number of transitions in a search
LIKELY = 0.002
"""Minimum probability of an action that may be chosen, relative to the most likely action."""


class Values(Protocol):
    """Supplies the values of positions at the end of a search."""

    def values_behind(self, positions: PositionArrays) -> NDArray[np.float64]:
        """See `PhaseSearchAgent.values_behind`."""


class Policy(Protocol):
    """Restricts the choice to actions that the policy considers likely."""

    def chances_at(
        self, positions: PositionArrays, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return engine codes (a,), ascending, and their probabilities in the given rows, (k, a).

        Probabilities of illegal actions are negative.
        """


class PlySearchAgent(PositionAgent):
    """Searches a number of decisions exactly, and values the leaves like phase search.

    Args:
        plies: depth in decisions, including the current one, at least 1. The search is shallower if
            the transitions exceed `max_transitions`.
        values: supplies the values of leaves. Defaults to phase search.
        policy: excludes unlikely actions (see `LIKELY`), so that an error in the values does not
            override a choice of which the policy is certain.
        max_transitions: maximum number of transitions per search. If the first decision has more,
            phase search decides.
        spells: maximum number of castable spells in the duels at the leaves.
        later_spells: maximum number of castable spells in a later phase's duel.

    Raises:
        ValueError: if the number of plies or spells is out of range.
    """

    _called = "search"

    def __init__(
        self,
        plies: int = DEFAULT_PLIES,
        *,
        values: Values | None = None,
        policy: Policy | None = None,
        max_transitions: int = DEFAULT_TRANSITIONS,
        spells: int = 4,
        later_spells: int = 2,
    ) -> None:
        if plies < 1:
            raise ValueError(f"search: expected plies of 1 or more, found {plies}")
        self._plies, self._max_transitions = plies, max_transitions
        self._phases = PhaseSearchAgent(spells, later_spells=later_spells)
        self._values: Values = self._phases if values is None else values
        self._policy = policy
        self._graph, self._expansion = new_graph(), new_expansion(1 << 12)

    def action_values(self, battle: Battle) -> dict[int, float]:
        """Return the search value of each legal action for the first army.

        Returns:
            Points by engine code, in ascending order of codes. These are the points until the end
            of the phase, plus the value of unused resources in later phases. If the decision has
            too many transitions, the values are expectimax estimates at depth 1.

        Raises:
            ValueError: if the battle is not at a decision.
        """
        if not battle.is_decision():
            raise ValueError(f"action values: expected a decision, found {battle.node.name}")
        if not self._search_one(position_of(battle), 0, np.zeros(1, np.int64)):
            return ExpectimaxAgent(1).action_values(battle)
        legal = battle.legal_actions()
        return dict(zip(legal, self._expansion.sums[: len(legal)].tolist(), strict=True))

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        rows = np.flatnonzero(asked.decides())
        policy = None if self._policy is None else self._policy.chances_at(asked, rows)
        for k, row in enumerate(rows):
            if not self._search_one(asked, int(row), actions):
                one_row = asked._replace(
                    states=asked.states[row : row + 1], scenario=asked.scenario[row : row + 1]
                )
                self._phases._choose(one_row, actions[row : row + 1])  # noqa: SLF001 (in its place)
                continue
            state, packed = asked.states[row], asked.packed_scenarios[asked.scenario[row]]
            by_duels = self._values is self._phases
            points = self._expansion.sums[: self._graph.nodes[0].count] * (1 - 2 * int(state.mover))
            if policy is not None:
                legal = policy[1][k] >= 0.0
                codes, chances = policy[0][legal], policy[1][k, legal]
                likely = np.where(chances >= LIKELY * chances.max(), points, -np.inf)
                actions[row] = asked.indices[codes[likely.argmax()]]
            elif by_duels and state.node == Node.NOMINATE and has_units(packed):
                actions[row] = asked.indices[self._phases.least_first(asked, int(row), points)]

    def _search_one(self, asked: PositionArrays, row: int, actions: Actions) -> bool:
        """Write a row's best action; return whether its transitions were within the limit."""
        while True:
            status, level = search(
                LAY_OUT,
                row,
                self._plies,
                self._max_transitions,
                asked,
                self._graph,
                self._expansion,
                actions,
            )
            if status == DONE:
                break
            if status == TOO_MANY:
                return False
            self._graph, self._expansion = enlarged(status, self._graph, self._expansion)
        nodes = self._graph.nodes[: self._graph.size[0]]
        at_end = (nodes["first"] < 0) | (nodes["depth"] >= level)
        at_end[0] = False
        ends = np.flatnonzero(at_end)
        states = new_states(1 + len(ends))
        states[0] = asked.states[row]
        states[1:] = nodes.state[ends]
        scenario = np.full(len(states), asked.scenario[row])
        found = self._values.values_behind(asked._replace(states=states, scenario=scenario))
        nodes["value"][ends] = found[1:]
        nodes["cursor"][ends] = -1
        search(
            BACK_UP, row, level, self._max_transitions, asked, self._graph, self._expansion, actions
        )
        return True
