"""Data sets of battles: they hold the games as played, and each game can be replayed."""

import errno
import json
import os
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import gymnasium as gym
import numpy as np
import pytest

from agents import datasets, record, suite
from agents.datasets import AGENT_ACTION, MASK, NO_ACTION, VALUES
from experiments.common import IDS, INTERRUPTED
from tests.support.pages import PACKAGE, page, run_blocks
from tests.support.scripts import Scripts, interrupt_call, run_python
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.players.registry import make_agent

minari: Any = pytest.importorskip("minari")
pytest.importorskip("h5py")

NAME = "wfb_gym/apprentice/test-v0"
SMALL = f"agents.record --scenario apprentice --battles 30 --name {NAME}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_a_recorded_battle_can_be_played_again_from_its_seed(seat: str, scripts: Scripts) -> None:
    flags = f"--seat {seat} --opponent veteran --opponent greedy:0.2 --agent random --seed 7"
    results = scripts.document(f"{SMALL} {flags}")
    held = minari.load_dataset(NAME)
    assert held.total_episodes == results["battles"] == 30
    assert (held.total_steps, held.env_spec.id) == (results["decisions"], IDS[seat])
    env = held.recover_environment()
    assert env.spec.kwargs["opponent"] == ["veteran", "greedy:0.2"]
    seeds = [each["seed"] for each in held.storage.get_episode_metadata(range(30))]
    assert seeds == list(range(7, 37))
    for episode, seed in zip(held.iterate_episodes(), seeds, strict=True):
        observation, info = env.reset(seed=seed, options={"minari_autoseed": False})
        steps = len(episode.actions)
        assert len(episode.observations) == len(episode.infos[MASK]) == steps + 1
        for step in range(steps):
            assert np.array_equal(episode.observations[step], observation)
            assert np.array_equal(episode.infos[MASK][step], info["action_mask"])
            assert info["action_mask"][episode.actions[step]]
            observation, reward, ended, _, info = env.step(episode.actions[step])
            assert reward == episode.rewards[step]
            assert ended == episode.terminations[step] == (step == steps - 1)
        assert np.array_equal(episode.observations[steps], observation)
    assert not held[0].truncations.any()


def test_the_same_command_records_the_same(scripts: Scripts) -> None:
    def recorded(flags: str) -> tuple[Any, datasets.RecordedDecisions]:
        line = f"{SMALL} --agent random --epsilon 0.5 --replace {flags}"
        return scripts.document(line)["points"], datasets.read_dataset(NAME).decisions

    (points, before), (same_points, same), (_, other) = map(recorded, ("", "", "--seed 1000"))
    assert same_points == points
    assert np.array_equal(before.observations, same.observations)
    assert np.array_equal(before.actions, same.actions)
    assert not np.array_equal(before.observations, other.observations)


def test_the_agents_own_choice_is_stored_also_if_it_explores(scripts: Scripts) -> None:
    path = str(PACKAGE / "players" / "policies" / "apprentice" / "caster.npz")
    scripts.run(f"{SMALL} --agent {path} --epsilon 0.5 --battles 100")
    agent = make_agent(path)
    explored = total = 0
    choices = []
    for episode in minari.load_dataset(NAME).iterate_episodes():
        own, masks = episode.infos[AGENT_ACTION], episode.infos[MASK].astype(bool)
        assert own[-1] == NO_ACTION
        assert masks[np.arange(len(episode.actions)), episode.actions].all()
        assert np.array_equal(own[:-1], agent.act(episode.observations[:-1], masks[:-1]))
        explored += int((own[:-1] != episode.actions).sum())
        total += len(episode.actions)
        choices.append(own[:-1])
    assert 0.1 * total < explored < 0.5 * total  # some random actions are the agent's own
    assert np.array_equal(datasets.read_dataset(NAME).decisions.actions, np.concatenate(choices))


def test_points_are_those_of_the_battles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setattr(record, "BATCH_SIZE", 200)
    out = tmp_path / "results.json"
    results = scripts.document(f"{SMALL} --battles 300 --opponent optimal --out {out}")  # 2 batches
    assert results == json.loads(out.read_text())
    assert Path(results["folder"]).is_dir()
    assert results["args"]["agent"] == ["optimal"]
    mean = results["points"]["caster"]
    assert abs(mean["mean"] - solver.solve("apprentice").value) < 2 * mean["half_width"]
    held = minari.load_dataset(NAME)
    rewards = [100 * each.rewards.sum() for each in held.iterate_episodes()]
    assert mean["mean"] == pytest.approx(np.mean(rewards))
    assert "python -m agents.record" in held.storage.metadata["description"]
    assert "is there already" in scripts.error(SMALL)


