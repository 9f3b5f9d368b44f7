"""Armies: units, characters, and what these are to each other.

Units and characters themselves are `units` and `characters`.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from wfb_gym.scenario.characters import Character, Hero, Items, Runesmith, Wizard
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import Dice, Document, Flag, Name, one_of
from wfb_gym.scenario.sizes import SPELLS, UNITS, WIZARDS
from wfb_gym.scenario.units import Unit

__all__ = ["Army", "Character", "Hero", "Runesmith", "Unit", "Wizard"]


class Army(Document):
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
        """The characters, each with his key from the army on."""
        for i, wizard in enumerate(self.wizards):
            yield f"wizards[{i}]", wizard
        for i, runesmith in enumerate(self.runesmiths):
            yield f"runesmiths[{i}]", runesmith
        for i, hero in enumerate(self.heroes):
            yield f"heroes[{i}]", hero

    def unit_index(self, name: str | None) -> int | None:
        """Index of the unit of that name; None where there is none, or no name."""
        for index, unit in enumerate(self.units):
            if unit.name == name:
                return index
        return None

    def unit_of(self, character: Character) -> Unit | None:
        """The unit that a character has joined, or that he is; None where he stands alone."""
        index = self.unit_index(character.stands_in)
        return None if index is None else self.units[index]

    def companions(self, unit: Unit) -> tuple[Character, ...]:
        """The characters who stand in a unit: alive, in their order."""
        return tuple(c for c in self.characters if c.on_table and c.stands_in == unit.name)

    def engaged(self, who: Unit | Character) -> bool:
        """Whether a unit or a character is in close combat: it, or one that it stands with."""
        unit = who if isinstance(who, Unit) else self.unit_of(who)
        if unit is None:
            return who.in_combat
        together = (unit, who, *self.companions(unit))
        return any(each.in_combat for each in together)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        problems = [*self._name_problems(), *self._joining_problems(), *self._daemon_problems()]
        if len(self.characters) > WIZARDS:
            expected = f"at most {WIZARDS} wizards, Runesmiths, Runelords and heroes"
            key = next(self.keyed_characters())[0].partition("[")[0]
            problems.append(Problem(key, expected, str(len(self.characters))))
        spells = sum(len(wizard.candidate_spells) for wizard in self.wizards)
        if spells > SPELLS:
            expected = f"at most {SPELLS} spells in an army, six for a wizard who rolls his"
            problems.append(Problem("wizards", expected, str(spells)))
        if problems:
            raise refusal(problems)
        return self

    def _name_problems(self) -> Iterator[Problem]:
        seen: set[str] = set()
        named = [(f"{key}.name", character.name) for key, character in self.keyed_characters()]
        named += [(f"units[{i}].name", unit.name) for i, unit in enumerate(self.units)]
        for key, name in named:
            if name in seen:
                expected = "a name of its own, as each unit and character of an army has"
                yield Problem(key, expected, shown(name))
            seen.add(name)

    def _joining_problems(self) -> Iterator[Problem]:
        """What cannot be of characters and the units they stand in."""
        names = [unit.name for unit in self.units]
        for key, character in self.keyed_characters():
            where = "unit" if character.unit is not None else "daemon_unit"
            name = character.stands_in
            if name is None:
                continue
            unit = self.unit_of(character)
            if unit is None:
                expected = one_of(names, name, "a unit of his army")
                yield Problem(f"{key}.{where}", expected, shown(name))
            elif character.status == "off_table":
                expected = "no unit, as he is off the table"
                yield Problem(f"{key}.{where}", expected, shown(name))
            elif character.alive and unit.fleeing != character.fleeing:
                if unit.fleeing:
                    expected = '"fleeing", as his unit flees'
                else:
                    expected = "another, as his unit does not flee"
                yield Problem(f"{key}.status", expected, shown(character.status))

    def _daemon_problems(self) -> Iterator[Problem]:
        """What cannot be of wizards who are units of Daemons."""
        casting: Counter[str] = Counter()
        for i, wizard in enumerate(self.wizards):
            unit = self.unit_of(wizard)
            if wizard.daemon_unit is None or unit is None:
                continue
            key = f"wizards[{i}].daemon_unit"
            if "daemons" not in unit.traits:
                expected = 'a unit whose traits have "daemons"'
                yield Problem(key, expected, shown(unit.name))
            elif casting[unit.name]:
                yield Problem(key, "a unit that is no other wizard", shown(unit.name))
            casting[unit.name] += 1
