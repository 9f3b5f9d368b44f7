"""Two armies as chosen in the army builder, and the scenario file that they make.

The units of each army form a line, 18 inches from the enemy's line; a second line is 8 inches
behind the first. Lone wizards are in the line.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wfb_gym.scenario.profiles import CharacterProfile, UnitProfile, army_list, unit_profiles
from wfb_gym.scenario.sizes import UNITS, WIZARDS
from wfb_gym.scenario.units import FRONTAGE

PHASES = (1, 2, 4, 6, 12)  # numbers of magic phases to choose from
LARGEST = {"wizards": WIZARDS, "units": UNITS}  # maximum numbers of rows of an army
_CASTING_KINDS = ("wizard", "runesmith", "runelord")
_WIDTH, _DEPTH, _EDGE, _GAP = 72.0, 48.0, 4.0, 2.0
_FRONTS = ((15.0, -8.0, 0.0), (33.0, 8.0, 180.0))
"""For each army: its front line, the distance to its second line, and its facing."""
_INCH = 25.4  # millimetres in an inch


@dataclass
class BuiltWizard:
    """A wizard, Runesmith or Runelord."""

    profile: str
    level: int = 1  # a wizard's level; ignored for others
    lore: str = ""  # the lore from which it rolls its spells if `spells` is empty
    spells: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    unit: int = -1  # index of its unit, or -1 for none


@dataclass
class BuiltUnit:
    """A unit: its profile's name and its number of models."""

    profile: str
    models: int


@dataclass
class BuiltArmy:
    """An army: the name of its list in ``data/armies``, its wizards and its units."""

    army: str
    wizards: list[BuiltWizard] = field(default_factory=list)
    units: list[BuiltUnit] = field(default_factory=list)


def casters(army: str) -> dict[str, CharacterProfile]:
    """Return the profiles of an army's wizards, Runesmiths and Runelords, by name."""
    characters = army_list(army).characters
    return {each.name: each for each in characters if each.kind in _CASTING_KINDS}


def levels(profile: CharacterProfile) -> list[int]:
    """Return the levels that a profile may have, or [] if it is no wizard."""
    return [int(each) for each in profile.points] if isinstance(profile.points, dict) else []


def units(army: str) -> dict[str, UnitProfile]:
    """Return the profiles of an army's units, by name."""
    return {each.name: each for each in army_list(army).units}


def new_wizard(army: str) -> BuiltWizard:
    """Return an army's cheapest wizard, in its first unit."""
    profile = list(casters(army).values())[-1]
    level = max(levels(profile), default=1)
    return BuiltWizard(profile.name, level, profile.lores[0] if profile.lores else "", unit=0)


def new_unit(army: str, number: int) -> BuiltUnit:
    """Return a unit of an army's list of its usual size; `number` counts through the list."""
    profile = list(units(army).values())[number % len(units(army))]
    return BuiltUnit(profile.name, (profile.min_models + profile.max_models + 1) // 2)


def new_army(army: str) -> BuiltArmy:
    """Return a small army of a list: one wizard and three units."""
    return BuiltArmy(army, [new_wizard(army)], [new_unit(army, number) for number in range(3)])


def scenario_text(armies: Sequence[BuiltArmy], phases: int) -> str:
    """Return the scenario file of the caster's army and the dispeller's, as TOML."""
    lines = ['name = "your-armies"', f"phases = {phases}", ""]
    lines += ["[battlefield]", f"width = {_WIDTH}", f"depth = {_DEPTH}"]
    for seat, built in zip(("caster", "dispeller"), armies, strict=True):
        lines += ["", f"[{seat}]"]
        title = army_list(built.army).name
        if armies[0].army == armies[1].army:
            title += f" ({seat})"
        lines += [f"name = {_toml(title)}"] + ["dwarf = true"] * (built.army == "dwarfs")
        for table, keys in _tables(built, _FRONTS[seat == "dispeller"]):
            lines += ["", f"[[{seat}.{table}]]"]
            lines += [f"{key} = {_toml(value)}" for key, value in keys.items()]
    return "\n".join([*lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        inner = "".join(f"    {{ name = {_toml(each['name'])} }},\n" for each in value)
        return f"[\n{inner}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _tables(
    built: BuiltArmy, front: tuple[float, float, float]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tables of an army: its key, and its keys and values."""
    profiles = casters(built.army)
    names = _unique(
        [unit.profile for unit in built.units] + [wizard.profile for wizard in built.wizards]
    )
    unit_names, wizard_names = names[: len(built.units)], names[len(built.units) :]
    lone = [each for each in built.wizards if not 0 <= each.unit < len(built.units)]
    places = _places([*map(_width, built.units), *([1.0] * len(lone))], front)
    own = {id(each): places[len(built.units) + k] for k, each in enumerate(lone)}
    for name, each in zip(wizard_names, built.wizards, strict=True):
        keys: dict[str, Any] = {"name": name, "profile": each.profile}
        is_wizard = bool(levels(profiles[each.profile]))
        if is_wizard:
            keys["level"] = each.level
        if id(each) in own:
            keys |= {"position": own[id(each)], "facing": front[2]}
        else:
            keys["unit"] = unit_names[each.unit]
        if each.items:
            keys["items"] = each.items
        if is_wizard and each.spells:
            keys["spells"] = [{"name": spell} for spell in each.spells]
        elif is_wizard:
            keys["lore"] = each.lore
        yield ("wizards" if is_wizard else "runesmiths"), keys
    for name, unit, place in zip(unit_names, built.units, places, strict=False):
        keys = {"name": name, "profile": unit.profile, "models": unit.models}
        yield "units", keys | {"position": place, "facing": front[2]}


def _unique(names: Sequence[str]) -> list[str]:
    """Return the names, with numbers after equal ones: "Swordsmen", "Swordsmen 2"."""
    counts = dict.fromkeys(names, 0)
    found = []
    for name in names:
        counts[name] += 1
        found.append(name if counts[name] == 1 else f"{name} {counts[name]}")
    return found


def _width(unit: BuiltUnit) -> float:
    """Return the width of a unit's front, in inches."""
    profile = unit_profiles()[unit.profile]
    return min(unit.models, FRONTAGE) * profile.base[0] / _INCH


def _places(widths: Sequence[float], front: tuple[float, float, float]) -> list[list[float]]:
    """Return the middle of each front, in centred lines of at most the battlefield's width."""
    lines: list[list[float]] = [[]]
    for width in widths:
        if lines[-1] and sum(lines[-1]) + width + len(lines[-1]) * _GAP > _WIDTH - 2 * _EDGE:
            lines.append([])
        lines[-1].append(width)
    found = []
    for number, line in enumerate(lines):
        left = (_WIDTH - sum(line) - (len(line) - 1) * _GAP) / 2
        for width in line:
            found.append([round(left + width / 2, 1), front[0] + number * front[1]])
            left += width + _GAP
    return found
