"""Progress of long work on stderr: one place for the library and its commands.

On a terminal rich draws a `ProgressBar`, if it is installed. Elsewhere the bar is silent, unless
a command asked for lines (`printed_lines`) or shows the progress in a display of its own
(`shown_by`).
"""

import atexit
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from threading import Event, Thread
from typing import Any, TextIO

FIRST_LINE = 10.0
"""Seconds without a sign of progress after which a command prints a line."""
NEXT_LINES = 30.0
"""Seconds between lines after that."""
_QUIET = 1.0
"""Seconds before a bar appears."""
_REDRAWN_EVERY = 0.2
_CLEAR_LINE = "\r\x1b[K"


class _Display:
    """What shows the progress of this process."""

    show: Callable[[str], None] | None = None
    """Takes a line about the progress."""
    draws = True
    """Whether bars draw themselves on a terminal."""


@contextmanager
def shown_by(show: Callable[[str], None], *, bars: bool = False) -> Iterator[None]:
    """Pass progress to a command's own display while the block runs.

    Args:
        show: takes the line that describes the progress now; "" once it has ended.
        bars: whether bars draw themselves on a terminal, too.
    """
    before = _Display.show, _Display.draws
    _Display.show, _Display.draws = show, bars
    try:
        yield
    finally:
        _Display.show, _Display.draws = before


@contextmanager
def printed_lines(what: str | Callable[[], str]) -> Iterator[None]:
    """Print lines on stderr while the block runs, if it takes long.

    The first line comes after `FIRST_LINE` seconds, the others every `NEXT_LINES` seconds. On a
    terminal, where bars draw themselves, they come only while no bar moves.

    Args:
        what: runs, or a function that returns it with its progress.
    """
    out: TextIO | None = sys.stderr
    ended, began = Event(), time.monotonic()
    draws, latest, moved = is_terminal(out), "", began

    def show(text: str) -> None:
        nonlocal latest, moved
        latest, moved = text, time.monotonic()

    def print_lines() -> None:
        pause = FIRST_LINE
        while not ended.wait(pause):
            now = time.monotonic()
            parts = [*filter(None, (what() if callable(what) else what, latest))]
            if out is None or out.closed or not parts or (draws and now - moved < FIRST_LINE):
                continue
            start = _CLEAR_LINE if draws else ""  # over a bar that stands still
            out.write(f"{start}wfb_gym: {': '.join(parts)} ({now - began:.0f} s so far)\n")
            out.flush()
            pause = NEXT_LINES

    thread = Thread(target=print_lines, name="wfb_gym progress", daemon=True)
    thread.start()
    try:
        with shown_by(show, bars=True):
            yield
    finally:
        ended.set()
        thread.join()


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is open and a terminal; a process without a console has no streams."""
    return stream is not None and not stream.closed and stream.isatty()


def tell(text: str) -> None:
    """Pass a line about the progress to the command that shows it; "" once it has ended."""
    if _Display.show is not None:
        _Display.show(text)


@cache
def _has_rich() -> bool:
    return find_spec("rich") is not None


class _TerminalLine:
    """A line at the bottom of a terminal that is redrawn in place: by rich, else as plain text."""

    _display: Any = None
    _plain: TextIO | None = None
    """Where plain text stands on the line."""

    def show(self, text: str, done: int = 0, expected: int = 0, out: TextIO | None = None) -> None:
        """Show a text and a bar, which is full when as many as expected are done."""
        out = out or sys.stderr
        if not _Display.draws or not is_terminal(out):
            return
        if not _has_rich():
            self._plain = out
            out.write(_CLEAR_LINE + text)
            out.flush()
            return
        if self._display is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = TextColumn("{task.description}", markup=False), BarColumn()
            self._display = Progress(*columns, console=Console(file=out), transient=True)
            self._display.add_task(text, total=expected or None)
            self._display.start()
            atexit.register(self.clear)  # after Ctrl-C or an error the cursor is shown again
        (task,) = self._display.tasks
        self._display.update(task.id, description=text, completed=done, total=expected or None)

    def clear(self) -> None:
        """Remove the line."""
        if self._display is not None:
            self._display.stop()
            self._display = None
            atexit.unregister(self.clear)
        if self._plain is not None and not self._plain.closed:
            self._plain.write(_CLEAR_LINE)
            self._plain.flush()
            self._plain = None


_LINE = _TerminalLine()
"""The one line of the process: two would overwrite each other."""


def show_line(text: str) -> None:
    """Show what is being done, in place of what was shown before; "" to end it."""
    tell(text)
    if text:
        _LINE.show(text)
    else:
        _LINE.clear()


class ProgressBar:
    """Shows how much of some work is done, of about how much if that is known.

    Args:
        what: the work.
        out: where it is drawn if that is a terminal; stderr unless given.
        unit: what is counted.
    """

    def __init__(self, what: str, out: TextIO | None = None, *, unit: str = "positions") -> None:
        self._what, self._unit = what, unit
        self._out: TextIO | None = sys.stderr if out is None else out
        self._is_told = False
        self._began = self._told = time.monotonic()
        self._expected, self._bound = 0, ""

    def expect(self, count: int, bound: str = "about ") -> None:
        """Set how many there will be: "about " or "at most " this many, or "" if it is exact."""
        self._expected, self._bound = count, bound

    def __call__(self, done: int) -> None:
        """Show that this many are done."""
        now = time.monotonic()
        if now - self._began < _QUIET or now - self._told < _REDRAWN_EVERY:
            return
        self._told = now
        self._is_told = True
        tell(self.line(done))
        _LINE.show(self.line(done), done, self._expected, self._out)

    def line(self, done: int) -> str:
        """Return the progress in words, with the time left if the total is known."""
        seconds = time.monotonic() - self._began
        if not self._expected:
            return f"{self._what}: {done:,} {self._unit}, {seconds:.0f} s, total not known yet"
        line = f"{self._what}: {done:,} of {self._bound}{self._expected:,} {self._unit}"
        left = seconds * (self._expected - done) / max(1, done)
        return f"{line}, {self._bound or 'about '}{left:.0f} s left" if left >= 0.0 else line

    def close(self) -> None:
        """Remove the bar."""
        if self._is_told:
            tell("")
            _LINE.clear()


@contextmanager
def shown(
    what: str,
    progress: Callable[[int], None] | None = None,
    count: int = 0,
    *,
    unit: str = "positions",
    bound: str = "about ",
) -> Iterator[Callable[[int], None]]:
    """Yield what is called with the number done: the caller's function, or a bar.

    Args:
        what: the work.
        progress: the caller's function, if there is one.
        count: how many there will be; 0 if that is not known.
        unit: what is counted.
        bound: see `ProgressBar.expect`.
    """
    bar = ProgressBar(what, unit=unit)
    bar.expect(count, bound)
    try:
        yield bar if progress is None else progress
    finally:
        bar.close()
