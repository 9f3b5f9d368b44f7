"""Profile an update of `agents.train_fast`: seconds by part.

    python -m experiments.benchmark --profile

Runs the updates of a default run, including its other processes, and times each part in the first
process. A part's time excludes the parts that it calls.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import torch

from agents.self_play.processes import ProcessGroup, process_group
from agents.self_play.settings import QUICK, Settings
from agents.train_fast import Trainer, worker_loop

BOOKKEEPING = "bookkeeping"
"""Remaining time: advantages, batches of decisions, the archive."""


class Stopwatch:
    """Times calls by part. A part's time excludes the parts that it calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    @contextmanager
    def running(self, part: str) -> Iterator[None]:
        """Count the block's time towards a part."""
        self._switch()
        self._running.append(part)
        try:
            yield
        finally:
            self._switch()
            self._running.pop()

    def _switch(self) -> None:
        """Add the time since the last switch to the running part."""
        now = time.perf_counter()
        if self._running:
            part = self._running[-1]
            self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Count the time of one object's method towards a part."""
        method: Callable[..., Any] = getattr(owner, name)

        @wraps(method)
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.running(part):
                return method(*arguments, **options)

        setattr(owner, name, timed)


def watch(trainer: Trainer, stopwatch: Stopwatch) -> None:
    """Wrap a trainer's methods so that `stopwatch` times its parts."""
    for name in ("play", "put"):
        stopwatch.watch(trainer.battles, name, "stepping")
    for name in ("broadcast", "all_reduce"):
        stopwatch.watch(trainer.group, name, "gradient exchange, and waiting for it")
    for learner in trainer.learners:
        stopwatch.watch(learner, "choose", "policy forward")
        stopwatch.watch(learner, "learn", "minibatches")
        stopwatch.watch(learner, "_loss", "loss")
        stopwatch.watch(learner.optimiser, "step", "optimiser")
    stopwatch.watch(torch.Tensor, "backward", "backward")


def profile(updates: int, *, quick: bool = False) -> dict[str, float]:
    """Return the seconds of an update by part, longest first. The first update is a warm-up.

    If `quick`, the update is one of ``--quick``.
    """
    torch.set_num_threads(1)  # each process uses one core
    settings = Settings(**QUICK) if quick else Settings()  # type: ignore[arg-type]
    stopwatch = Stopwatch()
    with process_group(settings.workers, worker_loop, settings, False) as group:
        trainer = Trainer(settings, group)
        _update(trainer, group)
        backward = torch.Tensor.backward
        watch(trainer, stopwatch)
        try:
            for _ in range(updates):
                with stopwatch.running(BOOKKEEPING):
                    _update(trainer, group)
        finally:
            torch.Tensor.backward = backward  # type: ignore[method-assign]
        group.broadcast(0.0, 1.0)  # stops the other processes
    each = {part: seconds / updates for part, seconds in stopwatch.seconds.items()}
    return dict(sorted(each.items(), key=lambda item: -item[1]))


def _update(trainer: Trainer, group: ProcessGroup) -> None:
    group.broadcast(0.0, 0.0)  # starts the update in the other processes
    trainer.update()
