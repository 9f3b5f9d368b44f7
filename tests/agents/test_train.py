"""The Stable-Baselines3 script: tiny runs, and one slow test that it learns."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents import train
from agents.common import SOLVED_MIX, UNSOLVED_MIX, short_names
from agents.evaluation import FINAL_SEED, CurveCallback
from agents.hyperparameters import load_hyperparameters, scenario_class
from experiments.common import INTERRUPTED, mean_points, play_battles
from tests.support.pages import PACKAGE
from tests.support.scripts import Scripts, results_in
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.players.registry import make_agent
from wfb_gym.seats import SEATS
from wfb_gym.solver import normalised_score

RULES = ["random", "greedy", "veteran"]
OPPONENTS = [*RULES, "optimal"]
SMALL = "agents.train --quick --scenario apprentice"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a quick run as dispeller."""
    folder: Path = tmp_path_factory.mktemp("run")
    assert train.main(f"{SMALL} --seat dispeller --out {folder}".split()[1:]) == 0
    return folder


@pytest.fixture(scope="module")
def results(out: Path) -> dict[str, Any]:
    return dict(results_in(out))


def test_a_run_that_cannot_start_gives_a_one_line_error(tmp_path: Path, scripts: Scripts) -> None:
    (tmp_path / "text.zip").write_text("no model", encoding="utf-8")
    envs = PhaseVecEnv(4, "caster")
    for kind, saved in ((PPO, "ppo.zip"), (MaskablePPO, "model.zip")):
        kind("MlpPolicy", envs, n_steps=16).save(tmp_path / saved)
    for name, message in (
        ("text.zip", "text.zip: expected a model that MaskablePPO saved, found a"),
        ("ppo.zip", "ppo.zip: expected a model that MaskablePPO saved, found a"),
        ("model", "expected a model of observations of size 41 and 5 actions, found"),
    ):
        error = scripts.error(f"{SMALL} --out {tmp_path / 'run'} --load {tmp_path / name}")
        assert message in error
    paths = [tmp_path / folder / "duel.toml" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes((PACKAGE / "data" / "scenarios" / "apprentice.toml").read_bytes())
    flags = " ".join(f"--scenario {path}" for path in paths)
    error = scripts.error(f"agents.train --quick --out {tmp_path / 'run'} {flags}")
    expected = f"--scenario: expected files of different names, found {paths[0]} and {paths[1]}\n"
    assert error.endswith(expected)


def test_saved_models_of_one_name_are_distinguished() -> None:
    names = ["veteran", "a/model.zip", "b/model.zip", "c/other.npz"]
    shown = ["veteran", "a/model.zip", "b/model.zip", "other"]
    assert short_names(names) == dict(zip(names, shown, strict=True))


def test_a_quick_run_writes_everything(out: Path, results: dict[str, Any]) -> None:
    args = results["args"]
    assert (args["seat"], args["opponents"]) == ("dispeller", list(SOLVED_MIX))
    assert (results["steps"], results["interrupted"]) == (2048, False)
    assert list(results["grades"]) == list(results["exact"]) == [*RULES, "untrained", "trained"]
    for scores in results["grades"].values():
        battles = {name: each["battles"] for name, each in scores.items()}
        assert [*battles.items()] == [(name, 128) for name in OPPONENTS]
    for each in results["exact"].values():
        assert each["random"] <= each["optimum"]
        assert each["guaranteed"] <= each["optimum"] + 1e-9
    assert results["exact"]["random"]["score"] == pytest.approx(0)
    assert [point["steps"] for point in results["curve"]] == [0, 1024, 2048]
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_other_algorithms_are_graded_too(algorithm: str, tmp_path: Path, scripts: Scripts) -> None:
    scripts.run(f"{SMALL} --algorithm {algorithm} --out {tmp_path} --final-battles 16")
    found = results_in(tmp_path)
    assert found["args"]["algorithm"] == algorithm
    again = normalised_score("apprentice", make_agent(f"argmax:{tmp_path / 'model.zip'}"), "caster")
    assert again.score == pytest.approx(found["exact"]["trained"]["score"])
    seconds = [point["seconds"] for point in found["curve"]]
    assert seconds == sorted(seconds)


def test_the_saved_model_plays_as_it_was_graded(out: Path, results: dict[str, Any]) -> None:
    battles: dict[str, Any] = {"scenario": "apprentice", "battles": 128, "seed": FINAL_SEED}
    agent = make_agent(f"argmax:{out / 'model.zip'}")
    points = play_battles(agent, seat="dispeller", opponent="veteran", **battles)
    graded = results["grades"]["trained"]["veteran"]["mean"]
    assert mean_points(points).mean == pytest.approx(graded)
    other = play_battles(make_agent("veteran"), seat="caster", opponent=agent, **battles)
    assert (points == -other).all()


def test_tensorboard_shows_the_exact_scores(out: Path, results: dict[str, Any]) -> None:
    board = EventAccumulator(str(out / "tensorboard" / "run_1")).Reload()
    names = set(board.Tags()["scalars"])
    assert {"exact/exploitability", "exact/score", "train/loss"} <= names
    assert {f"points/{name}" for name in OPPONENTS} <= names
    for event, point in zip(board.Scalars("exact/score"), results["curve"], strict=True):
        assert event.step == point["steps"]
        assert event.value == pytest.approx(point["exact"]["score"], abs=1e-3)


def test_raw_features_are_trained_and_graded(tmp_path: Path, scripts: Scripts) -> None:
    scripts.run(f"{SMALL} --features raw --out {tmp_path / 'raw'}")
    model = tmp_path / "raw" / "model.zip"
    envs = PhaseVecEnv(1, scenario="apprentice", features="raw")
    assert MaskablePPO.load(model).observation_space == envs.observation_space
    score = normalised_score("apprentice", f"argmax:{model}", "caster").score
    assert score == results_in(tmp_path / "raw")["exact"]["trained"]["score"]
    error = scripts.error(f"{SMALL} --load {model} --out {tmp_path / 'all'}")
    assert "model.zip: expected the bounds of observations in these environments" in error


def test_training_continues_from_a_saved_model_and_prints_only_json(
    out: Path, tmp_path: Path, scripts: Scripts, results: dict[str, Any]
) -> None:
    line = f"{SMALL} --seat dispeller --load {out / 'model.zip'} --out {tmp_path} --json"
    said = scripts.run(line)
    loaded = json.loads(said.out)
    assert "training: 1,024 steps" in said.err
    assert loaded["curve"][0]["points"] == results["curve"][-1]["points"]
    assert loaded["exact"]["loaded"] == results["exact"]["trained"]


def test_an_interrupted_run_keeps_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    anneal = CurveCallback._on_rollout_end

    def interrupt(callback: CurveCallback) -> None:
        anneal(callback)
        signal.raise_signal(signal.SIGINT)

    line = f"{SMALL} --final-battles 16 --out {tmp_path}"
    with monkeypatch.context() as patch:
        patch.setattr(CurveCallback, "_on_rollout_end", interrupt)
        results = scripts.document(line, INTERRUPTED)
    assert results["interrupted"]
    assert 0 < results["steps"] < 2048
    assert results["grades"] == results["exact"] == {}
    model = (tmp_path / "model.zip").read_bytes()
    assert "holds an unfinished run; --load continues it" in scripts.error(line)
    assert (tmp_path / "model.zip").read_bytes() == model
    scripts.run(f"{line} --load {tmp_path / 'model.zip'}")  # finishes it
    model = (tmp_path / "model.zip").read_bytes()
    error = scripts.error(f"{line} --seed 1 --ent-coef 0.5")
    assert "holds a run of other settings (--ent-coef 0.2, --load " in error
    scripts.error(f"{line} --load {tmp_path / 'elsewhere' / 'model.zip'}")
    assert (tmp_path / "model.zip").read_bytes() == model
    scripts.run(f"{line} --overwrite")


def test_several_scenarios_are_scored_each(tmp_path: Path, scripts: Scripts) -> None:
    line = f"{SMALL} --scenario orc-shaman-hunt --final-battles 16 --out {tmp_path}"
    assert "exact score in orc-shaman-hunt" in scripts.run(line).out
    results = results_in(tmp_path)
    assert list(results["exact"]["trained"]) == ["apprentice", "orc-shaman-hunt"]
    assert results["exact"]["random"]["apprentice"]["score"] == pytest.approx(0)


@pytest.mark.usefixtures("quick_refusals")
def test_a_scenario_too_large_to_solve_has_no_exact_score(tmp_path: Path, scripts: Scripts) -> None:
    flags = f"--exact-bytes 1000 --final-battles 2 --battles 2 --out {tmp_path}"
    said = scripts.run(f"agents.train --quick --scenario archmage-duel {flags}")
    results = results_in(tmp_path)
    assert results["args"]["opponents"] == list(UNSOLVED_MIX)
    assert results["exact"] == {}
    assert "no exact score" in said.err


def test_hyperparameters_suit_the_size_of_the_scenario() -> None:
    scenarios = ("archmage-duel", "storm-council", "border-skirmish")
    for found, scenario in zip(("small-duel", "large-duel", "battle"), scenarios, strict=True):
        assert scenario_class(PhaseVecEnv(1, "caster", scenario=scenario)) == found
        for seat in SEATS:
            hyper = load_hyperparameters(found, seat)
            assert (hyper.num_envs * hyper.n_steps) % hyper.batch_size == 0


@pytest.mark.slow
@pytest.mark.parametrize("seat", SEATS)
def test_training_reaches_nearly_the_optimum(seat: str, tmp_path: Path, scripts: Scripts) -> None:
    scripts.run(f"agents.train --out {tmp_path} --seat {seat} --seed 1")
    assert results_in(tmp_path)["exact"]["trained"]["score"] > 90
    if seat == "caster":
        assert (tmp_path / "policy.png").read_bytes().startswith(b"\x89PNG")
