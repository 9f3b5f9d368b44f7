"""A run's checkpoint: one file, written whole or not at all, without code inside.

It holds plain values and tensors alone, so that reading one runs nothing that it brings.
"""

import contextlib
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

FORMAT = 1
FOLDER = "checkpoints"
NAME = "latest.pt"


class CheckpointError(ValueError):
    """A checkpoint that is not there, is none, or is of other settings."""


def place(out: Path) -> Path:
    """Where the checkpoint of a run lies."""
    return out / FOLDER / NAME


def write(path: Path, state: dict[str, Any]) -> None:
    """Put a state on disk; whoever reads meanwhile finds the former one.

    Raises:
        OSError: it cannot be written; the former one is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with half.open("wb") as file:
            torch.save({"format": FORMAT, **state}, file)
            file.flush()
            os.fsync(file.fileno())  # else a machine that fails may keep the name and no bytes
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def read(path: Path) -> dict[str, Any]:
    """A state as `write` was given it.

    Raises:
        CheckpointError: there is none, or it is of another version.
    """
    if not path.is_file():
        raise CheckpointError(f"{path}: expected a checkpoint, found no file")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        found = state.pop("format", None)
    except Exception as error:  # whatever torch makes of bytes that are none
        raise CheckpointError(f"{path}: expected a checkpoint") from error
    if found != FORMAT:
        raise CheckpointError(f"{path}: expected a checkpoint of format {FORMAT}, found {found}")
    return dict(state)


def remove(path: Path) -> None:
    """Take a checkpoint away, and its folder if nothing else is in it."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()


def get_generators() -> dict[str, Any]:
    """States of the generators that all of a process share."""
    state: Any = np.random.get_state()  # noqa: NPY002 - SB3 shuffles with it
    kind, keys, *rest = state
    return {
        "torch": torch.get_rng_state(),
        "numpy": [kind, keys.tolist(), *rest],
        "python": random.getstate(),
    }


def set_generators(state: dict[str, Any]) -> None:
    """Go back to states that `get_generators` gave."""
    torch.set_rng_state(state["torch"])
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, np.array(keys, np.uint32), *rest))  # noqa: NPY002
    random.setstate(state["python"])
