"""Cells of docs/lores.md computed from data/lores.toml, so that the page matches the data."""

from wfb_gym.scenario.spells import LoreSpell, lore_spells
from wfb_gym.view.effects import effect_words, worth_words

CAST_AT = {
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
NEEDS = {
    "fleeing": "fleeing",
    "magic_item": "with a magic item",
    "wounded": "with lost wounds",
    "front_rank": "front rank free for an inch",
}
DURATIONS = {"instant": "at once", "remains_in_play": "remains in play", "one_turn": "one turn"}


def range_cell(spell: LoreSpell) -> str:
    if spell.near is not None:
        terrain = " or ".join(spell.near.terrain)
        return f'{spell.near.within}" of {terrain}, else {spell.near.otherwise}" of the caster'
    return "–" if spell.range_inches is None else f'{spell.range_inches}"'  # noqa: RUF001


def target_cell(spell: LoreSpell) -> str:
    parts = [CAST_AT[spell.target]]
    if spell.missile:
        parts.append("magic missile")
    elif spell.sight:
        parts.append("in sight")
    if spell.engaged == "only":
        parts.append("in close combat")
    elif spell.engaged == "either" and spell.target.startswith(("enemy", "friendly")):
        parts.append("in close combat or not")
    if spell.caster_engaged:
        parts.append("while it fights")
    if spell.only:
        parts.append("only " + ", ".join(spell.only).replace("_", " "))
    if spell.not_on:
        parts.append("not " + ", ".join(spell.not_on).replace("_", " "))
    if spell.needs is not None:
        parts.append(NEEDS[spell.needs])
    if spell.once:
        parts.append("each once")
    return "; ".join(parts)


def lasts_cell(spell: LoreSpell) -> str:
    """Return the spell's kind, and its duration on the table if that differs."""
    if spell.damage is not None and spell.damage.delayed and spell.lasts is not None:
        return spell.lasts
    phases = DURATIONS[spell.duration]
    if spell.lasts is None or spell.lasts.startswith(phases):
        return spell.lasts or phases
    return f"{phases} ({spell.lasts})"


def worth_cell(spell: LoreSpell) -> str:
    if spell.worth is None:
        return "its healing" if spell.heals else "its damage"
    return f"{worth_words(spell.worth)}: {spell.worth.reason}"


def lores() -> list[str]:
    """Return the names of the lores, in the order of the data."""
    return list(dict.fromkeys(spell.lore for spell in lore_spells()))


def lore_rows(lore: str) -> list[list[str]]:
    """Return the cells of a lore's table; the fifth, the effect, as far as the data contain it."""
    return [
        [
            f"{spell.number} {spell.name}",
            f"{spell.casting_value}+",
            range_cell(spell),
            target_cell(spell),
            effect_words(spell.effect),
            lasts_cell(spell),
            worth_cell(spell),
        ]
        for spell in lore_spells()
        if spell.lore == lore
    ]
