"""Miscasts: the row that 2D6 chose, its effects in order, and the opponent's free spell.

The rows are data (`wfb_gym/data/miscasts`); this module plays the primitives they are made of.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import actions as _actions
from wfb_gym.engine.casualties import remove_wizard, wound_unit, wound_wizard
from wfb_gym.engine.queries import bit, caster_of, gain, other, without
from wfb_gym.engine.spells import (
    caster,
    close_bound,
    close_spells,
    end_remaining,
    end_spells,
    take_effect,
)
from wfb_gym.engine.state import BARS_ITEMS, After, Attempt, Back, Node, State
from wfb_gym.engine.targets import models_left
from wfb_gym.engine.turn_flow import clear_roll, leave_phase, to_in_play, to_nominate
from wfb_gym.engine.workspace import WorkSpace
from wfb_gym.packing.records import EffectKind, PackedEffect, PackedScenario, Whose
from wfb_gym.rules.wounds import wounding_rolls

PASS = _actions.PASS
FIRST_CAST = _actions.FIRST_CAST


@jit
def resolve_miscast(packed: PackedScenario, state: State, row: int) -> None:
    """The dice chose a row of the table."""
    state.row = row + 1
    state.cursor = 0
    state.node = Node.MISCAST_EFFECTS
    if state.aim and not row_casts(packed, row):
        state.aim = 0  # where the spell that failed was aimed matters no more


@jit(forceinline=False)
def row_casts(packed: PackedScenario, row: int) -> bool:
    """Whether the row lets the spell work after all."""
    first = packed.miscast_rows[row].first
    for k in range(packed.miscast_rows[row].count):
        if packed.effects[first + k].kind == EffectKind.SPELL_SUCCEEDS:
            return True
    return False


@jit
def current_effect(packed: PackedScenario, state: State) -> PackedEffect:
    """The effect of the row that is under way."""
    return packed.effects[packed.miscast_rows[state.row - 1].first + state.cursor]


@jit(forceinline=False)
def run_effects(packed: PackedScenario, state: State) -> float:
    """Play effects until dice or the opponent must decide, or the row is done."""
    points = 0.0
    while state.cursor < packed.miscast_rows[state.row - 1].count:
        kind = current_effect(packed, state).kind
        if kind == EffectKind.CASTER_HIT:
            if state.wounds[state.active, caster(packed, state)] > 0:
                state.node = Node.ROLL_HIT
                return points
        elif kind == EffectKind.BASE_CONTACT_HIT:
            if _next_group(packed, state):
                state.node = Node.ROLL_HIT
                return points
        elif kind == EffectKind.CASTER_HITS or kind == EffectKind.CASTER_WOUNDS:
            if state.wounds[state.active, caster(packed, state)] > 0:
                state.node = Node.ROLL_WOUNDS
                return points
        elif kind == EffectKind.OTHER_WIZARDS_WOUNDS:
            if _next_wizard(packed, state):
                state.node = Node.ROLL_WOUNDS
                return points
        elif kind == EffectKind.SPELL_SUCCEEDS:
            points += take_effect(
                packed, state, state.active, state.spell - 1, state.aim, Back.MISCAST_ROW.value
            )
            if state.striking:
                return points
        elif kind == EffectKind.FREE_SPELL:
            state.mover = other(state.active)
            state.node = Node.FREE_SPELL
            return points
        else:
            points += _apply(packed, state)
        state.cursor += 1
    _leave_row(packed, state)
    return points


@jit
def _leave_row(packed: PackedScenario, state: State) -> None:
    if state.after == After.PHASE_END:
        leave_phase(packed, state)
    elif state.after == After.IN_PLAY:
        to_in_play(packed, state)
    else:
        to_nominate(packed, state)


@jit(forceinline=False)
def _apply(packed: PackedScenario, state: State) -> float:
    """One effect that needs no dice and nobody's choice."""
    effect = current_effect(packed, state)
    army = int64(state.active)
    wizard = caster(packed, state)
    kind = effect.kind
    if kind == EffectKind.POINTS_LOST:
        return gain(other(army), effect.points)
    if kind == EffectKind.CASTER_REMOVED:
        return _remove_caster(packed, state, army, wizard)
    if kind == EffectKind.LOCKED:
        _lock(packed, state, wizard)
    elif kind == EffectKind.DICE_LOST:
        _lose_dice(packed, state, wizard, effect.whose)
    elif kind == EffectKind.STORED_DICE_LOST:
        for item in range(packed.armies[army].n_items):
            if packed.armies[army].items[item].stores_dice:
                state.items[army, item] = 0
    elif kind == EffectKind.CASTING_ENDS:
        if state.after != After.PHASE_END:
            state.after = After.IN_PLAY
    elif kind == EffectKind.PHASE_ENDS:
        state.after = After.PHASE_END
    elif kind == EffectKind.IN_PLAY_ENDS:
        if effect.whose == Whose.CASTER:
            end_remaining(packed, state, army, wizard)
        else:
            end_spells(packed, state, 0, state.in_play[0])
            end_spells(packed, state, 1, state.in_play[1])
    elif kind == EffectKind.SPELL_FORGOTTEN:
        forgotten = bit(state.spell - 1)
        if effect.whose == Whose.SIDE:
            namesakes = int64(packed.armies[army].spells[state.spell - 1].namesakes)
            forgotten = without(namesakes, packed.armies[army].bound)
        state.known[army] = without(state.known[army], forgotten)
        state.open = without(state.open, forgotten)
    elif kind == EffectKind.LEVEL_LOST:
        if state.level[army, wizard] > 0:
            state.level[army, wizard] -= 1
        if state.level[army, wizard] == 0:
            close_spells(packed, state, wizard)
    return 0.0


