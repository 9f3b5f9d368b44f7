"""Positions that play alike: same choices, same chances, same points, whatever is left unsaid.

`key(state)` already leaves out what can no longer matter to anybody. Here goes what an onlooker
would still write down but no play can tell apart: in the last phase a Level 4 wizard with two
dice left casts like one of Level 1, and three wounds are like two if only one can still be lost.
The solver stores one position for all of them. Observations show them as they are, so whoever
asks what a policy of observations does must not merge.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.effects import (
    COSTS_CASTER_WOUNDS,
    COSTS_LEVEL,
    COSTS_OTHER_WIZARDS_WOUNDS,
)
from wfb_gym.engine.queries import caster_of, last_phase
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.packing.records import UNBOUNDED, Duration, PackedScenario


@jit(forceinline=False)
def canonicalise(packed: PackedScenario, state: State) -> None:
    """Change the state to the one that stands for all that play like it.

    What follows the one that stands for others stands for what follows them: whoever has the
    values of the merged positions finds all that a battle can come to among them.

    Nothing is merged before the last phase or before its dice are there, nor where spells are
    aimed at units and characters.

    Args:
        packed: the scenario.
        state: at a decision or a chance node; changed in place.
    """
    if packed.targets or not last_phase(packed, state) or _before_dice(state):
        return
    army = int64(state.active)
    side = packed.armies[army]
    dice = int64(state.power)
    for item in range(side.n_items):
        dice += int64(state.items[army, item]) * int64(side.items[item].cast_extra_dice)
    for wizard in range(side.n_wizards):
        dice += int64(state.own_dice[wizard])
    miscasts = dice // 2  # it takes two dice to roll two 1s
    pending = _may_miscast(state) or state.row > 0
    for wizard in range(side.n_wizards):
        entry = side.wizards[wizard]
        if entry.daemons or state.wounds[army, wizard] == 0:
            continue
        if not (
            state.open & (entry.spells | entry.bound) or _casts(packed, state, army, wizard)
        ) and _idle(packed, state, army, wizard):
            state.wounds[army, wizard] = 0
            state.level[army, wizard] = 0
            state.lock[army, wizard] = 0
            continue
        if packed.miscast_wounds != UNBOUNDED:
            most = miscasts * int64(packed.miscast_wounds)
            if pending:
                most += _wounds_to_come(packed, state, wizard)
            if state.wounds[army, wizard] > most + 1:
                state.wounds[army, wizard] = most + 1
        lost = int64(packed.miscast_levels)
        if lost <= 2:
            coming = _levels_to_come(packed, state) if pending else int64(0)
            # The least level that caps no cast and is not used up while dice are left. After k
            # more miscasts 2k dice are gone: up to two levels each, the first cap is tightest.
            level = max(dice - 1 + coming, 1 + coming + lost * miscasts)
            if state.level[army, wizard] > level:
                state.level[army, wizard] = level


_BEFORE_DICE = (
    Node.ROLL_LOCK,
    Node.ROLL_STORED,
    Node.ROLL_SPELLS,
    Node.SWAP_SPELL,
    Node.ROLL_COMET,
    Node.ROLL_RADIUS,
    Node.ROLL_STRIKE,  # a Comet's
)
_WITH_DICE = (
    Node.NOMINATE,
    Node.ITEM,
    Node.RESERVE_DICE,
    Node.POOL_DICE,
    Node.KEEP_CASTING,
    Node.DISPEL,
    Node.DISPEL_RESERVE,
    Node.DISPEL_POOL,
    Node.KEEP_DISPEL,
    Node.FREE_SPELL,
    Node.IN_PLAY,
    Node.TARGET,
    Node.STORE_DICE,
    Node.ROLL_CASTING,
    Node.REROLL_CASTING,
    Node.ROLL_DISPEL,
    Node.REROLL_DISPEL,
    Node.ROLL_MISCAST,
    Node.ROLL_HIT,
    Node.ROLL_WOUNDS,
    Node.ROLL_FORGET,
    Node.END,
)


@jit
def _before_dice(state: State) -> bool:
    """Whether the phase's dice are still to come, and what wizards are decides how many."""
    if state.node in _WITH_DICE:
        return False
    if state.node in _BEFORE_DICE:
        return True
    raise AssertionError("whether dice are there at this node is undefined")


@jit
def _may_miscast(state: State) -> bool:
    """Whether the cast under way may still miscast, or has, and its row is not known yet."""
    if state.node == Node.ROLL_MISCAST:
        return True
    if state.attempt != DispelAttempt.NONE or not (
        state.node == Node.ROLL_CASTING
        or state.node == Node.REROLL_CASTING
        or state.node == Node.KEEP_CASTING
    ):
        return False
    dice = int64(state.dice)
    for face in range(6):
        dice += int64(state.faces[face]) + int64(state.held[face])
    return dice >= 2


@jit(forceinline=False)
def _wounds_to_come(packed: PackedScenario, state: State, wizard: int) -> int:
    """Most wounds that the miscast under way may still cost a wizard."""
    if _may_miscast(state):
        return int64(packed.miscast_wounds)
    most = int64(0)
    if state.row > 0:
        row = packed.miscast_rows[state.row - 1]
        for k in range(int64(state.cursor), row.count):
            effect = packed.effects[row.first + k]
            wounds = max(int64(1), int64(effect.dice_faces))
            if COSTS_CASTER_WOUNDS[effect.kind]:
                most += wounds
            elif COSTS_OTHER_WIZARDS_WOUNDS[effect.kind]:
                if k > state.cursor or wizard >= state.group:
                    most += wounds
    return min(most, int64(packed.miscast_wounds))


@jit(forceinline=False)
def _levels_to_come(packed: PackedScenario, state: State) -> int:
    """Most levels that the miscast under way may still cost its caster."""
    if _may_miscast(state):
        return int64(packed.miscast_levels)
    most = int64(0)
    if state.row > 0:
        row = packed.miscast_rows[state.row - 1]
        for k in range(int64(state.cursor), row.count):
            most += COSTS_LEVEL[packed.effects[row.first + k].kind]
    return most


@jit
def _casts(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Whether the spell under way is the wizard's, and he still matters to it."""
    if state.spell == 0 or caster_of(packed, army, int64(state.spell - 1)) != wizard:
        return False
    instant = packed.armies[army].spells[state.spell - 1].duration == Duration.INSTANT
    return not (instant and state.attempt == DispelAttempt.CAST)


@jit(forceinline=False)
def _idle(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Whether nobody can tell if a wizard who casts no more is alive."""
    if packed.wounds_others or state.own_dice[wizard] > 0:
        return False
    for item in range(packed.armies[army].n_items):
        entry = packed.armies[army].items[item]
        if entry.bearer == wizard and (state.items[army, item] > 0 or entry.dispel_bonus != 0):
            return False
    return not state.in_play[army] & packed.armies[army].wizards[wizard].spells
