"""Spells from the lores (``data/lores.toml``) and a scenario's own spells."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ValidationError

from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE, LOWEST_CASTING_VALUE
from wfb_gym.scenario.documents import bundled_data, validate
from wfb_gym.scenario.effects import EFFECT_KEYS, PICKED, SpellEffect, effect_of
from wfb_gym.scenario.errors import Problem, format_value, problem_error, problem_in, raise_problems
from wfb_gym.scenario.fields import Flag, Name, Points, StrictModel, Text, Whole
from wfb_gym.scenario.sizes import LORE_SPELLS
from wfb_gym.suggestions import close_names, find_name, name_finder, one_of

CastingValue = Annotated[int, Whole(LOWEST_CASTING_VALUE, HIGHEST_CASTING_VALUE)]
Casts = Annotated[int, Whole(1, 12)]
DurationName = Literal["instant", "remains_in_play", "one_turn"]
_LORE_OF = re.compile(r"^\s*(the\s+)?lore\s+of\s+", re.IGNORECASE)
LORES_PAGE = "docs/lores.md"  # page that lists the spells of the lores, for error messages
RULEBOOK_LORES = ("Fire", "Metal", "Shadow", "Beasts", "Heavens", "Light", "Life", "Death")
"""The eight lores of the rulebook, which generated scenarios use. Their order must not change."""
_REMAINS = "remains_in_play"
_LASTING_WORTH = 'no worth per phase except for "remains_in_play" or "one_turn"'


class LoreSpell(SpellEffect):
    """A spell from a lore; the keys for its effect are in the same table."""

    name: Name  # printed name, unique among all lores
    lore: Name  # name of the lore
    number: Annotated[int, Whole(1, 6)]  # D6 result that selects the spell
    casting_value: CastingValue  # total that a casting roll must equal or beat
    duration: DurationName  # duration in the magic phase
    lasts: Name | None = None  # printed duration of the effect, if different
    text: Text | None = None  # the part of the effect that is not simulated, in own words
    # type of spell
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
    # "found" if a source contains the row, "approximate" if parts of the effect are left out
    confidence: Literal["found", "approximate"]
    source: Text  # tags for the sources, explained in the data file
    note: Text | None = None  # note for readers; with "approximate", the printed effect

    @cached_property
    def effect(self) -> SpellEffect:
        """The spell's targets and effect."""
        return SpellEffect(**{key: getattr(self, key) for key in EFFECT_KEYS})

    def problems(self) -> Iterable[Problem]:
        """Check the effect, then the other keys in the row."""
        return [*super().problems()] or self._lore_problems()

    def _lore_problems(self) -> Iterator[Problem]:
        if self.missile != (self.kind == "magic_missile"):
            yield self.problem_at("missile", 'true for kind = "magic_missile", and for no other')
        if self.confidence == "approximate" and self.note is None:
            yield self.problem_at("note", "the printed effect, as the row is approximate")
        if self.worth is None:
            return
        if self.worth.reason is None:
            expected = "a reason, as the worth of each spell of a lore is an estimate"
            yield self.problem_at("worth.reason", expected)
        if self.duration == "instant" and self.worth.is_lasting:
            yield self.problem_at("worth", _LASTING_WORTH)


class _Lores(StrictModel):
    spells: tuple[LoreSpell, ...]


@cache
def lore_spells() -> tuple[LoreSpell, ...]:
    """Return all spells from all lores, in the order of the data file."""
    return validate(_Lores, bundled_data("lores"), "lores.toml").spells


@cache
def lore_names() -> tuple[str, ...]:
    """Return the names of all lores, in the order of the data file."""
    return tuple(dict.fromkeys(spell.lore for spell in lore_spells()))


@cache
def rolled_lores() -> tuple[str, ...]:
    """Return the names of the lores from which a wizard can roll: those with all six spells."""
    return tuple(name for name in lore_names() if len(spells_of_lore(name)) == LORE_SPELLS)


def find_lore(name: str) -> str | None:
    """Return a lore's canonical name, ignoring case and a leading "Lore of", or None if unknown."""
    return find_name(lore_names(), _LORE_OF.sub("", name))


def find_lore_spell(name: str, lore: str | None = None) -> LoreSpell | None:
    """Return the spell with that name, in one lore or in all, or None if there is none.

    Case, spaces and punctuation in the name are ignored.
    """
    known = _spell_finder()(name)
    spell = next((each for each in lore_spells() if each.name == known), None)
    return spell if spell is not None and lore in (None, spell.lore) else None


@cache
def _spell_finder() -> Callable[[str], str | None]:
    return name_finder(spell.name for spell in lore_spells())


