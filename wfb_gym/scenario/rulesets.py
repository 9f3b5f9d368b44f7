"""Rulesets and miscast tables: the rules that a scenario can choose and change.

A ruleset is an edition with single switches over it. A miscast table has rows of effects by a D6
or by the total of 2D6.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from wfb_gym.scenario.documents import bundled_data, bundled_names, validate
from wfb_gym.scenario.errors import Problem
from wfb_gym.scenario.fields import Characteristic, Flag, Name, Points, StrictModel, Text, Whole

Edition = Literal["6e", "7e"]
Recast = Literal["side", "caster"]
Scoring = Literal["points", "victory_points"]
RunelordDice = Annotated[int, Whole(1, 2)]


class Ruleset(StrictModel):
    """The rules that a battle is played by, with a value for every switch."""

    own_dice: Flag  # each wizard's level dice are its own, beside a pool (7th edition)
    dispel_double_six: Flag  # two natural 6s dispel whatever the number to match
    # who may not cast a spell again while it is in play: any wizard of its owner's "side", or its
    # "caster" alone
    in_play_recast: Recast
    miscast_table: Name  # name of a table of the scenario or of a bundled one
    runelord_dispel_dice: RunelordDice  # dispel dice that a Runelord brings
    reroll_all_dice: Flag  # a re-roll of a casting roll takes all its dice
    destroy_bound: Flag  # an item that dispels and destroys a spell does so to a bound one too
    dispel_one_turn: Flag  # spells that last one turn may be dispelled at the end of later phases
    panic: Flag  # units that lose a quarter of their models in a phase may flee
    # what rewards count: the "points" of all that is lost, or "victory_points" of the rulebook
    scoring: Scoring


class Switches(StrictModel):
    """A scenario's ``[rules]``: the switches of `Ruleset`; None leaves the ruleset's value."""

    own_dice: Flag | None = None
    dispel_double_six: Flag | None = None
    in_play_recast: Recast | None = None
    miscast_table: Name | None = None
    runelord_dispel_dice: RunelordDice | None = None
    reroll_all_dice: Flag | None = None
    destroy_bound: Flag | None = None
    dispel_one_turn: Flag | None = None
    panic: Flag | None = None
    scoring: Scoring | None = None


@cache
def bundled_ruleset(edition: Edition) -> Ruleset:
    """Return the ruleset of an edition, as ``data/rulesets.toml`` has it."""
    entries = bundled_data("rulesets")[edition]
    values = {switch: entry["value"] for switch, entry in entries.items()}
    return validate(Ruleset, values, "rulesets.toml")


@lru_cache(maxsize=128)  # of all that a program makes up
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
    """One hit on the caster, or on each model in base contact with it."""

    kind: Literal["caster_hit", "base_contact_hit"]
    strength: Characteristic
    armour_save: Flag = True  # an armour save is allowed


class Hits(StrictModel):
    """As many hits on the caster as dice show."""

    kind: Literal["caster_hits"]
    dice: Literal["D3", "D6"]
    strength: Characteristic  # of each
    armour_save: Flag = True  # armour saves are allowed


class Wounds(StrictModel):
    """Wounds of the caster, or each other wizard of its army: no roll to wound and no saves."""

    kind: Literal["caster_wounds", "other_wizards_wounds"]
    dice: Literal["D3", "D6"]  # for their number, rolled for each wizard


class Locked(StrictModel):
    """The caster may not cast."""

    kind: Literal["locked"]
    # the end of this phase, the start of its own next one, a D6 of 6 rolled at the start of one of
    # its own phases, or the end of the battle
    until: Literal["phase_end", "own_next_phase", "six", "battle_end"]
    bars_items: Flag = False  # it may not use items either


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

    By its caster alone, or by every wizard of the side who knows it.
    """

    kind: Literal["spell_forgotten"]
    whose: Literal["caster", "side"] = "caster"


class FreeSpell(StrictModel):
    """The opponent casts one of its spells without a roll."""

    kind: Literal["free_spell"]
    # "miscast_value" for spells of at most the miscast spell's casting value
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


def _as_effect(value: Any) -> Any:
    """Return an effect's table; a text is the kind of one."""
    return {"kind": value} if isinstance(value, str) else value


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
    """What happens on some totals of the dice."""

    roll: Annotated[tuple[int, int], BeforeValidator(_as_range)]  # first and last total
    # in order; none where only the spell fails
    effects: tuple[
        Annotated[MiscastEffect, Field(discriminator="kind"), BeforeValidator(_as_effect)], ...
    ] = ()
    source: Literal["printed", "ours"] | None = None  # whether the row is printed, or ours
    text: Text | None = None  # the row in words


class MiscastTable(StrictModel):
    """Rows for every total of the dice, each total in one row, in any order."""

    dice: Annotated[int, Whole(1, _MAX_DICE)] = _MAX_DICE  # D6 that it is rolled with
    rows: tuple[MiscastRow, ...]

    @property
    def totals(self) -> range:
        """The totals that its dice can show."""
        return range(self.dice, self.dice * _FACES + 1)

    def problems(self) -> Iterator[Problem]:
        """Check that it has each total once."""
        first, last = self.totals[0], self.totals[-1]
        for i, row in enumerate(self.rows):
            if row.roll[0] < first or row.roll[1] > last:
                expected = f"totals from {first} to {last}"
                yield row.problem_at("roll", expected).below(f"rows[{i}]")
        totals = [n for row in self.rows for n in range(row.roll[0], row.roll[1] + 1)]
        missing = [str(n) for n in self.totals if n not in totals]
        repeated = [str(n) for n in self.totals if totals.count(n) > 1]
        if missing or repeated:
            parts = [f"no row for {', '.join(missing)}"] if missing else []
            parts += [f"several rows for {', '.join(repeated)}"] if repeated else []
            expected = f"each total from {first} to {last} in exactly one row"
            yield Problem("rows", expected, " and ".join(parts))


def bundled_miscast_tables() -> tuple[str, ...]:
    """Names of the miscast tables that come with the package."""
    return bundled_names(_FOLDER)


@cache
def bundled_miscast_table(name: str) -> MiscastTable:
    """Return one of the `bundled_miscast_tables`."""
    return validate(MiscastTable, bundled_data(_FOLDER, name), f"{_FOLDER}/{name}.toml")
