"""Processes that learn together: what they tell each other, and what becomes of a failure."""

import os
import time

import pytest
import torch

from agents.training.peers import ROOM, Peers, joined


def meet(peers: Peers) -> tuple[list[float], list[float], float, list[object]]:
    """A bit of everything; what it comes to, as this process sees it."""
    few = torch.tensor([1.0, 10.0]) * (peers.rank + 1)
    peers.summed(few)
    many = torch.arange(3 * ROOM + 5, dtype=torch.float32)
    for _ in range(20):  # who runs ahead must overwrite nobody's numbers
        many = peers.summed(many.clone() / peers.count)
    told = peers.told(100.0 + peers.rank, 7.0)
    return few.tolist(), told, float((many - torch.arange(3 * ROOM + 5)).abs().max()), []


def others(peers: Peers, fails: str) -> None:
    found = meet(peers)
    peers.gathered((peers.rank, found))
    if fails == "raises":
        raise ValueError("bad luck")
    if fails == "dies":
        os._exit(9)
    time.sleep(0.1 * peers.rank)  # so that they do not come in order
    peers.gathered(peers.rank)


def test_alone_there_is_nothing_to_tell() -> None:
    alone = Peers()
    assert alone.summed(torch.ones(3)).tolist() == [1.0] * 3
    assert alone.told(1.0, 2.0) == [1.0, 2.0]
    assert alone.gathered("x") == ["x"]


@pytest.mark.parametrize("count", [1, 3])
def test_all_see_the_same(count: int) -> None:
    with joined(count, others, "") as peers:
        own = meet(peers)
        told = peers.gathered((0, own))
        ranks = peers.gathered(0)
    assert ranks == list(range(count))
    assert [rank for rank, _ in told] == list(range(count))
    total = count * (count + 1) / 2
    for _, (few, numbers, error, _) in told:
        assert few == [total, 10.0 * total]
        assert numbers == [100.0, 7.0]
        assert error < 0.1  # thirds are not exact


@pytest.mark.parametrize("fails", ["raises", "dies"])
def test_who_fails_does_not_leave_the_others_waiting(fails: str) -> None:
    def asks(peers: Peers) -> None:
        meet(peers)
        for _ in range(2):
            peers.gathered(0)  # the second never comes

    def waits(peers: Peers) -> None:
        meet(peers)
        peers.gathered(0)
        peers.told(1.0)

    for work in (asks, waits):
        with pytest.raises(RuntimeError, match="has failed"), joined(2, others, fails) as peers:
            work(peers)


def test_a_failure_of_the_first_ends_the_others() -> None:
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), joined(3, others, "") as peers:
        peers.told(1 / 0)
    assert time.monotonic() - began < 60.0  # they would wait for ever
