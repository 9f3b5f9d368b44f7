"""Armies: units, characters, and which of them stand together.

Units and characters themselves are in `units` and `characters`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from wfb_gym.scenario.characters import (
    BaseContact,
    Character,
    Hero,
    Items,
    Runesmith,
    Wizard,
)
from wfb_gym.scenario.errors import Problem, format_value, raise_problems
from wfb_gym.scenario.fields import Dice, Flag, Name, StrictModel, one_of
from wfb_gym.scenario.sizes import SPELLS, UNITS, WIZARDS
from wfb_gym.scenario.units import Unit

MODELS_TOUCHED = 3
"""Models of its own unit that a character in it touches: two beside, one behind (ours)."""


class Army(StrictModel):
    """One side of the battle.

    Attributes:
        name: for display.
        dwarf: a Dwarf army, with the larger base of dispel dice.
        power_dice: fixes the shared pool of its own phases instead of generating it.
        dispel_dice: fixes the pool of enemy phases.
        items: names of items that belong to the army itself and need no bearer.
        miscast_table: of its wizards; None for the ruleset's.
        wizards: its wizards.
        runesmiths: its Runesmiths and Runelords.
        heroes: its fighting characters.
        units: its units.
    """

    name: Name | None = None
    dwarf: Flag = False
    power_dice: Dice | None = None
    dispel_dice: Dice | None = None
    items: Items = ()
    miscast_table: Name | None = None
    wizards: tuple[Wizard, ...] = ()
    runesmiths: tuple[Runesmith, ...] = ()
    heroes: tuple[Hero, ...] = ()
    units: Annotated[tuple[Unit, ...], Field(max_length=UNITS)] = ()

    @property
    def characters(self) -> tuple[Character, ...]:
        """Wizards, then Runesmiths and Runelords, then heroes: the order of their packing."""
        return (*self.wizards, *self.runesmiths, *self.heroes)

    def keyed_characters(self) -> Iterator[tuple[str, Character]]:
        """Return the characters, each with its key from the army on."""
        for i, wizard in enumerate(self.wizards):
            yield f"wizards[{i}]", wizard
        for i, runesmith in enumerate(self.runesmiths):
            yield f"runesmiths[{i}]", runesmith
        for i, hero in enumerate(self.heroes):
            yield f"heroes[{i}]", hero

    def unit_index(self, name: str | None) -> int | None:
        """Index of the unit of that name; None for an unknown name, or none."""
        for index, unit in enumerate(self.units):
            if unit.name == name:
                return index
        return None

    def unit_of(self, character: Character) -> Unit | None:
        """Return the unit that a character has joined, or that it is; None where it is alone."""
        index = self.unit_index(character.stands_in)
        return None if index is None else self.units[index]

    def companions(self, unit: Unit) -> tuple[Character, ...]:
        """Return the characters in a unit that are alive, in their order."""
        return tuple(c for c in self.characters if c.is_on_battlefield and c.stands_in == unit.name)

    def is_engaged(self, who: Unit | Character) -> bool:
        """Whether a unit or a character, or one that it stands with, is in close combat."""
        unit = who if isinstance(who, Unit) else self.unit_of(who)
        if unit is None:
            return who.in_combat
        return any(each.in_combat for each in (unit, who, *self.companions(unit)))

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        problems = [*self._name_problems(), *self._joining_problems(), *self._daemon_problems()]
        if len(self.characters) > WIZARDS:
            expected = f"at most {WIZARDS} wizards, Runesmiths, Runelords and heroes"
            key = next(self.keyed_characters())[0].partition("[")[0]
            problems.append(Problem(key, expected, str(len(self.characters))))
        spells = sum(len(wizard.candidate_spells) for wizard in self.wizards)
        if spells > SPELLS:
            expected = f"at most {SPELLS} spells in an army, six for a wizard who rolls its spells"
            problems.append(Problem("wizards", expected, str(spells)))
        raise_problems(problems)
        return self

    def _name_problems(self) -> Iterator[Problem]:
        seen: set[str] = set()
        named = [(f"{key}.name", character.name) for key, character in self.keyed_characters()]
        named += [(f"units[{i}].name", unit.name) for i, unit in enumerate(self.units)]
        for key, name in named:
            if name in seen:
                expected = "a name of its own, as each unit and character of an army has"
                yield Problem(key, expected, format_value(name))
            seen.add(name)

    def _joining_problems(self) -> Iterator[Problem]:
        """Characters and the units that they stand in contradict each other."""
        names = [unit.name for unit in self.units]
        for key, character in self.keyed_characters():
            where = "unit" if character.unit is not None else "daemon_unit"
            name = character.stands_in
            if name is None:
                continue
            unit = self.unit_of(character)
            if unit is None:
                expected = one_of(names, name, "a unit of its army")
                yield Problem(f"{key}.{where}", expected, format_value(name))
            elif character.status == "off_table":
                expected = "no unit, as it is off the table"
                yield Problem(f"{key}.{where}", expected, format_value(name))
            elif character.is_alive and unit.fleeing != character.is_fleeing:
                if unit.fleeing:
                    expected = '"fleeing", as its unit flees'
                else:
                    expected = "another, as its unit does not flee"
                yield Problem(f"{key}.status", expected, format_value(character.status))

    def _daemon_problems(self) -> Iterator[Problem]:
        """Wizards that are units of Daemons contradict these units."""
        casting: Counter[str] = Counter()
        for i, wizard in enumerate(self.wizards):
            unit = self.unit_of(wizard)
            if wizard.daemon_unit is None or unit is None:
                continue
            key = f"wizards[{i}].daemon_unit"
            if "daemons" not in unit.traits:
                expected = 'a unit whose traits have "daemons"'
                yield Problem(key, expected, format_value(unit.name))
            elif casting[unit.name]:
                yield Problem(key, "a unit that is no other wizard", format_value(unit.name))
            casting[unit.name] += 1


class ContactGroup(NamedTuple):
    """Equal models in base contact with a character.

    Attributes:
        owner: army that loses the points, 0 or 1.
        unit: index of the owner's unit that loses the models; None for models of no unit.
        models: how many.
        toughness: of each.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        points: per model.
        wounds: of each model.
    """

    owner: int
    unit: int | None
    models: int
    toughness: int
    armour_save: int | None
    ward_save: int | None
    points: float
    wounds: int


def contact_groups(armies: Sequence[Army], army: int, character: int) -> tuple[ContactGroup, ...]:
    """Return the groups in base contact with a character.

    Args:
        armies: both, the caster's first.
        army: of the character, 0 or 1.
        character: index among its characters.

    Returns:
        What it lists. Where it lists nothing and stands in a unit: models of that unit.
    """
    own = armies[army]
    who = own.characters[character]
    if who.base_contact:
        return tuple(_listed_group(armies, army, group) for group in who.base_contact)
    unit = own.unit_of(who)
    index = own.unit_index(who.stands_in)
    if unit is None or not who.is_on_battlefield:
        return ()
    # A wizard that is the unit is itself one of its models.
    others = unit.models - (isinstance(who, Wizard) and who.daemon_unit is not None)
    touched = min(MODELS_TOUCHED, others)
    return (_unit_group(army, index, unit, touched),) if touched else ()


def _listed_group(armies: Sequence[Army], army: int, group: BaseContact) -> ContactGroup:
    owner = army if group.side == "own" else 1 - army
    index = armies[owner].unit_index(group.unit)
    if index is not None:
        return _unit_group(owner, index, armies[owner].units[index], group.models)
    saves = group.armour_save, group.ward_save
    return ContactGroup(owner, None, group.models, group.toughness, *saves, group.points, 1)


def _unit_group(owner: int, index: int | None, unit: Unit, models: int) -> ContactGroup:
    saves = unit.armour_save, unit.ward_save
    return ContactGroup(owner, index, models, unit.toughness, *saves, unit.points, unit.wounds)
