"""The training script from end to end, tiny; and, slowly, that it learns."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agents.registry import make_agent
from experiments import train
from experiments.common import agent_chooser, play, score, scripted_chooser

RULES = ["random", "greedy", "veteran"]
OPPONENTS = [*RULES, "optimal"]
ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "experiments.train", *arguments],
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
        agent_chooser(agent),
        seat="dispeller",
        scenario="archmage-duel",
        opponent="veteran",
        battles=128,
        seed=train.FINAL_SEED,
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
    def interrupted(self: train.Curve) -> bool:
        if self.num_timesteps >= 1024:
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr(train.Curve, "_on_step", interrupted)
    status = train.main(["--quick", "--out", str(tmp_path)])
    assert status == train.INTERRUPTED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "interrupted after 1,024 steps" in captured.err
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["interrupted"]
    assert results["grades"] == {}
    assert (tmp_path / "model.zip").is_file()


def test_both_seats_tell_the_same_battles() -> None:
    asked = {"scenario": "archmage-duel", "battles": 256, "seed": 3}
    one = play(scripted_chooser("veteran"), seat="caster", opponent="greedy", **asked)  # type: ignore[arg-type]
    other = play(scripted_chooser("greedy"), seat="dispeller", opponent="veteran", **asked)  # type: ignore[arg-type]
    assert (one == -other).all()


def test_agents_that_play_inside_the_batch_are_no_agents() -> None:
    with pytest.raises(ValueError, match='opponent="greedy"'):
        make_agent("greedy")
    with pytest.raises(ValueError, match="did you mean random"):
        make_agent("rndom")


@pytest.mark.slow
def test_a_trained_caster_comes_close_to_the_optimum(tmp_path: Path) -> None:
    status = train.main(["--out", str(tmp_path), "--seed", "1"])
    assert status == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["args"]["opponent"] == ["optimal"]
    assert results["exact"]["trained"]["score"] > 70
    assert results["exact"]["random"]["score"] == pytest.approx(0)
    assert (tmp_path / "policy.png").read_bytes().startswith(b"\x89PNG")


def test_a_scenario_too_large_to_solve_is_trained_on_against_the_scripted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--quick", "--scenario", "border-skirmish", "--json", "--out", str(tmp_path)]
    assert train.main(arguments) == 0
    captured = capsys.readouterr()
    results = json.loads(captured.out)
    assert results["args"]["opponent"] == list(train.RULES_OF_THUMB)
    assert results["exact"] == {}
    assert "no exact score" in captured.err
