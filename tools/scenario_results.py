"""Results for every bundled scenario: size, value, and the best score of any policy.

All numbers come from docs/results/ and experiments/leaderboards/entries/.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from experiments.leaderboards.page import marked_name, task_scores
from experiments.leaderboards.protocol import TRACKS
from experiments.leaderboards.submissions import Submission, read_submissions
from experiments.statistics import interquartile_mean
from experiments.strength import POOL
from experiments.tables import markdown_table
from experiments.tournaments.matches import display_name
from tools.documents import RESULTS, Results
from wfb_gym.scenario import Scenario, bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.seats import SEATS

STRENGTH = ("strength", "strength-slow", "strength-search", "strength-self-play")
"""Results of `experiments.strength`, all against the same opponents."""
POINTS_UNIT = 1000
"""Army points that a battle's result is scaled to."""
LEFT_OUT = "expectimax", "search", "mcts"
"""Planners that the table of unseen scenarios omits: they score about as much as phase-search."""
UNSEEN = "phase-500"
"""Kind of generated scenarios shown in README.md's table."""
SELF_PLAY = "self-play"
MISSING = "–"  # noqa: RUF001


class MissingResultsError(ValueError):
    """A bundled scenario has no results in docs/results/."""


@dataclass(frozen=True)
class PolicyScore:
    """A policy's mean score over both seats.

    Attributes:
        policy: the policy's name.
        score: normalised score, or points per 1,000 points of army in a battle.
        steps: training decisions.
        battles: battles per seat; 0 if the score is exact.
        half_width: half of the 95 % interval of the score; 0 if the score is exact.
    """

    policy: str
    score: float
    steps: int = 0
    battles: int = 0
    half_width: float = 0.0

    @property
    def rank(self) -> tuple[float, bool, int]:
        """Sort key. At equal scores, trained policies lead, then fewer training decisions."""
        return round(self.score, 1), self.steps > 0, -self.steps


@dataclass(frozen=True)
class ScenarioResult:
    """A scenario's results.

    Attributes:
        name: bundled name.
        positions: positions, or public histories in a scenario with hidden items.
        solved: "exact", "bounds" or "no".
        value: the first army's points under optimal play by both sides. None if unknown.
        half_width: maximum error of the value when rounded to two decimals.
        first_phases: number and value of an unsolved battle's first phases, if known.
        best: best score of any policy other than the solver.
    """

    name: str
    positions: int
    solved: str
    value: float | None = None
    half_width: float = 0.0
    first_phases: tuple[int, float] | None = None
    best: PolicyScore | None = None

    @property
    def size(self) -> str:
        """The number of positions; estimates begin with ≈."""
        if self.solved != "no":
            return f"{self.positions:,}"
        digits, exponent = f"{self.positions:.1e}".split("e")
        return f"≈{digits}e{int(exponent)}"

    @property
    def points(self) -> str:
        """The value, with its error if it has one."""
        if self.value is None:
            return MISSING
        error = f"±{self.half_width:.2f}" if self.half_width else ""
        return f"{self.value:.2f}{error}"

    @property
    def best_score(self) -> str:
        """The best score and its policy's name."""
        if self.best is None:
            return MISSING
        best = self.best
        error = f"±{best.half_width:.1f}" if best.half_width else ""
        return f"{best.score:{'+' if self.solved == 'no' else ''}.1f}{error} {best.policy}"


def scenario_groups() -> dict[str, list[str]]:
    """Return all bundled scenario names by group: duels, battles, hidden items."""
    names = bundled_scenarios()
    battles = [name for name in names if load_scenario(name).battlefield is not None]
    duels = [name for name in names if name not in battles]
    return {"Duels": duels, "Battles": battles, "Hidden items": list(hidden_scenarios())}


def scenario_results() -> dict[str, ScenarioResult]:
    """Return the results in docs/results/ for every scenario, by name.

    Raises:
        MissingResultsError: if a bundled scenario has no results.
    """
    entries = [*_results("values")["scenarios"], *_results("hidden-values")["scenarios"]]
    found: dict[str, ScenarioResult] = {}
    for entry in sorted(entries, key=lambda entry: "too_large" not in entry):
        name, states = entry["scenario"], entry.get("histories", entry.get("states"))
        if "too_large" in entry:
            parts = [each for each in entries if each["scenario"] == name and "value" in each]
            first = max(((each["phases"], each["value"]) for each in parts), default=None)
            found[name] = ScenarioResult(
                name, entry["too_large"]["states"], "no", first_phases=first
            )
        elif name not in found:
            shown = round(entry["value"], 2)
            errors = [abs(shown - entry[bound]) for bound in ("lower", "upper") if bound in entry]
            half = ceil(100 * max(errors)) / 100 if errors else 0.0
            solved = "bounds" if errors else "exact"
            found[name] = ScenarioResult(name, states, solved, shown, half)
    for names, into in (
        (bundled_scenarios(), "--into docs/results/values.json"),
        (hidden_scenarios(), "--gap 0.05 --into docs/results/hidden-values.json"),
    ):
        if missing := [name for name in names if name not in found]:
            raise MissingResultsError(
                f"docs/results: expected results for all bundled scenarios, found none for "
                f"{', '.join(missing)}; run python -m experiments.solve {' '.join(missing)} {into}"
            )
    scores = _best_scores()
    return {
        name: replace(each, best=scores.get((name, each.solved != "no")))
        for name, each in found.items()
    }


