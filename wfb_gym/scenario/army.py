"""Armies: wizards, Runesmiths, the models around them, and units."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import (
    Characteristic,
    Dice,
    Document,
    Flag,
    Name,
    Points,
    Save,
    Whole,
)
from wfb_gym.scenario.packed import CONTACT_MODELS, SPELLS, WIZARDS
from wfb_gym.scenario.spells import Spell

Status = Literal["ready", "rallied", "fleeing", "off_table", "dead"]
Items = Annotated[tuple[Name, ...], Field(max_length=24)]


class BaseContact(Document):
    """Like models in base contact with a character, his mount among them.

    Attributes:
        side: whether they are of his own army or of the enemy's.
        models: how many.
        toughness: of each.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        points: per model.
    """

    side: Literal["own", "enemy"]
    models: Annotated[int, Whole(1, CONTACT_MODELS)]
    toughness: Characteristic = 3
    armour_save: Save | None = None
    ward_save: Save | None = None
    points: Points = 5.0


class Character(Document):
    """What wizards, Runesmiths and Runelords have in common.

    Attributes:
        name: unique in the army.
        status: fleeing and dead ones bring no dice and use no items; one off the table does
            both, but does not cast.
        points: what he costs; a lost wound loses its share.
        toughness: of the model.
        wounds: of the model.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        in_combat: he fights in close combat.
        base_contact: groups of models in base contact.
        items: names of the items he carries; a name as often as he has the item.
    """

    name: Name
    status: Status = "ready"
    points: Points = 100.0
    toughness: Characteristic = 3
    wounds: Characteristic = 2
    armour_save: Save | None = None
    ward_save: Save | None = None
    in_combat: Flag = False
    base_contact: tuple[BaseContact, ...] = ()
    items: Items = ()

    @property
    def alive(self) -> bool:
        """Whether he is not dead."""
        return self.status != "dead"

    @property
    def active(self) -> bool:
        """Whether he brings dice and uses items: neither fleeing nor dead (S0)."""
        return self.alive and self.status != "fleeing"


class Wizard(Character):
    """A wizard.

    Attributes:
        level: 1 to 4.
        reserve: fixes his own power dice instead of generating them.
        spells: what he knows.
    """

    level: Annotated[int, Whole(1, 4)]
    reserve: Dice | None = None
    spells: tuple[Spell, ...] = ()

    @model_validator(mode="after")
    def _spells_fit_together(self) -> Self:
        problems = _named_twice("spells", (spell.name for spell in self.spells))
        lasting = [
            f"spells[{i}].in_play"
            for i, spell in enumerate(self.spells)
            if spell.in_play and spell.duration == "remains_in_play"
        ]
        if len(lasting) > 1:
            expected = "at most one spell of a wizard that remains in play"
            problems.append(Problem(lasting[1], expected, f"{len(lasting)} of them"))
        if self.status in ("dead", "off_table"):
            expected = f"false, or survives_caster, as its wizard is {self.status}"
            problems += [
                Problem(f"{key}.in_play", expected, "true")
                for key, spell in self.keyed_spells()
                if spell.in_play
                and spell.duration == "remains_in_play"
                and not spell.survives_caster
            ]
        if problems:
            raise refusal(problems)
        return self

    def keyed_spells(self) -> Iterator[tuple[str, Spell]]:
        """His spells, each with its key from the wizard on."""
        for i, spell in enumerate(self.spells):
            yield f"spells[{i}]", spell


class Runesmith(Character):
    """A Runesmith or Runelord: he brings dispel dice and casts nothing."""

    rank: Literal["runesmith", "runelord"] = "runesmith"


class Unit(Document):
    """A unit of fighting models.

    Attributes:
        name: unique in the army.
        models: how many.
        toughness: of each model.
        wounds: of each model.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        points: per model.
    """

    name: Name
    models: Annotated[int, Whole(1, 200)]
    toughness: Characteristic
    wounds: Characteristic = 1
    armour_save: Save | None = None
    ward_save: Save | None = None
    points: Points


class Army(Document):
    """One side of the battle.

    Attributes:
        name: for display.
        dwarf: a Dwarf army, with the larger base of dispel dice.
        power_dice: fixes the shared pool of its own phases instead of generating it.
        dispel_dice: fixes the pool of enemy phases.
        items: names of items that belong to the army itself and need no bearer.
        wizards: its wizards.
        runesmiths: its Runesmiths and Runelords.
        units: its units.
    """

    name: Name | None = None
    dwarf: Flag = False
    power_dice: Dice | None = None
    dispel_dice: Dice | None = None
    items: Items = ()
    wizards: tuple[Wizard, ...] = ()
    runesmiths: tuple[Runesmith, ...] = ()
    units: tuple[Unit, ...] = ()

    @property
    def characters(self) -> tuple[Character, ...]:
        """Wizards, then Runesmiths and Runelords: the order in which they are packed."""
        return (*self.wizards, *self.runesmiths)

    def keyed_characters(self) -> Iterator[tuple[str, Character]]:
        """The characters, each with his key from the army on."""
        for i, wizard in enumerate(self.wizards):
            yield f"wizards[{i}]", wizard
        for i, runesmith in enumerate(self.runesmiths):
            yield f"runesmiths[{i}]", runesmith

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = {key: character.name for key, character in self.keyed_characters()}
        problems = [
            Problem(f"{key}.name", "a name of his own in the army", shown(name))
            for i, (key, name) in enumerate(names.items())
            if name in list(names.values())[:i]
        ]
        problems += _named_twice("units", (unit.name for unit in self.units))
        if len(names) > WIZARDS:
            expected = f"at most {WIZARDS} wizards, Runesmiths and Runelords"
            key = "wizards" if self.wizards else "runesmiths"
            problems.append(Problem(key, expected, str(len(names))))
        spells = sum(len(wizard.spells) for wizard in self.wizards)
        if spells > SPELLS:
            expected = f"at most {SPELLS} spells in an army"
            problems.append(Problem("wizards", expected, str(spells)))
        if problems:
            raise refusal(problems)
        return self


def _named_twice(key: str, names: Iterable[str]) -> list[Problem]:
    """A problem for each entry of a list whose name stands there before."""
    seen: Counter[str] = Counter()
    problems = []
    for i, name in enumerate(names):
        if seen[name]:
            problems.append(Problem(f"{key}[{i}].name", "each name once", shown(name)))
        seen[name] += 1
    return problems
