"""The Stable-Baselines3 script: tiny runs, and one slow test that it learns."""

import json
import signal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents import train
from agents.common import short_names
from agents.evaluation import FINAL_SEED, CurveCallback
from agents.hyperparameters import load_hyperparameters, scenario_class
from experiments.common import INTERRUPTED, mean_points, play_battles
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.players.registry import make_agent
from wfb_gym.seats import SEATS
from wfb_gym.solver import normalised_score

SCENARIOS = files("wfb_gym") / "data" / "scenarios"
RULES = ["random", "greedy", "veteran"]
OPPONENTS = [*RULES, "optimal"]
SMALL = ("--quick", "--scenario", "apprentice")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a quick run as dispeller."""
    folder: Path = tmp_path_factory.mktemp("run")
    assert train.main([*SMALL, "--seat", "dispeller", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def results(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "results.json").read_text())
    return found


def test_scenario_files_of_one_name_are_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--quick", "--out", str(tmp_path / "run")]
    paths = [tmp_path / folder / "duel.toml" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes((SCENARIOS / "apprentice.toml").read_bytes())
        line += ["--scenario", str(path)]
    with pytest.raises(SystemExit) as ended:
        train.main(line)
    assert ended.value.code == 2
    expected = f"--scenario: expected files of different names, found {paths[0]} and {paths[1]}\n"
    assert capsys.readouterr().err.endswith(expected)


@pytest.mark.parametrize(
    ("name", "scenario", "message"),
    [
        ("no.zip", "apprentice", "no.zip: expected a saved model, found no file"),
        ("no", "apprentice", "no.zip: expected a saved model, found no file"),
        ("text.zip", "apprentice", "text.zip: expected a model that MaskablePPO saved, found a"),
        ("ppo.zip", "apprentice", "ppo.zip: expected a model that MaskablePPO saved, found a"),
        ("model", "apprentice", "expected a model of observations of size 41 and 5 actions, found"),
    ],
)
def test_a_run_that_cannot_resume_gives_a_one_line_error(
    name: str, scenario: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.zip").write_text("no model", encoding="utf-8")
    envs = PhaseVecEnv(4, "caster")
    for kind, saved in ((PPO, "ppo.zip"), (MaskablePPO, "model.zip")):
        kind("MlpPolicy", envs, n_steps=16).save(tmp_path / saved)
    line = ["--quick", "--scenario", scenario, "--out", str(tmp_path / "run")]
    with pytest.raises(SystemExit) as ended:
        train.main([*line, "--load", str(tmp_path / name)])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_saved_models_of_one_name_are_distinguished() -> None:
    names = ["veteran", "a/model.zip", "b/model.zip", "c/other.npz"]
    assert short_names(names) == {
        "veteran": "veteran",
        "a/model.zip": "a/model.zip",
        "b/model.zip": "b/model.zip",
        "c/other.npz": "other",
    }


def test_a_quick_run_writes_everything(out: Path, results: dict[str, Any]) -> None:
    assert results["args"]["seat"] == "dispeller"
    assert results["args"]["opponents"] == list(train.SOLVED_MIX)
    assert results["steps"] == 2048
    assert not results["interrupted"]
    players = [*RULES, "untrained", "trained"]
    assert list(results["grades"]) == list(results["exact"]) == players
    for scores in results["grades"].values():
        assert list(scores) == OPPONENTS
        assert all(each["battles"] == 128 for each in scores.values())
    for each in results["exact"].values():
        assert each["random"] <= each["optimum"]
        assert each["guaranteed"] <= each["optimum"] + 1e-9
    assert results["exact"]["random"]["score"] == pytest.approx(0)
    assert [point["steps"] for point in results["curve"]] == [0, 1024, 2048]
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_other_algorithms_are_graded_and_saved(algorithm: str, tmp_path: Path) -> None:
    line = [*SMALL, "--algorithm", algorithm, "--out", str(tmp_path), "--final-battles", "16"]
    assert train.main(line) == 0
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["args"]["algorithm"] == algorithm
    again = normalised_score(
        "apprentice", make_agent(tmp_path / "model.zip", deterministic=True), "caster"
    )
    assert again.score == pytest.approx(found["exact"]["trained"]["score"])
    seconds = [point["seconds"] for point in found["curve"]]
    assert seconds == sorted(seconds)


def test_the_saved_model_plays_as_it_was_graded(out: Path, results: dict[str, Any]) -> None:
    points = play_battles(
        make_agent(out / "model.zip", deterministic=True),
        seat="dispeller",
        scenario="apprentice",
        opponent="veteran",
        battles=128,
        seed=FINAL_SEED,
    )
    assert mean_points(points).mean == pytest.approx(
        results["grades"]["trained"]["veteran"]["mean"]
    )


def test_tensorboard_shows_the_exact_scores(out: Path, results: dict[str, Any]) -> None:
    board = EventAccumulator(str(out / "tensorboard" / "run_1")).Reload()
    names = set(board.Tags()["scalars"])
    assert {"exact/exploitability", "exact/score", "train/loss"} <= names
    assert {f"points/{name}" for name in OPPONENTS} <= names
    for event, point in zip(board.Scalars("exact/score"), results["curve"], strict=True):
        assert event.step == point["steps"]
        assert event.value == pytest.approx(point["exact"]["score"], abs=1e-3)


def test_training_continues_from_a_saved_model_and_prints_only_json(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], results: dict[str, Any]
) -> None:
    more = ["--seat", "dispeller", "--load", str(out / "model.zip"), "--json"]
    assert train.main([*SMALL, *more, "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    loaded = json.loads(captured.out)
    assert "training: 1,024 steps" in captured.err
    assert loaded["curve"][0]["points"] == results["curve"][-1]["points"]
    assert loaded["exact"]["loaded"] == results["exact"]["trained"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scenario", "archmage-dual"], "scenario: expected"),
        (["--scenario", "missing.toml"], "missing.toml: expected a scenario file"),
        (["--opponent", "veteren"], "did you mean veteran?"),
        (["--opponent", "missing.zip"], "missing.zip: expected a saved model"),
        (["--load", "missing.zip"], "missing.zip"),
        (["--seat", "referee"], "invalid choice"),
        (["--steps", "0"], "expected a whole number from 1"),
        (["--gae-lambda", "2"], "gae_lambda: expected 0 to 1"),
        (["--scenario", "generated:test"], "train on generated"),
        (["--scenario", "generated", "--scenario", "apprentice"], "scenario: expected"),
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


def test_an_interrupted_run_keeps_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    anneal = CurveCallback._on_rollout_end

    def interrupt(callback: CurveCallback) -> None:
        anneal(callback)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(CurveCallback, "_on_rollout_end", interrupt)
    assert train.main([*SMALL, "--out", str(tmp_path), "--json"]) == INTERRUPTED
    results = json.loads(capsys.readouterr().out)
    assert results["interrupted"]
    assert 0 < results["steps"] < 2048
    assert results["grades"] == results["exact"] == {}
    model = (tmp_path / "model.zip").read_bytes()
    monkeypatch.undo()
    with pytest.raises(SystemExit) as ended:
        train.main([*SMALL, "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "holds an unfinished run; --load continues it" in capsys.readouterr().err
    assert (tmp_path / "model.zip").read_bytes() == model
    assert train.main([*SMALL, "--out", str(tmp_path), "--overwrite"]) == 0


def test_a_finished_run_is_replaced_only_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*SMALL, "--final-battles", "64", "--out", str(tmp_path), "--json"]
    assert train.main(line) == train.main(line) == 0
    model = (tmp_path / "model.zip").read_bytes()
    with pytest.raises(SystemExit) as ended:
        train.main([*line, "--seed", "1", "--ent-coef", "0.5"])
    assert ended.value.code == 2
    assert "holds a run of other settings (--ent-coef 0.2, --seed 0)" in capsys.readouterr().err
    assert (tmp_path / "model.zip").read_bytes() == model
    assert train.main([*line, "--load", str(tmp_path / "model.zip"), "--seed", "1"]) == 0
    with pytest.raises(SystemExit):
        train.main([*line, "--load", str(tmp_path / "elsewhere" / "model.zip")])
    assert train.main([*line, "--overwrite"]) == 0


def test_several_scenarios_are_scored_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["apprentice", "orc-shaman-hunt"]
    asked = [word for name in names for word in ("--scenario", name)]
    assert train.main(["--quick", *asked, "--out", str(tmp_path)]) == 0
    assert "exact score in orc-shaman-hunt" in capsys.readouterr().out
    results = json.loads((tmp_path / "results.json").read_text())
    assert list(results["exact"]["trained"]) == names
    assert results["exact"]["random"]["apprentice"]["score"] == pytest.approx(0)


@pytest.mark.usefixtures("quick_refusals")
def test_a_scenario_too_large_to_solve_has_no_exact_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--quick", "--scenario", "border-skirmish", "--exact-bytes", "1000", "--json"]
    assert train.main([*arguments, "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    results = json.loads(captured.out)
    assert results["args"]["opponents"] == list(train.UNSOLVED_MIX)
    assert results["exact"] == {}
    assert "no exact score" in captured.err


def test_both_seats_report_the_same_battles() -> None:
    asked = {"scenario": "apprentice", "battles": 256, "seed": 3}
    one = play_battles(make_agent("veteran"), seat="caster", opponent="greedy", **asked)  # type: ignore[arg-type]
    other = play_battles(make_agent("greedy"), seat="dispeller", opponent="veteran", **asked)  # type: ignore[arg-type]
    assert (one == -other).all()


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("archmage-duel", "small-duel"),
        ("storm-council", "large-duel"),
        ("border-skirmish", "battle"),
    ],
)
def test_hyperparameters_suit_the_size_of_the_scenario(scenario: str, expected: str) -> None:
    found = scenario_class(PhaseVecEnv(1, "caster", scenario=scenario))
    assert found == expected
    for seat in SEATS:
        hyper = load_hyperparameters(found, seat)
        assert (hyper.num_envs * hyper.n_steps) % hyper.batch_size == 0


def test_the_help_lists_the_mixed_opponents(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        train.main(["--help"])
    help_text = " ".join(capsys.readouterr().out.split())
    solved, unsolved = (
        f"{', '.join(mix[:-1])} and {mix[-1]}" if len(mix) > 1 else mix[0]
        for mix in (train.SOLVED_MIX, train.UNSOLVED_MIX)
    )
    assert f"mixed: {solved} if all scenarios are solved, otherwise {unsolved}" in help_text


@pytest.mark.slow
@pytest.mark.parametrize("seat", SEATS)
def test_training_reaches_nearly_the_optimum(seat: str, tmp_path: Path) -> None:
    assert train.main(["--out", str(tmp_path), "--seat", seat, "--seed", "1"]) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["exact"]["trained"]["score"] > 90
    if seat == "caster":
        assert (tmp_path / "policy.png").read_bytes().startswith(b"\x89PNG")
