"""``advise``: the best play in a situation, and the values of all other plays."""

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from wfb_gym.cli.output import align_columns, format_exact_points, print_json
from wfb_gym.cli.parser import Command, UsageError, option
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from wfb_gym.advising.advice import Advice
    from wfb_gym.advising.hidden_advice import HiddenAdvice
    from wfb_gym.advising.position import RequestedPosition
    from wfb_gym.advising.spell_rolls import RollsSummary, SpellRoll

_DESCRIPTION = """\
Print the best play and the value of every other play, if both sides then play optimally. The
situation is a scenario, or wizards and spells from the command line, at the start of a phase
or later in it. Values are exact, averaged over all dice. Situations that are too large, such
as whole battles, get estimates, which are marked. For wizards who roll their spells, give the
spells with --spells, or get the average over their rolls. With hidden items, the answer is a
mixed strategy: the probability of each play for each set of items that you may have."""
_ARMIES = "the armies, without a scenario or replacing parts of it"
_LEFT = "dice and scrolls left in this phase"
_HAPPENED = "earlier events of this phase"
_MOST_ROWS = 20
"""Maximum number of rolls to list; if there are more, only the most common openings are."""
_SAMPLES = 20
_NOTICED = 0.005  # smallest difference in points that is shown

_EXAMPLES = """\
examples:
  python -m wfb_gym advise --wizard 2 "Fire Ball" "Fiery Blast"
      a level 2 wizard; spells are worth their expected points at a typical target
  python -m wfb_gym advise --wizard 2 "Fire Ball" "Fiery Blast" --target "25 Orc Boyz"
      the same at a given unit
  python -m wfb_gym advise --wizard 4 "Fire Ball=20" "8=40" "11=60" --power 6 --dispel 4 --scrolls 1
      a level 4 wizard with Fire Ball, worth 20 points, and spells that take 8+ and 11+
  python -m wfb_gym advise archmage-duel --power 3 --dispel 2 --scrolls 0 --tried "Burning Head"
      in the middle of a phase: dice left, a scroll read, a spell tried
  python -m wfb_gym advise archmage-duel --nominated "Burning Head"
      on how many dice?
  python -m wfb_gym advise archmage-duel --cast "Burning Head" --total 12 --power 2 --dispel 4
      let it through, throw dice or read the scroll?
  python -m wfb_gym advise army.toml
      an army whose wizards roll their spells: the average, and the gain of each spell
  python -m wfb_gym advise army.toml --spells "Bright Wizard" "Fire Ball" "Fiery Blast"
      the same with given spells
  python -m wfb_gym advise army.toml --rolled "Bright Wizard" 3 6
      swap one of the rolled spells for the first of the lore?
"""


def _weights(text: str) -> tuple[float, ...]:
    """Parse weights separated by commas."""
    try:
        return tuple(float(each) for each in text.split(","))
    except ValueError:
        expected = "numbers separated by commas, such as 1,2"
        raise argparse.ArgumentTypeError(f"expected {expected}, found {text!r}") from None


