"""The policies that come with the checkout: they load, play and score what is told of them."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agents.distillation.grading import grade
from agents.distillation.targets import TargetSource
from tests.pages import PACKAGE, ROOT
from wfb_gym import solver
from wfb_gym.generating import Generation
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.seats import SEATS

POLICIES = PACKAGE / "players" / "policies"
SINGLE = sorted(path for path in POLICIES.rglob("*.npz") if path.parent.name != "general")
IDS = {0: "wfb_gym/Caster-v0", 1: "wfb_gym/Dispeller-v0"}


def test_there_are_both_seats_of_three_scenarios_and_two_for_all() -> None:
    names = {path.relative_to(POLICIES).as_posix() for path in POLICIES.rglob("*.npz")}
    folders = {Path(name).parent.name for name in names}
    assert names == {f"{folder}/{seat}.npz" for folder in folders for seat in SEATS}
    assert "general" in folders
    assert len(folders) >= 4
    sizes = [path.stat().st_size for path in POLICIES.rglob("*.npz")]
    assert max(sizes) < 2_000_000


@pytest.mark.parametrize("path", SINGLE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_policy_scores_what_its_file_says(path: Path) -> None:
    agent = NetworkAgent(path)
    about = agent.about
    assert (about["scenario"], SEATS[agent.seat]) == (path.parent.name, path.stem)
    assert about["command"].startswith("python -m experiments.")
    assert about["versions"]["wfb-gym"]
    exact = solver.normalised_score(about["scenario"], agent, agent.seat)
    assert exact.score == pytest.approx(about["score"], abs=0.01)
    assert about["score"] > 95
    env: Any = gym.make(IDS[1 - agent.seat], scenario=about["scenario"], opponent=agent)
    env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, _ = env.step(0)


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_the_general_policy_scores_what_was_found(seat: str) -> None:
    agent = NetworkAgent(POLICIES / "general" / f"{seat}.npz")
    results = json.loads((ROOT / "docs" / "results" / f"general-{seat}.json").read_text("utf-8"))
    args = results["args"]
    source = TargetSource(
        Generation(points=args["points"], phases=1), Path(), "test", max_bytes=args["test_bytes"]
    )
    assert agent.about["score"] == pytest.approx(results["median_score"])
    small = [one for one in results["grades"] if one["decisions"] < 5000][:12]
    assert len(small) == 12
    for one in small:
        found = grade(source, one["seed"], agent.seat, agent)
        assert found.score == pytest.approx(one["score"], abs=0.01)
        assert found.optimum == pytest.approx(one["optimum"], abs=1e-6)
