"""Rulesets and miscast tables: the rules that a scenario can choose and change.

A ruleset is an edition with single switches over it. A miscast table has rows of effects by a D6
or by the total of 2D6.
"""

from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from wfb_gym.scenario.documents import bundled_data, bundled_names, validate
from wfb_gym.scenario.errors import Problem, format_value, raise_problems
from wfb_gym.scenario.fields import Characteristic, Flag, Name, Points, StrictModel, Whole

Edition = Literal["6e", "7e"]
Recast = Literal["side", "caster"]
RunelordDice = Annotated[int, Whole(1, 2)]


class Ruleset(StrictModel):
    """The rules that a battle is played by, with a value for every switch.

    Attributes:
        own_dice: each wizard's level dice are its own, beside a pool (7th edition).
        dispel_double_six: two natural 6s dispel whatever the number to match.
        in_play_recast: who may not cast a spell again while it is in play: any wizard of its
            owner's "side", or its "caster" alone.
        miscast_table: name of a table of the scenario or of a bundled one.
        runelord_dispel_dice: dispel dice that a Runelord brings.
        reroll_all_dice: a re-roll of a casting roll takes all its dice.
        dispel_one_turn: spells that last one turn may be dispelled at the end of later phases.
    """

    own_dice: Flag
    dispel_double_six: Flag
    in_play_recast: Recast
    miscast_table: Name
    runelord_dispel_dice: RunelordDice
    reroll_all_dice: Flag
    dispel_one_turn: Flag


class Switches(StrictModel):
    """A scenario's ``[rules]``: the switches of `Ruleset`; None leaves the ruleset's value."""

    own_dice: Flag | None = None
    dispel_double_six: Flag | None = None
    in_play_recast: Recast | None = None
    miscast_table: Name | None = None
    runelord_dispel_dice: RunelordDice | None = None
    reroll_all_dice: Flag | None = None
    dispel_one_turn: Flag | None = None


@cache
def bundled_ruleset(edition: Edition) -> Ruleset:
    """Return the ruleset of an edition, as ``data/rulesets.toml`` has it."""
    entries = bundled_data("rulesets")[edition]
    values = {switch: entry["value"] for switch, entry in entries.items()}
    return validate(Ruleset, values, "rulesets.toml")


def ruleset_with(edition: Edition, switches: Switches) -> Ruleset:
    """Return the edition's ruleset with a scenario's own switches over it."""
    return bundled_ruleset(edition).model_copy(update=switches.model_dump(exclude_none=True))


_FACES = 6
_MAX_DICE = 2
_FOLDER = "miscasts"


class PointsLost(StrictModel):
    """The casting army loses points."""

    kind: Literal["points_lost"]
    points: Points


class Hit(StrictModel):
    """One hit on the caster, or on each model in base contact with it.

    Attributes:
        kind: what it strikes.
        strength: of the hit.
        armour_save: whether an armour save is allowed.
    """

    kind: Literal["caster_hit", "base_contact_hit"]
    strength: Characteristic
    armour_save: Flag = True


class Hits(StrictModel):
    """As many hits on the caster as dice show.

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


class Wounds(StrictModel):
    """Wounds without a roll and without saves, as many as dice show.

    Attributes:
        kind: what they strike: the caster, or each other wizard of its army.
        dice: for their number, rolled for each of them.
    """

    kind: Literal["caster_wounds", "other_wizards_wounds"]
    dice: Literal["D3", "D6"]


class Locked(StrictModel):
    """The caster may not cast.

    Attributes:
        kind: always "locked".
        until: the end of this phase, the start of its own next one, a D6 of 6 rolled at the
            start of one of its own phases, or the end of the battle.
        bars_items: it may not use items either.
    """

    kind: Literal["locked"]
    until: Literal["phase_end", "own_next_phase", "six", "battle_end"]
    bars_items: Flag = False


class DiceLost(StrictModel):
    """Power dice left are lost: those of the whole side, or the caster's own."""

    kind: Literal["dice_lost"]
    whose: Literal["side", "caster"]


