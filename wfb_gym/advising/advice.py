"""The best play in a requested position, and the values of all other plays."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from wfb_gym._progress import show_line
from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.spell_rolls import RollsSummary, SpellRolls, _Situation
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import CAST_CHOICES, DISPEL_CHOICES
from wfb_gym.engine.state import Node
from wfb_gym.players.analysis import MOST_POSITIONS, Analysis, Analyst
from wfb_gym.scenario import Scenario
from wfb_gym.solver import Solution, TooLarge, solve
from wfb_gym.solver.graph_arrays import TIE
from wfb_gym.view.decisions import describe_action, describe_dice
from wfb_gym.view.names import ScenarioNames

_ALL_POSITIONS = 20 * MOST_POSITIONS
"""Maximum number of positions over all rolls of spells; solving this many takes about a minute."""
_MOST_SITUATIONS = 400
_FURTHER_CHOICES = (*CAST_CHOICES, *DISPEL_CHOICES)
"""Nodes at which the mover's choice completes its previous action."""


class AdvisedPlay(NamedTuple):
    """A play: an action completed with the best further choices."""

    play: str  # the play in words
    value: float  # the mover's expected points still to come
    difference: float  # value minus the best play's value, 0 or less
    dice: int | None = None  # number of dice that it throws, or None if it throws none
    # chance that these dice cast or dispel, or None if it throws no dice
    chance: Fraction | None = None


class Advice(NamedTuple):
    """The advice in a position."""

    best: str  # the best play in words
    value: float  # the mover's expected points still to come
    plays: list[AdvisedPlay]  # every play, best first
    is_exact: bool  # whether the values are exact
    method: str  # how the values were computed
    reason: str = ""  # why the values are not exact, or "" if they are
    # the average over rolls of spells after the best play, or None if no spells remain to be rolled
    rolls: RollsSummary | None = None


class _TooManyPositionsError(Exception):
    """Raised if a situation has more positions than the limit."""


class Judge:
    """Evaluates positions in one scenario: exactly if they can be solved, otherwise by search.

    Args:
        scenario: the scenario.
        most_positions: maximum number of positions to solve for one situation, in addition to those
            already solved for earlier situations. If None, only memory limits the number.
        estimates: whether to solve only positions that take seconds, and estimate all others.
    """

    def __init__(
        self, scenario: Scenario, most_positions: int | None = None, *, estimates: bool = False
    ) -> None:
        self._scenario, self._most = scenario, most_positions
        self._solution: Solution | None = None
        self._analyst: Analyst | None = None
        hides = scenario.has_hidden_items  # `solve` rejects it even if all items are already known
        if hides or estimates:
            self._analyst = Analyst(scenario)
        self._before = 0  # number of positions in the earlier situations
        self._analyses: dict[bytes, Analysis] = {}  # by position
        self.reason = f"more than {MOST_POSITIONS:,} positions" if hides or estimates else ""
        """Why values are not exact, or "" if they are."""

    @property
    def positions(self) -> int:
        """Number of positions solved so far, or 0 if no solution is available."""
        return 0 if self._solution is None else self._solution.graph.size

    def analyse(self, battle: Battle) -> Analysis:
        """Return the mover's value for every legal action at a decision."""
        key = battle.key()
        if key not in self._analyses:
            analysis = self._analyse(battle)  # may clear `_analyses`, so store the result later
            self._analyses[key] = analysis
        return self._analyses[key]

    def _analyse(self, battle: Battle) -> Analysis:
        if self._solution is None and self._analyst is None:
            try:
                watch = None if self._most is None else self._watch
                self._solution = solve(self._scenario, battle=battle, progress=watch)
            except _TooManyPositionsError as error:
                self._give_up(error)
            except TooLarge as error:
                self._give_up(error).note_too_large(battle)
        elif self._solution is not None and self._most is not None:
            self._before = self.positions
            try:
                self._solution.graph.explore(battle.state, self._watch)
            except (TooLarge, _TooManyPositionsError) as error:
                self._give_up(error)
        if self._solution is None:
            assert self._analyst is not None
            return self._analyst.analyse(battle)
        sign = 1.0 if battle.mover == 0 else -1.0
        gains = self._solution.action_values(battle)
        values = {code: sign * gain + 0.0 for code, gain in gains.items()}
        return Analysis(values, self._solution.best_action(battle), True, "exact")

    def _give_up(self, error: Exception) -> Analyst:
        """Switch to estimates: if one situation is too large, the others probably are too."""
        self._solution, self._analyst, self.reason = None, Analyst(self._scenario), str(error)
        self._analyses.clear()
        return self._analyst

    def _watch(self, positions: int) -> None:
        if self._most is not None and not self._before:  # later rolls show their own number instead
            show_line(f"solving one roll: {positions:,} of at most {self._most:,} positions")
        if self._most is not None and positions > self._before + self._most:
            size = f"a single roll leads to more than {self._most:,} positions"
            raise _TooManyPositionsError(f"{size}, and there are several rolls")
        if positions > _ALL_POSITIONS:
            size = f"the rolls have more than {_ALL_POSITIONS:,} positions together"
            raise _TooManyPositionsError(size)

    def value_of(self, battle: Battle) -> tuple[float, bool, str]:
        """Return the value for the first army, whether it is exact, and how it was computed."""
        if battle.is_over:
            return 0.0, True, "exact"
        if battle.is_decision():
            analysis = self.analyse(battle)
            sign = 1.0 if battle.mover == 0 else -1.0
            return sign * analysis.value + 0.0, analysis.is_exact, analysis.method
        value, is_exact, method = 0.0, True, "exact"
        for outcome, probability in battle.chance_outcomes():
            after = battle.copy()
            gained = after.resolve(outcome)
            found, exact, how = self.value_of(after)
            value += probability * (gained + found)
            if not exact:
                is_exact, method = False, how
        return value, is_exact, method

    def play_on(self, names: ScenarioNames, battle: Battle, action: int) -> Battle:
        """Play an action and the mover's best further choices in a copy of the battle."""
        return complete_play(self.analyse, names, battle, action)


