"""Makes every table and figure of README.md and docs/, from committed results or from scratch.

    python -m tools.report                  tables and figures from docs/results/
    python -m tools.report --check          only say whether the tables are current
    python -m tools.report --list           what there is, and the command behind each
    python -m tools.report --scratch        run every command again, for some hours
    python -m tools.report --scratch fast   run one of them again

A command's results.json is kept in docs/results/NAME.json, and its pictures in docs/images. A
table stands in its page between <!-- report:NAME --> and <!-- /report -->. Pictures that need more
than the results (a trained model, all matches of a tournament) are only made from scratch.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.common import short_names
from agents.distillation.grading import Grade
from agents.figures import draw_grades, draw_scores
from experiments.benchmarks import tables
from experiments.common import FAILED, markdown_table
from experiments.figures.speed import draw_speed
from experiments.solve import values_table
from wfb_gym.cli.parser import Parser
from wfb_gym.files import write_text_whole, write_whole
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import did_you_mean

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
IMAGES = ROOT / "docs" / "images"
RUNS = Path("runs") / "report"

Results = Any
"""The JSON that a command writes."""


@dataclass(frozen=True)
class Report:
    """A table or figure, and the command whose results it shows."""

    name: str  # of the results, and of the table in its page
    command: str  # behind ``python -m``; if `printed`, it gets ``--json``
    minutes: float  # that the command takes on two cores
    table: Callable[[Results], str] | None = None  # from the results to Markdown
    page: str = "README.md"  # that shows the table
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Files of the command's folder, and their names in docs/images."""
    draw: Callable[[Results, Path], None] | None = None
    """Draws the first picture from the results alone, where they suffice."""
    printed: bool = False  # whether the command prints its results, instead of writing a file
    more: Mapping[str, tuple[str, Callable[[Results], str]]] = field(default_factory=dict)
    """Further tables from the same results: their names, pages and functions."""

    @property
    def folder(self) -> Path:
        """The folder that the command writes to."""
        return RUNS / self.name

    @property
    def line(self) -> str:
        """The command line behind ``python -m``."""
        return f"{self.command} {'--json' if self.printed else f'--out {self.folder}'}"

    @property
    def results(self) -> Path:
        """The committed results."""
        return RESULTS / f"{self.name}.json"

    def read(self) -> Results:
        """Read the committed results."""
        return json.loads(self.results.read_text(encoding="utf-8"))

    def pages_with_tables(self) -> dict[Path, tuple[str, str]]:
        """Return the text of each page of a table, and what it is with the committed results."""
        own = {} if self.table is None else {self.name: (self.page, self.table)}
        found: dict[Path, tuple[str, str]] = {}
        for name, (page, table) in (own | dict(self.more)).items():
            path = ROOT / page
            text, wanted = found.get(path) or (path.read_text(encoding="utf-8"),) * 2
            found[path] = text, insert_table(wanted, name, table(self.read()))
        return found


def grades_table(results: Results) -> str:
    """Return a table of points of every player against every opponent, and exact scores."""
    opponents = list(next(iter(results["grades"].values())))
    exact = results["exact"]
    header = [f"{results['args']['seat']} against", *short_names(opponents).values()]
    header += ["exact", "score"] if exact else []
    rows = []
    for name, scores in results["grades"].items():
        shown = f"**{name}**" if name == "trained" else name
        cells = [f"{one['mean']:+.1f} ± {one['half_width']:.1f}" for one in scores.values()]
        if exact:
            cells += [f"{exact[name]['guaranteed']:+.1f}", f"{exact[name]['score']:.1f}"]
        rows.append([shown, *cells])
    if exact:
        best = next(iter(exact.values()))["optimum"]
        rows.append(["optimal", *("" for _ in opponents), f"{best:+.1f}", "100.0"])
    return markdown_table([header, *rows], text_columns=(0,))


def runs_table(results: Results) -> str:
    """Return a table of exact scores of both seats by seed."""
    seats = results["scores"]
    rows = [[str(one["args"]["seed"]), *_progress(one, seats)] for one in results["runs"]]
    rows.append(["median", "", "", *(f"**{score:.2f}**" for score in seats.values())])
    return markdown_table([["seed", "seconds", "decisions", *seats], *rows], text_columns=(0,))


def run_table(results: Results) -> str:
    """Return a table of exact scores along one run."""
    seats = results["scores"]
    rows = [_progress(one, seats) for one in results["curve"]]
    return markdown_table([["seconds", "decisions", *seats], *rows], text_columns=(0,))


