"""What a command of the checkout says where an extra is missing: its name, in one line.

Loads nothing but Python's own, since it speaks where the rest cannot be loaded.
"""

import sys
from functools import partial
from types import TracebackType
from typing import Any

from wfb_gym import _commands

_TRAIN = frozenset(
    ("matplotlib", "rich", "sb3_contrib", "stable_baselines3", "tensorboard", "torch", "tqdm")
)
"""Modules that the extra `train` brings, with what it needs itself."""


def name_missing_extras() -> None:
    """Have a command that ends in one line do so too where the extra `train` is not installed."""
    before = sys.excepthook
    told = isinstance(before, partial) and before.func is _end
    if before is not sys.__excepthook__ and not told:
        sys.excepthook = partial(_end, before)


def _end(
    before: Any, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Name the extra that brings a module which was not found; leave the rest to another hook."""
    missing = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    if missing.partition(".")[0] not in _TRAIN:
        before(kind, error, traceback)
        return
    command = sys.orig_argv[sys.orig_argv.index("-m") + 1]
    print(
        f'python -m {command}: needs {missing}: pip install "wfb-gym[train]"; '
        'in a checkout: pip install ".[train]"',
        file=sys.stderr,
    )
    raise SystemExit(_commands.FAILED)
