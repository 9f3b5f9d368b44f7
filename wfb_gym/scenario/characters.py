"""Characters: wizards, Runesmiths and Runelords, fighting heroes, and the models around them.

Units are `units`; what a character and his army are to each other is `army`.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from wfb_gym.scenario.effects import TroopType
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import (
    Base,
    Characteristic,
    Dice,
    Document,
    Facing,
    Flag,
    Name,
    Points,
    Position,
    Save,
    Whole,
    named_twice,
)
from wfb_gym.scenario.profiles import (
    Kind,
    MagicResistance,
    Traits,
    filled_from_character_profile,
)
from wfb_gym.scenario.sizes import CONTACT_MODELS
from wfb_gym.scenario.spells import LoreName, Spell, spells_of_lore
from wfb_gym.scenario.units import BASES, with_base

Status = Literal["ready", "rallied", "fleeing", "off_table", "dead"]
Items = Annotated[tuple[Name, ...], Field(max_length=24)]

_OF_A_MODEL = ("toughness", "armour_save", "ward_save", "points")
_OF_A_DAEMON = ("profile", "wounds", *_OF_A_MODEL)


def _written(document: Document, keys: tuple[str, ...], whose: str) -> list[Problem]:
    """A problem for each of the keys that the document says and its unit says for it."""
    return [
        Problem(key, f"no value, as {whose} has it", shown(getattr(document, key)))
        for key in keys
        if key in document.model_fields_set
    ]


class BaseContact(Document):
    """Like models in base contact with a character, his mount among them.

    Attributes:
        side: whether they are of his own army or of the enemy's.
        unit: the unit of that army that they belong to; it says what follows below, and loses
            the models that are hit. None for models that stand for themselves.
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
        if self.unit is not None and (problems := _written(self, _OF_A_MODEL, "its unit")):
            raise refusal(problems)
        return self

    @model_serializer(mode="wrap")
    def _without_what_the_unit_says(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        return dumped if self.unit is None else _without(dumped, _OF_A_MODEL)


class Character(Document):
    """What wizards, Runesmiths, Runelords and heroes have in common.

    Attributes:
        profile: of ``data/armies``, for what is not written here.
        name: of his own in the army.
        status: fleeing and dead ones bring no dice and use no items; one off the table does
            both, but does not cast.
        points: what he costs; a lost wound loses its share.
        toughness: of the model.
        wounds: of the model.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        in_combat: he fights in close combat.
        unit: the unit of his army that he has joined; None where he stands alone.
        position: of the middle of his base's front edge, in inches; None without a battlefield,
            or where his unit stands.
        facing: where he looks, in degrees clockwise from growing y.
        base: width and depth in millimetres.
        troop: type of the model.
        traits: what spells ask about him.
        magic_resistance: dispel dice against a spell that targets him or his unit.
        base_contact: groups of models in base contact.
        items: names of the items he carries; a name as often as he has the item.
    """

    kinds: ClassVar[tuple[Kind, ...]]
    """Kinds of profile that he may have."""

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
    def alive(self) -> bool:
        """Whether he is not dead."""
        return self.status != "dead"

    @property
    def active(self) -> bool:
        """Whether he brings dice and uses items: neither fleeing nor dead (S0)."""
        return self.alive and not self.fleeing

    @property
    def fleeing(self) -> bool:
        """Whether he flees, alone or with the unit that he stands in."""
        return self.status == "fleeing"

    @property
    def on_table(self) -> bool:
        """Whether he stands on the battlefield."""
        return self.status not in ("dead", "off_table")

    @property
    def stands_in(self) -> str | None:
        """Name of the unit that he has joined, or that he is; None where he stands alone."""
        return self.unit

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """What his profile brings, then what his troop type does."""
        if not isinstance(data, Mapping):
            return data
        return with_base(filled_from_character_profile(data, cls.kinds), "character")

    @model_validator(mode="after")
    def _stands_somewhere(self) -> Self:
        problems = []
        if self.in_combat and self.fleeing:
            expected = "false, as a fleeing model is not in close combat"
            problems.append(Problem("in_combat", expected, "true"))
        if self.stands_in is not None or not self.on_table:
            why = f"he is {self.status}" if not self.on_table else "he stands where his unit does"
            problems += [
                Problem(key, f"no value, as {why}", shown(getattr(self, key)))
                for key in ("position", "facing")
                if getattr(self, key)
            ]
        if problems:
            raise refusal(problems)
        return self


class Wizard(Character):
    """A wizard.

    Attributes:
        level: 1 to 4.
        reserve: fixes his own power dice instead of generating them.
        lore: he rolls his spells on it when the battle begins; None where they are listed.
        spells: what he knows.
        miscast_table: his own; None for his army's.
        daemon_unit: the unit of Daemons that he is: its focal model casts.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("wizard",)

    level: Annotated[int, Whole(1, 4)]
    reserve: Dice | None = None
    lore: LoreName | None = None
    spells: tuple[Spell, ...] = ()
    miscast_table: Name | None = None
    daemon_unit: Name | None = None

    @property
    def rolled(self) -> bool:
        """Whether he rolls his spells when the battle begins."""
        return self.lore is not None

    @property
    def candidate_spells(self) -> tuple[Spell, ...]:
        """What he may know: the six of the lore he rolls on, in its order, or those listed."""
        return self.spells if self.lore is None else spells_of_lore(self.lore)

    @property
    def stands_in(self) -> str | None:
        """Name of the unit that he has joined, or that he is; None where he stands alone."""
        return self.unit if self.daemon_unit is None else self.daemon_unit

    @model_validator(mode="after")
    def _spells_fit_together(self) -> Self:
        problems = named_twice("spells", (spell.name for spell in self.spells), "each name once")
        if self.lore is not None and self.spells:
            expected = "no spells, as he rolls them on his lore"
            problems.append(Problem("spells", expected, f"{len(self.spells)} of them"))
        lasting = [
            f"spells[{i}].in_play"
            for i, spell in enumerate(self.spells)
            if spell.in_play and spell.duration == "remains_in_play"
        ]
        if len(lasting) > 1:
            expected = "at most one spell of a wizard that remains in play"
            problems.append(Problem(lasting[1], expected, f"{len(lasting)} of them"))
        if not self.on_table:
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

    @model_validator(mode="after")
    def _daemons_say_the_rest(self) -> Self:
        if self.daemon_unit is None:
            return self
        # A profile brings the other keys, which nobody wrote then.
        keys = _OF_A_DAEMON if self.profile is None else ("profile",)
        problems = _written(self, keys, "the unit that he is")
        if self.unit is not None:
            expected = "no unit beside the one that he is"
            problems.append(Problem("unit", expected, shown(self.unit)))
        if not self.on_table:
            expected = '"ready", "rallied" or "fleeing", as he is a unit on the table'
            problems.append(Problem("status", expected, shown(self.status)))
        if problems:
            raise refusal(problems)
        return self

    @model_serializer(mode="wrap")
    def _without_what_the_daemons_say(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        return dumped if self.daemon_unit is None else _without(dumped, _OF_A_DAEMON)

    def keyed_spells(self) -> Iterator[tuple[str, Spell]]:
        """The spells listed, each with its key from the wizard on."""
        for i, spell in enumerate(self.spells):
            yield f"spells[{i}]", spell


class Runesmith(Character):
    """A Runesmith or Runelord: he brings dispel dice and casts nothing.

    Attributes:
        rank: how many.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("runesmith", "runelord")

    rank: Literal["runesmith", "runelord"] = "runesmith"


class Hero(Character):
    """A fighting character: a target and a bearer of items, without dice or spells."""

    kinds: ClassVar[tuple[Kind, ...]] = ("hero",)


def _without(dumped: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in dumped.items() if key not in keys}
