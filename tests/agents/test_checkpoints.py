"""Checkpoints on disk."""

from pathlib import Path

import pytest
import torch

from agents.checkpoints import NAME, CheckpointError, load_checkpoint, save_checkpoint


def test_a_checkpoint_replaces_the_former_one_and_leaves_nothing_else(tmp_path: Path) -> None:
    for step in (1, 2):
        save_checkpoint(tmp_path / "run", {"step": step, "weights": torch.arange(3)})
    assert [each.name for each in (tmp_path / "run").iterdir()] == [NAME]
    found = load_checkpoint(tmp_path / "run")
    assert found["step"] == 2
    assert torch.equal(found["weights"], torch.arange(3))


def test_a_write_that_fails_leaves_the_former_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(tmp_path, {"step": 1})

    def fail(state: object, file: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(OSError, match="no space"):
        save_checkpoint(tmp_path, {"step": 2})
    assert load_checkpoint(tmp_path)["step"] == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with pytest.raises(CheckpointError, match="found no file"):
        load_checkpoint(tmp_path)
    path.write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match=r"expected a checkpoint$"):
        load_checkpoint(tmp_path)
    torch.save({"format": 0}, path)
    with pytest.raises(CheckpointError, match="format 2, found 0"):
        load_checkpoint(tmp_path)
