"""The training script from end to end, tiny; and, slowly, that it learns."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.save_util import load_from_zip_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents import train
from agents.training.grading import FINAL_SEED
from agents.training.learner import Learner
from agents.training.pool import SOLVED_MIX, UNSOLVED_MIX
from experiments.common import INTERRUPTED, play, score
from wfb_gym.players.registry import make_agent

RULES = ["random", "greedy", "veteran"]
OPPONENTS = [*RULES, "optimal"]
ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agents.train", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def test_a_quick_run_writes_everything_and_json_alone(tmp_path: Path) -> None:
    done = run("--quick", "--seat", "dispeller", "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results == json.loads((tmp_path / "results.json").read_text())
    assert results["args"]["seat"] == "dispeller"
    assert results["steps"] >= 2048
    assert not results["interrupted"]
    players = [*RULES, "untrained", "trained"]
    assert list(results["grades"]) == list(results["exact"]) == players
    for scores in results["grades"].values():
        assert list(scores) == OPPONENTS
        assert all(each["battles"] == 128 for each in scores.values())
    assert [point["steps"] for point in results["curve"]] == [0, 1024, 2048]
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((tmp_path / "tensorboard").rglob("events.*"))
    assert "training" in done.stderr
    agent = make_agent(tmp_path / "model.zip", deterministic=True)
    points = play(
        agent,
        seat="dispeller",
        scenario="archmage-duel",
        opponent="veteran",
        battles=128,
        seed=FINAL_SEED,
    )
    assert score(points).mean == pytest.approx(results["grades"]["trained"]["veteran"]["mean"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scenario", "archmage-dual"], "scenario: expected"),
        (["--scenario", "missing.toml"], "missing.toml: expected a scenario file"),
        (["--opponent", "veteren"], "did you mean veteran?"),
        (["--opponent", "missing.zip"], "missing.zip: expected a saved model"),
        (["--seat", "referee"], "invalid choice"),
        (["--steps", "0"], "expected a whole number from 1"),
        (["--gae-lambda", "2"], "gae_lambda: expected 0 to 1"),
        (["--scenario", "generated:test"], "train on generated"),
        (["--scenario", "generated", "--scenario", "apprentice"], "expected generated alone"),
        (["--resume", "--out", "missing"], "expected a checkpoint, found no file"),
    ],
)
def test_bad_input_ends_with_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        train.main(arguments)
    assert ended.value.code == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def interrupted_after(updates: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a run, once so many updates are done."""
    update, done = Learner.update, 0

    def and_stop(self: Learner) -> None:
        nonlocal done
        update(self)
        done += 1
        if done == updates:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Learner, "update", and_stop)


def test_an_interrupted_run_keeps_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted_after(2, monkeypatch)
    status = train.main(["--quick", "--out", str(tmp_path)])
    assert status == INTERRUPTED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "interrupted after 1,024 steps; go on with --resume" in captured.err
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["interrupted"]
    assert results["grades"] == {}
    assert (tmp_path / "model.zip").is_file()
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["latest.pt"]


def parameters(path: Path) -> dict[str, Any]:
    """Weights and the optimizer's memory of a saved model."""
    found: Any = load_from_zip_file(path)[1]
    memory = found["policy.optimizer"]["state"]
    moments = {f"{k} {name}": value for k in memory for name, value in memory[k].items()}
    return {**found["policy"], **moments}


def assert_same_model(one: Path, other: Path) -> None:
    first, second = parameters(one), parameters(other)
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name


