"""Searches for hyperparameters: random settings, of which the better half goes on with more steps.

    python -m agents.tune --seat dispeller
    python -m agents.tune --scenario dwarf-hold --trials 9 --steps 100000

Every trial is trained like `agents.train` does, at fixed seeds, and scored by what it is in
the end: its exact score where the scenario can be solved, else its mean points against the rules
of thumb. Successive halving: all settings are tried with a few steps, the best third of them with
three times as many, and so on until one is left; the first trial is what hyperparameters.toml
says. Writes trials.jsonl, one line a trial, tune.json and tune.png, and prints the best settings
as they go into agents/hyperparameters.toml. A search that was interrupted goes on when it is
asked for again in the same folder.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from agents.training.numbers import natural, positive
from agents.training.search import (
    CHOICES,
    RANGES,
    Search,
    Trial,
    add,
    planned,
    ranked,
    read,
    searched,
    solution_of,
)
from agents.training.settings import Hyperparameters, class_of
from experiments.common import IDS, INTERRUPTED, progress
from wfb_gym.cli.parser import Parser
from wfb_gym.scenario import ScenarioError

TICKS: dict[str, tuple[float, ...]] = {
    **CHOICES,
    "learning_rate": (3e-4, 1e-3, 3e-3, 1e-2),
    "ent_coef": (0.003, 0.01, 0.03, 0.1, 0.3),
    "ent_final": (3e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3),
}
LOGARITHMIC = ("num_envs", "n_steps", "batch_size", "net", *RANGES, "ent_final")


def parsed(arguments: Sequence[str] | None) -> tuple[Search, bool]:
    """What to search, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    usual = Search()
    parser = Parser(prog="python -m agents.tune", description=(__doc__ or "").strip())
    add = parser.add_argument
    add("--scenario", default=usual.scenario, help="(default: %(default)s)")
    add("--seat", default=usual.seat, choices=sorted(IDS), help="(default: %(default)s)")
    add("--trials", type=positive, default=usual.trials, help="settings (default: %(default)s)")
    add("--steps", type=positive, default=usual.steps, help="of the first (default: %(default)s)")
    add("--seeds", type=positive, default=usual.seeds, help="of each (default: %(default)s)")
    add("--seed", type=natural, default=usual.seed, help="of the search (default: %(default)s)")
    add("--out", type=Path, metavar="DIR", help="(default: runs/tune-SCENARIO-SEAT)")
    add("--quick", action="store_true", help="a tiny search that only shows that all works")
    add("--json", action="store_true", help="print JSON alone on stdout")
    given = vars(parser.parse_args(arguments))
    quick, as_json = given.pop("quick"), given.pop("json")
    given["out"] = given["out"] or Path("runs") / (
        f"tune-{Path(given['scenario']).stem}-{given['seat']}"
    )
    args = Search(**given)
    try:
        class_of(args.scenario, args.seat)
    except ScenarioError as error:
        parser.error(str(error))
    return (replace(args, trials=3, steps=1024, seeds=1) if quick else args), as_json


def draw(trials: Sequence[Trial], args: Search, solved: bool, path: Path) -> None:
    """Scores by each setting, a colour for each rung."""
    names = [field.name for field in fields(Hyperparameters) if field.name != "steps"]
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    panels = figure.subplots(3, 3, sharey=True).ravel()
    for axes, name in zip(panels, names, strict=True):
        for rung in sorted({trial.rung for trial in trials}):
            own = [trial for trial in trials if trial.rung == rung]
            axes.plot(
                [getattr(trial.hyper, name) for trial in own],
                [trial.score for trial in own],
                "o",
                markersize=4 + 2 * rung,
                alpha=0.7,
                color=f"C{rung}",
                label=f"{own[0].hyper.steps:,} steps" if name == names[0] else None,
            )
        if name in LOGARITHMIC:
            axes.set_xscale("log")
        axes.set_xticks(TICKS[name], [f"{tick:g}" for tick in TICKS[name]])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
        axes.set_xlabel(name)
        axes.grid(alpha=0.3)
    what = "exact score (100 is optimal)" if solved else "points against the rules of thumb"
    figure.supylabel(what)
    figure.suptitle(f"{args.seat} in {Path(args.scenario).stem}: {len(trials)} trainings")
    figure.legend(loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=150)


def as_toml(hyper: dict[str, Any]) -> str:
    """Settings as they go into hyperparameters.toml; the steps are whoever trains's to choose."""
    return "\n".join(f"{key} = {value}" for key, value in hyper.items() if key != "steps")


def main(arguments: Sequence[str] | None = None) -> int:
    """Search and write; returns the exit status."""
    args, as_json = parsed(arguments)
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)
    args.out.mkdir(parents=True, exist_ok=True)
    log = args.out / "trials.jsonl"
    done = read(log)
    trials: list[Trial] = []
    interrupted = False
    with progress() as bar:
        task = bar.add_task("searching", total=planned(args), note="")
        try:
            for trial in searched(args, done):
                trials.append(trial)
                if trial.key not in done:
                    add(log, trial)
                best = max(each.score or 0.0 for each in trials)
                bar.update(task, advance=1, note=f"rung {trial.rung + 1}, best {best:.1f}")
        except KeyboardInterrupt:
            interrupted = True
        except ValueError as error:
            print(f"tune: {args.out}: {error}", file=sys.stderr)
            return 2
    rows = ranked(trials)
    results = {
        "args": {**asdict(args), "out": str(args.out)},
        "interrupted": interrupted,
        "trainings": len(trials),
        "seconds": round(sum(trial.seconds for trial in trials), 1),
        "ranked": rows,
    }
    (args.out / "tune.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if trials:
        draw(trials, args, solution_of(args) is not None, args.out / "tune.png")
    if interrupted:
        print(f"interrupted after {len(trials)} trainings; ask again to go on", file=sys.stderr)
    if as_json:
        print(json.dumps(results, indent=2))
    elif rows:
        print(f"# score {rows[0]['score']}, trial {rows[0]['number']} of {args.trials}")
        print(as_toml(rows[0]["hyper"]))
    return INTERRUPTED if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
