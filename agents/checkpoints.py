"""A run's checkpoint: one file, written whole or not at all, with a digest of what it holds.

It holds plain values and tensors alone, so that loading one runs no code that it brings.
"""

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import torch

from wfb_gym.files import check_unpacked, refuse_damage, write_whole

FORMAT = 4
NAME = "checkpoint.pt"
_TITLE = b"wfb_gym checkpoint "
"""The file's first line: this, the format's number, and the digest of the bytes that follow."""


class CheckpointError(ValueError):
    """A checkpoint that is missing, unreadable, or of other settings."""


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Write a run's state into its folder; until it is whole, the former one stays.

    Raises:
        OSError: the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    memory = io.BytesIO()  # torch hides what kind of error a file raises
    torch.save(state, memory)
    content = memory.getbuffer()
    with write_whole(folder / NAME) as file:
        file.write(_TITLE + f"{FORMAT} {hashlib.sha256(content).hexdigest()}\n".encode())
        file.write(content)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a checkpoint in a run's folder."""
    return (folder / NAME).is_file()


def delete_checkpoint(folder: Path) -> None:
    """Delete the checkpoint of a run that is finished, if there is one."""
    (folder / NAME).unlink(missing_ok=True)


def load_checkpoint(folder: Path) -> dict[str, Any]:
    """Load what `save_checkpoint` wrote; a `CheckpointError` if it is not there or not readable."""
    path = folder / NAME
    if not has_checkpoint(folder):
        raise CheckpointError(f"{path}: expected a checkpoint, found no file")
    with refuse_damage(path, f"a checkpoint of format {FORMAT}", CheckpointError):
        title, _, content = path.read_bytes().partition(b"\n")
        if not title.startswith(_TITLE):
            raise ValueError("it does not begin as one")
        number, digest = title[len(_TITLE) :].decode().split(" ")
        if int(number) != FORMAT:
            raise CheckpointError(
                f"{path}: expected a checkpoint of format {FORMAT}, found format {int(number)}"
            )
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError("its bytes have changed")
        file = io.BytesIO(content)
        with zipfile.ZipFile(file) as archive:
            check_unpacked(archive, len(content))  # PyTorch packs nothing
        file.seek(0)
        return dict(torch.load(file, map_location="cpu", weights_only=True))
