"""Long commands killed at random times and resumed give the undisturbed results."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.pages import ROOT
from tests.support.scripts import without_times
from wfb_gym._jit import CACHE_FOLDER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="kills groups of processes"),
]

KILLS = 10
OUTPUT = "output.txt"
CACHE = "cache"


@dataclass(frozen=True)
class Command:
    """A long command and its resuming; its files are in its working folder."""

    line: str  # after ``python -m``
    resume: str = ""  # the flag that resumes from a checkpoint; by default the same line does it
    again: str = ""  # the flag that overwrites files
    before: str = ""  # makes its input, without kills


RECORD = "agents.record --scenario apprentice --battles"
FAST = (
    "agents.train_fast --quick --scenario apprentice --steps 40000 --evaluations 4 "
    "--checkpoint-seconds 0.1 --out run"
)
COMMANDS = {
    "train_fast": Command(f"{FAST} --workers 2", "--resume"),
    "train_fast, two runs": Command(f"{FAST} --workers 1 --steps 20000 --runs 2", "--resume"),
    "distil": Command(
        "agents.distil --quick --steps 1000 --workers 2 --checkpoint-seconds 0.1 --out run "
        "--targets targets",
        "--resume",
    ),
    "imitate": Command(
        "agents.imitate --dataset kept/apprentice-v0 --epochs 60 --out run",
        before=f"{RECORD} 400 --name kept/apprentice-v0",
    ),
    "record": Command(
        "agents.record --scenario orc-shaman-hunt --battles 2000 --name kept/hunt-v0 "
        "--out record.json",
        again="--replace",
    ),
    "train": Command("agents.train --quick --scenario apprentice --steps 8192 --out run"),
    "tournament": Command(
        "experiments.tournament random veteran mcts optimal --scenario apprentice "
        "--scenario archmage-duel --battles 2000 --planner-battles 16 --out run"
    ),
    "leaderboard": Command(
        "experiments.leaderboard --evaluate greedy veteran random --task archmage-duel/caster "
        "--task archmage-duel/dispeller --folder run"
    ),
    "exploitability": Command(
        "experiments.exploitability random greedy veteran optimal:0.1 --scenario apprentice "
        "--scenario archmage-duel --out grades.json"
    ),
    "solve": Command("experiments.solve archmage-duel --plot dice.png"),
}


def start(line: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a folder, in its own process group."""
    folders = {"WFB_GYM_CACHE_DIR": folder / CACHE, "MINARI_DATASETS_PATH": folder / "data"}
    env = {**os.environ, "PYTHONPATH": str(ROOT), **{key: str(at) for key, at in folders.items()}}
    with (folder / OUTPUT).open("ab") as output:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        command = [sys.executable, "-m", *line.split()]
        return subprocess.Popen(command, cwd=folder, env=env, start_new_session=True, **streams)


def complete(line: str, folder: Path) -> float:
    """Run a command to its end; returns its duration in seconds."""
    began = time.monotonic()
    with start(line, folder) as process:
        status = process.wait()
    assert status == 0, f"{line}: {tail(folder)}"
    return time.monotonic() - began


def tail(folder: Path) -> str:
    return (folder / OUTPUT).read_text(encoding="utf-8", errors="replace")[-2000:]


def prepare(command: Command, folder: Path) -> Path:
    """Make a folder with compiled code, without solutions, and with the command's input."""
    kept = folder / CACHE / CACHE_FOLDER.name
    shutil.copytree(CACHE_FOLDER, kept, ignore=shutil.ignore_patterns("solutions"))
    if command.before:
        complete(command.before, folder)
    return folder


def resume_command(command: Command, folder: Path) -> str:
    """Return the line that a user would run next, depending on the files."""
    if command.resume and any(folder.rglob("checkpoint.pt")):
        return f"{command.line} {command.resume}"
    if command.again and any((folder / "data").glob("kept/*/data")):
        return f"{command.line} {command.again}"
    return command.line


def run_with_kills(command: Command, parent: Path, seconds: tuple[float, float], seed: int) -> int:
    """Kill a command ten times and resume it each time; returns the number of folders used.

    A run that ends before its kill is complete, and the next begins in a new folder. Most kills
    come after the imports, which take the first of the two `seconds`. All come before the second,
    at which an undisturbed run ends.
    """
    rng = np.random.default_rng(seed)
    folders, kills = 1, 0
    folder = prepare(command, parent / "killed-1")
    while kills < KILLS:
        earliest = 0.0 if rng.random() < 0.2 else seconds[0]
        with start(resume_command(command, folder), folder) as process:
            try:
                status = process.wait(rng.uniform(earliest, seconds[1]))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
                continue
        assert status == 0, tail(folder)
        folders += 1
        folder = prepare(command, parent / f"killed-{folders}")
    complete(resume_command(command, folder), folder)
    return folders


def contents(folder: Path) -> dict[str, Any]:
    """Return all files below a folder by path, without compiled code and measured times."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    found: dict[str, Any] = {}
    for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns):
        name = str(path.relative_to(folder))
        compiled = path.suffix in (".nbi", ".nbc") or "solutions" not in name
        if name == OUTPUT or (name.startswith(CACHE) and compiled):
            continue
        if "tfevents" in name:  # named after a date, a process and a machine
            found["events"] = events(path)  # of the last run: the log keeps earlier ones on purpose
        else:
            content = path.read_bytes()
            if path.suffix == ".json":  # results of a recording contain its path
                content = content.replace(bytes(folder), b"")
            found[name] = normalise(name, content)
    return found


def normalise(name: str, content: bytes) -> Any:
    """Return the contents of a file, without measured times and dates."""
    if name.endswith((".json", ".jsonl")) or name == "data":
        lines = content.splitlines() if name.endswith("l") else [content]
        return [without_times(json.loads(line)) for line in lines]
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:  # contains dates of its members
            return {each: normalise(each, archive.read(each)) for each in archive.namelist()}
    return content


def events(path: Path) -> list[tuple[int, str, bytes]]:
    """Return the contents of TensorBoard's log, without timestamps."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    return [
        (event.step, value.tag, value.tensor.SerializeToString())
        for event in EventFileLoader(str(path)).Load()
        for value in event.summary.value
        if not value.tag.startswith("time/")
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_ten_times_it_gives_the_undisturbed_results(name: str, tmp_path: Path) -> None:
    command = COMMANDS[name]
    if name in ("record", "imitate"):
        pytest.importorskip("minari")
        pytest.importorskip("h5py")
    # once with the common cache, so that the measured run compiles nothing
    warm = tmp_path / "warm"
    warm.mkdir()
    (warm / CACHE).symlink_to(CACHE_FOLDER.parent, target_is_directory=True)
    for line in (command.before, command.line):
        if line:
            complete(line, warm)
    whole = prepare(command, tmp_path / "whole")
    length = complete(command.line, whole)
    imports = complete(f"{command.line.split()[0]} --help", whole)
    expected = contents(whole)
    seed = int.from_bytes(os.urandom(4), "little")
    folders = run_with_kills(command, tmp_path, (min(imports, 0.5 * length), length), seed)
    for number in range(1, folders + 1):
        found = contents(tmp_path / f"killed-{number}")
        assert sorted(found) == sorted(expected), f"seed {seed}, folder {number}"
        for path, content in expected.items():
            assert found[path] == content, f"seed {seed}, folder {number}: {path} differs"
