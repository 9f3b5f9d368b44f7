"""Batches on a device give the same results as on the CPU; the kernel runs on the CPU here."""

import copy
import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("torch", reason="needs PyTorch")
import torch

from experiments.device import batch_on_cpu, play_both
from tests.support.pages import page, run_blocks
from wfb_gym.device.batch import DeviceBatch
from wfb_gym.device.building import ptx_of
from wfb_gym.device.lowering import KernelError
from wfb_gym.envs.kernel import Autoreset

CASTER = "wfb_gym/Caster-v0"
CASES: dict[str, dict[str, Any]] = {
    "duel": {},
    "both seats": {"seat": 1, "opponent": ["random", "greedy"], "mode": Autoreset.NEXT_STEP},
    "hidden items": {"scenario": "hidden-duel", "history": True},
    "largest battle": {"scenario": "the-winds-unbound", "mode": Autoreset.DISABLED},
    "raw features": {"scenario": "apprentice", "features": "raw"},
    "move tables": {"scenario": "apprentice", "opponent": "optimal", "seat": 1},
    "generated": {"scenario": "generated:train:20", "opponent": "greedy"},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_batch_equals_the_cpus(case: str) -> None:
    keys = CASES[case]
    found = play_both(DeviceBatch(120, **keys, device="cpu"), batch_on_cpu(120, **keys), 80)
    assert found.episodes > 120
    assert found.illegal > 0


@pytest.fixture(scope="module")
def envs() -> Any:
    return gym.make_vec(CASTER, num_envs=8, scenario="apprentice", device="cpu").unwrapped


@pytest.mark.slow
def test_the_vector_environment_equals_the_cpus(envs: Any) -> None:
    cpu = gym.make_vec(CASTER, num_envs=8, scenario="apprentice", final_infos=False)
    _, infos = envs.reset(seed=3)
    cpu.reset(seed=3)
    for _ in range(30):
        actions = infos["action_mask"].to(torch.uint8).argmax(1)
        *found, infos = envs.step(actions)
        *expected, others = cpu.step(actions.numpy())
        for tensor, array in zip(found, expected, strict=True):
            assert tensor.numpy().tobytes() == np.asarray(array).tobytes()
        for key in ("action_mask", "illegal_action"):
            assert np.array_equal(infos[key].numpy(), others[key])
    assert envs.observation_space == cpu.observation_space
    assert envs.metadata == cpu.metadata


@pytest.mark.slow
def test_states_move_between_the_device_and_the_cpu(envs: Any) -> None:
    cpu: Any = gym.make_vec(CASTER, num_envs=8, scenario="apprentice").unwrapped
    envs.reset(seed=1)
    actions = envs.action_masks().to(torch.uint8).argmax(1)
    envs.step(actions)
    state = envs.get_state()
    observations, _ = cpu.set_state(state)
    assert cpu.get_state() == state
    expected = cpu.step(cpu.action_masks().argmax(1))[0]
    there, infos = envs.set_state(state)
    assert np.array_equal(there.numpy(), observations)
    found = envs.step(infos["action_mask"].to(torch.uint8).argmax(1))[0]
    assert np.array_equal(found.numpy(), expected)


@pytest.mark.slow
def test_an_action_outside_the_space_is_reported_once(envs: Any) -> None:
    envs.reset(seed=1)
    before = envs.get_state()
    actions = torch.zeros(8, dtype=torch.int64)
    actions[5] = envs.single_action_space.n
    _, rewards, terminations, _, infos = envs.step(actions)
    assert (rewards[5], terminations[5], infos["illegal_action"][5]) == (0.0, False, True)
    envs.step(torch.zeros(8, dtype=torch.int64))  # the error is not forgotten
    with pytest.raises(ValueError, match=r"environment 5: expected 0\.\."):
        envs.check()
    envs.set_state(before)
    envs.step(actions)
    with pytest.raises(ValueError, match="environment 5"):
        envs.get_state()
    after = envs.get_state()
    size = len(before["envs"]) // 8
    assert after["envs"][5 * size : 6 * size] == before["envs"][5 * size : 6 * size]
    for wrong, found in (
        (actions[:7], r"found torch\.int64 of shape \(7,\)"),
        (actions.bool(), r"found torch\.bool of shape \(8,\)"),
        (actions.numpy(), "expected a tensor, found ndarray"),
    ):
        with pytest.raises(ValueError, match=found):
            envs.step(wrong)


@pytest.mark.slow
def test_batches_are_not_copied(envs: Any) -> None:
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="use get_state and set_state"):
            copied(envs)


@pytest.mark.slow
def test_a_damaged_cache_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, envs: Any
) -> None:
    monkeypatch.setattr("wfb_gym.device.building.CACHE_FOLDER", tmp_path)
    arguments = envs.batch.arguments
    ptx = ptx_of(arguments, "sm_90")
    (file,) = (tmp_path / "device").glob("*.ptx")
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole.replace(b"add", b"sub")):
        file.write_bytes(damaged)
        assert ptx_of(arguments, "sm_90") == ptx
        assert file.read_bytes() == whole


@pytest.mark.slow
def test_a_reset_may_be_partial() -> None:
    disabled: Any = gym.make_vec(
        CASTER, num_envs=4, scenario="apprentice", device="cpu", autoreset_mode="Disabled"
    ).unwrapped
    with pytest.raises(gym.error.ResetNeeded):
        disabled.step(torch.zeros(4, dtype=torch.int64))
    disabled.reset(seed=2)
    disabled.step(disabled.action_masks().to(torch.uint8).argmax(1))
    before = disabled.get_state()["envs"]
    disabled.reset(options={"reset_mask": torch.tensor([False, True, False, False])})
    after, size = disabled.get_state()["envs"], len(before) // 4
    same = [before[k : k + size] == after[k : k + size] for k in range(0, len(before), size)]
    assert same == [True, False, True, True]


@pytest.mark.slow
def test_the_documented_loop_runs() -> None:
    code = page("gpu.md").replace('device="cuda"', 'device="cpu"')
    assert run_blocks(code)["rewards"].shape == (4096,)


@pytest.mark.parametrize(("keys", "expected"), [
    ({"device": "tpu"}, 'device: expected "cuda", "cuda:0" and so on or "cpu"'),
    ({"device": "cpu", "strict": True}, "strict: expected no value with device="),
    ({"device": "cpu", "opponent": "expectimax:1"}, "opponent: expected scripted players"),
    ({"device": "cpu", "opponent": "nobody"}, "opponent: "),
])  # fmt: skip
def test_arguments_without_a_device_are_rejected(keys: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        gym.make_vec(CASTER, num_envs=2, **keys)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_machine_without_a_gpu_gets_one_clear_error() -> None:
    with pytest.raises(KernelError, match="device: expected a GPU that PyTorch can use for 'cuda'"):
        gym.make_vec(CASTER, num_envs=2, device="cuda")
