"""Targets of solved scenarios, and the player that learns from them."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents import distil
from agents.checkpoints import CheckpointError, has_checkpoint, load_checkpoint
from agents.distillation import grading, targets
from agents.distillation.grading import grade_scenarios
from agents.distillation.student import LIMITS, Settings, StoredDecisions, Student
from agents.distillation.targets import TargetSource, load_targets
from experiments.common import FAILED, INTERRUPTED
from tests.support.pages import PACKAGE
from tests.support.scripts import Scripts, interrupt_call, results_in
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import KINDS, Generation
from wfb_gym.players.network import Entities, load_network
from wfb_gym.players.registry import make_agent

PHASE = Generation(points=500, phases=1, wizards=1, characters=1, units=3, spells=4, items=2)
DUEL = Generation(points=500, phases=1, duel=True)
QUICK = "--quick --scenarios 4 --steps 100"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> TargetSource:
    """Targets that the tests of this module share."""
    folder = tmp_path_factory.mktemp("targets")
    return TargetSource((PHASE, DUEL), folder, max_bytes=1 << 20, decisions=64)


def make_one(source: TargetSource, number: int) -> bool:
    """Make the targets of a scenario; returns whether there are any."""
    (has_any,) = targets.make_targets(source, [number])
    return has_any


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a quick run and its targets."""
    folder: Path = tmp_path_factory.mktemp("finished")
    assert distil.main(f"{QUICK} --graded 2 {places_in(folder)}".split()) == 0
    return folder


def places_in(folder: Path, out: str = "run") -> str:
    """Return the flags for the folders of a run and of its targets."""
    return f"--out {folder / out} --targets {folder / 'targets'}"


DAMAGES: list[tuple[Callable[[Any], object], str]] = [
    (lambda s: s["optimiser"]["state"][0].update(exp_avg=torch.zeros(1)), "expected torch.flo"),
    (lambda s: s["optimiser"]["state"].pop(), "optimiser.state: expected"),
    (lambda s: s["network"].popitem(), "network: expected"),
    (lambda s: next(iter(s["network"].values())).fill_(torch.nan), "expected finite numbers"),
    (lambda s: s.update(rng=None), "rng: expected"),
    (lambda s: s.update(counts=[0.0, -1]), "expected a finite number from 0, found -1"),
    (lambda s: s.update(counts=[0.0, "1"]), "expected int, found str"),
    (lambda s: s.update(curve={}), "curve: expected 0 entries, found dict"),
    (lambda s: s.update(recent=[None]), "recent.0.: expected a finite number"),
    (lambda s: s.pop("recent"), "recent"),
]


def target_set(source: TargetSource, scenarios: int = 4, seed: int = 0) -> targets.TargetSet:
    useful = filter(partial(make_one, source), range(scenarios))
    return targets.TargetSet(source, [*useful], LIMITS, seed)


def test_targets_are_the_solvers_values(source: TargetSource) -> None:
    asked = equal = 0
    for number in filter(partial(make_one, source), range(6)):
        solution = solver.solve(source.scenario(number))
        for seat in range(2):
            found = load_targets(source, number, seat)
            if found is None:
                continue
            assert len(found.states) <= 64 + 8
            ends = np.cumsum(found.counts)
            for row in range(0, len(found.states), 7):
                battle = Battle(solution.packed)
                battle._states[0] = found.states[row]
                results = found.values[ends[row] - found.counts[row] : ends[row]]
                exact = np.array(list(solution.action_values(battle).values()))
                assert battle.state.mover == seat
                assert results == pytest.approx(exact if seat == 0 else -exact, abs=1e-3)
                equal += np.ptp(results) == 0
                asked += 1
    assert asked > 30
    assert 0 < equal < asked / 4  # some positions without anything at stake


def test_a_scenario_that_is_too_large_has_no_targets(source: TargetSource, tmp_path: Path) -> None:
    large = replace(source, kinds=(Generation(phases=1),), folder=tmp_path)
    assert not any(make_one(large, seed) for seed in (306, 307))
    assert all(large.path(seed).is_file() for seed in (306, 307))


