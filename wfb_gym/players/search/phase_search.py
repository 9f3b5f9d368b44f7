"""Phase search: what is inside a magic phase is solved exactly, what lies between is a rule.

Each decision is made in a duel of plain worths (`wfb_gym.players.search.reduction`) that is solved
to its end. Between phases nothing is searched:

- A one-phase duel thinks that scrolls and stones are free. One is used only if that raises the
  value by a share of the greatest worth at stake, as long as phases are left to use it in.
- A target is the one that promises most, no more than what is left of it.
- An item that re-rolls dice to dispel is declared against what matters; other decisions outside of
  the duel (what to re-roll, which spell to swap, dice to keep) are the veteran's.
"""

from collections import OrderedDict
from typing import Any

from wfb_gym._records import Records
from wfb_gym.encoding.positions import PositionArrays
from wfb_gym.engine.actions import FIRST_DICE, FIRST_ITEM, FIRST_TARGET, PASS
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import DispelAttempt, Node, State, new_states, new_work_spaces
from wfb_gym.engine.targets import resistance, target_code
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.baselines import ScriptedAgent
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.reduction import (
    best_aim,
    new_worths,
    reduce_state,
    reduced_scenario,
    with_worths,
)
from wfb_gym.scenario.sizes import ITEMS
from wfb_gym.solver.game_graph import GameGraph, TooLarge, bytes_of

DEFAULT_SPELLS = 4
_IN_DUEL = (
    Node.NOMINATE,
    Node.ITEM,
    Node.RESERVE_DICE,
    Node.POOL_DICE,
    Node.DISPEL,
    Node.DISPEL_RESERVE,
    Node.DISPEL_POOL,
    Node.IN_PLAY,
)
"""Decisions that a duel knows."""
_MATTERS = 0.6
"""Share of the greatest worth from which a spell is worth a re-roll."""
_KEY_WORDS = 6
"""Of a duel's positions, for the memory that they may take."""
_MOST_KEPT = 3_000_000
"""Positions of solved duels that are remembered."""
_MOST_DUELS = 150
"""Duels that are remembered, and scenarios that they are made from."""


