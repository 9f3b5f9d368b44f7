"""Miscasts: the row that 2D6 chose, its effects in order, and the opponent's free spell.

The rows are data (`wfb_gym/data/miscasts`); this module plays the primitives they are made of.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import actions as _actions
from wfb_gym.engine.casualties import remove_wizard, wound_unit, wound_wizard
from wfb_gym.engine.phases import clear_roll, leave_phase, to_in_play, to_nominate
from wfb_gym.engine.queries import bit, caster_of, gain, other, without
from wfb_gym.engine.spells import (
    caster,
    close_bound,
    close_spells,
    end_remaining,
    end_spells,
    take_effect,
)
from wfb_gym.engine.state import BARS_ITEMS, After, Attempt, Back, Node, Record
from wfb_gym.engine.targets import models_left
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
    if state.aim and not row_casts(table, row):
        state.aim = 0  # where the spell that failed was aimed matters no more


@jit(forceinline=False)
def row_casts(table: Record, row: int) -> bool:
    """Whether the row lets the spell work after all."""
    first = table.miscast_rows[row].first
    for k in range(table.miscast_rows[row].count):
        if table.effects[first + k].kind == EffectKind.SPELL_SUCCEEDS:
            return True
    return False


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
        elif kind == EffectKind.CASTER_HITS or kind == EffectKind.CASTER_WOUNDS:
            if state.wounds[state.active, caster(table, state)] > 0:
                state.node = Node.ROLL_WOUNDS
                return points
        elif kind == EffectKind.OTHER_WIZARDS_WOUNDS:
            if _next_wizard(table, state):
                state.node = Node.ROLL_WOUNDS
                return points
        elif kind == EffectKind.SPELL_SUCCEEDS:
            points += take_effect(
                table, state, state.active, state.spell - 1, state.aim, Back.MISCAST_ROW.value
            )
            if state.striking:
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
        leave_phase(table, state)
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
        return _remove_caster(table, state, army, wizard)
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
            end_spells(table, state, 0, state.in_play[0])
            end_spells(table, state, 1, state.in_play[1])
    elif kind == EffectKind.SPELL_FORGOTTEN:
        forgotten = bit(state.spell - 1)
        if effect.whose == Whose.SIDE:
            namesakes = int64(table.armies[army].spells[state.spell - 1].namesakes)
            forgotten = without(namesakes, table.armies[army].bound)
        state.known[army] = without(state.known[army], forgotten)
        state.open = without(state.open, forgotten)
    elif kind == EffectKind.LEVEL_LOST:
        if state.level[army, wizard] > 0:
            state.level[army, wizard] -= 1
        if state.level[army, wizard] == 0:
            close_spells(table, state, wizard)
    return 0.0


@jit(forceinline=False)
def _remove_caster(table: Record, state: Record, army: int, wizard: int) -> float:
    """The caster is gone for good; of a unit of Daemons it is the focal model (ours)."""
    entry = table.armies[army].wizards[wizard]
    if not entry.daemons:
        return float(remove_wizard(table, state, army, wizard))
    unit = int64(entry.unit - 1)
    left = int(state.unit_wounds[army, unit])
    each = int(table.armies[army].units[unit].wounds)
    return float(wound_unit(table, state, army, unit, left - (left - 1) // each * each))


@jit
def _lock(table: Record, state: Record, wizard: int) -> None:
    army = int64(state.active)
    if state.wounds[army, wizard] == 0:
        return
    effect = current_effect(table, state)
    state.lock[army, wizard] = effect.until + (BARS_ITEMS if effect.bars_items else 0)
    close_spells(table, state, wizard)
    if effect.bars_items:
        close_bound(table, state, wizard)


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
        if touches and _models_touching(table, state) > 0:
            return True
        state.group += 1
    state.group = 0
    return False


@jit
def _models_touching(table: Record, state: Record) -> int:
    """Models of the group under way; a unit fills its gaps while it has models."""
    contact = table.contacts[state.group]
    models = int(state.contacts[state.group])
    if contact.unit == 0:
        return models
    return min(models, models_left(table, state, int64(contact.owner), int64(contact.unit - 1)))


@jit(forceinline=False)
def _next_wizard(table: Record, state: Record) -> bool:
    """Move `group` to the next other wizard of the army who lives; whether any is left."""
    army = int64(state.active)
    while state.group < table.armies[army].n_wizards:
        if state.group != caster(table, state) and table.armies[army].wizards[state.group].level:
            if state.wounds[army, state.group] > 0:
                return True
        state.group += 1
    state.group = 0
    return False


@jit
def wounded_wizard(table: Record, state: Record) -> int:
    """The wizard whom the pending wounds are rolled for."""
    if current_effect(table, state).kind == EffectKind.OTHER_WIZARDS_WOUNDS:
        return int64(state.group)
    return caster(table, state)


@jit(forceinline=False)
def most_wounds(table: Record, state: Record) -> int:
    """Most wounds that the wizard at `Node.ROLL_WOUNDS` can take: what is left of him."""
    army = int64(state.active)
    wizard = wounded_wizard(table, state)
    entry = table.armies[army].wizards[wizard]
    left = int64(state.wounds[army, wizard])
    if entry.daemons:
        left = int64(state.unit_wounds[army, entry.unit - 1])
    return min(left, int64(current_effect(table, state).dice_faces))


@jit(forceinline=False)
def wounds_law(table: Record, state: Record, work: Record) -> int:
    """Chances of 0, 1, 2 ... wounds for the wizard at `Node.ROLL_WOUNDS`.

    So many hits, or wounds outright, as a D3 or D6 shows. Arguments and result as for
    `wfb_gym.engine.strikes.strike_law`.
    """
    effect = current_effect(table, state)
    faces = int(effect.dice_faces)
    chance = 1.0
    if effect.kind == EffectKind.CASTER_HITS:
        chance = hit_chance(table, state)
    most = most_wounds(table, state)
    for k in range(most + 1):
        work.law[k] = 0.0
    for hits in range(1, faces + 1):
        ways = 1.0
        for k in range(hits + 1):
            work.law[min(k, most)] += ways * chance**k * (1.0 - chance) ** (hits - k) / faces
            ways = ways * (hits - k) / (k + 1)
    return most + 1


@jit(forceinline=False)
def resolve_wounds(table: Record, state: Record, wounds: int) -> float:
    """The wizard takes so many wounds, and the row goes on."""
    wizard = wounded_wizard(table, state)
    if current_effect(table, state).kind == EffectKind.OTHER_WIZARDS_WOUNDS:
        state.group += 1
    else:
        state.cursor += 1
    state.node = Node.MISCAST_EFFECTS
    if wounds == 0:
        return 0.0
    return float(wound_wizard(table, state, int64(state.active), wizard, wounds))


@jit
def hit_models(table: Record, state: Record) -> int:
    """Models that take one hit each in the pending roll."""
    if current_effect(table, state).kind == EffectKind.CASTER_HIT:
        return 1
    return _models_touching(table, state)


@jit(forceinline=False)
def hit_profile(table: Record, state: Record) -> tuple[int, int, int]:
    """Toughness, armour save and ward save of the models hit."""
    if current_effect(table, state).kind != EffectKind.BASE_CONTACT_HIT:
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
            points = wound_wizard(table, state, army, caster(table, state), 1)
        state.cursor += 1
    else:
        contact = table.contacts[state.group]
        if contact.unit:
            if wounds:
                points = wound_unit(
                    table, state, int64(contact.owner), int64(contact.unit - 1), wounds
                )
        else:
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
    if table.armies[army].spells[spell].targeted:
        state.node = Node.TARGET
    else:
        begin_free_attempt(table, state)


@jit
def begin_free_attempt(table: Record, state: Record) -> None:
    """The active player may answer the free spell, now that it is aimed."""
    army = other(state.active)
    spell = int64(state.free - 1)
    state.number = table.armies[army].spells[spell].casting_value
    state.attempt = Attempt.FREE
    state.mover = state.active
    state.node = Node.DISPEL


@jit
def after_free_spell(state: Record) -> None:
    """The row goes on behind the free spell."""
    clear_roll(state)
    state.free = 0
    state.free_aim = 0
    state.back = Back.NOMINATE
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
        elif effect.kind == EffectKind.CASTER_WOUNDS or effect.kind == EffectKind.CASTER_HITS:
            share = 1.0
            if effect.kind == EffectKind.CASTER_HITS:
                share = (
                    wounding_rolls(
                        strength,
                        int(entry.toughness),
                        int(entry.armour_save),
                        int(entry.ward_save),
                        allowed,
                    )
                    / 216.0
                )
            mean = share * (effect.dice_faces + 1) / 2.0
            cost += min(mean, float(entry.wounds)) * entry.points_per_wound
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
