"""Phase search: solves the current magic phase and later ones as duels.

Each decision is reduced to a duel (`wfb_gym.players.search.reduction`), and the duel is solved
exactly (`wfb_gym.players.search.phase_duel`). Duels for later phases supply the values of unused
scrolls, items that help a cast, and spells in play (`wfb_gym.players.search.future_phases`).

- Against a valuable spell, the agent declares an item that re-rolls dispel dice. For other
  decisions outside the duel (re-rolls, spell swaps, stored dice), it plays like the veteran.
- Unless it weighs all sets of the enemy's hidden items, it plays as if the enemy had the likeliest
  one, which positions contain.
- In battles with units, if several spells are nearly as good to cast, the agent casts the least
  valuable one first, because opponents who do not plan ahead spend their dice on it.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding.positions import PositionArrays, position_of
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_IN_PLAY, FIRST_ITEM
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import deal_instead, is_set_hidden, may_be_kind
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.baselines import ScriptedAgent
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.duel import MOST_SPELLS, NONE, Duel, slot_of, worth_of
from wfb_gym.players.search.future_phases import has_units, look_ahead
from wfb_gym.players.search.phase_values import Scratch, action_points, new_scratch, position_value
from wfb_gym.players.search.reduction import Terms
from wfb_gym.scenario.sizes import ARMIES, ITEMS, SPELLS

DEFAULT_SPELLS = 6
_MATTERS = 0.6
"""Minimum value of a spell that justifies a re-roll, as a fraction of the maximum value."""
_NEARLY = 0.005
"""Maximum loss from casting a lesser spell first, as a fraction of the maximum value."""
_BETTER = 1e-9
"""An action must be better by more than this, in points, to be chosen over one with a lower
code."""


@jit(forceinline=False)
def _least_of(
    duel: Duel, legal: NDArray[np.int16], points: NDArray[np.float64], count: int, best: int
) -> int:
    """Return the code of the least valuable spell that is nearly as good as the action `best`."""
    chosen = int64(legal[best])
    if not FIRST_CAST <= chosen < FIRST_IN_PLAY:
        return chosen
    enough = float(points[best]) - _NEARLY * duel.greatest
    least = np.inf
    for i in range(count):
        slot = slot_of(duel, int64(legal[i]) - FIRST_CAST)
        if slot >= 0 and points[i] >= enough and worth_of(duel, slot) < least:
            least = worth_of(duel, slot)
            chosen = int64(legal[i])
    return chosen


@jit(forceinline=False)
def _points_of_sets(
    packed: PackedScenario, state: State, most_spells: int, every_spell: bool, scratch: Scratch
) -> int:
    """Write the expected values of the legal actions over the enemy's possible sets of items.

    The deal's chances are renormalised; evidence from the enemy's play is ignored. The
    position's own set comes last, so that the duel is its duel. Returns the number of actions.
    """
    enemy = 1 - int64(state.mover)
    own, side = int64(state.hidden_set[enemy] - 1), packed.armies[enemy]
    total, chance = scratch.total, 0.0
    total[:] = 0.0
    count = int64(0)
    for step in range(side.n_kinds):
        kind = (own + 1 + step) % int64(side.n_kinds)
        if side.kind_chances[kind] > 0.0 and may_be_kind(packed, state, enemy, kind):
            deal_instead(packed, state, enemy, kind)
            look_ahead(packed, state, scratch.future)
            count = action_points(packed, state, most_spells, every_spell, scratch)
            chance += side.kind_chances[kind]
            for i in range(count):
                total[i] += side.kind_chances[kind] * scratch.points[i]
    for i in range(count):
        scratch.points[i] = total[i] / chance
    return count


@jit(forceinline=False)
def _choose(
    packed: PackedScenario,
    state: State,
    most_spells: int,
    every_spell: bool,
    every_set: bool,
    scratch: Scratch,
) -> int:
    """Return the engine code of the best action, or NONE if no duel represents the decision."""
    if every_set and is_set_hidden(state, 1 - int64(state.mover)):
        count = _points_of_sets(packed, state, most_spells, every_spell, scratch)
    else:
        look_ahead(packed, state, scratch.future)
        count = action_points(packed, state, most_spells, every_spell, scratch)
    legal, points = scratch.work[0].legal, scratch.points
    best = int64(NONE)
    for i in range(count):
        if not np.isnan(points[i]) and (best < 0 or points[i] > points[best] + _BETTER):
            best = int64(i)
    if best < 0:
        return int64(NONE)
    code = int64(legal[best])
    if state.node == Node.NOMINATE and has_units(packed):
        return _least_of(scratch.duel[0], legal, points, count, best)
    if state.node == Node.DISPEL and state.attempt == DispelAttempt.CAST and not state.declared:
        duel = scratch.duel[0]
        worth = worth_of(duel, duel.n_spells)
        if FIRST_DICE < code < FIRST_ITEM and worth >= _MATTERS * duel.greatest:
            for i in range(count):
                item = int64(legal[i]) - FIRST_ITEM
                if 0 <= item < ITEMS and packed.armies[state.mover].items[item].reroll_dispel:
                    return int64(legal[i])
    return code


@jit(nogil=True, forceinline=False)
def choose_all(
    positions: PositionArrays,
    most_spells: int,
    every_spell: bool,
    every_set: bool,
    scratch: Scratch,
    chosen: Actions,
    values: NDArray[np.float64],
) -> None:
    """Write the actions for decisions that a duel represents, leaving the others unchanged.

    If `values` is not empty, write values instead of actions. All positions must then belong to one
    battle and follow the first one; see `position_value`. A single entry point serves both uses, to
    reduce compile time.
    """
    if values.shape[0] > 0:
        first = positions.states[0]
        packed = positions.packed_scenarios[positions.scenario[0]]
        look_ahead(packed, first, scratch.future)
        for i in range(1, positions.states.shape[0]):
            state = positions.states[i]
            values[i] = position_value(packed, state, first.phase, most_spells, scratch)
        return
    for i in range(positions.states.shape[0]):
        state = positions.states[i]
        if is_decision(state.node) and state.mover == positions.seat:
            packed = positions.packed_scenarios[positions.scenario[i]]
            code = _choose(packed, state, most_spells, every_spell, every_set, scratch)
            if code >= 0:
                chosen[i] = positions.indices[code]


_NO_VALUES = np.zeros(0)  # empty `values` for `choose_all`: write actions


class PhaseSearchAgent(PositionAgent):
    """Solves this phase as a duel of its best spells, and later phases in the same way.

    Args:
        spells: maximum number of castable spells in the duel, 1 to `MOST_SPELLS` - 1.
        phases_ahead: maximum number of later phases to solve; 0 solves only the current one.
        later_spells: maximum number of castable spells in a later phase's duel.
        fade: discount per later phase of the casting army, in battles with units, because the duels
            ignore casualties and moves in between.
        every_set: whether to weigh all sets of hidden items that the enemy may have, by the deal's
            chances, instead of assuming the likeliest one.

    Raises:
        ValueError: if a number of spells or phases is out of range.
    """

    _called = "phase-search"

    def __init__(
        self,
        spells: int = DEFAULT_SPELLS,
        *,
        phases_ahead: int = 6,
        later_spells: int = 3,
        fade: float = 0.85,
        every_set: bool = False,
    ) -> None:
        if not 1 <= spells < MOST_SPELLS:
            raise ValueError(
                f"{self._called}: expected spells of 1 to {MOST_SPELLS - 1}, found {spells}"
            )
        if phases_ahead < 0:
            raise ValueError(
                f"{self._called}: expected 0 phases ahead or more, found {phases_ahead}"
            )
        self._spells, self._every_set = spells, every_set
        self._veteran = ScriptedAgent("veteran")
        lasting, free = np.zeros((2, ARMIES, SPELLS))
        terms = Terms(
            phases_ahead, min(spells, later_spells), fade, lasting, free, np.zeros(ARMIES)
        )
        self._scratch = new_scratch(terms)

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        self._veteran._choose(asked, actions)  # noqa: SLF001 (kept if no duel decides)
        choose_all(asked, self._spells, False, self._every_set, self._scratch, actions, _NO_VALUES)

    def action_values(self, battle: Battle) -> dict[int, float]:
        """Return the values of the legal actions at a decision for the first army.

        Returns:
            Points by engine code, for the actions that a duel represents. These are the points
            until the end of the phase, plus the value of unused resources in later phases.
        """
        scratch, asked, unused_actions = self._scratch, position_of(battle), np.zeros(1, np.int64)
        choose_all(asked, self._spells, True, self._every_set, scratch, unused_actions, _NO_VALUES)
        sign, legal = 1.0 if battle.mover == 0 else -1.0, battle.legal_actions()
        points = zip(legal, scratch.points[: len(legal)].tolist(), strict=True)
        return {code: sign * value for code, value in points if not np.isnan(value)}

    def least_first(self, asked: PositionArrays, row: int, points: NDArray[np.float64]) -> int:
        """Return a nomination's best action, or the least valuable spell that is nearly as good.

        Args:
            asked: positions.
            row: index of a nomination in a battle with units.
            points: values of the legal actions for the caster, in ascending order of codes.

        Returns:
            The action's engine code.
        """
        scratch, unused_actions = self._scratch, np.zeros(1, np.int64)
        one = asked._replace(
            states=asked.states[row : row + 1], scenario=asked.scenario[row : row + 1]
        )
        choose_all(one, self._spells, False, False, scratch, unused_actions, _NO_VALUES)
        legal, best = scratch.work[0].legal, int(points.argmax())
        return int(_least_of(scratch.duel[0], legal, points, len(points), best))

    def values_behind(self, positions: PositionArrays) -> NDArray[np.float64]:
        """Return the first army's future points at positions that follow the first one.

        Args:
            positions: positions in one battle, (k,). The first is a decision. The others follow it:
                decisions in the same phase that a duel represents, or the start of a later phase.
                The seat is ignored.

        Returns:
            Points until the end of the phase, plus the value of unused resources in later phases,
            float64 (k,); 0 for the first position.
        """
        values = np.zeros(len(positions.states))
        unused_actions = np.zeros(len(values), np.int64)
        choose_all(positions, self._spells, False, False, self._scratch, unused_actions, values)
        return values


class BeliefSearchAgent(PhaseSearchAgent):
    """Phase search that weighs all sets of hidden items that the enemy may have.

    Args:
        spells: maximum number of castable spells in the duel, 1 to `MOST_SPELLS` - 1.

    Raises:
        ValueError: if the number of spells is out of range.
    """

    _called = "belief-search"

    def __init__(self, spells: int = DEFAULT_SPELLS) -> None:
        super().__init__(spells, every_set=True)
