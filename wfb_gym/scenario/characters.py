"""Characters (wizards, Runesmiths, Runelords and heroes) and models in base contact with them.

Checks that require the whole army are in `army`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from wfb_gym.scenario import fields
from wfb_gym.scenario.effects import TroopType
from wfb_gym.scenario.errors import Problem, format_value
from wfb_gym.scenario.fields import Flag, Name, StrictModel, Whole, duplicate_name_problems
from wfb_gym.scenario.profiles import Kind, MagicResistance, Traits, fill_from_character_profile
from wfb_gym.scenario.sizes import CONTACT_MODELS
from wfb_gym.scenario.spells import LoreName, Spell, group_problems, spells_of_lore
from wfb_gym.scenario.units import BASES, with_base

Status = Literal["ready", "rallied", "fleeing", "off_table", "dead"]
Items = Annotated[tuple[Name, ...], Field(max_length=24)]

_OF_A_MODEL = ("toughness", "armour_save", "ward_save", "points")
_OF_A_DAEMON = ("profile", "wounds", "leadership", *_OF_A_MODEL)


def _written_problems(model: StrictModel, keys: tuple[str, ...], whose: str) -> list[Problem]:
    """Return a problem for each key that is given even though the unit defines it."""
    expected = f"no value, as {whose} has it"
    return [
        Problem(key, expected, format_value(getattr(model, key)))
        for key in keys
        if key in model.model_fields_set
    ]


def _without(dumped: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in dumped.items() if key not in keys}


class BaseContact(StrictModel):
    """Identical models in base contact with a character, whose mount counts as one of them."""

    side: Literal["own", "enemy"]  # army that the models belong to
    # that army's unit that they belong to; it defines the characteristics below and loses the
    # models that are hit; None for models without a unit
    unit: Name | None = None
    models: Annotated[int, Whole(1, CONTACT_MODELS)]  # number of models
    toughness: fields.Characteristic = 3  # of each model
    armour_save: fields.Save | None = None  # D6 result needed; None if there is no save
    ward_save: fields.Save | None = None  # D6 result needed; None if there is no save
    points: fields.Points = 5.0  # per model

    def problems(self) -> Iterable[Problem]:
        """Check that no characteristic defined by the unit is given again."""
        return () if self.unit is None else _written_problems(self, _OF_A_MODEL, "its unit")

    @model_serializer(mode="wrap")
    def _drop_unit_values(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        return dumped if self.unit is None else _without(dumped, _OF_A_MODEL)


class Character(StrictModel):
    """Base class for wizards, Runesmiths, Runelords and heroes."""

    kinds: ClassVar[tuple[Kind, ...]]
    """Kinds of profile that are allowed."""

    profile: Name | None = None  # profile in ``data/armies`` that supplies missing keys
    name: Name  # unique in the army
    # only "ready" and "rallied" characters add dice, cast and use items
    status: Status = "ready"
    general: Flag = False  # whether it is its army's general
    points: fields.Points = 100.0  # cost; each lost wound loses an equal share of it
    toughness: fields.Characteristic = 3
    wounds: fields.Characteristic = 2
    leadership: fields.Leadership = fields.DEFAULT_LEADERSHIP
    armour_save: fields.Save | None = None  # D6 result needed; None if there is no save
    ward_save: fields.Save | None = None  # D6 result needed; None if there is no save
    in_combat: Flag = False  # whether it is in close combat
    unit: Name | None = None  # unit in its army that it has joined, or None
    # middle of its base's front edge, in inches; None without a battlefield, or in a unit
    position: fields.Position | None = None
    facing: fields.Facing = 0.0  # degrees clockwise from the y axis
    base: fields.Base = BASES["character"]  # width and depth in millimetres
    troop: TroopType = "character"  # the model's troop type
    traits: Traits = ()  # traits that spells check
    # extra dispel dice against spells aimed at it or its unit
    magic_resistance: MagicResistance = 0
    base_contact: tuple[BaseContact, ...] = ()  # groups of models in base contact
    items: Items = ()  # names of its items; repeat a name for several copies

    @property
    def is_alive(self) -> bool:
        """Whether it is alive."""
        return self.status != "dead"

    @property
    def is_active(self) -> bool:
        """Whether it adds dice and uses items: on the battlefield and not fleeing (S0, W7)."""
        return self.is_on_battlefield and not self.is_fleeing

    @property
    def is_fleeing(self) -> bool:
        """Whether it is fleeing, either as a lone model or with its unit."""
        return self.status == "fleeing"

    @property
    def is_on_battlefield(self) -> bool:
        """Whether it is on the battlefield."""
        return self.status not in ("dead", "off_table")

    @property
    def stands_in(self) -> str | None:
        """Name of the unit that it is or has joined. None for a lone character."""
        return self.unit

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fill in missing keys from the profile, then from the troop type."""
        return with_base(fill_from_character_profile(data, cls.kinds), "character")

    def problems(self) -> Iterable[Problem]:
        """Check that its status, position and unit are consistent."""
        if self.in_combat and self.is_fleeing:
            yield self.problem_at("in_combat", "false, as a fleeing model is not in close combat")
        if not self.is_on_battlefield:
            why = f"it is {self.status}"
        elif self.stands_in is not None:
            why = "it is placed with its unit"
        else:
            return
        for key in ("position", "facing"):
            if getattr(self, key):
                yield self.problem_at(key, f"no value, as {why}")


