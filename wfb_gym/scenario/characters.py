"""Characters: wizards, Runesmiths and Runelords, fighting heroes, and the models they touch.

Units are in `units`; checks that need the whole army are in `army`.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from wfb_gym.scenario.effects import TroopType
from wfb_gym.scenario.errors import Problem, format_value, raise_problems
from wfb_gym.scenario.fields import (
    Base,
    Characteristic,
    Dice,
    Facing,
    Flag,
    Name,
    Points,
    Position,
    Save,
    StrictModel,
    Whole,
    duplicate_name_problems,
)
from wfb_gym.scenario.profiles import (
    Kind,
    MagicResistance,
    Traits,
    fill_from_character_profile,
)
from wfb_gym.scenario.sizes import CONTACT_MODELS
from wfb_gym.scenario.spells import LoreName, Spell, spells_of_lore
from wfb_gym.scenario.units import BASES, with_base

Status = Literal["ready", "rallied", "fleeing", "off_table", "dead"]
Items = Annotated[tuple[Name, ...], Field(max_length=24)]

_OF_A_MODEL = ("toughness", "armour_save", "ward_save", "points")
_OF_A_DAEMON = ("profile", "wounds", *_OF_A_MODEL)


def _written_problems(model: StrictModel, keys: tuple[str, ...], whose: str) -> list[Problem]:
    """Return a problem for each key that is written although the unit says it."""
    return [
        Problem(key, f"no value, as {whose} has it", format_value(getattr(model, key)))
        for key in keys
        if key in model.model_fields_set
    ]


class BaseContact(StrictModel):
    """Equal models in base contact with a character, its mount among them.

    Attributes:
        side: whether they are of its own army or of the enemy's.
        unit: the unit of that army that they belong to; it has the characteristics below, and
            loses the models that are hit. None for models of no unit.
        models: how many.
        toughness: of each.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        points: per model.
    """

    side: Literal["own", "enemy"]
    unit: Name | None = None
    models: Annotated[int, Whole(1, CONTACT_MODELS)]
    toughness: Characteristic = 3
    armour_save: Save | None = None
    ward_save: Save | None = None
    points: Points = 5.0

    @model_validator(mode="after")
    def _unit_says_the_rest(self) -> Self:
        if self.unit is not None:
            raise_problems(_written_problems(self, _OF_A_MODEL, "its unit"))
        return self

    @model_serializer(mode="wrap")
    def _without_what_the_unit_says(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        return dumped if self.unit is None else _drop_keys(dumped, _OF_A_MODEL)


class Character(StrictModel):
    """What wizards, Runesmiths, Runelords and heroes have in common.

    Attributes:
        profile: of ``data/armies``, for what is not written here.
        name: unique in the army.
        status: fleeing and dead ones bring no dice and use no items; one off the table does
            both, but does not cast.
        points: its cost; a lost wound loses its share.
        toughness: of the model.
        wounds: of the model.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        in_combat: it fights in close combat.
        unit: the unit of its army that it has joined; None where it stands alone.
        position: of the middle of its base's front edge, in inches; None without a battlefield,
            or in a unit.
        facing: where it looks, in degrees clockwise from growing y.
        base: width and depth in millimetres.
        troop: type of the model.
        traits: what spells ask about it.
        magic_resistance: dispel dice against a spell that targets it or its unit.
        base_contact: groups of models in base contact.
        items: names of the items it carries; a name as often as it has the item.
    """

    kinds: ClassVar[tuple[Kind, ...]]
    """Kinds of profile that it may have."""

    profile: Name | None = None
    name: Name
    status: Status = "ready"
    points: Points = 100.0
    toughness: Characteristic = 3
    wounds: Characteristic = 2
    armour_save: Save | None = None
    ward_save: Save | None = None
    in_combat: Flag = False
    unit: Name | None = None
    position: Position | None = None
    facing: Facing = 0.0
    base: Base = BASES["character"]
    troop: TroopType = "character"
    traits: Traits = ()
    magic_resistance: MagicResistance = 0
    base_contact: tuple[BaseContact, ...] = ()
    items: Items = ()

    @property
    def is_alive(self) -> bool:
        """Whether it is not dead."""
        return self.status != "dead"

    @property
    def is_active(self) -> bool:
        """Whether it brings dice and uses items: neither fleeing nor dead (S0)."""
        return self.is_alive and not self.is_fleeing

    @property
    def is_fleeing(self) -> bool:
        """Whether it flees, alone or with the unit that it stands in."""
        return self.status == "fleeing"

    @property
    def is_on_battlefield(self) -> bool:
        """Whether it stands on the battlefield."""
        return self.status not in ("dead", "off_table")

    @property
    def stands_in(self) -> str | None:
        """Name of the unit that it has joined, or that it is; None where it stands alone."""
        return self.unit

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Complete the table from its profile, then from its troop type."""
        if not isinstance(data, Mapping):
            return data
        return with_base(fill_from_character_profile(data, cls.kinds), "character")

    @model_validator(mode="after")
    def _place_is_consistent(self) -> Self:
        problems = []
        if self.in_combat and self.is_fleeing:
            expected = "false, as a fleeing model is not in close combat"
            problems.append(Problem("in_combat", expected, "true"))
        if self.stands_in is not None or not self.is_on_battlefield:
            why = (
                f"it is {self.status}"
                if not self.is_on_battlefield
                else "it stands where its unit does"
            )
            problems += [
                Problem(key, f"no value, as {why}", format_value(getattr(self, key)))
                for key in ("position", "facing")
                if getattr(self, key)
            ]
        raise_problems(problems)
        return self


