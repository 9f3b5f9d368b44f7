"""PhaseVecEnv: the interface of Stable-Baselines3's VecEnv, and saved models as opponents."""

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sb3_contrib import QRDQN, MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor, VecNormalize

import wfb_gym  # noqa: F401 (registers the ids)
from tests.support.batches import COPIED, all_equal
from tests.support.pages import PACKAGE
from tests.support.playing import BATTLE, IDS
from wfb_gym import solver
from wfb_gym.encoding.limits import ArmyLimits
from wfb_gym.files import DamagedFileError
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.players.sb3_model import load_policy, policy_of_model


def chosen(masks: NDArray[np.bool_], step: int) -> NDArray[np.int64]:
    """Return a legal action for each row, different at each step."""
    legal = [np.flatnonzero(row) for row in masks]
    return np.array([row[step % len(row)] for row in legal], np.int64)


def play(envs: Any, steps: int) -> Iterator[tuple[Any, ...]]:
    """Play legal actions from a reset; yields masks and the results of each step."""
    envs.seed(0)
    envs.reset()
    for step in range(steps):
        masks = np.asarray(envs.env_method("action_masks"))
        yield masks, *envs.step(chosen(masks, step))


def tiny(kind: type[BaseAlgorithm], envs: Any, **options: Any) -> Any:
    return kind("MlpPolicy", envs, seed=0, device="cpu", **options)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """An untrained dispeller."""
    path = tmp_path / "dispeller.zip"
    tiny(MaskablePPO, PhaseVecEnv(4, "dispeller"), n_steps=8, batch_size=32).save(path)
    return path


DUELS = {"opponent": ["veteran", "random"]}
SKIRMISH = {"scenario": "border-skirmish", "opponent": "random"}


@pytest.mark.parametrize(
    ("seat", "name", "seats", "keys"),
    [("caster", IDS[0], {}, DUELS), ("dispeller", BATTLE, {"seat": 1}, SKIRMISH)],
)
def test_trajectories_equal_those_of_single_environments(
    seat: str, name: str, seats: dict[str, Any], keys: dict[str, Any]
) -> None:
    envs: Any = PhaseVecEnv(3, seat, **keys)
    assert envs.seed(40) == [40, 41, 42]
    singles: list[Any] = [gym.make(name, **seats, **keys).unwrapped for _ in range(3)]
    observations = envs.reset()
    expected = [env.reset(seed=40 + i)[0] for i, env in enumerate(singles)]
    np.testing.assert_array_equal(observations, expected)
    episodes = 0
    for step in range(60):
        masks = envs.action_masks()
        actions = chosen(masks, step)
        observations, rewards, dones, infos = envs.step(actions)
        assert rewards.dtype == np.float32
        for i, env in enumerate(singles):
            np.testing.assert_array_equal(masks[i], env.action_masks())
            seen, reward, terminated, _, _ = env.step(actions[i])
            assert (rewards[i], dones[i]) == (np.float32(reward), terminated)
            if terminated:
                episodes += 1
                np.testing.assert_array_equal(infos[i]["terminal_observation"], seen)
                assert infos[i]["TimeLimit.truncated"] is False
                seen, _ = env.reset()
            else:
                assert infos[i] == {}
            np.testing.assert_array_equal(observations[i], seen)
    assert episodes > 1


def test_a_seed_is_used_once_and_the_dice_continue() -> None:
    envs, other = PhaseVecEnv(64), PhaseVecEnv(64)
    for unseeded in (envs, other):
        unseeded.reset()
    assert len({*envs.batch.envs["rng"]["key"], *other.batch.envs["rng"]["key"]}) == 128
    envs.seed(1)
    envs.reset()
    keys = envs.batch.envs["rng"]["key"].copy()
    dice = envs.batch.envs["rng"]["dice"].copy()
    for step in range(4):
        envs.step(chosen(envs.action_masks(), step))
    envs.reset()
    np.testing.assert_array_equal(envs.batch.envs["rng"]["key"], keys)
    assert (envs.batch.envs["rng"]["dice"] > dice).any()


def test_results_of_a_step_do_not_change_later() -> None:
    envs: Any = PhaseVecEnv(64, opponent="random")
    kept: list[tuple[Any, Any]] = []
    for *arrays, infos in play(envs, 20):
        arrays += [info["terminal_observation"] for info in infos if info]
        kept += [(array, array.copy()) for array in arrays]
        assert len({id(info) for info in infos}) == 64
        assert len(envs.reset_infos) == 64
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)


def test_masks_have_the_interface_of_maskable_ppo() -> None:
    envs = PhaseVecEnv(5)
    envs.reset()
    assert is_masking_supported(envs)
    masks = get_action_masks(envs)
    assert masks.shape == (5, envs.action_space.n)  # type: ignore[attr-defined]
    assert masks.dtype == np.bool_
    assert masks.any(axis=1).all()
    np.testing.assert_array_equal(masks, envs.env_method("action_masks"))
    assert envs.env_method("action_masks", indices=[3, 1]).shape == (2, masks.shape[1])
    assert envs.env_method("action_masks", indices=2).shape == (1, masks.shape[1])
    masks[:] = False
    assert envs.action_masks().any(axis=1).all()


