"""``roll``: exact chances for a casting or dispel roll, for one number of dice or for 1 to 6."""

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from wfb_gym.cli.output import format_table, print_json
from wfb_gym.cli.parser import Command, UsageError, flag_of, option, whole_number

MOST_DICE = 24
"""Maximum number of dice in one roll, and maximum absolute bonus. Copied from
`wfb_gym.scenario.sizes.DICE`, as importing it would take as long as the rest of the command."""
HIGHEST_TOTAL = MOST_DICE * 6 + MOST_DICE  # highest possible total of dice and bonus
TABLE_DICE = range(1, 7)  # numbers of dice in the table that is shown if no number is given
ALL_DICE = math.inf  # value of ``--dispel`` if it is given without a number

_Chance = tuple[str, str, Fraction]
"""A chance: its JSON key ("" if it is left out of the JSON output), its label, and its value."""
_CASTING = ("dice", "value", "no_irresistible")
_DISPELLING = ("dispel", "total", "double_six")

_EXAMPLES = """\
examples:
  python -m wfb_gym roll --dice 3 --value 8        cast an 8+ spell on three dice
  python -m wfb_gym roll --value 8                 the same on one to six dice
  python -m wfb_gym roll --dispel 3 --total 12     dispel a 12 with three dice
  python -m wfb_gym roll --dispel --total 12       the same with one to six dice
  python -m wfb_gym roll --dice 3 --value 8 --dispel 2   cast it, then dispel it with two
"""


def _casting_value(text: str) -> int:
    """Parse a casting value; the rulebook's notation "8+" is accepted too."""
    return whole_number(text.removesuffix("+"))


@dataclass(frozen=True)
class RollOptions:
    """Options of ``roll``.

    Attributes:
        dice: power dice (default: a table).
        value: casting value, 3..15.
        no_irresistible: two 6s are not irresistible force, an effect of some items.
        dispel: dispel dice (default: a table).
        total: total to match: the casting total, or the casting value of a spell in play.
        double_six: two 6s dispel any total, as in the 7th edition.
        bonus: bonus of items to the casting total, or, without a cast, to the dispel total
            (default: 0).
        json: print only JSON.
    """

    dice: int | None = option(None, group="to cast", metavar="N")
    value: int | None = option(None, group="to cast", metavar="V", type=_casting_value)
    no_irresistible: bool = option(False, group="to cast")
    dispel: float | None = option(
        None, group="to dispel", metavar="N", type=whole_number, nargs="?", const=ALL_DICE
    )
    total: int | None = option(None, group="to dispel", metavar="T")
    double_six: bool = option(False, group="to dispel")
    bonus: int = option(0, metavar="B")
    json: bool = False


def _meant(options: argparse.Namespace, extra: list[str]) -> str:
    """Return an error message that suggests options for bare numbers."""
    names = ["--dice"] if "value" in options else ["--dice", "--value"][-len(extra) :]
    meant = " ".join(f"{name} {number}" for name, number in zip(names, extra, strict=False))
    return f"expected options, such as {meant}, found {' '.join(extra)}"


class _Request(NamedTuple):
    """The requested roll.

    Attributes:
        open: name of the option with the dice; without a number, a table is printed.
        given: the other numbers, by option; written to the JSON output of a table.
        chances: chances by number of dice.
        title: format of the title; `{}` is replaced by the dice.
    """

    open: str
    given: dict[str, int]
    chances: Callable[[int], list[_Chance]]
    title: str


def _run(options: RollOptions) -> None:
    request = _request(options)
    _check("bonus", options.bonus, -MOST_DICE, MOST_DICE)
    dice = getattr(options, request.open)
    if dice in (None, ALL_DICE):
        table = {each: request.chances(each) for each in TABLE_DICE}
        if options.json:
            rows = [{"dice": each, **_by_key(chances)} for each, chances in table.items()]
            print_json({**request.given, "bonus": options.bonus, "rolls": rows})
            return
        print(request.title.format(f"1 to {TABLE_DICE[-1]} dice"))
        head = ("DICE", *(label.upper() for _, label, _ in table[1]))
        cells = [
            (str(each), *(f"{float(chance):.3%}" for _, _, chance in chances))
            for each, chances in table.items()
        ]
        print(format_table([head, *cells], ">" * len(head)))
        return
    _check(request.open, dice, 1, MOST_DICE)
    chances = request.chances(dice)
    if options.json:
        print_json(_by_key(chances), indent=None)
        return
    print(request.title.format(_dice(dice)))
    width = max(len(label) for _, label, _ in chances)
    for _, label, chance in chances:
        print(f"  {label:<{width}}  {float(chance):8.3%}  {chance}")


