"""``advise``: the best play in a situation, and what every other play is worth."""

import argparse
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from wfb_gym.cli.parser import (
    Commands,
    Parser,
    add_json_option,
    align_columns,
    print_json,
    whole_number,
)
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from wfb_gym.cli.position import RequestedPosition
    from wfb_gym.engine.battle import Battle
    from wfb_gym.solver import Solution
    from wfb_gym.transcripts.decisions import ActionDescription

_DESCRIPTION = """\
Print the best play and what every other play is worth, if both sides play their best from
there on. The situation is a scenario, or wizards and spells from the command line, when the
phase begins or with what has happened in it. Solved exactly, dice and all."""

_EXAMPLES = """\
examples:
  python -m wfb_gym advise --wizard 4 "Fire Ball=20" "8=40" "11=60" --power 6 --dispel 4 --scrolls 1
      a level 4 wizard with Fire Ball, worth 20 points, and spells that take 8+ and 11+
  python -m wfb_gym advise archmage-duel --power 3 --dispel 2 --scrolls 0 --tried "Burning Head"
      in the middle of a phase: dice left, a scroll read, a spell tried
  python -m wfb_gym advise archmage-duel --nominated "Burning Head"
      on how many dice?
  python -m wfb_gym advise archmage-duel --cast "Burning Head" --total 12 --power 2 --dispel 4
      let it through, throw dice or read the scroll?
"""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "advise",
        help="the best play in a situation at the table",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("scenario", nargs="?", help="bundled name or file")
    armies = parser.add_argument_group("the armies, in place of a scenario or over it")
    armies.add_argument(
        "--wizard",
        nargs="+",
        action="append",
        default=[],
        metavar=("LEVEL", "SPELL"),
        help="a wizard of the caster's: its level, then each spell as NAME=POINTS (of a lore) or "
        "VALUE=POINTS (what it takes to cast it); once for each wizard",
    )
    armies.add_argument("--ruleset", choices=("6e", "7e"), help="the edition (default: 6e)")
    parser.add_argument(
        "--phases", type=whole_number, metavar="N", help="look at the first N phases of a battle"
    )
    left = parser.add_argument_group("what is left in this phase")
    left.add_argument("--power", type=whole_number, metavar="N", help="power dice")
    left.add_argument(
        "--own",
        type=whole_number,
        nargs="+",
        default=[],
        metavar="N",
        help="power dice of each wizard's own (7th edition), in the wizards' order",
    )
    left.add_argument("--dispel", type=whole_number, metavar="N", help="dispel dice")
    left.add_argument("--scrolls", type=whole_number, metavar="N", help="Dispel Scrolls")
    happened = parser.add_argument_group("what has happened in this phase")
    happened.add_argument(
        "--tried",
        nargs="+",
        action="extend",
        default=[],
        metavar="SPELL",
        help="spells that were attempted; WIZARD/SPELL where two wizards know it",
    )
    happened.add_argument(
        "--nominated", metavar="SPELL", help="the spell being cast, before its dice"
    )
    happened.add_argument(
        "--cast", metavar="SPELL", help="the spell just cast: what does the dispeller do?"
    )
    happened.add_argument("--total", type=whole_number, metavar="T", help="that it was cast with")
    happened.add_argument("--at", metavar="NAME", help="the unit or character it is cast at")
    add_json_option(parser)
    parser.set_defaults(run=partial(_run, parser))


def _run(parser: Parser, options: argparse.Namespace) -> None:
    from wfb_gym.cli.position import PositionError, PositionRequest, build_position
    from wfb_gym.scenario import ScenarioError
    from wfb_gym.solver import TooLarge

    given = {field.name: getattr(options, field.name) for field in fields(PositionRequest)}
    try:
        position = build_position(PositionRequest(**given))
        advice = _advise(position)
    except (ScenarioError, PositionError) as error:
        parser.error(str(error))
    except TooLarge as error:
        more = position.scenario.phases - position.battle.state.phase > 1
        hint = "; --phases 1 looks no further than the first phase" if more else ""
        parser.error(f"expected a situation small enough to solve: {error}{hint}")
    if options.json:
        print_json(_document(position, advice))
    else:
        print(_text(position, advice))