def test_samples_are_even_over_the_kinds() -> None:
    kinds = np.repeat([0, 3, 5], [1000, 7, 200])
    chosen = targets.sample_evenly(kinds, 100, np.random.default_rng(0))
    counts = np.bincount(kinds[chosen], minlength=6)
    assert counts.tolist() == [47, 0, 0, 7, 0, 46] or counts.tolist() == [46, 0, 0, 7, 0, 47]
    assert len(set(chosen.tolist())) == 100
    everything = targets.sample_evenly(kinds, 5000, np.random.default_rng(0))
    assert sorted(everything.tolist()) == list(range(1207))
    assert not len(targets.sample_evenly(kinds[:0], 5, np.random.default_rng(0)))


def test_visited_decisions_are_those_of_play(source: TargetSource) -> None:
    graph = targets.explore_positions(source.scenario(0), 1 << 20)
    start = graph.find(Battle(graph.packed).state)
    values, offsets = graph.action_values(), graph.offsets()
    rng = np.random.default_rng(0)
    played = [targets.visit_decisions(graph, values, start, rng) for _ in range(100)]
    plays = 100 * targets._PLAYS
    expected = np.zeros(graph.size)  # visits of a play, exactly
    expected[start] = 1.0
    for node in range(graph.size - 1, -1, -1):  # successors of a node have smaller numbers
        transitions, _ = graph.successors(graph.states(np.array([node])))
        legal = int(graph.counts[node])
        own = values[offsets[node] : offsets[node] + legal] * (1 if graph.kinds[node] == 0 else -1)
        for transition in transitions:
            reach = transition.probability
            if legal:
                best = own > own.max() - 1e-6
                reach *= 0.9 * best[transition.action] / best.sum() + 0.1 / legal
            if transition.node >= 0:
                expected[transition.node] += reach * expected[node]
    expected[graph.counts == 0] = 0.0
    found = np.bincount(np.concatenate(played), minlength=graph.size) / plays
    assert expected.max() >= 0.99
    assert found == pytest.approx(expected, abs=5 * 0.5 / plays**0.5)
    assert (found > 0).sum() > 20


def test_visited_decisions_are_stored_with_the_others(source: TargetSource, tmp_path: Path) -> None:
    more = replace(source, folder=tmp_path, visited=32)
    compared = 0
    for number in filter(partial(make_one, source), range(4)):
        assert make_one(more, number)
        for seat in range(2):
            few, many = load_targets(source, number, seat), load_targets(more, number, seat)
            assert (few is None) == (many is None)
            if few is None or many is None:
                continue
            assert 0 <= len(many.states) - len(few.states) <= 32
            ends = np.cumsum(many.counts)
            for row in range(len(few.states), len(many.states)):
                values = many.values[ends[row] - many.counts[row] : ends[row]]
                assert np.ptp(values) > 0  # something is at stake
                compared += 1
    assert compared > 50


def test_batches_have_observations_and_stakes(source: TargetSource) -> None:
    drawn = target_set(source)
    assert drawn.scenarios == sum(make_one(source, number) for number in range(4))
    chosen = drawn.draw(256)
    batch = drawn.show(chosen)
    assert batch.observations.shape == (256, drawn.views[0].layout.size)
    assert np.isfinite(batch.points).tolist() == batch.masks.tolist()
    for row in range(256):
        assert batch.stakes[row] == np.ptp(batch.points[row, batch.masks[row]])
    assert (batch.most >= batch.stakes).all()
    assert (batch.most > 0).all()
    assert set(batch.observations[:, drawn.views[0].layout.offsets[0].own_phase]) == {0.0, 1.0}
    for kept, shown in zip(StoredDecisions(drawn, "cpu").batch, batch, strict=True):
        assert np.array_equal(kept[torch.from_numpy(chosen)].numpy(), shown)


@pytest.mark.skipif(torch.cuda.is_available(), reason="asks for a machine without a GPU")
def test_a_missing_gpu_is_rejected_at_once(scripts: Scripts) -> None:
    error = scripts.error("agents.distil --quick --device cuda")
    assert "--device: expected cpu, or a GPU that PyTorch can use" in error


