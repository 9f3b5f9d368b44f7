"""The command of self-play training: what it writes, interruptions, processes, seeds."""

import json
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents import train_fast
from agents.checkpoints import CheckpointError
from agents.self_play.processes import process_group
from agents.self_play.settings import Settings
from agents.self_play.trainer import Trainer
from experiments.common import INTERRUPTED
from wfb_gym import solver
from wfb_gym.players.network import load_network
from wfb_gym.players.registry import make_agent

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


def test_a_run_writes_players_that_score_what_it_says(
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
    assert "--resume goes on" in capsys.readouterr().err
    assert train_fast.main([*SMALL, *out, "--resume", "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["frames"] == 4096


@pytest.mark.slow
def test_processes_learn_together(tmp_path: Path) -> None:
    settings = Settings(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, batch_size=64, steps=4096,
        workers=2, out=tmp_path,
    )  # fmt: skip
    whole = train_fast.run(settings, resume=False)
    assert whole["frames"] == 4096 >= whole["learned"]
    networks = []
    for _ in range(2):
        with process_group(2, train_fast.worker_loop, settings, False) as group:
            trainer = Trainer(settings, group)
            assert trainer.num_envs == 32
            _, interrupted = train_fast.train(trainer, [])
            assert not interrupted
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
    whole = train_fast.run(replace(settings, out=tmp_path / "whole"), resume=False)
    update = Trainer.update

    def update_and_stop(trainer: Trainer) -> None:
        update(trainer)
        if trainer.frames > 2000:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", update_and_stop)
        assert train_fast.run(settings, resume=False)["interrupted"]
    resumed = train_fast.run(settings, resume=True)
    assert (resumed["frames"], resumed["learned"]) == (whole["frames"], whole["learned"])
    assert resumed["scores"] == whole["scores"]
    with pytest.raises(CheckpointError, match="--workers: expected 2 as before, found 1"):
        train_fast.run(replace(settings, workers=1), resume=True)


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
    monkeypatch.setattr(train_fast, "run", None)  # training again fails
    assert train_fast.main([*line, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == results["runs"]


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        (["--width", "0"], "--width: expected more than 0"),
        (["--num-envs", "9"], "--num-envs: expected a multiple of 2 workers"),
        (["--resume", "--out", "nowhere"], "there is no checkpoint in nowhere"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: list[str], results: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        train_fast.main(arguments)
    assert results in capsys.readouterr().err
