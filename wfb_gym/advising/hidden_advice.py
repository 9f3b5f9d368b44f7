"""Advice in scenarios with hidden items: action probabilities for each set the mover may have.

The best play is a mixed strategy, because an army's actions reveal information about its items.
"""

from collections.abc import Sequence
from typing import NamedTuple

from wfb_gym._progress import show_line
from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionError
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import deal_instead
from wfb_gym.engine.state import new_states
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import Equilibrium, HiddenGame
from wfb_gym.transcripts.mixtures import GAP, mixture_at
from wfb_gym.view.decisions import describe_choices
from wfb_gym.view.hidden_sets import ALL_ARMIES, HiddenSet, sets_that_may_be
from wfb_gym.view.names import ScenarioNames

_SECONDS = 60.0
_MOST_BYTES = 1 << 28  # memory limit for the public histories; larger games take minutes to build
_NEVER = 0.0005  # probability below which an action is not listed


class MixedAdvice(NamedTuple):
    """The probability of each play, likeliest first, for one set of hidden items."""

    dealt: str  # the set in words, or "" if the mover has no hidden items
    plays: list[tuple[str, float]]


class HiddenAdvice(NamedTuple):
    """The advice for a position with hidden items."""

    position: RequestedPosition  # the requested position
    mover: int  # the army that decides, 0 or 1
    # for each army, the sets that it may have from the enemy's perspective
    sets: tuple[list[HiddenSet], ...]
    mixtures: list[MixedAdvice]  # the strategy for each set that may have been dealt to the mover
    lower: float  # lower bound on the caster's expected points still to come
    upper: float  # upper bound on the caster's expected points still to come


def advise_hidden(
    position: RequestedPosition, weights: Sequence[float] = (), own_weights: Sequence[float] = ()
) -> HiddenAdvice:
    """Return the equilibrium strategy at a decision in a scenario with hidden items.

    Args:
        position: the requested position, in which at least one army may have several possible sets.
        weights: the mover's beliefs about the enemy's sets, in order. Defaults to the scenario's
            weights.
        own_weights: the enemy's beliefs about the mover's sets, in order. Defaults to the
            scenario's weights.

    Raises:
        PositionError: if the position is not a decision, spells are still to be rolled, or the
            weights do not match the possible sets.
        TooLarge: if the position has more public histories than fit in memory.
    """
    battle, mover = _decision_of(position), position.battle.mover
    believed = position.scenario
    options = {1 - mover: ("--weights", weights), mover: ("--own-weights", own_weights)}
    for army, (option, given) in options.items():
        if given:
            believed = _weighted(believed, army, given, option)
    names = ScenarioNames(believed)
    sets = tuple(sets_that_may_be(names, battle, army) for army in ALL_ARMIES)
    for army, (option, given) in options.items():
        if believed.armies[army].hidden and not sets[army]:
            expected = "a weight above 0 for a set with the items shown"
            raise PositionError(option, expected, _words(given) or "the scenario's weights")
    start = new_states(1)
    start[0] = battle.state

    def show(histories: int) -> None:
        show_line(f"building the game: {histories:,} public histories")

    try:
        game = HiddenGame(believed, _MOST_BYTES, show, start=start)
    finally:
        show_line("")
    equilibrium = game.solve(GAP, _SECONDS)
    # All sets that the mover may have, even if the enemy believes one of them to be impossible.
    own = sets_that_may_be(position.names, battle, mover) or sets[mover] or [HiddenSet(0, "", 1.0)]
    return HiddenAdvice(
        position,
        mover,
        sets,
        [_mixture(equilibrium, names, battle, each) for each in own],
        equilibrium.lower,
        equilibrium.upper,
    )


def _decision_of(position: RequestedPosition) -> Battle:
    """Return the battle at a decision with all spells known; reject any other position."""
    battle = position.battle
    if position.selecting is not None:
        who, option = position.roller(battle), "--rolled" if position.request.rolled else "--spells"
        expected = f"--spells with all spells of {who}, because there are hidden items"
        raise PositionError(option, expected, "spells to roll or to swap")
    if not battle.is_decision():
        found = "the end" if battle.is_over else "dice to throw"
        raise PositionError(position.title, "a decision", found)
    return battle


def _weighted(scenario: Scenario, army: int, weights: Sequence[float], option: str) -> Scenario:
    """Return the scenario with new weights for an army's sets."""
    side = scenario.armies[army]
    if len(weights) != len(side.hidden):
        expected = f"a weight for each of the {len(side.hidden)} sets of the {SEATS[army]}"
        if not side.hidden:
            whose = "--weights are for the enemy of the deciding army, --own-weights for itself"
            expected = f"none, because the {SEATS[army]} has no hidden items ({whose})"
        raise PositionError(option, expected, len(weights))
    if min(weights) < 0.0 or not sum(weights) > 0.0:
        raise PositionError(option, "weights of 0 or more, at least one above 0", _words(weights))
    hidden = tuple(
        each.model_copy(update={"weight": weight})
        for each, weight in zip(side.hidden, weights, strict=True)
    )
    return scenario.model_copy(update={SEATS[army]: side.model_copy(update={"hidden": hidden})})


def _words(weights: Sequence[float]) -> str:
    return ",".join(f"{each:g}" for each in weights)


def _mixture(
    equilibrium: Equilibrium, names: ScenarioNames, battle: Battle, dealt: HiddenSet
) -> MixedAdvice:
    """Return the mover's strategy with one of its sets, in words."""
    battle = battle.copy()
    if battle.state.hidden_set[battle.mover]:
        deal_instead(battle.packed, battle.state, battle.mover, dealt.kind)
    words = describe_choices(names, battle)
    plays = [
        (words[code].text, chance)
        for code, chance in mixture_at(equilibrium, 0, dealt.kind).items()
        if chance >= _NEVER
    ]
    return MixedAdvice(dealt.words, sorted(plays, key=lambda each: -each[1]))
