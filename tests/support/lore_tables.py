"""Cells of docs/lores.md computed from data/lores.toml, so that the page matches the data."""

from wfb_gym.scenario.spells import LoreSpell, lore_spells
from wfb_gym.view.effects import worth_words
from wfb_gym.view.spell_text import full_effect_words, range_words, target_words

DURATIONS = {"instant": "at once", "remains_in_play": "remains in play", "one_turn": "one turn"}


def lasts_cell(spell: LoreSpell) -> str:
    """Return the spell's kind, and its duration on the table if that differs."""
    if spell.damage is not None and spell.damage.delayed and spell.lasts is not None:
        return spell.lasts
    phases = DURATIONS[spell.duration]
    if spell.lasts is None or spell.lasts.startswith(phases):
        return spell.lasts or phases
    return f"{phases} ({spell.lasts})"


def effect_cell(spell: LoreSpell) -> str:
    """Return the effect in words, and the printed one if the row is approximate."""
    words = full_effect_words(spell)
    return f"{words} (approximate; {spell.note})" if spell.confidence == "approximate" else words


def worth_cell(spell: LoreSpell) -> str:
    if spell.worth is None:
        return "its healing" if spell.heals else "its damage"
    return f"{worth_words(spell.worth)}: {spell.worth.reason}"


def lores() -> list[str]:
    """Return the names of the lores, in the order of the data."""
    return list(dict.fromkeys(spell.lore for spell in lore_spells()))


def lore_rows(lore: str) -> list[list[str]]:
    """Return the cells of a lore's table."""
    return [
        [
            f"{spell.number} {spell.name}",
            f"{spell.casting_value}+",
            range_words(spell.effect) or "–",  # noqa: RUF001
            "; ".join(target_words(spell.effect)),
            effect_cell(spell),
            lasts_cell(spell),
            worth_cell(spell),
        ]
        for spell in lore_spells()
        if spell.lore == lore
    ]
