"""The fast trainer: what it learns from, and that it can be interrupted."""

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents import train_fast
from agents.train_fast import Archive, Args, Trainer, estimated
from agents.training import checkpoints
from agents.training.peers import joined
from experiments.common import INTERRUPTED
from wfb_gym import solver
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
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


def at_random(shown: Decisions, rng: np.random.Generator) -> Any:
    return np.where(shown.masks, rng.random(shown.masks.shape), -1.0).argmax(1)


def arrays(*rows: list[float]) -> Any:
    return np.array(rows, np.float32)


def test_advantages_of_a_battle_that_was_played_out() -> None:
    values = arrays([1.0], [2.0], [4.0], [9.0])
    gained = arrays([10.0], [0.0], [5.0])
    ended = np.array([[False], [False], [True]])
    sound = np.ones((4, 1), np.bool_)
    told = estimated(values, gained, ended, sound, 1.0)
    assert told[:, 0].tolist() == [15.0 - 1.0, 5.0 - 2.0, 5.0 - 4.0]
    one_step = estimated(values, gained, ended, sound, 0.0)
    assert one_step[:, 0].tolist() == [10.0 + 2.0 - 1.0, 0.0 + 4.0 - 2.0, 5.0 - 4.0]
    half = estimated(values, gained, ended, sound, 0.5)
    assert half[:, 0].tolist() == [11.0 + 0.5 * (2.0 + 0.5 * 1.0), 2.0 + 0.5 * 1.0, 1.0]


def test_a_battle_that_goes_on_is_worth_what_the_critic_says() -> None:
    told = estimated(
        arrays([1.0], [3.0]), arrays([2.0]), np.array([[False]]), np.ones((2, 1), np.bool_), 1.0
    )
    assert told[:, 0].tolist() == [2.0 + 3.0 - 1.0]


def test_nobody_learns_from_what_came_of_straying() -> None:
    values = arrays([1.0], [2.0], [4.0], [0.0])
    gained = arrays([0.0], [100.0], [5.0])
    ended = np.array([[False], [False], [True]])
    sound = np.array([[True], [False], [True], [True]])
    told = estimated(values, gained, ended, sound, 1.0)
    assert told[0, 0] == 2.0 - 1.0  # the critic's opinion of the position, not the 100 points
    assert told[2, 0] == 5.0 - 4.0


def test_two_battles_in_one_row_do_not_mix() -> None:
    values = arrays([1.0], [2.0], [0.0])
    told = estimated(
        values, arrays([3.0], [50.0]), np.array([[True], [True]]), np.ones((3, 1), np.bool_), 1.0
    )
    assert told[:, 0].tolist() == [3.0 - 1.0, 50.0 - 2.0]


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_straying_teaches_as_much_as_it_is_given_weight(tmp_path: Path, weight: float) -> None:
    args = Args(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, out=tmp_path, restarts=0.0,
        stray_weight=weight, entropy=1e-12, last_entropy=1e-12,
    )  # fmt: skip
    trainer = Trainer(args)
    trainer.straying[:] = 1.0  # everybody strays all the time
    trainer._draw_straying = lambda begun: None  # type: ignore[method-assign]
    before = [p.clone() for p in trainer.learners[0].network.parameters()]
    trainer.update()
    after = list(trainer.learners[0].network.parameters())
    same = [torch.allclose(a, b, atol=1e-6) for a, b in zip(before, after, strict=True)]
    assert all(same) == (weight == 0.0)


def test_the_archive_has_every_position_once() -> None:
    turns = SelfPlayBatch(64, "apprentice")
    archive, rng = Archive(1000, 0), np.random.default_rng(0)
    shown = turns.reset(0)
    for _ in range(40):
        for one in shown:
            archive.meet(one, turns)
        shown = turns.play(*(at_random(one, rng) for one in shown))
    states = archive.states[: archive.size]
    assert 5 < archive.size < 64
    assert len({state.tobytes() for state in states}) == archive.size
    scenarios, drawn = archive.drawn(500)
    assert {state.tobytes() for state in drawn} == {state.tobytes() for state in states}
    shown = turns.put(np.arange(10), scenarios[:10], drawn[:10])
    assert np.array_equal(turns.states(np.arange(10)), drawn[:10])
    assert sum(len(one.members) for one in shown) == 64


def test_a_full_archive_makes_room() -> None:
    turns = SelfPlayBatch(64, "archmage-duel")
    archive, rng = Archive(8, 0, 1 << 10), np.random.default_rng(0)
    shown = turns.reset(0)
    for _ in range(10):
        for one in shown:
            archive.meet(one, turns)
        shown = turns.play(*(at_random(one, rng) for one in shown))
    assert archive.size == 8
    assert archive.taken > 50


def test_an_archive_forgets_in_time_what_it_met() -> None:
    turns = SelfPlayBatch(64, "archmage-duel")
    archive, rng = Archive(1000, 0, 64), np.random.default_rng(0)
    shown = turns.reset(0)
    for _ in range(10):
        for one in shown:
            archive.meet(one, turns)
            assert archive.taken == archive.met.sum() <= 32
        shown = turns.play(*(at_random(one, rng) for one in shown))
    assert archive.size > 50


