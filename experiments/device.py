"""Compare the batched step on a GPU with the CPU, and measure its speed.

    python -m experiments.device
    python -m experiments.device --device cpu --quick

First, batches in a duel and in the largest battle are stepped on both processors, a million
environment steps each: observations, action masks, rewards, terminations and states must be equal
to the bit. One action in 17 is drawn from all actions, so that some are illegal. Then random legal
actions are played in batches of several sizes, with several limits on registers.

"step only" leaves out choosing the actions, which happens on the device, too. Rates are the median
of ROUNDS. The kernels are compiled first, which takes minutes without a cache. With ``--device
cpu``, the kernels run on the CPU, which only shows that everything works.

OUT gets parts.jsonl and results.json, and the same command continues.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.device")

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from experiments.experiment import Experiment
from experiments.outcomes import ExperimentError, Line, Results
from experiments.tables import ResultTable, texts
from wfb_gym.device.batch import DeviceBatch
from wfb_gym.device.launching import CudaKernel
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset

SCENARIOS = ("archmage-duel", "the-winds-unbound")
_CHECKED_ENVS = 4096
_ILLEGAL = 17
"""One action in this many is drawn from all actions."""
_WARM_UP = 40
"""Steps before the first round, so that environments are in different phases."""


@dataclass(frozen=True)
class Settings:
    """Settings for the measurement.

    Attributes:
        device: "cuda", "cuda:1" and so on, or "cpu".
        scenarios: the scenarios.
        checked: environment steps to compare with the CPU in each scenario.
        sizes: numbers of environments in the first scenario; a quarter of them in the others,
            whose observations are larger.
        registers: limits on the registers of a thread; all but the first only with the first size.
        rounds: rounds of each measurement.
        steps: steps in a round.
        out: folder of the results.
    """

    device: str = "cuda"
    scenarios: tuple[str, ...] = SCENARIOS
    checked: int = 1_000_000
    sizes: tuple[int, ...] = (65_536, 262_144, 1_048_576)
    registers: tuple[int, ...] = (128, 64, 255)
    rounds: int = 5
    steps: int = 20
    out: Path = Path("runs/device")


class Comparison(NamedTuple):
    """Compare a scenario with the CPU."""

    scenario: str

    def __str__(self) -> str:
        return f"{self.scenario} against the CPU"


class Rate(NamedTuple):
    """Measure the speed of a batch."""

    scenario: str
    num_envs: int
    registers: int

    def __str__(self) -> str:
        return f"{self.scenario}, {self.num_envs:,} environments, {self.registers} registers"


Part = Comparison | Rate


def parts(settings: Settings) -> list[Part]:
    """Return all comparisons, then all rates."""
    rates = [
        Rate(scenario, size // (4 if number else 1), registers)
        for number, scenario in enumerate(settings.scenarios)
        for place, registers in enumerate(settings.registers)
        for size in (settings.sizes if place == 0 else settings.sizes[:1])
    ]
    return [*map(Comparison, settings.scenarios), *rates]


def measure_part(settings: Settings, part: Part) -> Line:
    """Do one comparison or measure one rate."""
    if isinstance(part, Comparison):
        return compare_with_cpu(settings, part.scenario)
    return measure_rate(settings, part)


class Equality(NamedTuple):
    """Batches that gave equal results."""

    digest: str  # of all results
    episodes: int
    illegal: int  # illegal actions


def batch_on_cpu(num_envs: int, **keys: Any) -> Batch:
    """Return the batch that a `DeviceBatch` with these arguments must equal."""
    arguments = {
        "scenario": "archmage-duel", "seat": 0, "opponent": "veteran", "limits": None,
        "mode": Autoreset.SAME_STEP, "points_per_reward": 100.0, "history": False,
        "features": "all", **keys,
    }  # fmt: skip
    return Batch(num_envs, **arguments)


def play_both(device: DeviceBatch, cpu: Batch, steps: int) -> Equality:
    """Play the same actions in both batches, some of them illegal, and compare every byte.

    Raises:
        ExperimentError: if any result differs.
    """
    num_envs, rng = cpu.num_envs, np.random.default_rng(0)
    start = device.reset(range(num_envs))
    digest, episodes, illegal = hashlib.sha256(), 0, 0
    expected = cpu.reset(np.ones(num_envs, np.bool_), range(num_envs))
    if not np.array_equal(start.observations.cpu().numpy(), expected.observations):
        raise ExperimentError("observations differ from the CPU after the reset")
    for step in range(steps):
        masks = cpu.action_mask
        actions = (rng.random(masks.shape) * masks).argmax(1)
        actions[::_ILLEGAL] = rng.integers(masks.shape[1], size=len(actions[::_ILLEGAL]))
        expected = cpu.step(actions)
        found = device.step(torch.from_numpy(actions).to(device.device))
        device.download()
        ended = np.flatnonzero(expected.terminations if len(expected.final) else ())
        pairs: dict[str, tuple[Any, Any]] = {
            "states": (cpu.envs, device.host.envs),
            "observations": (expected.observations, found.observations.cpu()),
            "action masks": (cpu.action_mask, found.action_mask.cpu()),
            "rewards": (expected.rewards, found.rewards.cpu()),
            "terminations": (expected.terminations, found.terminations.cpu()),
            "illegal actions": (expected.illegal, found.illegal.cpu()),
            "last observations": (expected.final[ended], found.final.cpu().numpy()[ended]),
        }
        for name, (one, other) in pairs.items():
            data = np.asarray(one).tobytes()
            if data != np.asarray(other).tobytes():
                raise ExperimentError(f"{name} differ from the CPU in step {step}")
            digest.update(data)
        episodes += int(expected.terminations.sum())
        illegal += int(expected.illegal.sum())
    return Equality(digest.hexdigest()[:16], episodes, illegal)


def compare_with_cpu(settings: Settings, scenario: str) -> Line:
    """Play a scenario on both processors."""
    num_envs = min(_CHECKED_ENVS, settings.checked)
    steps = -(-settings.checked // num_envs)
    device = DeviceBatch(num_envs, scenario, device=settings.device)
    found = play_both(device, batch_on_cpu(num_envs, scenario=scenario), steps)
    return {"scenario": scenario, "steps": steps * num_envs, **found._asdict()}


def measure_rate(settings: Settings, part: Rate) -> Line:
    """Measure the rate of a step, without and with the choice of random legal actions."""
    device = settings.device
    began = time.perf_counter()
    batch = DeviceBatch(part.num_envs, part.scenario, device=device, registers=part.registers)
    kernel = batch.kernel
    building = time.perf_counter() - began
    masks = batch.reset().action_mask

    def choose() -> torch.Tensor:
        noise = torch.rand(masks.shape, device=batch.device)
        return torch.where(masks, noise, -1.0).argmax(1)

    for _ in range(_WARM_UP):
        batch.step(choose())
    only, both = [], []
    for _ in range(settings.rounds):
        seconds = 0.0
        for _ in range(settings.steps):
            actions = choose()
            seconds += _seconds(batch, lambda actions=actions: batch.step(actions))  # type: ignore[misc]
        only.append(seconds)

        def play() -> None:
            for _ in range(settings.steps):
                batch.step(choose())

        both.append(_seconds(batch, play))
    batch.check()
    played = settings.steps * part.num_envs
    line = {
        **part._asdict(), "only": played / median(only), "with actions": played / median(both),
        "building": building, "device": _name(batch.device),
    }  # fmt: skip
    if isinstance(kernel, CudaKernel):
        line |= {
            "used registers": kernel.registers, "local bytes": kernel.local_bytes,
            "threads": kernel.threads, "blocks": kernel.blocks_per_multiprocessor,
        }  # fmt: skip
    return line


def _seconds(batch: DeviceBatch, function: Callable[[], object]) -> float:
    """Return the seconds that a call takes on the device."""
    if batch.device.type == "cpu":
        began = time.perf_counter()
        function()
        return time.perf_counter() - began
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    function()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000.0


def _name(device: torch.device) -> str:
    """Return the name of a GPU, or "CPU"."""
    return "CPU" if device.type == "cpu" else str(torch.cuda.get_device_name(device))


def equality_rows(results: Results) -> list[list[str]]:
    """Return the table of the comparisons."""
    rows = [["scenario", "equal environment steps", "episodes", "digest"]]
    for line in results["lines"]:
        if "digest" in line:
            counts = f"{line['steps']:,}", f"{line['episodes']:,}"
            rows.append([line["scenario"], *counts, line["digest"]])
    return rows


def rate_rows(results: Results) -> list[list[str]]:
    """Return the table of the rates."""
    head = ["scenario", "environments", "registers", "step only", "with actions", "blocks"]
    rows = [head]
    for line in results["lines"]:
        if "only" in line:
            rates = [f"{line[name] / 1e6:.1f}" for name in ("only", "with actions")]
            used = line.get("used registers", "-")
            blocks = str(line.get("blocks", "-"))
            rows.append([line["scenario"], f"{line['num_envs']:,}", str(used), *rates, blocks])
    return rows


def results(run: Any) -> Results:
    """Return the lines, and the name of the device."""
    names = {line["device"] for line in run.lines if "device" in line}
    found: Results = run.document(lines=list(run.lines), device=", ".join(sorted(names)))
    return found


EXPERIMENT = Experiment(
    module="experiments.device",
    description=__doc__,
    settings=Settings,
    quick={"checked": 20_000, "sizes": (256,), "registers": (128,), "rounds": 2, "steps": 5},
    free=("out",),
    positive=("checked", "rounds", "steps"),
    kind="device",
    parts=parts,
    run_part=measure_part,
    results=results,
    tables=texts(
        ResultTable("results equal to the CPU's", equality_rows),
        ResultTable("million environment steps per second", rate_rows),
    ),
)
main = EXPERIMENT.main
