"""Comparing learners: the runs, their files, resuming."""

from pathlib import Path
from typing import Any

import pytest

from agents import compare
from agents.compare import ABLATIONS, LEARNERS, Settings, Training, TrainingCommand
from agents.figures import draw_comparison
from experiments.common import FAILED, INTERRUPTED
from tests.support.scripts import Scripts, results_in

SELF_PLAY = "agents.compare --learner self-play --scenario apprentice"


def test_every_seed_has_every_learner_and_seat() -> None:
    settings = Settings(learner=("self-play", "PPO"), runs=2, seed=3)
    names = ("self-play", "PPO caster", "PPO dispeller")
    wanted = [f"{name} seed {seed}" for seed in (3, 4) for name in names]
    assert list(map(str, compare.trainings_of(settings))) == wanted


def test_commands_contain_the_differing_settings() -> None:
    settings = Settings(scenario="apprentice", steps=9)
    commands = {
        name: Training(name, "caster" if learner.of_one_seat else "", 1).command(settings)
        for name, learner in LEARNERS.items()
    }
    assert len(set(commands.values())) == len(LEARNERS)
    dqn = "agents.train --algorithm DQN --scenario apprentice --seat caster --steps 9 --seed 1"
    assert commands["DQN"] == dqn
    for name in ABLATIONS:
        plain = commands["self-play"].split()
        assert [word for word in commands[name].split() if word in plain] == plain


def stub(name: str, seed: int, scores: dict[str, float]) -> dict[str, Any]:
    at = [{"steps": k, "seconds": k / 100, "scores": scores} for k in (0, 10, 20)]
    return {
        "learner": name, "seat": "", "seed": seed, "command": "", "steps": 20, "seconds": 0.2,
        "cpu_seconds": 1.0 + seed, "scores": scores, "curve": at,
    }  # fmt: skip


def test_the_table_has_the_median_run() -> None:
    trainings = [stub("self-play", k, {"caster": 10.0 * k}) for k in range(5)]
    header, row = compare.compare_rows(trainings)
    assert dict(zip(header, row, strict=True)) == {
        "learner": "self-play", "seat": "caster", "score": "20.0", "worst": "0.0", "best": "40.0",
        "decisions": "20", "seconds": "0", "CPU s": "3",
    }  # fmt: skip


def test_a_picture_of_runs_of_different_length(tmp_path: Path) -> None:
    both = {"caster": 50.0, "dispeller": -60.0}
    trainings = [stub(name, k, both) for name in ("self-play", "MCCFR") for k in range(2)]
    trainings[0]["curve"].pop()
    results = {"args": {"scenario": "apprentice", "runs": 2}, "trainings": trainings}
    draw_comparison(results, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 10_000


def test_finished_runs_are_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    trained = []

    def train(training: Training, settings: Settings) -> dict[str, Any]:
        trained.append(str(training))
        if training.seed == 1 and len(trained) == 2:
            raise KeyboardInterrupt
        return stub(training.learner, training.seed, {"caster": 1.0, "dispeller": 2.0})

    monkeypatch.setattr(compare, "train_learner", train)
    line = f"{SELF_PLAY} --runs 2 --out {tmp_path}"
    for status, seeds in ((INTERRUPTED, [0]), (0, [0, 1])):
        assert [each["seed"] for each in scripts.document(line, status)["trainings"]] == seeds
    assert trained == ["self-play seed 0", "self-play seed 1", "self-play seed 1"]


def test_a_training_that_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setitem(LEARNERS, "self-play", TrainingCommand("agents.no_such_learner"))
    error = scripts.run(f"{SELF_PLAY} --runs 1 --out {tmp_path}", FAILED).err
    log = tmp_path / "self-play" / "seed-0" / "log.txt"
    assert f"self-play seed 0 failed, see {log}" in error
    assert "No module named agents.no_such_learner" in log.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_quick_comparison_trains_all(tmp_path: Path, scripts: Scripts) -> None:
    learners = "--learner self-play --learner DQN --learner MCCFR"
    scripts.run(f"agents.compare --quick {learners} --out {tmp_path}")
    found = results_in(tmp_path)["trainings"]
    assert [(each["learner"], each["seat"]) for each in found] == [
        ("self-play", ""), ("DQN", "caster"), ("DQN", "dispeller"), ("MCCFR", ""),
    ]  # fmt: skip
    for each in found:
        assert each["curve"][-1]["steps"] == each["steps"] >= 2048
        assert each["cpu_seconds"] > 0
        seats = {each["seat"]} if each["seat"] else {"caster", "dispeller"}
        assert set(each["scores"]) == seats
    assert (tmp_path / "curves.png").is_file()
