"""The folder of a run: locking, rejected input, early ends of a command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agents import run_folder
from agents.checkpoints import CheckpointError, save_checkpoint
from experiments.attempts import WorkerError
from experiments.common import FAILED, INTERRUPTED, RESULTS
from experiments.workers import ignoring_interrupts_in_children


def test_an_unfinished_run_is_rejected(tmp_path: Path) -> None:
    run_folder.refuse_unfinished(tmp_path, "--resume")
    assert not run_folder.is_finished(tmp_path)
    results = tmp_path / RESULTS
    for content, message in (
        (json.dumps({"interrupted": True}), "unfinished run; --load continues it"),
        ("", "expected results of a run"),
        ("[1]", "expected results of a run"),
        ('{"a"', "expected results of a run"),
    ):
        results.write_text(content)
        with pytest.raises(run_folder.RunFolderError, match=message):
            run_folder.refuse_unfinished(tmp_path, "--load")
    results.write_text(json.dumps({"interrupted": False}))
    run_folder.refuse_unfinished(tmp_path, "--resume")
    assert run_folder.is_finished(tmp_path)
    save_checkpoint(tmp_path, {})
    with pytest.raises(run_folder.RunFolderError, match="unfinished run"):
        run_folder.refuse_unfinished(tmp_path, "--resume")
    assert not run_folder.is_finished(tmp_path)


def test_a_run_of_other_settings_is_rejected(tmp_path: Path) -> None:
    settings = {"seed": 2, "scenario": ("a", "b"), "out": "x"}
    run_folder.refuse_other_settings(tmp_path, settings, ["out"])
    before = {"seed": 2, "scenario": ["a", "b"], "out": "y"}
    results = tmp_path / RESULTS
    results.write_text(json.dumps({"args": before}))
    run_folder.refuse_other_settings(tmp_path, settings, ["out"])
    results.write_text(json.dumps({"args": {**before, "seed": 1, "scenario": ["a", "c"]}}))
    with pytest.raises(
        run_folder.RunFolderError, match=r"settings \(--seed 1, --scenario a c\); --out names"
    ):
        run_folder.refuse_other_settings(tmp_path, settings, ["out"])


def test_other_settings_are_named_one_to_a_line() -> None:
    before = {"seed": 1, "scenario": ["a"], "clip_range": 0.2, "out": "x"}
    run_folder.check_same_settings(before, {**before, "scenario": ("a",), "out": "y"}, ["out"])
    now = {"seed": 2, "scenario": ("a", "b"), "clip_range": 0.2, "out": "x"}
    with pytest.raises(CheckpointError) as caught:
        run_folder.check_same_settings(before, now, ["out"])
    assert str(caught.value).splitlines() == [
        "--seed: expected 1 as before, found 2",
        "--scenario: expected a as before, found a b",
    ]
    hostile = {"seed": "\x1b[2J\n\u202e" + "x" * 1000, "\x1b]0;": 1}
    with pytest.raises(CheckpointError) as caught:
        run_folder.check_same_settings(hostile, {"seed": 1}, [])
    lines = str(caught.value).splitlines()
    assert [line[:20] for line in lines] == ["--seed: expected ?[2", "--?]0;: expected 1 a"]
    assert all(line.isprintable() and len(line) < 200 for line in lines)


def test_commands_end_early_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ends(error: BaseException) -> tuple[int, str]:
        def work() -> int:
            raise error

        return run_folder.run_command("agents.x", tmp_path, work), capsys.readouterr().err

    assert ends(CheckpointError("other")) == (2, "python -m agents.x: other\n")
    assert ends(WorkerError("killed")) == (FAILED, "python -m agents.x: killed\n")
    assert ends(KeyboardInterrupt()) == (INTERRUPTED, "interrupted\n")
    save_checkpoint(tmp_path / "seed-0", {})
    expected = f"interrupted; --resume continues from {tmp_path}\n"
    assert ends(KeyboardInterrupt()) == (INTERRUPTED, expected)


def test_child_processes_ignore_ctrl_c() -> None:
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    found = []
    with ignoring_interrupts_in_children():
        found.append(subprocess.check_output([sys.executable, "-c", code]))
    found.append(subprocess.check_output([sys.executable, "-c", code]))
    assert found == [b"True\n", b"False\n"]
