"""Makes every table and figure of README.md and docs/, from committed results or from scratch.

    python -m tools.report                  tables and figures from docs/results/
    python -m tools.report --check          only say whether the tables are current
    python -m tools.report --list           what there is, and the command behind each
    python -m tools.report --scratch        run every command again, for some hours
    python -m tools.report --scratch fast   run one of them again

A command's results.json is kept in docs/results/NAME.json, and its pictures in docs/images. A
table stands wherever README.md or a page of docs/ has <!-- report:NAME --> and <!-- /report -->.
Pictures that need more than the results (a trained network) are only made from scratch.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from agents import compare_offline, hidden
from agents.common import short_names
from agents.compare import ABLATIONS, TEXT_COLUMNS, compare_rows
from agents.distillation.grading import Grade
from agents.figures import (
    draw_comparison,
    draw_grades,
    draw_learning_curve,
    draw_offline,
    draw_scores,
)
from agents.self_play.runs import LARGE
from experiments import distance, horizon, memory, secret
from experiments.benchmarks import tables
from experiments.common import FAILED, markdown_table
from experiments.figures.horizon import draw_horizon
from experiments.figures.secret import draw_secret
from experiments.figures.speed import draw_speed
from experiments.figures.strength import draw_strength
from experiments.solve import values_table
from experiments.strength import BATTLES, strength_rows
from experiments.tournaments.reports import draw_points, draw_ratings
from wfb_gym.cli.parser import option, parse_options
from wfb_gym.files import write_text_whole, write_whole
from wfb_gym.scenario import hidden_scenarios
from wfb_gym.seats import SEATS
from wfb_gym.solver import Estimate
from wfb_gym.suggestions import did_you_mean

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
IMAGES = ROOT / "docs" / "images"
RUNS = Path("runs") / "report"

SELF_PLAY = "runs/ppo/{scenario}/caster.npz+runs/ppo/{scenario}/dispeller.npz"
"""Networks of battles, which `agents.train_fast` has trained there before."""

Results = Any
"""The JSON that a command writes."""


@dataclass(frozen=True)
class Report:
    """A table or figure, and the command whose results it shows."""

    name: str  # of the results, and of the table in its page
    command: str  # behind ``python -m``; if `printed`, it gets ``--json``
    minutes: float  # that the command takes on two cores
    table: Callable[[Results], str] | None = None  # from the results to Markdown
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Files of the command's folder, and their names in docs/images."""
    draw: Sequence[Callable[[Results, Path], None]] = ()
    """Draw the first pictures from the results alone, where they suffice."""
    printed: bool = False  # whether the command prints its results, instead of writing a file
    more: Mapping[str, Callable[[Results], str]] = field(default_factory=dict)
    """Further tables from the same results, by name."""

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
        """Return the text of each page of a table, and what it is with the committed results.

        Raises:
            ValueError: no page has the marks of a table.
        """
        own = {} if self.table is None else {self.name: self.table}
        found: dict[Path, tuple[str, str]] = {}
        for name, table in (own | dict(self.more)).items():
            text = table(self.read())
            pages = {path: found.get(path) or (_text(path),) * 2 for path in _pages()}
            shown = {path: each for path, each in pages.items() if _marks(name).search(each[0])}
            if not shown:
                raise ValueError(
                    f"expected <!-- report:{name} --> and <!-- /report --> in README.md or docs/"
                )
            found |= {
                path: (old, insert_table(new, name, text)) for path, (old, new) in shown.items()
            }
        return found


def _pages() -> list[Path]:
    return [path for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")) if path.is_file()]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _marks(name: str) -> re.Pattern[str]:
    """What finds the marks of a table, and all between them."""
    return re.compile(rf"(<!-- report:{re.escape(name)} -->\n).*?(<!-- /report -->)", re.DOTALL)


def insert_table(page: str, name: str, table: str) -> str:
    """Return a page with a table between its marks."""
    return _marks(name).sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)


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
    """Return a table of exact scores of both seats by seed, and when each was reached."""
    seats = results["scores"]
    rows = []
    for one in results["runs"]:
        kept = ((f"{one['scores'][s]:.2f}", f"{one['best_after'][s]:,}") for s in seats)
        rows.append([str(one["args"]["seed"]), *(cell for pair in kept for cell in pair)])
    medians = ((f"**{score:.2f}**", "") for score in seats.values())
    rows.append(["median", *(cell for pair in medians for cell in pair)])
    header = ["seed", *(cell for seat in seats for cell in (seat, "after decisions"))]
    return markdown_table([header, *rows], text_columns=(0,))


