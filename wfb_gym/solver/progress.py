"""A bar on the terminal while something long is solved; nothing where nobody is looking."""

import sys
import time
from typing import TextIO

_QUIET = 1.0
"""Seconds before the bar appears."""
_EVERY = 0.2
_WIDTH = 30


class Bar:
    """Shows on a terminal how many positions are done, of about how many if somebody said so."""

    def __init__(self, what: str, out: TextIO | None = None) -> None:
        self._what = what
        self._out = sys.stderr if out is None else out
        self._began = self._told = time.monotonic()
        self._expected = 0
        self._drawn = 0

    def expect(self, positions: int) -> None:
        """Tell about how many positions there will be."""
        self._expected = positions

    def __call__(self, positions: int) -> None:
        """So many are done."""
        now = time.monotonic()
        if now - self._began < _QUIET or now - self._told < _EVERY or not self._out.isatty():
            return
        self._told = now
        line = f"{self._what}: {positions:,} positions, {now - self._began:.0f} s"
        if self._expected:
            filled = round(_WIDTH * min(1.0, positions / self._expected))
            bar = "#" * filled + "." * (_WIDTH - filled)
            line = f"{self._what} [{bar}] {positions:,} of about {self._expected:,} positions"
        self._write(line)

    def close(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._write("")
            self._write("")  # back to the beginning of the line

    def _write(self, line: str) -> None:
        self._out.write("\r" + line + " " * max(0, self._drawn - len(line)))
        self._out.flush()
        self._drawn = len(line)
