"""Processes that learn together: each plays battles of its own, all share their gradients.

Every one of them runs the same program with the same numbers (single program, multiple data), so
that networks that began alike stay alike. What they tell each other goes through shared memory,
which on one machine is some ten times faster than the network that `torch.distributed` takes;
who wants many machines is better served by RLlib. Nothing of how anybody learns stands here.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any

import numpy as np
import torch
from torch import Tensor

ROOM = 1 << 15
"""Numbers that are told at a time."""


class Peers:
    """The others, as one of the processes sees them. Alone, it does nothing.

    Every method is called by all of them, in the same order.

    Args:
        rank: of this process, from 0; the first tells the others.
        count: how many there are.
        shared: memory of 2 * count * ROOM numbers, where they meet, and a way to the first.
    """

    def __init__(self, rank: int = 0, count: int = 1, shared: Any = None) -> None:
        self.rank, self.count = rank, count
        if shared is not None:
            memory, self._barrier, self._to_first = shared
            self._tables = np.frombuffer(memory).reshape(2, count, ROOM)
        self._turn = 0

    def _met(self, numbers: Any) -> Any:
        """What everybody brought, (count, k). Good until the call after the next."""
        # Two tables take turns: whoever writes into one again has met the others over the other,
        # and they had read this one before they came there.
        self._turn = 1 - self._turn
        table = self._tables[self._turn, :, : len(numbers)]
        table[self.rank] = numbers
        self._barrier.wait()
        return table

    def summed(self, tensor: Tensor) -> Tensor:
        """Sum over the processes, in place, of a row of numbers."""
        if self.count > 1:
            numbers = tensor.numpy()
            for first in range(0, len(numbers), ROOM):
                part = numbers[first : first + ROOM]
                part[:] = self._met(part).sum(0)
        return tensor

    def told(self, *numbers: float) -> list[float]:
        """The numbers of the first process."""
        if self.count == 1:
            return list(numbers)
        found: list[float] = self._met(numbers)[0].tolist()
        return found

    def gathered(self, held: Any) -> list[Any]:
        """What each process holds, by rank; the others than the first get an empty list."""
        if self.rank > 0:
            # By value: torch would hand over memory that ends with this process.
            self._to_first.put((self.rank, pickle.dumps(held)))
            return []
        found: dict[int, Any] = {}
        while len(found) < self.count - 1:
            if self._to_first.empty():
                if self._barrier.broken:
                    raise threading.BrokenBarrierError
                time.sleep(0.005)
            else:
                rank, other = self._to_first.get()
                found[rank] = pickle.loads(other)
        return [held, *(found[rank] for rank in range(1, self.count))]


def _help(work: Callable[..., None], rank: int, count: int, shared: Any, given: Any) -> None:
    """What the other processes do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first says when to end
    threading.Thread(target=_outlive_nobody, daemon=True).start()
    torch.set_num_threads(1)
    work(Peers(rank, count, shared), *given)


def _outlive_nobody() -> None:
    """End with the first process, however that ends."""
    first = multiprocessing.parent_process()
    if first is not None:
        first.join()
        os._exit(1)


@contextmanager
def joined(count: int, work: Callable[..., None], *given: Any) -> Iterator[Peers]:
    """Start the other processes, and end them.

    Args:
        count: processes in all; the first is the one that calls.
        work: what the others do: ``work(peers, *given)``, a function of a module.
        *given: must be picklable.

    Raises:
        RuntimeError: another process failed.
    """
    if count == 1:
        yield Peers()
        return
    start = multiprocessing.get_context("spawn")
    barrier = start.Barrier(count)
    shared = start.RawArray("d", 2 * count * ROOM), barrier, start.SimpleQueue()
    others = [
        start.Process(target=_help, args=(work, rank, count, shared, given), daemon=True)
        for rank in range(1, count)
    ]
    for other in others:
        other.start()

    def watched() -> None:
        left = list(others)
        while left:
            for ended in wait([other.sentinel for other in left]):
                other = next(other for other in left if other.sentinel == ended)
                other.join()
                if other.exitcode:
                    barrier.abort()
                left.remove(other)

    watch = threading.Thread(target=watched, daemon=True)
    watch.start()
    try:
        yield Peers(0, count, shared)
        for other in others:
            other.join()
    except threading.BrokenBarrierError as error:
        raise RuntimeError(f"a process that learned with {os.getpid()} has failed") from error
    finally:
        for other in others:
            other.terminate()
        watch.join()
