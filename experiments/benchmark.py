"""Measure speed, compared with targets and with other libraries on the same machine.

    python -m experiments.benchmark
    python -m experiments.benchmark --json > benchmark.json
    python -m experiments.benchmark --long --wheel dist/wfb_gym-0.1.0-cp311-cp311-linux_x86_64.whl
    python -m experiments.benchmark --profile

A rate is the best of several rounds. The rounds of all compared cases alternate, so that other load
on the machine slows them alike; ratios are more reliable than rates. Other libraries are measured
if they are installed (`pip install -e ".[peers]"`). The installed package is measured if --wheel is
given or dist/ has a wheel.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.benchmark")

import os
import platform
import sys
from collections import ChainMap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from experiments.benchmarks import solving, starting, stepping, tables, training
from experiments.benchmarks.aims import compare_with_targets
from experiments.benchmarks.peers import peer_rounds
from experiments.benchmarks.scaling import measure_scaling
from experiments.common import versions
from experiments.experiment import Experiment
from experiments.outcomes import Results, Run
from experiments.progress import report_progress
from experiments.tables import text_table
from wfb_gym.cli.parser import option
from wfb_gym.interop.sb3 import PhaseVecEnv

LARGE = (1024, 16_384)
"""Batch sizes for the largest battle and for several threads."""
OPPONENTS = ("random", "veteran")


@dataclass(frozen=True)
class Settings:
    """Settings of the benchmark.

    Attributes:
        long: also solve storm-council, which takes minutes.
        profile: measure only the parts of an update of train_fast.
        wheel: wheel to install and measure.
    """

    long: bool = False
    profile: bool = False
    wheel: Path | None = option(None, metavar="FILE", help="(default: the newest in dist/)")


@dataclass(frozen=True)
class _Plan(Settings):
    """All measurements, and how long each takes."""

    sizes: tuple[int, ...] = (1, 64, *LARGE)  # environments in a batch
    large: tuple[int, ...] = LARGE
    rounds: int = 8  # of each case
    slow_rounds: int = 4  # of cases that take seconds
    seconds: float = 0.15  # of each round
    envs: int = 512  # battles in parallel in training
    updates: int = 8  # of a round of training
    small: int = 100  # scenarios solved in parallel
    quick: bool = False
    """Leave out cases that take a minute: large solutions, a start with an empty compile cache."""

    @property
    def frames(self) -> int:
        """Decisions of a round of training."""
        return self.updates * self.envs * training.STEPS


QUICK: dict[str, Any] = {
    "sizes": (1, 64), "large": (64,), "rounds": 1, "slow_rounds": 1, "seconds": 0.01, "envs": 16,
    "updates": 1, "small": 3, "quick": True,
}  # fmt: skip


def _best_rates(
    cases: dict[str, stepping.Round], rounds: int, seconds: float, label: str
) -> dict[str, dict[str, float]]:
    """Return the best rates of each case; the first of several rounds is a warm-up."""
    found: dict[str, dict[str, float]] = {name: {} for name in cases}
    with report_progress(label, rounds) as report:
        for number in range(rounds):
            for name, measure in cases.items():
                for key, rate in measure(seconds).items():
                    if number or rounds == 1:
                        found[name][key] = max(rate, found[name].get(key, 0.0))
            report("", 1)
    return {name: {key: round(rate) for key, rate in each.items()} for name, each in found.items()}


def measure_batches(plan: _Plan, sizes: Sequence[int], scenario: str) -> dict[str, Any]:
    """Measure the batched step by batch size; in the duel also other libraries."""
    batched = {}
    for size in sizes:
        cases = {
            f"wfb_gym, opponent {name}": stepping.batch_round(size, name, scenario)
            for name in (OPPONENTS if scenario == tables.DUEL else OPPONENTS[:1])
        }
        if scenario == tables.DUEL and size > 1:
            cases |= peer_rounds(size)
        batched[str(size)] = _best_rates(cases, plan.rounds, plan.seconds, f"{scenario}, {size}")
    return batched


def measure_training(plan: _Plan) -> dict[str, Any]:
    """Measure frames/s of MaskablePPO on both kinds of environment, and of train_fast."""
    envs = PhaseVecEnv(plan.envs)
    envs.seed(0)
    cases = {
        "wfb_gym": training.sb3_round(envs, plan.frames),
        "free": training.sb3_round(training.FreeVecEnv(plan.envs), plan.frames),
        "train_fast": training.train_fast_round(plan.frames, quick=plan.quick),
    }
    found = _best_rates(cases, plan.slow_rounds, plan.seconds, "training")
    rates = {name: each["frames"] for name, each in found.items()}
    return {
        **rates,
        "ratio": round(rates["wfb_gym"] / rates["free"], 3),
        "fast over SB3": round(rates["train_fast"] / rates["wfb_gym"], 2),
        "envs": plan.envs,
    }


def measure_starting(plan: _Plan) -> dict[str, Any]:
    """Measure start-up times in seconds, and CPU seconds with an empty compile cache."""
    _say("starting Python for imports and commands")
    found = starting.measure_starts(plan.slow_rounds)
    commands = starting.measure_commands(plan.slow_rounds)
    found["slowest command"] = max(commands.values())
    if plan.wheel is not None:
        _say(f"installing {plan.wheel}")
        found["from a wheel"] = starting.measure_wheel(plan.wheel, plan.slow_rounds)
    if not plan.quick:
        _say("compiling everything from scratch, which takes a minute")
        found |= starting.measure_compiling()
    rounded: dict[str, Any] = {name: round(seconds, 3) for name, seconds in found.items()}
    rounded["commands"] = {line: round(seconds, 3) for line, seconds in commands.items()}
    return rounded


def _measure_solving(plan: _Plan) -> dict[str, Any]:
    _say("solving, which takes a minute or two" + (", or ten" if plan.long else ""))
    return solving.measure_solving(plan.rounds, plan.small, large=not plan.quick, largest=plan.long)


def measure_single(plan: _Plan) -> dict[str, Any]:
    """Measure a single environment."""
    cases = {f"opponent {name}": stepping.single_round(name) for name in OPPONENTS}
    return _best_rates(cases, plan.rounds, plan.seconds, "single environment")


PARTS: dict[str, Callable[[_Plan], Any]] = {
    "solving": _measure_solving,  # first, while the process is small: its memory is measured too
    "batched": lambda plan: measure_batches(plan, plan.sizes, tables.DUEL),
    "battle": lambda plan: measure_batches(plan, plan.large, tables.BATTLE),
    "single": measure_single,
    "scaling": lambda plan: measure_scaling(tables.DUEL, plan.large, plan.rounds, plan.seconds),
    "training": measure_training,
    "profile": lambda plan: training.profile_train_fast(10 * plan.updates, quick=plan.quick),
    "starting": measure_starting,
}


def _results_of(run: Run[Any, str]) -> Results:
    found = dict(ChainMap(*run.lines))
    if run.settings.profile:
        return found
    order = list(PARTS)
    order.insert(order.index("scaling"), "ratios")
    found["ratios"] = tables.ratios(found)
    results: Results = {name: found[name] for name in order}
    results["aims"] = compare_with_targets(results)
    results["machine"] = {"processor": platform.machine(), "cores": os.cpu_count()}
    results["versions"] = versions(("envpool", "jax", "pgx"))
    return results


def _say(what: str) -> None:
    print(what, file=sys.stderr)


def shown_tables(results: Results) -> list[str]:
    """Return the results as tables for the terminal."""
    makers = [tables.profile_rows]
    if "aims" in results:
        makers = [
            tables.speed_rows,
            tables.ratio_rows,
            tables.single_rows,
            tables.scaling_rows,
            tables.solving_rows,
            tables.profile_rows,
            tables.aim_rows,
        ]
    return [text_table(rows_of(results), "") for rows_of in makers]


def newest_wheel() -> Path | None:
    """Return the wheel in dist/ that was built last."""
    found = (starting.ROOT / "dist").glob("wfb_gym-*.whl")
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def plan_of(settings: Settings, switches: Collection[str]) -> _Plan:
    """Return the plan of the benchmark; raises a ValueError if the wheel is missing."""
    if not settings.profile:
        torch.set_num_threads(1)
    quick = "quick" in switches
    if settings.wheel is not None and not settings.wheel.is_file():
        raise ValueError(f"--wheel: expected a wheel, found no file {settings.wheel}")
    wheel = settings.wheel or (None if quick else newest_wheel())
    return _Plan(settings.long, settings.profile, wheel, **QUICK if quick else {})


EXPERIMENT: Experiment[Any, str] = Experiment(
    module="experiments.benchmark",
    description=__doc__,
    settings=Settings,
    quick={},
    check=plan_of,
    file=None,
    parts=lambda plan: ["profile"] if plan.profile else list(PARTS),
    run_part=lambda plan, name: {name: PARTS[name](plan)},
    results=_results_of,
    tables=shown_tables,
    needs_all=True,
)
main = EXPERIMENT.main
