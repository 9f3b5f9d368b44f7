"""Magic items with an effect in the magic phase."""

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE, LOWEST_CASTING_VALUE
from wfb_gym.scenario.documents import bundled_data, validate
from wfb_gym.scenario.errors import Problem, problem_error, problem_in
from wfb_gym.scenario.fields import (
    Flag,
    Name,
    Points,
    StrictModel,
    Text,
    Whole,
    duplicate_name_problems,
)
from wfb_gym.scenario.spells import CastingValue, Spell, find_lore_spell

_Few = Annotated[int, Whole(0, 12)]
_Bonus = Annotated[int, Whole(-12, 12)]


class Role(Enum):
    """The purpose of an `Item` field. Slots and checks depend on each field's role."""

    LABEL = "describes the item; the game does not use it"
    BEARER = "changes the wizard that carries it, and only a wizard; packed with the wizard"
    ARMY = "changes the army's pools or rolls; packed with the item, which needs a slot"
    USES = "how often the item can be used; packed with the item, which needs a slot"
    USE = "effect of one use; packed with the item"


class WhenCasting(StrictModel):
    """Effect of an item that is used with a cast."""

    extra_dice: _Few = 0  # extra power dice beyond the level limit
    bonus: _Bonus = 0  # added to the casting result
    irresistible: Flag = True  # if False, that cast cannot be irresistible


class WhenDispelling(StrictModel):
    """Effect of an item used against a spell: either a dispel without a roll, or a bonus."""

    automatic: Flag = False  # dispels without a roll
    bonus: _Bonus = 0  # added to the dispel roll that it is used with
    # D6 result on which the caster forgets a spell dispelled without a roll; None if it never does
    forgotten_on: Annotated[int, Whole(1, 6)] | None = None

    def problems(self) -> Iterator[Problem]:
        """Check that it has exactly one of the two effects."""
        if self.automatic == (self.bonus != 0):
            found = "both" if self.automatic else "neither"
            yield Problem("", "either automatic = true or a bonus other than 0", found)
        elif self.forgotten_on is not None and not self.automatic:
            yield self.problem_at("forgotten_on", "no value without automatic = true")


class RerollPower(StrictModel):
    """A re-roll granted by an item."""

    of: Literal["cast", "dispel", "both"]  # rolls that it can re-roll
    dice: Literal["one", "all"] = "one"  # whether one die of the roll is re-rolled, or all
    # miscast and irresistible force depend on the dice after the re-roll instead of before it
    changes_natural: Flag = False


class Stores(StrictModel):
    """Dice that an item keeps for a later phase."""

    # maximum number of unspent power dice that it keeps at the end of its owner's phase
    dice: Annotated[int, Whole(1, 12)]
    # If True, at the start of the owner's next phase the dice return only if a D6 roll is at least
    # their number, and are lost otherwise. If False, they return without a roll.
    check: Flag = False
    # If True, at the end of any phase it keeps unspent power or dispel dice from its owner's pool
    # and adds them to the owner's pool in the next phase, whichever army's phase that is.
    either_phase: Flag = False


