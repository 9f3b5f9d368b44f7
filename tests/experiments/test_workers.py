"""Tasks in other processes: same results in the same order, and one-line errors."""

import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import pytest
import torch

from agents.distillation.grading import grade_scenarios
from agents.distillation.targets import TargetSource, make_targets
from experiments import experiment, leaderboard, ray_cluster, tournament, workers
from experiments.attempts import WorkerError
from experiments.common import FAILED
from experiments.leaderboards import jobs, protocol
from experiments.ray_cluster import LOCAL, ROOT
from experiments.workers import HERE, Workers, open_workers
from tests.experiments.tasks import die_at_three, fail_at_three, read_file, slow_first
from tests.support.scripts import Scripts, without_times
from wfb_gym.generating import Generation
from wfb_gym.players.learned import NetworkAgent

POLICY = Path(ROOT, "wfb_gym/players/policies/archmage-duel/caster.npz")
SMALL = Generation(points=500, phases=1, wizards=1, characters=1, units=3, spells=4, items=0)
GENERAL = Path(ROOT, "wfb_gym/players/policies/generalist.npz")


class Elsewhere:
    """Runs a few tasks before their results are needed, as remote workers do, and pickles all."""

    shares = True

    def __init__(self) -> None:
        self.done = 0

    def map(self, function: Any, tasks: Iterable[Any], describe: Any = str) -> Iterator[Any]:
        def do(task: Any) -> Any:
            self.done += 1
            there, received = cloudpickle.loads(cloudpickle.dumps((function, task)))
            return cloudpickle.loads(cloudpickle.dumps(there(received)))

        pending: deque[Any] = deque()
        for task in tasks:
            pending.append(do(task))
            if len(pending) == 4:
                yield pending.popleft()
        yield from pending


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    found = Elsewhere()

    @contextmanager
    def opened(*_: Any, **__: Any) -> Iterator[Workers]:
        yield found

    monkeypatch.setattr(experiment, "open_workers", opened)
    return found


def test_in_process_tasks_run_on_request() -> None:
    taken: list[int] = []
    found = HERE.map(taken.append, iter(range(3)))
    for expected in ([0], [0, 1], [0, 1, 2]):
        next(found)
        assert taken == expected


def test_results_come_in_order_and_few_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "TASKS_PER_WORKER", 2)
    begun = 0

    def numbers() -> Iterator[int]:
        nonlocal begun
        for begun in range(1, 31):
            yield begun - 1

    with open_workers(processes=2) as pool:
        found = []
        for result in pool.map(slow_first, numbers()):
            found.append(result)
            assert begun <= len(found) + 3
    assert found == [number * number for number in range(30)]


def _is_alive(process: str) -> bool:
    """Return whether a process is running; a zombie counts as ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="asks Linux for processes")
def test_processes_end_with_a_command_that_is_killed() -> None:
    script = """
import time
from experiments.workers import open_workers
if __name__ == "__main__":
    with open_workers("", processes=2) as workers:
        for result in workers.map(time.sleep, [0.0] * 4 + [0.01] * 100_000):
            print("done", flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) >= 2
        process.kill()
    latest = time.monotonic() + 60
    while any(_is_alive(child) for child in children):
        assert time.monotonic() < latest, "some of the processes have not ended"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (fail_at_three, r"task 3: ZeroDivisionError: three is rejected \(on "),
        (die_at_three, r"task \d: a worker process has failed$"),
    ],
)
def test_a_failure_in_a_process_gives_one_line(function: Any, message: str) -> None:
    with open_workers(processes=2) as pool, pytest.raises(WorkerError, match=message) as raised:
        list(pool.map(function, range(6), lambda number: f"task {number}"))
    assert "\n" not in str(raised.value)


def test_without_ray_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripts: Scripts
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    out = tmp_path / "out"
    error = scripts.run(f"experiments.tournament random --ray local --out {out}", FAILED).err
    message = "Ray is not installed: pip install 'wfb-gym[ray]'"
    assert error == f"python -m experiments.tournament: {message}\n"
    assert not out.exists()


def test_differences_are_named() -> None:
    found = ray_cluster.fingerprint() | {"numpy": "1.0", "Python": "3.0"}
    reported = ray_cluster.difference(ray_cluster.fingerprint(), found)
    for part in ("numpy: expected", "found 1.0", "Python: expected"):
        assert part in reported
    assert "numba" not in reported
    assert ray_cluster.difference(found, dict(found)) == ""


def test_pytorch_uses_one_thread_in_the_block() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    with workers.one_torch_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3
    torch.set_num_threads(before)


TOURNAMENT = ("veteran", str(POLICY), "--scenario", "apprentice", "--battles", "20")


