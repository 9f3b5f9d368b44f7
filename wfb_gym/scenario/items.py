"""Magic items, as far as they matter to the magic phase."""

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE, LOWEST_CASTING_VALUE
from wfb_gym.scenario.documents import bundled_data, validate
from wfb_gym.scenario.errors import Problem, problem_error, problem_in
from wfb_gym.scenario.fields import Flag, Name, Points, StrictModel, Text, Whole
from wfb_gym.scenario.spells import CastingValue, Spell, find_lore_spell

_Few = Annotated[int, Whole(0, 12)]
_Bonus = Annotated[int, Whole(-12, 12)]


class Role(Enum):
    """What a field of `Item` is for. Each field names its role; slots and checks follow it."""

    LABEL = "says what the item is; the game does not use it"
    BEARER = "changes the wizard who carries it, and is of no use to anyone else; packed with it"
    ARMY = "changes the army's pools or rolls; packed with the item, which needs a slot"
    USES = "how often the item can be used; packed with the item, which needs a slot"
    USE = "what one use does; packed with the item"


class WhenCasting(StrictModel):
    """What an item does when it is declared with a cast."""

    extra_dice: _Few = 0  # power dice rolled beyond the level limit
    bonus: _Bonus = 0  # to the casting result
    irresistible: Flag = True  # False where that cast cannot be irresistible


class WhenDispelling(StrictModel):
    """What an item does when it is used against a spell: dispels it, or adds to the roll."""

    automatic: Flag = False  # dispels without a roll
    bonus: _Bonus = 0  # to the dispel roll it is declared for
    # D6 on which the caster forgets a spell dispelled without a roll; None for never
    forgotten_on: Annotated[int, Whole(1, 6)] | None = None

    def problems(self) -> Iterator[Problem]:
        """Check that it does one of the two."""
        if self.automatic == (self.bonus != 0):
            found = "both" if self.automatic else "neither"
            yield Problem("", "either automatic = true or a bonus other than 0", found)
        elif self.forgotten_on is not None and not self.automatic:
            yield self.problem_at("forgotten_on", "no value without automatic = true")


class RerollPower(StrictModel):
    """Dice that an item rolls again."""

    of: Literal["cast", "dispel", "both"]  # casting rolls, dispel rolls or both
    dice: Literal["one", "all"] = "one"  # one die of the roll, or all
    # the dice after it decide miscast and irresistible force; else the dice before it do
    changes_natural: Flag = False


class Stores(StrictModel):
    """Dice that an item keeps from one phase for a later one."""

    # the most it keeps: power dice left at the end of a phase of its owner
    dice: Annotated[int, Whole(1, 12)]
    # they come at the start of the owner's next own phase only on a D6 of their number or more, and
    # are lost on less; False: they come without a roll
    check: Flag = False
    # it keeps dice left of its owner's pool at the end of any phase, power or dispel dice, for the
    # owner's pool of the next phase, of either army
    either_phase: Flag = False


class Bound(StrictModel):
    """A spell that is bound in an item: no power dice, no miscast, no irresistible force."""

    power_level: CastingValue  # number that a dispel roll must equal or beat
    spell: Spell  # a lore's, or one of the scenario's own, without a casting value
    uses: _Few = 0  # in the battle; 0: once in each of its owner's phases

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the power level the casting value of a spell of the scenario's own."""
        spell = data.get("spell")
        if not isinstance(spell, Mapping):
            return data
        if "casting_value" in spell:
            expected = "no value, as a bound spell has its power level"
            raise problem_error(problem_in(spell, "casting_value", expected).below("spell"))
        if not _is_own(spell):
            return data
        level = data.get("power_level")
        # A wrong power level is reported at its own key, and not once more at the spell.
        if not isinstance(level, int) or not LOWEST_CASTING_VALUE <= level <= HIGHEST_CASTING_VALUE:
            level = LOWEST_CASTING_VALUE
        return {**data, "spell": {**spell, "casting_value": level}}

    def problems(self) -> Iterator[Problem]:
        """Check that its spell is not in play."""
        if self.spell.in_play:
            yield self.problem_at("spell.in_play", "false for a bound spell")

    @model_serializer(mode="wrap")
    def _without_casting_value(self, handler: SerializerFunctionWrapHandler) -> Any:
        dumped = handler(self)
        dumped.get("spell", {}).pop("casting_value", None)
        return dumped


def _is_own(spell: Mapping[str, Any]) -> bool:
    """Whether a bound spell is the scenario's own: it says what it does, or no lore has it."""
    if spell.get("lore") is not None:
        return False
    name = spell.get("name")
    known = isinstance(name, str) and find_lore_spell(name) is not None
    return "target" in spell or bool(spell.get("effect")) or ("worth" in spell and not known)


