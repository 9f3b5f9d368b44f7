"""Miscasts: the row rolled on 2D6, its effects in order, and the opponent's free spell.

The rows are data (`wfb_gym/data/miscasts`); this module applies the effects in them.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.actions import FIRST_CAST, PASS
from wfb_gym.engine.casualties import remove_wizard, wound_unit, wound_wizard
from wfb_gym.engine.hidden_items import is_set_hidden
from wfb_gym.engine.queries import (
    bit,
    caster,
    caster_of,
    clear_bits,
    gain,
    opponent_of,
    same_spell,
)
from wfb_gym.engine.scoring import points_of_models
from wfb_gym.engine.spells import (
    close_bound,
    close_spells,
    end_remains_in_play,
    end_spells,
    take_effect_of_cast,
)
from wfb_gym.engine.state import (
    BARS_ITEMS,
    AfterMiscast,
    DispelAttempt,
    Node,
    ReturnTo,
    State,
    WorkSpace,
)
from wfb_gym.engine.targets import models_left
from wfb_gym.engine.turn_flow import clear_roll, leave_phase, to_dispel_in_play, to_nominate
from wfb_gym.packing.records import EffectKind, PackedEffect, PackedScenario, Whose
from wfb_gym.rules.dice import power
from wfb_gym.rules.wounds import wounding_rolls


@jit
def resolve_miscast(packed: PackedScenario, state: State, row: int) -> None:
    """Start the table row that was rolled."""
    state.row = row + 1
    state.cursor = 0
    state.node = Node.MISCAST_EFFECTS
    if state.aim and not row_casts(packed, row):
        state.aim = 0  # the aim of a failed spell no longer matters


@jit(forceinline=False)
def row_casts(packed: PackedScenario, row: int) -> bool:
    """Return whether the row lets the spell take effect after all."""
    first = packed.miscast_rows[row].first
    for k in range(packed.miscast_rows[row].count):
        if packed.effects[first + k].kind == EffectKind.SPELL_SUCCEEDS:
            return True
    return False


@jit
def current_effect(packed: PackedScenario, state: State) -> PackedEffect:
    """Return the row's current effect."""
    return packed.effects[packed.miscast_rows[state.row - 1].first + state.cursor]


@jit(forceinline=False)
def run_effects(packed: PackedScenario, state: State) -> float:
    """Apply effects until dice must be rolled, the opponent must decide or the row ends."""
    points = 0.0
    while state.cursor < packed.miscast_rows[state.row - 1].count:
        gained, waits = _play_effect(packed, state)
        points += gained
        if waits:
            return points
        state.cursor += 1
    _leave_row(packed, state)
    return points