@pytest.mark.parametrize(
    "pool", [["optimal:0.5"], ["self", "random"]], ids=["scripted", "against itself"]
)
def test_a_resumed_run_ends_like_one_in_one_piece(
    pool: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    opponents = [word for name in pool for word in ("--opponent", name)]
    asked = ["--quick", "--seat", "dispeller", *opponents]
    assert train.main([*asked, "--out", str(one)]) == 0
    with monkeypatch.context() as patched:
        interrupted_after(3, patched)
        assert train.main([*asked, "--out", str(two)]) == INTERRUPTED
    torch.manual_seed(0)  # whatever else happened in between
    np.random.seed(0)  # noqa: NPY002
    assert train.main(["--resume", "--out", str(two)]) == 0
    models = ["model.zip", *(["partner/model.zip"] if "self" in pool else [])]
    for name in models:
        assert_same_model(one / name, two / name)
    first, second = (json.loads((out / "results.json").read_text()) for out in (one, two))
    for key in ("steps", "curve", "partner", "grades", "exact"):
        assert first[key] == second[key], key
    assert not (two / "checkpoints").exists()


def test_an_unfinished_run_is_not_overwritten_by_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--quick", "--out", str(tmp_path)]
    with monkeypatch.context() as patched:
        interrupted_after(1, patched)
        assert train.main(asked) == INTERRUPTED
    before = (tmp_path / "checkpoints" / "latest.pt").read_bytes()
    for more, message in (
        ([], "go on with --resume, or begin anew with --overwrite"),
        (["--resume", "--steps", "64"], "--steps: expected 2048 as in the checkpoint, found 64"),
        (["--resume", "--opponent", "greedy"], "--opponent: expected"),
    ):
        capsys.readouterr()
        with pytest.raises(SystemExit):
            train.main([*asked, *more])
        assert message in capsys.readouterr().err
    assert (tmp_path / "checkpoints" / "latest.pt").read_bytes() == before
    assert train.main([*asked, "--overwrite"]) == 0
    with pytest.raises(SystemExit):
        train.main([*asked, "--resume"])
    assert "this one has ended" in capsys.readouterr().err
    assert train.main(asked) == 0


def test_tensorboard_shows_the_exact_scores(tmp_path: Path) -> None:
    assert train.main(["--quick", "--out", str(tmp_path)]) == 0
    board = EventAccumulator(str(tmp_path / "tensorboard" / "run-1")).Reload()
    names = set(board.Tags()["scalars"])
    assert {"exact/exploitability", "exact/score", "rollout/points", "train/loss"} <= names
    assert {f"points/{name}" for name in OPPONENTS} <= names
    results = json.loads((tmp_path / "results.json").read_text())
    for event, point in zip(board.Scalars("exact/score"), results["curve"], strict=True):
        assert event.step == point["steps"]
        assert event.value == pytest.approx(point["exact"]["score"], abs=1e-3)


def test_several_scenarios_are_scored_each(tmp_path: Path) -> None:
    names = ["apprentice", "archmage-duel"]
    asked = [word for name in names for word in ("--scenario", name)]
    assert train.main(["--quick", *asked, "--out", str(tmp_path)]) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert list(results["exact"]["trained"]) == names
    assert results["exact"]["random"]["apprentice"]["score"] == pytest.approx(0)
    for each in results["exact"]["trained"].values():
        assert each["random"] <= each["optimum"]
        assert each["guaranteed"] <= each["optimum"] + 1e-9


def test_both_seats_tell_the_same_battles() -> None:
    asked = {"scenario": "archmage-duel", "battles": 256, "seed": 3}
    one = play(make_agent("veteran"), seat="caster", opponent="greedy", **asked)  # type: ignore[arg-type]
    other = play(make_agent("greedy"), seat="dispeller", opponent="veteran", **asked)  # type: ignore[arg-type]
    assert (one == -other).all()
    with pytest.raises(ValueError, match="did you mean random"):
        make_agent("rndom")


@pytest.mark.slow
@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_training_comes_close_to_the_optimum(seat: str, tmp_path: Path) -> None:
    status = train.main(["--out", str(tmp_path), "--seat", seat, "--seed", "1"])
    assert status == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["args"]["opponents"] == list(SOLVED_MIX)
    assert results["exact"]["trained"]["score"] > 90
    assert results["exact"]["random"]["score"] == pytest.approx(0)
    if seat == "caster":
        assert (tmp_path / "policy.png").read_bytes().startswith(b"\x89PNG")


def test_a_scenario_too_large_to_solve_is_trained_on_against_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--quick", "--scenario", "border-skirmish", "--json", "--out", str(tmp_path)]
    assert train.main(arguments) == 0
    captured = capsys.readouterr()
    results = json.loads(captured.out)
    assert results["args"]["opponents"] == list(UNSOLVED_MIX)
    assert list(results["partner"]) == ["dispeller"]
    assert results["exact"] == {}
    assert "no exact score" in captured.err
    assert (tmp_path / "partner" / "model.zip").is_file()