class Item(StrictModel):
    """A magic item. Every field is annotated with its `Role`.

    Attributes:
        name: by which armies and wizards list it.
        points: what it costs; the game does not count it.
        source: where its rule comes from.
        uses: for the whole battle; 0 for an item that only adds.
        power_dice: to the army's pool, each of its phases.
        dispel_dice: to the army's pool, each enemy phase.
        bearer_dice: power dice that only the bearer may use.
        extra_dice_cap: raises the most dice that the bearer may roll.
        cast_bonus: to the bearer's casting results.
        dispel_bonus: to every dispel roll of the army.
        when_casting: what a use adds to a cast.
        when_dispelling: what a use does against a spell.
        reroll: dice that a use rolls again.
        stores: dice that it keeps for a later phase.
        any_double: any double of a successful cast of the bearer makes it irresistible.
        extra_spells: additional spells that the bearer rolls on its lore.
        takes_power_dice: dice that move from the enemy's power pool to its owner's dispel pool,
            each enemy phase.
        bound: the spell that is bound in it.
        ends_own_spells: a use ends the user's spells that remain in play.
        stores_dice: it holds dice, which a miscast may empty.
    """

    name: Annotated[Name, Role.LABEL]
    points: Annotated[Points, Role.LABEL] = 0.0
    source: Annotated[Text | None, Role.LABEL] = None
    uses: Annotated[_Few, Role.USES] = 0
    power_dice: Annotated[_Few, Role.ARMY] = 0
    dispel_dice: Annotated[_Few, Role.ARMY] = 0
    bearer_dice: Annotated[_Few, Role.BEARER] = 0
    extra_dice_cap: Annotated[_Few, Role.BEARER] = 0
    cast_bonus: Annotated[_Bonus, Role.BEARER] = 0
    dispel_bonus: Annotated[_Bonus, Role.ARMY] = 0
    when_casting: Annotated[WhenCasting | None, Role.USE] = None
    when_dispelling: Annotated[WhenDispelling | None, Role.USE] = None
    reroll: Annotated[RerollPower | None, Role.USE] = None
    stores: Annotated[Stores | None, Role.ARMY] = None
    any_double: Annotated[Flag, Role.BEARER] = False
    extra_spells: Annotated[int, Whole(0, 5), Role.BEARER] = 0
    takes_power_dice: Annotated[_Few, Role.ARMY] = 0
    bound: Annotated[Bound | None, Role.ARMY] = None
    ends_own_spells: Annotated[Flag, Role.USE] = False
    stores_dice: Annotated[Flag, Role.USE] = False

    @property
    def rerolls_cast(self) -> bool:
        """Whether a use re-rolls a casting roll."""
        return self.reroll is not None and self.reroll.of != "dispel"

    @property
    def rerolls_dispel(self) -> bool:
        """Whether a use re-rolls a dispel roll."""
        return self.reroll is not None and self.reroll.of != "cast"

    @property
    def needs_slot(self) -> bool:
        """Whether it does more than change its bearer."""
        return any(getattr(self, key) for key in SLOT_FIELDS)

    @property
    def can_be_hidden(self) -> bool:
        """Whether nobody notices it before it is used: it has uses, and does nothing else."""
        lasting = (*BEARER_FIELDS, *FIELDS_BY_ROLE[Role.ARMY])
        return self.uses > 0 and not any(getattr(self, key) for key in lasting)

    def problems(self) -> Iterator[Problem]:
        """Check that a use does something, and that nothing waits for a use in vain."""
        purposes = ("when_casting", "when_dispelling", "reroll")
        if self.uses and not any(getattr(self, key) for key in purposes):
            yield self.problem_at("uses", "0, or one of when_casting, when_dispelling and reroll")
        if not self.uses:
            for key in purposes:
                if getattr(self, key) is not None:
                    yield self.problem_at(key, "none where uses is 0")
            if self.ends_own_spells:
                yield self.problem_at("ends_own_spells", "false where uses is 0")
            if self.stores_dice and self.stores is None:
                expected = "false where uses is 0 and it has no stores"
                yield self.problem_at("stores_dice", expected)
        automatic = self.when_dispelling is not None and self.when_dispelling.automatic
        if automatic and self.rerolls_dispel:
            expected = "no dispel roll, as the item dispels without one"
            yield Problem("reroll.of", expected, "a re-roll of it")


def _role(key: str) -> Role:
    """Return the role of a field of `Item`; raise `TypeError` if it names none."""
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
    """Return the items of the package by name, in the order of ``data/items.toml``."""
    items = validate(_Items, bundled_data("items"), "items.toml").items
    return {item.name: item for item in items}
