"""Exact solver: values, best responses and exploitability.

Without hidden items, the magic phase is a two-player zero-sum game of perfect information with
dice. The solver computes its exact value by backward induction over the engine's own operations.
With hidden items it becomes a game of imperfect information; `solve_hidden` computes an
equilibrium, with lower and upper bounds on the value.
"""

from wfb_gym.solver.belief import BeliefValue, value_by_belief
from wfb_gym.solver.equilibrium import (
    DEFAULT_GAP,
    Equilibrium,
    HiddenGame,
    SolvingProgress,
    solve_hidden,
)
from wfb_gym.solver.estimation import Estimate, HiddenItemsError, estimate
from wfb_gym.solver.evaluation import (
    BestResponse,
    ExactGame,
    Score,
    best_response,
    evaluate,
    exploitability,
    normalised_score,
)
from wfb_gym.solver.game_graph import TooLarge
from wfb_gym.solver.solution import Solution, SolutionError, load, save
from wfb_gym.solver.solving import solve, solve_all

__all__ = [
    "DEFAULT_GAP",
    "BeliefValue",
    "BestResponse",
    "Equilibrium",
    "Estimate",
    "ExactGame",
    "HiddenGame",
    "HiddenItemsError",
    "Score",
    "Solution",
    "SolutionError",
    "SolvingProgress",
    "TooLarge",
    "best_response",
    "estimate",
    "evaluate",
    "exploitability",
    "load",
    "normalised_score",
    "save",
    "solve",
    "solve_all",
    "solve_hidden",
    "value_by_belief",
]
