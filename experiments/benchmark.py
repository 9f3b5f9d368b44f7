"""Measures speed, next to its budgets and to what others reach on the same machine.

    python -m experiments.benchmark
    python -m experiments.benchmark --json > benchmark.json

A rate is the best of several rounds. The rounds of all cases that are compared alternate, so that a
busy machine slows them alike; trust the ratios more than the rates.
"""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gymnasium as gym
import numba
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from rich.text import Text

from experiments.benchmarks import stepping, training
from experiments.benchmarks.solving import measure_solving
from experiments.common import print_results, versions
from wfb_gym.cli.parser import Parser
from wfb_gym.interop.sb3 import PhaseVecEnv

SIZES = (1, 64, 1024, 16_384)
LARGE = (1024, 16_384)
"""Sizes that have a budget of the batched step."""
OPPONENTS = ("random", "veteran")
DUEL = "archmage-duel"
BATTLE = "the-winds-unbound"
"""The default scenario, and the largest bundled battle."""
THREADS = 2
SERIAL, PARALLEL = "bare loop, serial", f"bare loop, {THREADS} threads"


@dataclass(frozen=True)
class Plan:
    """How long to measure."""

    sizes: tuple[int, ...] = SIZES  # environments side by side
    rounds: int = 7  # of each case
    seconds: float = 0.15  # of each round
    envs: int = 512  # battles side by side in training
    updates: int = 8  # of a round of training
    quick: bool = False
    """Leave out what takes a minute: large solutions, a start with an empty compile cache."""

    @property
    def frames(self) -> int:
        """Decisions of a round of training."""
        return self.updates * self.envs * training.STEPS


SOLVING = (
    ("duel", "archmage-duel solved", 1.0),
    ("nine spells", "nine spells solved", 10.0),
    ("ten million", "10 million decisions stored", 120.0),
    ("network", "exploitability of a network", 10.0),
)
"""Budgets of the solver: key, description, seconds."""
QUICK = Plan((1, 64), rounds=1, seconds=0.01, envs=16, updates=1, quick=True)


@dataclass(frozen=True)
class Budget:
    """A measured number, and what it must reach, or with `most` not exceed."""

    what: str
    value: float
    limit: float
    unit: str
    most: bool = False

    @property
    def holds(self) -> bool:
        return self.value <= self.limit if self.most else self.value >= self.limit


def best_rates(
    cases: dict[str, stepping.Round], plan: Plan, label: str
) -> dict[str, dict[str, float]]:
    """Measure each case; returns its best rates. The first round warms up and does not count."""
    found: dict[str, dict[str, float]] = {name: {} for name in cases}
    for number in track(range(plan.rounds + 1), label, console=Console(stderr=True)):
        for name, measure in cases.items():
            for key, rate in measure(plan.seconds).items():
                if number:
                    found[name][key] = max(rate, found[name].get(key, 0.0))
    return {name: {key: round(rate) for key, rate in each.items()} for name, each in found.items()}


def measure_batches(plan: Plan, sizes: Sequence[int], scenario: str) -> dict[str, Any]:
    """Measure the batched step by size, and what it is compared with."""
    space = gym.make_vec("wfb_gym/Caster-v0", num_envs=1, scenario=scenario)
    shape = (space.single_observation_space.shape[0], int(space.single_action_space.n))  # type: ignore[index, attr-defined]
    batched = {}
    for size in sizes:
        cases = {
            f"wfb_gym, opponent {name}": stepping.batch_round(size, name, scenario)
            for name in OPPONENTS
        }
        cases["CartPoleVectorEnv"] = stepping.cartpole_round(size)
        cases[SERIAL] = stepping.bare_round(size, shape, stepping.bare_serial)
        cases[PARALLEL] = stepping.bare_round(size, shape, stepping.bare_parallel)
        batched[str(size)] = best_rates(cases, plan, f"{scenario}, {size}")
    return batched


def measure_training(plan: Plan) -> dict[str, Any]:
    """Measure frames/s of MaskablePPO on both kinds of environment, and of train_fast."""
    envs = PhaseVecEnv(plan.envs)
    envs.seed(0)
    cases = {
        "wfb_gym": training.sb3_round(envs, plan.frames),
        "free": training.sb3_round(training.FreeVecEnv(plan.envs), plan.frames),
        "train_fast": training.train_fast_round(plan.frames, quick=plan.quick),
    }
    found = best_rates(cases, plan, "training")
    rates = {name: each["frames"] for name, each in found.items()}
    return {
        **rates,
        "ratio": round(rates["wfb_gym"] / rates["free"], 3),
        "fast over SB3": round(rates["train_fast"] / rates["wfb_gym"], 2),
        "envs": plan.envs,
    }


_START = """
import time
began = time.perf_counter()
import wfb_gym
imported = time.perf_counter()
import gymnasium
env = gymnasium.make("wfb_gym/Caster-v0")
env.reset(seed=0)
env.step(0)
print(imported - began, time.perf_counter() - imported)
"""


def measure_start(cache: str | None = None) -> tuple[float, float]:
    """Measure seconds of import, and of the first make, reset and step, in a new process."""
    variables = dict(os.environ) | ({"WFB_GYM_CACHE_DIR": cache} if cache else {})
    done = subprocess.run(
        [sys.executable, "-c", _START], env=variables, check=True, stdout=subprocess.PIPE, text=True
    )
    imported, made = (float(word) for word in done.stdout.split()[-2:])
    return imported, made