def test_an_illegal_action_is_replaced_and_reported() -> None:
    envs = PhaseVecEnv(4)
    envs.seed(0)
    envs.reset()
    masks = envs.action_masks()
    actions = masks.argmax(axis=1)
    actions[2] = masks[2].argmin()
    assert not masks[2, actions[2]]
    infos = envs.step(actions)[3]
    assert [info.get("illegal_action", False) for info in infos] == [False, False, True, False]


def test_attributes() -> None:
    envs = PhaseVecEnv(3)
    assert envs.get_attr("render_mode") == [None, None, None]
    assert envs.get_attr("limits", indices=1) == [envs.limits]
    assert not envs.has_attr("mood")
    envs.set_attr("mood", "grim", indices=[0, 2])
    assert envs.has_attr("mood")
    assert envs.get_attr("mood") == ["grim", None, "grim"]
    with pytest.raises(AttributeError, match="shared"):
        envs.set_attr("batch", None)
    with pytest.raises(AttributeError):
        envs.get_attr("nothing_of_the_kind")
    with pytest.raises(AttributeError, match="action_masks"):
        envs.env_method("dance")
    assert envs.env_is_wrapped(gym.Wrapper, indices=[0, 1]) == [False, False]
    envs.close()


def test_calls_with_wrong_arguments_or_before_a_reset_are_rejected() -> None:
    wrong: list[Any] = [2, "referee", None]
    for seat in wrong:
        with pytest.raises(ValueError, match="seat: expected"):
            PhaseVecEnv(1, seat)
    envs = PhaseVecEnv(2)
    for call in (lambda: envs.step(np.zeros(2, np.int64)), envs.action_masks):
        with pytest.raises(RuntimeError, match="reset"):
            call()
    envs.reset()
    with pytest.raises(RuntimeError, match="step_async"):
        envs.step_wait()
    for actions in (np.zeros(3, np.int64), np.zeros(2), np.array([0, 99]), np.array([-1, 0])):
        with pytest.raises(ValueError, match="expected"):
            envs.step(actions)


def test_wrappers_count_the_points_of_episodes_and_see_terminal_observations() -> None:
    checked = VecCheckNan(PhaseVecEnv(16, opponent="random", points_per_reward=1.0), True)
    envs: Any = VecNormalize(VecMonitor(checked), norm_reward=False)
    totals, episodes = np.zeros(16), 0
    for _, _, rewards, dones, infos in play(envs, 40):
        totals += rewards
        for i in np.flatnonzero(dones):
            episodes += 1
            assert infos[i]["episode"]["r"] == pytest.approx(totals[i], abs=1e-4)
            assert np.abs(infos[i]["terminal_observation"]).max() <= envs.clip_obs
            totals[i] = 0.0
    assert episodes > 16


class OwnNetwork(BaseFeaturesExtractor):
    """A network that is not in Stable-Baselines3."""

    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space, features_dim=8)
        self.layer = torch.nn.Linear(observation_space.shape[0], 8)

    def forward(self, observations: torch.Tensor) -> Any:
        return self.layer(observations).sin()


def test_a_saved_model_has_a_network_of_its_own(tmp_path: Path) -> None:
    path, envs = tmp_path / "model.zip", PhaseVecEnv(16, "dispeller")
    options = {"features_extractor_class": OwnNetwork}
    model = tiny(MaskablePPO, envs, n_steps=8, batch_size=32, policy_kwargs=options)
    model.save(path)
    observations, masks = envs.reset(), envs.action_masks()
    expected, _ = model.predict(observations, action_masks=masks, deterministic=True)
    agent = load_policy(path, deterministic=True)
    np.testing.assert_array_equal(agent.act(observations, masks), expected)


