"""Behaviour cloning: it copies the data, and its score matches the solver's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from agents import imitate, record
from agents.datasets import read_dataset
from agents.imitate import sample_battles
from experiments.common import INTERRUPTED
from tests.agents.small_training import ctrl_c
from tests.support.scripts import Scripts, results_in
from wfb_gym import solver
from wfb_gym.players.registry import make_agent

pytest.importorskip("minari")
pytest.importorskip("h5py")

NAME, OTHER = "wfb_gym/apprentice/test-v0", "wfb_gym/dispeller-v0"


@pytest.fixture(scope="module", autouse=True)
def _data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Record both data sets, in a folder of this module."""
    common = "--scenario apprentice --epsilon 0.5 --opponent optimal:0.5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINARI_DATASETS_PATH", str(tmp_path_factory.mktemp("data")))
        lines = f"--battles 200 --name {NAME}", f"--battles 50 --seat dispeller --name {OTHER}"
        for line in lines:
            assert record.main(f"{common} {line}".split()) == 0
        yield


def clone(scripts: Scripts, out: Path, arguments: str, name: str = NAME) -> dict[str, Any]:
    line = f"agents.imitate --dataset {name} --out {out} {arguments}"
    results: dict[str, Any] = scripts.document(line)
    assert results == results_in(out)
    return results


def test_a_clone_of_the_optimum_plays_like_it(tmp_path: Path, scripts: Scripts) -> None:
    results = clone(scripts, tmp_path, "--epochs 30 --batch-size 64 --width 32")
    assert results["agreement"] > 0.95
    assert results["curve"]["loss"][-1] < 0.2 * results["curve"]["loss"][0]
    assert results["score"] > 95
    exact = solver.normalised_score("apprentice", make_agent(tmp_path / "caster.npz"), "caster")
    assert exact.score == pytest.approx(results["score"], abs=1e-6)
    assert exact.guaranteed == pytest.approx(results["guaranteed"])


def test_the_same_command_learns_the_same(tmp_path: Path, scripts: Scripts) -> None:
    first, again, other = (
        clone(scripts, tmp_path / folder, f"--quick --seed {seed}", OTHER)
        for folder, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert again["curve"] == first["curve"] != other["curve"]
    assert first["seat"] == "dispeller"
    agent = make_agent(tmp_path / "a" / "dispeller.npz")
    exact = solver.normalised_score("apprentice", agent, "dispeller")
    assert exact.score == pytest.approx(first["score"], abs=1e-6)


def test_held_out_battles_do_not_train(tmp_path: Path, scripts: Scripts) -> None:
    held = read_dataset(NAME).decisions
    choice = held.masks.sum(1) > 1
    out = sample_battles(held.battles, 0.25, 0)
    assert len(np.unique(held.battles[out])) == 50
    assert not np.intersect1d(held.battles[out], held.battles[~out]).size
    results = clone(scripts, tmp_path, "--quick --held-out 0.25")
    assert results["held_out"] == (choice & out).sum()
    assert results["learned_from"] == (choice & ~out).sum()
    other = f"agents.imitate --dataset {NAME} --out {tmp_path} --quick --held-out 0"
    assert "holds a run of other settings (--held-out 0.25)" in scripts.error(other)
    none = clone(scripts, tmp_path, "--quick --held-out 0 --overwrite")
    assert (none["held_out"], none["agreement"]) == (0, None)


def test_ctrl_c_keeps_the_trained_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setattr(imitate.HeldOut, "agreement", ctrl_c)
    line = f"agents.imitate --dataset {NAME} --out {tmp_path} --quick"
    results = scripts.document(line, INTERRUPTED)
    assert results["interrupted"]
    assert len(results["curve"]["loss"]) == 1
    assert results["score"] is not None
    make_agent(tmp_path / "caster.npz")


def test_a_scenario_that_is_too_large_has_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setattr(solver, "solve", Mock(side_effect=solver.TooLarge("it does not fit")))
    assert clone(scripts, tmp_path, "--quick")["score"] is None
