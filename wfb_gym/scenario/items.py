"""Magic items, as far as the magic phase knows them."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE, LOWEST_CASTING_VALUE
from wfb_gym.scenario.bundled import bundled_data
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import Document, Flag, Name, Points, Whole
from wfb_gym.scenario.lores import CastingValue, find_lore_spell
from wfb_gym.scenario.spells import Spell
from wfb_gym.scenario.validating import validated

_Few = Annotated[int, Whole(0, 12)]
_Bonus = Annotated[int, Whole(-12, 12)]

BEARER_ONLY = ("bearer_dice", "extra_dice_cap", "cast_bonus", "any_double", "extra_spells")
"""What an item can give to the wizard who carries it and to nobody else."""


class WhenCasting(Document):
    """What an item does when it is declared with a cast.

    Attributes:
        extra_dice: power dice rolled beyond the level limit.
        bonus: to the casting result.
        irresistible: False where that cast cannot be irresistible.
    """

    extra_dice: _Few = 0
    bonus: _Bonus = 0
    irresistible: Flag = True


class WhenDispelling(Document):
    """What an item does when it is used against a spell: dispels it, or adds to the roll.

    Attributes:
        automatic: dispels without a roll.
        bonus: to the dispel roll it is declared for.
        forgotten_on: D6 on which the caster forgets a spell dispelled without a roll; None for
            never.
    """

    automatic: Flag = False
    bonus: _Bonus = 0
    forgotten_on: Annotated[int, Whole(1, 6)] | None = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Self:
        if self.automatic == (self.bonus != 0):
            found = "both" if self.automatic else "neither"
            raise refusal([Problem("", "either automatic = true or a bonus other than 0", found)])
        if self.forgotten_on is not None and not self.automatic:
            expected = "no value without automatic = true"
            raise refusal([Problem("forgotten_on", expected, shown(self.forgotten_on))])
        return self


class Reroll(Document):
    """Dice that an item rolls again.

    Attributes:
        of: casting rolls, dispel rolls or both.
        dice: one die of the roll, or all.
        changes_natural: the dice after it decide miscast and irresistible force; else those
            before it do.
    """

    of: Literal["cast", "dispel", "both"]
    dice: Literal["one", "all"] = "one"
    changes_natural: Flag = False


class Stores(Document):
    """Dice that an item keeps from one phase for a later one.

    Attributes:
        dice: the most it keeps: power dice left at the end of a phase of its owner.
        check: they come at the start of his next own phase only on a D6 of their number or
            more, and are lost on less; False: they come without a roll.
        either_phase: it keeps dice left of its owner's pool at the end of any phase, power or
            dispel dice, for his pool of the next phase, whosever that is.
    """

    dice: Annotated[int, Whole(1, 12)]
    check: Flag = False
    either_phase: Flag = False


class Bound(Document):
    """A spell that lies bound in an item: no power dice, no miscast, no irresistible force.

    Attributes:
        power_level: number that a dispel roll must equal or beat.
        spell: a lore's, or one of the scenario's own, without a casting value.
        uses: in the battle; 0: once in each of its owner's phases.
    """

    power_level: CastingValue
    spell: Spell
    uses: _Few = 0

    @model_validator(mode="before")
    @classmethod
    def _spell_has_the_power_level(cls, data: Any) -> Any:
        """Gives a spell of the scenario's own the power level for its casting value."""
        spell = data.get("spell") if isinstance(data, Mapping) else None
        if not isinstance(spell, Mapping):
            return data
        if "casting_value" in spell:
            expected = "no value, as a bound spell has its power level"
            raise refusal([Problem("spell.casting_value", expected, shown(spell["casting_value"]))])
        if not _is_own(spell):
            return data
        level = data.get("power_level")
        # A power level that is wrong is told at its own key, and not once more at the spell.
        right = isinstance(level, int) and level in range(
            LOWEST_CASTING_VALUE, HIGHEST_CASTING_VALUE + 1
        )
        value = level if right else LOWEST_CASTING_VALUE
        return {**data, "spell": {**spell, "casting_value": value}}

    @model_validator(mode="after")
    def _spell_waits_for_a_use(self) -> Self:
        if self.spell.in_play:
            raise refusal([Problem("spell.in_play", "false for a bound spell", "true")])
        return self

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


class Item(Document):
    """A magic item.

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
        any_double: any two like dice of a successful cast of the bearer make it irresistible.
        extra_spells: spells more that the bearer rolls on his lore.
        takes_power_dice: dice that move from the enemy's power pool to its owner's dispel pool,
            each enemy phase.
        bound: the spell that lies in it.
        ends_own_spells: a use ends the user's spells that remain in play.
        stores_dice: it holds dice, which a miscast may empty.
    """

    name: Name
    points: Points = 0.0
    source: Name | None = None
    uses: _Few = 0
    power_dice: _Few = 0
    dispel_dice: _Few = 0
    bearer_dice: _Few = 0
    extra_dice_cap: _Few = 0
    cast_bonus: _Bonus = 0
    dispel_bonus: _Bonus = 0
    when_casting: WhenCasting | None = None
    when_dispelling: WhenDispelling | None = None
    reroll: Reroll | None = None
    stores: Stores | None = None
    any_double: Flag = False
    extra_spells: Annotated[int, Whole(0, 5)] = 0
    takes_power_dice: _Few = 0
    bound: Bound | None = None
    ends_own_spells: Flag = False
    stores_dice: Flag = False

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
        acts = ("uses", "power_dice", "dispel_dice", "dispel_bonus", "takes_power_dice")
        return any(getattr(self, key) for key in (*acts, "stores", "bound"))

    @model_validator(mode="after")
    def _uses_have_a_purpose(self) -> Self:
        purposes = (self.when_casting, self.when_dispelling, self.reroll)
        problems = []
        if self.uses and not any(purposes):
            expected = "0, or one of when_casting, when_dispelling and reroll"
            problems.append(Problem("uses", expected, shown(self.uses)))
        if not self.uses:
            expected = "none where uses is 0"
            for key in ("when_casting", "when_dispelling", "reroll"):
                if getattr(self, key) is not None:
                    problems.append(Problem(key, expected, "a table"))
            if self.ends_own_spells:
                problems.append(Problem("ends_own_spells", "false where uses is 0", "true"))
            if self.stores_dice and self.stores is None:
                expected = "false where uses is 0 and it has no stores"
                problems.append(Problem("stores_dice", expected, "true"))
        automatic = self.when_dispelling is not None and self.when_dispelling.automatic
        if automatic and self.rerolls_dispel:
            expected = "no dispel roll, as the item dispels without one"
            problems.append(Problem("reroll.of", expected, "a re-roll of it"))
        if problems:
            raise refusal(problems)
        return self


class _Items(Document):
    items: tuple[Item, ...]


@cache
def bundled_items() -> dict[str, Item]:
    """The items that come with the package, by name, in the order of ``data/items.toml``."""
    items = validated(_Items, bundled_data("items"), "items.toml").items
    return {item.name: item for item in items}
