"""The exact optimum: values, best responses and exploitability.

The magic phase is a two-player zero-sum game of perfect information with dice, so it has an
exact value, and backward induction over the engine's own operations finds it.
"""

from wfb_gym.solver.memo import TooLarge
from wfb_gym.solver.solution import Solution, solve

__all__ = [
    "Solution",
    "TooLarge",
    "solve",
]
