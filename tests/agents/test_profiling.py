"""The profile of an update: each part once, with nested parts."""

import time
from types import SimpleNamespace

import pytest
import torch

from agents.profiling import BOOKKEEPING, Stopwatch, profile


def test_time_counts_for_the_innermost_part(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    stopwatch = Stopwatch()

    def spend(seconds: float) -> None:
        nonlocal now
        now += seconds

    def act(seconds: float) -> str:
        spend(1.0)
        owner.spend(seconds)
        spend(2.0)
        return "acted"

    owner = SimpleNamespace(spend=spend, act=act)
    stopwatch.watch(owner, "spend", "inner")
    stopwatch.watch(owner, "act", "outer")
    spend(100.0)  # no profiler is active
    with stopwatch.running("rest"):
        spend(4.0)
        assert owner.act(8.0) == "acted"
    assert stopwatch.seconds == {"rest": 4.0, "outer": 3.0, "inner": 8.0}


def test_an_update_has_all_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "backward", torch.Tensor.backward)  # with the profiler active
    found = profile(1, quick=True)
    parts = {"backward", "loss", "minibatches", "optimiser", "policy forward", "stepping"}
    assert set(found) == {BOOKKEEPING, "gradient exchange, and waiting for it", *parts}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert min(found.values()) > 0
