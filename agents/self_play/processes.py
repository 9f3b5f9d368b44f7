"""Processes that train together: each plays its own battles, and all share their gradients.

All run the same program on their own data (single program, multiple data), so networks that start
equal stay equal. Numbers are exchanged through shared memory, which on one machine is about ten
times faster than `torch.distributed`; use RLlib for several machines. The learning algorithm is in
`agents.train_fast`.
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
"""Maximum size of one exchange, in numbers."""


class Member(NamedTuple):
    """The objects that rank 0 shares with another process, which gets the pipe's sender."""

    arrived: Any  # semaphores
    may_go: Any
    receiver: Any  # ends of a pipe
    sender: Any


class ProcessGroup:
    """All processes, as seen by one of them. With one process, every method is trivial.

    The methods are collective: all processes call them, in the same order. Rank 0 has started the
    others. A process may be killed at any time, so there are no locks or pipes that several
    processes use, which it could leave blocked.
    """

    def __init__(self, rank: int = 0, shared: Sequence[Member] = (), memory: Any = None) -> None:
        self.rank, self.count = rank, max(1, len(shared))
        self.members = shared
        if memory is not None:
            self._buffers = np.frombuffer(memory).reshape(2, self.count, CAPACITY)
        self._turn = 0
        self.failed = threading.Event()  # set when another process has failed
        self.failure = ""  # message of the failure

    def _exchange(self, numbers: Any) -> NDArray[np.float64]:
        """Return the numbers of every process, float64 (count, k); valid until the second call."""
        # Two buffers alternate. A process that writes into one again has passed the barrier of the
        # other one, which every process reaches only after it has read the first.
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
        """Sum a flat tensor over the processes, in place."""
        if self.count > 1:
            numbers = tensor.numpy()
            for first in range(0, len(numbers), CAPACITY):
                part = numbers[first : first + CAPACITY]
                part[:] = self._exchange(part).sum(0)
        return tensor

    def broadcast(self, *numbers: float) -> list[float]:
        """Return the numbers of rank 0."""
        if self.count == 1:
            return list(numbers)
        found: list[float] = self._exchange(numbers)[0].tolist()
        return found

    def gather(self, value: Any) -> list[Any]:
        """Return on rank 0 the values of all processes, by rank; on the others an empty list."""
        if self.count == 1:
            return [value]
        if self.rank > 0:
            # Pickled here: torch would pass shared memory that disappears with this process.
            self.members[self.rank].sender.send_bytes(pickle.dumps(value))
            return []
        try:
            others = [pickle.loads(each.receiver.recv_bytes()) for each in self.members[1:]]
        except (EOFError, OSError):  # the pipe was closed, perhaps within a value
            self.failed.wait()
            raise WorkerError(self.failure) from None
        return [value, *others]


def _worker_main(
    work: Callable[..., None], rank: int, shared: Sequence[Member], memory: Any, arguments: Any
) -> None:
    """Run `work` in a process of rank 1 or more."""
    end_with_parent()
    torch.set_num_threads(1)
    work(ProcessGroup(rank, shared, memory), *arguments)


@contextmanager
def process_group(count: int, work: Callable[..., None], *arguments: Any) -> Iterator[ProcessGroup]:
    """Start the other `count` - 1 processes, and stop them at the end; yields the group of rank 0.

    They run ``work(group, *arguments)``, which must be picklable.

    Raises:
        WorkerError: another process failed.
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
    """Return a message for a failed process, from its exit status in `multiprocessing`."""
    if status < 0:
        return f"worker process {process} has failed: killed by signal {-status}"
    return f"worker process {process} has failed with exit status {status}"