class Wizard(Character):
    """A wizard.

    Attributes:
        level: 1 to 4.
        reserve: fixes its own power dice instead of generating them.
        lore: it rolls its spells on it when the battle begins; None where they are listed.
        spells: what it knows.
        miscast_table: its own; None for its army's.
        daemon_unit: the unit of Daemons that it is: its focal model casts.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("wizard",)

    level: Annotated[int, Whole(1, 4)]
    reserve: Dice | None = None
    lore: LoreName | None = None
    spells: tuple[Spell, ...] = ()
    miscast_table: Name | None = None
    daemon_unit: Name | None = None

    @property
    def rolls_spells(self) -> bool:
        """Whether it rolls its spells when the battle begins."""
        return self.lore is not None

    @property
    def candidate_spells(self) -> tuple[Spell, ...]:
        """What it may know: the six spells of the lore it rolls on, in order, or those listed."""
        return self.spells if self.lore is None else spells_of_lore(self.lore)

    @property
    def stands_in(self) -> str | None:
        """Name of the unit that it has joined, or that it is; None where it stands alone."""
        return self.unit if self.daemon_unit is None else self.daemon_unit

    @model_validator(mode="after")
    def _spells_are_consistent(self) -> Self:
        problems = duplicate_name_problems("spells", (spell.name for spell in self.spells))
        if self.lore is not None and self.spells:
            expected = "no spells, as it rolls them on its lore"
            problems.append(Problem("spells", expected, f"{len(self.spells)} of them"))
        lasting = [
            f"spells[{i}].in_play"
            for i, spell in enumerate(self.spells)
            if spell.in_play and spell.duration == "remains_in_play"
        ]
        if len(lasting) > 1:
            expected = "at most one spell of a wizard that remains in play"
            problems.append(Problem(lasting[1], expected, f"{len(lasting)} of them"))
        if not self.is_on_battlefield:
            expected = f"false, or survives_caster, as its wizard is {self.status}"
            problems += [
                Problem(f"{key}.in_play", expected, "true")
                for key, spell in self.keyed_spells()
                if spell.in_play
                and spell.duration == "remains_in_play"
                and not spell.survives_caster
            ]
        raise_problems(problems)
        return self

    @model_validator(mode="after")
    def _daemon_unit_is_consistent(self) -> Self:
        if self.daemon_unit is None:
            return self
        # With a profile the other keys come from there and were not written.
        keys = _OF_A_DAEMON if self.profile is None else ("profile",)
        problems = _written_problems(self, keys, "the unit that it is")
        if self.unit is not None:
            expected = "no unit beside the one that it is"
            problems.append(Problem("unit", expected, format_value(self.unit)))
        if not self.is_on_battlefield:
            expected = '"ready", "rallied" or "fleeing", as it is a unit on the battlefield'
            problems.append(Problem("status", expected, format_value(self.status)))
        raise_problems(problems)
        return self

    @model_serializer(mode="wrap")
    def _without_what_the_daemons_say(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        return dumped if self.daemon_unit is None else _drop_keys(dumped, _OF_A_DAEMON)

    def keyed_spells(self) -> Iterator[tuple[str, Spell]]:
        """Return the spells listed, each with its key from the wizard on."""
        for i, spell in enumerate(self.spells):
            yield f"spells[{i}]", spell


class Runesmith(Character):
    """A Runesmith or Runelord: it brings dispel dice and casts nothing.

    Attributes:
        rank: which of the two.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("runesmith", "runelord")

    rank: Literal["runesmith", "runelord"] = "runesmith"


class Hero(Character):
    """A fighting character: a target and a bearer of items, without dice or spells."""

    kinds: ClassVar[tuple[Kind, ...]] = ("hero",)


def _drop_keys(dumped: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in dumped.items() if key not in keys}