class PhaseSearchAgent(PositionAgent):
    """Solves the phase, reduced to a duel of its best spells.

    Args:
        spells: that may still be cast in the duel, 1 or more.
        survival: chance that a spell in play outlives a phase.
        keep: share of the greatest worth by which an item must raise the value, while phases are
            left.
        miscast_cost: points that a miscast is taken to cost.
        most_positions: of a duel; with more, a spell less is looked at.

    Raises:
        ValueError: spells below 1.
    """

    _called = "phase-search"

    def __init__(
        self,
        spells: int = DEFAULT_SPELLS,
        *,
        survival: float = 0.7,
        keep: float = 0.5,
        miscast_cost: float = 20.0,
        most_positions: int = 60_000,
    ) -> None:
        if spells < 1:
            raise ValueError(f"phase-search: expected spells of 1 or more, found {spells}")
        self._spells, self._survival, self._keep = spells, survival, keep
        self._miscast_cost = miscast_cost
        self._max_bytes = bytes_of(most_positions, _KEY_WORDS)
        self._veteran = ScriptedAgent("veteran")
        self._worths, self._states, self._work = new_worths(), new_states(1), new_work_spaces()
        self._reduced: dict[int, Records[PackedScenario]] = {}
        self._graphs: OrderedDict[Any, GameGraph] = OrderedDict()
        self._positions = 0

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        self._veteran._choose(asked, actions)  # noqa: SLF001 (where no duel decides)
        digests: dict[int, int] = {}
        for row in range(len(asked.states)):
            state = asked.states[row]
            if not is_decision(int(state.node)) or int(state.mover) != asked.seat:
                continue
            which = int(asked.scenario[row])
            packed = asked.packed_scenarios[which : which + 1]
            if which not in digests:
                digests[which] = hash(packed.tobytes())
            code = self._decide(packed, digests[which], state)
            if code is not None:
                actions[row] = asked.indices[code]

    def _decide(self, packed: Records[PackedScenario], digest: int, state: State) -> int | None:
        """Return the engine code of the action in a position, None if it is the veteran's.

        Of packed scenarios, shape (1,), `digest` tells one from the others.
        """
        work = self._work[0]
        if state.node == Node.TARGET:
            army, spell = int(state.mover), int(state.free if state.free else state.spell) - 1
            aim = int(best_aim(packed[0], state, army, spell, self._survival))
            return FIRST_TARGET + int(target_code(packed[0], army, spell, aim))
        if state.node not in _IN_DUEL:
            return None
        count = int(legal_actions(packed[0], state, work))
        legal = [int(code) for code in work.legal[:count]]
        solved = self._solve(packed, digest, state)
        if solved is None:
            return None
        code, value = solved
        if FIRST_ITEM <= code < FIRST_ITEM + ITEMS and state.node in (Node.ITEM, Node.DISPEL):
            code = self._use_or_keep(packed, digest, state, code, value)
        if state.node == Node.DISPEL:
            code = self._declare(packed, state, code, legal)
        return code if code in legal else None

    def _use_or_keep(
        self,
        packed: Records[PackedScenario],
        digest: int,
        state: State,
        code: int,
        value: float,
    ) -> int:
        """Use the item that the duel uses, unless keeping it for a later phase costs little."""
        mover, item = int(state.mover), code - FIRST_ITEM
        future = (int(packed[0].phases) - int(state.phase) - 1) // 2
        if future <= 0:
            return code
        worths = self._worths.at_once + self._worths.at_the_end
        most = float(worths[int(state.active)].max())
        kept = new_states(1)
        kept[0] = state
        kept[0].items[mover, item] = 0
        solved = self._solve(packed, digest, kept[0])
        if solved is None:
            return code
        gain = (value - solved[1]) * (1.0 if mover == 0 else -1.0)
        need = self._keep * most * min(1.0, future / int(state.items[mover, item]))
        return code if gain >= need else solved[0]

    def _declare(
        self, packed: Records[PackedScenario], state: State, code: int, legal: list[int]
    ) -> int:
        """Add to a dispel what the duel leaves out: re-rolls, and dice of Magic Resistance."""
        casts = state.attempt == DispelAttempt.CAST
        if FIRST_DICE < code < FIRST_ITEM and not state.declared and casts:
            items = packed[0].armies[int(state.mover)]["items"]
            rerolls = [
                each
                for each in legal
                if FIRST_ITEM <= each < FIRST_ITEM + ITEMS
                and items["reroll_dispel"][each - FIRST_ITEM]
            ]
            worths = (self._worths.at_once + self._worths.at_the_end)[int(state.active)]
            if rerolls and worths[int(state.spell) - 1] >= _MATTERS * worths.max():
                return rerolls[0]
        if code == PASS and FIRST_DICE in legal and resistance(packed[0], state) > 0:
            return FIRST_DICE  # its dice cost nothing
        return code

    def _solve(
        self, packed: Records[PackedScenario], digest: int, state: State
    ) -> tuple[int, float] | None:
        """Return the duel's best action and its value to the first army; None if too large."""
        if digest not in self._reduced:
            if len(self._reduced) >= _MOST_DUELS:
                self._reduced.clear()
            self._reduced[digest] = reduced_scenario(packed, self._miscast_cost)
        worths, duel, spells = self._worths, self._states[0], self._spells
        while spells > 0:
            self._states[0] = state
            reduce_state(packed[0], state, spells, self._survival, worths, duel)
            key = (digest, *(array.tobytes() for array in worths[:3]))
            graph = self._graphs.get(key)
            if graph is None:
                reduced = with_worths(self._reduced[digest], worths)
                graph = GameGraph(reduced, self._max_bytes, merging=True)
                self._graphs[key] = graph
            self._graphs.move_to_end(key)
            before = graph.size
            try:
                node = graph.explore(duel)
            except TooLarge:
                del self._graphs[key]
                self._positions -= before
                spells -= before == 0  # else once more, with nothing remembered
                continue
            self._positions += graph.size - before
            self._forget_oldest()
            return int(graph.chosen[node]), float(graph.values[node])
        return None

    def _forget_oldest(self) -> None:
        """Keep the duels that are remembered within bounds, the latest in any case."""
        while len(self._graphs) > 1 and (
            self._positions > _MOST_KEPT or len(self._graphs) > _MOST_DUELS
        ):
            _, oldest = self._graphs.popitem(last=False)
            self._positions -= oldest.size
