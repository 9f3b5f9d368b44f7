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


def test_mccfr_comes_close_to_the_optimum(tmp_path: Path) -> None:
    found = scores("--steps", "60000", "--evaluations", "2", out=tmp_path)
    for seat, score in found.items():
        table = make_agent(tmp_path / f"{seat}.table.npz")
        assert solver.normalised_score("apprentice", table, seat).score == pytest.approx(score)
    assert found["caster"] > 95
    assert found["dispeller"] > 85


def test_nfsp_learns(tmp_path: Path) -> None:
    pytest.importorskip("tree")
    line = ("--algorithm", "NFSP", "--steps", "12000", "--evaluations", "2", "--seed", "1")
    found = scores(*line, out=tmp_path / "a")
    before = results_in(tmp_path / "a")["curve"][0]
    assert sum(found.values()) > sum(before["scores"].values())
    assert found == scores(*line, out=tmp_path / "b")