def test_a_run_writes_players_that_score_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    status = train_fast.main([*SMALL, "--steps", "20000", "--out", str(out), "--json"])
    assert status == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((out / "results.json").read_text())
    assert told["frames"] >= 20000
    assert (out / "curve.png").stat().st_size > 5000
    for seat in ("caster", "dispeller"):
        agent = make_agent(out / f"{seat}.npz", seat=seat)
        exact = solver.normalised_score("apprentice", agent, seat)
        assert exact.score == pytest.approx(told["scores"][seat])
    curve = told["curve"]
    assert [point["frames"] for point in curve] == sorted(point["frames"] for point in curve)


def test_it_learns(tmp_path: Path) -> None:
    args = Args(scenario=("apprentice",), steps=150_000, num_envs=256, width=32, out=tmp_path)
    trainer = Trainer(args)
    solution = solver.solve("apprentice")
    before = train_fast.exact_scores(trainer, [solution])
    while trainer.done < 1.0:
        trainer.update()
    after = train_fast.exact_scores(trainer, [solution])
    assert min(after) > 90 > max(before)


def test_resumed_is_as_never_interrupted(tmp_path: Path) -> None:
    args = Args(scenario=("apprentice",), num_envs=32, rollout=4, width=16, steps=10**6)
    whole, first = Trainer(args), Trainer(args)
    for _ in range(6):
        whole.update()
    for _ in range(3):
        first.update()
    first.save(tmp_path / "checkpoint.pt")
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint.pt"]
    second = Trainer(args)
    second.restore(checkpoints.read(tmp_path / "checkpoint.pt")["parts"])
    for _ in range(3):
        second.update()
    assert (second.frames, second.learned) == (whole.frames, whole.learned)
    for one, other in zip(second.learners, whole.learners, strict=True):
        for a, b in zip(one.network.parameters(), other.network.parameters(), strict=True):
            assert torch.equal(a, b)


def test_an_interruption_keeps_a_checkpoint_to_resume_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--steps", "4096", "--out", str(tmp_path)]
    update = Trainer.update

    def stops(trainer: Trainer) -> None:
        update(trainer)
        if trainer.frames > 2000:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", stops)
        assert train_fast.main([*SMALL, *out]) == INTERRUPTED
    assert "--resume goes on" in capsys.readouterr().err
    assert train_fast.main([*SMALL, *out, "--resume", "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["frames"] == 4096


def test_processes_learn_together(tmp_path: Path) -> None:
    args = Args(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, batch_size=64, steps=4096,
        workers=2, out=tmp_path,
    )  # fmt: skip
    whole = train_fast.run(args, resume=False)
    assert whole["frames"] == 4096 >= whole["learned"]
    networks = []
    for _ in range(2):
        with joined(2, train_fast.helped, args, False) as peers:
            trainer = Trainer(args, peers)
            assert trainer.num_envs == 32
            _, interrupted = train_fast.trained(trainer, [])
            assert not interrupted
        networks.append(list(trainer.learners[0].network.parameters()))
        assert trainer.learned == whole["learned"]
    for one, other in zip(*networks, strict=True):
        assert torch.equal(one, other)
    loaded, _ = load_network(tmp_path / "caster.npz")
    for one, other in zip(networks[0], loaded.parameters(), strict=True):
        assert torch.equal(one, other)


def test_processes_go_on_together_where_they_were_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = Args(
        scenario=("apprentice",), num_envs=64, rollout=8, width=16, batch_size=64, steps=4096,
        workers=2, out=tmp_path / "parts",
    )  # fmt: skip
    whole = train_fast.run(replace(args, out=tmp_path / "whole"), resume=False)
    update = Trainer.update

    def stops(trainer: Trainer) -> None:
        update(trainer)
        if trainer.frames > 2000:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", stops)
        assert train_fast.run(args, resume=False)["interrupted"]
    resumed = train_fast.run(args, resume=True)
    assert (resumed["frames"], resumed["learned"]) == (whole["frames"], whole["learned"])
    assert resumed["scores"] == whole["scores"]
    with pytest.raises(
        checkpoints.CheckpointError, match="--workers: expected 2 as before, found 1"
    ):
        train_fast.run(replace(args, workers=1), resume=True)


def test_one_policy_learns_two_scenarios(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*SMALL, "--scenario", "orc-shaman-hunt", "--steps", "4096", "--out", str(tmp_path)]
    assert train_fast.main([*line, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    for seat, median in told["scores"].items():
        agent = make_agent(tmp_path / f"{seat}.npz")
        names = ("apprentice", "orc-shaman-hunt")
        scores = [solver.normalised_score(name, agent, seat).score or 0.0 for name in names]
        assert median == pytest.approx(np.mean(scores))


def test_several_runs_have_several_seeds_and_are_not_made_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = [*SMALL, "--steps", "2048", "--runs", "3", "--out", str(tmp_path), "--json"]
    assert train_fast.main(line) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["args"]["seed"] for one in told["runs"]] == [0, 1, 2]
    for seat, median in told["scores"].items():
        assert median == sorted(one["scores"][seat] for one in told["runs"])[1]
    monkeypatch.setattr(train_fast, "run", None)  # whoever trains again fails
    assert train_fast.main([*line, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == told["runs"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--width", "0"], "--width: expected more than 0"),
        (["--num-envs", "9"], "--num-envs: expected a multiple of 2 workers"),
        (["--resume", "--out", "nowhere"], "there is no checkpoint in nowhere"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        train_fast.main(arguments)
    assert told in capsys.readouterr().err
