"""TorchRL over the Gymnasium ids and over the PettingZoo environments, masks included."""

import gymnasium as gym
import pytest
import torch

import wfb_gym  # noqa: F401 (registers the ids)
from tests.support.playing import registered

pytest.importorskip("torchrl")
pytest.importorskip("pettingzoo")

from torchrl import envs
from torchrl.data import Binary, Composite
from torchrl.envs import GymEnv, check_env_specs
from torchrl.envs.gym_like import default_info_dict_reader

from wfb_gym.interop import pettingzoo

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")


@pytest.mark.parametrize("name", registered())
def test_an_id_keeps_its_specs_and_rolls_out(name: str) -> None:
    env = GymEnv(name)
    check_env_specs(env)
    env.set_seed(0)
    steps = env.rollout(60, break_when_any_done=False)
    assert steps["observation"].shape == (60, *env.observation_spec["observation"].shape)
    assert steps["next", "terminated"].any()
    assert not steps["next", "truncated"].any()


@pytest.mark.parametrize(
    ("name", "mode"), [("wfb_gym/Caster-v0", "SameStep"), ("wfb_gym/Battle-v0", "Disabled")]
)
def test_the_native_vector_environment_rolls_out(name: str, mode: str) -> None:
    env = envs.GymWrapper(gym.make_vec(name, 3, autoreset_mode=mode, opponent="random"))
    check_env_specs(env)
    env.set_seed(0)
    steps = env.rollout(60, break_when_any_done=False)
    assert steps["observation"].shape == (3, 60, *env.observation_spec["observation"].shape[1:])
    assert not steps["next", "truncated"].any()
    ended = steps["next", "done"].squeeze(-1)[:, :-1]
    assert ended.any()
    # At the end of an episode the next observation is the last one, which is always the same.
    last, first = steps["next", "observation"][:, :-1][ended], steps["observation"][:, 1:][ended]
    assert (last == last[0]).all()
    assert (first != last).any()
    goes_on = steps["next", "observation"][:, :-1][~ended]
    assert torch.equal(goes_on, steps["observation"][:, 1:][~ended])


def test_masked_rollouts_are_legal() -> None:
    """TorchRL reads the masks from the infos, as on the page on interoperation."""
    strict = GymEnv("wfb_gym/Dispeller-v0", strict=True, categorical_action_encoding=True)
    mask = Binary(strict.action_spec.n, dtype=torch.int8)
    reader = default_info_dict_reader(["action_mask"], spec=Composite(action_mask=mask))
    strict.set_info_dict_reader(reader)
    cast = envs.DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    env = envs.TransformedEnv(strict, envs.Compose(cast, envs.ActionMask()))
    check_env_specs(env)
    for _ in range(5):  # it raises on an illegal action
        steps = env.rollout(200)
        chosen = steps["action_mask"].gather(-1, steps["action"].reshape(-1, 1))
        assert chosen.all()
        assert bool(steps["next", "done"][-1])


def test_turns_of_two_agents() -> None:
    env = envs.PettingZooWrapper(pettingzoo.raw_env(strict=True), use_mask=True, seed=1)
    first, second = env.possible_agents
    check_env_specs(env)
    won = set()
    for _ in range(10):
        steps = env.rollout(300)
        # One agent decides at each step, legally: otherwise the strict environment would raise.
        assert (steps[first, "mask"] ^ steps[second, "mask"]).all()
        assert steps["next", "done"][-1].all()
        rewards = [steps["next", agent, "reward"].sum().item() for agent in (first, second)]
        assert rewards[0] == pytest.approx(-rewards[1])
        won.add(round(rewards[0], 6))
    assert len(won) > 1


@pytest.mark.slow
def test_several_environments_in_one() -> None:
    name = f"wfb_gym:{registered()[0]}"  # each runs in a new process without registered ids
    size = gym.make(name).observation_space.shape
    env = GymEnv(name, num_envs=2)
    try:
        steps = env.rollout(5, break_when_any_done=False)
        assert steps["observation"].shape == (2, 5, *(size or ()))
    finally:
        env.close()
