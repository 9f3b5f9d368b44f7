"""The folder of a run: locking, rejected input, early ends of a command."""

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agents.checkpoints import CheckpointError, save_checkpoint
from agents.run_folder import (
    RunFolderError,
    check_same_settings,
    is_finished,
    occupy,
    refuse_other_settings,
    refuse_unfinished,
    run_command,
    write_or_warn,
)
from experiments.attempts import WorkerError
from experiments.common import FAILED, INTERRUPTED, RESULTS
from experiments.workers import ignoring_interrupts_in_children


def test_a_folder_takes_one_process_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with (
        occupy(folder),
        pytest.raises(RunFolderError, match="another process is training in it"),
        occupy(folder),
    ):
        pass
    with occupy(folder):
        pass


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from agents.run_folder import occupy\n"
        "with occupy(Path(sys.argv[1])): print('in', flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"in\n"
        with pytest.raises(RunFolderError), occupy(tmp_path):
            pass
        other.kill()
    with occupy(tmp_path):
        pass


def test_an_unfinished_run_is_rejected(tmp_path: Path) -> None:
    refuse_unfinished(tmp_path, "--resume")
    assert not is_finished(tmp_path)
    results = tmp_path / RESULTS
    results.write_text(json.dumps({"interrupted": False}))
    refuse_unfinished(tmp_path, "--resume")
    assert is_finished(tmp_path)
    results.write_text(json.dumps({"interrupted": True}))
    with pytest.raises(RunFolderError, match="unfinished run; --load continues it"):
        refuse_unfinished(tmp_path, "--load")
    results.write_text(json.dumps({"interrupted": False}))
    save_checkpoint(tmp_path, {})
    with pytest.raises(RunFolderError, match="unfinished run"):
        refuse_unfinished(tmp_path, "--resume")
    assert not is_finished(tmp_path)


def test_a_run_of_other_settings_is_rejected(tmp_path: Path) -> None:
    settings = {"seed": 2, "scenario": ("a", "b"), "out": "x"}
    refuse_other_settings(tmp_path, settings, ["out"])
    before = {"seed": 2, "scenario": ["a", "b"], "out": "y"}
    results = tmp_path / RESULTS
    results.write_text(json.dumps({"args": before}))
    refuse_other_settings(tmp_path, settings, ["out"])
    results.write_text(json.dumps({"args": {**before, "seed": 1, "scenario": ["a", "c"]}}))
    with pytest.raises(RunFolderError) as caught:
        refuse_other_settings(tmp_path, settings, ["out"])
    assert str(caught.value) == (
        f"{tmp_path}: holds a run of other settings (--seed 1, --scenario a c); "
        "--out names another folder, --overwrite replaces that run"
    )


def test_damaged_results_are_rejected(tmp_path: Path) -> None:
    for damage in ("", "[1]", '"x"', '{"a"'):
        (tmp_path / RESULTS).write_text(damage)
        with pytest.raises(RunFolderError, match="expected results of a run"):
            refuse_unfinished(tmp_path, "--resume")


def test_other_settings_are_named_one_to_a_line() -> None:
    before = {"seed": 1, "scenario": ["a"], "clip_range": 0.2, "out": "x"}
    check_same_settings(before, {**before, "scenario": ("a",), "out": "y"}, ["out"])
    now = {"seed": 2, "scenario": ("a", "b"), "clip_range": 0.2, "out": "x"}
    with pytest.raises(CheckpointError) as caught:
        check_same_settings(before, now, ["out"])
    assert str(caught.value).splitlines() == [
        "--seed: expected 1 as before, found 2",
        "--scenario: expected a as before, found a b",
    ]


def test_settings_of_a_file_are_shown_on_one_printable_line() -> None:
    before = {"seed": "\x1b[2J\n\u202e" + "x" * 1000, "\x1b]0;": 1}
    with pytest.raises(CheckpointError) as caught:
        check_same_settings(before, {"seed": 1}, [])
    lines = str(caught.value).splitlines()
    assert [line[:20] for line in lines] == ["--seed: expected ?[2", "--?]0;: expected 1 a"]
    assert all(line.isprintable() and len(line) < 200 for line in lines)


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (KeyboardInterrupt(), INTERRUPTED, "interrupted"),
        (CheckpointError("other"), 2, "python -m agents.x: other"),
        (WorkerError("killed"), FAILED, "python -m agents.x: killed"),
    ],
)
def test_a_command_ends_early_in_one_line(
    error: BaseException,
    status: int,
    line: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work() -> int:
        raise error

    assert run_command("agents.x", tmp_path, work) == status
    assert capsys.readouterr().err == line + "\n"


def test_an_interruption_reports_whether_the_run_can_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        raise KeyboardInterrupt

    save_checkpoint(tmp_path / "seed-0", {})
    assert run_command("agents.x", tmp_path, work) == INTERRUPTED
    assert capsys.readouterr().err == f"interrupted; --resume continues from {tmp_path}\n"


def test_failures_of_optional_output_do_not_end_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def write() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_or_warn(tmp_path / "curve.png", write)
    expected = f"{tmp_path / 'curve.png'}: could not be written: No space left on device\n"
    assert capsys.readouterr().err == expected


def test_child_processes_ignore_ctrl_c() -> None:
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    found = []
    with ignoring_interrupts_in_children():
        found.append(subprocess.check_output([sys.executable, "-c", code]))
    found.append(subprocess.check_output([sys.executable, "-c", code]))
    assert found == [b"True\n", b"False\n"]