class SpellVersion(StrictModel):
    """A spell with one of its casting values.

    An entry with a casting value but no lore is the scenario's own spell. It ignores the lores,
    even if one has a spell with that name. Any other entry refers to a lore's spell. Either is a
    spell with a fixed point value and no target if `worth` is a number of points. Otherwise, a
    lore's spell has the lore's effect, and the scenario's own spell has the keys of
    `wfb_gym.scenario.effects.SpellEffect` in its table.
    """

    extra_keys: ClassVar[tuple[str, ...]] = EFFECT_KEYS
    text_key: ClassVar[str | None] = "name"

    name: Name  # name of a lore's spell, or any other name
    # the spell's lore; None for the scenario's own spell. A casting value, duration or effect given
    # here must match the lore.
    lore: Name | None = None
    casting_value: CastingValue  # total that a casting roll must equal or beat, 3 to 15
    worth: Points = 0.0  # for a fixed point value: points when the spell takes effect
    effect: SpellEffect | None = None  # None for a spell with a fixed point value
    duration: DurationName = "instant"
    # for a fixed point value: points at the end of each phase while the spell is in play
    worth_per_phase: Points = 0.0
    survives_caster: Flag = False  # stays in play after its caster's death
    in_play: Flag = False  # already in play when the battle begins
    in_play_on: Name | None = None  # the unit or character that it affects at that point
    casts: Casts = 1  # number of times that its caster may attempt it in a phase
    # of its wizard's spells with the same group, one may be attempted in each phase
    group: Name | None = None

    @property
    def identity(self) -> tuple[str, str | None]:
        """Name and lore, which are equal for two wizards that know the same spell."""
        return self.name, self.lore

    @property
    def picks_target(self) -> bool:
        """Whether its caster picks a single unit or character as the target."""
        return self.effect is not None and self.effect.target in PICKED

    @property
    def is_delayed(self) -> bool:
        """Whether it is a Comet, which strikes in a later phase."""
        damage = None if self.effect is None else self.effect.damage
        return damage is not None and damage.delayed

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fill in the lore's values, and collect the effect's keys."""
        if "casting_value" in data and data.get("lore") is None:
            return _inline(data)
        return _from_lore(data)

    def problems(self) -> Iterator[Problem]:
        """Check that `worth` and `in_play` are consistent with the effect and duration."""
        instant = self.duration == "instant"
        if self.effect is not None:
            for key in ("worth", "worth_per_phase"):
                if getattr(self, key):
                    yield self.problem_at(key, "0, as its effect has its own worth")
            if instant and self.effect.worth is not None and self.effect.worth.is_lasting:
                yield Problem("worth", _LASTING_WORTH, "a table")
        if instant:
            expected = 'no value but for a duration of "remains_in_play" or "one_turn"'
            for key in ("worth_per_phase", "survives_caster", "in_play"):
                if getattr(self, key) and not (self.effect and key == "worth_per_phase"):
                    yield self.problem_at(key, expected)
        if self.in_play_on is not None and not (self.in_play and self.picks_target):
            expected = "no value except for a spell in play with a unit or character as target"
            yield self.problem_at("in_play_on", expected)
        elif self.in_play and self.picks_target and self.in_play_on is None:
            yield self.problem_at("in_play_on", "the unit or character that it affects")
        if self.casts > 1 and (self.in_play or self.is_delayed or self.duration == _REMAINS):
            expected = "1, as the spell is or remains in play, or lands later"
            yield self.problem_at("casts", expected)


class Spell(SpellVersion):
    """A spell that is known by a wizard or bound in an item, with all its casting values."""

    # the spell with other casting values, one of which is chosen for each attempt
    alternatives: tuple[SpellVersion, ...] = ()

    @property
    def versions(self) -> tuple[SpellVersion, ...]:
        """The spell with each of its casting values, as written first."""
        return (self, *self.alternatives)

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fill in the lore's values, and each alternative from the other keys."""
        return super().complete(_with_alternatives(data))

    def problems(self) -> Iterator[Problem]:
        """Check the spell, and that its alternatives are consistent with it."""
        yield from super().problems()
        yield from self._alternative_problems()

    def _alternative_problems(self) -> Iterator[Problem]:
        values = [version.casting_value for version in self.versions]
        for i, other in enumerate(self.alternatives):
            if other.casting_value in values[: i + 1]:
                yield other.problem_at("casting_value", "a value of its own").below(
                    f"alternatives[{i}]"
                )
            for key in _OF_ALL_VERSIONS:
                if getattr(other, key) != getattr(self, key):
                    expected = f"no value, as all casting values have the spell's {key}"
                    yield other.problem_at(key, expected).below(f"alternatives[{i}]")
            if other.in_play:
                expected = "no value in an alternative"
                yield other.problem_at("in_play", expected).below(f"alternatives[{i}]")
            if (other.effect is None) != (self.effect is None):
                expected = "an effect for all casting values, or a fixed worth for all"
                yield self.problem_at("alternatives", expected)


def group_problems(key: str, spells: Sequence[Spell]) -> Iterator[Problem]:
    """Yield a problem for each spell in the list at `key` with other casts than its group."""
    casts: dict[str, int] = {}
    for i, spell in enumerate(spells):
        if spell.group is not None and casts.setdefault(spell.group, spell.casts) != spell.casts:
            expected = f"{casts[spell.group]}, as for the other spells of its group"
            yield spell.problem_at("casts", expected).below(f"{key}[{i}]")


