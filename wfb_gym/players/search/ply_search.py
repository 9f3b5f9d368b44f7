"""Ply search: some decisions by the rules, exactly, and what phase search makes of the rest.

Expectimax lays out every position some decisions ahead, with exact dice, casualties and miscasts;
each of those at its end gets the value of the duel that it is reduced to, and of what is kept for
the phases to come (`wfb_gym.players.search.phase_values`). Decisions that no duel knows (re-rolls,
swaps, dice to keep) are looked through. Of spells that are nearly as good to cast the least goes
first, as in phase search. A network may say which actions are likely enough to be chosen. Where
what a single decision may lead to is too much to lay out, phase search decides.
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
DEFAULT_WAYS = 200_000
"""Ways from position to position that one search may lay out."""
LIKELY = 0.002
"""Of the likeliest action's chance, what a policy must give an action for it to be searched."""


class Values(Protocol):
    """Who values the positions at the end of a search."""

    def values_behind(self, positions: PositionArrays) -> NDArray[np.float64]:
        """See `PhaseSearchAgent.values_behind`."""


class Policy(Protocol):
    """Whose likely actions alone are chosen from."""

    def chances_at(
        self, positions: PositionArrays, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return engine codes (a,), ascending, and their chances in some rows, (k, a).

        Those of actions that are not legal in a row are below 0.
        """


class PlySearchAgent(PositionAgent):
    """Looks some decisions ahead by the rules, and values what follows as phase search does.

    Args:
        plies: decisions that are looked at, this one included, 1 or more; fewer where they have
            more ways than `ways`.
        values: who values what follows in place of phase search.
        policy: whose actions of less than `LIKELY` of its likeliest one's chance are not chosen, so
            that a slip of the values does not outweigh what it is sure of.
        ways: from position to position that one search may lay out. Where the first decision alone
            has more, phase search decides.
        spells: that may still be cast in the duels at the end.
        later_spells: that are looked at there in each phase to come.

    Raises:
        ValueError: plies or spells out of bounds.
    """

    _called = "search"

    def __init__(
        self,
        plies: int = DEFAULT_PLIES,
        *,
        values: Values | None = None,
        policy: Policy | None = None,
        ways: int = DEFAULT_WAYS,
        spells: int = 4,
        later_spells: int = 2,
    ) -> None:
        if plies < 1:
            raise ValueError(f"search: expected plies of 1 or more, found {plies}")
        self._plies, self._ways = plies, ways
        self._phases = PhaseSearchAgent(spells, later_spells=later_spells)
        self._values: Values = self._phases if values is None else values
        self._policy = policy
        self._graph, self._room = new_graph(), new_expansion(1 << 12)

    def action_values(self, battle: Battle) -> dict[int, float]:
        """Return what the search finds each legal action worth: points to come for the first army.

        Args:
            battle: at a decision of either army; it stays as it is.

        Returns:
            By engine code, ascending: to the end of the phase, and by what is kept beyond it. Where
            the decision has too many ways, as expectimax estimates what it leads to.

        Raises:
            ValueError: The battle is at no decision.
        """
        if not battle.is_decision():
            raise ValueError(f"action values: expected a decision, found {battle.node.name}")
        if not self._search_one(position_of(battle), 0, np.zeros(1, np.int64)):
            return ExpectimaxAgent(1).action_values(battle)
        legal = battle.legal_actions()
        return dict(zip(legal, self._room.sums[: len(legal)].tolist(), strict=True))

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        rows = np.flatnonzero(asked.decides())
        policy = None if self._policy is None else self._policy.chances_at(asked, rows)
        for k, row in enumerate(rows):
            if not self._search_one(asked, int(row), actions):
                alone = asked._replace(
                    states=asked.states[row : row + 1], scenario=asked.scenario[row : row + 1]
                )
                self._phases._choose(alone, actions[row : row + 1])  # noqa: SLF001 (in its place)
                continue
            state, packed = asked.states[row], asked.packed_scenarios[asked.scenario[row]]
            by_duels = self._values is self._phases
            points = self._room.sums[: self._graph.nodes[0].count] * (1 - 2 * int(state.mover))
            if policy is not None:
                legal = policy[1][k] >= 0.0
                codes, chances = policy[0][legal], policy[1][k, legal]
                likely = np.where(chances >= LIKELY * chances.max(), points, -np.inf)
                actions[row] = asked.indices[codes[likely.argmax()]]
            elif by_duels and state.node == Node.NOMINATE and has_units(packed):
                actions[row] = asked.indices[self._phases.least_first(asked, int(row), points)]

    def _search_one(self, asked: PositionArrays, row: int, actions: Actions) -> bool:
        """Write the best action of a row; returns whether it had no more ways than there may be."""
        while True:
            why, ahead = search(
                LAY_OUT, row, self._plies, self._ways, asked, self._graph, self._room, actions
            )
            if why == DONE:
                break
            if why == TOO_MANY:
                return False
            self._graph, self._room = enlarged(why, self._graph, self._room)
        nodes = self._graph.nodes[: self._graph.size[0]]
        at_end = (nodes["first"] < 0) | (nodes["ahead"] >= ahead)
        at_end[0] = False
        ends = np.flatnonzero(at_end)
        states = new_states(1 + len(ends))
        states[0] = asked.states[row]
        states[1:] = nodes.state[ends]
        scenario = np.full(len(states), asked.scenario[row])
        found = self._values.values_behind(asked._replace(states=states, scenario=scenario))
        nodes["value"][ends] = found[1:]
        nodes["cursor"][ends] = -1
        search(BACK_UP, row, ahead, self._ways, asked, self._graph, self._room, actions)
        return True
