"""Processes that train together: each plays its own battles, and all share their gradients.

All processes run the same program on their own data (single program, multiple data), so networks
that start out equal stay equal. Numbers are exchanged through shared memory, which is about ten
times faster on one machine than `torch.distributed`. For several machines, use RLlib. The learning
algorithm is in `agents.train_fast`.
"""

import multiprocessing
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from experiments.attempts import WorkerError
from experiments.workers import end_with_parent, ignoring_interrupts_in_children

CAPACITY = 1 << 15
"""Maximum number of values per exchange."""


class Member(NamedTuple):
    """Objects that rank 0 shares with another process, which gets the pipe's sending end."""

    arrived: Any  # semaphores
    may_go: Any
    receiver: Any  # ends of a pipe
    sender: Any


class ProcessGroup:
    """All processes, as seen from one of them. With a single process, every method is trivial.

    The methods are collective: all processes call them, in the same order. Rank 0 starts the
    others. No lock or pipe is used by several processes, because a process may be killed at any
    time and would leave it blocked.
    """

    def __init__(self, rank: int = 0, shared: Sequence[Member] = (), memory: Any = None) -> None:
        self.rank, self.count = rank, max(1, len(shared))
        self.members = shared
        if memory is not None:
            self._buffers = np.frombuffer(memory).reshape(2, self.count, CAPACITY)
        self._turn = 0
        self.failed = threading.Event()  # set when another process has failed
        self.failure = ""  # the failure's message

    def _exchange(self, numbers: Any) -> NDArray[np.float64]:
        """Return every process's numbers, float64 (count, k), valid until the second call."""
        # Two buffers alternate. A process that reuses one has passed the other one's barrier,
        # which every process reaches only after it has read the first buffer.
        self._turn = 1 - self._turn
        buffer: NDArray[np.float64] = self._buffers[self._turn, :, : len(numbers)]
        buffer[self.rank] = numbers
        self._meet()
        return buffer

    def _meet(self) -> None:
        """Wait until all processes have arrived."""
        if self.rank > 0:
            self.members[self.rank].arrived.release()
            self.members[self.rank].may_go.acquire()
            return
        for each in self.members[1:]:
            each.arrived.acquire()
        if self.failed.is_set():
            raise WorkerError(self.failure)
        for each in self.members[1:]:
            each.may_go.release()

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """Sum a flat tensor over all processes, in place."""
        if self.count > 1:
            numbers = tensor.numpy()
            for first in range(0, len(numbers), CAPACITY):
                part = numbers[first : first + CAPACITY]
                part[:] = self._exchange(part).sum(0)
        return tensor

    def broadcast(self, *numbers: float) -> list[float]:
        """Return rank 0's numbers."""
        if self.count == 1:
            return list(numbers)
        found: list[float] = self._exchange(numbers)[0].tolist()
        return found

    def gather(self, value: Any) -> list[Any]:
        """Return all processes' values by rank on rank 0, and an empty list on the others."""
        if self.count == 1:
            return [value]
        if self.rank > 0:
            # Pickled here: torch would pass shared memory that disappears with this process.
            self.members[self.rank].sender.send_bytes(pickle.dumps(value))
            return []
        try:
            others = [pickle.loads(each.receiver.recv_bytes()) for each in self.members[1:]]
        except (EOFError, OSError):  # the pipe was closed, perhaps partway through a value
            self.failed.wait()
            raise WorkerError(self.failure) from None
        return [value, *others]


def _worker_main(
    work: Callable[..., None], rank: int, shared: Sequence[Member], memory: Any, arguments: Any
) -> None:
    """Run `work` in a process with rank 1 or higher."""
    end_with_parent()
    torch.set_num_threads(1)
    work(ProcessGroup(rank, shared, memory), *arguments)


@contextmanager
def process_group(count: int, work: Callable[..., None], *arguments: Any) -> Iterator[ProcessGroup]:
    """Start the other `count` - 1 processes, yield rank 0's group, and finally stop them.

    They run ``work(group, *arguments)``, which must be picklable.

    Raises:
        WorkerError: if another process fails.
    """
    if count == 1:
        yield ProcessGroup()
        return
    context = multiprocessing.get_context("spawn")
    memory = context.RawArray("d", 2 * count * CAPACITY)
    members = [
        Member(context.Semaphore(0), context.Semaphore(0), *context.Pipe(duplex=False))
        for _ in range(count)
    ]
    group = ProcessGroup(0, members, memory)
    workers: list[Any] = []

    def watch_workers() -> None:
        running = {worker.sentinel: rank for rank, worker in enumerate(workers, start=1)}
        while running:
            for sentinel in wait(list(running)):
                rank = running.pop(sentinel)
                worker = workers[rank - 1]
                worker.join()
                if worker.exitcode:
                    group.failure = group.failure or describe_end(worker.pid, worker.exitcode)
                    group.failed.set()
                    members[rank].arrived.release()  # this process may wait for it

    watcher = threading.Thread(target=watch_workers, daemon=True)
    try:
        with ignoring_interrupts_in_children():  # this process stops them
            for rank in range(1, count):
                # a process gets only its own pipe end, so that the pipe closes when it ends
                shared = [each._replace(receiver=None, sender=None) for each in members]
                shared[rank] = shared[rank]._replace(sender=members[rank].sender)
                passed = (work, rank, shared, memory, arguments)
                workers.append(context.Process(target=_worker_main, args=passed, daemon=True))
                workers[-1].start()
        for each in members:
            each.sender.close()
        watcher.start()
        yield group
        for worker in workers:
            worker.join()
        if group.failed.is_set():
            raise WorkerError(group.failure)
    finally:
        for worker in workers:
            if worker.pid is not None:  # it was started
                worker.kill()
                worker.join()
        if watcher.ident is not None:
            watcher.join()


def describe_end(process: int, status: int) -> str:
    """Return a message about a failed process, from its `multiprocessing` exit status."""
    if status < 0:
        return f"worker process {process} has failed: killed by signal {-status}"
    return f"worker process {process} has failed with exit status {status}"
