"""The choices of a decision in words, with what the dice can do and what each is worth."""

from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario
from wfb_gym.solver import Solution, TooLarge, estimate, solve
from wfb_gym.transcripts.wording import Names, Words

SOON = 400_000
"""Positions of a scenario that is solved when somebody asks: a few seconds."""


class Odds:
    """What a player can choose, and what comes of it.

    Args:
        scenario: that is played.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._names = Names(scenario)
        self._solution: Solution | None = None
        self._too_large = False

    def choices(self, battle: Battle) -> list[str]:
        """A line for each legal action, numbered from 1."""
        words = self._words(battle)
        return [f"{number:>3}  {each.text}" for number, each in enumerate(words, 1)]

    def table(self, battle: Battle) -> list[str]:
        """The same with the chance of the dice and, where the scenario can be solved, the value.

        Values are points still to come for the mover if both play on optimally.
        """
        words = self._words(battle)
        solution = self._solved()
        rows = [("", "", "CHANCE", "POINTS TO COME" if solution else "")]
        sign = 1.0 if battle.mover == 0 else -1.0
        values = solution.action_values(battle) if solution else {}
        best = max((sign * value for value in values.values()), default=0.0)
        for number, (code, each) in enumerate(zip(battle.legal_actions(), words, strict=True), 1):
            chance = "" if each.chance is None else f"{float(each.chance):.1%}"
            value = ""
            if code in values:
                worth = sign * values[code]
                value = f"{round(worth, 2) + 0.0:.2f}{' best' if worth > best - 1e-9 else ''}"
            rows.append((str(number), each.text, chance, value))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return [
            f"{row[0]:>3}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}".rstrip()
            for row in rows
        ]

    def _words(self, battle: Battle) -> list[Words]:
        words = []
        for code in battle.legal_actions():
            after = battle.copy()
            after.act(code)
            words.append(self._names.play(battle, code, after))
        return words

    def _solved(self) -> Solution | None:
        """The scenario's solution, if it takes no more than a moment."""
        if self._solution is None and not self._too_large:
            try:
                if estimate(self._scenario).states <= SOON:
                    self._solution = solve(self._scenario)
            except TooLarge:
                pass
            self._too_large = self._solution is None
        return self._solution
