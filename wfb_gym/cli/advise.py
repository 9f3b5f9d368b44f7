"""``advise``: the best play in a situation, and what every other play is worth."""

import argparse
from dataclasses import fields
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from wfb_gym.cli import parser as shared
from wfb_gym.cli.parser import Commands, Parser, whole_number
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from wfb_gym.cli.position import RequestedPosition
    from wfb_gym.engine.battle import Battle
    from wfb_gym.solver import Solution

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
    shared.add_json_option(parser)
    parser.set_defaults(run=partial(_run, parser))


def _run(parser: Parser, options: argparse.Namespace) -> None:
    from wfb_gym.cli.position import PositionError, PositionRequest, RequestedPosition
    from wfb_gym.scenario import ScenarioError
    from wfb_gym.solver import TooLarge

    given = {field.name: getattr(options, field.name) for field in fields(PositionRequest)}
    try:
        position = RequestedPosition(PositionRequest(**given))
        advice = _advise(position)
    except (ScenarioError, PositionError) as error:
        parser.error(str(error))
    except TooLarge as error:
        more = position.scenario.phases - position.battle.state.phase > 1
        hint = "; --phases 1 looks no further than the first phase" if more else ""
        parser.error(f"expected a situation small enough to solve: {error}{hint}")
    if options.json:
        shared.print_json(_document(position, advice))
    else:
        print(_text(position, advice))


# --- solving -------------------------------------------------------------------------------


class Play(NamedTuple):
    """A way to play in words, with the best of the further choices that it brings.

    Then the points still to come for the mover, how many fewer they are than after the best play,
    and the dice that it throws with their chance to cast or dispel.
    """

    play: str
    value: float
    difference: float
    dice: int | None
    chance: Fraction | None


class Advice(NamedTuple):
    """The advice in words, the points still to come for the mover, and every play, best first."""

    best: str
    value: float
    plays: list[Play]


def _advise(position: "RequestedPosition") -> Advice:
    """Solve the position; `TooLarge` where that cannot be done."""
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
    plays = []
    for code in sorted(values, key=lambda code: (code != best, -round(values[code], 9), code)):
        played = _play_on(solution, battle, code)
        text, dice, chance = describe_action(names, battle, code, played)
        difference = min(0.0, values[code] - values[best])
        plays.append(Play(text, values[code], difference, dice, chance))
    return Advice(plays[0].play, value, plays)


def _play_on(solution: "Solution", battle: "Battle", action: int) -> "Battle":
    """Play an action and the mover's best further choices that it brings, in a copy."""
    from wfb_gym.engine.state import Node

    casting = Node.TARGET, Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE
    dispelling = Node.DISPEL, Node.DISPEL_RESERVE, Node.DISPEL_POOL
    after = battle.copy()
    after.act(action)
    while after.node in casting + dispelling and after.mover == battle.mover:
        after.act(solution.best_action(after))
    return after


# --- printing ------------------------------------------------------------------------------


def _document(position: "RequestedPosition", advice: Advice) -> dict[str, Any]:
    """Return the advice as JSON has it."""
    battle = position.battle
    return {
        "scenario": position.title,
        "mover": SEATS[battle.mover],
        "node": battle.node.name.lower(),
        **position.pools(),
        "best": advice.best,
        "value": advice.value,
        "plays": [play._asdict() for play in advice.plays],
    }


def _text(position: "RequestedPosition", advice: Advice) -> str:
    """Format the advice, the position, and a table of every play."""
    if position.battle.is_over:
        return f"{advice.best}: {position.title} is over"
    mover = SEATS[position.battle.mover]
    lines = [
        advice.best,
        "",
        f"{position.summary()}.",
        f"{position.horizon()} is worth {shared.format_value(advice.value)} points to the {mover}.",
    ]
    rows = [(f"points for the {mover}".upper(), "DIFFERENCE", "PLAY", "CHANCE", "")]
    for number, (play, value, difference, _, chance) in enumerate(advice.plays):
        less = shared.format_value(difference) if number else ""
        percent, fraction = ("", "") if chance is None else (f"{float(chance):.3%}", str(chance))
        rows.append((shared.format_value(value), less, play, percent, fraction))
    if advice.plays:
        lines += ["", *shared.align_columns(rows, ">><><")]
    return "\n".join(lines)
