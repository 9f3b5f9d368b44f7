"""Measure speed, compared with targets and with other libraries on the same machine.

    python -m experiments.benchmark
    python -m experiments.benchmark --json > benchmark.json
    python -m experiments.benchmark --long --wheel dist/wfb_gym-0.1.0-cp311-cp311-linux_x86_64.whl
    python -m experiments.benchmark --profile
    python -m experiments.benchmark --keep runs/benchmark

A figure is the median of at least five rounds, followed by the range of all rounds. Each round
measures all compared cases in turn, so that other load on the machine slows them alike, and a ratio
divides two figures of the same round (by threads, two medians). --json also prints the value of
every round. --keep stores finished parts in a folder, and the same command continues. Other
libraries are measured if they are installed (`pip install -e ".[peers]"`). The installed package is
measured if --wheel is given or dist/ has a wheel.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.benchmark")

import sys
import tempfile
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from statistics import median
from typing import Any

from experiments.benchmarks import solving, starting, stepping, tables, training
from experiments.benchmarks.aims import compare_with_targets
from experiments.benchmarks.machine import describe_machine
from experiments.benchmarks.peers import peer_rounds
from experiments.benchmarks.plan import OPPONENTS, Plan, Settings, plan_of
from experiments.benchmarks.rounds import ROUNDS, alternate, lists_of, medians, rounded
from experiments.benchmarks.scaling import measure_scaling
from experiments.common import recorded_settings, versions
from experiments.experiment import Experiment
from experiments.outcomes import Results, Run
from experiments.records import ResultFile
from experiments.tables import text_table
from wfb_gym.interop.sb3 import PhaseVecEnv

Rates = dict[str, dict[str, list[float]]]
"""Rates by case and name, with one value per round."""


def _measure_rates(
    cases: Mapping[str, stepping.Round], rounds: int, seconds: float, label: str
) -> Rates:
    """Return each case's rates in several rounds, after a warm-up."""
    timed = {name: partial(measure, seconds) for name, measure in cases.items()}
    found: Rates = rounded(alternate(timed, rounds, label, warm_up=True))
    return found


def measure_batches(plan: Plan, sizes: Sequence[int], scenario: str) -> dict[str, Rates]:
    """Measure the batched step by batch size, and in the duel also other libraries."""
    cases: dict[str, stepping.Round] = {}
    names: dict[str, tuple[str, str]] = {}
    for size in sizes:
        at_size = {
            f"wfb_gym, opponent {name}": stepping.batch_round(size, name, scenario)
            for name in (OPPONENTS if scenario == tables.DUEL else OPPONENTS[:1])
        }
        if scenario == tables.DUEL and size > 1:
            at_size |= peer_rounds(size)
        for name, measure in at_size.items():
            case = f"{name}, {size:,} environments"
            cases[case], names[case] = measure, (str(size), name)
    batched: dict[str, Rates] = {str(size): {} for size in sizes}
    for case, rates in _measure_rates(cases, plan.rounds, plan.seconds, scenario).items():
        size_key, name = names[case]
        batched[size_key][name] = rates
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
    found = _measure_rates(cases, plan.slow_rounds, plan.seconds, "training")
    rates = {name: each["frames"] for name, each in found.items()}
    return {
        **rates,
        "ratio": _paired(rates["wfb_gym"], rates["free"], 3),
        "fast over SB3": _paired(rates["train_fast"], rates["wfb_gym"], 2),
        "envs": plan.envs,
    }


def _paired(ours: Sequence[float], theirs: Sequence[float], digits: int) -> list[float]:
    """Return the ratio for each round."""
    return [round(one / other, digits) for one, other in zip(ours, theirs, strict=True)]


