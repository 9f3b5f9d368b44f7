"""PPO on a device: advantages, updates, exact resuming, saved networks, the command.

Without a kernel, the CPU's environments take the place of a `DeviceBatch`; slow tests show that
both give the same networks.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch

from agents import ppo_device
from agents.checkpoints import CheckpointError, load_checkpoint, save_checkpoint
from agents.ppo_device import DeviceRollout, DeviceTrainer, Settings, generalised_advantages
from agents.train_fast import TRAINING_SEED, Rollout, compute_advantages
from experiments.common import FAILED, INTERRUPTED
from tests.agents.small_training import after_updates, ctrl_c
from tests.support.scripts import Scripts, results_in, without_times
from wfb_gym import solver
from wfb_gym.players.network import load_network
from wfb_gym.players.registry import make_agent

SMALL = (
    "agents.ppo_device --device cpu --environment cpu --scenario apprentice --num-envs 64"
    " --rollout 8 --width 16 --batch-size 256"
)
OPPONENTS = ("optimal:0.1",)


def small_settings(out: Path, **changes: Any) -> Settings:
    """Return settings of a run of few environments and a small network, on the CPU."""
    small = {
        "scenario": ("apprentice",), "num_envs": 64, "rollout": 8, "width": 16, "batch_size": 256,
        "device": "cpu", "environment": "cpu",
    }  # fmt: skip
    return Settings(**{**small, "out": out, **changes})


@pytest.fixture(scope="module", autouse=True)
def _one_kernel() -> Iterator[None]:
    """Make environments with the same arguments once, since compiling a kernel takes long."""
    make = ppo_device.make_environments

    @cache
    def known(*arguments: Any) -> Any:
        scenario, num_envs, seat, environment, opponents = arguments
        sizes: Any = {"scenario": scenario, "num_envs": num_envs, "seat": seat}
        return make(small_settings(Path(), environment=environment, **sizes), opponents)

    def make_once(settings: Settings, opponents: list[str]) -> Any:
        sizes = settings.scenario, settings.num_envs, settings.seat, settings.environment
        return known(*sizes, tuple(opponents))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ppo_device, "make_environments", make_once)
        yield


def weights_of(network: torch.nn.Module) -> torch.Tensor:
    return torch.cat([each.detach().flatten().clone() for each in network.parameters()])


def saved_weights(folder: Path, seat: str = "caster") -> torch.Tensor:
    return weights_of(load_network(folder / f"{seat}.npz")[0])


@pytest.mark.parametrize(("gae_lambda", "gamma"), [(0.95, 1.0), (0.5, 0.9), (0.0, 1.0)])
def test_advantages_are_the_same_as_on_the_cpu(gae_lambda: float, gamma: float) -> None:
    rng = np.random.default_rng(0)
    steps, count = 12, 9
    values = rng.normal(size=(steps + 1, count)).astype(np.float32)
    rewards = rng.normal(size=(steps, count)).astype(np.float32)
    ended = rng.random((steps, count)) < 0.3
    own = np.ones((steps + 1, count), np.bool_)
    wanted = compute_advantages(Rollout(values, rewards, ended, own, ([], [])), gae_lambda, gamma)
    columns = [torch.from_numpy(each) for each in (values, rewards, ended)]
    rollout = DeviceRollout(*[torch.zeros(0)] * 4, *columns)  # the first four are not read
    found = generalised_advantages(rollout, gae_lambda, gamma)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-5)


def test_an_update_makes_good_actions_more_likely(tmp_path: Path) -> None:
    bonus = {"entropy_coefficient": 0.0, "final_entropy_coefficient": 0.0}
    settings = small_settings(tmp_path, steps=10**6, **bonus)
    trainer = DeviceTrainer(settings, OPPONENTS)
    trainer.update()
    rollout = trainer.rollout
    masks, actions = rollout.masks.flatten(0, 1), rollout.actions.flatten()
    with torch.no_grad():
        log_probs, _ = trainer.network(rollout.observations.flatten(0, 1), masks)
    gains = log_probs.gather(1, actions[:, None])[:, 0] - rollout.log_probs.flatten()
    advantages = generalised_advantages(rollout, settings.gae_lambda, settings.gamma).flatten()
    assert (gains * advantages).sum() > 0.0
    assert (trainer.frames, trainer.learned) == (512, int((masks.sum(1) > 1).sum()))


@pytest.mark.parametrize(
    ("scenario", "opponent"),
    [("apprentice", "optimal:0.1"), ("generated-duel-500:train:8", "veteran")],
)
def test_a_rollout_contains_the_played_steps(scenario: str, opponent: str, tmp_path: Path) -> None:
    trainer = DeviceTrainer(small_settings(tmp_path, scenario=(scenario,)), [opponent])
    first = trainer.now.observations.clone()
    trainer._collect()
    rollout = trainer.rollout
    assert torch.equal(rollout.observations[0], first)
    assert rollout.masks.gather(2, rollout.actions[..., None]).all()  # only legal actions
    assert rollout.ended.any()
    envs = ppo_device.make_environments(trainer.settings, [opponent])
    now = envs.reset(list(range(TRAINING_SEED, TRAINING_SEED + 64)))
    for step, actions in enumerate(rollout.actions):
        assert torch.equal(now.observations, rollout.observations[step])
        assert torch.equal(now.action_mask, rollout.masks[step])
        unit = trainer.network.greatest_spell_value(now.observations)
        now = envs.step(actions)
        assert torch.equal((now.rewards / unit).float(), rollout.rewards[step])
        assert torch.equal(now.terminations, rollout.ended[step])


def test_a_graph_plays_the_same_rollouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replacement for CUDA's graphs, which record calls and play them later."""
    settings = small_settings(tmp_path)
    trainers = [DeviceTrainer(settings, OPPONENTS)]
    for _ in range(4):
        trainers[0].update()
    trainers.append(DeviceTrainer(settings, OPPONENTS))
    graphed = trainers[1]
    collect, recorded, replayed = graphed._collect, [], []

    class Graph:
        def replay(self) -> None:
            replayed.append(self)
            collect()

    @contextmanager
    def record(graph: Graph) -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(graphed, "_collect", lambda: recorded.append(graph))
            yield

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", record)
    monkeypatch.setattr(torch.cuda, "Stream", MagicMock())
    monkeypatch.setattr(torch.cuda, "current_stream", MagicMock())
    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    monkeypatch.setattr(graphed, "_uses_graph", True)
    for _ in range(4):
        graphed.update()
    assert len(recorded) == 1
    assert replayed == recorded * 3  # the first rollout is a warm-up without a graph
    assert torch.equal(*(weights_of(each.network) for each in trainers))


