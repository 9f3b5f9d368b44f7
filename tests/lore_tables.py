"""The cells of docs/lores.md that follow from data/lores.toml, so that the page cannot drift."""

from wfb_gym.scenario.effects import Damage, Worth
from wfb_gym.scenario.spells import LoreSpell, lore_spells

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
HITS = {
    "1": "1 hit",
    "D6": "D6 hits",
    "2D6": "2D6 hits",
    "D6 chain": "D6 hits and a chain",
    "line": "1 hit a model on the line",
    "template": "1 hit a model under a template",
    "front_rank": "1 hit a model of the front rank",
}
DURATIONS = {
    "instant": "at once",
    "remains_in_play": "remains in play",
    "one_turn": "one turn",
}


def range_cell(spell: LoreSpell) -> str:
    """How far, and from where."""
    if spell.near is not None:
        terrain = " or ".join(spell.near.terrain)
        return f'{spell.near.within}" of {terrain}, else {spell.near.otherwise}" of the caster'
    return "–" if spell.range_inches is None else f'{spell.range_inches}"'  # noqa: RUF001


def target_cell(spell: LoreSpell) -> str:
    """What it is cast at, and what must be so of that."""
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


def damage_words(damage: Damage) -> str:
    """Its hits in words."""
    words = HITS[damage.hits]
    if damage.strength_by_armour is not None:
        words += f" S{'/'.join(map(str, damage.strength_by_armour))} by armour"
    elif damage.strength is not None:
        words += f" S{damage.strength}"
    if damage.template is not None:
        words = words.replace("a template", f'a {damage.template:g}" template')
    if damage.partial is not None:
        words += f", touched ones on {damage.partial}+"
    for said, what in (
        (damage.automatic, "no roll to wound"),
        (not damage.armour_save, "no armour"),
        (not damage.ward_save, "no ward"),
        (damage.flaming, "flaming"),
    ):
        words += f", {what}" if said else ""
    return words


def known_effect(spell: LoreSpell) -> str:
    """What of the effect the data say: hits and wounds."""
    parts = []
    if spell.damage is not None:
        parts.append(damage_words(spell.damage))
        if spell.near is not None and spell.near.extra is not None:
            parts.append(f"{spell.near.extra} more where it touches")
    if spell.gains_wound:
        parts.append("the caster gains the wound")
    if spell.heals:
        parts.append("all lost wounds come back")
    if spell.rallies:
        parts.append("it rallies at once")
    return "; ".join(parts)


def lasts_cell(spell: LoreSpell) -> str:
    """How the phase treats it, and how long it lasts on the table where that differs."""
    if spell.damage is not None and spell.damage.delayed and spell.lasts is not None:
        return spell.lasts
    return DURATIONS[spell.duration] + (f" ({spell.lasts})" if spell.lasts else "")


def worth_cell(worth: Worth | None) -> str:
    """The estimate with its reason."""
    if worth is None:
        return "its damage"
    parts = [f"{worth.points:g} points"] if worth.points else []
    parts += [f"{100 * worth.share:g} %"] if worth.share else []
    parts += [f"{worth.points_per_phase:g} points a phase"] if worth.points_per_phase else []
    parts += [f"{100 * worth.share_per_phase:g} % a phase"] if worth.share_per_phase else []
    return f"{' and '.join(parts)}: {worth.reason}"


def lores() -> list[str]:
    """Names of the lores, in the order of the data."""
    return list(dict.fromkeys(spell.lore for spell in lore_spells()))


def lore_rows(lore: str) -> list[list[str]]:
    """Cells of a lore's table; the fifth, what the spell does, as far as the data say."""
    return [
        [
            f"{spell.number} {spell.name}",
            f"{spell.casting_value}+",
            range_cell(spell),
            target_cell(spell),
            known_effect(spell),
            lasts_cell(spell),
            worth_cell(spell.worth),
        ]
        for spell in lore_spells()
        if spell.lore == lore
    ]