class InPlayEnds(StrictModel):
    """Spells in play end: the caster's that remain in play, or all of both sides."""

    kind: Literal["in_play_ends"]
    whose: Literal["caster", "all"]


class SpellForgotten(StrictModel):
    """The miscast spell is forgotten for the rest of the battle.

    Attributes:
        kind: always "spell_forgotten".
        whose: "caster" for its caster alone; "side" for every wizard of the army who knows it.
    """

    kind: Literal["spell_forgotten"]
    whose: Literal["caster", "side"] = "caster"


class FreeSpell(StrictModel):
    """The opponent casts one of its spells without a roll.

    Attributes:
        kind: always "free_spell".
        limit: "miscast_value" for spells of at most the miscast spell's casting value.
    """

    kind: Literal["free_spell"]
    limit: Literal["miscast_value", "any"] = "any"


class PlainEffect(StrictModel):
    """An effect that needs no more than its name."""

    kind: Literal[
        "caster_removed",
        "stored_dice_lost",
        "casting_ends",
        "phase_ends",
        "level_lost",
        "spell_succeeds",
    ]


MiscastEffect = (
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
    """Return the range of one total of the dice, or of two as its ends, both included."""
    ends = [value, value] if isinstance(value, int) else value
    if (
        not isinstance(ends, list | tuple)
        or len(ends) != 2
        or any(not isinstance(end, int) or isinstance(end, bool) for end in ends)
        or not 1 <= ends[0] <= ends[1] <= _MAX_DICE * _FACES
    ):
        raise PydanticCustomError(
            "expected",
            "expected {expected}",
            {"expected": "a total of 2D6 or D6, or two as an inclusive range such as [3, 4]"},
        )
    return ends[0], ends[1]


class MiscastRow(StrictModel):
    """What happens on some totals of the dice.

    Attributes:
        roll: first and last total, both included.
        effects: in order; none where only the spell fails.
        source: whether the row is printed, or ours.
        text: the row in words.
    """

    roll: Annotated[tuple[int, int], BeforeValidator(_as_range)]
    effects: tuple[Annotated[MiscastEffect, Field(discriminator="kind")], ...] = ()
    source: Literal["printed", "ours"] | None = None
    text: Name | None = None


class MiscastTable(StrictModel):
    """Rows for every total of the dice, each total in one row.

    Attributes:
        dice: D6 that it is rolled with.
        rows: in any order.
    """

    dice: Annotated[int, Whole(1, _MAX_DICE)] = _MAX_DICE
    rows: tuple[MiscastRow, ...]

    @property
    def totals(self) -> range:
        """The totals that its dice can show."""
        return range(self.dice, self.dice * _FACES + 1)

    @model_validator(mode="after")
    def _has_each_total_once(self) -> Self:
        wanted = self.totals
        first, last = wanted[0], wanted[-1]
        problems = [
            Problem(f"rows[{i}].roll", f"totals from {first} to {last}", format_value(row.roll))
            for i, row in enumerate(self.rows)
            if row.roll[0] < first or row.roll[1] > last
        ]
        totals = [n for row in self.rows for n in range(row.roll[0], row.roll[1] + 1)]
        missing = [str(n) for n in wanted if n not in totals]
        repeated = [str(n) for n in wanted if totals.count(n) > 1]
        if missing or repeated:
            parts = [f"no row for {', '.join(missing)}"] if missing else []
            parts += [f"several rows for {', '.join(repeated)}"] if repeated else []
            expected = f"each total from {first} to {last} in exactly one row"
            problems.append(Problem("rows", expected, " and ".join(parts)))
        raise_problems(problems)
        return self


def bundled_miscast_tables() -> tuple[str, ...]:
    """Names of the miscast tables that come with the package."""
    return bundled_names(_FOLDER)


@cache
def bundled_miscast_table(name: str) -> MiscastTable:
    """Return a miscast table that comes with the package.

    Args:
        name: one of `bundled_miscast_tables`.
    """
    return validate(MiscastTable, bundled_data(_FOLDER, name), f"{_FOLDER}/{name}.toml")