def test_a_run_writes_a_player_with_the_reported_score(tmp_path: Path, scripts: Scripts) -> None:
    report = tmp_path / "report.json"
    line = f"{SMALL} --steps 16384 --evaluations 4 --out {tmp_path} --report {report}"
    results = scripts.document(line)
    assert results == results_in(tmp_path)
    agent = make_agent(tmp_path / "caster.npz", seat="caster")
    exact = solver.normalised_score("apprentice", agent, "caster")
    assert exact.score == pytest.approx(results["scores"]["caster"])
    assert results["curve"][0]["scores"]["caster"] + 10.0 < exact.score
    assert (tmp_path / "curve.png").stat().st_size > 5000
    assert {path.name for path in tmp_path.glob("*.npz")} == {"caster.npz"}
    measured = json.loads(report.read_text(encoding="utf-8"))
    assert measured["frames"] == 16384
    assert set(measured["steps_per_second"]) == {"playing", "learning", "total"}
    assert measured["opponents"] == ["optimal:0.1"]


def test_an_interrupted_run_gives_the_same_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    line = f"{SMALL} --seat dispeller --steps 4096 --evaluations 3 --out"
    whole = scripts.document(f"{line} {tmp_path / 'whole'}")
    for frames in (512, 2560):
        with monkeypatch.context() as patch:
            after_updates(patch, ctrl_c, frames, DeviceTrainer)
            flag = "--resume" if frames > 512 else ""
            error = scripts.run(f"{line} {tmp_path / 'parts'} {flag}", INTERRUPTED).err
            assert "--resume continues" in error
    resumed = scripts.document(f"{line} {tmp_path / 'parts'} --resume")
    assert without_times({**resumed, "args": None}) == without_times({**whole, "args": None})
    one, other = (saved_weights(tmp_path / each, "dispeller") for each in ("whole", "parts"))
    assert torch.equal(one, other)
    assert "holds a run of other settings" in scripts.error(f"{line} {tmp_path / 'parts'} --seed 1")


