"""Apply small changes to the sources, one at a time, and report which ones the tests notice.

    python -m tests.mutation
    python -m tests.mutation --count 50 --seed 7
    python -m tests.mutation --only wfb_gym/engine/casting.py

Changes are drawn at random from all operators, constants, conditions and statements of the engine,
the rules, the encoding, the solver, the players, the environments and the packing. The test files
of the package and of packages that use it run once without a change, and the lines that each test
covers are recorded. Then the tests that cover a changed line run, the nearest and fastest first,
for at most two minutes of CPU time. Nothing is compiled (NUMBA_DISABLE_JIT). Tests that take more
than 6 s without a change are left out, with the other cases of the same function, and files end
after 120 s. A line that runs once in a process, for example in a cached fixture, counts for the
first test that needs it.

Finished changes are stored in OUT/parts.jsonl, and the same command continues an interrupted run.
After a change of sources or tests, use another OUT; recordings are made again by themselves.
`equivalent.toml` lists the changes that cannot be noticed, with the reason.
"""

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from experiments.experiment import Experiment
from experiments.outcomes import Line, Results, Run
from experiments.tables import ResultTable
from tests.mutation.mutants import Mutant, draw_mutants
from tests.mutation.suite import ROOT, Suite, files_for, repository_copy
from wfb_gym.cli.parser import option

_EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Settings:
    """Settings for the measurement.

    Attributes:
        count: number of changes.
        seed: seed for drawing them.
        only: files or folders to change; all if none is given.
        workers: processes that run tests.
        out: folder of the results, and of the copies of the repository.
    """

    count: int = 300
    seed: int = 1
    only: tuple[str, ...] = option((), metavar="PATH")
    workers: int = 2
    out: Path = Path("runs/mutation")


def _parts(settings: Settings) -> list[Mutant]:
    drawn = draw_mutants(ROOT, 10**9, settings.seed)
    chosen = [each for each in drawn if each.path.startswith(settings.only or "")]
    return chosen[: settings.count]


def run_part(settings: Settings, mutant: Mutant) -> Line:
    """Run the tests that cover a change, and return which one failed first."""
    folder = settings.out.absolute()
    with repository_copy(folder / "copies") as copy:
        suite = Suite(copy, folder / "recordings")
        suite.record(files_for(mutant.path))
        changed = copy / mutant.path
        source = changed.read_bytes()
        try:
            changed.write_bytes(mutant.apply(source))
            noticed = suite.failure(suite.covering(mutant))
        finally:
            changed.write_bytes(source)
    was, becomes = mutant.changed_line(source)
    found = {"mutant": str(mutant), "path": mutant.path, "was": was, "becomes": becomes}
    return {**found, "noticed": noticed}


def equivalent_changes() -> set[tuple[str, ...]]:
    """Return the file, the line and the changed line of each change that cannot be noticed."""
    with _EQUIVALENT.open("rb") as file:
        return {_change(each) for each in tomllib.load(file)["change"]}


def _change(line: Line) -> tuple[str, ...]:
    return line["path"], line["was"], line["becomes"]


def _ending(line: Line, equivalent: set[tuple[str, ...]]) -> str:
    if line["noticed"]:
        return "timeout" if line["noticed"] == "timeout" else "noticed"
    return "equivalent" if _change(line) in equivalent else "survived"


def _results(run: Run[Settings, Mutant]) -> Results:
    equivalent = equivalent_changes()
    packages: dict[str, Counter[str]] = {}
    for line in run.lines:
        package = line["path"].split("/")[1]
        packages.setdefault(package, Counter())[_ending(line, equivalent)] += 1
    survivors = [line["mutant"] for line in run.lines if _ending(line, equivalent) == "survived"]
    return run.document(packages=packages, survivors=survivors)


def _rows(results: Results) -> list[list[str]]:
    endings = ("noticed", "timeout", "survived", "equivalent")
    rows = [["package", *endings, "score"]]
    total: Counter[str] = Counter()
    for package, found in sorted(results["packages"].items()):
        total.update(found)
        rows.append(_row(package, Counter(found), endings))
    return [*rows, _row("all", total, endings)]


def _row(name: str, found: Counter[str], endings: tuple[str, ...]) -> list[str]:
    killed = found["noticed"] + found["timeout"]
    judged = killed + found["survived"]
    score = f"{100 * killed / judged:.0f} %" if judged else ""
    return [name, *(str(found[ending]) for ending in endings), score]


def _survivors(results: Results) -> str:
    return "\n".join(["survivors:", *(f"  {each}" for each in results["survivors"])])


_CHANGES = ResultTable("changes", _rows)
EXPERIMENT = Experiment(
    module="tests.mutation",
    description=__doc__,
    settings=Settings,
    quick=None,
    positive=("count", "workers"),
    natural=("seed",),
    kind="mutation",
    free=("out", "workers", "count"),
    parts=_parts,
    run_part=run_part,
    name_of=lambda line: str(line["mutant"]),
    results=_results,
    tables=lambda results: (_CHANGES.text(results), _survivors(results)),
)
main = EXPERIMENT.main
