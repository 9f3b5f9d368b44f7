"""Positions that play alike: same choices, same chances, same points, whatever is left unsaid.

`key(state)` already leaves out what can no longer matter to anybody. Here goes what an onlooker
would still write down but no play can tell apart: in the last phase a Level 4 wizard with two
dice left casts like one of Level 1, and three wounds are like two if only one can still be lost.
The solver stores one position for all of them. Observations show them as they are, so whoever
asks what a policy of observations does must not merge.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.queries import caster_of, last_phase
from wfb_gym.engine.state import Attempt, Node, Record
from wfb_gym.scenario.packed import UNBOUNDED, Duration


@jit(forceinline=False)
def merge_alike(table: Record, state: Record) -> None:
    """Change the state to the one that stands for all that play like it.

    Nothing is merged before the last phase, nor where spells are aimed at units and characters.

    Args:
        table: the scenario.
        state: at a decision or a chance node; changed in place.
    """
    if table.targets or not last_phase(table, state):
        return
    army = int64(state.active)
    side = table.armies[army]
    dice = int64(state.power)
    for item in range(side.n_items):
        dice += int64(state.items[army, item]) * int64(side.items[item].cast_extra_dice)
    for wizard in range(side.n_wizards):
        dice += int64(state.own_dice[wizard])
    pending = int64(_miscast_pending(state))
    miscasts = pending + dice // 2  # it takes two dice to roll two 1s
    for wizard in range(side.n_wizards):
        entry = side.wizards[wizard]
        if entry.daemons or state.wounds[army, wizard] == 0:
            continue
        busy = pending or _casts(table, state, army, wizard)
        if busy or state.open & (entry.spells | entry.bound):
            if table.miscast_wounds != UNBOUNDED:
                most = miscasts * int64(table.miscast_wounds)
                if state.wounds[army, wizard] > most + 1:
                    state.wounds[army, wizard] = most + 1
            level = _level_enough(int64(table.miscast_levels), pending, dice)
            if level > 0 and state.level[army, wizard] > level:
                state.level[army, wizard] = level
        elif _idle(table, state, army, wizard):
            state.wounds[army, wizard] = 0
            state.level[army, wizard] = 0
            state.lock[army, wizard] = 0


@jit
def _miscast_pending(state: Record) -> bool:
    """Whether the cast under way may still miscast, or has, and its row is not done."""
    if state.row > 0 or state.attempt == Attempt.FREE:
        return True
    return bool(
        state.node == Node.ROLL_CASTING
        or state.node == Node.REROLL_CASTING
        or state.node == Node.KEEP_CASTING
        or state.node == Node.ROLL_MISCAST
    )


@jit
def _casts(table: Record, state: Record, army: int, wizard: int) -> bool:
    """Whether the spell under way is the wizard's, and he still matters to it."""
    if state.spell == 0 or caster_of(table, army, int64(state.spell - 1)) != wizard:
        return False
    instant = table.armies[army].spells[state.spell - 1].duration == Duration.INSTANT
    return not (instant and state.attempt == Attempt.CAST)


@jit
def _level_enough(lost: int, pending: int, dice: int) -> int:
    """The least level that caps no cast with these dice, whatever miscasts cost; 0 if unknown.

    After k more miscasts at least 2k dice are gone, and at most `lost` levels with each: up to
    two levels, the cap of the first cast is the tightest. The last level must stay while dice do.
    """
    if lost > 2:
        return 0
    caps_none = dice - 1 + lost * pending
    keeps_one = 1 + lost * (pending + max(0, dice - 1) // 2)
    return max(caps_none, keeps_one, int64(1))


@jit(forceinline=False)
def _idle(table: Record, state: Record, army: int, wizard: int) -> bool:
    """Whether nobody can tell if a wizard who casts no more is alive."""
    if table.wounds_others or state.own_dice[wizard] > 0:
        return False
    for item in range(table.armies[army].n_items):
        if table.armies[army].items[item].bearer == wizard and state.items[army, item] > 0:
            return False
    return not state.in_play[army] & table.armies[army].wizards[wizard].spells