@pytest.mark.parametrize("part", ["network", "optimiser", "environments", "rng", "counts"])
def test_a_damaged_checkpoint_changes_nothing(part: str, tmp_path: Path) -> None:
    trainer = DeviceTrainer(small_settings(tmp_path), OPPONENTS)
    trainer.update()
    trainer.save()
    trainer.update()  # the weights differ from the checkpoint's
    state = load_checkpoint(tmp_path)
    before = weights_of(trainer.network)
    state["trainer"][part] = {} if part != "counts" else [1.0, 1.0, float("nan")]
    save_checkpoint(tmp_path, state)
    with pytest.raises(CheckpointError, match="expected the state of this run"):
        trainer.restore(load_checkpoint(tmp_path))
    assert torch.equal(weights_of(trainer.network), before)


def test_a_run_ends_at_the_score_of_until(tmp_path: Path, scripts: Scripts) -> None:
    line = f"{SMALL} --steps 65536 --evaluations 128 --until 20 --out {tmp_path}"
    printed = scripts.run(line).out
    results = results_in(tmp_path)
    *before, last = [point["scores"]["caster"] for point in results["curve"]]
    assert max(before) < 20 <= last
    assert results["reached"]
    assert results["frames"] < 65536
    assert "score 20: reached after" in printed


def test_a_diverged_training_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    def break_network(trainer: DeviceTrainer) -> None:
        next(trainer.network.parameters()).data.fill_(1e38)

    after_updates(monkeypatch, break_network, owner=DeviceTrainer)
    error = scripts.run(f"{SMALL} --steps 4096 --out {tmp_path}", FAILED).err
    assert "agents.ppo_device: network of the caster: expected finite outputs" in error


def test_one_policy_learns_two_scenarios(tmp_path: Path, scripts: Scripts) -> None:
    line = f"{SMALL} --scenario orc-shaman-hunt --steps 1024 --evaluations 1 --out {tmp_path}"
    median = scripts.document(line)["scores"]["caster"]
    agent = make_agent(tmp_path / "caster.npz")
    names = ("apprentice", "orc-shaman-hunt")
    scores = [solver.normalised_score(name, agent, "caster").score or 0.0 for name in names]
    assert median == pytest.approx(np.mean(scores))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_reported_in_one_line(tmp_path: Path, scripts: Scripts) -> None:
    error = scripts.error(f"agents.ppo_device --out {tmp_path}")
    assert "--device: expected a GPU that PyTorch can use, found none; --device cpu runs" in error


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "--scenario orc-shaman-hunt"])
def test_both_environments_give_the_same_network(
    more: str, tmp_path: Path, scripts: Scripts
) -> None:
    line = f"{SMALL} {more} --steps 2048 --evaluations 1 --out {tmp_path}"
    scripts.run(f"{line}/cpu")
    scripts.run(f"{line}/device --environment device")
    assert torch.equal(saved_weights(tmp_path / "cpu"), saved_weights(tmp_path / "device"))


@pytest.mark.slow
def test_a_resumed_run_on_a_device_continues_exactly(tmp_path: Path) -> None:
    settings = small_settings(tmp_path, environment="device", steps=4096)
    networks = []
    for stop in (0, 2):
        trainer = DeviceTrainer(settings, OPPONENTS)
        for update in range(4):
            if update == stop > 0:
                trainer.save()
                trainer = DeviceTrainer(settings, OPPONENTS)
                trainer.restore(load_checkpoint(tmp_path))
            trainer.update()
        networks.append(weights_of(trainer.network))
    assert torch.equal(*networks)


@pytest.mark.slow
def test_generated_scenarios(tmp_path: Path, scripts: Scripts) -> None:
    sizes = "--scenario generated-duel-500:train:8 --shape entities --steps 1024 --evaluations 1"
    small = SMALL.replace("--scenario apprentice ", "")
    results = scripts.document(f"{small} {sizes} --out {tmp_path}")
    assert set(results["points"]["caster"]) == {"random", "greedy", "veteran"}
    agent: Any = make_agent(tmp_path / "caster.npz")
    assert agent.sees_positions
