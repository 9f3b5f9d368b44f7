"""``roll``: exact chances of a casting roll or of a dispel roll, or of 1 to 6 dice side by side."""

import argparse
import math
from fractions import Fraction
from functools import partial

from wfb_gym.cli.parser import (
    Commands,
    Parser,
    add_json_option,
    align_columns,
    print_json,
    whole_number,
)

MOST_DICE = 24
"""Dice in one roll, and the largest bonus of either sign: `wfb_gym.packing.records.DICE`, written
out because importing it takes as long as all the rest of the command."""
HIGHEST_TOTAL = MOST_DICE * 6 + MOST_DICE
"""The most that so many dice and such a bonus come to."""
TABLE_DICE = range(1, 7)
"""Dice of the table where no number is given."""
ALL_DICE = math.inf
"""Stands for ``--dispel`` without a number."""

_Chance = tuple[str, str, Fraction]
"""A chance by its key in JSON, "" for none, and in words."""
_CASTING = ("dice", "value", "no_irresistible")
_DISPELLING = ("dispel", "total", "double_six")

_EXAMPLES = """\
examples:
  python -m wfb_gym roll --dice 3 --value 8        cast an 8+ spell on three dice
  python -m wfb_gym roll --value 8                 the same on one to six dice
  python -m wfb_gym roll --dispel 3 --total 12     dispel a 12 with three dice
  python -m wfb_gym roll --dispel --total 12       the same with one to six dice
"""


def _casting_value(text: str) -> int:
    """Convert a casting value, which may be written as books have it: 8+."""
    return whole_number(text.removesuffix("+"))


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "roll",
        help="exact chances of a casting roll or of a dispel roll",
        description="Print the exact chances of a casting roll (--dice and --value)\n"
        "or of a dispel roll (--dispel and --total). Without a number of dice: a table\n"
        "for one to six of them.",
        epilog=_EXAMPLES,
    )
    parser.describe_extra = _meant
    casting = parser.add_argument_group("to cast")
    casting.add_argument(
        "--dice", type=whole_number, metavar="N", help="power dice (default: a table)"
    )
    casting.add_argument("--value", type=_casting_value, metavar="V", help="casting value, 3..15")
    casting.add_argument(
        "--no-irresistible",
        action="store_true",
        default=None,
        help="two 6s are not irresistible force, as some items have it",
    )
    dispelling = parser.add_argument_group("to dispel")
    dispelling.add_argument(
        "--dispel",
        type=whole_number,
        nargs="?",
        const=ALL_DICE,
        metavar="N",
        help="dispel dice (default: a table)",
    )
    dispelling.add_argument(
        "--total",
        type=whole_number,
        metavar="T",
        help="number to match: the casting total, or the value of a spell in play",
    )
    dispelling.add_argument(
        "--double-six",
        action="store_true",
        default=None,
        help="two 6s dispel whatever the total, as in the 7th edition",
    )
    parser.add_argument(
        "--bonus",
        type=whole_number,
        default=0,
        metavar="B",
        help="what items add to the total of the dice (default: 0)",
    )
    add_json_option(parser)
    parser.set_defaults(run=partial(_run, parser))


def _meant(options: argparse.Namespace, extra: list[str]) -> str:
    """Return which options numbers without any may belong to."""
    names = ["--dice", "--value"][-len(extra) :] if options.value is None else ["--dice"]
    meant = " ".join(f"{name} {number}" for name, number in zip(names, extra, strict=False))
    return f"expected options, such as {meant}, found {' '.join(extra)}"


def _run(parser: Parser, options: argparse.Namespace) -> None:
    to_cast = _options(options, _CASTING)
    to_dispel = _options(options, _DISPELLING)
    if to_cast and to_dispel:
        parser.error(
            f"expected a casting roll or a dispel roll, found {to_cast[0]} with {to_dispel[0]}"
        )
    if not to_cast and not to_dispel:
        parser.error("expected --value to cast, or --total to dispel, and the dice with it")
    (dice_name, number_name, _), chances_of, against = (
        (_CASTING, _cast, "against a casting value of")
        if to_cast
        else (_DISPELLING, _dispel, "to dispel a total of")
    )
    dice, number = getattr(options, dice_name), getattr(options, number_name)
    if number is None:
        parser.error(f"expected --{number_name} with {(to_cast or to_dispel)[0]}")
    _check(parser, "bonus", options.bonus, -MOST_DICE, MOST_DICE)
    bonus = f" {options.bonus:+d}" if options.bonus else ""
    if dice in (None, ALL_DICE):
        table = {each: chances_of(parser, options, each) for each in TABLE_DICE}
        if options.json:
            rows = [{"dice": each, **_by_key(chances)} for each, chances in table.items()]
            print_json({number_name: number, "bonus": options.bonus, "rolls": rows})
            return
        print(f"1 to {TABLE_DICE[-1]} dice{bonus} {against} {number}")
        head = ("DICE", *(label.upper() for _, label, _ in table[1]))
        cells = [
            (str(each), *(f"{float(chance):.3%}" for _, _, chance in chances))
            for each, chances in table.items()
        ]
        print("\n".join(align_columns([head, *cells], ">" * len(head))))
        return
    _check(parser, dice_name, dice, 1, MOST_DICE)
    chances = chances_of(parser, options, dice)
    if options.json:
        print_json(_by_key(chances), indent=None)
        return
    print(f"{dice} {'die' if dice == 1 else 'dice'}{bonus} {against} {number}")
    width = max(len(label) for _, label, _ in chances)
    for _, label, chance in chances:
        print(f"  {label:<{width}}  {float(chance):8.3%}  {chance}")


def _by_key(chances: list[_Chance]) -> dict[str, Fraction]:
    """Return the chances that JSON has."""
    return {key: chance for key, _, chance in chances if key}


def _options(options: argparse.Namespace, names: tuple[str, ...]) -> list[str]:
    """Return which of the options were given, as they are written."""
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None]


def _check(parser: Parser, name: str, value: int, lowest: int, highest: int) -> None:
    """Refuse a number outside its range."""
    if not lowest <= value <= highest:
        parser.error(f"--{name}: expected {lowest}..{highest}, found {value}")


def _cast(parser: Parser, options: argparse.Namespace, dice: int) -> list[_Chance]:
    from wfb_gym.rules import casting

    lowest, highest = casting.LOWEST_CASTING_VALUE, casting.HIGHEST_CASTING_VALUE
    _check(parser, "value", options.value, lowest, highest)
    chances = casting.casting_probabilities(
        dice, options.value, options.bonus, not options.no_irresistible
    )
    cast, irresistible = chances[casting.Casting.CAST], chances[casting.Casting.IRRESISTIBLE]
    return [
        ("cast", "cast, may be dispelled", cast),
        ("irresistible", "cast with irresistible force", irresistible),
        ("", "cast either way", cast + irresistible),
        ("miscast", "miscast", chances[casting.Casting.MISCAST]),
        ("fail", "not cast", chances[casting.Casting.FAIL]),
    ]


def _dispel(parser: Parser, options: argparse.Namespace, dice: int) -> list[_Chance]:
    from wfb_gym.rules.dispelling import dispel_chance

    _check(parser, "total", options.total, 1, HIGHEST_TOTAL)
    chance = dispel_chance(dice, options.total, options.bonus, bool(options.double_six))
    return [("dispel", "dispelled", chance), ("", "not dispelled", 1 - chance)]
