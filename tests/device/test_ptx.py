"""The PTX of a step gives the same results as the CPU path, byte by byte."""

import os
import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tests.device.ptx_to_c import TranslatedKernel
from wfb_gym.device.batch import DeviceBatch, DeviceStep
from wfb_gym.device.building import ptx_of
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset, BatchStep

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


def draw_actions(masks: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw legal actions, and for every 17th environment any action."""
    actions: NDArray[np.int64] = (rng.random(masks.shape) * masks).argmax(1)
    actions[::17] = rng.integers(masks.shape[1], size=len(actions[::17]))
    return actions


def differences(cpu: Batch, expected: BatchStep, device: DeviceBatch, out: DeviceStep) -> list[str]:
    """Return the names of the results that differ in any byte."""
    ended = expected.terminations
    pairs: dict[str, tuple[Any, Any]] = {
        "environments": (cpu.envs, device.host.envs),
        "observations": (expected.observations, out.observations),
        "masks": (cpu.action_mask, out.action_mask),
        "rewards": (expected.rewards, out.rewards),
        "terminations": (ended, out.terminations),
        "illegal": (expected.illegal, out.illegal),
        "final": (expected.final[ended], out.final[torch.from_numpy(ended)]),
    }
    return [
        name
        for name, pair in pairs.items()
        if np.asarray(pair[0]).tobytes() != np.asarray(pair[1]).tobytes()
    ]


def test_steps_equal_the_cpu_and_every_access_is_aligned(translated: Translated) -> None:
    """An access that is not aligned would end the process."""
    case, _, device = translated
    cpu = Batch(
        case.num_envs, case.scenario, 0, "veteran", None, Autoreset.SAME_STEP, 100.0,
        history=False, features="all",
    )  # fmt: skip
    cpu.reset(np.ones(case.num_envs, np.bool_), range(case.num_envs))
    device.reset(range(case.num_envs))
    rng, ended, illegal = np.random.default_rng(1), 0, 0
    for step in range(case.steps):
        actions = draw_actions(cpu.action_mask, rng)
        expected, out = cpu.step(actions), device.step(torch.from_numpy(actions))
        device.download()
        assert differences(cpu, expected, device, out) == [], f"step {step}"
        ended += int(expected.terminations.sum())
        illegal += int(expected.illegal.sum())
    assert ended > case.episodes
    assert illegal > 0


def test_an_action_outside_the_action_space_changes_nothing(translated: Translated) -> None:
    _, kernel, device = translated
    mask = device.reset(range(device.num_envs)).action_mask
    actions = torch.from_numpy(draw_actions(mask.numpy(), np.random.default_rng(2)))
    for outside in (-1, device.host.codec.n):
        actions[5] = outside
        before = device._words.clone()
        device.step(actions)
        changed = (device._words != before).any(0)
        assert changed.any()
        assert not changed[5]
        assert kernel.failure() == 1 + 5
    device.step(actions)
    with pytest.raises(ValueError, match=f"action {outside} of environment 5: expected 0"):
        device.check()


def test_arithmetic_is_exact_and_nothing_is_external(translated: Translated) -> None:
    ptx = translated.kernel.ptx
    assert [word for word in ("fma.", ".ftz", ".approx", ".extern") if word in ptx] == []
