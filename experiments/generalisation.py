"""Measure generalisation: exact scores in scenarios of the training and in scenarios outside of it.

    python -m experiments.generalisation runs/generated-all-fast
    python -m experiments.generalisation runs/steps-* runs/count-* --count 2 --json

The arguments are runs of `agents.train_fast` that trained on generated scenarios of the same kinds.
Both networks of each run are graded in the first scenarios of each kind in its training (seen), and
in others of the train split (unseen). The benchmark's scenarios are not touched, so the command can
be used for tuning. The share of the stakes is shown by the number of environment steps and by the
number of training scenarios, as in Procgen (Cobbe et al. 2020).

Graded kinds are stored in OUT/parts.jsonl, and the same command continues an interrupted run. OUT
gets results.json and generalisation.png.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.generalisation")

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments import common
from experiments.experiment import Experiment
from experiments.figures.generalisation import draw_generalisation
from experiments.leaderboards.searching import grade_found
from experiments.outcomes import Line, Results, Run
from experiments.statistics import share_of_stakes
from experiments.tables import ResultTable, texts
from wfb_gym.cli.parser import option
from wfb_gym.generating import ALL_KINDS, OPTIONS_BY_NAME, TRAIN_SEEDS, Generated
from wfb_gym.players.registry import check_agent
from wfb_gym.seats import SEATS

UNSEEN = len(TRAIN_SEEDS) // 2
"""First seed of the unseen scenarios. A training must use fewer scenarios."""
GROUPS = ("seen", "unseen")
_NAMES = {options: name for name, options in ALL_KINDS.items()}
"""Names of the benchmark's kinds, whose scenarios can be solved, by options."""


@dataclass(frozen=True)
class Settings:
    """Settings for the grading.

    Attributes:
        runs: folders of runs of `agents.train_fast`.
        count: number of seen and of unseen scenarios of each kind.
        workers: processes on this machine that grade.
        out: folder of the results.
    """

    runs: tuple[str, ...] = option((), positional=True, nargs="+", metavar="RUN")
    count: int = 4
    workers: int = 1
    out: Path = Path("runs/generalisation")


class FinishedRun(NamedTuple):
    """A finished run: its folder, environment steps, scenarios and seed."""

    folder: Path
    steps: int
    scenarios: Generated
    seed: int

    @property
    def networks(self) -> dict[str, str]:
        """The paths of the networks, by seat."""
        return {seat: str(self.folder / f"{seat}.npz") for seat in SEATS}


class KindGroup(NamedTuple):
    """A kind of generated scenario, seen or unseen."""

    kind: str
    group: str

    def __str__(self) -> str:
        """Return the kind and the group as text."""
        return f"{self.kind}, {self.group}"


@lru_cache(maxsize=256)
def read_run(folder: Path) -> FinishedRun:
    """Read a run's folder.

    Raises:
        ValueError: the run is unfinished, or did not train on generated scenarios.
        OSError: the results cannot be read.
    """
    try:
        results = json.loads((folder / common.RESULTS).read_text(encoding="utf-8"))
        names, seed, steps = results["args"]["scenario"], results["args"]["seed"], results["frames"]
        interrupted = results["interrupted"]
    except (ValueError, KeyError, TypeError):
        interrupted = True
    if interrupted:
        raise ValueError(f"{folder}: expected a finished run of agents.train_fast")
    is_generated = len(names) == 1 and names[0].partition(":")[0] in OPTIONS_BY_NAME
    scenarios = Generated.parse(names[0]) if is_generated else None
    if scenarios is None or not set(scenarios.kinds) <= set(_NAMES):
        expected = "a training on generated scenarios of the benchmark's kinds"
        raise ValueError(f"{folder}: expected {expected}, found {', '.join(names)}")
    return FinishedRun(folder, steps, scenarios, seed)


def _recorded(settings: Settings) -> dict[str, Any]:
    networks = [path for each in _runs(settings) for path in each.networks.values()]
    digests = {path: sha256(Path(path).read_bytes()).hexdigest() for path in networks}
    return {"count": settings.count, "networks": digests}


