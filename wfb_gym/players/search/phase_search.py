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

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.encoding.positions import PositionArrays
from wfb_gym.engine.actions import FIRST_DICE, FIRST_ITEM, FIRST_TARGET, PASS
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import DispelAttempt, Node, State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.targets import resistance, target_code
from wfb_gym.opponents.scripted import _rule_based_action
from wfb_gym.packing.records import PackedScenario
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

IN_DUEL = frozenset(
    int(node)
    for node in (
        Node.NOMINATE,
        Node.ITEM,
        Node.RESERVE_DICE,
        Node.POOL_DICE,
        Node.DISPEL,
        Node.DISPEL_RESERVE,
        Node.DISPEL_POOL,
        Node.IN_PLAY,
    )
)
"""Decisions that a duel knows."""
_KEPT_POSITIONS = 3_000_000
_KEPT_DUELS = 150


@jit(forceinline=False)
def _veteran_action(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    count = int64(legal_actions(packed, state, work))
    return int64(_rule_based_action(packed, state, work, count, True))


@jit(forceinline=False)
def _target_action(packed: PackedScenario, state: State, survival: float) -> int:
    army = int64(state.mover)
    spell = int64(state.free - 1) if state.free else int64(state.spell - 1)
    aim = best_aim(packed, state, army, spell, survival)
    return FIRST_TARGET + target_code(packed, army, spell, aim)


@jit(forceinline=False)
def _count_legal(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    return int64(legal_actions(packed, state, work))


@jit(forceinline=False)
def _resistance(packed: PackedScenario, state: State) -> int:
    return int64(resistance(packed, state))


class PhaseSearchAgent(PositionAgent):
    """Solves the phase reduced to a duel of the best spells.

    Args:
        spells: that may still be cast in the duel, 1 or more.
        survival: chance that a spell in play outlives a phase.
        keep: share of the greatest worth by which an item must raise the value, while phases are
            left.
        miscast_cost: points that a miscast is taken to cost.
        most_positions: of a duel; with more, a spell less is looked at.
    """

    _called = "phase-search"

    def __init__(
        self,
        spells: int = 4,
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
        self._max_bytes = bytes_of(most_positions, 6)
        self._worths, self._state, self._work = new_worths(), new_states(1), new_work_spaces()
        self._reduced: dict[int, Any] = {}
        self._graphs: OrderedDict[Any, GameGraph] = OrderedDict()
        self._held = 0

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        digests: dict[int, int] = {}
        for row in range(len(asked.states)):
            state = asked.states[row]
            if not is_decision(int(state.node)) or int(state.mover) != asked.seat:
                continue
            which = int(asked.scenario[row])
            packed = asked.packed_scenarios[which : which + 1]
            if which not in digests:
                digests[which] = hash(packed.tobytes())
            actions[row] = asked.indices[self.decide(packed, digests[which], state)]

    def decide(self, packed: Records[PackedScenario], digest: int, state: State) -> int:
        """Return the engine code of the action in a position.

        Args:
            packed: the scenario, shape (1,).
            digest: a number that tells it from others.
            state: at a decision.
        """
        node = int(state.node)
        work = self._work[0]
        if node == Node.TARGET:
            return int(_target_action(packed[0], state, self._survival))
        if node not in IN_DUEL:
            return int(_veteran_action(packed[0], state, work))
        count = int(_count_legal(packed[0], state, work))
        legal = [int(code) for code in work.legal[:count]]
        solved = self._solve(packed, digest, state, self._spells)
        if solved is None:
            return int(_veteran_action(packed[0], state, work))
        code, value = solved
        if FIRST_ITEM <= code < FIRST_ITEM + ITEMS and node in (Node.ITEM, Node.DISPEL):
            code = self._item_or_keep(packed, digest, state, code, value)
        if node == Node.DISPEL:
            code = self._declare(packed, state, code, legal)
        return code if code in legal else int(_veteran_action(packed[0], state, work))

    def _item_or_keep(
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
        most = float((self._worths.at_once + self._worths.at_the_end)[int(state.active)].max())
        without = state.copy()
        without.items[mover, item] = 0
        solved = self._solve(packed, digest, without, self._spells)
        if solved is None:
            return code
        other_code, other_value = solved
        gain = (value - other_value) * (1.0 if mover == 0 else -1.0)
        need = self._keep * most * min(1.0, future / int(state.items[mover, item]))
        return code if gain >= need else other_code

    def _declare(
        self, packed: Records[PackedScenario], state: State, code: int, legal: list[int]
    ) -> int:
        """Add to a dispel what the duel leaves out: re-rolls, and free dice of Magic Resistance."""
        if FIRST_DICE < code < FIRST_ITEM and int(state.declared) == 0:
            items = packed[0].armies[int(state.mover)]["items"]
            rerolls = [
                each
                for each in legal
                if FIRST_ITEM <= each < FIRST_ITEM + ITEMS
                and items["reroll_dispel"][each - FIRST_ITEM]
            ]
            army, spell = int(state.active), int(state.spell) - 1
            worth = self._worths.at_once + self._worths.at_the_end
            if rerolls and int(state.attempt) == DispelAttempt.CAST:
                if worth[army, spell] >= 0.6 * worth[army].max():
                    return rerolls[0]
        if code == PASS and FIRST_DICE in legal and _resistance(packed[0], state) > 0:
            return FIRST_DICE  # its dice cost nothing
        return code

    def _solve(
        self, packed: Records[PackedScenario], digest: int, state: State, spells: int
    ) -> tuple[int, float] | None:
        """Return the best action of the duel and its value to the first army; None if too large."""
        if digest not in self._reduced:
            self._reduced[digest] = reduced_scenario(packed, self._miscast_cost)
        while spells > 0:
            self._state[0] = state
            worths, duel = self._worths, self._state[0]
            reduce_state(packed[0], state, spells, self._survival, worths, duel)
            key = (digest, *(array.tobytes() for array in worths[:3]))
            graph = self._graphs.get(key)
            if graph is None:
                graph = GameGraph(
                    with_worths(self._reduced[digest], worths), self._max_bytes, merging=True
                )
                self._graphs[key] = graph
            self._graphs.move_to_end(key)
            before = graph.size
            try:
                node = graph.explore(duel)
            except TooLarge:
                del self._graphs[key]
                self._held -= before
                if before == 0:
                    spells -= 1
                continue
            self._held += graph.size - before
            while (self._held > _KEPT_POSITIONS or len(self._graphs) > _KEPT_DUELS) and len(
                self._graphs
            ) > 1:
                _, old = self._graphs.popitem(last=False)
                self._held -= old.size
            return int(graph.chosen[node]), float(graph.values[node])
        return None
