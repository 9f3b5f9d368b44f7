"""Spells: those of the lores (``data/lores.toml``), and those that a scenario lists."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ValidationError

from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE, LOWEST_CASTING_VALUE
from wfb_gym.scenario.documents import bundled_data, validate
from wfb_gym.scenario.effects import EFFECT_KEYS, PICKED, SpellEffect, effect_of
from wfb_gym.scenario.errors import Problem, format_value, problem_error, problem_in, raise_problems
from wfb_gym.scenario.fields import Flag, Name, Points, StrictModel, Text, Whole
from wfb_gym.suggestions import close_names, find_name, name_finder, one_of

CastingValue = Annotated[int, Whole(LOWEST_CASTING_VALUE, HIGHEST_CASTING_VALUE)]
DurationName = Literal["instant", "remains_in_play", "one_turn"]
_LORE_OF = re.compile(r"^\s*(the\s+)?lore\s+of\s+", re.IGNORECASE)
_LASTING_WORTH = 'no worth by phases but for "remains_in_play" or "one_turn"'


class LoreSpell(SpellEffect):
    """A spell of a lore, its effect's keys among its own."""

    name: Name  # as printed, unique among all lores
    lore: Name  # the lore's name
    number: Annotated[int, Whole(1, 6)]  # the D6 that brings it
    casting_value: CastingValue  # number to equal or beat
    duration: DurationName  # how the magic phase treats it
    lasts: Name | None = None  # how long its effect lasts on the battlefield, where that differs
    # what it does, roughly
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
    confidence: Name  # "found" where a source has it
    source: Text  # tags of the sources, explained in the data file
    note: Text | None = None  # what a reader should know about the row

    @cached_property
    def effect(self) -> SpellEffect:
        """What it does to whom."""
        return SpellEffect(**{key: getattr(self, key) for key in EFFECT_KEYS})

    def problems(self) -> Iterable[Problem]:
        """Check the effect by itself, then what the lore says of it."""
        return [*super().problems()] or self._lore_problems()

    def _lore_problems(self) -> Iterator[Problem]:
        if self.missile != (self.kind == "magic_missile"):
            yield self.problem_at("missile", 'true for kind = "magic_missile", and for no other')
        if self.worth is None:
            return
        if self.worth.reason is None:
            expected = "why its worth is what it is: every lore's is an estimate"
            yield self.problem_at("worth.reason", expected)
        if self.duration == "instant" and self.worth.is_lasting:
            yield self.problem_at("worth", _LASTING_WORTH)


class _Lores(StrictModel):
    spells: tuple[LoreSpell, ...]


@cache
def lore_spells() -> tuple[LoreSpell, ...]:
    """All spells of all lores, in the order of the data file."""
    return validate(_Lores, bundled_data("lores"), "lores.toml").spells


@cache
def lore_names() -> tuple[str, ...]:
    """Names of all lores, in the order of the data file."""
    return tuple(dict.fromkeys(spell.lore for spell in lore_spells()))


def find_lore(name: str) -> str | None:
    """Return the lore of that name, whatever its case and also after "Lore of"; None for none."""
    return find_name(lore_names(), _LORE_OF.sub("", name))


def find_lore_spell(name: str, lore: str | None = None) -> LoreSpell | None:
    """Find the spell of that name, in one lore or in all; None where there is none.

    Case, spaces and signs of the name do not matter.
    """
    known = _spell_finder()(name)
    spell = next((each for each in lore_spells() if each.name == known), None)
    return spell if spell is not None and lore in (None, spell.lore) else None


@cache
def _spell_finder() -> Callable[[str], str | None]:
    return name_finder(spell.name for spell in lore_spells())