def measure_starts(plan: Plan) -> dict[str, float]:
    """Measure seconds until the first step, with a warm and (unless quick) a cold compile cache."""
    measure_start()  # compiles what is missing
    warm = [measure_start() for _ in range(1 if plan.quick else 3)]
    found = {"import": min(each[0] for each in warm), "first make": min(e[1] for e in warm)}
    if not plan.quick:
        print("compiling everything anew, which takes a minute", file=sys.stderr)
        with tempfile.TemporaryDirectory() as cache:
            found["first make, cold"] = measure_start(cache)[1]
    return {name: round(seconds, 3) for name, seconds in found.items()}


def budgets(results: dict[str, Any]) -> list[Budget]:
    """All budgets that the results say something about."""
    found = []
    for scenario, part in ((DUEL, "batched"), (BATTLE, "battle")):
        for size, rates in results[part].items():
            ours = rates["wfb_gym, opponent random"]["step"]
            if int(size) in LARGE:
                what = f"{scenario}, {size}"
                found.append(Budget(f"batched step, {what}", ours / 1e6, 15.0, "million/s"))
                bare = max(rates[SERIAL]["step"], rates[PARALLEL]["step"])
                found.append(Budget(f"bare loop over it, {what}", bare / ours, 2.0, "x", most=True))
    single = results["single"]["opponent random"]["step"]
    found.append(Budget("single step", single / 1e3, 150.0, "thousand/s"))
    found.append(Budget("training over a free one", results["training"]["ratio"], 0.9, "x"))
    found.append(Budget("train_fast over SB3", results["training"]["fast over SB3"], 4.0, "x"))
    solved = results["solving"]
    found += [
        Budget(what, solved[key]["seconds"], limit, "s", most=True)
        for key, what, limit in SOLVING
        if key in solved
    ]
    if "ten million" in solved:
        peak = solved["ten million"]["peak_bytes"] / 2**30
        found.append(Budget("memory of that, at its peak", peak, 8.0, "GiB", most=True))
    limits = {"import": 1.0, "first make": 2.0, "first make, cold": 60.0}
    found += [Budget(k, v, limits[k], "s", most=True) for k, v in results["starting"].items()]
    return found


def measure_all(plan: Plan) -> dict[str, Any]:
    """Measure everything; returns the results as JSON holds them."""
    numba.set_num_threads(min(THREADS, numba.get_num_threads()))
    torch.set_num_threads(1)
    # First, while the process is small: its memory is measured too.
    print("solving, which takes a minute or two", file=sys.stderr)
    exact = measure_solving(plan.rounds, large=not plan.quick)
    single = {f"opponent {name}": stepping.single_round(name) for name in OPPONENTS}
    large = tuple(size for size in plan.sizes if size in LARGE) or plan.sizes[-1:]
    results = {
        "batched": measure_batches(plan, plan.sizes, DUEL),
        "battle": measure_batches(plan, large, BATTLE),
        "single": best_rates(single, plan, "single environment"),
        "training": measure_training(plan),
        "starting": measure_starts(plan),
        "solving": exact,
    }
    held = [{**asdict(each), "holds": each.holds} for each in budgets(results)]
    machine = {"processor": platform.machine(), "cores": os.cpu_count()}
    return {**results, "budgets": held, "machine": machine, "versions": versions()}


def tables(results: dict[str, Any]) -> list[Table]:
    """Return the results as tables."""
    rates = [_rates_table(DUEL, results["batched"]), _rates_table(BATTLE, results["battle"])]
    for name, each in results["single"].items():
        rates[0].add_row(f"gym.make, {name}", _millions(each))
    held = Table("what", "measured", "budget", "holds", title="budgets")
    for each in results["budgets"]:
        limit = f"{'at most' if each['most'] else 'at least'} {each['limit']:g} {each['unit']}"
        verdict = "yes" if each["holds"] else Text("no", style="red")
        held.add_row(each["what"], f"{each['value']:.3g} {each['unit']}", limit, verdict)
    numbers = (Column(heading, justify="right") for heading in ("decisions", "seconds"))
    solved = Table("what", "scenario", *numbers, title="the exact optimum")
    for key, each in results["solving"].items():
        solved.add_row(key, each["scenario"], f"{each['decisions']:,}", f"{each['seconds']:g}")
    return [*rates, solved, held]


def _rates_table(scenario: str, found: dict[str, Any]) -> Table:
    sizes = (Column(f"{int(size):,}", justify="right", no_wrap=True) for size in found)
    title = f"{scenario}: million env-steps/s (with the choosing of actions)"
    rates = Table("environments", *sizes, title=title)
    for name in next(iter(found.values())):
        rates.add_row(name, *(_millions(each[name]) for each in found.values()))
    return rates


def _millions(rates: dict[str, float]) -> str:
    text = f"{rates['step'] / 1e6:.3g}"
    return f"{text} ({rates['with_choosing'] / 1e6:.3g})" if "with_choosing" in rates else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = Parser(prog="python -m experiments.benchmark", description=(__doc__ or "").strip())
    parser.add_argument("--json", action="store_true", help="print JSON alone on stdout")
    parser.add_argument("--quick", action="store_true", help="briefly, to show that all works")
    given = parser.parse_args(arguments)
    results = measure_all(QUICK if given.quick else Plan())
    print_results(results, tables(results), as_json=given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
