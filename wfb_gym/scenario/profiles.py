"""Profiles of units and characters, as the files in ``data/armies`` have them.

Holds the army lists, and fills in what a scenario leaves out. The units and characters of a
scenario are in `units` and `characters`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from wfb_gym.scenario.documents import bundled_data, bundled_names, validate
from wfb_gym.scenario.effects import Trait
from wfb_gym.scenario.errors import Problem, ScenarioError, format_value, problem_error
from wfb_gym.scenario.fields import (
    Base,
    Characteristic,
    Name,
    Points,
    Save,
    StrictModel,
    Whole,
    one_of,
)

_FOLDER = "armies"

UnitTroop = Literal["infantry", "cavalry", "chariot", "monster", "war_machine", "swarm"]
Kind = Literal["wizard", "runesmith", "runelord", "hero"]
Traits = Annotated[tuple[Trait, ...], Field(max_length=10)]
MagicResistance = Annotated[int, Whole(0, 3)]

_MODEL_KEYS = ("toughness", "wounds", "armour_save", "ward_save", "base")
_CHARACTER_KEYS = ("name", *_MODEL_KEYS, "traits", "magic_resistance")
_UNIT_KEYS = (*_CHARACTER_KEYS, "points", "troop")


class UnitProfile(StrictModel):
    """A kind of unit.

    Attributes:
        name: unique among the units of all lists.
        points: per model.
        toughness: of each model.
        wounds: of each model.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        troop: type of its models.
        base: of one model, width and depth in millimetres.
        traits: what spells ask about it.
        magic_resistance: dispel dice against a spell that targets it.
        min_models: fewest models in a generated army.
        max_models: most models in a generated army.
        slot: how an army list counts it.
        source: tag of the source of its numbers; "ours" where none has them.
    """

    name: Name
    points: Points
    toughness: Characteristic
    wounds: Characteristic = 1
    armour_save: Save | None = None
    ward_save: Save | None = None
    troop: UnitTroop = "infantry"
    base: Base
    traits: Traits = ()
    magic_resistance: MagicResistance = 0
    min_models: Annotated[int, Whole(1, 200)] = 1
    max_models: Annotated[int, Whole(1, 200)]
    slot: Literal["core", "special", "rare"] = "core"
    source: Name


class CharacterProfile(StrictModel):
    """A kind of character.

    Attributes:
        name: unique among the characters of all lists.
        kind: what it is to the magic phase.
        slot: how an army list counts it.
        points: a number; for wizards a table from level, as text, to points.
        toughness: of the model.
        wounds: of the model.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        base: width and depth in millimetres.
        lores: lores that a wizard may choose from.
        traits: what spells ask about it.
        magic_resistance: dispel dice against a spell that targets it.
        source: tag of the source of its numbers; "ours" where none has them.
    """

    name: Name
    kind: Kind
    slot: Literal["lord", "hero"] = "hero"
    points: Points | dict[str, Points]
    toughness: Characteristic
    wounds: Characteristic
    armour_save: Save | None = None
    ward_save: Save | None = None
    base: Base
    lores: tuple[Name, ...] = ()
    traits: Traits = ()
    magic_resistance: MagicResistance = 0
    source: Name

    def points_at(self, level: int) -> float | None:
        """Its cost as a wizard of that level; None where it cannot have it."""
        if isinstance(self.points, Mapping):
            return self.points.get(str(level))
        return self.points


class ArmyList(StrictModel):
    """The profiles of one army list.

    Attributes:
        name: of the army.
        source: what the tags of the profiles mean.
        units: its units.
        characters: its characters.
    """

    name: Name
    source: Name
    units: tuple[UnitProfile, ...] = ()
    characters: tuple[CharacterProfile, ...] = ()


def bundled_armies() -> tuple[str, ...]:
    """Names of the army lists that come with the package, sorted: their files without ending."""
    return bundled_names(_FOLDER)


@cache
def army_list(name: str) -> ArmyList:
    """Return an army list that comes with the package.

    Args:
        name: one of `bundled_armies`.
    """
    return validate(ArmyList, bundled_data(_FOLDER, name), f"{_FOLDER}/{name}.toml")


@cache
def unit_profiles() -> dict[str, UnitProfile]:
    """All profiles of units by name.

    Raises:
        ScenarioError: two have one name.
    """
    return _by_name("units", [army_list(name).units for name in bundled_armies()])


@cache
def character_profiles() -> dict[str, CharacterProfile]:
    """All profiles of characters by name.

    Raises:
        ScenarioError: two have one name.
    """
    return _by_name("characters", [army_list(name).characters for name in bundled_armies()])


_Profile = TypeVar("_Profile", UnitProfile, CharacterProfile)


def _by_name(key: str, lists: Sequence[Sequence[_Profile]]) -> dict[str, _Profile]:
    """Profiles of all lists, which are in the order of `bundled_armies`."""
    found: dict[str, _Profile] = {}
    for army, profiles in zip(bundled_armies(), lists, strict=True):
        for i, profile in enumerate(profiles):
            if profile.name in found:
                problem = Problem(
                    f"{key}[{i}].name", "a name of its own in all lists", format_value(profile.name)
                )
                raise ScenarioError(f"{_FOLDER}/{army}.toml", [problem])
            found[profile.name] = profile
    return found


def fill_from_unit_profile(data: Mapping[str, Any]) -> dict[str, Any]:
    """Complete a unit's table from its profile.

    Raises:
        PydanticCustomError: the profile is unknown.
    """
    name = data.get("profile")
    if not isinstance(name, str):
        return {**data}
    profile = _known(name, unit_profiles(), "a unit of an army list")
    return {**{key: getattr(profile, key) for key in _UNIT_KEYS}, **data}


def fill_from_character_profile(data: Mapping[str, Any], kinds: Sequence[Kind]) -> dict[str, Any]:
    """Complete a character's table from its profile.

    Args:
        data: as written.
        kinds: kinds of profile that the character may have.

    Raises:
        PydanticCustomError: the profile is unknown or of another kind; or it has no points for
            the wizard's level and the table has none either.
    """
    name = data.get("profile")
    if not isinstance(name, str):
        return {**data}
    usable = {key: each for key, each in character_profiles().items() if each.kind in kinds}
    profile = _known(name, usable, f"a {' or '.join(kinds)} of an army list")
    filled = {key: getattr(profile, key) for key in _CHARACTER_KEYS}
    if profile.kind in ("runesmith", "runelord"):
        filled["rank"] = profile.kind
    if "points" not in data:
        level = data.get("level")
        if not isinstance(profile.points, Mapping):
            filled["points"] = profile.points
        elif isinstance(level, int) and not isinstance(level, bool):
            filled["points"] = profile.points_at(level)
            if filled["points"] is None:
                expected = f"{' or '.join(profile.points)}, as {profile.name} has points for"
                raise problem_error(Problem("level", expected, format_value(level)))
    return {**filled, **data}


def _known(name: str, profiles: Mapping[str, _Profile], kind: str) -> _Profile:
    """Return the profile of that name; `kind` is what the error message expected."""
    if name not in profiles:
        raise problem_error(Problem("profile", one_of(profiles, name, kind), format_value(name)))
    return profiles[name]
