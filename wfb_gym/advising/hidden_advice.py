"""Advice where items are hidden: how often to choose what, by what the mover was dealt.

There the best play is a mixture: what an army does tells its enemy something of what it holds.
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
from wfb_gym.view.hidden_sets import EVERYBODY, HiddenSet, sets_that_may_be
from wfb_gym.view.names import ScenarioNames

_SECONDS = 60.0
_MOST_BYTES = 1 << 28
"""Memory of the public histories: what is larger takes minutes to look through."""
_NEVER = 0.0005
"""Chance below which an action is not listed."""


class MixedAdvice(NamedTuple):
    """How often to choose what with one set of hidden items, the most frequent first."""

    dealt: str  # "" where the mover has none
    plays: list[tuple[str, float]]


class HiddenAdvice(NamedTuple):
    """The advice.

    Attributes:
        position: that it is on.
        mover: the army that decides, 0 or 1.
        sets: of each army, the sets of hidden items that its enemy believes it may have.
        mixtures: one for each set that the mover may have been dealt.
        lower: points still to come that the caster wins on average at least.
        upper: points still to come that it wins at most.
    """

    position: RequestedPosition
    mover: int
    sets: tuple[list[HiddenSet], ...]
    mixtures: list[MixedAdvice]
    lower: float
    upper: float


def advise_hidden(
    position: RequestedPosition, weights: Sequence[float] = (), own_weights: Sequence[float] = ()
) -> HiddenAdvice:
    """Return the mixture of a decision in a scenario with hidden items.

    Args:
        position: that is asked about, in which some army may have one of several sets.
        weights: of the enemy's sets, in order: what the mover believes by now; those of the
            scenario where there are none.
        own_weights: of the mover's own sets: what the enemy believes by now.

    Raises:
        PositionError: nobody decides anything there, spells are not selected, or the weights are
            not those of sets that may be there.
        TooLarge: it has more public histories than fit.
    """
    battle, mover = _decision_of(position), position.battle.mover
    believed = position.scenario
    options = {1 - mover: ("--weights", weights), mover: ("--own-weights", own_weights)}
    for army, (option, given) in options.items():
        if given:
            believed = _weighted(believed, army, given, option)
    names = ScenarioNames(believed)
    sets = tuple(sets_that_may_be(names, battle, army) for army in EVERYBODY)
    for army, (option, given) in options.items():
        if believed.armies[army].hidden and not sets[army]:
            expected = "one above 0 for a set that has what was shown"
            raise PositionError(option, expected, _words(given) or "those of the scenario")
    start = new_states(1)
    start[0] = battle.state
    try:
        game = HiddenGame(believed, _MOST_BYTES, _tell, start=start)
    finally:
        show_line("")
    equilibrium = game.solve(GAP, _SECONDS)
    # Not by what the enemy believes: an army knows what it has, however unlikely.
    own = sets_that_may_be(position.names, battle, mover) or sets[mover] or [HiddenSet(0, "", 1.0)]
    return HiddenAdvice(
        position,
        mover,
        sets,
        [_mixture(equilibrium, names, battle, each) for each in own],
        equilibrium.lower,
        equilibrium.upper,
    )


def _tell(histories: int) -> None:
    show_line(f"looking at {histories:,} public histories")


def _decision_of(position: RequestedPosition) -> Battle:
    """Return the position where somebody decides with all spells known, or refuse it."""
    battle = position.battle
    if position.selecting is not None:
        who, option = position.roller(battle), "--rolled" if position.request.rolled else "--spells"
        expected = f"--spells with all that {who} has, as there are hidden items"
        raise PositionError(option, expected, "spells to roll or to swap")
    if not battle.is_decision():
        found = "the end" if battle.is_over else "dice to throw"
        raise PositionError(position.title, "a position in which somebody decides", found)
    return battle


def _weighted(scenario: Scenario, army: int, weights: Sequence[float], option: str) -> Scenario:
    """Return the scenario with other weights of an army's sets."""
    side = scenario.armies[army]
    if len(weights) != len(side.hidden):
        expected = f"a weight for each of the {len(side.hidden)} sets of the {SEATS[army]}"
        if not side.hidden:
            whose = "--weights are for the sets of who does not decide, --own-weights of who does"
            expected = f"none, as the {SEATS[army]} has no hidden items ({whose})"
        raise PositionError(option, expected, len(weights))
    if min(weights) < 0.0 or not sum(weights) > 0.0:
        raise PositionError(option, "weights of 0 or more, and one above it", _words(weights))
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
    """Return how often the mover of a position chooses what with a set, in words."""
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
