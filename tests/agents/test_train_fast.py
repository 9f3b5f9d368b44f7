"""The command of self-play training: files, interruptions, processes, seeds."""

import errno
import itertools
import multiprocessing
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from agents import train_fast
from agents.checkpoints import CheckpointError, has_checkpoint, load_checkpoint, save_checkpoint
from agents.common import DeferredInterrupt
from agents.evaluation import EVALUATION_SEED
from agents.run_folder import occupy
from agents.self_play import grading, runs
from agents.self_play.processes import process_group
from agents.self_play.settings import Settings
from agents.self_play.trainer_state import check_checkpoint, save_trainer
from agents.train_fast import Trainer
from experiments.common import FAILED, INTERRUPTED, parse_settings, play_battles
from tests.agents.small_training import ALONE, after_updates, ctrl_c, small_settings
from tests.support.scripts import Scripts, results_in, without_times
from wfb_gym import solver
from wfb_gym.cli.parser import flag_of
from wfb_gym.players.network import load_network
from wfb_gym.players.registry import make_agent
from wfb_gym.seats import SEATS

SMALL = (
    "agents.train_fast --scenario apprentice --num-envs 64 --rollout 8 --width 16 --batch-size 256"
    " --workers 1"
)
TWO_WORKERS = SMALL.replace("--workers 1", "--workers 2")


def run(settings: Settings, *, resume: bool) -> dict[str, Any]:
    return runs.run(settings, resume, train_fast.train)


def test_a_run_writes_players_with_the_reported_scores(tmp_path: Path, scripts: Scripts) -> None:
    results = scripts.document(f"{SMALL} --steps 4096 --out {tmp_path}")
    assert results == results_in(tmp_path)
    assert results["frames"] >= 4096
    assert (tmp_path / "curve.png").stat().st_size > 5000
    for seat in SEATS:
        agent = make_agent(tmp_path / f"{seat}.npz", seat=seat)
        exact = solver.normalised_score("apprentice", agent, seat)
        assert exact.score == pytest.approx(results["scores"][seat])
    curve = results["curve"]
    assert [point["frames"] for point in curve] == sorted(point["frames"] for point in curve)


@pytest.mark.slow
def test_damage_in_any_process_ends_a_run_in_one_line(tmp_path: Path, scripts: Scripts) -> None:
    two = small_settings(tmp_path, num_envs=8, rollout=4, batch_size=16, steps=4096, workers=2)
    with process_group(2, train_fast.worker_loop, two, False) as group:
        trainer = Trainer(two, group)
        group.broadcast(1.0, 1.0)  # the order of `train` to save and to stop
        save_trainer(trainer)
    state = load_checkpoint(tmp_path)
    state["parts"][1]["learners"][0]["network"].clear()
    save_checkpoint(tmp_path, state)
    names = ("num_envs", "rollout", "width", "batch_size", "steps", "workers")
    flags = " ".join(f"{flag_of(name)} {getattr(two, name)}" for name in names)
    line = f"agents.train_fast {flags} --scenario apprentice --out {tmp_path} --resume"
    error = scripts.error(line)
    expected = f"python -m agents.train_fast: {tmp_path / 'checkpoint.pt'}: expected the state of "
    assert error.startswith(expected)
    assert "parts[1].learners[0].network: expected" in error


@pytest.mark.slow
def test_processes_learn_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "load_solutions", lambda *_: {})  # the last networks are kept
    settings = small_settings(tmp_path, batch_size=64, steps=4096, workers=2, evaluations=1)
    whole = run(settings, resume=False)
    assert whole["frames"] == 4096 >= whole["learned"]
    networks = []
    for _ in range(2):
        trainer = train_fast.train(settings, [], None, DeferredInterrupt())
        assert trainer.num_envs == 32
        networks.append(list(trainer.learners[0].network.parameters()))
        assert trainer.learned == whole["learned"]
    networks.append(list(load_network(tmp_path / "caster.npz")[0].parameters()))
    for one, *others in zip(*networks, strict=True):
        assert all(torch.equal(one, other) for other in others)


