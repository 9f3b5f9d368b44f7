"""The shipped policies: they load, play and have the documented scores."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agents.distillation.grading import grade_network
from agents.distillation.targets import TargetSource
from tests.support.pages import PACKAGE, ROOT
from wfb_gym import solver
from wfb_gym.generating import KINDS
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.seats import SEATS

POLICIES = PACKAGE / "players" / "policies"
GENERALIST = POLICIES / "generalist.npz"
SINGLE = sorted(POLICIES.glob("*/*.npz"))
IDS = {0: "wfb_gym/Caster-v0", 1: "wfb_gym/Dispeller-v0"}


def test_there_are_both_seats_of_three_scenarios_and_one_for_all() -> None:
    names = {path.relative_to(POLICIES).as_posix() for path in SINGLE}
    folders = {Path(name).parent.name for name in names}
    assert names == {f"{folder}/{seat}.npz" for folder in folders for seat in SEATS}
    assert len(folders) >= 3
    assert sorted(POLICIES.glob("*.npz")) == [GENERALIST]
    sizes = [path.stat().st_size for path in POLICIES.rglob("*.npz")]
    assert max(sizes) < 5_500_000


@pytest.mark.parametrize("path", SINGLE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_policy_has_the_score_of_its_file(path: Path) -> None:
    agent = NetworkAgent(path)
    about = agent.about
    assert agent.seat is not None
    assert (about["scenario"], SEATS[agent.seat]) == (path.parent.name, path.stem)
    assert about["versions"]["wfb-gym"]
    exact = solver.normalised_score(about["scenario"], agent, agent.seat)
    assert exact.score == pytest.approx(about["score"], abs=0.01)
    assert about["score"] > 95
    env: Any = gym.make(IDS[1 - agent.seat], scenario=about["scenario"], opponent=agent)
    env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, _ = env.step(0)


@pytest.mark.parametrize(
    ("battles", "decisions"), [(2, 300), pytest.param(8, 5000, marks=pytest.mark.slow)]
)
def test_the_generalist_has_the_measured_score(battles: int, decisions: int) -> None:
    agent = NetworkAgent(GENERALIST)
    assert agent.seat is None
    results = json.loads((ROOT / "docs" / "results" / "general.json").read_text("utf-8"))
    kinds = tuple(KINDS[kind] for kind in results["kinds"])
    source = TargetSource(kinds, Path(), "test", max_bytes=results["args"]["test_bytes"])
    assert agent.about["score"] == pytest.approx(results["median_score"])
    small = [one for one in results["grades"] if one["decisions"] < decisions]
    numbers = list(dict.fromkeys(one["number"] for one in small))[:battles]
    assert len(numbers) == battles
    for number in numbers:
        for found in grade_network(source, number, agent):
            (one,) = (o for o in small if (o["number"], o["seat"]) == (number, found.seat))
            assert found.score == pytest.approx(one["score"], abs=0.01)
            assert found.optimum == pytest.approx(one["optimum"], abs=1e-6)
