"""Measures speed, next to what the design allows and to what others reach on the same machine.

    python -m experiments.benchmark
    python -m experiments.benchmark --json > benchmark.json

A rate is the best of several rounds. The rounds of everything that is compared alternate, so that
a busy machine slows all of it alike; trust the ratios more than the rates.
"""

import json
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
from rich.table import Table

from experiments.benchmarks.solving import solving
from experiments.benchmarks.stepping import (
    Round,
    bare_parallel,
    bare_round,
    bare_serial,
    batch_round,
    cartpole_round,
    single_round,
)
from experiments.benchmarks.training import ENVS, STEPS, FreeVecEnv, fast_round, training_round
from experiments.common import versions
from wfb_gym.cli.parser import Parser
from wfb_gym.interop.sb3 import PhaseVecEnv

SIZES = (1, 64, 1024, 16_384)
LARGE = (1024, 16_384)
"""Sizes that the batched step's budget speaks of."""
OPPONENTS = ("random", "veteran")
DUEL = "archmage-duel"
BATTLE = "the-winds-unbound"
"""The default scenario, and the largest bundled battle."""
THREADS = 2


@dataclass(frozen=True)
class Plan:
    """How long to measure.

    Attributes:
        sizes: environments side by side.
        rounds: of each case.
        seconds: of each round.
        frames: of a round of training.
        cold: whether to time a first start ever, compilation included.
        large: whether to solve what takes a minute.
    """

    sizes: tuple[int, ...] = SIZES
    rounds: int = 7
    seconds: float = 0.15
    frames: int = 8 * ENVS * STEPS
    cold: bool = True
    large: bool = True


SOLVING = (
    ("duel", "archmage-duel solved", 1.0),
    ("nine spells", "nine spells solved", 10.0),
    ("ten million", "10 million decisions stored", 120.0),
    ("network", "exploitability of a network", 10.0),
)
"""What the solver's budgets speak of: key, words, seconds."""
QUICK = Plan(sizes=(1, 64), rounds=2, seconds=0.01, frames=ENVS * STEPS, cold=False, large=False)


@dataclass(frozen=True)
class Budget:
    """A number next to what the design allows.

    Attributes:
        what: is measured.
        value: that was.
        limit: that it must reach, or stay below.
        unit: of both.
        most: whether the limit is the most that is allowed, instead of the least.
    """

    what: str
    value: float
    limit: float
    unit: str
    most: bool = False

    @property
    def holds(self) -> bool:
        return self.value <= self.limit if self.most else self.value >= self.limit


def best(cases: dict[str, Round], plan: Plan, label: str) -> dict[str, dict[str, float]]:
    """Best rates of each case; the first round of each warms up and does not count."""
    found: dict[str, dict[str, float]] = {name: {} for name in cases}
    for number in track(range(plan.rounds + 1), label, console=Console(stderr=True)):
        for name, measure in cases.items():
            for key, rate in measure(plan.seconds).items():
                if number:
                    found[name][key] = max(rate, found[name].get(key, 0.0))
    return {name: {key: round(rate) for key, rate in each.items()} for name, each in found.items()}


def stepping(plan: Plan) -> dict[str, Any]:
    """Rates of the batched and the single step, and of what they are compared with."""
    single = {f"opponent {name}": single_round(name) for name in OPPONENTS}
    large = tuple(size for size in plan.sizes if size in LARGE) or plan.sizes[-1:]
    return {
        "batched": batches(plan, plan.sizes, DUEL),
        "battle": batches(plan, large, BATTLE),
        "single": best(single, plan, "single environment"),
    }


def batches(plan: Plan, sizes: Sequence[int], scenario: str) -> dict[str, Any]:
    """Rates of the batched step by size, and of what they are compared with."""
    space = gym.make_vec("wfb_gym/Caster-v0", num_envs=1, scenario=scenario)
    shape = (space.single_observation_space.shape[0], int(space.single_action_space.n))  # type: ignore[index, attr-defined]
    batched = {}
    for size in sizes:
        cases = {
            f"wfb_gym, opponent {name}": batch_round(size, name, scenario) for name in OPPONENTS
        }
        cases["CartPoleVectorEnv"] = cartpole_round(size)
        cases["bare loop, serial"] = bare_round(size, shape, bare_serial)
        cases[f"bare loop, {THREADS} threads"] = bare_round(size, shape, bare_parallel)
        batched[str(size)] = best(cases, plan, f"{scenario}, {size}")
    return batched