@jit(forceinline=False)
def _play_effect(packed: PackedScenario, state: State) -> tuple[float, bool]:
    """Apply the current effect; return its points, and whether the row waits at another node."""
    effect = current_effect(packed, state)
    army = int64(state.active)
    wizard = caster(packed, state)
    kind = effect.kind
    if kind == EffectKind.CASTER_HIT:
        if state.wounds[army, wizard] > 0:
            state.node = Node.ROLL_HIT
            return 0.0, True
    elif kind == EffectKind.BASE_CONTACT_HIT:
        if _next_group(packed, state):
            state.node = Node.ROLL_HIT
            return 0.0, True
    elif kind == EffectKind.CASTER_HITS or kind == EffectKind.CASTER_WOUNDS:
        if state.wounds[army, wizard] > 0:
            state.node = Node.ROLL_WOUNDS
            return 0.0, True
    elif kind == EffectKind.OTHER_WIZARDS_WOUNDS:
        if _next_wizard(packed, state):
            state.node = Node.ROLL_WOUNDS
            return 0.0, True
    elif kind == EffectKind.SPELL_SUCCEEDS:
        points = take_effect_of_cast(packed, state, ReturnTo.MISCAST_ROW.value)
        return points, state.striking != 0
    elif kind == EffectKind.FREE_SPELL:
        state.mover = opponent_of(army)
        state.node = Node.FREE_SPELL
        return 0.0, True
    elif kind == EffectKind.POINTS_LOST:
        return gain(opponent_of(army), effect.points), False
    elif kind == EffectKind.CASTER_REMOVED:
        return _remove_caster(packed, state, army, wizard), False
    elif kind == EffectKind.LOCKED:
        _lock(packed, state, wizard)
    elif kind == EffectKind.DICE_LOST:
        _lose_dice(packed, state, wizard, effect.whose)
    elif kind == EffectKind.STORED_DICE_LOST:
        for item in range(packed.armies[army].n_items):
            if packed.armies[army].items[item].stores_dice:
                if is_set_hidden(state, army) and packed.armies[army].items[item].count:
                    state.emptied |= bit(army)
                else:
                    state.items[army, item] = 0
    elif kind == EffectKind.CASTING_ENDS:
        if state.after_miscast != AfterMiscast.PHASE_END:
            state.after_miscast = AfterMiscast.IN_PLAY
    elif kind == EffectKind.PHASE_ENDS:
        state.after_miscast = AfterMiscast.PHASE_END
    elif kind == EffectKind.IN_PLAY_ENDS:
        _end_in_play(packed, state, wizard, effect.whose)
    elif kind == EffectKind.SPELL_FORGOTTEN:
        _forget_spell(packed, state, effect.whose)
    elif kind == EffectKind.LEVEL_LOST:
        if state.level[army, wizard] > 0:
            state.level[army, wizard] -= 1
        if state.level[army, wizard] == 0:
            close_spells(packed, state, wizard)
    else:
        raise AssertionError("this effect of a miscast is undefined")
    return 0.0, False


@jit
def _leave_row(packed: PackedScenario, state: State) -> None:
    if state.after_miscast == AfterMiscast.PHASE_END:
        leave_phase(packed, state)
    elif state.after_miscast == AfterMiscast.IN_PLAY:
        to_dispel_in_play(packed, state)
    elif state.after_miscast == AfterMiscast.CAST_AGAIN:
        to_nominate(packed, state)
    else:
        raise AssertionError("how the phase continues after this row is undefined")


