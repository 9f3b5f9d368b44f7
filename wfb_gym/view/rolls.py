"""Describe rolls: the dice faces and the result.

See `changes` for descriptions of losses.
"""

from collections.abc import Sequence

from wfb_gym.engine import outcomes
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.casting import cast_bonus
from wfb_gym.engine.chance import miscast_table_of, needed
from wfb_gym.engine.miscasts import current_effect, wounded_wizard
from wfb_gym.engine.morale import tested_leadership
from wfb_gym.engine.nodes import CASTING_ROLLS, DISPEL_ROLLS, STRIKE_ROLLS
from wfb_gym.engine.queries import declared_bonus, dispel_bonus
from wfb_gym.engine.roll_results import outcome_if_kept
from wfb_gym.engine.shared_hits import hits_on_victim
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.engine.strikes import current_strike
from wfb_gym.packing.records import EffectKind
from wfb_gym.rules.casting import MINIMUM_TO_CAST, Casting, casting_outcome
from wfb_gym.rules.dice import FACES, double
from wfb_gym.scenario.sizes import SPELLS, TARGETS, WIZARDS
from wfb_gym.view.hidden_sets import deal_words
from wfb_gym.view.names import ScenarioNames, plural


def describe_roll(names: ScenarioNames, before: Battle, outcome: int, faces: Sequence[int]) -> str:
    """Describe a roll, without a full stop; `faces` is empty if they are unknown."""
    if before.node == Node.DEAL:
        return deal_words(names, before.mover, outcome)
    dice = f"{' '.join(map(str, faces))}: " if faces else ""
    if before.node not in CASTING_ROLLS + DISPEL_ROLLS:
        return dice + _describe_other_roll(names, before, outcome, faces)
    if outcomes.has_faces(outcome):
        return dice + "the dice may be re-rolled"
    natural = [*faces, *faces_on_table(before)] if faces else []
    return dice + _describe_result(names, before, outcome, natural)


def describe_kept_roll(names: ScenarioNames, before: Battle) -> str:
    """Describe the result of a roll that the player chooses not to re-roll, without a full stop."""
    outcome = int(outcome_if_kept(before.packed, before.state))
    return _describe_result(names, before, outcome, faces_on_table(before))


def faces_on_table(battle: Battle) -> list[int]:
    """Return the faces of previously thrown dice that may be re-rolled, in ascending order."""
    counts = battle.state.faces + battle.state.held
    return [face for face in range(1, FACES + 1) for _ in range(int(counts[face - 1]))]


def added_to_dispel(battle: Battle) -> int:
    """Return the bonus that the mover's items add to its dispel roll."""
    packed, state, army = battle.packed, battle.state, battle.mover
    return int(dispel_bonus(packed, state, army)) + int(declared_bonus(packed, state, army))


def number_to_match(battle: Battle, dice: int) -> str:
    """Return the number to match with a given number of dispel dice, in words.

    The dice in `dice` have already left the pool. The engine stores a single number for all totals
    that the whole pool cannot match.
    """
    number, pool = int(battle.state.number), int(battle.state.dispel) + dice
    is_cast = battle.state.attempt == DispelAttempt.CAST
    if is_cast and number > FACES * pool + added_to_dispel(battle):
        return "more than dispel dice can match"
    return str(number)


def _describe_result(
    names: ScenarioNames, before: Battle, outcome: int, natural: Sequence[int]
) -> str:
    """Describe the result of a casting or dispel roll."""
    attempt = DispelAttempt(int(before.state.attempt))
    if attempt == DispelAttempt.NONE:
        return _describe_cast(names, before, outcome, natural)
    if attempt in (DispelAttempt.CAST, DispelAttempt.FREE, DispelAttempt.IN_PLAY):
        return _describe_dispel(names, before, outcome, natural)
    raise ValueError(f"attempt: expected NONE, CAST, FREE or IN_PLAY, found {attempt!r}")


def _describe_cast(
    names: ScenarioNames, before: Battle, outcome: int, natural: Sequence[int]
) -> str:
    packed, state = before.packed, before.state
    slot = names.spells[int(state.active)][int(state.spell) - 1]
    name, value = slot.spell.name, slot.casting_value
    bonus = int(cast_bonus(packed, state))
    total = sum(natural) + bonus if natural else max(0, outcome - outcomes.OUTCOME_CAST)
    against = f"{total} against {value}, " if total else ""
    if outcome == outcomes.OUTCOME_MISCAST:
        return f"a miscast, {name} fails"
    if outcome == outcomes.OUTCOME_FAIL:
        low = natural and sum(natural) < MINIMUM_TO_CAST and total >= value
        return f"{against}{name} fails{' as a natural 1 or 2 does' if low else ''}"
    if outcome != outcomes.OUTCOME_IRRESISTIBLE:
        return f"{against}{name} is cast"
    ones, sixes = natural.count(1), natural.count(FACES)
    result = casting_outcome(ones, sixes, sum(natural), bonus, value, True) if natural else None
    if state.cast_item or (result is not None and result != Casting.IRRESISTIBLE):
        return f"{against}{name} is cast; no dispel attempt is possible"
    return f"irresistible force, {name} is cast"


