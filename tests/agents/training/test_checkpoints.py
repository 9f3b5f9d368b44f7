"""Checkpoints on disk, and the generators in them."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.training import checkpoints


def test_what_is_written_is_read_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = checkpoints.place(tmp_path)
    for step in (1, 2):
        checkpoints.write(path, {"step": step, "weights": torch.arange(3)})
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    found = checkpoints.read(path)
    assert found["step"] == 2
    assert torch.equal(found["weights"], torch.arange(3))


def test_a_write_that_fails_leaves_the_former_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = checkpoints.place(tmp_path)
    checkpoints.write(path, {"step": 1})

    def full(state: object, file: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match="no space"):
        checkpoints.write(path, {"step": 2})
    assert checkpoints.read(path)["step"] == 1
    assert len(list(path.parent.iterdir())) == 1


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latest.pt"
    with pytest.raises(checkpoints.CheckpointError, match="found no file"):
        checkpoints.read(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(checkpoints.CheckpointError, match=r"expected a checkpoint$"):
        checkpoints.read(path)
    torch.save({"format": 0}, path)
    with pytest.raises(checkpoints.CheckpointError, match="format 1, found 0"):
        checkpoints.read(path)


def test_generators_go_back_by_way_of_the_disk(tmp_path: Path) -> None:
    def draws() -> list[float]:
        return [float(torch.rand(1)), float(np.random.rand()), random.random()]  # noqa: NPY002

    checkpoints.write(tmp_path / "x.pt", {"generators": checkpoints.get_generators()})
    before = draws()
    assert draws() != before
    checkpoints.set_generators(checkpoints.read(tmp_path / "x.pt")["generators"])
    assert draws() == before
