"""The command of self-play training: files, interruptions, processes, seeds."""

import errno
import itertools
import json
import multiprocessing
import re
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents import train_fast
from agents.checkpoints import (
    CheckpointError,
    has_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from agents.common import DeferredInterrupt
from agents.evaluation import EVALUATION_SEED
from agents.run_folder import occupy
from agents.self_play import grading, runs
from agents.self_play.processes import process_group
from agents.self_play.settings import Settings
from agents.self_play.trainer_state import check_checkpoint, save_trainer
from agents.train_fast import Trainer
from experiments.common import FAILED, INTERRUPTED, parse_settings, play_battles
from wfb_gym import solver
from wfb_gym.cli.parser import flag_of
from wfb_gym.players.network import load_network
from wfb_gym.players.registry import make_agent
from wfb_gym.seats import SEATS

ALONE = """
name = "own"
description = "The dispeller has no dice."

[[caster.wizards]]
name = "Hermit"
level = 2
points = 60
spells = [{{ name = "Fire Ball", worth = {worth} }}, {{ name = "Fiery Blast", worth = 40 }}]

[dispeller]
dispel_dice = 0
"""

SMALL = (
    "--scenario",
    "apprentice",
    "--num-envs",
    "64",
    "--rollout",
    "8",
    "--width",
    "16",
    "--batch-size",
    "256",
    "--workers",
    "1",
)


def run(settings: Settings, *, resume: bool) -> dict[str, Any]:
    return runs.run(settings, resume, train_fast.train)


def test_a_run_writes_players_with_the_reported_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    status = train_fast.main([*SMALL, "--steps", "20000", "--out", str(out), "--json"])
    assert status == 0
    results = json.loads(capsys.readouterr().out)
    assert results == json.loads((out / "results.json").read_text())
    assert results["frames"] >= 20000
    assert (out / "curve.png").stat().st_size > 5000
    for seat in ("caster", "dispeller"):
        agent = make_agent(out / f"{seat}.npz", seat=seat)
        exact = solver.normalised_score("apprentice", agent, seat)
        assert exact.score == pytest.approx(results["scores"][seat])
    curve = results["curve"]
    assert [point["frames"] for point in curve] == sorted(point["frames"] for point in curve)


def test_an_interruption_keeps_a_checkpoint_to_resume_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--steps", "4096", "--out", str(tmp_path)]
    update = Trainer.update

    def update_and_stop(trainer: Trainer) -> None:
        update(trainer)
        if trainer.frames > 2000:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", update_and_stop)
        assert train_fast.main([*SMALL, *out]) == INTERRUPTED
    assert "--resume continues" in capsys.readouterr().err
    assert train_fast.main([*SMALL, *out, "--resume", "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["frames"] == 4096


@pytest.mark.slow
def test_a_damaged_part_of_any_process_ends_a_run_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = Settings(
        scenario=("apprentice",), num_envs=8, rollout=4, width=16, batch_size=16, steps=4096,
        workers=2, out=tmp_path,
    )  # fmt: skip
    with process_group(2, train_fast.worker_loop, two, False) as group:
        trainer = Trainer(two, group)
        group.broadcast(1.0, 1.0)  # the order of `train` to save and to stop
        save_trainer(trainer)
    state = load_checkpoint(tmp_path)
    state["parts"][1]["learners"][0]["network"].clear()
    save_checkpoint(tmp_path, state)
    names = ("num_envs", "rollout", "width", "batch_size", "steps", "workers")
    line = [part for name in names for part in (flag_of(name), str(getattr(two, name)))]
    line += ["--scenario", "apprentice", "--out", str(tmp_path), "--resume"]
    assert train_fast.main(line) == 2
    (printed,) = capsys.readouterr().err.splitlines()
    expected = f"python -m agents.train_fast: {tmp_path / 'checkpoint.pt'}: expected the state of "
    assert printed.startswith(expected)
    assert "parts[1].learners[0].network: expected" in printed


@pytest.mark.slow
def test_processes_learn_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "load_solutions", lambda *_: {})  # the last networks are kept
    settings = Settings(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, batch_size=64, steps=4096,
        workers=2, evaluations=1, out=tmp_path,
    )  # fmt: skip
    whole = run(settings, resume=False)
    assert whole["frames"] == 4096 >= whole["learned"]
    networks = []
    for _ in range(2):
        trainer = train_fast.train(settings, [], None, DeferredInterrupt())
        assert trainer.num_envs == 32
        networks.append(list(trainer.learners[0].network.parameters()))
        assert trainer.learned == whole["learned"]
    for one, other in zip(*networks, strict=True):
        assert torch.equal(one, other)
    loaded, _ = load_network(tmp_path / "caster.npz")
    for one, other in zip(networks[0], loaded.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
def test_processes_resume_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, batch_size=64, steps=4096,
        workers=2, out=tmp_path / "parts",
    )  # fmt: skip
    whole = run(replace(settings, out=tmp_path / "whole"), resume=False)
    update = Trainer.update

    def update_and_stop(trainer: Trainer) -> None:
        update(trainer)
        if trainer.frames > 2000:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", update_and_stop)
        assert run(settings, resume=False)["interrupted"]
    resumed = run(settings, resume=True)
    assert (resumed["frames"], resumed["learned"]) == (whole["frames"], whole["learned"])
    assert resumed["scores"] == whole["scores"]


def without_times(results: dict[str, Any]) -> dict[str, Any]:
    """Return the results without the fields that depend on the clock and the folder."""
    kept = {k: v for k, v in results.items() if k not in ("seconds", "frames_per_second", "args")}
    points = [{k: v for k, v in point.items() if k != "seconds"} for point in results["curve"]]
    return {**kept, "curve": points}


def assert_same_networks(one: Path, other: Path) -> None:
    for seat in SEATS:
        networks = [load_network(folder / f"{seat}.npz")[0] for folder in (one, other)]
        for a, b in zip(*(network.parameters() for network in networks), strict=True):
            assert torch.equal(a, b)


def test_the_clock_does_not_change_the_results_of_a_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, batch_size=64, steps=4096,
        workers=1, evaluations=4, checkpoint_seconds=1e9, out=tmp_path / "idle",
    )  # fmt: skip
    idle = run(settings, resume=False)
    clock = itertools.accumulate(itertools.cycle([0.0, 1e-9, 100.0]))
    with monkeypatch.context() as patch:
        for name in ("monotonic", "perf_counter"):
            patch.setattr(f"time.{name}", lambda: next(clock))
        other = replace(settings, checkpoint_seconds=1.0, out=tmp_path / "busy")
        busy = run(other, resume=False)
    assert busy["seconds"] != idle["seconds"]  # measured by the fake clock
    assert without_times(busy) == without_times(idle)
    assert_same_networks(settings.out, other.out)


def test_the_best_networks_by_exact_score_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    casters, dispellers = [10.0, 40.0, 90.0, 90.0, 20.0], [0.0, 30.0, 20.0, 10.0, 50.0]
    seen: list[list[torch.Tensor]] = []

    def score(trainer: Trainer, _: Any) -> dict[str, float]:
        networks = [one.network.state_dict().values() for one in trainer.learners]
        seen.append([torch.cat([w.flatten().clone() for w in each]) for each in networks])
        at = len(seen) - 1
        return {"caster": casters[at], "dispeller": dispellers[at]}

    update = Trainer.update

    def update_and_stop(trainer: Trainer) -> None:
        update(trainer)
        if trainer.frames >= 3000:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(grading, "exact_scores", score)
    line = [*SMALL, "--steps", "4096", "--evaluations", "4", "--out", str(tmp_path)]
    with monkeypatch.context() as patch:  # the best networks are also known after an interruption
        patch.setattr(Trainer, "update", update_and_stop)
        assert train_fast.main(line) == INTERRUPTED
    assert train_fast.main([*line, "--resume"]) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert [point["scores"]["caster"] for point in results["curve"]] == casters
    assert results["scores"] == {"caster": 90.0, "dispeller": 50.0}
    assert results["best_after"] == {"caster": results["curve"][2]["frames"], "dispeller": 4096}
    for seat, place in (("caster", 2), ("dispeller", 4)):
        network, about = load_network(tmp_path / f"{seat}.npz")
        kept = torch.cat([w.flatten() for w in network.state_dict().values()])
        assert torch.equal(kept, seen[place][SEATS.index(seat)])
        assert about["score"] == results["scores"][seat]
    printed = capsys.readouterr().out
    assert "exact scores: caster 90.00, dispeller 50.00" in printed


def test_a_run_ends_with_its_files_and_the_next_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*SMALL, "--steps", "512", "--evaluations", "1"]
    assert train_fast.main([*line, "--runs", "2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert f"in {tmp_path}:\n  in a folder for each seed, caster.npz and dispeller.npz" in printed
    assert "pictures: curve.png, policy.png" in printed
    commands = re.findall(r"-m ([\w.]+) (.*?)(?:  |\n|$)", printed.partition("next:")[2])
    assert [module for module, _ in commands] == ["wfb_gym"] * 3 + ["agents.train_fast"] * 2
    (_, play_battles), (_, advise), (_, web), *training = commands
    assert play_battles == f"play apprentice --opponent {tmp_path / 'seed-0' / 'dispeller.npz'}"
    assert (tmp_path / "seed-0" / "dispeller.npz").is_file()
    assert advise == "advise apprentice"
    assert web.strip() == "web"
    for _, arguments in training:
        runs.check_settings(
            parse_settings(
                Settings, arguments.split(), module="", description="", quick={}, switches={}
            )[0],
            resume=False,
            overwrite=True,
        )


class Killed(BaseException):
    """Replacement for a signal that a process cannot catch."""


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_kills_change_nothing(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, batch_size=64, steps=8192,
        workers=workers, evaluations=5, checkpoint_seconds=1e-9, out=tmp_path / "parts",
    )  # fmt: skip
    whole = run(replace(settings, out=tmp_path / "whole"), resume=False)
    assert len(whole["curve"]) == 6
    update = Trainer.update
    for kill in (1, 2500, 2500, 6000, 8192):

        def update_and_die(trainer: Trainer, kill: int = kill) -> None:
            update(trainer)
            if trainer.frames >= kill:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "update", update_and_die)
            with pytest.raises(Killed):
                run(settings, resume=has_checkpoint(settings.out))
    resumed = run(settings, resume=True)
    assert without_times(resumed) == without_times(whole)
    assert_same_networks(tmp_path / "whole", tmp_path / "parts")


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a run that Ctrl-C ended."""
    folder: Path = tmp_path_factory.mktemp("unfinished")
    update = Trainer.update

    def update_and_stop(trainer: Trainer) -> None:
        update(trainer)
        signal.raise_signal(signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "update", update_and_stop)
        line = [*SMALL, "--steps", "4096", "--out", str(folder)]
        assert train_fast.main(line) == INTERRUPTED
    return folder


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--seed", "2"], ["--seed: expected 0 as before, found 2"]),
        (
            ["--learning-rate", "0.1", "--clip", "0.3"],
            [
                "--learning-rate: expected 0.003 as before, found 0.1",
                "--clip-range: expected 0.2 as before, found 0.3",
            ],
        ),
        (
            ["--scenario", "orc-shaman-hunt"],
            ["--scenario: expected apprentice as before, found apprentice orc-shaman-hunt"],
        ),
        (["--workers", "2"], ["--workers: expected 1 as before, found 2"]),
    ],
)
def test_a_run_resumes_with_its_own_settings_only(
    arguments: list[str], lines: list[str], unfinished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {each: each.read_bytes() for each in unfinished.iterdir()}
    line = [*SMALL, "--steps", "4096", *arguments, "--out", str(unfinished), "--resume"]
    assert train_fast.main(line) == 2
    found = capsys.readouterr().err.splitlines()
    assert found == [f"python -m agents.train_fast: {each}" for each in lines]
    assert {each: each.read_bytes() for each in unfinished.iterdir()} == before


def test_a_changed_scenario_file_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "own.toml"
    scenario.write_text(ALONE.format(worth=20))
    settings = Settings(scenario=(str(scenario),), num_envs=8, rollout=2, width=8, out=tmp_path)
    save_trainer(Trainer(settings))
    check_checkpoint(load_checkpoint(tmp_path), settings)
    scenario.write_text(ALONE.format(worth=30))
    with pytest.raises(CheckpointError, match="found that it has changed since"):
        check_checkpoint(load_checkpoint(tmp_path), settings)


def test_an_unfinished_run_is_overwritten_only_on_demand(
    unfinished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(unfinished, folder)
    line = [*SMALL, "--steps", "512", "--out", str(folder)]
    with pytest.raises(SystemExit) as ended:
        train_fast.main(line)
    assert ended.value.code == 2
    assert "holds an unfinished run; --resume continues it" in capsys.readouterr().err
    assert train_fast.main([*line, "--overwrite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["frames"] == 512
    assert train_fast.main(line) == 0  # overwriting it with the same run loses nothing
    capsys.readouterr()
    for others, held in (
        (["--seed", "1"], "--seed 0"),
        (["--runs", "2"], "--runs 1"),
        (["--scenario", "orc-shaman-hunt"], "--scenario apprentice"),
    ):
        with pytest.raises(SystemExit):
            train_fast.main([*line, *others])
        assert f"holds a run of other settings ({held})" in capsys.readouterr().err


def test_several_runs_have_another_folder_than_one() -> None:
    assert runs.usual_out(Settings()) == Path("runs/archmage-duel-fast")
    assert runs.usual_out(Settings(runs=5)) == Path("runs/archmage-duel-fast-runs")


def test_two_trainers_do_not_share_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with occupy(tmp_path):
        assert train_fast.main([*SMALL, "--steps", "512", "--out", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err == f"python -m agents.train_fast: {tmp_path}: another process is training in it\n"


def test_a_full_disk_costs_checkpoints_and_pictures_but_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("agents.self_play.trainer_state.save_checkpoint", fail)
    monkeypatch.setattr(runs, "draw_scores", fail)
    assert train_fast.main([*SMALL, "--steps", "1024", "--out", str(tmp_path)]) == 0
    err = capsys.readouterr().err
    assert "checkpoint.pt: could not be written: No space left on device" in err
    assert "curve.png: could not be written: No space left on device" in err
    assert (tmp_path / "results.json").is_file()


def test_results_that_cannot_be_written_leave_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "results.json")

    line = [*SMALL, "--steps", "1024", "--out", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr("experiments.common.write_json", fail)
        with pytest.raises(OSError, match="No space"):  # one line, see `tests/test_commands.py`
            train_fast.main(line)
    assert train_fast.main([*line, "--resume"]) == 0
    assert not has_checkpoint(tmp_path)


def test_ctrl_c_before_the_training_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "load_solutions", interrupt)
    assert train_fast.main([*SMALL, "--out", str(tmp_path)]) == INTERRUPTED
    assert capsys.readouterr() == ("", "interrupted\n")


@pytest.mark.slow
def test_ctrl_c_while_processes_start_is_kept_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = multiprocessing.process.BaseProcess.start

    def interrupt_and_start(process: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        start(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", interrupt_and_start)
    line = [*SMALL[:-1], "2", "--steps", "4096", "--out", str(tmp_path)]
    assert train_fast.main(line) == INTERRUPTED
    assert multiprocessing.active_children() == []
    assert has_checkpoint(tmp_path)


@pytest.mark.slow
def test_a_killed_worker_ends_the_run_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    update = Trainer.update

    def update_and_kill(trainer: Trainer) -> None:
        update(trainer)
        if trainer.frames > 2000:
            for child in multiprocessing.active_children():
                child.kill()

    monkeypatch.setattr(Trainer, "update", update_and_kill)
    line = [*SMALL[:-1], "2", "--steps", "8192", "--out", str(tmp_path)]
    assert train_fast.main([*line, "--checkpoint-seconds", "1e-9"]) == FAILED
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.search(r"worker process \d+ has failed: killed by signal 9$", last)
    assert multiprocessing.active_children() == []
    monkeypatch.undo()
    assert train_fast.main([*line, "--checkpoint-seconds", "60", "--resume"]) == 0


def test_points_are_reported_for_unsolved_scenarios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runs, "load_solutions", lambda *_: {})
    line = [*SMALL, "--steps", "1024", "--out", str(tmp_path)]
    assert train_fast.main(line) == 0
    assert "points per battle as dispeller, against random " in capsys.readouterr().out
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["scores"] == {}
    assert list(results["points"]) == list(SEATS)
    for seat, points in results["points"].items():
        played = play_battles(
            make_agent(tmp_path / f"{seat}.npz", seat=seat),
            seat=seat,
            scenario="apprentice",
            opponent="veteran",
            battles=grading.BATTLES,
            seed=EVALUATION_SEED,
        )
        assert points["veteran"]["mean"] == pytest.approx(played.mean())


def test_a_diverged_training_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A network that returns NaN chooses illegal actions; none of them reaches the engine."""
    learn = train_fast.Learner.learn

    def break_network(learner: Any, *arguments: Any) -> int:
        next(learner.network.parameters()).data.fill_(1e38)
        return learn(learner, *arguments)

    monkeypatch.setattr(train_fast.Learner, "learn", break_network)
    line = [*SMALL, "--steps", "4096", "--out", str(tmp_path)]
    assert train_fast.main(line) == FAILED
    error = capsys.readouterr().err
    assert (
        "agents.train_fast: network of the caster: expected finite outputs and legal actions"
        in error
    )
    assert "Traceback" not in error


def test_one_policy_learns_two_scenarios(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*SMALL, "--scenario", "orc-shaman-hunt", "--steps", "4096", "--out", str(tmp_path)]
    assert train_fast.main([*line, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    for seat, median in results["scores"].items():
        agent = make_agent(tmp_path / f"{seat}.npz")
        names = ("apprentice", "orc-shaman-hunt")
        scores = [solver.normalised_score(name, agent, seat).score or 0.0 for name in names]
        assert median == pytest.approx(np.mean(scores))


def test_several_runs_have_several_seeds_and_are_not_made_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = [*SMALL, "--steps", "2048", "--runs", "3", "--out", str(tmp_path), "--json"]
    assert train_fast.main(line) == 0
    results = json.loads(capsys.readouterr().out)
    assert [one["args"]["seed"] for one in results["runs"]] == [0, 1, 2]
    for seat, median in results["scores"].items():
        assert median == sorted(one["scores"][seat] for one in results["runs"])[1]
    monkeypatch.setattr(train_fast, "train", None)  # training again fails
    assert train_fast.main([*line, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == results["runs"]
    single = [*SMALL, "--steps", "2048", "--out", str(tmp_path), "--resume"]
    assert train_fast.main(single) == 2
    assert "--runs: expected 3 as before, found 1" in capsys.readouterr().err
    assert train_fast.main([*line, "--resume", "--learning-rate", "0.1"]) == 2
    assert "--learning-rate: expected 0.003 as before, found 0.1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        (["--width", "0"], "--width: expected more than 0"),
        (["--num-envs", "9"], "--num-envs: expected a multiple of 2 workers"),
        (["--resume", "--out", "nowhere"], "there is no checkpoint in nowhere"),
        (["--scenario", "nope"], "scenario: expected"),
        (["--scenario", "generated-phase:test"], "is for tests, train on generated-phase"),
        (["--seed", "-1"], "--seed: expected from 0, found -1"),
        (["--gae-lambda", "nan"], "--gae-lambda: expected 0.0 to 1.0, found nan"),
        (["--history"], "--history: expected --exploring-starts 0, as stored"),
        (["--entropy", "-0.1"], "--entropy-coefficient: expected from 0.0, found -0.1"),
    ],
)
def test_bad_arguments_are_rejected(
    arguments: list[str], results: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        train_fast.main(arguments)
    found = capsys.readouterr().err
    assert results in found
    assert found.count("\n") == 1