def assert_same_runs(one: dict[str, Any], other: dict[str, Any], *folders: Path) -> None:
    assert without_times({**one, "args": None}) == without_times({**other, "args": None})
    for seat in SEATS:
        networks = [load_network(folder / f"{seat}.npz")[0] for folder in folders]
        for a, b in zip(*(network.parameters() for network in networks), strict=True):
            assert torch.equal(a, b)


def test_the_clock_does_not_change_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"batch_size": 64, "steps": 2048, "workers": 1, "evaluations": 2}
    settings = small_settings(tmp_path / "idle", checkpoint_seconds=1e9, **sizes)
    idle = run(settings, resume=False)
    clock = itertools.accumulate(itertools.cycle([0.0, 1e-9, 100.0]))
    with monkeypatch.context() as patch:
        for name in ("monotonic", "perf_counter"):
            patch.setattr(f"time.{name}", lambda: next(clock))
        other = replace(settings, checkpoint_seconds=1.0, out=tmp_path / "busy")
        busy = run(other, resume=False)
    assert busy["seconds"] != idle["seconds"]  # measured by the fake clock
    assert_same_runs(idle, busy, settings.out, other.out)


def test_the_last_networks_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    casters, dispellers = [10.0, 40.0, 90.0, 90.0, 20.0], [0.0, 30.0, 20.0, 10.0, 50.0]
    seen: list[list[torch.Tensor]] = []

    def score(trainer: Trainer, _: Any) -> dict[str, float]:
        networks = [one.network.state_dict().values() for one in trainer.learners]
        seen.append([torch.cat([w.flatten().clone() for w in each]) for each in networks])
        at = len(seen) - 1
        return {"caster": casters[at], "dispeller": dispellers[at]}

    monkeypatch.setattr(grading, "exact_scores", score)
    line = f"{SMALL} --steps 4096 --evaluations 4 --out {tmp_path}"
    with monkeypatch.context() as patch:
        after_updates(patch, ctrl_c, 3000)
        scripts.run(line, INTERRUPTED)
    assert results_in(tmp_path)["scores"] == {}  # the networks are later than the last grade
    printed = scripts.run(f"{line} --resume").out
    results = results_in(tmp_path)
    assert [point["scores"]["caster"] for point in results["curve"]] == casters
    assert results["scores"] == {"caster": 20.0, "dispeller": 50.0}
    for number, seat in enumerate(SEATS):
        network, about = load_network(tmp_path / f"{seat}.npz")
        kept = torch.cat([w.flatten() for w in network.state_dict().values()])
        assert torch.equal(kept, seen[-1][number])
        assert (about["score"], about["frames"]) == (results["scores"][seat], 4096)
    assert "exact scores: caster 20.00, dispeller 50.00" in printed


class Killed(BaseException):
    """Replacement for a signal that a process cannot catch."""


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_kills_change_nothing(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"batch_size": 64, "steps": 2048, "workers": workers, "evaluations": 2}
    settings = small_settings(tmp_path / "parts", checkpoint_seconds=1e-9, **sizes)
    whole = run(replace(settings, out=tmp_path / "whole"), resume=False)
    assert len(whole["curve"]) == 3

    for frames in (1, 1500, 2048):
        with monkeypatch.context() as patch:
            after_updates(patch, Mock(side_effect=Killed), frames)
            with pytest.raises(Killed):
                run(settings, resume=has_checkpoint(settings.out))
    assert_same_runs(run(settings, resume=True), whole, tmp_path / "whole", tmp_path / "parts")


