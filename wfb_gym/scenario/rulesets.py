"""Rulesets and miscast tables: the rules that a scenario can select and override.

A ruleset is an edition whose switches can be overridden individually. A miscast table has rows of
effects for the results of a D6 or 2D6.
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
    """The rules of a battle, with a value for every switch."""

    own_dice: Flag  # the dice from a wizard's level are its own, in addition to the pool (7e)
    dispel_double_six: Flag  # two natural 6s always dispel
    # wizards that may not cast a spell again while it is in play: all wizards on the "side", or
    # only its "caster"
    in_play_recast: Recast
    miscast_table: Name  # name of a table in the scenario, or of a bundled table
    runelord_dispel_dice: RunelordDice  # number of dispel dice from a Runelord
    reroll_all_dice: Flag  # re-rolling a casting roll re-rolls all its dice
    destroy_bound: Flag  # items that destroy a spell also destroy bound spells
    dispel_one_turn: Flag  # one-turn spells can be dispelled at the end of later phases
    panic: Flag  # units that lose a quarter of their models in a phase may flee
    # unit used for rewards: "points" for all losses, or the rulebook's "victory_points"
    scoring: Scoring


class Switches(StrictModel):
    """A scenario's ``[rules]``: the switches of `Ruleset`. None keeps the ruleset's value."""

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
    """Return an edition's ruleset from ``data/rulesets.toml``."""
    entries = bundled_data("rulesets")[edition]
    values = {switch: entry["value"] for switch, entry in entries.items()}
    return validate(Ruleset, values, "rulesets.toml")


@lru_cache(maxsize=128)  # bounded, because a program can build any number of rulesets
def ruleset_with(edition: Edition, switches: Switches) -> Ruleset:
    """Return an edition's ruleset, overridden by a scenario's switches."""
    return bundled_ruleset(edition).model_copy(update=switches.model_dump(exclude_none=True))


_FACES = 6
_MAX_DICE = 2
_FOLDER = "miscasts"


class PointsLost(StrictModel):
    """The casting army loses points."""

    kind: Literal["points_lost"]
    points: Points


class Hit(StrictModel):
    """A hit on the caster, or on each model in base contact with it."""

    kind: Literal["caster_hit", "base_contact_hit"]
    strength: Characteristic
    armour_save: Flag = True  # whether an armour save is allowed


class Hits(StrictModel):
    """A random number of hits on the caster."""

    kind: Literal["caster_hits"]
    dice: Literal["D3", "D6"]
    strength: Characteristic  # of each hit
    armour_save: Flag = True  # whether armour saves are allowed


class Wounds(StrictModel):
    """Wounds without saves on the caster, or on each other wizard in its army."""

    kind: Literal["caster_wounds", "other_wizards_wounds"]
    dice: Literal["D3", "D6"]  # number of wounds, rolled for each wizard


class Locked(StrictModel):
    """The caster may not cast."""

    kind: Literal["locked"]
    # the end of this phase, the start of its army's next phase, a 6 on a D6 rolled at the start of
    # each of its army's phases, or the end of the battle
    until: Literal["phase_end", "own_next_phase", "six", "battle_end"]
    bars_items: Flag = False  # whether it also may not use items


class DiceLost(StrictModel):
    """The side's unused power dice, or the caster's own dice, are lost."""

    kind: Literal["dice_lost"]
    whose: Literal["side", "caster"]


class InPlayEnds(StrictModel):
    """Spells in play end: the caster's spells that remain in play, or all spells on both sides."""

    kind: Literal["in_play_ends"]
    whose: Literal["caster", "all"]


class SpellForgotten(StrictModel):
    """The caster, or every wizard on the side, forgets the miscast spell for the battle."""

    kind: Literal["spell_forgotten"]
    whose: Literal["caster", "side"] = "caster"


class FreeSpell(StrictModel):
    """The opponent casts one of its spells without a roll."""

    kind: Literal["free_spell"]
    # "miscast_value": only spells with at most the miscast spell's casting value
    limit: Literal["miscast_value", "any"] = "any"


class PlainEffect(StrictModel):
    """An effect without parameters."""

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
    """Return an effect's table; a text is the effect's kind."""
    return {"kind": value} if isinstance(value, str) else value


def _as_range(value: Any) -> tuple[int, int]:
    """Return a range of totals from a single total, or from its two ends, both included."""
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
    """The effects for some totals of the dice."""

    roll: Annotated[tuple[int, int], BeforeValidator(_as_range)]  # first and last total
    # effects in order; empty if the spell merely fails
    effects: tuple[
        Annotated[MiscastEffect, Field(discriminator="kind"), BeforeValidator(_as_effect)], ...
    ] = ()
    source: Literal["printed", "ours"] | None = None  # "ours" for a house rule
    text: Text | None = None  # the row in words


class MiscastTable(StrictModel):
    """A miscast table, in which every total of the dice is in exactly one row."""

    dice: Annotated[int, Whole(1, _MAX_DICE)] = _MAX_DICE  # number of D6
    rows: tuple[MiscastRow, ...]

    @property
    def totals(self) -> range:
        """The possible totals of its dice."""
        return range(self.dice, self.dice * _FACES + 1)

    def problems(self) -> Iterator[Problem]:
        """Check that every total is in exactly one row."""
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
    """Return the names of the bundled miscast tables."""
    return bundled_names(_FOLDER)


@cache
def bundled_miscast_table(name: str) -> MiscastTable:
    """Return the miscast table with one of the names in `bundled_miscast_tables`."""
    return validate(MiscastTable, bundled_data(_FOLDER, name), f"{_FOLDER}/{name}.toml")


def bundled_miscast_rows() -> list[MiscastRow]:
    """Return the rows of all bundled miscast tables."""
    return [row for name in bundled_miscast_tables() for row in bundled_miscast_table(name).rows]
