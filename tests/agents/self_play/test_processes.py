"""Training in several processes: data exchange and failures."""

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest
import torch

from agents.self_play.processes import CAPACITY, ProcessGroup, process_group
from experiments.attempts import WorkerError


def exchange(group: ProcessGroup) -> tuple[list[float], list[float], float]:
    """Return one array of each kind, different in each process."""
    few = torch.tensor([1.0, 10.0]) * (group.rank + 1)
    group.all_reduce(few)
    many = torch.arange(3 * CAPACITY + 5, dtype=torch.float32)
    for _ in range(20):  # a fast process must not overwrite data that others still read
        many = group.all_reduce(many.clone() / group.count)
    numbers = group.broadcast(100.0 + group.rank, 7.0)
    return few.tolist(), numbers, float((many - torch.arange(3 * CAPACITY + 5)).abs().max())


def worker(group: ProcessGroup, failure: str) -> None:
    group.gather((group.rank, exchange(group)))
    if failure == "raises":
        raise ValueError("bad luck")
    if failure == "dies":
        os._exit(9)
    if failure == "is killed while it sends":
        # more than a pipe holds
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
        group.gather(bytes(1 << 26))
    time.sleep(0.1 * group.rank)  # so that the results arrive out of order
    group.gather(group.rank)


def test_a_single_process_exchanges_with_itself() -> None:
    alone = ProcessGroup()
    assert alone.all_reduce(torch.ones(3)).tolist() == [1.0] * 3
    assert (alone.broadcast(1.0, 2.0), alone.gather("x")) == ([1.0, 2.0], ["x"])


@pytest.mark.parametrize("count", [1, 3])
def test_all_processes_get_the_same_results(count: int) -> None:
    with process_group(count, worker, "") as group:
        own = exchange(group)
        gathered = group.gather((0, own))
        ranks = group.gather(0)
    assert ranks == list(range(count))
    assert [rank for rank, _ in gathered] == list(range(count))
    total = count * (count + 1) / 2
    for _, (few, numbers, error) in gathered:
        assert few == [total, 10.0 * total]
        assert numbers == [100.0, 7.0]
        assert error < 0.1  # 1/3 has no exact binary form


def gather_twice(group: ProcessGroup) -> None:
    exchange(group)
    for _ in range(2):
        group.gather(0)  # the second never comes
        time.sleep(1.0)


def gather_and_broadcast(group: ProcessGroup) -> None:
    exchange(group)
    group.gather(0)
    group.broadcast(1.0)


@pytest.mark.parametrize(
    ("failure", "work"),
    [
        ("raises", gather_and_broadcast),
        pytest.param("raises", gather_twice, marks=pytest.mark.slow),
        *(
            pytest.param(failure, work, marks=pytest.mark.slow)
            for failure in ("dies", "is killed while it sends")
            for work in (gather_twice, gather_and_broadcast)
        ),
    ],
)
def test_a_failing_worker_does_not_leave_the_others_waiting(
    failure: str, work: Callable[[ProcessGroup], None]
) -> None:
    with pytest.raises(WorkerError, match="has failed"), process_group(2, worker, failure) as group:
        work(group)


def test_a_failure_of_the_first_process_ends_the_others() -> None:
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), process_group(3, worker, "") as group:
        group.broadcast(1 / 0)
    assert time.monotonic() - began < 60.0  # they would wait for ever