class Bound(StrictModel):
    """A spell bound in an item: needs no power dice, and has no miscast or irresistible force."""

    power_level: CastingValue  # number that a dispel roll must equal or beat
    # spell of a lore, or a spell of the scenario's own; without a casting value
    spell: Spell | None = None
    spells: tuple[Spell, ...] = ()  # several spells instead, one of which is chosen for each use
    uses: _Few = 0  # uses per battle; 0 for one use in each of its owner's phases

    @property
    def choices(self) -> tuple[Spell, ...]:
        """The spell or spells, one of which is chosen for each use."""
        return self.spells if self.spell is None else (self.spell,)

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Copy the power level to the casting value of each spell of the scenario's own."""
        completed = dict(data)
        if "spell" in data:
            completed["spell"] = _with_power_level(data, data["spell"], "spell")
        if isinstance(data.get("spells"), list | tuple):
            completed["spells"] = [
                _with_power_level(data, spell, f"spells[{i}]")
                for i, spell in enumerate(data["spells"])
            ]
        return completed

    def problems(self) -> Iterator[Problem]:
        """Check that it has spells, which are not in play and have no groups of their own."""
        if (self.spell is None) == (not self.spells):
            found = "neither" if self.spell is None else "both"
            yield Problem("", "either spell or spells", found)
        yield from duplicate_name_problems("spells", self.spells)
        for i, spell in enumerate(self.choices):
            key = "spell" if self.spell is not None else f"spells[{i}]"
            if spell.in_play:
                yield spell.problem_at("in_play", "false for a bound spell").below(key)
            for name in ("group", "alternatives"):
                if getattr(spell, name):
                    yield spell.problem_at(name, "no value for a bound spell").below(key)
            if spell.casts != self.choices[0].casts:
                expected = f"{self.choices[0].casts}, as for the item's other spells"
                yield spell.problem_at("casts", expected).below(key)

    @model_serializer(mode="wrap")
    def _without_casting_value(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        for spell in (dumped.get("spell"), *dumped.get("spells", ())):
            if spell is not None:
                spell.pop("casting_value", None)
        return dumped


def _with_power_level(data: Mapping[str, Any], spell: Any, key: str) -> Any:
    """Return a bound spell with the item's power level, if it is the scenario's own spell."""
    if not isinstance(spell, Mapping):
        return spell
    if "casting_value" in spell:
        expected = "no value, as a bound spell has its power level"
        raise problem_error(problem_in(spell, "casting_value", expected).below(key))
    if not _is_own(spell):
        return spell
    level = data.get("power_level")
    # An invalid power level is reported under its own key and not again under the spell.
    if not isinstance(level, int) or not LOWEST_CASTING_VALUE <= level <= HIGHEST_CASTING_VALUE:
        level = LOWEST_CASTING_VALUE
    return {**spell, "casting_value": level}


def _is_own(spell: Mapping[str, Any]) -> bool:
    """Whether a bound spell is the scenario's own: it has an effect, or its name is in no lore."""
    if spell.get("lore") is not None:
        return False
    name = spell.get("name")
    known = isinstance(name, str) and find_lore_spell(name) is not None
    return "target" in spell or bool(spell.get("effect")) or ("worth" in spell and not known)


class Item(StrictModel):
    """A magic item. Every field is annotated with its `Role`."""

    name: Annotated[Name, Role.LABEL]  # name by which armies and wizards refer to it
    points: Annotated[Points, Role.LABEL] = 0.0
    source: Annotated[Text | None, Role.LABEL] = None  # source of its rule
    uses: Annotated[_Few, Role.USES] = 0  # uses per battle; 0 for an item that is not used up
    power_dice: Annotated[_Few, Role.ARMY] = 0  # added to the army's pool in each of its phases
    dispel_dice: Annotated[_Few, Role.ARMY] = 0  # added to the army's pool in each enemy phase
    bearer_dice: Annotated[_Few, Role.BEARER] = 0  # power dice that only the bearer may use
    extra_dice_cap: Annotated[_Few, Role.BEARER] = 0  # added to the bearer's limit on dice per roll
    cast_bonus: Annotated[_Bonus, Role.BEARER] = 0  # added to the bearer's casting results
    dispel_bonus: Annotated[_Bonus, Role.ARMY] = 0  # added to all the army's dispel rolls
    when_casting: Annotated[WhenCasting | None, Role.USE] = None
    when_dispelling: Annotated[WhenDispelling | None, Role.USE] = None
    reroll: Annotated[RerollPower | None, Role.USE] = None
    stores: Annotated[Stores | None, Role.ARMY] = None
    # whether any double makes the bearer's successful casts irresistible
    any_double: Annotated[Flag, Role.BEARER] = False
    # extra spells that the bearer rolls from its lore
    extra_spells: Annotated[int, Whole(0, 5), Role.BEARER] = 0
    # dice moved from the enemy's power pool to its owner's dispel pool in each enemy phase
    takes_power_dice: Annotated[_Few, Role.ARMY] = 0
    bound: Annotated[Bound | None, Role.ARMY] = None
    # whether using it ends the user's spells that remain in play
    ends_own_spells: Annotated[Flag, Role.USE] = False
    stores_dice: Annotated[Flag, Role.USE] = False  # holds dice, which a miscast may empty

    @property
    def rerolls_cast(self) -> bool:
        """Whether using it re-rolls a casting roll."""
        return self.reroll is not None and self.reroll.of != "dispel"

    @property
    def rerolls_dispel(self) -> bool:
        """Whether using it re-rolls a dispel roll."""
        return self.reroll is not None and self.reroll.of != "cast"

    @property
    def needs_slot(self) -> bool:
        """Whether it does more than modify its bearer."""
        return any(getattr(self, key) for key in SLOT_FIELDS)

    @property
    def can_be_hidden(self) -> bool:
        """Whether it can be hidden: it has uses, and no effect until used."""
        lasting = (*BEARER_FIELDS, *FIELDS_BY_ROLE[Role.ARMY])
        return self.uses > 0 and not any(getattr(self, key) for key in lasting)

    def problems(self) -> Iterator[Problem]:
        """Check that an item with uses has an effect when used, and vice versa."""
        purposes = ("when_casting", "when_dispelling", "reroll")
        if self.uses and not any(getattr(self, key) for key in purposes):
            yield self.problem_at("uses", "0, or one of when_casting, when_dispelling and reroll")
        if not self.uses:
            for key in purposes:
                if getattr(self, key) is not None:
                    yield self.problem_at(key, "no value if uses is 0")
            if self.ends_own_spells:
                yield self.problem_at("ends_own_spells", "false if uses is 0")
            if self.stores_dice and self.stores is None:
                expected = "false if uses is 0 and it has no stores"
                yield self.problem_at("stores_dice", expected)
        automatic = self.when_dispelling is not None and self.when_dispelling.automatic
        if automatic and self.rerolls_dispel:
            expected = '"cast", as the item dispels without a roll'
            yield self.problem_at("reroll.of", expected)


def _role(key: str) -> Role:
    """Return the role of an `Item` field; raise a `TypeError` if it has none."""
    for entry in Item.model_fields[key].metadata:
        if isinstance(entry, Role):
            return entry
    raise TypeError(f"Item.{key}: expected a Role in its annotation, found none")


FIELDS_BY_ROLE = {role: tuple(k for k in Item.model_fields if _role(k) is role) for role in Role}
BEARER_FIELDS = FIELDS_BY_ROLE[Role.BEARER]
SLOT_FIELDS = (*FIELDS_BY_ROLE[Role.USES], *FIELDS_BY_ROLE[Role.ARMY])


class _Items(StrictModel):
    items: tuple[Item, ...]


@cache
def bundled_items() -> dict[str, Item]:
    """Return the package's items by name, in the order of ``data/items.toml``."""
    items = validate(_Items, bundled_data("items"), "items.toml").items
    return {item.name: item for item in items}
