"""Rolls in words: the dice as they fell and what they came to. Losses are `changes`'."""

from collections.abc import Sequence

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.casting import cast_bonus
from wfb_gym.engine.chance import miscast_table_of, needed
from wfb_gym.engine.miscasts import current_effect, wounded_wizard
from wfb_gym.engine.outcomes import (
    FIRST_TOTAL,
    OUTCOME_FAIL,
    OUTCOME_IRRESISTIBLE,
    OUTCOME_MISCAST,
    OUTCOME_WORKS,
    is_handful,
)
from wfb_gym.engine.queries import declared_bonus, dispel_bonus
from wfb_gym.engine.roll_results import final_outcome
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.engine.strikes import current_strike
from wfb_gym.packing.records import EffectKind
from wfb_gym.rules.casting import MINIMUM_TO_CAST, Casting, casting_outcome
from wfb_gym.rules.dice import FACES, double
from wfb_gym.scenario.sizes import SPELLS, TARGETS, UNITS, WIZARDS
from wfb_gym.transcripts.wording import Names, plural

_ATTEMPTS = (Node.ROLL_CASTING, Node.REROLL_CASTING, Node.ROLL_DISPEL, Node.REROLL_DISPEL)


def roll_in_words(names: Names, before: Battle, outcome: int, faces: Sequence[int]) -> str:
    """A roll as a player would tell it, without a full stop.

    Args:
        names: of the scenario.
        before: at the chance node.
        outcome: of the roll.
        faces: of the dice, where they are known.
    """
    dice = f"{' '.join(map(str, faces))}: " if faces else ""
    if before.node not in _ATTEMPTS:
        return dice + _other(names, before, outcome, faces)
    if is_handful(outcome):
        return dice + "the dice may be re-rolled"
    natural = [*faces, *_lying(before)] if faces else []
    if before.state.attempt == DispelAttempt.NONE:
        return dice + _cast(names, before, outcome, natural)
    return dice + _dispelled(names, before, outcome, natural)


def kept_in_words(names: Names, before: Battle) -> str:
    """What a roll comes to that is kept, without a full stop.

    Args:
        names: of the scenario.
        before: where it may be re-rolled.
    """
    lying = _lying(before)
    outcome = int(
        final_outcome(before.packed, before.state, int(before.state.natural_result), sum(lying))
    )
    read = _cast if before.state.attempt == DispelAttempt.NONE else _dispelled
    return read(names, before, outcome, lying)


def _lying(battle: Battle) -> list[int]:
    """Faces of the dice that lie from an earlier roll."""
    state = battle.state
    counts = [int(state.faces[face]) + int(state.held[face]) for face in range(FACES)]
    return [face + 1 for face, count in enumerate(counts) for _ in range(count)]


def _cast(names: Names, before: Battle, outcome: int, natural: Sequence[int]) -> str:
    """What a casting roll comes to."""
    packed, state = before.packed, before.state
    slot = names.spells[int(state.active)][int(state.spell) - 1]
    name, value = slot.spell.name, slot.casting_value
    bonus = int(cast_bonus(packed, state))
    total = sum(natural) + bonus if natural else max(0, outcome - FIRST_TOTAL)
    against = f"{total} against {value}, " if total else ""
    if outcome == OUTCOME_MISCAST:
        return f"a miscast, {name} fails"
    if outcome == OUTCOME_FAIL:
        low = natural and sum(natural) < MINIMUM_TO_CAST and total >= value
        return f"{against}{name} fails{' as a natural 1 or 2 does' if low else ''}"
    if outcome != OUTCOME_IRRESISTIBLE:
        return f"{against}{name} is cast"
    ones, sixes = natural.count(1), natural.count(FACES)
    read = casting_outcome(ones, sixes, sum(natural), bonus, value, True) if natural else None
    if state.cast_item or (read is not None and read != Casting.IRRESISTIBLE):
        return f"{against}{name} is cast and nobody can stop it"
    return f"irresistible force, {name} is cast"


