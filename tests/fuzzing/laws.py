"""Laws of reading: the form of a rejection, and its cost."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

MOST_SECONDS = 1.0
"""CPU seconds of a rejection."""
MOST_BYTES = 200 << 20
"""Memory that a rejection may take."""
MOST_ACCEPTED_BYTES = 1 << 30
"""Memory that reading an accepted input may take."""
_TRIES = 3
"""Measurements before a rejection counts as too expensive: on a busy machine one may be wrong."""
_MAX_MESSAGE = 20_000


def require(condition: bool, law: str) -> None:
    """Raise an AssertionError that names a broken law, unless the condition holds."""
    if not condition:
        raise AssertionError(law)


def require_printable(text: str, where: str) -> None:
    """Require that a terminal shows a text, of any number of lines, as it is."""
    shown = text.replace("\n", "").replace("\xa0", " ")
    require(shown.isprintable(), f"{where}: control characters: {text[:200]!r}")


def require_message(error: BaseException) -> None:
    """Require that an error's message has words, is short, and is printable."""
    text = str(error)
    require(re.search(r"\w{3}", text) is not None, f"{type(error).__name__} without a word")
    require(len(text) < _MAX_MESSAGE, f"a message of {len(text)} characters: {text[:200]}")
    require_printable(text, "message")


class Reading(NamedTuple):
    """The result of reading an input; the value is None if it was rejected."""

    value: Any
    is_accepted: bool


def attempt(read: Callable[[], Any], *errors: type[Exception]) -> Reading:
    """Read an input; check that a rejection is one of the documented errors, readable and cheap.

    `read` is called again if a rejection seems too expensive.
    """
    value, error, seconds, grown = _measure(read)
    if error is None:
        require(grown <= MOST_ACCEPTED_BYTES, f"accepted with {grown >> 20} MiB of memory")
        return Reading(value, True)
    if not isinstance(error, errors):
        raise error
    require_message(error)
    cause: BaseException | None = error
    while cause is not None:
        require(not isinstance(cause, MemoryError), f"ran out of memory, then: {error}")
        cause = cause.__cause__ or cause.__context__
    for _ in range(_TRIES - 1):
        if seconds <= MOST_SECONDS and grown <= MOST_BYTES:
            break
        _, _, again, more = _measure(read)
        seconds, grown = min(seconds, again), min(grown, more)
    cost = f"rejected after {seconds:.1f} s of CPU time, with {grown >> 20} MiB of memory"
    require(seconds <= MOST_SECONDS and grown <= MOST_BYTES, f"{cost}: {error}")
    return Reading(None, False)


def _measure(read: Callable[[], Any]) -> tuple[Any, Exception | None, float, int]:
    """Return value or error of a call, its CPU seconds, and the bytes that it took at its peak."""
    _reset_peak()
    before, began = memory_of("VmRSS"), time.process_time()
    value, error = None, None
    try:
        value = read()
    except Exception as found:  # noqa: BLE001 - the caller judges it
        error = found
    return value, error, time.process_time() - began, memory_of("VmHWM") - before


def _reset_peak() -> None:
    """Have Linux measure the peak of the memory from now on."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def memory_of(field: str, process: int | str = "self") -> int:
    """Return a number of a process's /proc/PID/status, in bytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(rf"^{field}:\s*(\d+) kB$", status, re.MULTILINE)
    return 1024 * int(found[1]) if found else 0