def _runs(settings: Settings) -> list[FinishedRun]:
    return [read_run(Path(folder)) for folder in settings.runs]


def _check(settings: Settings, _: Collection[str]) -> Settings:
    first, *others = runs = _runs(settings)
    for each in others:
        if each.scenarios.kinds != first.scenarios.kinds:
            raise ValueError(f"{each.folder}: expected the same kinds as in {first.folder}")
    needed = settings.count * len(first.scenarios.kinds)
    for each in runs:
        if not needed <= each.scenarios.count < UNSEEN:
            expected = f"a training on {needed} to {UNSEEN - 1} scenarios"
            raise ValueError(f"{each.folder}: expected {expected}, found {each.scenarios.count}")
        for path in each.networks.values():
            check_agent(path)
    return replace(settings, runs=tuple(dict.fromkeys(settings.runs)))


def _parts(settings: Settings) -> list[KindGroup]:
    kinds = _runs(settings)[0].scenarios.kinds
    return [KindGroup(_NAMES[options], group) for options in kinds for group in GROUPS]


def grade_part(settings: Settings, part: KindGroup) -> Line:
    """Return the scores of all runs in a kind's seen or unseen scenarios, and the stakes, by seat.

    Scenarios that are too large to solve are left out.
    """
    runs = _runs(settings)
    networks = {seat: [each.networks[seat] for each in runs] for seat in SEATS}
    kinds = runs[0].scenarios.kinds
    seeds: Sequence[int] = range(UNSEEN, TRAIN_SEEDS.stop)
    if part.group == "seen":
        fewest = min(each.scenarios.count for each in runs)
        seeds = range(fewest)[kinds.index(ALL_KINDS[part.kind]) :: len(kinds)]
    graded = grade_found(networks, part.kind, settings.count, seeds)
    return {"part": str(part), "group": part.group} | graded


def _results(run: Run[Settings, KindGroup]) -> Results:
    rows: list[dict[str, Any]] = []
    for place, own in enumerate(_runs(run.settings)):
        row: dict[str, Any] = {
            "run": own.folder.name,
            "steps": own.steps,
            "scenarios": own.scenarios.count,
            "seed": own.seed,
        }
        for group in GROUPS:
            lines = [line for line in run.lines if line["group"] == group]
            pairs = [(line, seat) for line in lines for seat in SEATS]
            scores = [each for line, seat in pairs for each in line["scores"][seat][place]]
            stakes = [each for line, seat in pairs for each in line["stakes"][seat]]
            row[group] = float(share_of_stakes(np.array([scores]), np.array(stakes)))
        rows.append(row)
    return {
        "args": common.recorded_settings(run.settings, {"out", "runs", "workers"}),
        "runs": rows,
        "versions": common.versions(),
    }


def _rows(results: Results) -> list[list[str]]:
    rows = [["steps", "training scenarios", "seed", "seen", "unseen", "gap"]]
    for each in sorted(results["runs"], key=lambda row: (row["scenarios"], row["steps"])):
        gap = each["seen"] - each["unseen"]
        cells = [f"{number:.1f}" for number in (each["seen"], each["unseen"], gap)]
        rows.append([f"{each['steps']:,}", f"{each['scenarios']:,}", str(each["seed"]), *cells])
    return rows


SHARES = ResultTable("share of the stakes in %, in both seats", _rows, ())
EXPERIMENT = Experiment(
    module="experiments.generalisation",
    description=__doc__,
    settings=Settings,
    quick=None,
    check=_check,
    positive=("count", "workers"),
    parts=_parts,
    recorded=_recorded,
    run_part=grade_part,
    name_of=lambda line: str(line["part"]),
    files=lambda settings: [path for each in _runs(settings) for path in each.networks.values()],
    results=_results,
    tables=texts(SHARES),
    figures=lambda results, out: draw_generalisation(results, out / "generalisation.png"),
    needs_all=True,
)
main = EXPERIMENT.main