# --- solving -------------------------------------------------------------------------------


class Play(NamedTuple):
    """One way to play, and its value.

    Attributes:
        description: of it, with the best of the further choices that it brings.
        value: points still to come for the mover.
        difference: to the best play, 0 or less.
    """

    description: "ActionDescription"
    value: float
    difference: float


class Advice(NamedTuple):
    """Every play in a position.

    Attributes:
        best: the advice in words.
        value: points still to come for the mover.
        plays: the best first; none where there is no choice.
    """

    best: str
    value: float
    plays: list[Play]


def _advise(position: "RequestedPosition") -> Advice:
    """Solve the position.

    Raises:
        TooLarge: it has more positions than fit.
    """
    from wfb_gym.solver import solve
    from wfb_gym.transcripts.decisions import describe_action, describe_dice

    battle, names = position.battle, position.names
    if battle.is_over:
        return Advice("nothing is left to decide", 0.0, [])
    solution = solve(position.scenario, battle=battle)
    sign = 1.0 if battle.mover == 0 else -1.0
    value = sign * solution.value_of(battle) + 0.0  # no minus before a zero
    if not battle.is_decision():
        text = describe_dice(names, battle, battle).text
        return Advice(f"{text}: there is no choice", value, [])
    best = solution.best_action(battle)
    values = {code: sign * gain + 0.0 for code, gain in solution.action_values(battle).items()}
    plays = [
        Play(
            describe_action(names, battle, code, _play_on(solution, battle, code)),
            values[code],
            min(0.0, values[code] - values[best]),
        )
        for code in sorted(values, key=lambda code: (code != best, -round(values[code], 9), code))
    ]
    return Advice(plays[0].description.text, value, plays)


def _play_on(solution: "Solution", battle: "Battle", action: int) -> "Battle":
    """Play an action and the mover's best further choices that it brings, in a copy."""
    from wfb_gym.engine.state import Node

    further = (
        Node.TARGET,
        Node.ITEM,
        Node.RESERVE_DICE,
        Node.POOL_DICE,
        Node.DISPEL,
        Node.DISPEL_RESERVE,
        Node.DISPEL_POOL,
    )
    after = battle.copy()
    after.act(action)
    while after.node in further and after.mover == battle.mover:
        after.act(solution.best_action(after))
    return after


# --- printing ------------------------------------------------------------------------------


def _document(position: "RequestedPosition", advice: Advice) -> dict[str, Any]:
    """Return the advice as JSON has it."""
    battle = position.battle
    return {
        "scenario": position.scenario.name,
        "mover": SEATS[battle.mover],
        "node": battle.node.name.lower(),
        **position.pools(),
        "best": advice.best,
        "value": advice.value,
        "plays": [
            {
                "play": play.description.text,
                "value": play.value,
                "difference": play.difference,
                "dice": play.description.dice,
                "chance": None if (chance := play.description.chance) is None else float(chance),
            }
            for play in advice.plays
        ],
    }


def _text(position: "RequestedPosition", advice: Advice) -> str:
    """Format the advice, the position, and a table of every play."""
    if position.battle.is_over:
        return f"{advice.best}: {position.scenario.name} is over"
    mover = SEATS[position.battle.mover]
    lines = [
        advice.best,
        "",
        f"{position.summary()}.",
        f"{position.horizon()} is worth {_format_points(advice.value)} points to the {mover}.",
    ]
    if advice.plays:
        lines += ["", *_table(advice.plays, f"points for the {mover}")]
    return "\n".join(lines)


def _format_points(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"


def _table(plays: list[Play], heading: str) -> list[str]:
    """Format a line for each play, under a line of headings."""
    rows = [(heading.upper(), "DIFFERENCE", "PLAY", "CHANCE", "")]
    for number, (description, value, difference) in enumerate(plays):
        chance = description.chance
        percent, fraction = ("", "") if chance is None else (f"{float(chance):.3%}", str(chance))
        less = _format_points(difference) if number else ""
        rows.append((_format_points(value), less, description.text, percent, fraction))
    return align_columns(rows, ">><><")
