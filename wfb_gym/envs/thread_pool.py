"""Threads that share the chunks of one batched step.

Compiled code releases the interpreter's lock, so plain threads run it side by side. A helper that
has nothing to do waits in compiled code for a moment, since the next step mostly follows at once:
waking it through Python would take as long as a hundred environments do. After that it sleeps. The
calling thread works too and never waits for a helper that has not begun: a machine whose other
cores are busy loses little. (`numba.prange` waits for all its threads, and on a busy machine that
made a step a hundred times slower.) Threads do not survive a fork; a child process starts its own.

The compiled functions here are called by both sides, inside of compiled code: `open_task`,
`next_chunk` and `close_task` by the thread whose step it is, `join_task`, `next_chunk` and
`leave_task` by helpers. Arguments reach helpers through the team's memory.
"""

import _thread
import os
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
from numba.core import config

from wfb_gym._cores import available_cores
from wfb_gym._intrinsics import (
    ROOM,
    add_to_word,
    load_value,
    load_word,
    pause,
    store_value,
    store_word,
)
from wfb_gym._jit import int64, jit

ALONE = 0
"""In place of a team's address: nobody helps."""

# Where things stand in a team's memory, in bytes; each word has a cache line of its own.
_OPEN, _NEXT, _WORKING, _TOTAL, _COUNT, _CHUNK, _ARGUMENTS = 0, 64, 128, 192, 256, 320, 384
_PAUSES = 4000
"""Looks at the team's memory, with a pause after each, before a helper sleeps or a step asks the
system to run somebody else: about a tenth of a millisecond."""
_MOST_ALONE = 1023
"""Tasks in a row that are not shared while the cores of helpers are busy with something else."""


@jit
def open_task(team: int, count: int, chunk: int, arguments: Any) -> None:
    """Offer the chunks of `range(count)` to helpers, and the arguments that they need."""
    store_value(team + _ARGUMENTS, arguments)
    store_word(team + _NEXT, 0)
    store_word(team + _COUNT, count)
    store_word(team + _CHUNK, chunk)
    store_word(team + _OPEN, 1)


@jit
def next_chunk(team: int) -> tuple[int, int]:
    """Take a chunk; returns its low and high end, equal when none is left."""
    count = load_word(team + _COUNT)
    chunk = load_word(team + _CHUNK)
    low = min(count, add_to_word(team + _NEXT, chunk))
    return low, min(count, low + chunk)


@jit
def close_task(team: int) -> None:
    """Wait, but not long, until all helpers have left."""
    store_word(team + _OPEN, 0)
    for _ in range(_PAUSES):
        if load_word(team + _WORKING) == 0:
            return
        pause()


@jit
def join_task(team: int) -> bool:
    """Wait for a task with chunks left, but not long; returns whether there is one."""
    for _ in range(_PAUSES):
        if load_word(team + _OPEN) and load_word(team + _NEXT) < load_word(team + _COUNT):
            add_to_word(team + _WORKING, 1)
            if load_word(team + _OPEN):  # else it was closed in between, and its arguments are old
                return True
            add_to_word(team + _WORKING, -1)
        pause()
    return False


@jit
def task_arguments(team: int, like: Any) -> Any:
    """Return the arguments of the task that was joined; `like` has their types."""
    return load_value(team + _ARGUMENTS, like)


@jit
def leave_task(team: int, result: int) -> None:
    """Add to the task's result, and be done with it."""
    add_to_word(team + _TOTAL, int64(result))
    add_to_word(team + _WORKING, int64(-1))


class ThreadPool:
    """Helper threads, started when first needed.

    Args:
        size: threads that may work on a task, the caller's included; without a compiler it is 1.
    """

    def __init__(self, size: int) -> None:
        self.size = 1 if config.DISABLE_JIT else size  # type: ignore[attr-defined]
        self._in_use = _thread.allocate_lock()
        self._process = 0  # whose helpers they are
        self._alone = self._back_off = 0  # tasks without helpers: that come now, and in a row
        self._task: Callable[[int], int] | None = None

    def run(
        self, task: Callable[[int], int], make_helper: Callable[[], Callable[[int], None]]
    ) -> int:
        """Share a task with helpers.

        Args:
            task: called with a team's address, or with `ALONE`; what its arguments point to is
                kept until no helper works on it.
            make_helper: called when helpers are started; returns what each of them calls with the
                team's address, to join tasks until `join_task` finds none. All tasks must have
                arguments of the same types.

        Returns:
            The sum of what the task and its helpers give.
        """
        if self._alone > 0:
            self._alone -= 1
            return task(ALONE)
        if self.size == 1 or not self._in_use.acquire(blocking=False):
            return task(ALONE)
        try:
            if self._process != os.getpid():
                self._start(make_helper())
            while self._asleep:
                self._asleep.pop().release()
            self._wait()  # for what an interruption has left
            self._task, self._memory[self._total] = task, 0
            began = time.perf_counter()
            try:
                total = task(self._team)
            finally:
                done = time.perf_counter()
                self._wait()
            self._task = None
            is_late = time.perf_counter() - done > done - began
            self._back_off = min(2 * self._back_off + 1, _MOST_ALONE) if is_late else 0
            self._alone = self._back_off
            return total + int(self._memory[self._total])
        finally:
            self._in_use.release()

    def _start(self, help_team: Callable[[int], None]) -> None:
        memory = np.zeros(_ARGUMENTS + ROOM + 64, np.uint8)
        memory = memory[-memory.ctypes.data % 64 :]  # words lie in lines of the cache
        self._team = memory.ctypes.data
        self._memory = memory[:_ARGUMENTS].view(np.int64)
        self._open, self._working, self._total = _OPEN // 8, _WORKING // 8, _TOTAL // 8
        self._asleep: list[Any] = []
        self._errors: list[BaseException] = []
        self._process = os.getpid()
        arguments = help_team, self._team, self._memory, self._asleep, self._errors
        for _ in range(1, self.size):
            Thread(target=_serve, args=arguments, name="wfb_gym step", daemon=True).start()

    def _wait(self) -> None:
        """Wait until no helper works on the task; raise what one of them has raised."""
        memory, errors = self._memory, self._errors
        memory[self._open] = 0  # it is open still if the caller's part has failed
        while memory[self._working] > len(errors):
            time.sleep(0)
        if errors:
            self._process = 0  # the next task has other helpers
            raise errors[0]


def _serve(
    help_team: Callable[[int], None],
    team: int,
    _memory: Any,  # that the team's address is of
    asleep: list[Any],
    errors: list[BaseException],
) -> None:
    wakeup = _thread.allocate_lock()
    wakeup.acquire()
    while not errors:
        try:
            help_team(team)
        except BaseException as error:  # noqa: BLE001 (the caller raises it again)
            errors.append(error)
            return
        asleep.append(wakeup)
        wakeup.acquire()


THREAD_POOL = ThreadPool(available_cores())
"""The process's threads for batched steps."""
