"""Armies: units, characters, and the assignment of characters to units.

The models for units and characters are in `units` and `characters`.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from wfb_gym.scenario.characters import BaseContact, Character, Hero, Items, Runesmith, Wizard
from wfb_gym.scenario.errors import Problem
from wfb_gym.scenario.fields import Dice, Flag, Name, Number, StrictModel
from wfb_gym.scenario.sizes import HIDDEN_KINDS, MAX_POINTS, SPELLS, UNITS, WIZARDS
from wfb_gym.scenario.units import Unit
from wfb_gym.suggestions import one_of

MODELS_TOUCHED = 3
"""House rule: a character touches three models in its unit, two at its sides and one behind."""


class HiddenItems(StrictModel):
    """A set of items that an army may have without the enemy knowing."""

    items: Items = ()  # names of items that have no effect until used
    bearer: Name | None = None  # character that carries them; None for the army itself
    weight: Annotated[float, Number(0.0, MAX_POINTS)] = 1.0  # relative probability of the set


class Army(StrictModel):
    """One side of the battle."""

    name: Name | None = None  # for display
    dwarf: Flag = False  # a Dwarf army, which has more base dispel dice
    # power dice in its own phases; None to generate them
    power_dice: Dice | None = None
    dispel_dice: Dice | None = None  # dispel dice in enemy phases; None to generate them
    items: Items = ()  # names of items that belong to the army itself and need no bearer
    # sets of hidden items; one is dealt at random, unseen by the enemy
    hidden: Annotated[tuple[HiddenItems, ...], Field(max_length=HIDDEN_KINDS)] = ()
    miscast_table: Name | None = None  # for its wizards; None for the ruleset's table
    wizards: tuple[Wizard, ...] = ()
    runesmiths: tuple[Runesmith, ...] = ()  # its Runesmiths and Runelords
    heroes: tuple[Hero, ...] = ()  # its fighting characters
    units: Annotated[tuple[Unit, ...], Field(max_length=UNITS)] = ()

    @property
    def characters(self) -> tuple[Character, ...]:
        """Wizards, then Runesmiths and Runelords, then heroes, in packed order."""
        return (*self.wizards, *self.runesmiths, *self.heroes)

    def keyed_characters(self) -> Iterator[tuple[str, Character]]:
        """Yield each character with its key relative to the army."""
        for key in ("wizards", "runesmiths", "heroes"):
            for i, character in enumerate(getattr(self, key)):
                yield f"{key}[{i}]", character

    def keyed_units(self) -> Iterator[tuple[str, Unit]]:
        """Yield each unit with its key relative to the army."""
        return ((f"units[{i}]", unit) for i, unit in enumerate(self.units))

    def carried(self) -> Iterator[tuple[str, Character | None, Items]]:
        """Yield the items of the army, then of each character: key, bearer and names."""
        yield "items", None, self.items
        for key, character in self.keyed_characters():
            yield f"{key}.items", character, character.items

    def carried_hidden(self) -> Iterator[tuple[str, int | None, Items]]:
        """Yield the hidden items, set by set: key, bearer's index, and names."""
        names = [who.name for who in self.characters]
        for i, kind in enumerate(self.hidden):
            bearer = names.index(kind.bearer) if kind.bearer in names else None
            yield f"hidden[{i}].items", bearer, kind.items

    @property
    def item_names(self) -> Iterator[str]:
        """Yield the names of all the army's items that are not hidden, including repeats."""
        return (name for _, _, names in self.carried() for name in names)

    def unit_index(self, name: str | None) -> int | None:
        """Return the index of the unit with that name, or None if there is none."""
        return next((i for i, unit in enumerate(self.units) if unit.name == name), None)

    def unit_of(self, character: Character) -> Unit | None:
        """Return the unit that a character is or has joined, or None for a lone character."""
        index = self.unit_index(character.stands_in)
        return None if index is None else self.units[index]

    def companions(self, unit: Unit) -> tuple[Character, ...]:
        """Return a unit's living characters, in order."""
        return tuple(c for c in self.characters if c.is_on_battlefield and c.stands_in == unit.name)

    def is_engaged(self, who: Unit | Character) -> bool:
        """Whether a unit or character, or any model in the same unit, is in close combat."""
        unit = who if isinstance(who, Unit) else self.unit_of(who)
        if unit is None:
            return who.in_combat
        return any(each.in_combat for each in (unit, who, *self.companions(unit)))

    def problems(self) -> Iterator[Problem]:
        """Check names, the characters' units, and the number of characters and spells."""
        yield from self._name_problems()
        yield from self._joining_problems()
        yield from self._daemon_problems()
        yield from self._general_problems()
        yield from self._hidden_problems()
        if len(self.characters) > WIZARDS:
            expected = f"at most {WIZARDS} wizards, Runesmiths, Runelords and heroes"
            key = next(self.keyed_characters())[0].partition("[")[0]
            yield Problem(key, expected, str(len(self.characters)))
        spells = sum(
            spell.casts * len(spell.versions)
            for wizard in self.wizards
            for spell in wizard.candidate_spells
        )
        if spells > SPELLS:
            expected = f"at most {SPELLS} spells in an army, six for a wizard who rolls its spells"
            yield Problem("wizards", expected, str(spells))

    def _name_problems(self) -> Iterator[Problem]:
        seen: set[str] = set()
        named: list[tuple[str, Unit | Character]] = [*self.keyed_characters(), *self.keyed_units()]
        for key, who in named:
            if who.name in seen:
                expected = "a name of its own, as each unit and character of an army has"
                yield who.problem_at("name", expected).below(key)
            seen.add(who.name)

    def _joining_problems(self) -> Iterator[Problem]:
        """Yield problems with characters that are inconsistent with their units."""
        for key, character in self.keyed_characters():
            name = character.stands_in
            if name is None:
                continue
            unit = self.unit_of(character)
            where = "unit" if character.unit is not None else "daemon_unit"
            if unit is None:
                expected = one_of([each.name for each in self.units], name, "a unit of its army")
                yield character.problem_at(where, expected).below(key)
            elif character.status == "off_table":
                yield character.problem_at(where, "no unit, as it is off the table").below(key)
            elif character.is_alive and unit.fleeing != character.is_fleeing:
                expected = "another, as its unit does not flee"
                if unit.fleeing:
                    expected = '"fleeing", as its unit flees'
                yield character.problem_at("status", expected).below(key)

    def _general_problems(self) -> Iterator[Problem]:
        """Yield a problem for each general after the first."""
        generals = [(key, who) for key, who in self.keyed_characters() if who.general]
        for key, who in generals[1:]:
            expected = f"false, as {generals[0][1].name} is the general"
            yield who.problem_at("general", expected).below(key)

    def _hidden_problems(self) -> Iterator[Problem]:
        """Yield problems with hidden items that have an unknown bearer or are never dealt."""
        names = [who.name for who in self.characters]
        for i, kind in enumerate(self.hidden):
            if kind.bearer is not None and kind.bearer not in names:
                expected = one_of(names, kind.bearer, "a character of the army")
                yield kind.problem_at("bearer", expected).below(f"hidden[{i}]")
        if self.hidden and not any(kind.weight for kind in self.hidden):
            yield Problem("hidden", "a weight above 0", "none")

    def _daemon_problems(self) -> Iterator[Problem]:
        """Yield problems with wizards that are inconsistent with their unit of Daemons."""
        casting: list[str] = []
        for i, wizard in enumerate(self.wizards):
            unit = self.unit_of(wizard)
            if wizard.daemon_unit is None or unit is None:
                continue
            expected = None
            if "daemons" not in unit.traits:
                expected = 'a unit whose traits have "daemons"'
            elif unit.name in casting:
                expected = "a unit that is no other wizard"
            if expected is not None:
                yield wizard.problem_at("daemon_unit", expected).below(f"wizards[{i}]")
            casting.append(unit.name)


