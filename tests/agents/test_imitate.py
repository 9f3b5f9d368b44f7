"""Behaviour cloning: it copies the data, and its score matches the solver's."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import imitate, record
from agents.datasets import read_dataset
from agents.imitate import sample_battles
from experiments.common import INTERRUPTED
from wfb_gym import solver
from wfb_gym.players.registry import make_agent

pytest.importorskip("minari")
pytest.importorskip("h5py")

NAME = "wfb_gym/apprentice/test-v0"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINARI_DATASETS_PATH", str(folder))
        common = ["--scenario", "apprentice", "--epsilon", "0.5", "--opponent", "optimal:0.5"]
        assert record.main([*common, "--battles", "400", "--name", NAME]) == 0
        dispeller = ["--seat", "dispeller", "--name", "wfb_gym/dispeller-v0"]
        assert record.main([*common, "--battles", "50", *dispeller]) == 0
    return folder


@pytest.fixture(autouse=True)
def _folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(data))


def clone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str, name: str = NAME
) -> dict[str, Any]:
    given = ["--dataset", name, "--out", str(tmp_path / "run"), "--json", *arguments]
    capsys.readouterr()
    assert imitate.main(given) == 0
    results: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert results == json.loads((tmp_path / "run" / "results.json").read_text())
    return results


def test_a_clone_of_the_optimum_plays_like_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = clone(tmp_path, capsys, "--epochs", "30", "--batch-size", "64", "--width", "32")
    assert results["agreement"] > 0.95
    assert results["curve"]["loss"][-1] < 0.2 * results["curve"]["loss"][0]
    assert results["score"] > 95
    agent = make_agent(tmp_path / "run" / "caster.npz")
    exact = solver.normalised_score("apprentice", agent, "caster")
    assert exact.score == pytest.approx(results["score"], abs=1e-6)
    assert exact.guaranteed == pytest.approx(results["guaranteed"])


def test_a_quick_run_learns_from_a_quick_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert record.main(["--quick"]) == 0
    assert imitate.main(["--quick", "--out", str(tmp_path / "run")]) == 0
    assert "exact score" in capsys.readouterr().out


def test_the_same_command_learns_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = clone(tmp_path / "a", capsys, "--quick")
    assert clone(tmp_path / "b", capsys, "--quick")["curve"] == first["curve"]
    assert clone(tmp_path / "c", capsys, "--quick", "--seed", "1")["curve"] != first["curve"]


def test_the_other_seat_is_cloned_from_its_own_decisions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = clone(tmp_path, capsys, "--quick", name="wfb_gym/dispeller-v0")
    assert results["seat"] == "dispeller"
    agent = make_agent(tmp_path / "run" / "dispeller.npz")
    exact = solver.normalised_score("apprentice", agent, "dispeller")
    assert exact.score == pytest.approx(results["score"], abs=1e-6)


def test_held_out_battles_do_not_train(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = read_dataset(NAME).decisions
    choice = held.masks.sum(1) > 1
    out = sample_battles(held.battles, 0.25, 0)
    assert len(np.unique(held.battles[out])) == 100
    assert not np.intersect1d(held.battles[out], held.battles[~out]).size
    results = clone(tmp_path, capsys, "--quick", "--held-out", "0.25")
    assert results["held_out"] == (choice & out).sum()
    assert results["learned_from"] == (choice & ~out).sum()
    with pytest.raises(SystemExit):
        clone(tmp_path, capsys, "--quick", "--held-out", "0")
    assert "holds a run of other settings (--held-out 0.25)" in capsys.readouterr().err
    none = clone(tmp_path, capsys, "--quick", "--held-out", "0", "--overwrite")
    assert none["held_out"] == 0
    assert none["agreement"] is None


def test_ctrl_c_keeps_the_trained_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(imitate.HeldOut, "agreement", interrupt)
    given = ["--dataset", NAME, "--out", str(tmp_path), "--quick", "--json"]
    assert imitate.main(given) == INTERRUPTED
    results = json.loads(capsys.readouterr().out)
    assert results["interrupted"]
    assert len(results["curve"]["loss"]) == 1
    assert results["score"] is not None
    make_agent(tmp_path / "caster.npz")


@pytest.mark.usefixtures("quick_refusals")
def test_a_scenario_that_is_too_large_has_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    solve = solver.solve

    def refuse(*_: Any, **__: Any) -> Any:
        return solve("grand-conclave", max_bytes=1)

    monkeypatch.setattr(solver, "solve", refuse)
    assert clone(tmp_path, capsys, "--quick")["score"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "wfb_gym/nothing-v0"], "found no wfb_gym/nothing-v0"),
        (["--dataset", "no version"], "expected a name like"),
        (["--epochs", "0"], "--epochs: expected more than 0"),
        (["--held-out", "1"], "--held-out: expected a share"),
        (["--shape", "round"], "invalid choice"),
    ],
)
def test_bad_input_ends_with_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status: Any = imitate.main([*arguments, "--out", str(tmp_path / "run")])
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