def test_a_changed_scenario_file_is_noticed(tmp_path: Path) -> None:
    scenario = tmp_path / "own.toml"
    scenario.write_text(ALONE.format(worth=20))
    settings = small_settings(tmp_path, scenario=(str(scenario),), num_envs=8, rollout=2)
    save_trainer(Trainer(settings))
    check_checkpoint(load_checkpoint(tmp_path), settings)
    scenario.write_text(ALONE.format(worth=30))
    with pytest.raises(CheckpointError, match="found that it has changed since"):
        check_checkpoint(load_checkpoint(tmp_path), settings)


def test_a_run_is_continued_by_itself_and_overwritten_only_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    line = f"{SMALL} --steps 2048 --out {tmp_path}"
    with monkeypatch.context() as patch:
        after_updates(patch, ctrl_c)
        assert "--resume continues" in scripts.run(line, INTERRUPTED).err
    before = {each: each.read_bytes() for each in tmp_path.iterdir()}
    others = "--learning-rate 0.1 --scenario orc-shaman-hunt --workers 2"
    assert scripts.run(f"{line} {others} --resume", 2).err.splitlines() == [
        f"python -m agents.train_fast: --{each}"
        for each in (
            "scenario: expected apprentice as before, found apprentice orc-shaman-hunt",
            "learning-rate: expected 0.003 as before, found 0.1",
            "workers: expected 1 as before, found 2",
        )
    ]
    assert "holds an unfinished run; --resume continues it" in scripts.error(line)
    assert {each: each.read_bytes() for each in tmp_path.iterdir()} == before
    with occupy(tmp_path / "other"):
        error = scripts.error(f"{SMALL} --steps 512 --out {tmp_path / 'other'}")
    assert "another process is training in it" in error
    assert scripts.document(f"{line} --resume")["frames"] == 2048
    for other, held in (("--seed 1", "--seed 0"), ("--runs 2", "--runs 1")):
        assert f"holds a run of other settings ({held})" in scripts.error(f"{line} {other}")
    line = f"{SMALL} --steps 512 --out {tmp_path} --overwrite"
    assert scripts.document(line)["frames"] == 512


def test_a_full_disk_costs_checkpoints_and_pictures_but_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    fail = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device", "results.json"))
    line = f"{SMALL} --steps 1024 --out"
    with monkeypatch.context() as patch:
        patch.setattr("agents.self_play.trainer_state.save_checkpoint", fail)
        patch.setattr(runs, "draw_scores", fail)
        error = scripts.run(f"{line} {tmp_path / 'a'}").err
    for name in ("checkpoint.pt", "curve.png"):
        assert f"{name}: could not be written: No space left on device" in error
    assert (tmp_path / "a" / "results.json").is_file()
    with monkeypatch.context() as patch:
        patch.setattr("experiments.common.write_json", fail)
        with pytest.raises(OSError, match="No space"):  # one line, see `tests/test_commands.py`
            scripts.run(f"{line} {tmp_path / 'b'}")
    scripts.run(f"{line} {tmp_path / 'b'} --resume")
    assert not has_checkpoint(tmp_path / "b")


