"""A run's checkpoint: one file, written whole or not at all.

It holds plain values and tensors alone, so that loading one runs no code that it brings.
"""

import os
from pathlib import Path
from typing import Any

import torch

FORMAT = 2
NAME = "checkpoint.pt"


class CheckpointError(ValueError):
    """A checkpoint that is missing, unreadable, or of other settings."""


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Write a run's state into its folder; until it is whole, the former one stays."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    part = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with part.open("wb") as file:
            torch.save({"format": FORMAT, **state}, file)
            file.flush()
            os.fsync(file.fileno())  # else a power failure may keep the name and no bytes
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a checkpoint in a run's folder."""
    return (folder / NAME).is_file()


def load_checkpoint(folder: Path) -> dict[str, Any]:
    """Load what `save_checkpoint` wrote; a `CheckpointError` if it is not there or not readable."""
    path = folder / NAME
    if not has_checkpoint(folder):
        raise CheckpointError(f"{path}: expected a checkpoint, found no file")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        found = state.pop("format", None)
    except Exception as error:  # torch raises whatever it likes for bytes that are no checkpoint
        raise CheckpointError(f"{path}: expected a checkpoint") from error
    if found != FORMAT:
        raise CheckpointError(f"{path}: expected a checkpoint of format {FORMAT}, found {found}")
    return dict(state)