def _dispelled(names: Names, before: Battle, outcome: int, natural: Sequence[int]) -> str:
    """What a dispel roll comes to."""
    packed, state, army = before.packed, before.state, before.mover
    pending = names.pending(before)
    name = names.spells[pending[0]][pending[1]].spell.name if pending else "the spell"
    bonus = int(dispel_bonus(packed, state, army)) + int(declared_bonus(packed, state, army))
    against = f"{sum(natural) + bonus} against {int(state.number)}, " if natural else ""
    if outcome == OUTCOME_WORKS:
        return f"{against}{name} is dispelled"
    ones = " as two 1s never dispel" if double(natural.count(1)) else ""
    return f"{against}{name} is not dispelled{ones}"


def _other(names: Names, before: Battle, outcome: int, faces: Sequence[int]) -> str:
    """Any roll but a cast and a dispel."""
    node, state, army = before.node, before.state, before.mover
    works = outcome == OUTCOME_WORKS
    if node == Node.ROLL_MISCAST:
        return f"miscast: {_row(names, before, outcome, faces)}"
    if node == Node.ROLL_HIT:
        return _hit(names, before, outcome)
    if node == Node.ROLL_LOCK:
        who = names.characters[army][int(state.cursor)]
        return f"{who} is free to cast" if works else f"{who} needs a {FACES} to cast again"
    if node == Node.ROLL_STRIKE:
        owner, slot = divmod(int(state.striking) - 1, SPELLS)
        spell = names.spells[owner][slot].spell.name
        victim = int(before.packed.strikes[int(current_strike(before.packed, state))].victim)
        return f"{spell} strikes {_target(names, victim)}: {plural(outcome, 'wound')}"
    if node == Node.ROLL_WOUNDS:
        who = names.characters[army][int(wounded_wizard(before.packed, state))]
        return f"{plural(outcome, 'wound')} for {who}"
    if node == Node.ROLL_FORGET:
        number = int(needed(before.packed, state))
        return f"the spell is dispelled and {'' if works else 'not '}forgotten, on {number}+"
    if node == Node.ROLL_STORED:
        item = names.item(army, int(state.cursor))
        return f"{item} {'keeps' if works else 'loses'} its dice"
    if node == Node.ROLL_SPELLS:
        slots = names.spells[army]
        first = int(before.packed.armies[army].wizards[int(state.cursor) % WIZARDS].first_spell)
        drawn = [slots[first + k].spell.name for k in range(FACES) if outcome >> k & 1]
        return f"{names.characters[army][int(state.cursor) % WIZARDS]} has {', '.join(drawn)}"
    name = names.spells[int(state.cursor) // SPELLS][int(state.cursor) % SPELLS].spell.name
    if node == Node.ROLL_RADIUS:
        return f"{name} reaches {outcome} inch{'' if outcome == 1 else 'es'} for each marker"
    return f"{name} {'lands' if works else 'comes nearer'}, on {int(needed(before.packed, state))}+"


def _target(names: Names, victim: int) -> str:
    army, index = divmod(victim, TARGETS)
    return names.units[army][index] if index < UNITS else names.characters[army][index - UNITS]


def _row(names: Names, before: Battle, outcome: int, faces: Sequence[int]) -> str:
    """A row of the miscast table that holds."""
    packed, state = before.packed, before.state
    chosen = int(miscast_table_of(packed, state))
    dice = int(packed.miscast_dice[chosen])
    totals = range(dice, dice * FACES + 1)
    total = sum(faces) or next(t for t in totals if packed.miscast_row[chosen, t] == outcome)
    slot = names.spells[int(state.active)][int(state.spell) - 1]
    return names.miscast(int(state.active), slot.wizard, total)


def _hit(names: Names, before: Battle, outcome: int) -> str:
    """Hits of a miscast."""
    packed, state = before.packed, before.state
    effect = current_effect(packed, state)
    hit = f"Strength {int(effect.strength)}"
    wounds = plural(outcome, "wound")
    if effect.kind == EffectKind.CASTER_HIT:
        slot = names.spells[int(state.active)][int(state.spell) - 1]
        who = names.characters[int(state.active)][slot.wizard]
        return f"a {hit} hit on {who}: {wounds}"
    contact = packed.contacts[int(state.group)]
    if contact.unit:
        who = names.units[int(contact.owner)][int(contact.unit) - 1]
        return f"{hit} hits on {who} in base contact: {wounds}"
    return f"{hit} hits on models in base contact: {wounds}"