class Wizard(Character):
    """A wizard."""

    kinds: ClassVar[tuple[Kind, ...]] = ("wizard",)

    level: Annotated[int, Whole(1, 4)]
    reserve: fields.Dice | None = None  # its own power dice; None to generate them
    # lore from which it rolls its spells when the battle begins; None if they are listed
    lore: LoreName | None = None
    spells: tuple[Spell, ...] = ()  # its spells, unless they are rolled
    miscast_table: Name | None = None  # its miscast table; None for its army's table
    daemon_unit: Name | None = None  # unit of Daemons that it is; the focal model casts

    @property
    def rolls_spells(self) -> bool:
        """Whether it rolls its spells when the battle begins."""
        return self.lore is not None

    @property
    def candidate_spells(self) -> tuple[Spell, ...]:
        """The listed spells, or all six spells of the lore that it rolls from, in order."""
        return self.spells if self.lore is None else spells_of_lore(self.lore)

    @property
    def stands_in(self) -> str | None:
        """Name of the unit that it is or has joined. None for a lone character."""
        return self.unit if self.daemon_unit is None else self.daemon_unit

    def problems(self) -> Iterable[Problem]:
        """Check the character, then its spells, then its unit of Daemons."""
        return [*super().problems()] or [*self._spell_problems()] or [*self._daemon_unit_problems()]

    def _spell_problems(self) -> Iterator[Problem]:
        yield from duplicate_name_problems("spells", self.spells)
        yield from group_problems("spells", self.spells)
        if self.lore is not None and self.spells:
            expected = "no spells, as it rolls them on its lore"
            yield Problem("spells", expected, f"{len(self.spells)} of them")
        remaining = {
            f"spells[{i}]": spell
            for i, spell in enumerate(self.spells)
            if spell.in_play and spell.duration == "remains_in_play"
        }
        if len(remaining) > 1:
            expected = "at most one spell of a wizard that remains in play"
            yield Problem(f"{list(remaining)[1]}.in_play", expected, f"{len(remaining)} of them")
        if not self.is_on_battlefield:
            expected = f"false, or survives_caster, as its wizard is {self.status}"
            for key, spell in remaining.items():
                if not spell.survives_caster:
                    yield spell.problem_at("in_play", expected).below(key)

    def _daemon_unit_problems(self) -> Iterator[Problem]:
        if self.daemon_unit is None:
            return
        # With a profile, the other keys come from the profile rather than the document.
        keys = _OF_A_DAEMON if self.profile is None else ("profile",)
        yield from _written_problems(self, keys, "its unit of Daemons")
        if self.unit is not None:
            yield self.problem_at("unit", "no value, as it is a unit itself")
        if not self.is_on_battlefield:
            expected = '"ready", "rallied" or "fleeing", as it is a unit on the battlefield'
            yield self.problem_at("status", expected)

    @model_serializer(mode="wrap")
    def _drop_daemon_values(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        return dumped if self.daemon_unit is None else _without(dumped, _OF_A_DAEMON)


class Runesmith(Character):
    """A Runesmith or Runelord, which adds dispel dice and casts no spells."""

    kinds: ClassVar[tuple[Kind, ...]] = ("runesmith", "runelord")

    rank: Literal["runesmith", "runelord"] = "runesmith"


class Hero(Character):
    """A fighting character with no dice or spells, which can be a target and carry items."""

    kinds: ClassVar[tuple[Kind, ...]] = ("hero",)