@cache
def spells_of_lore(lore: str) -> tuple[Spell, ...]:
    """Return a lore's spells as known by a wizard, in the order of their numbers."""
    own = sorted((spell for spell in lore_spells() if spell.lore == lore), key=lambda s: s.number)
    return tuple(
        Spell(name=spell.name, lore=spell.lore, casting_value=spell.casting_value) for spell in own
    )


def _known_lore(key: str, value: Any) -> str:
    """Return a lore's canonical name; raise if the value at `key` is not a lore."""
    lore = find_lore(value) if isinstance(value, str) else None
    if lore is not None:
        return lore
    expected = one_of(sorted(lore_names()), str(value), "a lore")
    if not close_names(lore_names(), str(value)):
        expected += "; a spell of another lore needs a name, a casting_value and a worth"
    raise problem_error(Problem(key, expected, format_value(value)))


def _rolled_lore(value: Any) -> str:
    """Return the canonical name of a lore to roll spells from; raise if it is not one."""
    lore = _known_lore("", value)
    if lore in rolled_lores():
        return lore
    expected = "a lore of six spells; list the wizard's spells instead"
    raise problem_error(Problem("", expected, format_value(value)))


_KEYS = frozenset(Spell.model_fields)
_OF_ALL_VERSIONS = ("name", "lore", "casts", "group")
_OF_FIRST_VERSION = ("alternatives", "in_play", "in_play_on")
_FROM_LORE = ("casting_value", "duration")
LoreName = Annotated[Name, BeforeValidator(_rolled_lore)]
"""Name of a lore from which a wizard can roll its spells."""


def _effect_keys(data: Mapping[str, Any]) -> list[str]:
    """Return the effect keys in a spell's table, excluding `worth` if it is a number of points."""
    return [
        key
        for key in EFFECT_KEYS
        if key in data and (key != "worth" or isinstance(data[key], Mapping))
    ]


def _with_alternatives(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a spell's entry with complete alternatives: the spell supplies the other keys."""
    others = data.get("alternatives")
    if not isinstance(others, list | tuple):
        return data
    shared = {key: value for key, value in data.items() if key not in _OF_FIRST_VERSION}
    return {
        **data,
        "alternatives": [
            {**shared, **other} if isinstance(other, Mapping) else other for other in others
        ],
    }


def _inline(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry for the scenario's own spell, with its effect's keys moved to `effect`."""
    effect_keys = _effect_keys(data)
    if data.get("effect") is not None:
        if effect_keys:
            raise problem_error(problem_in(data, effect_keys[0], "no value with effect"))
    elif effect_keys:
        if "target" not in data:
            raise problem_error(problem_in(data, "target", "a target for a spell with an effect"))
        if "worth" in data and "worth" not in effect_keys:
            expected = "a table such as { points = 10 } for a spell with a target"
            raise problem_error(problem_in(data, "worth", expected))
        rest = {key: value for key, value in data.items() if key not in effect_keys}
        # Report an unknown key as unknown, not as the missing key that was intended.
        return {**rest, "effect": effect_of(data)} if rest.keys() <= _KEYS else rest
    elif "worth" not in data:
        expected = "a worth in points, or a target and an effect on it"
        raise problem_error(problem_in(data, "worth", expected))
    return data


def _from_lore(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry completed with its lore's values."""
    spell = _lore_spell_of(data)
    values: dict[str, Any] = {key: getattr(spell, key) for key in _FROM_LORE}
    problems = [
        problem_in(data, key, f"{format_value(value)}, as in its lore")
        for key, value in values.items()
        if data.get(key, value) != value
    ]
    if data.get("alternatives"):
        expected = "no value, because the lore supplies the casting value"
        problems.append(problem_in(data, "alternatives", expected))
    for key in _effect_keys(data):
        expected = "a number" if key == "worth" else "no value"
        expected += ", because the lore supplies the effect"
        problems.append(problem_in(data, key, expected))
    effect = data.get("effect")
    if effect is None and "worth" not in data:
        effect = spell.effect
    elif effect is not None and not _is_effect(effect, spell.effect):
        expected = "no value, because the lore supplies the effect"
        problems.append(problem_in(data, "effect", expected))
    raise_problems(problems)
    return {**data, "name": spell.name, "lore": spell.lore, **values, "effect": effect}


def _is_effect(value: Any, effect: SpellEffect) -> bool:
    """Whether a value in a document equals an effect."""
    try:
        return SpellEffect.model_validate(value) == effect
    except ValidationError:
        return False


def _lore_spell_of(data: Mapping[str, Any]) -> LoreSpell:
    """Return the lore's spell named by an entry; raise if there is none."""
    name, lore = data.get("name"), data.get("lore")
    if lore is not None:
        lore = _known_lore("lore", lore)
    if not isinstance(name, str):
        raise problem_error(problem_in(data, "name", "a text"))
    spell = find_lore_spell(name, lore)
    if spell is None:
        names = [spell.name for spell in lore_spells() if lore in (None, spell.lore)]
        kind = f"a spell of the lore of {lore}" if lore else "a spell of a lore"
        own = "a casting_value for your own spell, such as one of an army book"
        expected = f"{one_of(names, name, kind, LORES_PAGE)}, or {own}"
        raise problem_error(problem_in(data, "name", expected))
    return spell
