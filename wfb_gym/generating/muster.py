"""What army lists can bring: slots by points, wizards, and how much a list can field.

Nothing here is drawn at random; that is `leading` and `raising`.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from wfb_gym.generating.options import Generation, Opposition
from wfb_gym.scenario.errors import Problem, shown
from wfb_gym.scenario.profiles import ArmyList, CharacterProfile, UnitProfile, army_list
from wfb_gym.scenario.sizes import UNITS

DWARFS = "dwarfs"
DAEMONS = "daemons"
LEAST_SPENT = 0.9
"""Part of its points that an army spends at least."""
CHARACTERS_SHARE = 0.5
"""Part of its points that an army spends on characters and their items at most (ours)."""
LORD_FROM = 1000
"""Points from which an army may have a lord (ours: in print 2000, where few wizards of levels 3
and 4 would ever be met)."""
LARGE_FROM = 2000
HORRORS = "Horrors"
HORRORS_CASTING = 49.0
"""Points of the champion who makes a unit of Horrors a wizard of level 1."""
HORRORS_LORES = "Lord of Change"
"""The character whose lores Horrors have too (ours)."""


class Slots(NamedTuple):
    """How many of each an army may have (ours, after the usual table of the 6th edition).

    Attributes:
        characters: most characters; units that cast are none.
        lords: most lords among them.
        core: fewest core units.
        special: most special units.
        rare: most rare units.
    """

    characters: int
    lords: int
    core: int
    special: int
    rare: int


def slots_of(points: int) -> Slots:
    """The slots of an army of so many points."""
    if points < LARGE_FROM:
        return Slots(3, int(points >= LORD_FROM), 2, 3, 1)
    return Slots(4, 1, 3, 4, 2)


class Caster(NamedTuple):
    """A way to have a wizard.

    Attributes:
        profile: his; None for a unit of Horrors.
        level: 1 to 4.
        points: what he costs.
        lores: that he may choose here.
    """

    profile: CharacterProfile | None
    level: int
    points: float
    lores: tuple[str, ...]

    @property
    def lord(self) -> bool:
        """Whether he takes the place of a lord."""
        return self.profile is not None and self.profile.slot == "lord"


@lru_cache(maxsize=256)
def casters(people: str, options: Generation) -> tuple[Caster, ...]:
    """The wizards that a list can bring, in its order; empty for none.

    Args:
        people: name of the list.
        options: whose points, lores and room for spells hold.
    """
    found = []
    for profile in army_list(people).characters:
        if profile.kind != "wizard" or not isinstance(profile.points, dict):
            continue
        lores = tuple(lore for lore in profile.lores if lore in options.lores)
        for level, points in profile.points.items():
            found.append(Caster(profile, int(level), points, lores))
            if people == DAEMONS and profile.name == HORRORS_LORES and int(level) == 4:
                found.append(Caster(None, 1, HORRORS_CASTING, lores))
    budget, slots = CHARACTERS_SHARE * options.points, slots_of(options.points)
    return tuple(
        each
        for each in found
        if each.lores
        and each.points <= budget
        and each.level <= options.spells
        and (slots.lords or not each.lord)
    )


def most_fielded(people: ArmyList, slots: Slots, units: int) -> float:
    """The most points that a list can have in units.

    Args:
        people: the list.
        slots: of the army.
        units: how many units there is room for.
    """
    dearest = {
        slot: max((most(unit) for unit in people.units if unit.slot == slot), default=0.0)
        for slot in ("core", "special", "rare")
    }
    chosen = [dearest["core"]] * slots.core
    rest = [dearest["special"]] * slots.special + [dearest["rare"]] * slots.rare
    rest += [dearest["core"]] * units
    return sum(chosen) + sum(sorted(rest, reverse=True)[: units - len(chosen)])


def most(unit: UnitProfile) -> float:
    """Points of the unit with as many models as it may have."""
    return unit.max_models * unit.points


def least(unit: UnitProfile) -> float:
    """Points of the unit with as few models as it may have."""
    return unit.min_models * unit.points


def first_armies(options: Generation) -> tuple[str, ...]:
    """Lists whose wizards can be the first to cast."""
    return tuple(people for people in options.armies if casters(people, options))


def second_armies(kind: Opposition, options: Generation) -> tuple[str, ...]:
    """Lists that can be an opposition of a kind other than "any"."""
    if kind == "dwarfs":
        return tuple(people for people in options.armies if people == DWARFS)
    if kind == "none":
        return tuple(people for people in options.armies if people != DWARFS)
    of_daemons = kind == "daemons"
    return tuple(people for people in first_armies(options) if (people == DAEMONS) == of_daemons)


def unfulfilled(options: Generation) -> list[Problem]:
    """Wishes, each right by itself, of which no army can be made.

    Args:
        options: their values are in range.
    """
    problems = []
    slots = slots_of(options.points)
    needed = LEAST_SPENT * options.points

    def short(units: int) -> list[str]:
        return [
            people
            for people in options.armies
            if most_fielded(army_list(people), slots, units) < needed
        ]

    if lacking := short(options.units):
        fewest = next((n for n in range(options.units, UNITS) if not short(n)), UNITS)
        expected = f"at least {fewest}, as {options.points} points of {_listed(lacking)} need"
        problems.append(Problem("units", expected, str(options.units)))
    if not first_armies(options):
        expected = "one with wizards for these points, spells and lores"
        problems.append(Problem("armies", expected, _listed(options.armies)))
    elif options.opposition != "any" and not second_armies(options.opposition, options):
        expected = f"one for the opposition {shown(options.opposition)}"
        problems.append(Problem("armies", expected, _listed(options.armies)))
    return problems


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
