"""Magic items, as far as the magic phase knows them."""

from functools import cache
from typing import Annotated, Literal, Self

from pydantic import model_validator

from wfb_gym.scenario.bundled import bundled_data
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import Document, Flag, Name, Points, Whole
from wfb_gym.scenario.validating import validated

_Few = Annotated[int, Whole(0, 12)]
_Bonus = Annotated[int, Whole(-12, 12)]

BEARER_ONLY = ("bearer_dice", "extra_dice_cap", "cast_bonus")
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
    """

    automatic: Flag = False
    bonus: _Bonus = 0

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Self:
        if self.automatic == (self.bonus != 0):
            found = "both" if self.automatic else "neither"
            raise refusal([Problem("", "either automatic = true or a bonus other than 0", found)])
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
        return bool(self.uses or self.power_dice or self.dispel_dice or self.dispel_bonus)

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
            for key in ("ends_own_spells", "stores_dice"):
                if getattr(self, key):
                    problems.append(Problem(key, "false where uses is 0", "true"))
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