def _progress(run: Results, seats: Iterable[str]) -> list[str]:
    """Time, decisions and exact scores of a run, or of a point of it."""
    scores = (f"{run['scores'][seat]:.2f}" for seat in seats)
    return [f"{run['seconds']:.0f}", f"{run['frames']:,}", *scores]


def distilled_table(results: Results) -> str:
    """Return a table of the distribution of one policy's scores over many scenarios."""
    scores = np.array([one["score"] for one in results["grades"]])
    low, quarter, three, high = (results["quantiles"][q] for q in ("0.05", "0.25", "0.75", "0.95"))
    header = ["seat", "scenarios", "5 %", "25 %", "median", "75 %", "95 %", "at least 95"]
    row = [results["args"]["seat"], str(len(scores)), f"{low:.1f}", f"{quarter:.1f}"]
    row += [f"**{results['median_score']:.1f}**", f"{three:.1f}", f"{high:.1f}"]
    row.append(f"{100 * (scores >= 95).mean():.0f} %")
    return markdown_table([header, row], text_columns=(0,))


def rating_table(results: Results) -> str:
    """Return a table of a tournament's ratings, best first."""
    rows = []
    for one in results["rating"]:
        if (rating := one["rating"]) is None:
            continue
        cells = [f"{rating['value']:+.3f} [{rating['low']:+.3f}, {rating['high']:+.3f}]"]
        values = (one["casting"], one["dispelling"], one["worst"]["value"])
        cells += [f"{value:+.3f}" for value in values]
        rows.append([one["agent"], *cells, str(one["against"])])
    header = ["agent", "rating", "casting", "dispelling", "worst", "against"]
    return markdown_table([header, *rows], text_columns=(0,))


def _markdown_of(rows: Callable[[Results], tables.Rows]) -> Callable[[Results], str]:
    """Return what makes a Markdown table of the rows that a function makes of results."""
    return lambda results: markdown_table(rows(results), text_columns=(0,))


def _draw_runs(results: Results, folder: Path) -> None:
    runs = results.get("runs", [results])
    named = ", ".join(results["args"]["scenario"])
    seeds = f", {len(runs)} seeds" if len(runs) > 1 else ""
    draw_scores([one["curve"] for one in runs], f"self-play in {named}{seeds}", folder)


def _draw_distilled(results: Results, path: Path) -> None:
    grades = [Grade(**one) for one in results["grades"]]
    draw_grades(grades, results["args"]["seat"], path)


ALL = (
    Report(
        "fast",
        "agents.train_fast --runs 5",
        5,
        runs_table,
        pictures={"curve.png": "fast-curve.png", "seed-0/policy.png": "fast-policy.png"},
        draw=_draw_runs,
    ),
    Report(
        "train",
        "agents.train",
        8,
        grades_table,
        pictures={"curve.png": "curve.png", "policy.png": "policy.png"},
    ),
    Report(
        "train-dispeller", "agents.train --seat dispeller", 8, grades_table, "docs/experiments.md"
    ),
    Report(
        "large",
        "agents.train_fast --scenario grand-conclave --seconds 600 --width 192 --evaluations 2 "
        "--exact-bytes 4294967296",
        14,
        run_table,
        page="docs/experiments.md",
        pictures={"curve.png": "large-curve.png"},
        draw=_draw_runs,
    ),
    *(
        Report(
            f"general-{seat}",
            f"agents.distil --seat {seat}",
            60,
            distilled_table,
            pictures={"scores.png": f"general-{seat}.png"},
            draw=_draw_distilled,
        )
        for seat in SEATS
    ),
    Report(
        "tournament",
        "experiments.tournament --scenario archmage-duel --scenario orc-shaman-hunt "
        "--planner-battles 1000",
        10,
        rating_table,
        pictures={"rating.png": "rating.png", "archmage-duel.png": "tournament.png"},
    ),
    Report(
        "battle",
        "agents.train --scenario border-skirmish",
        5,
        grades_table,
        pictures={"curve.png": "battle-curve.png"},
    ),
    Report(
        "values",
        "experiments.solve --all",
        15,
        lambda results: values_table(results["scenarios"]),
        printed=True,
    ),
    Report(
        "benchmark",
        "experiments.benchmark --long",
        12,
        _markdown_of(tables.speed_rows),
        more={
            f"benchmark-{name}": ("docs/speed.md", _markdown_of(rows))
            for name, rows in (
                ("aims", tables.aim_rows),
                ("ratios", tables.ratio_rows),
                ("threads", tables.scaling_rows),
                ("commands", tables.command_rows),
                ("solved", tables.solving_rows),
                ("update", tables.profile_rows),
            )
        },
        pictures={"speed.png": "speed.png"},
        draw=draw_speed,
        printed=True,
    ),
)
_HEAT_MAP, _BATTLEFIELD, _FIRE_BALL, _FRAME = (
    f"docs/images/{name}.png"
    for name in ("archmage-duel-dice", "border-skirmish", "fire-ball", "rgb-array")
)
PAGES = {
    "docs/leaderboard.md": "experiments.leaderboard",
    _HEAT_MAP: f"experiments.solve archmage-duel --plot {_HEAT_MAP}",
    _BATTLEFIELD: f"wfb_gym draw border-skirmish --out {_BATTLEFIELD}",
    _FIRE_BALL: f"wfb_gym draw border-skirmish --spell fireball --out {_FIRE_BALL}",
    _FRAME: f"tools.rendering --out {_FRAME}",
    "docs/environments/": "tools.pages",
}
"""Pages and pictures that a command of their own writes in place within a minute."""


