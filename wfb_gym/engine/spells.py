"""Spells take effect, stay in play and end; wizards are wounded and die.

Each function changes the state and returns the points that changed hands, as the first army
sees them, where any can.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.queries import bit, caster_of, gain, other, without
from wfb_gym.engine.state import Record
from wfb_gym.scenario.packed import Duration, Lock


@jit
def take_effect(table: Record, state: Record, army: int, spell: int) -> float:
    """The army's spell works: its worth is paid, and it stays in play if it lasts (S4)."""
    entry = table.armies[army].spells[spell]
    if entry.duration != Duration.INSTANT:
        state.in_play[army] |= bit(spell)
        state.fresh[army] |= bit(spell)
    return gain(army, entry.worth)


@jit
def end_spells(state: Record, army: int, mask: int) -> None:
    """Spells of the army leave play."""
    state.in_play[army] = without(state.in_play[army], mask)
    state.fresh[army] = without(state.fresh[army], mask)
    state.tried[army] = without(state.tried[army], mask)


@jit
def end_remaining(table: Record, state: Record, army: int, wizard: int) -> None:
    """What the wizard keeps in play ends: he attempts another, or uses such an item."""
    mask = table.armies[army].wizards[wizard].spells & state.in_play[army]
    if mask:
        _end_remaining(table, state, army, mask)


@jit(forceinline=False)
def _end_remaining(table: Record, state: Record, army: int, mask: int) -> None:
    """Spells of the mask that remain in play end."""
    for spell in range(table.armies[army].n_spells):
        lasting = table.armies[army].spells[spell].duration == Duration.REMAINS_IN_PLAY
        if lasting and mask & bit(spell):
            end_spells(state, army, bit(spell))


@jit(forceinline=False)
def end_with_caster(table: Record, state: Record, army: int, wizard: int) -> None:
    """The wizard is gone: what he kept in play ends, unless the spell says otherwise."""
    mask = table.armies[army].wizards[wizard].spells & state.in_play[army]
    if mask:
        for spell in range(table.armies[army].n_spells):
            entry = table.armies[army].spells[spell]
            lasting = entry.duration == Duration.REMAINS_IN_PLAY and not entry.survives_caster
            if lasting and mask & bit(spell):
                end_spells(state, army, bit(spell))


@jit(forceinline=False)
def end_one_turn(table: Record, state: Record, army: int) -> None:
    """Spells that last one turn end when their owner's next phase starts (ours)."""
    if state.in_play[army]:
        for spell in range(table.armies[army].n_spells):
            if table.armies[army].spells[spell].duration == Duration.ONE_TURN:
                end_spells(state, army, bit(spell))


@jit
def close_spells(table: Record, state: Record, wizard: int) -> None:
    """A wizard of the active army attempts nothing more this phase."""
    state.open = without(state.open, table.armies[state.active].wizards[wizard].spells)


@jit(forceinline=False)
def remove_wizard(table: Record, state: Record, army: int, wizard: int) -> float:
    """The wizard dies; his remaining wounds count in proportion to his points (ours)."""
    left = int(state.wounds[army, wizard])
    if left == 0:
        return 0.0
    state.wounds[army, wizard] = 0
    state.level[army, wizard] = 0
    state.lock[army, wizard] = Lock.NONE
    end_with_caster(table, state, army, wizard)
    for item in range(table.armies[army].n_items):
        if table.armies[army].items[item].bearer == wizard:
            state.items[army, item] = 0
    if army == state.active:
        state.own_dice[wizard] = 0
        close_spells(table, state, wizard)
    return gain(other(army), left * table.armies[army].wizards[wizard].points_per_wound)


@jit(forceinline=False)
def wound_wizard(table: Record, state: Record, army: int, wizard: int) -> float:
    """The wizard loses one wound."""
    if state.wounds[army, wizard] <= 1:
        return remove_wizard(table, state, army, wizard)
    state.wounds[army, wizard] -= 1
    return gain(other(army), table.armies[army].wizards[wizard].points_per_wound)


@jit
def use_item(table: Record, state: Record, army: int, item: int) -> None:
    """One use of the item is spent; it may end what its user keeps in play."""
    state.items[army, item] -= 1
    entry = table.armies[army].items[item]
    if entry.ends_own_spells and entry.bearer >= 0:
        end_remaining(table, state, army, entry.bearer)


@jit
def caster(table: Record, state: Record) -> int:
    """The wizard of the spell being cast."""
    return caster_of(table, int64(state.active), state.spell - 1)