def run_table(results: Results) -> str:
    """Return a table of exact scores along one run."""
    seats = results["scores"]
    rows = [
        [f"{one['frames']:,}", *(f"{one['scores'][seat]:.2f}" for seat in seats)]
        for one in results["curve"]
    ]
    return markdown_table([["decisions", *seats], *rows], text_columns=())


def distilled_table(results: Results, by_kind: bool = True) -> str:
    """Return a table of how one policy's scores are distributed, by seat and kind of scenario."""
    kinds = results["kinds"]
    rows = [
        ["seat", "scenarios", "how many", "5 %", "25 %", "median", "at least 95", "of all stakes"]
    ]
    for seat in SEATS:
        own = [one for one in results["grades"] if one["seat"] == seat]
        for kind in (None, *kinds) if by_kind else (None,):
            some = [one for one in own if kind in (None, kinds[one["number"] % len(kinds)])]
            scores = np.array([one["score"] for one in some])
            won = sum(one["guaranteed"] - one["random"] for one in some)
            stakes = sum(one["optimum"] - one["random"] for one in some)
            low, quarter, median = np.quantile(scores, (0.05, 0.25, 0.5))
            rows.append([seat, kind or "all", str(len(some)), f"{low:.1f}", f"{quarter:.1f}"])
            rows[-1] += [f"**{median:.1f}**", f"{100 * (scores >= 95).mean():.0f} %"]
            rows[-1].append(f"{100 * won / stakes:.1f} %")
    return markdown_table(rows, text_columns=(0, 1))


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


def solved(results: Results) -> str:
    """Return a table of the values of what is solved; of battles the first phases."""
    found = results["scenarios"]
    whole = {one["scenario"]: one["phases"] for one in found if "too_large" in one}
    rows = [
        one | {"phases": f"first {one['phases']} of {whole[one['scenario']]}"}
        if one["scenario"] in whole
        else one
        for one in found
        if "too_large" not in one
    ]
    return values_table(rows)


def unsolved(results: Results) -> str:
    """Return a sentence on the scenarios that are too large."""
    large = [one for one in results["scenarios"] if "too_large" in one]
    sizes = {one["scenario"]: Estimate(**one["too_large"] | {"causes": ()}) for one in large}
    least, *_, most = sorted(sizes, key=lambda name: sizes[name].states)
    return (
        f"{len(large)} bundled battles are too large to be solved whole, from {sizes[least]} "
        f"({least}) to {sizes[most]} ({most})."
    )


def distances(results: Results) -> str:
    """Return a table of how far players are from optimal play, seat by seat."""
    return markdown_table(distance.rows_of(results["parts"]), text_columns=distance.TEXT_COLUMNS)


def distance_bounds(results: Results) -> str:
    """Return a table of what players give away at least."""
    return markdown_table(distance.bound_rows_of(results["bounds"]), text_columns=(0, 1))


def strengths(results: Results) -> str:
    """Return what the reference wins more than others, battle by battle."""
    return markdown_table(strength_rows(results), text_columns=(0, 1))


def horizons(results: Results) -> str:
    """Return a table of exact scores by the phases that a player looks at."""
    return markdown_table(horizon.exact_rows(results["parts"]), text_columns=(0, 1))


def horizon_battles(results: Results) -> str:
    """Return a table of what looking at more phases wins in battles."""
    return markdown_table(horizon.battle_rows(results["parts"]), text_columns=(0,))


def _offline_table(results: Results, what: str, digits: int) -> str:
    """Return a table of what was learned from data sets, by the scores or by what is given away."""
    rows = compare_offline.rows_of(results["parts"], what, digits)
    return markdown_table(rows, text_columns=(0,))


def _compared(results: Results) -> str:
    """Return a table of learners."""
    return markdown_table(compare_rows(results["trainings"]), text_columns=TEXT_COLUMNS)


def _hidden(results: Results) -> str:
    """Return a table of learners where items are hidden, and of players that do not learn."""
    rows = [*compare_rows(results["trainings"]), *hidden.player_rows(results)]
    return markdown_table(rows, text_columns=TEXT_COLUMNS)


