"""A spell in one sentence: its targets, its range, its effect and its duration."""

from wfb_gym.scenario.effects import SpellEffect
from wfb_gym.scenario.spells import LoreSpell, SpellVersion, find_lore_spell
from wfb_gym.view.effects import effect_words, spell_words, worth_words
from wfb_gym.view.names import capital

_CAST_AT = {
    "enemy_unit": "enemy unit",
    "enemy_model": "one enemy model",
    "friendly_unit": "friendly unit",
    "friendly_model": "friendly model or unit",
    "friendly_character": "the caster, or a lone friend on foot",
    "caster": "the caster",
    "player": "the caster's side",
    "enemy_area": "every enemy in range",
    "friendly_area": "every friend in range",
    "line": "a line through an enemy",
    "point": "a point near an enemy",
}
_NEEDS = {
    "fleeing": "fleeing",
    "magic_item": "with a magic item",
    "wounded": "with lost wounds",
    "front_rank": "front rank free for an inch",
}
_IN_PLAY = {"remains_in_play": "remains in play", "one_turn": "lasts one turn"}


def range_words(effect: SpellEffect) -> str:
    """Describe a spell's range, or return "" if it is unlimited."""
    if effect.near is not None:
        terrain = " or ".join(effect.near.terrain)
        return f'{effect.near.within}" of {terrain}, else {effect.near.otherwise}" of the caster'
    return "" if effect.range_inches is None else f'{effect.range_inches}"'


def target_words(effect: SpellEffect) -> list[str]:
    """Describe a spell's legal targets: the kind of target, then each condition."""
    parts = [_CAST_AT[effect.target]]
    if effect.missile:
        parts.append("magic missile")
    elif effect.sight:
        parts.append("in sight")
    if effect.engaged == "only":
        parts.append("in close combat")
    elif effect.engaged == "either" and effect.target.startswith(("enemy", "friendly")):
        parts.append("in close combat or not")
    if effect.caster_engaged:
        parts.append("while it fights")
    if effect.only:
        parts.append("only " + ", ".join(effect.only).replace("_", " "))
    if effect.not_on:
        parts.append("not " + ", ".join(effect.not_on).replace("_", " "))
    if effect.needs is not None:
        parts.append(_NEEDS[effect.needs])
    if effect.once:
        parts.append("each once")
    return parts


def full_effect_words(spell: LoreSpell) -> str:
    """Describe a lore's spell: the simulated effect, then the rest."""
    return "; ".join(filter(None, (effect_words(spell.effect), spell.text)))


def spell_sentence(spell: SpellVersion) -> str:
    """Return a sentence about a spell: 'Enemy unit; magic missile; 24": D6 hits S4, flaming.'.

    If a scenario gives the spell of a lore a fixed value, the sentence mentions it.
    """
    row = find_lore_spell(spell.name, spell.lore) if spell.lore is not None else None
    if row is not None and spell.effect not in (None, row.effect):  # another casting value
        row = None
    effect = spell.effect if row is None else row.effect
    if effect is None:
        words = spell_words(spell) if spell.worth_per_phase else "no target"
        return f"A fixed value: {words}."
    words = full_effect_words(row) if row is not None else effect_words(effect)
    words = words or f"worth {worth_words(effect.worth)} by estimate"
    aim = "; ".join(filter(None, (*target_words(effect), range_words(effect))))
    lasts = [_IN_PLAY[spell.duration]] if spell.duration in _IN_PLAY else []
    fixed = ["here with a fixed value"] if spell.effect is None else []
    return f"{capital(aim)}: {'; '.join([words, *lasts, *fixed])}."