def test_a_run_resumes_on_another_device(source: TargetSource, tmp_path: Path) -> None:
    settings = Settings(width=16, batch_size=64, steps=40, out=tmp_path)
    first, second = (Student(settings, target_set(source, seed=seed)) for seed in (0, 1))
    first.update()
    first.optimiser.param_groups[0]["capturable"] = True  # as a GPU has left it
    first.save()
    second.set_state(load_checkpoint(tmp_path))
    first.optimiser.param_groups[0]["capturable"] = False
    for student in (first, second):
        student.update()
    for one, other in zip(first.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_checkpoints_with_other_contents_are_rejected(source: TargetSource, tmp_path: Path) -> None:
    student = Student(Settings(width=16, batch_size=64, steps=40, out=tmp_path), target_set(source))
    student.update()
    student.save()
    for damage, message in DAMAGES:
        state = load_checkpoint(tmp_path)
        damage(state)
        with pytest.raises(CheckpointError, match=rf"expected the state of this run, .*{message}"):
            student.set_state(state)
    student.set_state(load_checkpoint(tmp_path))


def test_logits_are_regularized_towards_0(source: TargetSource) -> None:
    student = Student(Settings(width=16, learning_rate=1e-2), target_set(source))
    body = student.network.body
    assert isinstance(body, Entities)
    bias = body.to_dice.out.bias
    bias.data += 50.0  # softmax does not see it where only dice are chosen
    batch = student.targets.show(student.targets.draw(256))
    first, count = body.ranges["dice"]
    only_dice = batch.masks[:, first : first + count].sum(1) == batch.masks.sum(1)
    assert only_dice.sum() > 10
    student.learn_from(*(torch.from_numpy(each[only_dice]) for each in batch))
    assert bias.item() == pytest.approx(50.0 - 1e-2, abs=1e-3)


@pytest.mark.slow
def test_a_network_learns_more_scenarios(finished: Path, tmp_path: Path, scripts: Scripts) -> None:
    first, second = finished / "run", tmp_path / "second"
    shutil.copytree(finished / "targets", tmp_path / "targets")
    shared = f"agents.distil --quick --targets {tmp_path / 'targets'}"
    changed = "--first 4 --scenarios 2 --graded 1 --steps 1 --learning-rate 1e-9"
    line = f"{shared} --out {second} --start-from {first / 'policy.npz'} {changed}"
    after = scripts.document(line)
    numbers = sorted(int(path.stem[6:]) for path in (tmp_path / "targets").glob("train-*"))
    assert numbers == [*range(6)]
    networks = [load_network(folder / "policy.npz") for folder in (first, second)]
    (old, old_about), (new, new_about) = networks
    for one, other in zip(old.parameters(), new.parameters(), strict=True):
        assert torch.allclose(one, other, atol=2e-3)
    assert new_about["command"].startswith(old_about["command"] + " && ")
    assert new_about["decisions"] == old_about["decisions"] + after["learned_from"]
    flat = PACKAGE / "players" / "policies" / "archmage-duel" / "caster.npz"
    error = scripts.error(f"agents.distil --quick --start-from {flat}")
    assert f"--start-from: {flat}: expected a" in error
    assert "network of agents.distil" in error


@pytest.mark.skipif(not torch.cuda.is_available(), reason="asks for a GPU")
def test_a_gpu_learns_as_a_processor_does(source: TargetSource) -> None:
    curves = []
    for device in ("cpu", "cuda"):
        settings = Settings(width=16, batch_size=64, steps=200, device=device)
        student = Student(settings, target_set(source))
        for _ in range(settings.steps):
            student.update()
        curves.append(student.curve[-1]["regret"])
    assert curves[1] == pytest.approx(curves[0], rel=0.2)


def test_a_run_writes_a_player_with_the_reported_score(finished: Path) -> None:
    results = results_in(finished / "run")
    assert results["learned_from"] > 0
    assert len({one["number"] for one in results["grades"]}) == 2
    assert (finished / "run" / "scores.png").stat().st_size > 5000
    agent = make_agent(finished / "run" / "policy.npz")
    kinds = tuple(KINDS.values())
    test = TargetSource(kinds, finished / "targets", split="test", max_bytes=1 << 20)
    for one in results["grades"]:
        exact = solver.normalised_score(test.scenario(one["number"]), agent, one["seat"])
        assert exact.score == pytest.approx(one["score"], abs=1e-6)
        assert exact.guaranteed == pytest.approx(one["guaranteed"], abs=1e-6)


def test_stored_grades_are_not_computed_again(
    source: TargetSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = replace(source, split="test")
    agent, path = make_agent("greedy"), tmp_path / "grades.jsonl"
    first, seen = list(grade_scenarios(test, agent, 3, path))[-1]
    assert len({one.number for one in first}) == 3
    asked = interrupt_call(monkeypatch, grading, "grade_network", 0)
    second = list(grade_scenarios(test, agent, 4, path))[-1]
    assert second[0][: len(first)] == first
    assert [number for _, number in asked] == list(range(seen, second[1]))
    assert all(one.score <= 100 + 1e-6 for one in second[0])
    path.write_text(path.read_text()[:-20])
    asked.clear()
    assert list(grade_scenarios(test, agent, 4, path))[-1] == second
    assert len(asked) == second[1]  # a damaged file is written again


def test_targets_are_made_once_and_rejected_if_damaged(
    source: TargetSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(source, folder=tmp_path)
    useful = make_one(own, 1)
    monkeypatch.setattr(targets, "_solve_targets", None)  # computing them again fails
    assert make_one(own, 1) == useful
    path = own.path(1)
    assert [each.name for each in tmp_path.iterdir()] == [path.name] == ["train-1.npz"]
    path.write_bytes(path.read_bytes()[:-30])
    for load in (lambda: load_targets(own, 1, 0), lambda: make_one(own, 1)):
        with pytest.raises(targets.TargetError, match="delete the file to make them again"):
            load()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="asks Linux for processes")
def test_a_killed_worker_ends_the_run_in_one_line(tmp_path: Path) -> None:
    line = f"agents.distil --quick --workers 2 --scenarios 400 {places_in(tmp_path)}"
    with subprocess.Popen(
        [sys.executable, "-m", *line.split()], stderr=subprocess.PIPE, text=True
    ) as process:
        while not any((tmp_path / "targets").glob("train-*.npz")):
            assert process.poll() is None
            time.sleep(0.01)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
        first, _ = (int(child) for child, words in commands.items() if b"spawn_main" in words)
        os.kill(first, signal.SIGKILL)
        _, errors = process.communicate(timeout=120)  # once all workers have ended
    assert process.returncode == FAILED, errors
    assert "Traceback" not in errors
    expected = r"python -m agents\.distil: targets of scenario \d+: a worker process has failed"
    assert re.fullmatch(expected, errors.splitlines()[-1])
    source = TargetSource(tuple(KINDS.values()), tmp_path / "targets")
    for path in (tmp_path / "targets").glob("train-*"):
        load_targets(source, int(path.stem.partition("-")[2]), 0)  # raises if it is damaged


def test_a_run_resumes_with_its_own_settings_only(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    shutil.copytree(finished / "targets", tmp_path / "targets")
    line = f"agents.distil {QUICK} --steps 10 --graded 1 {places_in(tmp_path)}"
    interrupt_call(monkeypatch, distil, "grade_test_split")
    said = scripts.run(line, INTERRUPTED)
    assert said.err.endswith(f"--resume continues from {tmp_path / 'run'}\n")
    assert "holds an unfinished run; --resume continues" in scripts.error(line)
    expected = "python -m agents.distil: --seed: expected 0 as before, found 3\n"
    assert scripts.error(f"{line} --resume --seed 3") == expected
    other = f"agents.distil --quick {places_in(tmp_path, 'other')} --train-bytes 500"
    assert f"--train-bytes: expected {1 << 20} as before, found 500\n" in scripts.error(other)
    scripts.run(f"{line} --resume")
    assert not has_checkpoint(tmp_path / "run")
    assert "holds a run of other settings (--seed 0)" in scripts.error(f"{line} --seed 3")


@pytest.mark.slow
def test_a_resumed_run_learns_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    line = "agents.distil --quick --steps 250 --checkpoint-seconds 1e-9"
    scripts.run(f"{line} {places_in(tmp_path, 'whole')}")
    broken = f"{line} {places_in(tmp_path, 'broken')}"
    with monkeypatch.context() as patch:
        interrupt_call(patch, Student, "update", 131)
        scripts.run(broken, INTERRUPTED)
    scripts.run(f"{broken} --resume")
    policies = [tmp_path / out / "policy.npz" for out in ("whole", "broken")]
    assert policies[0].read_bytes() == policies[1].read_bytes()
    whole, resumed = (results_in(path.parent) for path in policies)
    assert [point["steps"] for point in whole["curve"]] == [200, 250]
    for name in ("curve", "grades", "learned_from"):
        assert whole[name] == resumed[name]
