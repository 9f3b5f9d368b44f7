"""What learners share beside `experiments.common`: exact solutions, and whole updates on Ctrl-C."""

import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

from wfb_gym import solver

GENERATED = ("generated", "generated-phase")
"""Battles, and single phases, that are drawn anew each episode; a split may follow a colon."""


def is_generated(scenario: str) -> bool:
    """Whether a scenario's name stands for generated ones."""
    return scenario.partition(":")[0] in GENERATED


def load_solution(scenario: Any, max_bytes: int) -> solver.Solution | None:
    """The solution of a scenario; None, and a line on stderr, where it is too large."""
    try:
        solution = solver.solve(scenario, cache=True, max_bytes=max_bytes, notice=sys.stderr)
        _ = solution.full  # what grading needs may be too large where the solution is not
    except solver.TooLarge as error:
        print(f"no exact score: {error}", file=sys.stderr)
        return None
    return solution


class DeferredInterrupt:
    """Context that notes the first Ctrl-C in `requested`; the second one interrupts at once."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None

    def __enter__(self) -> "DeferredInterrupt":
        with suppress(ValueError):  # only the main thread may set a handler
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        print("ending after this update; Ctrl-C again ends at once", file=sys.stderr)
