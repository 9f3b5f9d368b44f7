"""The PTX of a step gives the same results as the CPU path, byte by byte."""

import os
import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import pytest
import torch

from experiments.device import batch_on_cpu, play_both
from tests.device.ptx_to_c import TranslatedKernel
from wfb_gym.device.batch import DeviceBatch
from wfb_gym.device.building import ptx_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
    pytest.mark.skipif(
        os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled"
    ),
    pytest.mark.skipif(llvm.llvm_version_info < (20, 0, 0), reason="needs numba>=0.62"),
]


class Case(NamedTuple):
    scenario: str
    num_envs: int
    steps: int
    episodes: int  # at least this many end


CASES = (Case("archmage-duel", 256, 60, 4000), Case("the-winds-unbound", 64, 250, 50))


class Translated(NamedTuple):
    """A batch that runs the PTX on the CPU."""

    case: Case
    kernel: TranslatedKernel
    batch: DeviceBatch


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.scenario)
def translated(request: pytest.FixtureRequest) -> Iterator[Translated]:
    kernels: list[TranslatedKernel] = []

    def kernel_of(arguments: Any) -> TranslatedKernel:
        kernels.append(TranslatedKernel(ptx_of(arguments, "sm_90")))
        return kernels[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wfb_gym.device.batch.emulated", kernel_of)
        batch = DeviceBatch(request.param.num_envs, request.param.scenario, device="cpu")
        assert batch.kernel is kernels[0]
        yield Translated(request.param, kernels[0], batch)


def test_steps_equal_the_cpu_and_every_access_is_aligned(translated: Translated) -> None:
    """An access that is not aligned would end the process."""
    case, _, device = translated
    cpu = batch_on_cpu(case.num_envs, scenario=case.scenario)
    found = play_both(device, cpu, case.steps)
    assert found.episodes > case.episodes
    assert found.illegal > 0


def test_an_action_outside_the_action_space_changes_nothing(translated: Translated) -> None:
    _, kernel, device = translated
    mask = device.reset(range(device.num_envs)).action_mask
    actions = (mask * torch.arange(mask.shape[1])).argmax(1)  # 0 could start the same episode again
    for outside in (-1, device.host.codec.n):
        actions[5] = outside
        before = device._words.clone()
        device.step(actions)
        changed = (device._words != before).any(0)
        assert changed.any()
        assert not changed[5]
        assert kernel.failure() == -1 - 5
    device.step(actions)
    with pytest.raises(ValueError, match="action of environment 5: expected 0"):
        device.check()
