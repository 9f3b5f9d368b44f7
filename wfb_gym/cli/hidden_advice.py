"""Advice where items are hidden: how often to choose what, by what the mover was dealt.

There the best play is a mixture: what an army does tells its enemy something of what it holds.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from wfb_gym.cli.parser import align_columns, format_value, tell_progress
from wfb_gym.cli.position import PositionError, PositionRequest, scenario_of_request
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import Equilibrium, HiddenGame
from wfb_gym.transcripts.decisions import describe_choices
from wfb_gym.transcripts.hidden_sets import HiddenSet, chances_words, hidden_sets
from wfb_gym.transcripts.mixtures import GAP, mixture_at
from wfb_gym.transcripts.names import ScenarioNames

_SECONDS = 60.0
_MOST_BYTES = 1 << 28
"""Memory of the public histories: what is larger takes minutes to look through."""
_NEVER = 0.0005
"""Chance below which an action is not listed."""
_ANSWERED = ("scenario", "wizard", "ruleset", "power", "dispel", "scrolls", "phases")
"""Options that say what the phase begins with; the others say what has happened in it."""


class Mixture(NamedTuple):
    """How often to choose what with one set of hidden items, the most frequent first."""

    dealt: str  # "" where the mover has none
    plays: list[tuple[str, float]]


class HiddenAdvice(NamedTuple):
    """The advice.

    Attributes:
        scenario: its name.
        mover: the army that decides, 0 or 1.
        enemy: the sets of hidden items that the other army may have.
        mixtures: one for each set that the mover may have been dealt.
        lower: points that the caster wins on average at least.
        upper: points that it wins at most.
    """

    scenario: str
    mover: int
    enemy: list[HiddenSet]
    mixtures: list[Mixture]
    lower: float
    upper: float


def advise_hidden(request: PositionRequest, weights: Sequence[float] = ()) -> HiddenAdvice:
    """Return the mixture of the first decision of a scenario with hidden items.

    Args:
        request: that says what the phase begins with.
        weights: of the enemy's sets, in order; those of the scenario where there are none.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
        PositionError: the request says more, or the scenario begins with no decision.
        TooLarge: it has more public histories than fit.
    """
    _refuse_later(request)
    scenario = scenario_of_request(request)
    mover = _first_mover(scenario)
    if weights:
        scenario = _weighted(scenario, 1 - mover, weights)
    try:
        game = HiddenGame(scenario, _MOST_BYTES, _tell)
    finally:
        tell_progress("")
    equilibrium = game.solve(GAP, _SECONDS)
    tree = equilibrium.game.tree.arrays
    if int(tree.mover[0]) != mover:
        expected = "two sets of hidden items or more that may be dealt"
        raise PositionError(scenario.name, expected, "one of each army")
    names = ScenarioNames(scenario)
    own = hidden_sets(scenario.armies[mover]) or [HiddenSet(0, "", 1.0)]
    return HiddenAdvice(
        scenario.name,
        mover,
        hidden_sets(scenario.armies[1 - mover]),
        [_mixture(equilibrium, names, mover, each) for each in own],
        equilibrium.lower,
        equilibrium.upper,
    )


def _tell(histories: int) -> None:
    tell_progress(f"looking at {histories:,} public histories")


def _refuse_later(request: PositionRequest) -> None:
    """Refuse options on what has happened in the phase: it depends on what was believed."""
    for each in fields(request):
        if each.name not in _ANSWERED and getattr(request, each.name):
            expected = "none, as there are hidden items: advice is on the first decision alone"
            raise PositionError(f"--{each.name}", expected, "one")


def _first_mover(scenario: Scenario) -> int:
    battle = Battle(pack(scenario))
    while battle.node == Node.DEAL:
        battle.resolve(battle.chance_outcomes()[0][0])
    if not battle.is_decision():
        expected = "a scenario that begins with a decision, as there are hidden items"
        raise PositionError(scenario.name, expected, f"one that begins with {battle.node.name}")
    return battle.mover


def _weighted(scenario: Scenario, army: int, weights: Sequence[float]) -> Scenario:
    """Return the scenario with other weights of an army's sets."""
    side = scenario.armies[army]
    if len(weights) != len(side.hidden):
        expected = f"a weight for each of the {len(side.hidden)} sets of the {SEATS[army]}"
        raise PositionError("--weights", expected, len(weights))
    if min(weights) < 0.0 or not sum(weights) > 0.0:
        expected = "weights of 0 or more, and one above it"
        raise PositionError("--weights", expected, ",".join(f"{each:g}" for each in weights))
    hidden = tuple(
        each.model_copy(update={"weight": weight})
        for each, weight in zip(side.hidden, weights, strict=True)
    )
    return scenario.model_copy(update={SEATS[army]: side.model_copy(update={"hidden": hidden})})


def _mixture(
    equilibrium: Equilibrium, names: ScenarioNames, mover: int, dealt: HiddenSet
) -> Mixture:
    """Return how often the mover chooses what with a set, in words."""
    battle = Battle(equilibrium.game.packed)
    while battle.node == Node.DEAL:
        battle.resolve(dealt.kind if battle.mover == mover else 0)
    words = describe_choices(names, battle)
    plays = [
        (words[code].text, chance)
        for code, chance in mixture_at(equilibrium, 0, dealt.kind).items()
        if chance >= _NEVER
    ]
    return Mixture(dealt.words, sorted(plays, key=lambda each: -each[1]))


# --- shown ---------------------------------------------------------------------------------


def document_of(advice: HiddenAdvice) -> dict[str, Any]:
    """Return the advice as JSON has it."""
    return {
        "scenario": advice.scenario,
        "mover": SEATS[advice.mover],
        "enemy": [{"items": each.words, "chance": each.chance} for each in advice.enemy],
        "lower": advice.lower,
        "upper": advice.upper,
        "mixtures": [
            {
                "dealt": each.dealt or None,
                "plays": [{"play": play, "chance": chance} for play, chance in each.plays],
            }
            for each in advice.mixtures
        ],
    }


def lines_of(advice: HiddenAdvice) -> list[str]:
    """Format the advice: the value between its bounds, and a table for each set."""
    lines = [f"{advice.scenario}: hidden items, so the best play is a mixture."]
    if advice.enemy:
        enemy = SEATS[1 - advice.mover]
        lines.append(f"The {enemy} may have: {chances_words(advice.enemy)}.")
    low, high = format_value(advice.lower), format_value(advice.upper)
    lines.append(f"The beginning is worth between {low} and {high} points to the caster.")
    for each in advice.mixtures:
        what = f" with {each.dealt}" if each.dealt else ""
        rows = [("CHANCE", f"PLAY OF THE {SEATS[advice.mover].upper()}{what}")]
        rows += [(f"{chance:.1%}", play) for play, chance in each.plays]
        lines += ["", *align_columns(rows, "><")]
    return lines
