"""Small self-play runs, and runs that end early."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.self_play.settings import Settings
from agents.train_fast import Trainer

ALONE = """
name = "own"
description = "The dispeller has no dice."

[[caster.wizards]]
name = "Hermit"
level = 2
points = 60
spells = [{{ name = "Fire Ball", worth = {worth} }}, {{ name = "Fiery Blast", worth = 40 }}]

[dispeller]
dispel_dice = 0
"""
"""A scenario file in which only the caster decides; `worth` is the value of its Fire Ball."""


def small_settings(out: Path, **changes: Any) -> Settings:
    """Return settings of a run of few battles and a small network."""
    small = {"scenario": ("apprentice",), "num_envs": 64, "rollout": 8, "width": 16}
    return Settings(**{**small, "out": out, **changes})


def ctrl_c(*_: Any) -> None:
    """Send Ctrl-C to this process."""
    signal.raise_signal(signal.SIGINT)


def after_updates(
    patch: pytest.MonkeyPatch, act: Callable[[Any], None], frames: int = 0, owner: Any = Trainer
) -> None:
    """Call a function after each update of a trainer that has played this many frames."""
    update = owner.update

    def update_and_act(trainer: Any) -> None:
        update(trainer)
        if trainer.frames >= frames:
            act(trainer)

    patch.setattr(owner, "update", update_and_act)
