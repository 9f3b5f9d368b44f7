"""Generalisation: networks graded in scenarios of their training and in others."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from experiments.generalisation import UNSEEN
from tests.support.scripts import Scripts, results_in
from wfb_gym import solver
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import KINDS, generate
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.seats import SEATS

COMMAND = "experiments.generalisation"
KIND = "duel-500"
LIMITS = generated_limits(KINDS[KIND].sizes)


def finished_run(folder: Path, scenario: str, steps: int = 100, **changes: Any) -> Path:
    """Write a run's folder, with random networks."""
    folder.mkdir()
    torch.manual_seed(steps)
    for number, seat in enumerate(SEATS):
        network = PolicyNetwork(LIMITS, width=8)
        save_network(network, folder / f"{seat}.npz", {"seat": number, "scenario": scenario})
    args = {"scenario": [scenario], "seed": 3}
    results = {"args": args, "frames": steps, "interrupted": False, **changes}
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def test_networks_are_graded_in_seen_and_unseen_scenarios(tmp_path: Path, scripts: Scripts) -> None:
    line = f"generated-{KIND}:train"
    runs = [finished_run(tmp_path / f"run-{n}", f"{line}:{n}", n) for n in (2, 5)]
    out = tmp_path / "out"
    scripts.run(f"{COMMAND} {runs[0]} {runs[1]} --count 2 --out {out}")
    found = results_in(out)["runs"]
    assert [(each["steps"], each["scenarios"]) for each in found] == [(2, 2), (5, 5)]
    for graded, folder in zip(found, runs, strict=True):
        for group, first in (("seen", 0), ("unseen", UNSEEN)):
            made = [generate(first + k, KINDS[KIND]) for k in range(2)]
            pairs = [(each, str(folder / f"{seat}.npz"), seat) for seat in SEATS for each in made]
            scores = [solver.normalised_score(*pair, limits=LIMITS) for pair in pairs]
            won = sum(each.guaranteed - each.random for each in scores)
            stakes = sum(each.optimum - each.random for each in scores)
            assert graded[group] == pytest.approx(100 * won / stakes, abs=1e-3)
    assert (out / "generalisation.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("scenario", "changes", "message"),
    [
        (f"generated-{KIND}:train:2", {"interrupted": True}, "expected a finished run"),
        ("apprentice", {}, "the benchmark's kinds, found apprentice"),
        ("generated:train:9", {}, "the benchmark's kinds, found generated:train:9"),
        ("generated-duel:train:9", {}, "expected the same kinds as in"),
        (f"generated-{KIND}:train:1", {}, "expected a training on 2 to"),
    ],
)
def test_runs_that_cannot_be_compared_are_rejected(
    tmp_path: Path, scripts: Scripts, scenario: str, changes: dict[str, Any], message: str
) -> None:
    fine = finished_run(tmp_path / "fine", f"generated-{KIND}:train:4")
    other = finished_run(tmp_path / "other", scenario, **changes)
    found = scripts.error(f"{COMMAND} {fine} {other} --count 2 --out {tmp_path / 'out'}")
    assert message in found
    assert str(other) in found