def insert_table(page: str, name: str, table: str) -> str:
    """Return a page with a table between its marks, which must be there."""
    marks = re.compile(rf"(<!-- report:{re.escape(name)} -->\n).*?(\n<!-- /report -->)", re.DOTALL)
    if not marks.search(page):
        raise ValueError(f"expected <!-- report:{name} --> and <!-- /report --> in the page")
    return marks.sub(lambda found: f"{found[1]}\n{table}\n{found[2]}", page)


def find_stale(reports: Sequence[Report]) -> list[str]:
    """Names of the tables that differ from the committed results."""
    shown = {one.name: one.pages_with_tables() for one in reports if one.results.is_file()}
    return [name for name, pages in shown.items() if any(a != b for a, b in pages.values())]


def rewrite(one: Report) -> None:
    """Write tables into their pages, and draw the picture that needs only the results."""
    for path, (_, page) in one.pages_with_tables().items():
        write_text_whole(path, page)
    if one.draw is not None:
        one.draw(one.read(), IMAGES / next(iter(one.pictures.values())))


def run(one: Report) -> None:
    """Run the command and keep its results and pictures."""
    print(f"{one.name}: python -m {one.line}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", *one.line.split()],
        cwd=ROOT,
        check=True,
        text=True,
        stdout=subprocess.PIPE if one.printed else sys.stderr,
    )
    text = done.stdout if one.printed else (ROOT / one.folder / "results.json").read_text("utf-8")
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_text_whole(one.results, text)
    if one.printed:
        return  # its pictures are drawn from the results
    for source, target in one.pictures.items():
        with write_whole(IMAGES / target) as file:
            file.write((ROOT / one.folder / source).read_bytes())


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the reports; returns the exit status."""
    parser = Parser(prog="python -m tools.report", description=(__doc__ or "").strip())
    parser.add_argument("names", nargs="*", metavar="NAME", help="(default: all)")
    parser.add_argument("--scratch", action="store_true", help="run the commands again")
    parser.add_argument("--check", action="store_true", help="change nothing, name stale tables")
    parser.add_argument("--list", action="store_true", help="names and commands")
    given = parser.parse_args(arguments)
    known = {one.name: one for one in ALL}
    for name in given.names:
        if name not in known:
            question = did_you_mean(known, name)
            parser.error(f"expected one of {', '.join(known)}{question}, found {name!r}")
    chosen = [known[name] for name in given.names or known]
    if given.list:
        for one in chosen:
            print(f"{one.name:16} {one.minutes:4.0f} min  python -m {one.line}")
        for page, command in PAGES.items():
            print(f"{page}: python -m {command}")
        return 0
    if given.check:
        stale = find_stale(chosen)
        print(f"stale: {', '.join(stale)}" if stale else "all tables are current")
        return FAILED if stale else 0
    try:
        for one in chosen:
            if given.scratch:
                run(one)
            if one.results.is_file():
                rewrite(one)
            else:
                print(f"{one.name}: no results yet, run it with --scratch", file=sys.stderr)
        if given.scratch and not given.names:
            for command in PAGES.values():
                subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, check=True)
    except subprocess.CalledProcessError as error:
        print(f"report: {error}", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