def _results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _best_scores() -> dict[tuple[str, bool], PolicyScore]:
    """Return the best scores by scenario and by whether they are normalised."""
    best: dict[tuple[str, bool], PolicyScore] = {}
    for normalised, scores in ((True, _normalised_scores()), (False, _battle_scores())):
        for name, score in scores:
            key = name, normalised
            best[key] = max(best.get(key, score), score, key=lambda each: each.rank)
    return best


def _normalised_scores() -> Iterator[tuple[str, PolicyScore]]:
    """Yield the normalised scores of policies graded in both seats.

    Policies with the most results come first, and lead at equal scores.
    """
    tasks = [*TRACKS["duels"], *TRACKS["hidden"]]
    submissions = sorted(read_submissions(), key=_graded_tasks, reverse=True)
    for submission in submissions:
        if submission.name == "optimal":
            continue
        seats: dict[str, list[float]] = {}
        for task in tasks:
            found = task_scores(submission, task)
            if found is not None:
                seats.setdefault(task.scenario, []).append(float(found.mean()))
        for name, means in seats.items():
            if len(means) == len(SEATS):
                yield name, PolicyScore(submission.name, float(np.mean(means)), submission.steps)
    large = _results("large")
    (name,) = large["args"]["scenario"]
    yield name, PolicyScore(SELF_PLAY, float(np.mean([*large["scores"].values()])), large["frames"])
    horizon = _results("horizon")
    for part in horizon["parts"]:
        name = part.get("scenario", "")
        if name in horizon["args"]["scenario"] and part["phases"] == part["of"]:
            means = [part[f"phase-search {seat}"] for seat in SEATS]
            yield name, PolicyScore("phase-search", float(np.mean(means)))


def _graded_tasks(submission: Submission) -> int:
    return sum(len(getattr(submission, track)) for track in TRACKS)


def _battle_scores() -> Iterator[tuple[str, PolicyScore]]:
    """Yield policies' points in battles, each from the results with the most battles."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for results in map(_results, STRENGTH):
        if results["pool"] != list(POOL):
            raise ValueError(f"pool: expected {POOL}, found {results['pool']}")
        for row in results["rows"]:
            seats = rows.setdefault((row["scenario"], row["player"]), {})
            if row["battles"] > seats.get(row["seat"], {"battles": 0})["battles"]:
                seats[row["seat"]] = row
    for (name, player), seats in rows.items():
        points = float(np.mean([seats[seat]["points"] for seat in SEATS]))
        policy = SELF_PLAY if "{scenario}" in player else display_name(player)
        unit = POINTS_UNIT / army_size(load_scenario(name))
        half = float(np.hypot(*(seats[seat]["points_half_width"] for seat in SEATS))) / len(SEATS)
        battles = seats[SEATS[0]]["battles"]
        yield name, PolicyScore(policy, points * unit, battles=battles, half_width=half * unit)


def army_size(scenario: Scenario) -> int:
    """Return the size of a battle's armies in points, in whole thousands."""
    costs = [
        sum(unit.points * unit.models for unit in army.units)
        + sum(who.points or 0 for who in army.characters)
        for army in scenario.armies
    ]
    return POINTS_UNIT * max(1, round(float(np.mean(costs)) / POINTS_UNIT))


def scenarios_table(_: Results) -> str:
    """Return README.md's table of all scenarios, without spaces around cells."""
    rows = [["scenario", "positions", "solved", "value", "best score"]]
    results = scenario_results()
    for name in (name for group in scenario_groups().values() for name in group):
        each = results[name]
        link = f"[{name}](docs/gallery.md#{name})"
        rows.append([link, each.size, each.solved, each.points, each.best_score])
    return markdown_table(rows, text_columns=(0, 2, 4), compact=True)


def unseen_table(_: Results) -> str:
    """Return README.md's table of scores on unseen generated scenarios, best policy first."""
    tasks = [task for task in TRACKS["generated"] if task.kind == UNSEEN]
    rows = []
    for submission in read_submissions():
        found = [task_scores(submission, task) for task in tasks]
        seats = [scores for scores in found if scores is not None]
        if len(seats) == len(tasks) and submission.name not in LEFT_OUT:
            middles = [float(interquartile_mean(scores)) for scores in seats]
            lows = [float(np.quantile(scores.mean(axis=0), 0.05)) for scores in seats]
            rows.append((submission, middles, lows))
    rows.sort(key=lambda row: (round(float(np.mean(row[1])), 1), np.mean(row[2])), reverse=True)
    header = ["policy", "kind", "training steps", *(task.seat for task in tasks)]
    cells = [
        [
            marked_name(each),
            each.kind,
            f"{each.steps:,}" if each.steps else "",
            *(f"{one:.1f} ({low:.0f})" for one, low in zip(middles, lows, strict=True)),
        ]
        for each, middles, lows in rows
    ]
    return markdown_table([header, *cells], text_columns=(0, 1), compact=True)
