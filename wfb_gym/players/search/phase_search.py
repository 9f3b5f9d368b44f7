"""Phase search: a magic phase is solved exactly as a duel, and so is each one that is to come.

Each decision is made in a duel of plain worths (`wfb_gym.players.search.reduction`) that is solved
to its end (`wfb_gym.players.search.phase_duel`). What scrolls, items that help a cast and spells in
play will bring in later phases is worked out in duels too (`wfb_gym.players.search.future_phases`).

- An item that re-rolls dice to dispel is declared against what matters; other decisions outside of
  the duel (what to re-roll, which spell to swap, dice to keep) are the veteran's.
- In battles with units, of spells that are nearly as good to cast the one of least worth goes
  first: opponents who do not look ahead spend their dice on it.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding.positions import PositionArrays, position_of
from wfb_gym.engine.actions import (
    FIRST_CAST,
    FIRST_DICE,
    FIRST_IN_PLAY,
    FIRST_ITEM,
)
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import (
    DispelAttempt,
    Node,
    State,
)
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.baselines import ScriptedAgent
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.future_phases import has_units, look_ahead
from wfb_gym.players.search.phase_duel import MOST_SPELLS, NONE, Duel, worth_of
from wfb_gym.players.search.phase_values import (
    Scratch,
    action_points,
    new_scratch,
    position_value,
    slot_of,
)
from wfb_gym.players.search.reduction import Terms
from wfb_gym.scenario.sizes import ARMIES, ITEMS, SPELLS

DEFAULT_SPELLS = 6
_MATTERS = 0.6
"""Share of the greatest worth from which a spell is worth a re-roll."""
_NEARLY = 0.005
"""Share of the greatest worth by which casting a lesser spell first may seem worse."""
_BETTER = 1e-9
"""Points by which an action must be better to be preferred to one of a lower code."""


@jit(forceinline=False)
def _least_of(
    duel: Duel, legal: NDArray[np.int16], points: NDArray[np.float64], count: int, best: int
) -> int:
    """Return the code of the spell of least worth that is nearly as good to cast as the best.

    Args:
        duel: what is nominated in.
        legal: codes of the legal actions.
        points: of each, for the side that casts.
        count: of these.
        best: which of them is best; its own code is returned unless it is to cast a spell.
    """
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
def _choose(
    packed: PackedScenario,
    state: State,
    most_spells: int,
    every_spell: bool,
    terms: Terms,
    room: Scratch,
) -> int:
    """Return the engine code of the best action, or NONE where no duel tells."""
    look_ahead(packed, state, terms, room.ahead)
    count = action_points(packed, state, most_spells, every_spell, terms, room)
    legal, points = room.work[0].legal, room.points
    best = int64(NONE)
    for i in range(count):
        if not np.isnan(points[i]) and (best < 0 or points[i] > points[best] + _BETTER):
            best = int64(i)
    if best < 0:
        return int64(NONE)
    code = int64(legal[best])
    if state.node == Node.NOMINATE and has_units(packed):
        return _least_of(room.duel[0], legal, points, count, best)
    if state.node == Node.DISPEL and state.attempt == DispelAttempt.CAST and not state.declared:
        duel = room.duel[0]
        worth = worth_of(duel, int64(duel.n_spells))
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
    terms: Terms,
    room: Scratch,
    chosen: Actions,
    values: NDArray[np.float64],
) -> None:
    """Write the actions where a duel tells; leave the others alone.

    If there is room for `values` all positions are of one battle, the others behind the first, and
    these get values instead: see `position_value`. One compiled entry serves both.
    """
    if values.shape[0] > 0:
        first = positions.states[0]
        packed = positions.packed_scenarios[positions.scenario[0]]
        look_ahead(packed, first, terms, room.ahead)
        phase = int64(first.phase)
        for i in range(1, positions.states.shape[0]):
            state = positions.states[i]
            values[i] = position_value(packed, state, phase, most_spells, terms, room)
        return
    for i in range(positions.states.shape[0]):
        state = positions.states[i]
        if is_decision(state.node) and state.mover == positions.seat:
            packed = positions.packed_scenarios[positions.scenario[i]]
            code = _choose(packed, state, most_spells, every_spell, terms, room)
            if code >= 0:
                chosen[i] = positions.indices[code]


_NO_VALUES = np.zeros(0)
"""Room for none: actions are asked for."""


class PhaseSearchAgent(PositionAgent):
    """Solves the phase, reduced to a duel of its best spells, and those to come alike.

    Args:
        spells: that may still be cast in the duel, 1 to `MOST_SPELLS` - 1.
        phases_ahead: phases to come that are looked at, at most; 0 looks at this one alone.
        later_spells: that are looked at in each phase to come.
        fade: share of what scrolls and items bring later that counts, for each phase of the army
            that casts, in battles with units: casualties and moves in between are left out.

    Raises:
        ValueError: spells or phases out of bounds.
    """

    _called = "phase-search"

    def __init__(
        self,
        spells: int = DEFAULT_SPELLS,
        *,
        phases_ahead: int = 6,
        later_spells: int = 3,
        fade: float = 0.85,
    ) -> None:
        if not 1 <= spells < MOST_SPELLS:
            raise ValueError(
                f"phase-search: expected spells of 1 to {MOST_SPELLS - 1}, found {spells}"
            )
        if phases_ahead < 0:
            raise ValueError(f"phase-search: expected 0 phases ahead or more, found {phases_ahead}")
        self._spells = spells
        self._veteran = ScriptedAgent("veteran")
        self._room = new_scratch()
        self._terms = Terms(
            phases_ahead,
            min(spells, later_spells),
            fade,
            self._room.ahead.lasting,
            np.zeros((ARMIES, SPELLS)),
            np.zeros(ARMIES),
        )

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        self._veteran._choose(asked, actions)  # noqa: SLF001 (where no duel decides)
        choose_all(asked, self._spells, False, self._terms, self._room, actions, _NO_VALUES)

    def action_values(self, battle: Battle) -> dict[int, float]:
        """Return what the legal actions of a decision bring the first army.

        Returns:
            By engine code, of those actions that a duel knows: points to the end of the phase,
            and of what they keep for later ones.
        """
        room, asked, nothing = self._room, position_of(battle), np.zeros(1, np.int64)
        choose_all(asked, self._spells, True, self._terms, room, nothing, _NO_VALUES)
        sign, legal = 1.0 if battle.mover == 0 else -1.0, battle.legal_actions()
        points = zip(legal, room.points[: len(legal)].tolist(), strict=True)
        return {code: sign * value for code, value in points if not np.isnan(value)}

    def least_first(self, asked: PositionArrays, row: int, points: NDArray[np.float64]) -> int:
        """Return the action of a nomination where of spells nearly as good the least goes first.

        Args:
            asked: positions.
            row: which of them; somebody nominates there, in a battle with units.
            points: of the legal actions by ascending code, for the side that casts.

        Returns:
            The engine code of the best action, or of a lesser spell.
        """
        room, nothing = self._room, np.zeros(1, np.int64)
        one = asked._replace(
            states=asked.states[row : row + 1], scenario=asked.scenario[row : row + 1]
        )
        choose_all(one, self._spells, False, self._terms, room, nothing, _NO_VALUES)
        legal, best = room.work[0].legal, int(points.argmax())
        return int(_least_of(room.duel[0], legal, points, len(points), best))

    def values_behind(self, positions: PositionArrays) -> NDArray[np.float64]:
        """Return points still to come for the first army at positions behind the first one.

        Args:
            positions: of one battle, (k,). The first is a decision; the others follow it in its
                phase, at decisions that a duel knows, or begin a later one. The seat does not
                matter.

        Returns:
            Float64 (k,), 0 for the first: to the end of its phase, and of what is kept beyond.
        """
        values = np.zeros(len(positions.states))
        nothing = np.zeros(len(values), np.int64)
        choose_all(positions, self._spells, False, self._terms, self._room, nothing, values)
        return values