def measure_starting(plan: Plan) -> dict[str, Any]:
    """Measure start-up times in seconds, and CPU seconds with an empty compile cache."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        commands = starting.command_cases(folder)
        cases = {"first step": starting.measure_start, **commands}
        _say("starting Python for imports and commands, once before all rounds")
        for fill_cache in cases.values():
            fill_cache()
        if plan.wheel is not None:
            _say(f"installing {plan.wheel}")
            cases["wheel"] = stack.enter_context(starting.installed_wheel(plan.wheel))
        if not plan.quick:
            cases["compiling everything"] = starting.measure_compiling
        measured = alternate(cases, plan.slow_rounds, "starting", warm_up=False)
    seconds = {line: measured.pop(line)["seconds"] for line in commands}
    found: dict[str, Any] = dict(ChainMap(*measured.values()))
    found["slowest command"] = max(seconds.values(), key=median)
    ordered = {name: found[name] for name in starting.MEASUREMENTS if name in found}
    return dict(rounded(ordered | {"commands": seconds}, 3))


def _measure_solving(plan: Plan) -> dict[str, Any]:
    return solving.measure_solving(
        plan.slow_rounds, plan.small, large=not plan.quick, largest=plan.long
    )


def _measure_profile(plan: Plan) -> dict[str, list[float]]:
    """Measure the seconds of a train_fast update by part, longest first."""
    profile = partial(training.profile_train_fast, 10 * plan.updates, quick=plan.quick)
    found = alternate({"train_fast": profile}, plan.slow_rounds, "profile", warm_up=False)
    return dict(sorted(found["train_fast"].items(), key=lambda item: -median(item[1])))


def measure_single(plan: Plan) -> Rates:
    """Measure a single environment."""
    cases = {f"opponent {name}": stepping.single_round(name) for name in OPPONENTS}
    return _measure_rates(cases, plan.rounds, plan.seconds, "single environment")


PARTS: dict[str, Callable[[Plan], Any]] = {
    "solving": _measure_solving,  # first, while the process is small: its memory is measured too
    "batched": lambda plan: measure_batches(plan, plan.sizes, tables.DUEL),
    "battle": lambda plan: measure_batches(plan, plan.large, tables.BATTLE),
    "single": measure_single,
    "scaling": lambda plan: measure_scaling(tables.DUEL, plan.large, plan.rounds, plan.seconds),
    "training": measure_training,
    "profile": _measure_profile,
    "starting": measure_starting,
}


def _results_of(run: Run[Any, str]) -> Results:
    found = dict(ChainMap(*run.lines))
    if run.settings.profile:
        return {**medians(found), ROUNDS: lists_of(found)}
    order = list(PARTS)
    order.insert(order.index("scaling"), "ratios")
    found["ratios"] = tables.ratios(found)
    found = {name: found[name] for name in order}
    results: Results = medians(found)
    results["aims"] = compare_with_targets(results)
    results["machine"] = describe_machine()
    results["versions"] = versions(("envpool", "jax", "pgx"))
    results[ROUNDS] = lists_of(found)
    return results


def _say(what: str) -> None:
    print(what, file=sys.stderr)


def shown_tables(results: Results) -> list[str]:
    """Return the results as tables to print in the terminal."""
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
    shown = [text_table(rows_of(results), "") for rows_of in makers]
    return [*shown, tables.machine_line(results)] if "machine" in results else shown


def _records(plan: Plan) -> Iterator[tuple[str, ResultFile]]:
    if plan.keep is not None:
        yield (
            "",
            ResultFile(plan.keep, "parts.jsonl", "benchmark", recorded_settings(plan, ("keep",))),
        )


EXPERIMENT: Experiment[Any, str] = Experiment(
    module="experiments.benchmark",
    description=__doc__,
    settings=Settings,
    quick={},
    check=plan_of,
    file=None,
    records=_records,
    name_of=lambda line: next(iter(line)),
    parts=lambda plan: ["profile"] if plan.profile else list(PARTS),
    run_part=lambda plan, name: {name: PARTS[name](plan)},
    results=_results_of,
    tables=shown_tables,
    needs_all=True,
)
main = EXPERIMENT.main