def test_models_without_masks_play_legally(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    tiny(A2C, PhaseVecEnv(8, "dispeller"), n_steps=8).save(path)
    # the batch rejects illegal actions of an opponent
    list(play(PhaseVecEnv(16, opponent=path), 10))


def test_a_saved_model_draws_with_its_own_probabilities(saved: Path) -> None:
    envs = PhaseVecEnv(16, "dispeller")
    envs.seed(0)
    observations, masks = envs.reset(), envs.action_masks()
    row = masks.sum(axis=1).argmax()  # many ways to dispel
    observations, masks = observations[[row]], masks[[row]]
    model: Any = MaskablePPO.load(saved, device="cpu")
    tensor, _ = model.policy.obs_to_tensor(observations)
    chances = model.policy.get_distribution(tensor, masks).distribution.probs.detach().numpy()[0]
    count = 8000
    many: Any = (np.repeat(each, count, 0) for each in (observations, masks))
    found = np.bincount(load_policy(saved, seed=0)(*many), minlength=len(chances)) / count
    assert masks.sum() > 1
    np.testing.assert_allclose(found, chances, atol=0.03)
    assert not found[~masks[0]].any()


@pytest.mark.parametrize("kind", [MaskablePPO, DQN])
def test_a_model_of_raw_features_ignores_expected_values(
    kind: type[BaseAlgorithm], tmp_path: Path
) -> None:
    full, bare = (PhaseVecEnv(64, "dispeller", features=each) for each in ("all", "raw"))
    for envs in (full, bare):
        envs.seed(0)
    seen, raw, masks = full.reset(), bare.reset(), full.action_masks()
    assert ((seen == raw) | (raw == 0.0)).all()
    assert (seen != raw).any(axis=1).all()
    model = tiny(kind, bare, batch_size=64, **({"n_steps": 8} if kind is MaskablePPO else {}))
    model.learn(1024)
    model.save(tmp_path / "model.zip")
    for player in (policy_of_model(model), load_policy(tmp_path / "model.zip")):
        chances = player.action_probabilities(seen, masks)
        np.testing.assert_array_equal(chances, player.action_probabilities(raw, masks))


def test_a_model_in_memory_has_the_grade_of_the_saved_one(tmp_path: Path) -> None:
    model = tiny(MaskablePPO, PhaseVecEnv(1, scenario="apprentice"), n_steps=8, batch_size=8)
    model.save(tmp_path / "model.zip")
    saved = solver.normalised_score("apprentice", tmp_path / "model.zip", 0)
    assert solver.normalised_score("apprentice", model, 0) == saved


def test_a_model_is_an_opponent(saved: Path) -> None:
    for model in (str(saved), MaskablePPO.load(saved, device="cpu")):
        envs = PhaseVecEnv(32, opponent=["veteran", model])
        assert sum(dones.sum() for *_, dones, _ in play(envs, 10)) > 16


def test_a_model_of_other_sizes_or_of_another_kind_is_rejected(saved: Path) -> None:
    model = MaskablePPO.load(saved, device="cpu")
    with pytest.raises(ValueError, match="MaskablePPO: expected observations of size"):
        list(play(PhaseVecEnv(64, "dispeller", opponent=model), 20))
    limits = replace(PhaseVecEnv(1).limits, own=ArmyLimits(1, 6, 0))
    with pytest.raises(ValueError, match=r"expected observations of size \d+ and \d+ actions"):
        list(play(PhaseVecEnv(64, opponent=saved, limits=limits), 20))
    other = tiny(QRDQN, PhaseVecEnv(1, "dispeller"), buffer_size=8)
    with pytest.raises(ValueError, match="QRDQN: expected a model of MaskablePPO"):
        PhaseVecEnv(1, opponent=other)
    other.save(saved)
    with pytest.raises(ValueError, match="expected a model of MaskablePPO"):
        load_policy(saved)


def test_other_and_damaged_files_are_rejected_with_one_error(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "nothing here")
    other = path.read_bytes()
    made = PPO("MlpPolicy", PhaseVecEnv(2), n_steps=2, batch_size=2)
    made.save(path)
    data, rng = path.read_bytes(), np.random.default_rng(1)
    damaged = [data[: int(rng.integers(len(data)))] for _ in range(5)]
    for content in (other, b"PK\x05\x06", *damaged):
        path.write_bytes(content)
        with pytest.raises(DamagedFileError, match=f"^{path}: expected a model saved by"):
            load_policy(path)
    with torch.no_grad():
        next(made.policy.parameters()).fill_(float("nan"))
    made.save(path)
    with pytest.raises(DamagedFileError, match="expected finite numbers"):
        load_policy(path)


def test_dqn_takes_the_legal_action_of_the_greatest_value(tmp_path: Path) -> None:
    path, envs = tmp_path / "dqn.zip", PhaseVecEnv(16, "dispeller")
    model = tiny(DQN, envs, buffer_size=8)
    model.save(path)
    player = load_policy(path)
    observations, masks = envs.reset(), envs.action_masks()
    with torch.no_grad():
        values = model.policy.q_net(torch.as_tensor(observations)).numpy()
    wanted = np.where(masks, values, -np.inf).argmax(1)
    np.testing.assert_array_equal(player.act(observations, masks), wanted)
    chances = player.action_probabilities(observations, masks)
    np.testing.assert_array_equal(chances, np.eye(masks.shape[1])[wanted])
    PhaseVecEnv(2, opponent=str(path)).reset()


@COPIED
def test_copies_keep_scenarios_and_models_whose_files_are_gone(
    tmp_path: Path, saved: Path, copied: Any
) -> None:
    path = tmp_path / "own.toml"
    path.write_text((PACKAGE / "data" / "scenarios" / "archmage-duel.toml").read_text())
    envs = PhaseVecEnv(4, scenario=path, opponent=["veteran", saved])
    path.unlink()
    saved.unlink()
    for left, right in zip(play(envs, 30), play(copied(envs), 30), strict=True):
        assert all_equal(left[:4], right[:4])
