"""Expected points of a lore's spell against a typical target, for wizards without a scenario.

`view.odds` computes the points in a scenario with only the wizard and the target, which is in
range and in sight. The worths in ``data/lores.toml`` are compared to the same typical target.
"""

import re
from typing import Any, NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import scenario_from_dict
from wfb_gym.scenario.effects import SpellEffect
from wfb_gym.scenario.profiles import UnitProfile, unit_profiles
from wfb_gym.scenario.sizes import PHASES
from wfb_gym.scenario.spells import find_lore_spell
from wfb_gym.scenario.units import MAX_MODELS
from wfb_gym.suggestions import find_name, one_of
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.odds import spell_odds

_MODELS, _TOUGHNESS, _POINTS = 20, 3, 6.0
_PHASES = 2  # number of phases that count: the caster's own and the enemy's next one
_SITUATIONS = {
    "in_combat": " in close combat",
    "fleeing": " that flee",
    "magic_item": " with a magic item",
}
_COUNTED = re.compile(r"(\d{1,3})\s+(.+)")


class SpellValue(NamedTuple):
    """The points used for a spell."""

    spell: str
    points: float  # its expected points when it takes effect, rounded to two decimal places
    target: str  # its target in words, or "" for a spell on the caster or the player


class SpellTargetError(ValueError):
    """Raised for a target that does not exist or that the spell cannot affect.

    Attributes:
        expected: the expected target in words.
    """

    def __init__(self, expected: str) -> None:
        super().__init__(f"target: expected {expected}")
        self.expected = expected


def typical_value(spell: str, wizard: dict[str, Any], target: str | None = None) -> SpellValue:
    """Return a lore's spell's expected points against a target without terrain or other units.

    Effects that last count for two phases, the caster's and the enemy's next one; a Comet counts
    until it lands. A spell on a friend affects a friendly unit like the typical target.

    Args:
        spell: name of the spell.
        wizard: the caster's table in a scenario, without spells.
        target: a unit's profile, with the number of models in front of it if it is not 20. None
            for the typical target: unarmoured models of Toughness 3 at 6 points each.

    Raises:
        SpellTargetError: if the profile is unknown or the spell cannot affect the target.
    """
    found = find_lore_spell(spell)
    assert found is not None
    effect = found.effect
    profile, models = _profile_of(target)
    is_own = effect.target.startswith("friendly")
    if is_own:
        profile = None
    unit = _unit(effect, profile, models)
    is_comet = effect.damage is not None and effect.damage.delayed
    caster = {**wizard, "spells": [spell], "in_combat": effect.caster_engaged}
    target_army = {"units": [unit]}
    if effect.only == ("character",) and profile is None:
        target_army = {"heroes": [{"name": "target"}]}
    document = {
        "name": "typical-target",
        "phases": PHASES if is_comet else _PHASES,
        # Without a die, the phase would end at once.
        "caster": {"wizards": [caster], "power_dice": 1, **(target_army if is_own else {})},
        "dispeller": {} if is_own else target_army,
    }
    scenario = scenario_from_dict(document)
    odds = spell_odds(ScenarioNames(scenario), Battle(pack(scenario)), 0, 0, ())
    points = round(odds.points, 2)
    if not points:
        points_given = f"the points of {spell}, such as {spell}=20"
        raise SpellTargetError(f"a unit that {spell} can affect" if profile else points_given)
    is_on_unit = effect.target not in ("caster", "player", "friendly_character")
    return SpellValue(spell, points, _words(effect, unit, profile) if is_on_unit else "")


def _profile_of(target: str | None) -> tuple[UnitProfile | None, int]:
    """Return the profile and the number of models that a target names."""
    if target is None:
        return None, _MODELS
    counted = _COUNTED.fullmatch(target.strip())
    profiles = unit_profiles()
    wanted = counted[2] if counted else target
    name = find_name(profiles, wanted)
    if name is None:
        kind = "a unit of an army list"
        raise SpellTargetError(one_of(profiles, wanted, kind, '"python -m wfb_gym profiles"'))
    models = int(counted[1]) if counted else min(_MODELS, profiles[name].max_models)
    if not 1 <= models <= MAX_MODELS:
        raise SpellTargetError(f"1 to {MAX_MODELS} models")
    return profiles[name], models


def _unit(effect: SpellEffect, profile: UnitProfile | None, models: int) -> dict[str, Any]:
    """Return the target's table, in the situation that the spell needs."""
    unit: dict[str, Any] = {
        "models": models,
        "in_combat": effect.engaged == "only",
        "fleeing": effect.needs == "fleeing",
        "magic_item": effect.needs == "magic_item",
    }
    if profile is not None:
        return {"name": profile.name, "profile": profile.name, **unit}
    unit |= {"name": "target", "toughness": _TOUGHNESS, "points": _POINTS}
    if effect.only and "infantry" not in effect.only:  # one model that is worth as much
        unit |= {"troop": effect.only[0], "models": 1, "points": _MODELS * _POINTS}
    return unit


def _words(effect: SpellEffect, unit: dict[str, Any], profile: UnitProfile | None) -> str:
    """Describe a target."""
    if profile is not None:
        words = f"{unit['models']} {profile.name}"
    elif "troop" in unit:
        words = f"a {unit['troop'].replace('_', ' ')}"
        if unit["troop"] != "character":  # the points of the effect do not depend on its points
            words += f" of {unit['points']:g} points"
    else:
        friendly = "friendly " if effect.target.startswith("friendly") else ""
        numbers = f"Toughness {_TOUGHNESS}, no armour, {_POINTS:g} points each"
        words = f"{_MODELS} {friendly}models ({numbers})"
    for key, situation in _SITUATIONS.items():
        words += situation if unit[key] else ""
    return words