def _draw_runs(results: Results, path: Path) -> None:
    runs = results.get("runs", [results])
    named = ", ".join(results["args"]["scenario"])
    draw_scores([one["curve"] for one in runs], f"{named}: self-play", path)


def _draw_curve(results: Results, path: Path) -> None:
    given = results["args"]
    named = ", ".join(given.get("scenario") or given["scenarios"])
    draw_learning_curve(results["curve"], f"{named}: MaskablePPO as {given['seat']}", path)


def _draw_first_scenario(results: Results, path: Path) -> None:
    draw_points(results["scenarios"][0], path)


def _draw_distilled(results: Results, path: Path) -> None:
    grades = [Grade(**one) for one in results["grades"]]
    draw_grades(grades, path)


ALL = (
    Report(
        "fast",
        "agents.train_fast --runs 5",
        4,
        runs_table,
        {"curve.png": "fast-curve.png", "seed-0/policy.png": "fast-policy.png"},
        draw=(_draw_runs,),
    ),
    Report(
        "train",
        "agents.train",
        8,
        grades_table,
        {"curve.png": "curve.png"},
        draw=(_draw_curve,),
    ),
    Report("train-dispeller", "agents.train --seat dispeller", 8, grades_table),
    Report(
        "train-scripted",
        "agents.train --opponent greedy --opponent veteran --opponent random",
        8,
        grades_table,
    ),
    Report(
        "large",
        f"agents.train_fast {LARGE}",
        14,
        run_table,
        {"curve.png": "large-curve.png"},
        draw=(_draw_runs,),
    ),
    Report(
        "general",
        "agents.distil --scenarios 18000 --steps 43000 --width 128 --batch-size 4096 "
        "--learning-rate 0.0012 --precision tf32 --device cuda",
        90,
        distilled_table,
        {"scores.png": "general.png"},
        draw=(_draw_distilled,),
    ),
    Report(
        "further",
        "agents.distil --start-from runs/distil/policy.npz --first 18000 --scenarios 12500 "
        "--steps 3300 --batch-size 1024 --learning-rate 0.0004 --precision bfloat16 "
        "--decisions 128 --visited 128 --threads 2 --targets runs/visited",
        50,
        partial(distilled_table, by_kind=False),
    ),
    Report(
        "tournament",
        "experiments.tournament --scenario archmage-duel --scenario orc-shaman-hunt "
        "--planner-battles 1000",
        10,
        rating_table,
        {"rating.png": "rating.png", "archmage-duel.png": "tournament.png"},
        draw=(draw_ratings, _draw_first_scenario),
    ),
    Report(
        "strength",
        "experiments.strength",
        60,
        strengths,
        {"strength.png": "strength.png"},
        draw=(draw_strength,),
    ),
    Report(
        "strength-slow",
        "experiments.strength phase-search expectimax mcts:400 --battles 24",
        60,
        strengths,
        {"strength.png": "strength-slow.png"},
        draw=(draw_strength,),
    ),
    Report(
        "strength-search",
        "experiments.strength phase-search search --battles 24 "
        + " ".join(f"--scenario {each}" for each in BATTLES[:10]),
        30,
        strengths,
    ),
    Report(
        "strength-self-play",
        f"experiments.strength phase-search {SELF_PLAY}",
        40,
        strengths,
    ),
    Report(
        "horizon",
        "experiments.horizon",
        30,
        horizons,
        {"horizon.png": "horizon.png"},
        draw=(draw_horizon,),
        more={"horizon-battles": horizon_battles},
    ),
    Report(
        "battle",
        "agents.train --scenario border-skirmish",
        5,
        grades_table,
        {"curve.png": "battle-curve.png"},
        draw=(_draw_curve,),
    ),
    Report(
        "offline",
        "agents.compare_offline",
        30,
        lambda results: _offline_table(results, "score", 1),
        {"scores.png": "offline.png"},
        draw=(draw_offline,),
        more={"offline-regret": lambda results: _offline_table(results, "regret", 2)},
    ),
    Report(
        "compare",
        "agents.compare",
        45,
        _compared,
        {"curves.png": "learners.png"},
        draw=(draw_comparison,),
    ),
    Report(
        "ablations",
        "agents.compare --runs 3 --steps 1500000 --learner self-play "
        + " ".join(f"--learner {name}" for name in ABLATIONS),
        30,
        _compared,
        {"curves.png": "ablations.png"},
        draw=(draw_comparison,),
    ),
    Report(
        "openspiel",
        "agents.compare --scenario apprentice --steps 200000 --learner self-play "
        "--learner MCCFR --learner NFSP",
        15,
        _compared,
        {"curves.png": "openspiel.png"},
        draw=(draw_comparison,),
    ),
    Report(
        "hidden",
        "agents.hidden",
        60,
        _hidden,
        {"curves.png": "hidden.png"},
        draw=(draw_comparison,),
    ),
    Report(
        "memory",
        "experiments.memory",
        3,
        lambda results: markdown_table(memory.memory_rows(results), text_columns=(0, 1)),
    ),
    Report(
        "hidden-values",
        f"experiments.solve {' '.join(hidden_scenarios())} --gap 0.05",
        5,
        lambda results: values_table(results["scenarios"]),
        printed=True,
    ),
    Report(
        "secret",
        "experiments.secret",
        5,
        lambda results: markdown_table(secret.secret_rows(results), text_columns=()),
        {"secret.png": "secret.png"},
        draw=(draw_secret,),
    ),
    Report(
        "distance",
        "experiments.distance",
        15,
        distances,
        more={"distance-bounds": distance_bounds},
    ),
    Report(
        "values",
        "experiments.solve --all",
        15,
        solved,
        more={"values-too-large": unsolved},
        printed=True,
    ),
    Report(
        "benchmark",
        "experiments.benchmark --long",
        12,
        _markdown_of(tables.speed_rows),
        more={
            f"benchmark-{name}": _markdown_of(rows)
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
        draw=(draw_speed,),
        printed=True,
    ),
)
_HEAT_MAP, _BATTLEFIELD, _FIRE_BALL, _FRAME, _FILM = (
    f"docs/images/{name}"
    for name in (
        "archmage-duel-dice.png",
        "border-skirmish.png",
        "fire-ball.png",
        "rgb-array.png",
        "battle.gif",
    )
)
_WEB = ("web-desk", "web-phone", "web-review", "web-review-phone", "odds-sheet")
_FIVE_MINUTES = ("doubles", "first", "pools", "second", "third")
PAGES = {
    "docs/leaderboard.md": "experiments.leaderboard",
    _HEAT_MAP: f"experiments.solve archmage-duel --plot {_HEAT_MAP}",
    _BATTLEFIELD: f"wfb_gym draw border-skirmish --out {_BATTLEFIELD}",
    _FIRE_BALL: f"wfb_gym draw border-skirmish --spell fireball --out {_FIRE_BALL}",
    _FRAME: f"tools.rendering --out {_FRAME}",
    _FILM: f"tools.rendering --film --out {_FILM}",
    "docs/environments/": "tools.pages",
    **{f"docs/images/{name}.png": "tests.web" for name in _WEB},
    **{f"docs/images/five-minutes-{name}.png": "tools.five_minutes" for name in _FIVE_MINUTES},
}
"""Pages and pictures that a command of their own writes in place within a minute."""


def find_stale(reports: Sequence[Report]) -> list[str]:
    """Names of the tables that differ from the committed results."""
    shown = {one.name: one.pages_with_tables() for one in reports if one.results.is_file()}
    return [name for name, pages in shown.items() if any(a != b for a, b in pages.values())]


def rewrite(one: Report) -> None:
    """Write tables into their pages, and draw the pictures that need only the results."""
    for path, (_, page) in one.pages_with_tables().items():
        write_text_whole(path, page)
    for draw, picture in zip(one.draw, one.pictures.values(), strict=False):
        draw(one.read(), IMAGES / picture)


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


@dataclass(frozen=True)
class Options:
    """The command line.

    Attributes:
        names: reports to make (default: all).
        scratch: run the commands again.
        check: change nothing, name stale tables.
        list: print names and commands.
    """

    names: tuple[str, ...] = option((), positional=True, metavar="NAME")
    scratch: bool = False
    check: bool = False
    list: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the reports; returns the exit status."""
    given, parser = parse_options(Options, arguments, module="tools.report", description=__doc__)
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
            for command in dict.fromkeys(PAGES.values()):
                subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, check=True)
    except subprocess.CalledProcessError as error:
        print(f"report: {error}", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