@pytest.mark.slow
def test_ctrl_c_while_processes_start_is_kept_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    start = multiprocessing.process.BaseProcess.start

    def interrupt_and_start(process: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        start(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", interrupt_and_start)
    scripts.run(f"{TWO_WORKERS} --steps 4096 --out {tmp_path}", INTERRUPTED)
    assert multiprocessing.active_children() == []
    assert has_checkpoint(tmp_path)


@pytest.mark.slow
def test_a_killed_worker_ends_the_run_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    def kill_workers(_: Trainer) -> None:
        for child in multiprocessing.active_children():
            child.kill()

    line = f"{TWO_WORKERS} --steps 8192 --out {tmp_path}"
    with monkeypatch.context() as patch:
        after_updates(patch, kill_workers, 2000)
        said = scripts.run(f"{line} --checkpoint-seconds 1e-9", FAILED)
    last = said.err.splitlines()[-1]
    assert re.search(r"worker process \d+ has failed: killed by signal 9$", last)
    assert multiprocessing.active_children() == []
    scripts.run(f"{line} --checkpoint-seconds 60 --resume")


def test_points_are_reported_for_unsolved_scenarios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setattr(runs, "load_solutions", lambda *_: {})
    out = scripts.run(f"{SMALL} --steps 1024 --out {tmp_path}").out
    assert "points per battle as dispeller, against random " in out
    results = results_in(tmp_path)
    assert results["scores"] == {}
    assert list(results["points"]) == list(SEATS)
    sizes: dict[str, Any] = {"battles": grading.BATTLES, "seed": EVALUATION_SEED}
    for seat, points in results["points"].items():
        agent = make_agent(tmp_path / f"{seat}.npz", seat=seat)
        played = play_battles(agent, seat=seat, scenario="apprentice", opponent="veteran", **sizes)
        assert points["veteran"]["mean"] == pytest.approx(played.mean())


def test_a_diverged_training_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    """A network that returns NaN chooses illegal actions; none of them reaches the engine."""
    learn = train_fast.Learner.learn

    def break_network(learner: Any, *arguments: Any) -> int:
        next(learner.network.parameters()).data.fill_(1e38)
        return learn(learner, *arguments)

    monkeypatch.setattr(train_fast.Learner, "learn", break_network)
    error = scripts.run(f"{SMALL} --steps 4096 --out {tmp_path}", FAILED).err
    expected = "network of the caster: expected finite outputs and legal actions"
    assert f"agents.train_fast: {expected}" in error
    assert "Traceback" not in error


def test_one_policy_learns_two_scenarios(tmp_path: Path, scripts: Scripts) -> None:
    line = f"{SMALL} --scenario orc-shaman-hunt --steps 1024 --evaluations 1 --out {tmp_path}"
    for seat, median in scripts.document(line)["scores"].items():
        agent = make_agent(tmp_path / f"{seat}.npz")
        names = ("apprentice", "orc-shaman-hunt")
        scores = [solver.normalised_score(name, agent, seat).score or 0.0 for name in names]
        assert median == pytest.approx(np.mean(scores))


def test_several_runs_have_several_seeds_and_are_not_made_twice(
    tmp_path: Path, scripts: Scripts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runs.usual_out(Settings()) == Path("runs/archmage-duel-fast")
    assert runs.usual_out(Settings(runs=5)) == Path("runs/archmage-duel-fast-runs")
    single = f"{SMALL} --steps 512 --evaluations 1 --out {tmp_path}"
    printed = scripts.run(f"{single} --runs 3").out
    results = results_in(tmp_path)
    assert [one["args"]["seed"] for one in results["runs"]] == [0, 1, 2]
    for seat, median in results["scores"].items():
        assert median == sorted(one["scores"][seat] for one in results["runs"])[1]
    monkeypatch.setattr(train_fast, "train", None)  # training again fails
    assert scripts.document(f"{single} --runs 3 --resume")["runs"] == results["runs"]
    assert "--runs: expected 3 as before, found 1" in scripts.error(f"{single} --resume")

    assert f"in {tmp_path}:\n  in a folder for each seed, caster.npz and dispeller.npz" in printed
    assert "pictures: curve.png, policy.png" in printed
    commands = re.findall(r"-m ([\w.]+) (.*?)(?:  |\n|$)", printed.partition("next:")[2])
    assert [module for module, _ in commands] == ["wfb_gym"] * 3 + ["agents.train_fast"] * 2
    (_, play_battles), (_, advise), (_, web), *training = commands
    opponent = re.fullmatch(r"play apprentice --opponent (.*)", play_battles)
    assert opponent is not None
    assert Path(opponent[1]).is_file()
    assert (advise, web.strip()) == ("advise apprentice", "web")
    no_text: Any = {"module": "", "description": "", "quick": {}, "switches": {}}
    for _, arguments in training:
        settings = parse_settings(Settings, arguments.split(), **no_text)[0]
        runs.check_settings(settings, resume=False, overwrite=True)
