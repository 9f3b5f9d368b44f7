"""Progress of long-running work on stderr, for the library and its commands.

On a terminal, rich draws a `ProgressBar` if it is installed. Elsewhere the bar is silent, unless a
command prints lines (`printed_lines`) or has its own display (`shown_by`).
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
"""Seconds without visible progress before a command prints a line."""
NEXT_LINES = 30.0
"""Seconds between subsequent lines."""
_QUIET = 1.0
"""Seconds before a bar appears."""
_REDRAWN_EVERY = 0.2
_COMPILING = "compiling; later runs skip this"
_CLEAR_LINE = "\r\x1b[K"


class _Display:
    """Display for this process's progress."""

    show: Callable[[str], None] | None = None
    """Called with a line about the progress."""
    draws = True
    """Whether to draw bars on a terminal."""


@contextmanager
def shown_by(show: Callable[[str], None], *, bars: bool = False) -> Iterator[None]:
    """Send progress to a command's own display while the block runs.

    Args:
        show: called with a line about the progress, and with "" at the end.
        bars: whether to draw bars on a terminal as well.
    """
    before = _Display.show, _Display.draws
    _Display.show, _Display.draws = show, bars
    try:
        yield
    finally:
        _Display.show, _Display.draws = before


@contextmanager
def printed_lines(task: str | Callable[[], str]) -> Iterator[None]:
    """Print progress lines on stderr while the block runs, if it takes a long time.

    The first line appears after `FIRST_LINE` seconds, and later ones every `NEXT_LINES` seconds. On
    a terminal, lines only appear while no bar is moving. While code is being compiled, the lines
    report that, because the first run of a command is slow.

    Args:
        task: description of the work, or a function that returns it.
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
            detail = _COMPILING if _is_compiling() else latest
            parts = [*filter(None, (task() if callable(task) else task, detail))]
            if out is None or out.closed or not parts or (draws and now - moved < FIRST_LINE):
                continue
            start = _CLEAR_LINE if draws else ""  # overwrites a bar that is not moving
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


def _is_compiling() -> bool:
    """Return whether code is being compiled, without importing the compiler."""
    core = sys.modules.get("wfb_gym._compiler.core")
    return core is not None and core.Core.depth > 0


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is an open terminal; it is None in a process without a console."""
    return stream is not None and not stream.closed and stream.isatty()


def tell(text: str) -> None:
    """Send a line about the progress to the current display, or "" at the end."""
    if _Display.show is not None:
        _Display.show(text)


@cache
def _has_rich() -> bool:
    return find_spec("rich") is not None


class _TerminalLine:
    """The bottom line of a terminal, redrawn in place by rich or, without rich, as plain text."""

    _display: Any = None
    _plain: TextIO | None = None
    """Terminal whose bottom line is plain text."""

    def show(self, text: str, done: int = 0, expected: int = 0, out: TextIO | None = None) -> None:
        """Show some text and a bar, which is full when `done == expected`."""
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
            atexit.register(self.clear)  # restores the cursor after Ctrl-C or an error
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
"""The process's only such line, since two would overwrite each other."""


def show_line(text: str) -> None:
    """Replace the progress line, or remove it if `text` is ""."""
    tell(text)
    if text:
        _LINE.show(text)
    else:
        _LINE.clear()


class ProgressBar:
    """A progress bar for work with a known, estimated or unknown total.

    Args:
        task: description of the work.
        out: stream to draw on if it is a terminal. Defaults to stderr.
        unit: unit that is counted, in the plural.
    """

    def __init__(self, task: str, out: TextIO | None = None, *, unit: str = "positions") -> None:
        self._task, self._unit = task, unit
        self._out: TextIO | None = sys.stderr if out is None else out
        self._is_shown = False
        self._began = self._drawn = time.monotonic()
        self._expected, self._bound = 0, ""

    def expect(self, count: int, bound: str = "about ") -> None:
        """Set the expected total.

        Args:
            count: the total.
            bound: "about " for an estimate, "at most " for an upper bound, "" for an exact total.
        """
        self._expected, self._bound = count, bound

    def __call__(self, done: int) -> None:
        """Show how many units are finished."""
        now = time.monotonic()
        if now - self._began < _QUIET or now - self._drawn < _REDRAWN_EVERY:
            return
        self._drawn = now
        self._is_shown = True
        tell(self.line(done))
        _LINE.show(self.line(done), done, self._expected, self._out)

    def line(self, done: int) -> str:
        """Return the progress in words, including the time left if the total is known."""
        seconds = time.monotonic() - self._began
        if not self._expected:
            return f"{self._task}: {done:,} {self._unit}, {seconds:.0f} s, total not known yet"
        line = f"{self._task}: {done:,} of {self._bound}{self._expected:,} {self._unit}"
        left = seconds * (self._expected - done) / max(1, done)
        return f"{line}, {self._bound or 'about '}{left:.0f} s left" if left >= 0.0 else line

    def close(self) -> None:
        """Remove the bar."""
        if self._is_shown:
            tell("")
            _LINE.clear()


@contextmanager
def shown(
    task: str,
    progress: Callable[[int], None] | None = None,
    count: int = 0,
    *,
    unit: str = "positions",
    bound: str = "about ",
) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of finished units: the caller's, or a new bar.

    Args:
        task: description of the work.
        progress: the caller's function. If None, a bar is shown.
        count: expected total, or 0 if it is unknown.
        unit: unit that is counted, in the plural.
        bound: see `ProgressBar.expect`.
    """
    bar = ProgressBar(task, unit=unit)
    bar.expect(count, bound)
    try:
        yield bar if progress is None else progress
    finally:
        bar.close()
