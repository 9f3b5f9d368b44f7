"""Spells as a scenario lists them: written inline, or taken from a lore."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import model_validator

from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import Document, Flag, Name, Points, one_of
from wfb_gym.scenario.lores import (
    CastingValue,
    DurationName,
    LoreSpell,
    find_lore_spell,
    lore_spells,
)

_BROUGHT = ("casting_value", "duration")


class Spell(Document):
    """A spell that a wizard knows.

    An entry with a casting value is the scenario's own and takes nothing from the lores, even
    where a lore has that name. An entry without one is a lore's spell.

    Attributes:
        name: a lore's, or any.
        lore: the lore it comes from; None for an inline spell. With it a written casting
            value or duration must be the lore's.
        casting_value: number to equal or beat, 3 to 15.
        worth: points when it takes effect.
        duration: how long it lasts.
        worth_per_phase: points to its owner at each end of phase while in play.
        survives_caster: his death does not end it.
        in_play: already in play when the battle begins.
    """

    name: Name
    lore: Name | None = None
    casting_value: CastingValue
    worth: Points
    duration: DurationName = "instant"
    worth_per_phase: Points = 0.0
    survives_caster: Flag = False
    in_play: Flag = False

    @property
    def identity(self) -> tuple[str, str | None]:
        """What makes two wizards' spells the same spell."""
        return self.name, self.lore

    @model_validator(mode="before")
    @classmethod
    def _take_from_lore(cls, data: Any) -> Any:
        """Fills in what the lore brings."""
        if not isinstance(data, Mapping):
            return data
        if "casting_value" in data and data.get("lore") is None:
            return data
        found = _lore_spell_of(data)
        problems = [
            Problem(key, f"{shown(getattr(found, key))}, as its lore has it", shown(data[key]))
            for key in _BROUGHT
            if data.get(key, getattr(found, key)) != getattr(found, key)
        ]
        if "worth" not in data:
            expected = "a worth in points: a lore brings a casting value and a duration only"
            problems.append(Problem("worth", expected, "no such key"))
        if problems:
            raise refusal(problems)
        brought = {"lore": found.lore, **{key: getattr(found, key) for key in _BROUGHT}}
        return {**data, **brought}

    @model_validator(mode="after")
    def _instants_do_not_last(self) -> Self:
        lasting = ("worth_per_phase", "survives_caster", "in_play")
        if self.duration == "instant" and any(getattr(self, key) for key in lasting):
            expected = 'no value but for a duration of "remains_in_play" or "one_turn"'
            raise refusal(
                [
                    Problem(key, expected, shown(getattr(self, key)))
                    for key in lasting
                    if getattr(self, key)
                ]
            )
        return self


def _lore_spell_of(data: Mapping[str, Any]) -> LoreSpell:
    """The lore's spell that an entry names.

    Raises:
        PydanticCustomError: there is none, or the entry names nothing.
    """
    name, lore = data.get("name"), data.get("lore")
    spells = lore_spells()
    lores = {spell.lore for spell in spells}
    if lore is not None and not (isinstance(lore, str) and lore in lores):
        expected = one_of(sorted(lores), str(lore), "a lore")
        raise refusal([Problem("lore", expected, shown(lore))])
    if not isinstance(name, str):
        found = shown(name) if "name" in data else "no such key"
        raise refusal([Problem("name", "a text, not empty", found)])
    spell = find_lore_spell(name, lore)
    if spell is None:
        names = [spell.name for spell in spells if lore in (None, spell.lore)]
        kind = f"a spell of the lore of {lore}" if lore else "a spell of a lore"
        expected = f"{one_of(names, name, kind)}, or a casting_value for a spell of your own"
        raise refusal([Problem("name", expected, shown(name))])
    return spell