def play(out: Path, *arguments: str) -> list[Any]:
    """Return the record of a tournament, without the measured times."""
    assert tournament.main([*TOURNAMENT, "--out", str(out), *arguments]) == 0
    lines = (out / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    return [without_times(json.loads(line)) for line in lines]


def test_a_tournaments_record_is_the_same(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    here = play(tmp_path / "here")
    pool: Elsewhere = request.getfixturevalue("elsewhere")
    assert play(tmp_path / "there") == here
    assert pool.done == 4
    part = tmp_path / "part"
    part.mkdir()
    lines = (tmp_path / "here" / "cells.jsonl").read_text(encoding="utf-8").splitlines(True)
    (part / "cells.jsonl").write_text("".join(lines[:3]), encoding="utf-8")
    assert play(part) == here
    assert pool.done == 4 + 2


def test_grades_are_the_same(request: pytest.FixtureRequest, scripts: Scripts) -> None:
    line = f"experiments.exploitability veteran {POLICY} --json"
    here = scripts.run(line, FAILED).out  # the policy plays one seat
    pool: Elsewhere = request.getfixturevalue("elsewhere")
    assert scripts.run(line, FAILED).out == here
    assert pool.done == 1


def test_submissions_are_the_same(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = protocol.generated_scenarios("duel-500")[:2]
    monkeypatch.setattr(protocol, "generated_scenarios", lambda _: few)
    kind = "generated-duel-500"
    tasks = (f"{kind}/caster", f"{kind}/dispeller", "apprentice/caster")
    arguments = ["--evaluate", "greedy", *(word for task in tasks for word in ("--task", task))]
    assert leaderboard.main([*arguments, "--folder", str(tmp_path / "here")]) == 0
    pool: Elsewhere = request.getfixturevalue("elsewhere")
    assert leaderboard.main([*arguments, "--folder", str(tmp_path / "there")]) == 0
    assert pool.done == 3
    first, second = ((tmp_path / name / "greedy.json") for name in ("here", "there"))
    assert first.read_bytes() == second.read_bytes()


def test_a_rejected_policy_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    few = protocol.generated_scenarios("phase-500")[:6]
    monkeypatch.setattr(protocol, "generated_scenarios", lambda _: few)
    tasks = tuple(protocol.TASKS[f"generated-phase-500/{seat}"] for seat in ("caster", "dispeller"))
    grading = list(jobs.jobs_of(jobs.Entry("mine", [str(POLICY)] * 5, tasks)))
    pool = Elsewhere()
    lines = list(jobs.do_jobs(grading, pool))
    assert len(lines) == len(grading) == 6
    assert pool.done < 6
    grades = jobs.join_jobs(grading, grading, lines)
    assert len(grades.rejected) == 2
    assert grades.ranked["mine"]["generated"] == {}


def test_targets_and_grades_of_distillation_are_the_same(tmp_path: Path) -> None:
    def made(name: str, pool: Workers) -> tuple[list[bool], dict[str, bytes], list[Any], str]:
        source = TargetSource((SMALL,), tmp_path / name, max_bytes=1 << 20, decisions=64)
        if pool is not HERE:  # resumes from the files of an interrupted run
            list(make_targets(source, range(1, 2)))
        useful = list(make_targets(source, range(3), pool))
        files = {each.name: each.read_bytes() for each in source.folder.iterdir()}
        test = TargetSource((SMALL,), source.folder, "test", 1 << 20)
        path = tmp_path / f"{name}.jsonl"
        *_, (grades, seen) = grade_scenarios(test, NetworkAgent(GENERAL), 1, path, pool)
        return useful, files, [grades, seen], path.read_text(encoding="utf-8")

    assert made("here", HERE) == made("there", Elsewhere())


def test_an_unreachable_cluster_is_reported_at_once(tmp_path: Path, scripts: Scripts) -> None:
    pytest.importorskip("ray")
    for address, reason in (("127.0.0.1:1", "rejected"), ("nowhere", "expected HOST:PORT")):
        line = f"experiments.tournament random --ray {address} --out {tmp_path / 'out'}"
        reported = scripts.run(line, FAILED).err
        assert reported.startswith(f"python -m experiments.tournament: no Ray at {address}: ")
        assert reason in reported
        assert reported.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_on_ray_files_are_copied_and_failures_are_reported(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    name = str(tmp_path / "note.txt")
    Path(name).write_text("kept", encoding="utf-8")
    with open_workers(LOCAL, files=[name]) as pool:
        Path(name).unlink()
        (found,) = pool.map(read_file, [name])
        assert list(pool.map(slow_first, range(20))) == [number**2 for number in range(20)]
        assert next(pool.map(partial(pow, 2), range(1000))) == 1  # the other tasks are cancelled
        with pytest.raises(WorkerError, match=r"^3: ZeroDivisionError: three is rejected \(on "):
            list(pool.map(fail_at_three, range(6)))
        with pytest.raises(WorkerError, match=r"^3: a worker on Ray has failed: ") as raised:
            list(pool.map(die_at_three, range(6)))
        assert "\n" not in str(raised.value)
    there, *rest = found
    assert there != name
    assert rest == ["kept", f"bad {name}"]


@pytest.mark.slow
def test_on_ray_other_sources_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    others = ray_cluster.fingerprint() | {"the checkout's sources": "others"}
    monkeypatch.setattr(ray_cluster, "fingerprint", lambda: others)
    message = "the checkout's sources: expected others as here, found "
    with pytest.raises(WorkerError, match=message), open_workers(LOCAL):
        pass


@pytest.mark.slow
def test_on_ray_a_tournaments_record_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    assert play(tmp_path / "there", "--ray", LOCAL) == play(tmp_path / "here")
