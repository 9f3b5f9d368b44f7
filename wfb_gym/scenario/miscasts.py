"""Miscast tables: rows of effects by a D6 or by the total of 2D6."""

from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from wfb_gym.scenario.bundled import bundled_data, bundled_names
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import Characteristic, Document, Flag, Name, Points, Whole
from wfb_gym.scenario.validating import validated

_FACES = 6
_MOST_DICE = 2
_FOLDER = "miscasts"


class PointsLost(Document):
    """The casting army loses points."""

    kind: Literal["points_lost"]
    points: Points


class Hit(Document):
    """One hit on the caster, or on each model in base contact with him.

    Attributes:
        kind: whom it strikes.
        strength: of the hit.
        armour_save: whether an armour save is allowed.
    """

    kind: Literal["caster_hit", "base_contact_hit"]
    strength: Characteristic
    armour_save: Flag = True


class Hits(Document):
    """So many hits on the caster as dice show.

    Attributes:
        kind: always "caster_hits".
        dice: for their number.
        strength: of each.
        armour_save: whether armour saves are allowed.
    """

    kind: Literal["caster_hits"]
    dice: Literal["D3", "D6"]
    strength: Characteristic
    armour_save: Flag = True


class Wounds(Document):
    """Wounds without a roll and without saves, as many as dice show.

    Attributes:
        kind: whom they strike: the caster, or each other wizard of his army.
        dice: for their number, rolled for each of them.
    """

    kind: Literal["caster_wounds", "other_wizards_wounds"]
    dice: Literal["D3", "D6"]


class Locked(Document):
    """The caster may not cast.

    Attributes:
        kind: always "locked".
        until: the end of this phase, the start of his own next one, a D6 of 6 rolled at the
            start of one of his own phases, or the end of the battle.
        bars_items: he may not use items either.
    """

    kind: Literal["locked"]
    until: Literal["phase_end", "own_next_phase", "six", "battle_end"]
    bars_items: Flag = False


class DiceLost(Document):
    """Power dice left are lost: those of the whole side, or the caster's own."""

    kind: Literal["dice_lost"]
    whose: Literal["side", "caster"]


class InPlayEnds(Document):
    """Spells in play end: the caster's that remain in play, or all of both sides."""

    kind: Literal["in_play_ends"]
    whose: Literal["caster", "all"]


class SpellForgotten(Document):
    """The miscast spell is forgotten for the rest of the battle.

    Attributes:
        kind: always "spell_forgotten".
        whose: "caster" for him alone; "side" for every wizard of his army who knows it.
    """

    kind: Literal["spell_forgotten"]
    whose: Literal["caster", "side"] = "caster"


class FreeSpell(Document):
    """The opponent casts one of his spells without a roll.

    Attributes:
        kind: always "free_spell".
        limit: "miscast_value" for spells of at most the miscast spell's casting value.
    """

    kind: Literal["free_spell"]
    limit: Literal["miscast_value", "any"] = "any"


class PlainEffect(Document):
    """An effect that needs no more than its name."""

    kind: Literal[
        "caster_removed",
        "stored_dice_lost",
        "casting_ends",
        "phase_ends",
        "level_lost",
        "spell_succeeds",
    ]


Effect = (
    PointsLost
    | Hit
    | Hits
    | Wounds
    | Locked
    | DiceLost
    | InPlayEnds
    | SpellForgotten
    | FreeSpell
    | PlainEffect
)


def _as_range(value: Any) -> tuple[int, int]:
    """One total of the dice, or two as an inclusive range, as a range."""
    ends = [value, value] if isinstance(value, int) else value
    if (
        not isinstance(ends, list | tuple)
        or len(ends) != 2
        or any(not isinstance(end, int) or isinstance(end, bool) for end in ends)
        or not 1 <= ends[0] <= ends[1] <= _MOST_DICE * _FACES
    ):
        raise PydanticCustomError(
            "expected",
            "expected {expected}",
            {"expected": "a total of 2D6 or D6, or two as an inclusive range such as [3, 4]"},
        )
    return ends[0], ends[1]


class MiscastRow(Document):
    """What happens on some totals of the dice.

    Attributes:
        roll: first and last total, both included.
        effects: in order; none where only the spell fails.
        source: whether the row is printed, or ours.
        text: the row in words.
    """

    roll: Annotated[tuple[int, int], BeforeValidator(_as_range)]
    effects: tuple[Annotated[Effect, Field(discriminator="kind")], ...] = ()
    source: Literal["printed", "ours"] | None = None
    text: Name | None = None


class MiscastTable(Document):
    """Rows for every total of the dice, each total in one row.

    Attributes:
        dice: D6 that it is rolled with.
        rows: in any order.
    """

    dice: Annotated[int, Whole(1, _MOST_DICE)] = _MOST_DICE
    rows: tuple[MiscastRow, ...]

    @property
    def totals(self) -> range:
        """The totals that its dice can show."""
        return range(self.dice, self.dice * _FACES + 1)

    @model_validator(mode="after")
    def _each_total_once(self) -> Self:
        wanted = self.totals
        first, last = wanted[0], wanted[-1]
        problems = [
            Problem(f"rows[{i}].roll", f"totals from {first} to {last}", shown(row.roll))
            for i, row in enumerate(self.rows)
            if row.roll[0] < first or row.roll[1] > last
        ]
        totals = [n for row in self.rows for n in range(row.roll[0], row.roll[1] + 1)]
        missing = [str(n) for n in wanted if n not in totals]
        twice = [str(n) for n in wanted if totals.count(n) > 1]
        if missing or twice:
            parts = [f"no row for {', '.join(missing)}"] if missing else []
            parts += [f"several rows for {', '.join(twice)}"] if twice else []
            expected = f"each total from {first} to {last} in exactly one row"
            problems.append(Problem("rows", expected, " and ".join(parts)))
        if problems:
            raise refusal(problems)
        return self


def bundled_miscast_tables() -> tuple[str, ...]:
    """Names of the tables that come with the package."""
    return bundled_names(_FOLDER)


@cache
def bundled_miscast_table(name: str) -> MiscastTable:
    """A table that comes with the package.

    Args:
        name: one of `bundled_miscast_tables`.
    """
    return validated(MiscastTable, bundled_data(_FOLDER, name), f"{_FOLDER}/{name}.toml")