@dataclass(frozen=True)
class AdviseOptions:
    """Options of ``advise``.

    Attributes:
        scenario: bundled name or file.
        position: the id of a position, as printed by "share" in play or by --json, instead of a
            scenario and the other options that describe a position.
        wizard: a wizard of the caster: its level, then each spell as NAME (a lore's spell, worth
            its expected points at the target), NAME=POINTS or VALUE=POINTS (a casting value);
            repeat for several wizards.
        target: the enemy unit for spells without points: a profile, such as "Orc Boyz" or "30 Orc
            Boyz" (default: 20 models of Toughness 3, without armour, at 6 points each).
        ruleset: the edition (default: 6e).
        spells: name of a wizard that rolls its spells, then the spells it has, by name or number;
            repeat for several wizards (default: the average over its rolls).
        rolled: name of a wizard, then the spells it has just rolled; the advice is which one to
            swap for the first spell of the lore, if any.
        samples: number of rolls of spells to sample if there are too many to evaluate all.
        weights: your beliefs about the enemy's sets of hidden items, as weights in the order of the
            sets, such as 1,2 (default: the scenario's weights).
        own_weights: the enemy's beliefs about your sets, as weights in the order of the sets.
        phases: use only the first N phases of a battle.
        estimate: solve only positions that take seconds, and estimate all others.
        power: power dice.
        own: power dice of each wizard's own (7th edition), in the wizards' order.
        dispel: dispel dice.
        scrolls: Dispel Scrolls.
        tried: spells that were attempted; WIZARD/SPELL if two wizards know it. Name a spell with
            several casts once for each attempt.
        nominated: the spell being cast, before its dice. Compares all numbers of dice; if the
            spell has a target, with --at only.
        cast: the spell just cast, which the dispeller may answer. If a spell has several casting
            values, "Lightning (9+)" names one.
        total: casting total of the spell.
        at: the unit or character at which it is aimed.
        shown: hidden items that were used, once for each use; caster/ITEM or dispeller/ITEM if both
            may have it.
        json: print only JSON.
    """

    scenario: str | None = option(None, positional=True)
    position: str | None = option(None, metavar="ID")
    wizard: tuple[tuple[str, ...], ...] = option((), group=_ARMIES, metavar=("LEVEL", "SPELL"))
    target: str | None = option(None, group=_ARMIES, metavar="PROFILE")
    ruleset: str | None = option(None, group=_ARMIES, choices=("6e", "7e"))
    spells: tuple[tuple[str, ...], ...] = option((), group=_ARMIES, metavar=("WIZARD", "SPELL"))
    rolled: tuple[tuple[str, ...], ...] = option((), group=_ARMIES, metavar=("WIZARD", "SPELL"))
    samples: int = option(_SAMPLES, metavar="N")
    weights: tuple[float, ...] = option((), type=_weights, action="store", metavar="W,W")
    own_weights: tuple[float, ...] = option((), type=_weights, action="store", metavar="W,W")
    phases: int | None = option(None, metavar="N")
    estimate: bool = False
    power: int | None = option(None, group=_LEFT, metavar="N")
    own: tuple[int, ...] = option((), group=_LEFT, nargs="+", action="store", metavar="N")
    dispel: int | None = option(None, group=_LEFT, metavar="N")
    scrolls: int | None = option(None, group=_LEFT, metavar="N")
    tried: tuple[str, ...] = option((), group=_HAPPENED, nargs="+", metavar="SPELL")
    nominated: str | None = option(None, group=_HAPPENED, metavar="SPELL")
    cast: str | None = option(None, group=_HAPPENED, metavar="SPELL")
    total: int | None = option(None, group=_HAPPENED, metavar="T")
    at: str | None = option(None, group=_HAPPENED, metavar="NAME")
    shown: tuple[str, ...] = option((), group=_HAPPENED, nargs="+", metavar="ITEM")
    json: bool = False


def _run(options: AdviseOptions) -> None:
    from wfb_gym.advising.advice import advise
    from wfb_gym.advising.position import RequestedPosition
    from wfb_gym.advising.request import PositionError, PositionRequest
    from wfb_gym.scenario import ScenarioError
    from wfb_gym.solver import TooLarge
    from wfb_gym.transcripts import TextCodeError

    if options.samples < 1:
        raise UsageError(f"--samples: expected 1 or more, found {options.samples}")
    given = {field.name: getattr(options, field.name) for field in fields(PositionRequest)}
    try:
        position = RequestedPosition(PositionRequest(**given))
        if any(map(position.hides_items, range(len(SEATS)))):
            _run_hidden(position, options)
            return
        for name in ("weights", "own_weights"):
            if getattr(options, name):
                expected, found = "hidden items that the enemy does not know yet", "none"
                raise PositionError(f"--{name.replace('_', '-')}", expected, found)
        try:
            advice = advise(position, options.samples, estimates=options.estimate)
        except KeyboardInterrupt:
            if not options.estimate:
                print("advise: --estimate takes seconds", file=sys.stderr)
            raise
    except TooLarge as error:
        raise UsageError(f"{error}; try fewer dice, spells or phases (--phases 1)") from error
    except TextCodeError as error:
        raise UsageError(f"--position: {error}") from error
    except (ScenarioError, PositionError) as error:
        raise UsageError(str(error)) from error
    if options.json:
        print_json(_document(position, advice))
    else:
        print("\n".join(_lines(position, advice)))


def _run_hidden(position: "RequestedPosition", options: AdviseOptions) -> None:
    from wfb_gym.advising.hidden_advice import advise_hidden

    advice = advise_hidden(position, options.weights, options.own_weights)
    if options.json:
        print_json(_hidden_document(advice))
    else:
        print("\n".join(_hidden_lines(advice)))


COMMAND = Command(
    name="advise",
    help="the best play in a situation at the table",
    options=AdviseOptions,
    run=_run,
    description=_DESCRIPTION,
    epilog=_EXAMPLES,
)


# --- JSON ----------------------------------------------------------------------------------


def _document(position: "RequestedPosition", advice: "Advice") -> dict[str, Any]:
    """Return the advice as a JSON document."""
    battle = position.battle
    document: dict[str, Any] = {
        "scenario": position.title,
        "position": position.id,
        "mover": _beneficiary(position),
        "node": battle.node.name.lower(),
        **({} if position.selecting else position.pools()),
        "best": advice.best,
        "value": advice.value,
        "is_exact": advice.is_exact,
        "method": advice.method,
        "plays": [play._asdict() for play in advice.plays],
        "values": [value._asdict() for value in position.values],
        "notes": position.scenario.notes,
    }
    if advice.rolls is not None:
        document["rolls"] = _rolls_document(position, advice.rolls)
    return document