@jit(forceinline=False)
def _remove_caster(packed: PackedScenario, state: State, army: int, wizard: int) -> float:
    """Remove the caster, or only the focal model of a unit of Daemons (house rule C.87)."""
    entry = packed.armies[army].wizards[wizard]
    if not entry.daemons:
        return remove_wizard(packed, state, army, wizard)
    unit = int64(entry.unit - 1)
    left = int(state.unit_wounds[army, unit])
    each = int(packed.armies[army].units[unit].wounds)
    return wound_unit(packed, state, army, unit, left - (left - 1) // each * each)


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
    """Remove power dice: the caster's own, or all of its army's."""
    if whose == Whose.CASTER:
        state.own_dice[wizard] = 0
    elif whose == Whose.SIDE:
        state.power = 0
        state.own_dice[:] = 0
    else:
        raise AssertionError("whose dice are lost is undefined")


@jit
def _end_in_play(packed: PackedScenario, state: State, wizard: int, whose: int) -> None:
    """End spells in play: the caster's remaining spells, or all spells of both armies."""
    if whose == Whose.CASTER:
        end_remains_in_play(packed, state, state.active, wizard)
    elif whose == Whose.ALL:
        end_spells(packed, state, 0, state.in_play[0])
        end_spells(packed, state, 1, state.in_play[1])
    else:
        raise AssertionError("whose spells in play end is undefined")


@jit
def _forget_spell(packed: PackedScenario, state: State, whose: int) -> None:
    """Make the caster, or every wizard of its army that knows the spell, forget it."""
    army = int64(state.active)
    forgotten = same_spell(packed, army, int64(state.spell - 1))
    if whose == Whose.SIDE:
        namesakes = int64(packed.armies[army].spells[state.spell - 1].namesakes)
        forgotten = clear_bits(namesakes, packed.armies[army].bound)
    elif whose != Whose.CASTER:
        raise AssertionError("which wizards forget the spell is undefined")
    state.known[army] = clear_bits(state.known[army], forgotten)
    state.castable = clear_bits(state.castable, forgotten)


@jit(forceinline=False)
def _next_group(packed: PackedScenario, state: State) -> bool:
    """Move `group` to the next models in contact with the caster; return whether there are any."""
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
    """Return the models in the current group; a unit replaces casualties while it has models."""
    contact = packed.contacts[state.group]
    models = int(state.contacts[state.group])
    if contact.unit == 0:
        return models
    return min(models, models_left(packed, state, int64(contact.owner), int64(contact.unit - 1)))


@jit(forceinline=False)
def _next_wizard(packed: PackedScenario, state: State) -> bool:
    """Move `group` to the next other living wizard of the army; return whether there is one."""
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
    """Return the wizard for which the pending wounds are rolled."""
    kind = current_effect(packed, state).kind
    if kind == EffectKind.OTHER_WIZARDS_WOUNDS:
        return int64(state.group)
    if kind == EffectKind.CASTER_HITS or kind == EffectKind.CASTER_WOUNDS:
        return caster(packed, state)
    raise AssertionError("this effect does not roll a number of wounds")


@jit(forceinline=False)
def wizard_wounds(packed: PackedScenario, state: State) -> int:
    """Return the maximum number of wounds that the wizard at `Node.ROLL_WOUNDS` can take."""
    army = int64(state.active)
    wizard = wounded_wizard(packed, state)
    entry = packed.armies[army].wizards[wizard]
    left = int64(state.wounds[army, wizard])
    if entry.daemons:
        left = int64(state.unit_wounds[army, entry.unit - 1])
    return min(left, int64(current_effect(packed, state).dice_faces))


@jit(forceinline=False)
def miscast_wounds_pmf(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Write the probabilities of 0, 1, 2 ... wounds at `Node.ROLL_WOUNDS` to `work.pmf`.

    A D3 or D6 gives the number of wounds, or the number of hits that may wound.

    Returns:
        Number of probabilities, as in `wfb_gym.engine.strikes.strike_pmf`.
    """
    effect = current_effect(packed, state)
    faces = int(effect.dice_faces)
    if effect.kind == EffectKind.CASTER_HITS:
        probability = wound_probability(packed, state)
    elif effect.kind in (EffectKind.CASTER_WOUNDS, EffectKind.OTHER_WIZARDS_WOUNDS):
        probability = 1.0
    else:
        raise AssertionError("this effect does not roll a number of wounds")
    most = wizard_wounds(packed, state)
    for k in range(most + 1):
        work.pmf[k] = 0.0
    for hits in range(1, faces + 1):
        combinations = 1.0
        for k in range(hits + 1):
            chance = combinations * power(probability, k) * power(1.0 - probability, hits - k)
            work.pmf[min(k, most)] += chance / faces
            combinations = combinations * (hits - k) / (k + 1)
    return most + 1


@jit(forceinline=False)
def resolve_wounds(packed: PackedScenario, state: State, wounds: int) -> float:
    """Remove this many wounds from the wizard and continue the row."""
    wizard = wounded_wizard(packed, state)
    kind = current_effect(packed, state).kind
    if kind == EffectKind.OTHER_WIZARDS_WOUNDS:
        state.group += 1
    elif kind == EffectKind.CASTER_HITS or kind == EffectKind.CASTER_WOUNDS:
        state.cursor += 1
    else:
        raise AssertionError("this effect does not roll a number of wounds")
    state.node = Node.MISCAST_EFFECTS
    if wounds == 0:
        return 0.0
    return wound_wizard(packed, state, int64(state.active), wizard, wounds)


@jit
def hit_models(packed: PackedScenario, state: State) -> int:
    """Return the number of models that take one hit each in the pending roll."""
    kind = current_effect(packed, state).kind
    if kind == EffectKind.CASTER_HIT:
        return 1
    if kind == EffectKind.BASE_CONTACT_HIT:
        return _models_touching(packed, state)
    raise AssertionError("this effect hits no models")


@jit(forceinline=False)
def hit_profile(packed: PackedScenario, state: State) -> tuple[int, int, int]:
    """Return the Toughness, armour save and ward save of the models that are hit."""
    kind = current_effect(packed, state).kind
    if kind == EffectKind.CASTER_HIT or kind == EffectKind.CASTER_HITS:
        wizard = packed.armies[state.active].wizards[caster(packed, state)]
        return int(wizard.toughness), int(wizard.armour_save), int(wizard.ward_save)
    if kind == EffectKind.BASE_CONTACT_HIT:
        contact = packed.contacts[state.group]
        return int(contact.toughness), int(contact.armour_save), int(contact.ward_save)
    raise AssertionError("this effect hits no models")


@jit(forceinline=False)
def wound_probability(packed: PackedScenario, state: State) -> float:
    """Return the probability that one of the pending hits wounds."""
    toughness, armour, ward = hit_profile(packed, state)
    return probability_to_wound(current_effect(packed, state), toughness, armour, ward)


@jit
def probability_to_wound(effect: PackedEffect, toughness: int, armour: int, ward: int) -> float:
    """Return the probability that one hit of the effect wounds a model with this profile."""
    allowed = effect.armour_save != 0
    return wounding_rolls(int(effect.strength), toughness, armour, ward, allowed) / 216.0


@jit(forceinline=False)
def resolve_hit(packed: PackedScenario, state: State, wounds: int) -> float:
    """Apply the wounds of the pending hits; return the points that change hands."""
    army = int64(state.active)
    points = 0.0
    kind = current_effect(packed, state).kind
    if kind == EffectKind.CASTER_HIT:
        if wounds:
            points = wound_wizard(packed, state, army, caster(packed, state), 1)
        state.cursor += 1
    elif kind == EffectKind.BASE_CONTACT_HIT:
        contact = packed.contacts[state.group]
        if contact.unit:
            if wounds:
                points = wound_unit(
                    packed, state, int64(contact.owner), int64(contact.unit - 1), wounds
                )
        else:
            state.contacts[state.group] -= wounds
            lost = points_of_models(packed, wounds, contact.points)
            points = gain(opponent_of(int64(contact.owner)), lost)
        state.group += 1
    else:
        raise AssertionError("this effect hits no models")
    state.node = Node.MISCAST_EFFECTS
    return points


@jit(forceinline=False)
def act_free_spell(packed: PackedScenario, state: State, action: int) -> None:
    """Decline the free spell, or cast one of the opponent's own spells without a roll."""
    if action == PASS:
        after_free_spell(state)
        return
    army = opponent_of(state.active)
    spell = action - FIRST_CAST
    end_remains_in_play(packed, state, army, caster_of(packed, army, spell))
    state.free = spell + 1
    if packed.armies[army].spells[spell].targeted:
        state.node = Node.TARGET
    else:
        begin_free_attempt(packed, state)


@jit
def begin_free_attempt(packed: PackedScenario, state: State) -> None:
    """Let the active player try to dispel the free spell once it has been aimed."""
    army = opponent_of(state.active)
    spell = int64(state.free - 1)
    state.number = packed.armies[army].spells[spell].casting_value
    state.attempt = DispelAttempt.FREE
    state.mover = state.active
    state.node = Node.DISPEL


@jit
def after_free_spell(state: State) -> None:
    """Continue the row after the free spell."""
    clear_roll(state)
    state.free = 0
    state.free_aim = 0
    state.return_to = ReturnTo.NOMINATE
    state.cursor += 1
    state.mover = state.active
    state.node = Node.MISCAST_EFFECTS
