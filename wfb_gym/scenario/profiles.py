"""Profiles of units and characters from the army lists in ``data/armies``.

Profiles fill in missing keys for a scenario's units and characters, which are in `units` and
`characters`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from wfb_gym.scenario import fields
from wfb_gym.scenario.documents import bundled_data, bundled_names, validate
from wfb_gym.scenario.effects import Trait, TroopType
from wfb_gym.scenario.errors import Problem, ScenarioError, format_value, problem_error, problem_in
from wfb_gym.scenario.fields import Name, StrictModel, Text, Whole
from wfb_gym.suggestions import find_name, one_of

_FOLDER = "armies"

UnitTroop = Literal["infantry", "cavalry", "chariot", "monster", "war_machine", "swarm"]
Kind = Literal["wizard", "runesmith", "runelord", "hero"]
Traits = Annotated[tuple[Trait, ...], Field(max_length=10)]
MagicResistance = Annotated[int, Whole(0, 3)]

_MODEL_KEYS = ("toughness", "wounds", "leadership", "armour_save", "ward_save", "base")
_CHARACTER_KEYS = ("name", *_MODEL_KEYS, "troop", "traits", "magic_resistance")
_UNIT_KEYS = (*_CHARACTER_KEYS, "points")


class UnitProfile(StrictModel):
    """A kind of unit. Fields shared with `Unit` have the same meaning."""

    name: Name  # unique among the units of all lists
    points: fields.Points  # per model
    toughness: fields.Characteristic
    wounds: fields.Characteristic = 1
    leadership: fields.Leadership
    armour_save: fields.Save | None = None
    ward_save: fields.Save | None = None
    troop: UnitTroop = "infantry"
    base: fields.Base
    traits: Traits = ()
    magic_resistance: MagicResistance = 0
    min_models: Annotated[int, Whole(1, 200)] = 1  # minimum number of models in a generated army
    max_models: Annotated[int, Whole(1, 200)]  # maximum number of models in a generated army
    slot: Literal["core", "special", "rare"] = "core"  # how it counts in an army list
    source: Text  # tag for the source of its numbers; "ours" for a house rule


class CharacterProfile(StrictModel):
    """A kind of character. Fields shared with `Character` have the same meaning."""

    name: Name  # unique among the characters of all lists
    kind: Kind  # its role in the magic phase
    slot: Literal["lord", "hero"] = "hero"  # how it counts in an army list
    # a number or, for wizards, a table whose keys are the levels as text
    points: fields.Points | dict[str, fields.Points]
    toughness: fields.Characteristic
    wounds: fields.Characteristic
    leadership: fields.Leadership
    armour_save: fields.Save | None = None
    ward_save: fields.Save | None = None
    troop: TroopType = "character"
    base: fields.Base
    lores: tuple[Name, ...] = ()  # lores available to a wizard
    traits: Traits = ()
    magic_resistance: MagicResistance = 0
    source: Text  # tag for the source of its numbers; "ours" for a house rule

    def points_at(self, level: int) -> float | None:
        """Return its cost as a wizard of that level, or None if it cannot have that level."""
        return self.points.get(str(level)) if isinstance(self.points, Mapping) else self.points


class ArmyList(StrictModel):
    """The profiles in one army list."""

    name: Name  # the army's name
    source: Text  # explanation of the source tags in the profiles
    units: tuple[UnitProfile, ...] = ()
    characters: tuple[CharacterProfile, ...] = ()


def bundled_armies() -> tuple[str, ...]:
    """Return the sorted names of the bundled army lists: their file names without suffixes."""
    return bundled_names(_FOLDER)


@cache
def army_list(name: str) -> ArmyList:
    """Return the army list with one of the names in `bundled_armies`."""
    return validate(ArmyList, bundled_data(_FOLDER, name), f"{_FOLDER}/{name}.toml")


@cache
def unit_profiles() -> dict[str, UnitProfile]:
    """Return all unit profiles by name."""
    return _by_name("units", [army_list(name).units for name in bundled_armies()])


@cache
def character_profiles() -> dict[str, CharacterProfile]:
    """Return all character profiles by name."""
    return _by_name("characters", [army_list(name).characters for name in bundled_armies()])


_Profile = TypeVar("_Profile", UnitProfile, CharacterProfile)


def _by_name(key: str, lists: Sequence[Sequence[_Profile]]) -> dict[str, _Profile]:
    """Return the profiles in all lists by name; raise if a name is repeated."""
    found: dict[str, _Profile] = {}
    for army, profiles in zip(bundled_armies(), lists, strict=True):
        for i, profile in enumerate(profiles):
            if profile.name in found:
                expected, name = "a name that no other profile has", format_value(profile.name)
                problem = Problem(f"{key}[{i}].name", expected, name)
                raise ScenarioError(f"{_FOLDER}/{army}.toml", [problem])
            found[profile.name] = profile
    return found


def fill_from_unit_profile(data: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in missing keys in a unit's table from its profile.

    Raises:
        PydanticCustomError: if the profile is unknown.
    """
    if not isinstance(data.get("profile"), str):
        return {**data}
    profile = _profile_of(data, unit_profiles(), "a unit of an army list")
    filled = {key: getattr(profile, key) for key in _UNIT_KEYS}
    return {**filled, **data, "profile": profile.name}


def fill_from_character_profile(data: Mapping[str, Any], kinds: Sequence[Kind]) -> dict[str, Any]:
    """Fill in missing keys in a character's table from its profile.

    Raises:
        PydanticCustomError: if the profile is unknown or is not one of `kinds`, or if neither the
            table nor the profile has points for the wizard's level.
    """
    if not isinstance(data.get("profile"), str):
        return {**data}
    usable = {key: each for key, each in character_profiles().items() if each.kind in kinds}
    profile = _profile_of(data, usable, f"a {' or '.join(kinds)} of an army list")
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
                levels = " or ".join(profile.points)
                expected = f"{levels}, the levels of the profile {profile.name}"
                raise problem_error(problem_in(data, "level", expected))
    return {**filled, **data, "profile": profile.name}


def _profile_of(data: Mapping[str, Any], profiles: Mapping[str, _Profile], kind: str) -> _Profile:
    """Return the profile named in a table; `kind` describes it in the error message."""
    name = find_name(profiles, data["profile"])
    if name is None:
        expected = one_of(profiles, data["profile"], kind, '"python -m wfb_gym profiles"')
        expected += ", or no profile and your own numbers"
        raise problem_error(problem_in(data, "profile", expected))
    return profiles[name]
