"""Spells as a scenario lists them: written inline, or taken from a lore."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, ValidationError, model_validator

from wfb_gym.scenario.effects import EFFECT_KEYS, PICKED, Effect, effect_of
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
_LASTING = ("worth_per_phase", "survives_caster", "in_play")


class Spell(Document):
    """A spell that a wizard knows, or that lies bound in an item.

    An entry with a casting value is the scenario's own and takes nothing from the lores, even
    where a lore has that name. An entry without one is a lore's spell. A worth in points makes
    of either a spell of fixed worth, without target; without it a lore's spell brings its effect,
    and the scenario's own has the keys of `wfb_gym.scenario.effects.Effect` among its own.

    Attributes:
        name: a lore's, or any.
        lore: the lore it comes from; None for an inline spell. With it a written casting
            value, duration or effect must be the lore's.
        casting_value: number to equal or beat, 3 to 15.
        worth: points when it takes effect, for a spell of fixed worth; else 0.
        effect: whom it may be cast at and what it does; None for a spell of fixed worth.
        duration: how long it lasts.
        worth_per_phase: points to its owner at each end of phase while in play, for a spell of
            fixed worth; else 0.
        survives_caster: his death does not end it.
        in_play: already in play when the battle begins.
        in_play_on: the unit or character that it lies on then.
    """

    also_known: ClassVar[tuple[str, ...]] = EFFECT_KEYS

    name: Name
    lore: Name | None = None
    casting_value: CastingValue
    worth: Points = 0.0
    effect: Effect | None = None
    duration: DurationName = "instant"
    worth_per_phase: Points = 0.0
    survives_caster: Flag = False
    in_play: Flag = False
    in_play_on: Name | None = None

    @property
    def identity(self) -> tuple[str, str | None]:
        """What makes two wizards' spells the same spell."""
        return self.name, self.lore

    @property
    def range_inches(self) -> int | None:
        """How far it reaches; None where its effect measures nothing, or it has none."""
        return None if self.effect is None else self.effect.range_inches

    @property
    def picks_target(self) -> bool:
        """Whether its caster picks one unit or character for it."""
        return self.effect is not None and self.effect.target in PICKED

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        """Fills in what the lore brings, and gathers the keys of the effect."""
        if not isinstance(data, Mapping):
            return data
        if "casting_value" in data and data.get("lore") is None:
            return _inline(data)
        return _from_lore(data)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        problems = []
        if self.effect is not None:
            expected = "0, as its effect says what it is worth"
            problems += [
                Problem(key, expected, shown(getattr(self, key)))
                for key in ("worth", "worth_per_phase")
                if getattr(self, key)
            ]
            worth = self.effect.worth
            if self.duration == "instant" and worth is not None and worth.lasting:
                expected = 'no worth by phases but for "remains_in_play" or "one_turn"'
                problems.append(Problem("worth", expected, "a table"))
        if self.duration == "instant":
            expected = 'no value but for a duration of "remains_in_play" or "one_turn"'
            problems += [
                Problem(key, expected, shown(getattr(self, key)))
                for key in _LASTING
                if getattr(self, key) and not (self.effect and key == "worth_per_phase")
            ]
        if self.in_play_on is not None and not (self.in_play and self.picks_target):
            expected = "no value but for a spell in play that is cast at a unit or character"
            problems.append(Problem("in_play_on", expected, shown(self.in_play_on)))
        elif self.in_play and self.picks_target and self.in_play_on is None:
            expected = "the unit or character that it lies on"
            problems.append(Problem("in_play_on", expected, "no such key"))
        if problems:
            raise refusal(problems)
        return self


def spell_from_lore(found: LoreSpell) -> Spell:
    """A lore's spell as a wizard knows it, with its effect."""
    return Spell(name=found.name, lore=found.lore, casting_value=found.casting_value)


@cache
def spells_of_lore(lore: str) -> tuple[Spell, ...]:
    """The six spells of a lore as a wizard knows them, by their number."""
    own = sorted((spell for spell in lore_spells() if spell.lore == lore), key=lambda s: s.number)
    return tuple(spell_from_lore(spell) for spell in own)


def _known_lore(value: Any) -> Any:
    lores = sorted({spell.lore for spell in lore_spells()})
    if value not in lores:
        raise refusal([Problem("", one_of(lores, str(value), "a lore"), shown(value))])
    return value


_KEYS = frozenset(Spell.model_fields)
LoreName = Annotated[Name, BeforeValidator(_known_lore)]
"""Name of one of the eight lores."""


def _effect_keys(data: Mapping[str, Any]) -> list[str]:
    """Keys of an effect that stand among the spell's own; a worth in points is none."""
    return [
        key
        for key in EFFECT_KEYS
        if key in data and (key != "worth" or isinstance(data[key], Mapping))
    ]


def _inline(data: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of the scenario's own with its effect gathered."""
    flat = _effect_keys(data)
    if data.get("effect") is not None:
        if flat:
            raise refusal([Problem(flat[0], "no value beside effect", shown(data[flat[0]]))])
    elif flat:
        if "target" not in data:
            expected = "a target for a spell with an effect"
            raise refusal([Problem("target", expected, "no such key")])
        if "worth" in data and "worth" not in flat:
            expected = "a table such as { points = 10 } for a spell with a target"
            raise refusal([Problem("worth", expected, shown(data["worth"]))])
        rest = {key: value for key, value in data.items() if key not in flat}
        # A misspelt key is told by itself, not as the lack of what it should have been.
        return {**rest, "effect": effect_of(data)} if rest.keys() <= _KEYS else rest
    elif "worth" not in data:
        expected = "a worth in points, or a target and what the spell does to it"
        raise refusal([Problem("worth", expected, "no such key")])
    return {**data}


def _from_lore(data: Mapping[str, Any]) -> dict[str, Any]:
    """An entry with what its lore brings."""
    found = _lore_spell_of(data)
    problems = [
        Problem(key, f"{shown(getattr(found, key))}, as its lore has it", shown(data[key]))
        for key in _BROUGHT
        if data.get(key, getattr(found, key)) != getattr(found, key)
    ]
    for key in _effect_keys(data):
        expected = "a number" if key == "worth" else "no value"
        expected += ", as the lore brings what the spell does"
        problems.append(Problem(key, expected, shown(data[key])))
    effect = data.get("effect")
    if effect is None and "worth" not in data:
        effect = found.effect
    elif effect is not None and not _same(effect, found.effect):
        problems.append(Problem("effect", "no value, as the lore brings it", shown(effect)))
    if problems:
        raise refusal(problems)
    brought = {"lore": found.lore, **{key: getattr(found, key) for key in _BROUGHT}}
    return {**data, **brought, "effect": effect}


def _same(written: Any, effect: Effect) -> bool:
    """Whether a written effect is that one."""
    try:
        return Effect.model_validate(written) == effect
    except ValidationError:
        return False


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