def complete_play(
    analyse: Callable[[Battle], Analysis], names: ScenarioNames, battle: Battle, action: int
) -> Battle:
    """Play an action and the mover's best further choices in a copy of the battle.

    Ties go to the choice that is most likely to succeed. Otherwise, throwing a single die that
    cannot cast the spell might be chosen, because its value can be equal.
    """
    after = battle.copy()
    after.act(action)
    while after.node in _FURTHER_CHOICES and after.mover == battle.mover:
        analysis = analyse(after)
        successors = []
        for code, value in analysis.values.items():
            if value > analysis.value - TIE:
                successors.append(after.copy())
                successors[-1].act(code)
        after = max(successors, key=partial(_chance, names, after))
    return after


def _chance(names: ScenarioNames, before: Battle, after: Battle) -> Fraction:
    """Return the success chance of the dice to be thrown next, or 0 if there are none."""
    if after.node not in (Node.ROLL_CASTING, Node.ROLL_DISPEL):
        return Fraction(0)
    return describe_dice(names, before, after).chance or Fraction(0)


def advise(position: RequestedPosition, samples: int, *, estimates: bool = False) -> Advice:
    """Return the advice for a position, from this many rolls of spells if it cannot evaluate all.

    With `estimates`, only positions that take seconds are solved, and all others are estimated.
    """
    if position.selecting is not None:
        judge = Judge(position.scenario, MOST_POSITIONS, estimates=estimates)
        return _before_spells(position, judge, samples)
    judge = Judge(position.scenario, estimates=estimates)
    battle, names = position.battle, position.names
    if battle.is_over:
        return Advice("nothing is left to decide", 0.0, [], True, "exact")
    if not battle.is_decision():
        text = f"{describe_dice(names, battle, battle).text}: there is no choice"
        value, is_exact, method = judge.value_of(battle)
        value = (value if battle.mover == 0 else -value) + 0.0
        return Advice(text, value, [], is_exact, method, judge.reason)
    analysis = judge.analyse(battle)
    plays = _best_first(judge, names, battle, analysis.values)
    best = plays[0]
    return Advice(best.play, best.value, plays, analysis.is_exact, analysis.method, judge.reason)


def _best_first(
    judge: Judge, names: ScenarioNames, battle: Battle, values: Mapping[int, float]
) -> list[AdvisedPlay]:
    """Return actions as plays, best first; among equals, without dice first, then likeliest."""
    best, plays = max(values.values()), []
    for code in sorted(values):
        after = judge.play_on(names, battle, code)
        text, dice, chance = describe_action(names, battle, code, after)
        plays.append(AdvisedPlay(text, values[code], values[code] - best, dice, chance))

    def rank(play: AdvisedPlay) -> tuple[float, bool, Fraction | int]:
        # Pointlessly throwing a spare die comes last.
        return -round(play.value, 9), play.chance is not None, -(play.chance or 0)

    return sorted(plays, key=rank)


def _before_spells(position: RequestedPosition, judge: Judge, samples: int) -> Advice:
    """Return the advice for a position in which spells are still to be rolled or swapped."""

    def value(battle: Battle) -> _Situation:
        points, is_exact, method = judge.value_of(battle)
        best = "nothing is left to decide"
        if battle.is_decision():
            values = judge.analyse(battle).values
            most = round(max(values.values()), 9)
            equal = {code: value for code, value in values.items() if round(value, 9) == most}
            best = _best_first(judge, position.names, battle, equal)[0].play
        return _Situation(points, best, is_exact, method)

    battle, rolls = position.battle, SpellRolls(position, value)
    first = rolls.first(battle)
    judge.value_of(first)
    most = samples
    if judge.positions:
        most = max(samples, min(_MOST_SITUATIONS, _ALL_POSITIONS // judge.positions))
    if battle.node == Node.ROLL_SPELLS:
        summary = rolls.summary(battle, most, samples)
        is_exact, method = summary.is_exact, summary.method
        return Advice("", summary.value, [], is_exact, method, judge.reason, summary)
    sign = 1.0 if battle.mover == 0 else -1.0
    found = {}
    for action in battle.legal_actions():
        after = battle.copy()
        after.act(action)
        found[action] = rolls.summary(after, most, samples)
    values = {action: sign * summary.value + 0.0 for action, summary in found.items()}
    order = sorted(values, key=lambda action: (-round(values[action], 9), action))
    best = order[0]
    plays = [
        AdvisedPlay(
            describe_action(position.names, battle, action, battle).text,
            values[action],
            min(0.0, values[action] - values[best]),
        )
        for action in order
    ]
    is_exact = all(summary.is_exact for summary in found.values())
    method = next((each.method for each in found.values() if not each.is_exact), "exact")
    return Advice(plays[0].play, values[best], plays, is_exact, method, judge.reason, found[best])
