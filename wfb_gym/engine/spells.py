"""Spells take effect, stay in play and end; items are used.

Whom they strike and wound is told in `strikes` and `casualties`.

Each function changes the state and returns the points that changed hands, as the first army
sees them, where any can.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.queries import bit, caster_of, gain, without
from wfb_gym.engine.state import Node, Record
from wfb_gym.engine.targets import army_of, index_of, mark_bit
from wfb_gym.scenario.packed import MARKS_PER_WORD, SPELLS, UNITS, Duration


@jit
def take_effect(table: Record, state: Record, army: int, spell: int, aim: int, back: int) -> float:
    """The army's spell works: its worth is paid, and it stays in play if it lasts (S4).

    A spell with somebody to strike leaves the state at `Node.STRIKES`; any other leaves the
    node to the caller.

    Args:
        table: the scenario.
        state: changed in place.
        army: the spell's owner.
        spell: what works.
        aim: 1 + which of its aims; 0 for a spell of fixed worth.
        back: member of `Back`, where to go on when all are struck.
    """
    entry = table.armies[army].spells[spell]
    if entry.duration != Duration.INSTANT:
        state.in_play[army] |= bit(spell)
        state.fresh[army] |= bit(spell)
    if aim == 0:
        return gain(army, entry.worth)
    return _take_aimed_effect(table, state, army, spell, aim - 1, back)


@jit(forceinline=False)
def _take_aimed_effect(
    table: Record, state: Record, army: int, spell: int, aim: int, back: int
) -> float:
    entry = table.armies[army].spells[spell]
    way = table.armies[army].aims[entry.first_aim + aim]
    points = gain(army, way.worth)
    if entry.mark:
        mark = int64(entry.mark - 1)
        bits = mark_bit(mark, index_of(int64(way.target)))
        state.marked[army, mark // MARKS_PER_WORD] |= bits
    if entry.heals and way.target != 0:
        points += _heal(table, state, int64(way.target), army)
    if entry.duration != Duration.INSTANT:
        state.aims[army, spell] = aim + 1
    if entry.duration == Duration.DELAYED:
        state.markers[army, entry.wizard] = 1
    elif way.n_strikes:
        state.striking = army * SPELLS + spell + 1
        state.strike = 0
        state.radius = 0
        state.back = back
        state.node = Node.STRIKES
    return points


@jit(forceinline=False)
def _heal(table: Record, state: Record, code: int, owner: int) -> float:
    """All lost wounds of a model come back (Healing Hand), and with them their points."""
    army = army_of(owner, code)
    index = index_of(code)
    if index < UNITS:
        each = int(table.armies[army].units[index].wounds)
        left = int(state.unit_wounds[army, index])
        state.unit_wounds[army, index] = (left + each - 1) // each * each
        return 0.0
    wizard = table.armies[army].wizards[index - UNITS]
    lost = int(wizard.wounds) - int(state.wounds[army, index - UNITS])
    if lost <= 0:
        return 0.0
    state.wounds[army, index - UNITS] = wizard.wounds
    return gain(army, lost * wizard.points_per_wound)


@jit
def end_spells(table: Record, state: Record, army: int, mask: int) -> None:
    """Spells of the army leave play."""
    state.in_play[army] = without(state.in_play[army], mask)
    state.fresh[army] = without(state.fresh[army], mask)
    state.tried[army] = without(state.tried[army], mask)
    if table.targets:
        _forget_aims(table, state, army, mask)


@jit(forceinline=False)
def _forget_aims(table: Record, state: Record, army: int, mask: int) -> None:
    """Where the ended spells were aimed matters no more."""
    for spell in range(table.armies[army].n_spells):
        if mask & bit(spell) and state.aims[army, spell]:
            state.aims[army, spell] = 0
            if table.armies[army].spells[spell].duration == Duration.DELAYED:
                state.markers[army, table.armies[army].spells[spell].wizard] = 0


@jit(forceinline=False)
def end_spells_at(table: Record, state: Record, army: int, index: int) -> None:
    """A target is gone: what was in play on it ends."""
    for owner in range(2):
        if not state.in_play[owner]:
            continue
        for spell in range(table.armies[owner].n_spells):
            aim = int64(state.aims[owner, spell])
            entry = table.armies[owner].spells[spell]
            if aim == 0 or entry.duration == Duration.DELAYED:
                continue
            code = int64(table.armies[owner].aims[entry.first_aim + aim - 1].target)
            if code != 0 and army_of(owner, code) == army and index_of(code) == index:
                end_spells(table, state, owner, bit(spell))


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
            end_spells(table, state, army, bit(spell))


@jit(forceinline=False)
def end_with_caster(table: Record, state: Record, army: int, wizard: int) -> None:
    """The wizard is gone: what he kept in play ends, unless the spell says otherwise."""
    each = table.armies[army].wizards[wizard]
    mask = (each.spells | each.bound) & state.in_play[army]
    if mask:
        for spell in range(table.armies[army].n_spells):
            entry = table.armies[army].spells[spell]
            lasting = entry.duration == Duration.REMAINS_IN_PLAY and not entry.survives_caster
            if lasting and mask & bit(spell):
                end_spells(table, state, army, bit(spell))


@jit(forceinline=False)
def end_one_turn(table: Record, state: Record, army: int) -> None:
    """Spells that last one turn end when their owner's next phase starts (ours)."""
    if state.in_play[army]:
        for spell in range(table.armies[army].n_spells):
            if table.armies[army].spells[spell].duration == Duration.ONE_TURN:
                end_spells(table, state, army, bit(spell))


@jit
def close_spells(table: Record, state: Record, wizard: int) -> None:
    """A wizard of the active army casts nothing more this phase."""
    state.open = without(state.open, table.armies[state.active].wizards[wizard].spells)


@jit
def close_bound(table: Record, state: Record, wizard: int) -> None:
    """A character of the active army uses no bound spell any more this phase."""
    state.open = without(state.open, table.armies[state.active].wizards[wizard].bound)


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