class Spell(StrictModel):
    """A spell that a wizard knows, or that is bound in an item.

    An entry with a casting value is the scenario's own and takes nothing from the lores, even
    where a lore has that name. An entry without one is a lore's spell. A worth in points makes
    of either a spell of fixed worth, without target; without it a lore's spell brings its effect,
    and the scenario's own has the keys of `wfb_gym.scenario.effects.SpellEffect` among its own.
    """

    extra_keys: ClassVar[tuple[str, ...]] = EFFECT_KEYS
    text_key: ClassVar[str | None] = "name"

    name: Name  # a lore's, or any
    # the lore it comes from; None for an inline spell; with it a written casting value, duration
    # or effect must be the lore's
    lore: Name | None = None
    casting_value: CastingValue  # number to equal or beat, 3 to 15
    worth: Points = 0.0  # points when it takes effect, for a spell of fixed worth; else 0
    effect: SpellEffect | None = None  # None for a spell of fixed worth
    duration: DurationName = "instant"
    # points to its owner at each end of phase while in play, for a spell of fixed worth; else 0
    worth_per_phase: Points = 0.0
    survives_caster: Flag = False  # its caster's death does not end it
    in_play: Flag = False  # already in play when the battle begins
    in_play_on: Name | None = None  # the unit or character that it lies on then

    @property
    def identity(self) -> tuple[str, str | None]:
        """Equal for two wizards' spells that are the same spell."""
        return self.name, self.lore

    @property
    def picks_target(self) -> bool:
        """Whether its caster picks one unit or character for it."""
        return self.effect is not None and self.effect.target in PICKED

    @property
    def is_delayed(self) -> bool:
        """Whether it strikes later, as a Comet does."""
        damage = None if self.effect is None else self.effect.damage
        return damage is not None and damage.delayed

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fill in what the lore brings, and gather the keys of the effect."""
        if "casting_value" in data and data.get("lore") is None:
            return _inline(data)
        return _from_lore(data)

    def problems(self) -> Iterator[Problem]:
        """Check that its worth and its being in play go with its effect and its duration."""
        instant = self.duration == "instant"
        if self.effect is not None:
            for key in ("worth", "worth_per_phase"):
                if getattr(self, key):
                    yield self.problem_at(key, "0, as its effect says what it is worth")
            if instant and self.effect.worth is not None and self.effect.worth.is_lasting:
                yield Problem("worth", _LASTING_WORTH, "a table")
        if instant:
            expected = 'no value but for a duration of "remains_in_play" or "one_turn"'
            for key in ("worth_per_phase", "survives_caster", "in_play"):
                if getattr(self, key) and not (self.effect and key == "worth_per_phase"):
                    yield self.problem_at(key, expected)
        if self.in_play_on is not None and not (self.in_play and self.picks_target):
            expected = "no value but for a spell in play that is cast at a unit or character"
            yield self.problem_at("in_play_on", expected)
        elif self.in_play and self.picks_target and self.in_play_on is None:
            yield self.problem_at("in_play_on", "the unit or character that it lies on")


@cache
def spells_of_lore(lore: str) -> tuple[Spell, ...]:
    """Return the six spells of a lore as a wizard knows them, by their number."""
    own = sorted((spell for spell in lore_spells() if spell.lore == lore), key=lambda s: s.number)
    return tuple(
        Spell(name=spell.name, lore=spell.lore, casting_value=spell.casting_value) for spell in own
    )


def _check_lore(value: Any) -> str:
    lore = find_lore(value) if isinstance(value, str) else None
    if lore is None:
        raise problem_error(_lore_problem("", value))
    return lore


def _lore_problem(key: str, found: Any) -> Problem:
    expected = one_of(sorted(lore_names()), str(found), "a lore")
    if not close_names(lore_names(), str(found)):
        expected += "; spells of another lore are written out: name, casting_value and worth"
    return Problem(key, expected, format_value(found))


_KEYS = frozenset(Spell.model_fields)
_FROM_LORE = ("casting_value", "duration")
LoreName = Annotated[Name, BeforeValidator(_check_lore)]
"""Name of one of the eight lores."""


def _effect_keys(data: Mapping[str, Any]) -> list[str]:
    """Keys of an effect that stand among the spell's own; a worth in points is none."""
    return [
        key
        for key in EFFECT_KEYS
        if key in data and (key != "worth" or isinstance(data[key], Mapping))
    ]


def _inline(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry of the scenario's own with its effect gathered."""
    effect_keys = _effect_keys(data)
    if data.get("effect") is not None:
        if effect_keys:
            raise problem_error(problem_in(data, effect_keys[0], "no value beside effect"))
    elif effect_keys:
        if "target" not in data:
            raise problem_error(problem_in(data, "target", "a target for a spell with an effect"))
        if "worth" in data and "worth" not in effect_keys:
            expected = "a table such as { points = 10 } for a spell with a target"
            raise problem_error(problem_in(data, "worth", expected))
        rest = {key: value for key, value in data.items() if key not in effect_keys}
        # An unknown key is reported as such, and not as the lack of the key it should have been.
        return {**rest, "effect": effect_of(data)} if rest.keys() <= _KEYS else rest
    elif "worth" not in data:
        expected = "a worth in points, or a target and what the spell does to it"
        raise problem_error(problem_in(data, "worth", expected))
    return data


def _from_lore(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry with what its lore brings."""
    spell = _lore_spell_of(data)
    brought: dict[str, Any] = {key: getattr(spell, key) for key in _FROM_LORE}
    problems = [
        problem_in(data, key, f"{format_value(value)}, as its lore has it")
        for key, value in brought.items()
        if data.get(key, value) != value
    ]
    for key in _effect_keys(data):
        expected = "a number" if key == "worth" else "no value"
        expected += ", as the lore brings what the spell does"
        problems.append(problem_in(data, key, expected))
    effect = data.get("effect")
    if effect is None and "worth" not in data:
        effect = spell.effect
    elif effect is not None and not _is_effect(effect, spell.effect):
        problems.append(problem_in(data, "effect", "no value, as the lore brings it"))
    raise_problems(problems)
    return {**data, "name": spell.name, "lore": spell.lore, **brought, "effect": effect}


def _is_effect(value: Any, effect: SpellEffect) -> bool:
    """Whether a value of a document says the same as an effect."""
    try:
        return SpellEffect.model_validate(value) == effect
    except ValidationError:
        return False


def _lore_spell_of(data: Mapping[str, Any]) -> LoreSpell:
    """Return the lore's spell that an entry names; raise if there is none."""
    name, lore = data.get("name"), data.get("lore")
    if lore is not None:
        lore = find_lore(lore) if isinstance(lore, str) else None
        if lore is None:
            raise problem_error(_lore_problem("lore", data["lore"]))
    if not isinstance(name, str):
        raise problem_error(problem_in(data, "name", "a text"))
    spell = find_lore_spell(name, lore)
    if spell is None:
        names = [spell.name for spell in lore_spells() if lore in (None, spell.lore)]
        kind = f"a spell of the lore of {lore}" if lore else "a spell of a lore"
        expected = f"{one_of(names, name, kind)}, or a casting_value for a spell of your own"
        raise problem_error(problem_in(data, "name", expected))
    return spell