@jit(forceinline=False)
def _remove_caster(packed: PackedScenario, state: State, army: int, wizard: int) -> float:
    """The caster is gone for good; of a unit of Daemons it is the focal model (ours)."""
    entry = packed.armies[army].wizards[wizard]
    if not entry.daemons:
        return float(remove_wizard(packed, state, army, wizard))
    unit = int64(entry.unit - 1)
    left = int(state.unit_wounds[army, unit])
    each = int(packed.armies[army].units[unit].wounds)
    return float(wound_unit(packed, state, army, unit, left - (left - 1) // each * each))


@jit
def _lock(packed: PackedScenario, state: State, wizard: int) -> None:
    army = int64(state.active)
    if state.wounds[army, wizard] == 0:
        return
    effect = current_effect(packed, state)
    state.lock[army, wizard] = effect.until + (BARS_ITEMS if effect.bars_items else 0)
    close_spells(packed, state, wizard)
    if effect.bars_items:
        close_bound(packed, state, wizard)


@jit
def _lose_dice(packed: PackedScenario, state: State, wizard: int, whose: int) -> None:
    """Power dice are lost: the caster's own, or all of his side's."""
    if whose == Whose.CASTER:
        state.own_dice[wizard] = 0
        return
    state.power = 0
    for each in range(packed.armies[state.active].n_wizards):
        state.own_dice[each] = 0


@jit(forceinline=False)
def _next_group(packed: PackedScenario, state: State) -> bool:
    """Move `group` to the next models in base contact with the caster; whether any is left."""
    wizard = caster(packed, state)
    while state.group < packed.n_contacts:
        contact = packed.contacts[state.group]
        touches = contact.army == state.active and contact.wizard == wizard
        if touches and _models_touching(packed, state) > 0:
            return True
        state.group += 1
    state.group = 0
    return False


@jit
def _models_touching(packed: PackedScenario, state: State) -> int:
    """Models of the group under way; a unit fills its gaps while it has models."""
    contact = packed.contacts[state.group]
    models = int(state.contacts[state.group])
    if contact.unit == 0:
        return models
    return min(models, models_left(packed, state, int64(contact.owner), int64(contact.unit - 1)))


@jit(forceinline=False)
def _next_wizard(packed: PackedScenario, state: State) -> bool:
    """Move `group` to the next other wizard of the army who lives; whether any is left."""
    army = int64(state.active)
    while state.group < packed.armies[army].n_wizards:
        if state.group != caster(packed, state) and packed.armies[army].wizards[state.group].level:
            if state.wounds[army, state.group] > 0:
                return True
        state.group += 1
    state.group = 0
    return False


@jit
def wounded_wizard(packed: PackedScenario, state: State) -> int:
    """The wizard whom the pending wounds are rolled for."""
    if current_effect(packed, state).kind == EffectKind.OTHER_WIZARDS_WOUNDS:
        return int64(state.group)
    return caster(packed, state)


@jit(forceinline=False)
def most_wounds(packed: PackedScenario, state: State) -> int:
    """Most wounds that the wizard at `Node.ROLL_WOUNDS` can take: what is left of him."""
    army = int64(state.active)
    wizard = wounded_wizard(packed, state)
    entry = packed.armies[army].wizards[wizard]
    left = int64(state.wounds[army, wizard])
    if entry.daemons:
        left = int64(state.unit_wounds[army, entry.unit - 1])
    return min(left, int64(current_effect(packed, state).dice_faces))


@jit(forceinline=False)
def wounds_pmf(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Chances of 0, 1, 2 ... wounds for the wizard at `Node.ROLL_WOUNDS`.

    So many hits, or wounds outright, as a D3 or D6 shows. Arguments and result as for
    `wfb_gym.engine.strikes.strike_law`.
    """
    effect = current_effect(packed, state)
    faces = int(effect.dice_faces)
    chance = 1.0
    if effect.kind == EffectKind.CASTER_HITS:
        chance = hit_chance(packed, state)
    most = most_wounds(packed, state)
    for k in range(most + 1):
        work.pmf[k] = 0.0
    for hits in range(1, faces + 1):
        ways = 1.0
        for k in range(hits + 1):
            work.pmf[min(k, most)] += ways * chance**k * (1.0 - chance) ** (hits - k) / faces
            ways = ways * (hits - k) / (k + 1)
    return most + 1


@jit(forceinline=False)
def resolve_wounds(packed: PackedScenario, state: State, wounds: int) -> float:
    """The wizard takes so many wounds, and the row goes on."""
    wizard = wounded_wizard(packed, state)
    if current_effect(packed, state).kind == EffectKind.OTHER_WIZARDS_WOUNDS:
        state.group += 1
    else:
        state.cursor += 1
    state.node = Node.MISCAST_EFFECTS
    if wounds == 0:
        return 0.0
    return float(wound_wizard(packed, state, int64(state.active), wizard, wounds))


@jit
def hit_models(packed: PackedScenario, state: State) -> int:
    """Models that take one hit each in the pending roll."""
    if current_effect(packed, state).kind == EffectKind.CASTER_HIT:
        return 1
    return _models_touching(packed, state)


@jit(forceinline=False)
def hit_profile(packed: PackedScenario, state: State) -> tuple[int, int, int]:
    """Toughness, armour save and ward save of the models hit."""
    if current_effect(packed, state).kind != EffectKind.BASE_CONTACT_HIT:
        wizard = packed.armies[state.active].wizards[caster(packed, state)]
        return int(wizard.toughness), int(wizard.armour_save), int(wizard.ward_save)
    contact = packed.contacts[state.group]
    return int(contact.toughness), int(contact.armour_save), int(contact.ward_save)


@jit(forceinline=False)
def hit_chance(packed: PackedScenario, state: State) -> float:
    """Chance that one of the pending hits takes a wound."""
    effect = current_effect(packed, state)
    toughness, armour, ward = hit_profile(packed, state)
    allowed = effect.armour_save != 0
    return wounding_rolls(int(effect.strength), toughness, armour, ward, allowed) / 216.0


@jit(forceinline=False)
def resolve_hit(packed: PackedScenario, state: State, wounds: int) -> float:
    """So many of the models hit are wounded."""
    army = int64(state.active)
    points = 0.0
    if current_effect(packed, state).kind == EffectKind.CASTER_HIT:
        if wounds:
            points = wound_wizard(packed, state, army, caster(packed, state), 1)
        state.cursor += 1
    else:
        contact = packed.contacts[state.group]
        if contact.unit:
            if wounds:
                points = wound_unit(
                    packed, state, int64(contact.owner), int64(contact.unit - 1), wounds
                )
        else:
            state.contacts[state.group] -= wounds
            points = gain(other(int64(contact.owner)), wounds * contact.points)
        state.group += 1
    state.node = Node.MISCAST_EFFECTS
    return points


@jit(forceinline=False)
def act_free_spell(packed: PackedScenario, state: State, action: int) -> None:
    """The opponent declines, or casts a spell of his own at once; it needs no roll."""
    if action == PASS:
        after_free_spell(state)
        return
    army = other(state.active)
    spell = action - FIRST_CAST
    end_remaining(packed, state, army, caster_of(packed, army, spell))
    state.free = spell + 1
    if packed.armies[army].spells[spell].targeted:
        state.node = Node.TARGET
    else:
        begin_free_attempt(packed, state)


@jit
def begin_free_attempt(packed: PackedScenario, state: State) -> None:
    """The active player may answer the free spell, now that it is aimed."""
    army = other(state.active)
    spell = int64(state.free - 1)
    state.number = packed.armies[army].spells[spell].casting_value
    state.attempt = Attempt.FREE
    state.mover = state.active
    state.node = Node.DISPEL


@jit
def after_free_spell(state: State) -> None:
    """The row goes on behind the free spell."""
    clear_roll(state)
    state.free = 0
    state.free_aim = 0
    state.back = Back.NOMINATE
    state.cursor += 1
    state.mover = state.active
    state.node = Node.MISCAST_EFFECTS


@jit(forceinline=False)
def row_cost(packed: PackedScenario, army: int, wizard: int, row: int) -> float:
    """Expected points that a row costs the army of the wizard who miscast, unhurt before.

    A measure for observations and for players: hits and removals are counted apart.
    """
    cost = 0.0
    entry = packed.armies[army].wizards[wizard]
    first = packed.miscast_rows[row].first
    for k in range(packed.miscast_rows[row].count):
        effect = packed.effects[first + k]
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
            for group in range(packed.n_contacts):
                contact = packed.contacts[group]
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
def row_stops(packed: PackedScenario, row: int) -> bool:
    """Whether a row stops the wizard, or his whole side, from casting on."""
    first = packed.miscast_rows[row].first
    for k in range(packed.miscast_rows[row].count):
        kind = packed.effects[first + k].kind
        if (
            kind == EffectKind.LOCKED
            or kind == EffectKind.CASTING_ENDS
            or kind == EffectKind.PHASE_ENDS
            or kind == EffectKind.CASTER_REMOVED
        ):
            return True
    return False