def _rolls_document(position: "RequestedPosition", rolls: "RollsSummary") -> dict[str, Any]:
    def names(by_place: Any) -> dict[str, Any]:
        characters = position.names.characters
        return {characters[army][wizard]: each for (army, wizard), each in by_place.items()}

    return {
        "value": rolls.value,
        "half_width": rolls.half_width,
        "is_complete": rolls.is_complete,
        "spells": [{**spell._asdict(), "gain": spell.gain} for spell in rolls.spells],
        "rolls": [
            {
                "rolled": names(roll.drawn),
                "swapped": names(roll.swapped),
                "probability": roll.probability,
                "value": roll.situation.value,
                "best": roll.situation.best,
            }
            for roll in rolls.rolls
        ],
    }


# --- text ----------------------------------------------------------------------------------


def _lines(position: "RequestedPosition", advice: "Advice") -> list[str]:
    """Format the advice, the position, and a table of every play."""
    if position.battle.is_over:
        why = f"{position.title} is over"
        if not position.names.spells[0]:
            why = "the caster has no spells, which a wizard needs in spells = [...] or by a lore"
        return [f"{advice.best}: {why}"]
    mover = _beneficiary(position)
    best = advice.best
    rolls = advice.rolls
    if not best and rolls is not None and all(spell.army == 1 for spell in rolls.spells):
        # Only the enemy rolls, so show the caster's opening if it is the same for every roll.
        openings = {roll.situation.best for roll in rolls.rolls}
        best = openings.pop() if len(openings) == 1 else best
    lines = [best, ""] if best else []
    if position.selecting is None:
        lines.append(f"{position.summary()}.")
    else:
        lines.append(f"{position.title}: {position.selection()}.")
    about = "" if advice.is_exact else "about "
    words = f"worth {about}{format_exact_points(advice.value)} points to the {mover}"
    # An estimate covers this phase, including its effect on later ones.
    horizon = position.horizon() if advice.is_exact else "This phase"
    lines.append(f"{horizon} is {words}{_precision(advice.rolls)}.")
    lines += [*_value_lines(position), *_estimate_lines(position, advice)]
    lines += position.scenario.notes
    rows = [("POINTS", "DIFFERENCE", "PLAY", "CHANCE", "")]
    for number, (play, value, difference, _, chance) in enumerate(advice.plays):
        less = format_exact_points(difference) if number else ""
        percent, fraction = ("", "") if chance is None else (f"{float(chance):.3%}", str(chance))
        rows.append((format_exact_points(value), less, play, percent, fraction))
    if advice.plays:
        lines += ["", *align_columns(rows, ">><><")]
    if advice.rolls is not None and advice.rolls.spells:
        lines += _rolls_lines(advice.rolls)
    return lines


def _value_lines(position: "RequestedPosition") -> list[str]:
    """Return the values used for spells without points, in one line for each target."""
    by_target: dict[str, list[str]] = defaultdict(list)
    for value in position.values:
        by_target[value.target].append(f"{value.spell} {format_exact_points(value.points)}")
    return [
        f"Spell values{f' at {target}' if target else ''}: {', '.join(spells)} points."
        for target, spells in by_target.items()
    ]


def _beneficiary(position: "RequestedPosition") -> str:
    """Return the seat that a value refers to: the mover, or the caster while spells are rolled."""
    rolls = position.battle.node.name == "ROLL_SPELLS"
    return SEATS[0 if rolls else position.battle.mover]


def _precision(rolls: "RollsSummary | None") -> str:
    """Describe how many rolls were averaged, and the confidence interval."""
    if rolls is None or not rolls.spells:
        return ""
    number = len(rolls.rolls)
    if rolls.is_complete:
        return f" on average over all {number} rolls"
    interval = f", 95 % interval of \N{PLUS-MINUS SIGN}{format_exact_points(rolls.half_width)}"
    return f" on average over {number} sampled rolls{interval}"


def _estimate_lines(position: "RequestedPosition", advice: "Advice") -> list[str]:
    """Return lines that explain how estimates were made and why values are not exact."""
    if not advice.reason or advice.method == "exact":  # later positions may be small enough
        return []
    lines = [
        "",
        f"Values are estimates, not exact: {advice.method}.",
        f"The reason: {advice.reason}.",
    ]
    if position.scenario.phases - position.battle.state.phase > 1:
        lines.append("--phases 1 looks no further than the first phase, which may be small enough.")
    return lines


