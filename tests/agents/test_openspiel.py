"""OpenSpiel's algorithms as learners: scores, seeds, rejected input."""

from pathlib import Path
from typing import Any

import pytest

from agents import openspiel
from tests.support.scripts import results_in
from wfb_gym import solver
from wfb_gym.players.registry import make_agent


def scores(*arguments: str, out: Path) -> dict[str, float]:
    assert openspiel.main([*arguments, "--out", str(out)]) == 0
    results: dict[str, Any] = results_in(out)
    curve = results["curve"]
    assert curve[0]["frames"] == 0
    assert [each["frames"] for each in curve] == sorted(each["frames"] for each in curve)
    assert curve[-1]["scores"] == results["scores"]
    return dict(results["scores"])


@pytest.mark.parametrize(
    ("steps", "caster", "dispeller"),
    [(8000, 80, 60), pytest.param(60_000, 95, 85, marks=pytest.mark.slow)],
)
def test_mccfr_is_near_the_optimum(steps: int, caster: int, dispeller: int, tmp_path: Path) -> None:
    found = scores("--steps", str(steps), "--evaluations", "2", out=tmp_path)
    for seat, score in found.items():
        table = make_agent(tmp_path / f"{seat}.table.npz")
        assert solver.normalised_score("apprentice", table, seat).score == pytest.approx(score)
    assert found["caster"] > caster
    assert found["dispeller"] > dispeller


NFSP = ("--algorithm", "NFSP", "--evaluations", "1", "--seed", "1", "--steps")


def test_nfsp_learns_the_same_with_a_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tree")
    for size in ("min_buffer_size_to_learn", "batch_size"):
        monkeypatch.setitem(openspiel.NFSP_OPTIONS, size, 8)
    found = scores(*NFSP, "500", out=tmp_path / "a")
    assert found != results_in(tmp_path / "a")["curve"][0]["scores"]
    assert found == scores(*NFSP, "500", out=tmp_path / "b")


@pytest.mark.slow
def test_nfsp_learns(tmp_path: Path) -> None:
    pytest.importorskip("tree")
    found = scores(*NFSP, "12000", out=tmp_path)
    before = results_in(tmp_path)["curve"][0]
    assert sum(found.values()) > sum(before["scores"].values())