def test_ctrl_c_keeps_the_played_battles(monkeypatch: pytest.MonkeyPatch, scripts: Scripts) -> None:
    monkeypatch.setattr(record, "BATCH_SIZE", 8)
    for batch in (1, 2):
        with monkeypatch.context() as patch:
            interrupt_call(patch, record.Recorder, "_play_batch", batch)
            results = scripts.document(SMALL, INTERRUPTED)
        assert results["interrupted"]
        assert results["battles"] == 8 * (batch - 1)
        assert datasets.path_of(NAME).exists() == (batch == 2)
    assert minari.load_dataset(NAME).total_episodes == 8


def test_a_missing_minari_is_named(monkeypatch: pytest.MonkeyPatch, scripts: Scripts) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert 'pip install "wfb-gym[train,minari]"' in scripts.error(SMALL)


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_values_are_the_solvers_at_the_positions_played(seat: str, scripts: Scripts) -> None:
    played = "--agent random --agent optimal --opponent optimal:0.5"
    line = f"--scenario orc-shaman-hunt --seat {seat} --battles 20 --seed 5 --name {NAME}"
    scripts.run(f"agents.record {line} {played} --values")
    solution = solver.solve("orc-shaman-hunt")
    sign = 1.0 if seat == "caster" else -1.0
    held = minari.load_dataset(NAME)
    kwargs = held.env_spec.kwargs
    envs: Any = gym.make_vec(IDS[seat], num_envs=1, autoreset_mode="Disabled", **kwargs)
    regrets = np.zeros(20)
    for number, episode in enumerate(held.iterate_episodes()):
        envs.reset(seed=5 + number)
        values, masks = episode.infos[VALUES], episode.infos[MASK].astype(bool)
        assert values.dtype == np.float64
        assert np.array_equal(np.isnan(values), ~masks)
        for step, action in enumerate(episode.actions):
            positions = envs.batch.positions()
            battle = Battle(solution.packed)
            battle._states[0] = positions.states[0]
            expected = np.where(masks[step], 0.0, np.nan)
            if battle.is_decision():
                for code, value in solution.action_values(battle).items():
                    expected[positions.codec.index_of[code]] = sign * value
            assert np.allclose(values[step], expected, rtol=0, atol=1e-9, equal_nan=True)
            regrets[number] += np.nanmax(values[step]) - values[step, action]
            envs.step(np.array([action]))
        assert np.nanmax(np.abs(values[-1])) == 0.0
    assert regrets[:10].max() > 1.0  # played at random
    assert regrets[10:].max() < 1e-9  # optimally


