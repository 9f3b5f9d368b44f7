"""Miscasts: the row that 2D6 chose, its effects in order, and the opponent's free spell.

The rows are data (`wfb_gym/data/miscasts`); this module plays the primitives they are made of.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import actions as _actions
from wfb_gym.engine.phases import clear_roll, to_in_play, to_nominate
from wfb_gym.engine.queries import bit, caster_of, gain, other, without
from wfb_gym.engine.spells import (
    caster,
    close_spells,
    end_remaining,
    end_spells,
    remove_wizard,
    take_effect,
    wound_wizard,
)
from wfb_gym.engine.state import BARS_ITEMS, After, Attempt, Node, Record
from wfb_gym.rules.wounds import wounding_rolls
from wfb_gym.scenario.packed import EffectKind, Whose

PASS = _actions.PASS
FIRST_CAST = _actions.FIRST_CAST


@jit
def resolve_miscast(table: Record, state: Record, row: int) -> None:
    """The dice chose a row of the table."""
    state.row = row + 1
    state.cursor = 0
    state.node = Node.MISCAST_EFFECTS


@jit
def current_effect(table: Record, state: Record) -> Record:
    """The effect of the row that is under way."""
    return table.effects[table.miscast_rows[state.row - 1].first + state.cursor]


@jit(forceinline=False)
def run_effects(table: Record, state: Record) -> float:
    """Play effects until dice or the opponent must decide, or the row is done."""
    points = 0.0
    while state.cursor < table.miscast_rows[state.row - 1].count:
        kind = current_effect(table, state).kind
        if kind == EffectKind.CASTER_HIT:
            if state.wounds[state.active, caster(table, state)] > 0:
                state.node = Node.ROLL_HIT
                return points
        elif kind == EffectKind.BASE_CONTACT_HIT:
            if _next_group(table, state):
                state.node = Node.ROLL_HIT
                return points
        elif kind == EffectKind.FREE_SPELL:
            state.mover = other(state.active)
            state.node = Node.FREE_SPELL
            return points
        else:
            points += _apply(table, state)
        state.cursor += 1
    _leave_row(table, state)
    return points


@jit
def _leave_row(table: Record, state: Record) -> None:
    if state.after == After.PHASE_END:
        state.node = Node.END_PHASE
    elif state.after == After.IN_PLAY:
        to_in_play(table, state)
    else:
        to_nominate(table, state)


@jit(forceinline=False)
def _apply(table: Record, state: Record) -> float:
    """One effect that needs no dice and nobody's choice."""
    effect = current_effect(table, state)
    army = int64(state.active)
    wizard = caster(table, state)
    kind = effect.kind
    if kind == EffectKind.POINTS_LOST:
        return gain(other(army), effect.points)
    if kind == EffectKind.CASTER_REMOVED:
        return remove_wizard(table, state, army, wizard)
    if kind == EffectKind.SPELL_SUCCEEDS:
        return take_effect(table, state, army, state.spell - 1)
    if kind == EffectKind.LOCKED:
        _lock(table, state, wizard)
    elif kind == EffectKind.DICE_LOST:
        _lose_dice(table, state, wizard, effect.whose)
    elif kind == EffectKind.STORED_DICE_LOST:
        for item in range(table.armies[army].n_items):
            if table.armies[army].items[item].stores_dice:
                state.items[army, item] = 0
    elif kind == EffectKind.CASTING_ENDS:
        if state.after != After.PHASE_END:
            state.after = After.IN_PLAY
    elif kind == EffectKind.PHASE_ENDS:
        state.after = After.PHASE_END
    elif kind == EffectKind.IN_PLAY_ENDS:
        if effect.whose == Whose.CASTER:
            end_remaining(table, state, army, wizard)
        else:
            end_spells(state, 0, state.in_play[0])
            end_spells(state, 1, state.in_play[1])
    elif kind == EffectKind.SPELL_FORGOTTEN:
        state.known[army] = without(state.known[army], bit(state.spell - 1))
    elif kind == EffectKind.LEVEL_LOST:
        if state.level[army, wizard] > 0:
            state.level[army, wizard] -= 1
        if state.level[army, wizard] == 0:
            close_spells(table, state, wizard)
    return 0.0


@jit
def _lock(table: Record, state: Record, wizard: int) -> None:
    army = int64(state.active)
    if state.wounds[army, wizard] == 0:
        return
    effect = current_effect(table, state)
    state.lock[army, wizard] = effect.until + (BARS_ITEMS if effect.bars_items else 0)
    close_spells(table, state, wizard)


@jit
def _lose_dice(table: Record, state: Record, wizard: int, whose: int) -> None:
    """Power dice are lost: the caster's own, or all of his side's."""
    if whose == Whose.CASTER:
        state.own_dice[wizard] = 0
        return
    state.power = 0
    for each in range(table.armies[state.active].n_wizards):
        state.own_dice[each] = 0