def training(plan: Plan) -> dict[str, Any]:
    """Frames/s of MaskablePPO on our environments and on one that costs nothing; of train_fast."""
    envs = PhaseVecEnv(ENVS)
    envs.seed(0)
    cases = {
        "wfb_gym": training_round(envs, plan.frames),
        "free": training_round(FreeVecEnv(PhaseVecEnv(ENVS)), plan.frames),
    }
    with fast_round(plan.frames) as cases["train_fast"]:
        found = best(cases, plan, "training")
    rates = {name: each["frames"] for name, each in found.items()}
    ratios = {
        "ratio": round(rates["wfb_gym"] / rates["free"], 3),
        "fast over SB3": round(rates["train_fast"] / rates["wfb_gym"], 2),
    }
    return {**rates, **ratios, "envs": ENVS}


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


def start(cache: str | None = None) -> tuple[float, float]:
    """Seconds of import, and of the first make, reset and step, in a new process."""
    variables = dict(os.environ) | ({"WFB_GYM_CACHE_DIR": cache} if cache else {})
    done = subprocess.run(
        [sys.executable, "-c", _START], env=variables, check=True, stdout=subprocess.PIPE, text=True
    )
    imported, made = (float(word) for word in done.stdout.split()[-2:])
    return imported, made


def starting(plan: Plan) -> dict[str, float]:
    """Seconds until the first step, with compiled code at hand and, unless quick, without."""
    start()  # compiles what is missing
    warm = [start() for _ in range(plan.rounds if not plan.cold else 3)]
    found = {"import": min(each[0] for each in warm), "first make": min(e[1] for e in warm)}
    if plan.cold:
        print("compiling everything anew, which takes a minute or two", file=sys.stderr)
        with tempfile.TemporaryDirectory() as cache:
            found["first make, cold"] = start(cache)[1]
    return {name: round(seconds, 3) for name, seconds in found.items()}


def budgets(results: dict[str, Any]) -> list[Budget]:
    """The design's budgets that the results speak to."""
    found = []
    for scenario, part in ((DUEL, "batched"), (BATTLE, "battle")):
        for size, rates in results[part].items():
            ours = rates["wfb_gym, opponent random"]["step"]
            if int(size) in LARGE:
                what = f"{scenario}, {size}"
                found.append(Budget(f"batched step, {what}", ours / 1e6, 15.0, "million/s"))
                bare = max(rates["bare loop, serial"]["step"], _parallel(rates))
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


def _parallel(rates: dict[str, dict[str, float]]) -> float:
    return rates[f"bare loop, {THREADS} threads"]["step"]


def measured(plan: Plan) -> dict[str, Any]:
    """Everything, as JSON holds it."""
    numba.set_num_threads(min(THREADS, numba.get_num_threads()))
    torch.set_num_threads(1)
    # First, while the process is small: its memory is measured too.
    print("solving, which takes a minute or two", file=sys.stderr)
    exact = solving(plan.rounds, large=plan.large)
    results = {**stepping(plan), "training": training(plan), "starting": starting(plan)}
    results["solving"] = exact
    held = [{**asdict(each), "holds": each.holds} for each in budgets(results)]
    machine = {"processor": platform.machine(), "cores": os.cpu_count()}
    return {**results, "budgets": held, "machine": machine, "versions": versions()}


def tables(results: dict[str, Any]) -> list[Table]:
    """The results for people."""
    rates = [_rates(DUEL, results["batched"]), _rates(BATTLE, results["battle"])]
    for name, each in results["single"].items():
        rates[0].add_row(f"gym.make, {name}", _millions(each))
    held = Table(title="budgets")
    for heading in ("what", "measured", "budget", "holds"):
        held.add_column(heading)
    for each in results["budgets"]:
        limit = f"{'at most' if each['most'] else 'at least'} {each['limit']:g} {each['unit']}"
        verdict = "yes" if each["holds"] else "[red]no[/red]"
        held.add_row(each["what"], f"{each['value']:.3g} {each['unit']}", limit, verdict)
    return [*rates, _solved(results["solving"]), held]


def _solved(found: dict[str, Any]) -> Table:
    shown = Table(title="the exact optimum")
    for heading in ("what", "scenario", "decisions", "seconds"):
        shown.add_column(heading, justify="left" if heading in ("what", "scenario") else "right")
    for key, each in found.items():
        shown.add_row(key, each["scenario"], f"{each['decisions']:,}", f"{each['seconds']:g}")
    return shown


def _rates(scenario: str, found: dict[str, Any]) -> Table:
    rates = Table(title=f"{scenario}: million env-steps/s (with the choosing of actions)")
    rates.add_column("environments")
    for size in found:
        rates.add_column(f"{int(size):,}", justify="right", no_wrap=True)
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
    results = measured(QUICK if given.quick else Plan())
    if given.json:
        print(json.dumps(results, indent=2))
    else:
        for each in tables(results):
            Console().print(each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
