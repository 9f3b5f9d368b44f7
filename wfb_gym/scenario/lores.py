"""The eight lores of the rulebook (6th edition), as ``data/lores.toml`` has them."""

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Annotated, Literal, Self

from pydantic import model_validator

from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE, LOWEST_CASTING_VALUE
from wfb_gym.scenario.bundled import bundled_data
from wfb_gym.scenario.effects import EFFECT_KEYS, Effect
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import Document, Name, Whole
from wfb_gym.scenario.validating import validated

CastingValue = Annotated[int, Whole(LOWEST_CASTING_VALUE, HIGHEST_CASTING_VALUE)]
DurationName = Literal["instant", "remains_in_play", "one_turn"]


class LoreSpell(Effect):
    """A spell of a lore, its effect's keys among its own.

    Attributes:
        name: as printed, unique among all lores.
        lore: the lore's name.
        number: 1 to 6, the D6 that brings it.
        casting_value: number to equal or beat.
        duration: how the magic phase treats it.
        lasts: how long its effect lasts on the table, where that differs.
        kind: what it does, roughly.
        confidence: "found" where a source has it.
        source: tags of the sources, explained in the data file.
        note: what a reader should know about the row.
    """

    name: Name
    lore: Name
    number: Annotated[int, Whole(1, 6)]
    casting_value: CastingValue
    duration: DurationName
    lasts: Name | None = None
    kind: Literal[
        "magic_missile",
        "direct",
        "hex",
        "augment",
        "movement",
        "heal",
        "remains_in_play",
        "one_turn",
    ]
    confidence: Name
    source: Name
    note: Name | None = None

    @cached_property
    def effect(self) -> Effect:
        """What it does to whom."""
        return Effect(**{key: getattr(self, key) for key in EFFECT_KEYS})

    @model_validator(mode="after")
    def _agrees_with_its_effect(self) -> Self:
        if problems := [*self._problems()]:
            raise refusal(problems)
        return self

    def _problems(self) -> Iterator[Problem]:
        if self.missile != (self.kind == "magic_missile"):
            expected = 'true for kind = "magic_missile", and for no other'
            yield Problem("missile", expected, shown(self.missile))
        if self.worth is None:
            return
        if self.worth.reason is None:
            expected = "why its worth is what it is: every lore's is an estimate"
            yield Problem("worth.reason", expected, "no such key")
        if self.duration == "instant" and self.worth.lasting:
            expected = 'no worth by phases but for "remains_in_play" or "one_turn"'
            yield Problem("worth", expected, "a table")


class _Lores(Document):
    spells: tuple[LoreSpell, ...]


@cache
def lore_spells() -> tuple[LoreSpell, ...]:
    """All spells of all lores, in the order of the data file."""
    return validated(_Lores, bundled_data("lores"), "lores.toml").spells


def find_lore_spell(name: str, lore: str | None = None) -> LoreSpell | None:
    """The spell of that name, or None.

    Args:
        name: as printed.
        lore: the only lore to look in; None for all.
    """
    for spell in lore_spells():
        if spell.name == name and lore in (None, spell.lore):
            return spell
    return None