def _describe_dispel(
    names: ScenarioNames, before: Battle, outcome: int, natural: Sequence[int]
) -> str:
    pending = names.pending(before)
    name = names.spell_name(*pending) if pending else "the spell"
    total = sum(natural) + added_to_dispel(before)
    against = f"{total} against {number_to_match(before, len(natural))}, " if natural else ""
    if outcome == outcomes.OUTCOME_WORKS:
        return f"{against}{name} is dispelled"
    is_enough = total >= int(before.state.number) or (
        bool(before.packed.dispel_double_six) and double(natural.count(FACES))
    )
    ones = " as two 1s never dispel" if double(natural.count(1)) and is_enough else ""
    return f"{against}{name} is not dispelled{ones}"


def _describe_other_roll(
    names: ScenarioNames, before: Battle, outcome: int, faces: Sequence[int]
) -> str:
    """Describe any roll other than a casting or dispel roll."""
    node, packed, state, army = before.node, before.packed, before.state, before.mover
    works = outcome == outcomes.OUTCOME_WORKS
    cursor = int(state.cursor)
    if node == Node.ROLL_MISCAST:
        return f"miscast: {_miscast_row(names, before, outcome, faces)}"
    if node == Node.ROLL_HIT:
        return _describe_miscast_hit(names, before, outcome)
    if node == Node.ROLL_LOCK:
        wizard = names.characters[army][cursor]
        return f"{wizard} is free to cast" if works else f"{wizard} needs a {FACES} to cast again"
    if node in STRIKE_ROLLS:
        return _describe_strike(names, before, outcome)
    if node == Node.ROLL_WOUNDS:
        wizard = names.characters[army][int(wounded_wizard(packed, state))]
        return f"{plural(outcome, 'wound')} for {wizard}"
    if node == Node.ROLL_FORGET:
        number = int(needed(packed, state))
        pending = names.pending(before)
        bound = pending is not None and names.spells[pending[0]][pending[1]].item is not None
        lost = "destroyed" if bound else "forgotten"
        return f"the spell is dispelled and {'' if works else 'not '}{lost}, on {number}+"
    if node == Node.ROLL_STORED:
        return f"{names.item(army, cursor)} {'keeps' if works else 'loses'} its dice"
    if node == Node.ROLL_SPELLS:
        wizard_index = cursor % WIZARDS
        drawn = names.drawn_spells(army, wizard_index, outcome)
        return f"{names.characters[army][wizard_index]} has {', '.join(drawn)}"
    if node == Node.ROLL_RALLY or node == Node.ROLL_PANIC:
        who = names.target(army, cursor % TARGETS + 1)
        leadership = int(tested_leadership(packed, state))
        against = f"{sum(faces)} against Leadership {leadership}, " if faces else ""
        if node == Node.ROLL_RALLY:
            return f"{against}the flight of {who} {'ends' if works else 'continues'}"
        return f"{against}the Panic test of {who} {'is passed' if works else 'fails: they flee'}"
    if node == Node.ROLL_RADIUS:
        inches = f"{outcome} inch{'' if outcome == 1 else 'es'}"
        return f"{names.spell_name(*divmod(cursor, SPELLS))} reaches {inches} for each marker"
    if node == Node.ROLL_COMET:
        result = f"{'lands' if works else 'comes nearer'}, on {int(needed(packed, state))}+"
        return f"{names.spell_name(*divmod(cursor, SPELLS))} {result}"
    raise ValueError(f"node: expected a roll that has a description, found {node.name}")


def _describe_strike(names: ScenarioNames, before: Battle, outcome: int) -> str:
    """Describe a roll for a spell's hits: their number, their distribution, or the wounds."""
    packed, state, node = before.packed, before.state, before.node
    spell = names.spell_name(*divmod(int(state.striking) - 1, SPELLS))
    victim = names.victim(before)
    if node == Node.ROLL_HITS:
        return f"{spell}: {plural(outcome, 'hit')} on {victim}, shared with the characters in it"
    if node == Node.ROLL_ODD_HIT:
        return f"{victim} takes {'an' if outcome else 'no'} odd hit"
    if node == Node.ROLL_STRIKE:
        hits = int(hits_on_victim(packed, state, int(current_strike(packed, state))))
        shared = f" with {plural(hits, 'hit')}" if hits else ""
        return f"{spell} strikes {victim}{shared}: {plural(outcome, 'wound')}"
    raise ValueError(f"node: expected a roll of a strike, found {node.name}")


def _miscast_row(names: ScenarioNames, before: Battle, outcome: int, faces: Sequence[int]) -> str:
    packed, state = before.packed, before.state
    table = int(miscast_table_of(packed, state))
    dice = int(packed.miscast_dice[table])
    totals = range(dice, dice * FACES + 1)
    total = sum(faces) or next(t for t in totals if packed.miscast_row[table, t] == outcome)
    army = int(state.active)
    return names.miscast(army, names.spells[army][int(state.spell) - 1].wizard, total)


def _describe_miscast_hit(names: ScenarioNames, before: Battle, outcome: int) -> str:
    packed, state = before.packed, before.state
    effect = current_effect(packed, state)
    strength, wounds = f"Strength {int(effect.strength)}", plural(outcome, "wound")
    kind = EffectKind(int(effect.kind))
    if kind == EffectKind.CASTER_HIT:
        caster = names.caster(int(state.active), int(state.spell) - 1)
        return f"a {strength} hit on {caster}: {wounds}"
    if kind == EffectKind.BASE_CONTACT_HIT:
        contact = packed.contacts[int(state.group)]
        struck = "models"
        if contact.unit:
            struck = names.units[int(contact.owner)][int(contact.unit) - 1]
        return f"{strength} hits on {struck} in base contact: {wounds}"
    raise ValueError(f"effect: expected CASTER_HIT or BASE_CONTACT_HIT, found {kind.name}")
