"""Exact regret of decisions, for scenarios that can be solved."""

from functools import cached_property

from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario
from wfb_gym.solver import ExactGame, Solution, TooLarge, solve
from wfb_gym.solver.evaluation import SAME

MAX_BYTES = 1 << 26
"""Default memory limit for the positions of a scenario; solving this many takes seconds."""


class RegretGrader:
    """Grades decisions in one scenario against optimal play.

    Nothing is solved before the first call. If the scenario has hidden items or does not fit in the
    memory, all grades are None.

    Args:
        scenario: the scenario.
        max_bytes: maximum memory for the positions, in bytes. With 0, nothing is solved.
    """

    def __init__(self, scenario: Scenario, max_bytes: int = MAX_BYTES) -> None:
        self._scenario, self._max_bytes = scenario, max_bytes
        self._stakes: dict[int, float | None] = {}

    @cached_property
    def solution(self) -> Solution | None:
        """The scenario's solution, or None if it has none or is too large."""
        if self._scenario.has_hidden_items or not self._max_bytes:
            return None
        try:
            return solve(self._scenario, max_bytes=self._max_bytes)
        except TooLarge:
            return None

    @cached_property
    def _game(self) -> ExactGame | None:
        try:
            return None if self.solution is None else ExactGame(self.solution)
        except TooLarge:
            return None

    def regret(self, battle: Battle, code: int) -> float | None:
        """Return an action's regret: the mover's points under optimal play minus the action's.

        The battle is at the decision, and is not modified.
        """
        if self.solution is None:
            return None
        sign = 1.0 if battle.mover == 0 else -1.0
        values = {k: sign * value for k, value in self.solution.action_values(battle).items()}
        return max(0.0, max(values.values()) - values[code])

    def stake(self, seat: int) -> float | None:
        """Return a seat's points at stake: optimal play minus random play, as in the benchmark.

        Both are guaranteed points, against a best response. None if they are the same.
        """
        if self._game is None:
            return None
        if seat not in self._stakes:
            stake = self._game.optimum(seat) - self._game.random(seat)
            self._stakes[seat] = stake if stake > SAME else None
        return self._stakes[seat]
