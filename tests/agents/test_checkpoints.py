"""Checkpoints on disk."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest
import torch

from agents.checkpoints import NAME, CheckpointError, load_checkpoint, save_checkpoint


def test_a_checkpoint_replaces_the_former_one_and_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (1, 2):
        save_checkpoint(tmp_path / "run", {"step": step, "weights": torch.arange(3)})
    monkeypatch.setattr("os.fsync", lambda _: 1 / 0)  # a write that fails
    with pytest.raises(ZeroDivisionError):
        save_checkpoint(tmp_path / "run", {"step": 3})
    assert [each.name for each in (tmp_path / "run").iterdir()] == [NAME]
    found = load_checkpoint(tmp_path / "run")
    assert found["step"] == 2
    assert torch.equal(found["weights"], torch.arange(3))


def test_other_files_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with pytest.raises(CheckpointError, match="found no file"):
        load_checkpoint(tmp_path)
    path.write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match=r"expected a checkpoint of format 5.*damaged"):
        load_checkpoint(tmp_path)
    torch.save({"format": 2}, path)
    with pytest.raises(CheckpointError, match=r"expected a checkpoint of format 5.*unsupported"):
        load_checkpoint(tmp_path)
    save_checkpoint(tmp_path, {"step": 1})
    path.write_bytes(path.read_bytes().replace(b"checkpoint 5 ", b"checkpoint 4 ", 1))
    with pytest.raises(CheckpointError, match="format 5, found format 4"):
        load_checkpoint(tmp_path)


def test_a_checkpoint_that_was_packed_is_rejected(tmp_path: Path) -> None:
    """Compressed data may unpack to any size."""
    save_checkpoint(tmp_path, {"weights": torch.zeros(100_000)})
    path = tmp_path / NAME
    title, _, content = path.read_bytes().partition(b"\n")
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as held,
        zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in held.namelist():
            packed.writestr(name, held.read(name))
    digest = hashlib.sha256(written.getvalue()).hexdigest().encode()
    path.write_bytes(title.rpartition(b" ")[0] + b" " + digest + b"\n" + written.getvalue())
    with pytest.raises(CheckpointError, match="unpacks to"):
        load_checkpoint(tmp_path)


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, {"weights": torch.arange(6, dtype=torch.float32)})
    path = tmp_path / NAME
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            load_checkpoint(tmp_path)
    path.write_bytes(whole[:-1])
    with pytest.raises(CheckpointError):
        load_checkpoint(tmp_path)
