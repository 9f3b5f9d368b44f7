"""Processes that learn together: each plays battles of its own, all share their gradients.

All run the same program on their own data (single program, multiple data), so networks that begin
alike stay alike. Numbers go through shared memory, which on one machine is some ten times faster
than `torch.distributed`; for many machines there is RLlib. How anybody learns is not here.
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
from numpy.typing import NDArray
from torch import Tensor

CAPACITY = 1 << 15
"""Numbers that are exchanged at a time."""


class ProcessGroup:
    """All processes, as one of them sees them. With one process, every method is trivial.

    The methods are collective: all processes call them, in the same order. Rank 0 has started the
    others. What they share is memory of 2 * count * CAPACITY doubles, a barrier, a queue to rank 0.
    """

    def __init__(self, rank: int = 0, count: int = 1, shared: Any = None) -> None:
        self.rank, self.count = rank, count
        if shared is not None:
            memory, self._barrier, self._queue = shared
            self._buffers = np.frombuffer(memory).reshape(2, count, CAPACITY)
        self._turn = 0

    def _exchange(self, numbers: Any) -> NDArray[np.float64]:
        """The numbers of every process, float64 (count, k); valid until the call after the next."""
        # Two buffers take turns: a process that writes into one again has passed the barrier over
        # the other, which nobody reaches before having read this one.
        self._turn = 1 - self._turn
        buffer: NDArray[np.float64] = self._buffers[self._turn, :, : len(numbers)]
        buffer[self.rank] = numbers
        self._barrier.wait()
        return buffer

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """Sum a flat tensor over the processes, in place."""
        if self.count > 1:
            numbers = tensor.numpy()
            for first in range(0, len(numbers), CAPACITY):
                part = numbers[first : first + CAPACITY]
                part[:] = self._exchange(part).sum(0)
        return tensor

    def broadcast(self, *numbers: float) -> list[float]:
        """The numbers of rank 0."""
        if self.count == 1:
            return list(numbers)
        found: list[float] = self._exchange(numbers)[0].tolist()
        return found

    def gather(self, value: Any) -> list[Any]:
        """On rank 0 the values of all processes, by rank; on the others an empty list."""
        if self.rank > 0:
            # Pickled here: torch would hand over memory that ends with this process.
            self._queue.put((self.rank, pickle.dumps(value)))
            return []
        found: dict[int, Any] = {}
        while len(found) < self.count - 1:
            if self._queue.empty():
                if self._barrier.broken:
                    raise threading.BrokenBarrierError
                time.sleep(0.005)
            else:
                rank, other = self._queue.get()
                found[rank] = pickle.loads(other)
        return [value, *(found[rank] for rank in range(1, self.count))]


def _worker_main(
    work: Callable[..., None], rank: int, count: int, shared: Any, arguments: Any
) -> None:
    """Run `work` in a process other than the first."""

    def exit_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 says when to end
    threading.Thread(target=exit_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    work(ProcessGroup(rank, count, shared), *arguments)


@contextmanager
def process_group(count: int, work: Callable[..., None], *arguments: Any) -> Iterator[ProcessGroup]:
    """Start the other `count` - 1 processes, and end them; yields the group as rank 0 sees it.

    They run ``work(group, *arguments)``, which is pickled.

    Raises:
        RuntimeError: another process failed.
    """
    if count == 1:
        yield ProcessGroup()
        return
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(count)
    shared = context.RawArray("d", 2 * count * CAPACITY), barrier, context.SimpleQueue()
    workers = []
    for rank in range(1, count):
        passed = (work, rank, count, shared, arguments)
        workers.append(context.Process(target=_worker_main, args=passed, daemon=True))
        workers[-1].start()

    def watch_workers() -> None:
        running: dict[Any, Any] = {worker.sentinel: worker for worker in workers}
        while running:
            for sentinel in wait(list(running)):
                worker = running.pop(sentinel)
                worker.join()
                if worker.exitcode:
                    barrier.abort()

    watcher = threading.Thread(target=watch_workers, daemon=True)
    watcher.start()
    try:
        yield ProcessGroup(0, count, shared)
        for worker in workers:
            worker.join()
    except threading.BrokenBarrierError as error:
        raise RuntimeError(f"a worker process of process {os.getpid()} has failed") from error
    finally:
        for worker in workers:
            worker.terminate()
        watcher.join()