@jit(forceinline=False)
def _next_group(table: Record, state: Record) -> bool:
    """Move `group` to the next models in base contact with the caster; whether any is left."""
    wizard = caster(table, state)
    while state.group < table.n_contacts:
        contact = table.contacts[state.group]
        touches = contact.army == state.active and contact.wizard == wizard
        if touches and state.contacts[state.group] > 0:
            return True
        state.group += 1
    state.group = 0
    return False


@jit
def hit_models(table: Record, state: Record) -> int:
    """Models that take one hit each in the pending roll."""
    if current_effect(table, state).kind == EffectKind.CASTER_HIT:
        return 1
    return int(state.contacts[state.group])


@jit(forceinline=False)
def hit_profile(table: Record, state: Record) -> tuple[int, int, int]:
    """Toughness, armour save and ward save of the models hit."""
    if current_effect(table, state).kind == EffectKind.CASTER_HIT:
        wizard = table.armies[state.active].wizards[caster(table, state)]
        return int(wizard.toughness), int(wizard.armour_save), int(wizard.ward_save)
    contact = table.contacts[state.group]
    return int(contact.toughness), int(contact.armour_save), int(contact.ward_save)


@jit(forceinline=False)
def hit_chance(table: Record, state: Record) -> float:
    """Chance that one of the pending hits takes a wound."""
    effect = current_effect(table, state)
    toughness, armour, ward = hit_profile(table, state)
    allowed = effect.armour_save != 0
    return wounding_rolls(int(effect.strength), toughness, armour, ward, allowed) / 216.0


@jit(forceinline=False)
def resolve_hit(table: Record, state: Record, wounds: int) -> float:
    """So many of the models hit are wounded."""
    army = int64(state.active)
    points = 0.0
    if current_effect(table, state).kind == EffectKind.CASTER_HIT:
        if wounds:
            points = wound_wizard(table, state, army, caster(table, state))
        state.cursor += 1
    else:
        contact = table.contacts[state.group]
        state.contacts[state.group] -= wounds
        points = gain(other(int64(contact.owner)), wounds * contact.points)
        state.group += 1
    state.node = Node.MISCAST_EFFECTS
    return points


@jit(forceinline=False)
def act_free_spell(table: Record, state: Record, action: int) -> None:
    """The opponent declines, or casts a spell of his own at once; it needs no roll."""
    if action == PASS:
        after_free_spell(state)
        return
    army = other(state.active)
    spell = action - FIRST_CAST
    end_remaining(table, state, army, caster_of(table, army, spell))
    state.free = spell + 1
    state.number = table.armies[army].spells[spell].casting_value
    state.attempt = Attempt.FREE
    state.mover = state.active
    state.node = Node.DISPEL


@jit
def after_free_spell(state: Record) -> None:
    """The row goes on behind the free spell."""
    clear_roll(state)
    state.free = 0
    state.cursor += 1
    state.mover = state.active
    state.node = Node.MISCAST_EFFECTS


@jit(forceinline=False)
def row_cost(table: Record, army: int, wizard: int, row: int) -> float:
    """Expected points that a row costs the army of the wizard who miscast, unhurt before.

    A measure for observations and for players: hits and removals are counted apart.
    """
    cost = 0.0
    entry = table.armies[army].wizards[wizard]
    first = table.miscast_rows[row].first
    for k in range(table.miscast_rows[row].count):
        effect = table.effects[first + k]
        allowed = effect.armour_save != 0
        strength = int(effect.strength)
        if effect.kind == EffectKind.POINTS_LOST:
            cost += effect.points
        elif effect.kind == EffectKind.CASTER_REMOVED:
            cost += entry.points_per_wound * entry.wounds
        elif effect.kind == EffectKind.CASTER_HIT:
            rolls = wounding_rolls(
                strength,
                int(entry.toughness),
                int(entry.armour_save),
                int(entry.ward_save),
                allowed,
            )
            cost += rolls / 216.0 * entry.points_per_wound
        elif effect.kind == EffectKind.BASE_CONTACT_HIT:
            for group in range(table.n_contacts):
                contact = table.contacts[group]
                if contact.army != army or contact.wizard != wizard:
                    continue
                rolls = wounding_rolls(
                    strength,
                    int(contact.toughness),
                    int(contact.armour_save),
                    int(contact.ward_save),
                    allowed,
                )
                loss = rolls / 216.0 * contact.models * contact.points
                cost += loss if contact.owner == army else -loss
    return cost


@jit(forceinline=False)
def row_stops(table: Record, row: int) -> bool:
    """Whether a row stops the wizard, or his whole side, from casting on."""
    first = table.miscast_rows[row].first
    for k in range(table.miscast_rows[row].count):
        kind = table.effects[first + k].kind
        if (
            kind == EffectKind.LOCKED
            or kind == EffectKind.CASTING_ENDS
            or kind == EffectKind.PHASE_ENDS
            or kind == EffectKind.CASTER_REMOVED
        ):
            return True
    return False
