"""Ctrl-C while something is under way that should not be cut in two."""

import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any


class Pause:
    """Hears Ctrl-C: the first time it is only noted, the second time it interrupts."""

    def __init__(self) -> None:
        self.asked = False
        self._former: Any = None

    def __enter__(self) -> "Pause":
        with suppress(ValueError):  # only a program's first thread may listen
            self._former = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("ending after this update; Ctrl-C again ends at once", file=sys.stderr)