def _rolls_lines(rolls: "RollsSummary") -> list[str]:
    """Return each spell's gain, then the rolls, or only the openings if there are many."""
    army = min(spell.army for spell in rolls.spells)  # the caster's spells, if it rolls any
    spells = [spell for spell in rolls.spells if spell.army == army]
    if army == 1 and all(abs(spell.gain) < _NOTICED for spell in spells):
        return ["", "The dispeller's spells do not change the value."]
    several = len({spell.wizard for spell in spells}) > 1
    whose = "SPELL OF THE DISPELLER" if army == 1 else "SPELL"
    table: list[tuple[str, ...]] = [("ADDS", "WITH IT", "WITHOUT", "ROLLS WITH IT", whose)]
    for spell in spells:
        values = (spell.gain, spell.with_it, spell.without_it)
        by = f" by {spell.wizard}" if several else ""
        times = f"{spell.times} of {len(rolls.rolls)}"
        table.append((*map(format_exact_points, values), times, f"{spell.spell}{by}"))
    lines = ["", *align_columns(table, ">>>><"), ""]
    best_first = sorted(rolls.rolls, key=lambda roll: -roll.situation.value)
    if len(rolls.rolls) <= _MOST_ROWS and len(rolls.rolls[0].drawn) == 1:
        rows = [("POINTS FOR THE CASTER", "ROLLED", "SWAP", "OPEN WITH")]
        rows += [
            (
                format_exact_points(roll.situation.value),
                _rolled(roll, army),
                ", ".join(roll.swapped.values()) or "-",
                roll.situation.best,
            )
            for roll in best_first
        ]
        return lines + align_columns(rows, "><<<")
    by_opening: dict[str, float] = defaultdict(float)
    for roll in rolls.rolls:
        by_opening[roll.situation.best] += roll.probability
    openings = sorted(by_opening.items(), key=lambda each: -each[1])
    cells = [("SHARE OF ROLLS", "OPEN WITH")]
    cells += [(f"{part:.1%}", opening) for opening, part in openings[:_MOST_ROWS]]
    best, worst = best_first[0], best_first[-1]
    lines += align_columns(cells, "><")
    lines += ["", f"Best roll, {format_exact_points(best.situation.value)}: {_rolled(best, army)}"]
    return [
        *lines,
        f"Worst roll, {format_exact_points(worst.situation.value)}: {_rolled(worst, army)}",
    ]


def _rolled(roll: "SpellRoll", army: int) -> str:
    """Return the names of an army's rolled spells."""
    return "; ".join(", ".join(spells) for place, spells in roll.drawn.items() if place[0] == army)


# --- hidden items --------------------------------------------------------------------------


def _hidden_document(advice: "HiddenAdvice") -> dict[str, Any]:
    """Return the advice as a JSON document."""
    position = advice.position
    own, enemy = (
        [{"items": each.words, "chance": each.chance} for each in advice.sets[army]]
        for army in (advice.mover, 1 - advice.mover)
    )
    return {
        "scenario": position.title,
        "position": position.id,
        "mover": SEATS[advice.mover],
        "node": position.battle.node.name.lower(),
        **position.pools(),
        "enemy": enemy,
        "beliefs": own,
        "lower": advice.lower,
        "upper": advice.upper,
        "mixtures": [
            {
                "dealt": each.dealt or None,
                "plays": [{"play": play, "chance": chance} for play, chance in each.plays],
            }
            for each in advice.mixtures
        ],
        "notes": position.scenario.notes,
    }


def _hidden_lines(advice: "HiddenAdvice") -> list[str]:
    """Format the advice: the position, the bounds on its value, and a table for each set."""
    from wfb_gym.view.hidden_sets import chances_words

    position, mover = advice.position, SEATS[advice.mover]
    enemy = SEATS[1 - advice.mover]
    lines = [f"{position.summary()}.", "Items are hidden, so the best play is a mixed strategy."]
    lines += position.scenario.notes
    if advice.sets[1 - advice.mover]:
        lines.append(
            f"The {enemy} may have been dealt: {chances_words(advice.sets[1 - advice.mover])}."
        )
    if advice.sets[advice.mover]:
        own = chances_words(advice.sets[advice.mover])
        lines.append(f"The {enemy}'s beliefs about the {mover}: {own}.")
    low, high = format_exact_points(advice.lower), format_exact_points(advice.upper)
    lines.append(f"{position.horizon()} is worth between {low} and {high} points to the caster.")
    for each in advice.mixtures:
        dealt = f" with {each.dealt}" if each.dealt else ""
        rows = [("CHANCE", f"PLAY OF THE {mover.upper()}{dealt}")]
        rows += [(f"{chance:.1%}", play) for play, chance in each.plays]
        lines += ["", *align_columns(rows, "><")]
    return lines