def test_values_of_a_scenario_that_is_too_large_are_rejected_in_one_line(
    monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setattr(solver, "solve", Mock(side_effect=solver.TooLarge("it does not fit")))
    error = scripts.error(f"{SMALL} --agent greedy --values")
    assert "--values: the scenario is too large to solve: it does not fit" in error
    assert not datasets.path_of(NAME).exists()


def test_several_agents_play_equal_shares(scripts: Scripts) -> None:
    scripts.run(f"{SMALL} --agent random --agent veteran --agent optimal --battles 31")
    data = minari.load_dataset(NAME)
    held = list(data.iterate_episodes())
    seeds = [each["seed"] for each in data.storage.get_episode_metadata(range(31))]
    assert (len(held), seeds) == (31, list(range(31)))
    scripts.run(f"{SMALL} --agent veteran --battles 10 --seed 10 --replace")
    for one, other in zip(held[10:20], minari.load_dataset(NAME).iterate_episodes(), strict=True):
        assert np.array_equal(one.actions, other.actions)
        assert np.array_equal(one.observations, other.observations)


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")  # Minari's folders
def test_minaris_own_collector_records_battles() -> None:
    pytest.importorskip("jax", reason="DataCollector.step needs it")
    env = minari.DataCollector(gym.make(IDS["caster"], scenario="apprentice"), record_infos=True)
    for _ in range(3):
        _, info = env.reset()
        ended = False
        while not ended:
            _, _, ended, _, info = env.step(np.flatnonzero(info["action_mask"])[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env.create_dataset(NAME, eval_env=IDS["caster"])
    decisions = datasets.read_dataset(NAME).decisions
    assert len(np.unique(decisions.battles)) == 3
    assert decisions.masks[np.arange(len(decisions.actions)), decisions.actions].all()


def test_an_interruption_while_battles_are_written_keeps_them(
    monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    write = datasets.write_dataset

    def interrupted_write(*arguments: Any, **settings: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        write(*arguments, **settings)

    monkeypatch.setattr(record, "write_dataset", interrupted_write)
    said = scripts.run(f"{SMALL} --json", INTERRUPTED)
    assert json.loads(said.out)["interrupted"]
    assert "ending once the battles are written; Ctrl-C again ends at once" in said.err
    assert datasets.read_dataset(NAME).decisions.battles.max() == 29


def test_names_that_minari_rejects_give_a_one_line_error(scripts: Scripts) -> None:
    for command in ("agents.record --quick --name", "agents.imitate --dataset"):
        for name in ("bad-v", "wfb_gym/bad", "../bad-v0"):
            expected = f"expected a name like wfb_gym/archmage-duel/caster-v0, found {name!r}"
            assert expected in scripts.error(f"{command} {name}")


def test_usual_names() -> None:
    named = datasets.usual_name
    assert named("archmage-duel", "caster", "optimal") == "wfb_gym/archmage-duel/caster-optimal-v0"
    assert named("a/b.toml", "caster", "runs/x.y/me.npz") == "wfb_gym/b/caster-me-v0"
    name = named("archmage-duel", "caster", "optimal:0.2")
    datasets.check_name(name)
    assert re.search(r"caster-\w+-[\d-]+-v0$", name)


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert record.main(["--battles", "20"]) == 0
    assert suite.main(["--scenario", "archmage-duel", "--battles", "3"]) == 0
    capsys.readouterr()
    names = run_blocks(page("data.md"))
    sizes, same, score, lost, arrays = capsys.readouterr().out.splitlines()
    assert sizes.startswith(f"{len(names['episode'])} (")
    assert same == "True"
    assert float(score) == pytest.approx(49, abs=1)
    assert lost == str(np.nanmax(names["values"], 1) - names["played"])
    assert np.nanmax(names["values"]) > 0
    held = names["decisions"]
    assert arrays == f"{held.observations.shape} {held.masks.shape} {held.actions.shape}"


def files_in(folder: Path) -> dict[Path, bytes]:
    return {each: each.read_bytes() for each in folder.rglob("*.hdf5")}


def test_a_data_set_that_cannot_be_written_leaves_the_old_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    line = "agents.record --quick --battles 8 --name wfb_gym/full-v0"
    create = minari.create_dataset_from_buffers

    def fill_the_disk(*arguments: Any, **options: Any) -> None:
        create(*arguments, **options)
        raise OSError(errno.ENOSPC, "No space left on device")

    for exists in (False, True):
        before = files_in(folder)
        with monkeypatch.context() as patch:
            patch.setattr(minari, "create_dataset_from_buffers", fill_the_disk)
            with pytest.raises(OSError, match="No space"):
                scripts.run(f"{line} --seed 99 --replace")
        assert files_in(folder) == before
        assert (folder / "wfb_gym" / "full-v0").exists() == exists
        scripts.run(f"{line} --replace")


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_recording_leaves_the_old_data_set(folder: Path, scripts: Scripts) -> None:
    line = "agents.record --quick --battles 8 --name wfb_gym/killed-v0"
    scripts.run(line)
    before = files_in(folder / "wfb_gym")
    code = (
        "import os, signal, sys, minari\n"
        "from agents import record\n"
        "create = minari.create_dataset_from_buffers\n"
        "def create_and_die(*arguments, **options):\n"
        "    create(*arguments, **options)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "minari.create_dataset_from_buffers = create_and_die\n"
        "record.main(sys.argv[2:])"
    )
    again = f"{line} --seed 99 --replace"
    assert run_python("-c", code, *again.split()).status == -signal.SIGKILL
    assert files_in(folder / "wfb_gym") == before
    scripts.run(again)
    assert not list(folder.rglob(".*"))
    kept = folder / "wfb_gym" / "killed-v0"
    kept.rename(kept.with_name(".killed-v0.former"))  # killed between the two renames
    assert datasets.read_dataset("wfb_gym/killed-v0").decisions.actions.size