class ContactGroup(NamedTuple):
    """Identical models in base contact with a character."""

    owner: int  # army that loses the points, 0 or 1
    unit: int | None  # index of the owner's unit that loses the models; None if there is no unit
    models: int  # number of models
    toughness: int  # of each model
    armour_save: int | None  # D6 result needed; None if there is no save
    ward_save: int | None  # D6 result needed; None if there is no save
    points: float  # per model
    wounds: int  # of each model


def contact_groups(armies: Sequence[Army], army: int, character: int) -> tuple[ContactGroup, ...]:
    """Return the groups in base contact with a character; see `Scenario.contacts_of`.

    A character in a unit with no listed contacts touches models in the unit (house rule C.89).
    """
    own = armies[army]
    who = own.characters[character]
    groups = []
    for listed in who.base_contact:
        owner = army if listed.side == "own" else 1 - army
        index = armies[owner].unit_index(listed.unit)
        model = listed if index is None else armies[owner].units[index]
        groups.append(_contact_group(owner, index, model, listed.models))
    index = own.unit_index(who.stands_in)
    if groups or index is None or not who.is_on_battlefield:
        return tuple(groups)
    unit = own.units[index]
    # A focal model is one of the unit's models, so it does not touch itself.
    others = unit.models - (isinstance(who, Wizard) and who.daemon_unit is not None)
    touched = min(MODELS_TOUCHED, others)
    return (_contact_group(army, index, unit, touched),) if touched else ()


def _contact_group(
    owner: int, index: int | None, model: Unit | BaseContact, models: int
) -> ContactGroup:
    saves = model.armour_save, model.ward_save
    wounds = model.wounds if isinstance(model, Unit) else 1
    return ContactGroup(owner, index, models, model.toughness, *saves, model.points, wounds)