def _request(options: RollOptions) -> _Request:
    """Return the requested roll: to cast, to dispel, or one after the other."""
    dice, value, dispel, total = options.dice, options.value, options.dispel, options.total
    to_cast = _options(options, _CASTING)
    to_dispel = _options(options, _DISPELLING)
    bonus = f" {options.bonus:+d}" if options.bonus else ""
    if value is not None and dispel is not None and total is None:
        return _request_of_both(options, value, dispel, bonus)
    if to_cast and to_dispel:
        found = f"{to_cast[0]} with {to_dispel[0]}"
        # --dice gives power dice; --dispel gives the number of dispel dice.
        meant = to_cast == ["--dice"] and dispel in (None, ALL_DICE)
        hint = f" (did you mean --dispel {dice}?)" if meant else ""
        raise UsageError(
            "expected a casting roll (--dice and --value), a dispel roll (--dispel and --total), "
            f"or both (--dice, --value and --dispel), found {found}{hint}"
        )
    if to_cast:
        if value is None:
            raise UsageError(f"expected --value with {to_cast[0]}")
        return _Request(
            "dice",
            {"value": value},
            lambda each: _cast(options, each, value),
            f"{{}}{bonus} against a casting value of {value}",
        )
    if not to_dispel:
        raise UsageError("expected --value to cast or --total to dispel, and the dice with it")
    if total is None:
        raise UsageError(f"expected --total with {to_dispel[0]}")
    return _Request(
        "dispel",
        {"total": total},
        lambda each: _dispel(options, each, total),
        f"{{}}{bonus} to dispel a total of {total}",
    )


def _request_of_both(options: RollOptions, value: int, dispel: float, bonus: str) -> _Request:
    """Return the request for a casting roll and then a dispel roll."""
    if dispel == ALL_DICE:
        table_of, other, count = "dispel", "dice", options.dice
    else:
        table_of, other, count = "dice", "dispel", int(dispel)
    if count is None:
        raise UsageError("expected a number of dice with --dice, --dispel or both")
    _check(other, count, 1, MOST_DICE)
    title = f"{{dice}}{bonus} against a casting value of {value}, then {{dispel}} to dispel"
    return _Request(
        table_of,
        {"value": value, other: count},
        lambda each: _cast_then_dispel(options, value, **{table_of: each, other: count}),
        title.format(**{table_of: "{}", other: _dice(count)}),
    )


def _dice(count: int) -> str:
    return "1 die" if count == 1 else f"{count} dice"


def _by_key(chances: list[_Chance]) -> dict[str, Fraction]:
    """Return the chances in the JSON output, by key."""
    return {key: chance for key, _, chance in chances if key}


def _options(options: RollOptions, names: tuple[str, ...]) -> list[str]:
    """Return the flags of the options given."""
    values = ((name, getattr(options, name)) for name in names)
    # Compare with `is`, because 0 is a number that was given but equals False.
    return [flag_of(name) for name, value in values if value is not None and value is not False]


def _check(name: str, value: int, lowest: int, highest: int) -> None:
    """Raise a `UsageError` if a number is out of range."""
    if not lowest <= value <= highest:
        raise UsageError(f"--{name}: expected {lowest}..{highest}, found {value}")


def _cast(options: RollOptions, dice: int, value: int) -> list[_Chance]:
    from wfb_gym.rules import casting

    lowest, highest = casting.LOWEST_CASTING_VALUE, casting.HIGHEST_CASTING_VALUE
    _check("value", value, lowest, highest)
    chances = casting.casting_probabilities(dice, value, options.bonus, not options.no_irresistible)
    cast, irresistible = chances[casting.Casting.CAST], chances[casting.Casting.IRRESISTIBLE]
    return [
        ("cast", "cast, may be dispelled", cast),
        ("irresistible", "cast with irresistible force", irresistible),
        ("", "cast either way", cast + irresistible),
        ("miscast", "miscast", chances[casting.Casting.MISCAST]),
        ("fail", "not cast", chances[casting.Casting.FAIL]),
    ]


def _dispel(options: RollOptions, dice: int, total: int) -> list[_Chance]:
    from wfb_gym.rules.dispelling import dispel_chance

    _check("total", total, 1, HIGHEST_TOTAL)
    chance = dispel_chance(dice, total, options.bonus, bool(options.double_six))
    return [("dispel", "dispelled", chance), ("", "not dispelled", 1 - chance)]


def _cast_then_dispel(options: RollOptions, value: int, *, dice: int, dispel: int) -> list[_Chance]:
    from wfb_gym.rules.casting import Casting, casting_outcome
    from wfb_gym.rules.dice import FACES, roll_counts
    from wfb_gym.rules.dispelling import dispel_chance

    by_key = {key: chance for key, _, chance in _cast(options, dice, value)}
    dispelled = Fraction(0)
    may_be_irresistible = not options.no_irresistible
    for (ones, sixes, total), rolls in roll_counts(dice).items():
        outcome = casting_outcome(ones, sixes, total, options.bonus, value, may_be_irresistible)
        if outcome == Casting.CAST:
            to_match = total + options.bonus
            chance = dispel_chance(dispel, to_match, 0, bool(options.double_six))
            dispelled += Fraction(rolls, FACES**dice) * chance
    cast = by_key["cast"] + by_key["irresistible"]
    return [
        ("", "cast", cast),
        ("dispelled", "cast and dispelled", dispelled),
        ("works", "cast, not dispelled", cast - dispelled),
        ("miscast", "miscast", by_key["miscast"]),
        ("fail", "not cast", by_key["fail"]),
    ]


COMMAND = Command(
    name="roll",
    help="exact chances of a casting or dispel roll",
    options=RollOptions,
    run=_run,
    description="Print the exact chances of a casting roll (--dice and --value),\n"
    "of a dispel roll (--dispel and --total), or of a cast that is then dispelled\n"
    "(--dice, --value and --dispel). Without a number of dice, print a table for\n"
    "one to six dice.",
    epilog=_EXAMPLES,
    describe_extra=_meant,
)
