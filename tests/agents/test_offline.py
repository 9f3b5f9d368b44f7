"""Offline learning: the suite of data sets, and learning from its rewards."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents import compare_offline, imitate, offline, record, suite
from agents.datasets import RecordedDecisions, describe_dataset, read_dataset
from agents.suite import KINDS, name_of
from experiments.common import INTERRUPTED
from tests.support.scripts import Scripts, interrupt_call
from wfb_gym import solver
from wfb_gym.encoding.limits import fit
from wfb_gym.packing import pack
from wfb_gym.players.network import PolicyNetwork
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario

minari: Any = pytest.importorskip("minari")
pytest.importorskip("h5py")

BATTLES = 300
APPRENTICE = f"--scenario apprentice --battles {BATTLES}"
NAMES = [name_of("apprentice", kind) for kind in KINDS]


@pytest.fixture(scope="module", autouse=True)
def _data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Record the suite's data sets, in a folder of this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINARI_DATASETS_PATH", str(tmp_path_factory.mktemp("data")))
        assert suite.main(APPRENTICE.split()) == 0
        yield


def regrets_of(decisions: RecordedDecisions) -> Any:
    assert decisions.values is not None
    own = decisions.values[np.arange(len(decisions.played)), decisions.played]
    return np.nanmax(decisions.values, 1) - own


def test_each_kind_of_data_set_has_its_exact_score_and_own_dice() -> None:
    held = [read_dataset(name) for name in NAMES]
    random, medium, expert, mixed = (each.behaviour_score for each in held)
    assert random == pytest.approx(0.0, abs=1e-9)
    assert expert == pytest.approx(100.0)
    greedy = solver.normalised_score("apprentice", suite.TASKS["apprentice"].medium, "caster")
    assert medium == pytest.approx(greedy.score)
    assert mixed == pytest.approx(np.mean([random, medium, expert]))
    lost = [regrets_of(each.decisions) for each in held]
    assert lost[0].mean() > lost[1].mean() > lost[2].mean()
    assert lost[0].mean() > lost[3].mean() > lost[2].mean()
    assert lost[2].max() < 1e-9  # experts always take an action of the greatest value
    seeds: list[int] = []
    for name in NAMES:
        storage = minari.load_dataset(name).storage
        seeds += [each["seed"] for each in storage.get_episode_metadata(range(BATTLES))]
    assert len(set(seeds)) == 4 * BATTLES


@pytest.mark.parametrize(
    "scenario", ["archmage-duel", pytest.param("seventh-edition-duel", marks=pytest.mark.slow)]
)
def test_medium_players_score_halfway(scenario: str) -> None:
    task = suite.TASKS[scenario]
    score = solver.normalised_score(scenario, task.medium, task.seat).score
    assert score == pytest.approx(50.0, abs=10.0)


def test_the_suite_resumes_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    line = "agents.suite --scenario apprentice --battles 8"
    played = interrupt_call(monkeypatch, record.Recorder, "play", 3)
    said = scripts.run(f"{line} --json", INTERRUPTED)
    assert [each["name"] for each in json.loads(said.out)["datasets"]] == NAMES[:2]
    assert "interrupted after 2 of 4; the same command continues" in said.err
    assert describe_dataset(NAMES[2]) is None
    results = scripts.document(line)
    names = [recorder._settings.name for (recorder,) in played]
    assert names == [*NAMES[:3], *NAMES[2:]]  # complete data sets are not played again
    assert [each["name"] for each in results["datasets"]] == NAMES
    scripts.run(line)
    assert len(played) == 5
    assert f"{NAMES[0]} was recorded otherwise" in scripts.error(f"{line} --seed 5")
    scripts.run(f"{line} --seed 5 --replace")
    assert len(played) == 9


def test_q_learning_plays_far_better_than_its_data(tmp_path: Path, scripts: Scripts) -> None:
    line = f"--dataset {NAMES[0]} --out {tmp_path} --width 32 --batch-size 64 --epochs 20"
    results = scripts.document(f"agents.offline {line}")
    assert results["score"] > results["behaviour_score"] + 20
    assert results["regret"] < 0.5 * results["behaviour_regret"]
    exact = solver.normalised_score("apprentice", make_agent(tmp_path / "caster.npz"), "caster")
    assert exact.score == pytest.approx(results["score"], abs=1e-6)


def test_the_q_learner_uses_only_rewards() -> None:
    """Neither the exact values nor the agent's own choices affect the learned values."""
    held = read_dataset(NAMES[1])

    def learned(**changes: Any) -> Any:
        settings = offline.Settings(epochs=2, width=16)
        changed = replace(held, decisions=RecordedDecisions(**(vars(held.decisions) | changes)))
        return imitate.learn(settings, changed, offline.ConservativeLoss)[1]

    known, blind = learned(), learned(values=None, actions=held.decisions.played * 0)
    assert blind["curve"]["loss"] == known["curve"]["loss"]
    assert blind["regret"] is None
    assert learned(rewards=-held.decisions.rewards)["curve"]["loss"] != known["curve"]["loss"]


def test_targets_are_rewards_and_the_next_value_of_the_same_battle() -> None:
    held = read_dataset(NAMES[0]).decisions
    settings = offline.Settings(target_rate=1.0)  # the targets' network is the network itself
    network = PolicyNetwork(fit(pack(load_scenario("apprentice")), 0), "flat", 16)
    every = np.ones(len(held.battles), np.bool_)
    loss = offline.ConservativeLoss(settings, network, held, every)
    rows = torch.arange(20)
    targets = loss._targets(rows).numpy()
    values = loss._values(network, torch.arange(21)).detach().numpy()
    for row in range(20):
        after = values[row + 1].max() if held.battles[row + 1] == held.battles[row] else 0.0
        assert targets[row] == pytest.approx(loss._rewards[row].item() + after, abs=1e-5)


def test_quick_commands_run_in_sequence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    scripts.run("agents.suite --quick")
    assert "at each of which it gives away" in scripts.run("agents.offline --quick").out
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("-quick")


def test_the_comparison_resumes_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    """The data sets keep their own seed, so they stay as they are."""
    line = f"agents.compare_offline {APPRENTICE} --seed 7 --runs 2 --steps 1 --out {tmp_path}"
    learn = imitate.learn
    titles: list[str] = []

    def interrupt(*arguments: Any) -> Any:
        titles.append(arguments[-1])
        network, learned = learn(*arguments)
        return network, learned | {"interrupted": len(titles) == 6}

    monkeypatch.setattr(imitate, "learn", interrupt)
    before = scripts.document(line, INTERRUPTED)
    assert before["interrupted"]
    assert len(before["parts"]) == 5
    parts = scripts.document(line)["parts"]
    assert titles[5] == titles[6]
    assert len(set(titles)) == len(parts) == 16
    assert {each["kind"] for each in parts} == set(KINDS)
    assert {each["seed"] for each in parts} == {7, 8}
    assert parts[:5] == before["parts"]
    assert (tmp_path / "scores.png").stat().st_size > 10_000
    for table, digits in (("score", 1), ("regret", 2)):
        header, *rows = compare_offline.learner_rows(parts, table, digits)
        assert (len(header), len(rows[0]), len(rows)) == (5, 5, 4)
        mean = np.mean([each[table] for each in parts[:2]])
        assert rows[0][3].startswith(f"{mean:.{digits}f} [")
