"""``roll``: exact chances of a casting roll or of a dispel roll."""

import argparse
from fractions import Fraction
from functools import partial

from wfb_gym.cli.parser import Commands, Parser, add_json_option, print_json, whole_number

MOST_DICE = 24
"""Dice in one roll, and the largest bonus of either sign: `wfb_gym.packing.records.DICE`, written
out because importing it takes as long as all the rest of the command."""
HIGHEST_TOTAL = MOST_DICE * 6 + MOST_DICE
"""The most that so many dice and such a bonus come to."""

_Chance = tuple[str, str, Fraction]
"""A chance by its key in JSON, "" for none, and in words."""
_CASTING = ("dice", "value", "no_irresistible")
_DISPELLING = ("dispel", "total", "double_six")

_EXAMPLES = """\
examples:
  python -m wfb_gym roll --dice 3 --value 8        cast an 8+ spell on three dice
  python -m wfb_gym roll --dispel 3 --total 12     dispel a 12 with three dice
"""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "roll",
        help="exact chances of a casting roll or of a dispel roll",
        description="Print the exact chances of a casting roll (--dice and --value)\n"
        "or of a dispel roll (--dispel and --total).",
        epilog=_EXAMPLES,
    )
    casting = parser.add_argument_group("to cast")
    casting.add_argument("--dice", type=whole_number, metavar="N", help="power dice")
    casting.add_argument("--value", type=whole_number, metavar="V", help="casting value, 3..15")
    casting.add_argument(
        "--no-irresistible",
        action="store_true",
        default=None,
        help="two 6s are not irresistible force, as some items have it",
    )
    dispelling = parser.add_argument_group("to dispel")
    dispelling.add_argument("--dispel", type=whole_number, metavar="N", help="dispel dice")
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


def _run(parser: Parser, options: argparse.Namespace) -> None:
    to_cast = _options(options, _CASTING)
    to_dispel = _options(options, _DISPELLING)
    if to_cast and to_dispel:
        parser.error(
            f"expected a casting roll or a dispel roll, found {to_cast[0]} with {to_dispel[0]}"
        )
    if not to_cast and not to_dispel:
        parser.error("expected --dice and --value to cast, or --dispel and --total to dispel")
    names = (_CASTING if to_cast else _DISPELLING)[:2]
    dice, number = (getattr(options, name) for name in names)
    for name, value in zip(names, (dice, number), strict=True):
        if value is None:
            parser.error(f"expected --{name} with {(to_cast or to_dispel)[0]}")
    _check(parser, names[0], dice, 1, MOST_DICE)
    _check(parser, "bonus", options.bonus, -MOST_DICE, MOST_DICE)
    chances = (_cast if to_cast else _dispel)(parser, options)
    if options.json:
        print_json({key: chance for key, _, chance in chances if key}, indent=None)
        return
    bonus = f" {options.bonus:+d}" if options.bonus else ""
    against = "against a casting value" if to_cast else "to dispel a total"
    print(f"{dice} {'die' if dice == 1 else 'dice'}{bonus} {against} of {number}")
    width = max(len(label) for _, label, _ in chances)
    for _, label, chance in chances:
        print(f"  {label:<{width}}  {float(chance):8.3%}  {chance}")


def _options(options: argparse.Namespace, names: tuple[str, ...]) -> list[str]:
    """Return which of the options were given, as they are written."""
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None]


def _check(parser: Parser, name: str, value: int, lowest: int, highest: int) -> None:
    """Refuse a number outside its range."""
    if not lowest <= value <= highest:
        parser.error(f"--{name}: expected {lowest}..{highest}, found {value}")


def _cast(parser: Parser, options: argparse.Namespace) -> list[_Chance]:
    from wfb_gym.rules import casting

    lowest, highest = casting.LOWEST_CASTING_VALUE, casting.HIGHEST_CASTING_VALUE
    _check(parser, "value", options.value, lowest, highest)
    chances = casting.casting_probabilities(
        options.dice, options.value, options.bonus, not options.no_irresistible
    )
    cast, irresistible = chances[casting.Casting.CAST], chances[casting.Casting.IRRESISTIBLE]
    return [
        ("cast", "cast, may be dispelled", cast),
        ("irresistible", "cast with irresistible force", irresistible),
        ("", "cast either way", cast + irresistible),
        ("miscast", "miscast", chances[casting.Casting.MISCAST]),
        ("fail", "not cast", chances[casting.Casting.FAIL]),
    ]


def _dispel(parser: Parser, options: argparse.Namespace) -> list[_Chance]:
    from wfb_gym.rules.dispelling import dispel_chance

    _check(parser, "total", options.total, 1, HIGHEST_TOTAL)
    chance = dispel_chance(options.dispel, options.total, options.bonus, bool(options.double_six))
    return [("dispel", "dispelled", chance), ("", "not dispelled", 1 - chance)]
