"""All tables and figures in README.md and docs/, and the command behind each one."""

from functools import partial
from pathlib import Path

import numpy as np

from agents import compare, compare_offline, hidden
from agents.common import short_names
from agents.distillation.grading import Grade
from agents.figures import (
    draw_comparison,
    draw_grades,
    draw_learning_curve,
    draw_offline,
    draw_scores,
)
from agents.self_play.runs import LARGE
from experiments import (
    coverage,
    exploitability_bounds,
    generalisation,
    horizon,
    language_models,
    strength,
    value_of_hiding,
    value_of_history,
)
from experiments.benchmarks import tables
from experiments.figures.generalisation import draw_generalisation
from experiments.figures.horizon import draw_horizon
from experiments.figures.speed import draw_speed
from experiments.figures.strength import draw_strength
from experiments.figures.value_of_hiding import draw_value_of_hiding
from experiments.optimality_gaps import tables as gaps
from experiments.solutions import HEADINGS
from experiments.solutions import TABLE as SOLUTIONS
from experiments.tables import ResultTable, markdown_table
from experiments.tournaments.reports import draw_points, draw_ratings
from tools.documents import Report, Results
from tools.scenario_results import scenarios_table, unseen_table
from wfb_gym.scenario import hidden_scenarios
from wfb_gym.seats import SEATS
from wfb_gym.solver import Estimate

SELF_PLAY = "runs/ppo/{scenario}/caster.npz+runs/ppo/{scenario}/dispeller.npz"
"""Networks for battles, which must already have been trained by `agents.train_fast`."""
CURVES = " ".join(
    f"runs/curves/{count}-{steps}"
    for count, steps in [
        *((1152, steps) for steps in (625_000, 1_250_000, 2_500_000, 5_000_000, 10_000_000)),
        *((count, 2_500_000) for count in (36, 144, 576)),
    ]
)
"""Runs of `agents.train_fast`, by training scenarios and steps; docs/benchmark.md shows how."""


def grades_table(results: Results) -> str:
    """Return a table of every player's points against every opponent, and exact scores."""
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
    """Return a table of both seats' exact scores by seed."""
    seats = results["scores"]
    rows = [
        [str(one["args"]["seed"]), *(f"{one['scores'][seat]:.2f}" for seat in seats)]
        for one in results["runs"]
    ]
    rows.append(["median", *(f"**{score:.2f}**" for score in seats.values())])
    return markdown_table([["seed", *seats], *rows], text_columns=(0,))


def run_table(results: Results) -> str:
    """Return a table of exact scores over the course of one run."""
    seats = results["scores"]
    rows = [
        [f"{one['frames']:,}", *(f"{one['scores'][seat]:.2f}" for seat in seats)]
        for one in results["curve"]
    ]
    return markdown_table([["decisions", *seats], *rows], text_columns=())


def distilled_table(results: Results, by_kind: bool = True) -> str:
    """Return a table of quantiles of one policy's scores, by seat and kind of scenario."""
    kinds = results["kinds"]
    header = ["seat", "kind", "scenarios", "5 %", "25 %", "median", "at least 95"]
    rows = [[*header, "share of points at stake"]]
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


def solved(results: Results) -> str:
    """Return a table of the values of solved scenarios, and of the first phases of battles.

    Seconds are left out, because the benchmark measures them several times on an idle machine.
    """
    found = results["scenarios"]
    whole = {one["scenario"]: one["phases"] for one in found if "too_large" in one}
    rows = [
        one | {"phases": f"first {one['phases']} of {whole[one['scenario']]}"}
        if one["scenario"] in whole
        else one
        for one in found
        if "too_large" not in one
    ]
    return ResultTable("", _without_seconds, SOLUTIONS.text_columns).markdown(rows)


def _without_seconds(results: Results) -> list[list[str]]:
    seconds = HEADINGS.index("seconds")
    return [
        [cell for column, cell in enumerate(row) if column != seconds]
        for row in SOLUTIONS.rows(results)
    ]


def unsolved(results: Results) -> str:
    """Return a sentence on the scenarios that are too large."""
    large = [one for one in results["scenarios"] if "too_large" in one]
    sizes = {one["scenario"]: Estimate(**one["too_large"] | {"causes": ()}) for one in large}
    least, *_, most = sorted(sizes, key=lambda name: sizes[name].states)
    return (
        f"{len(large)} bundled battles are too large to be solved whole, from {sizes[least]} "
        f"({least}) to {sizes[most]} ({most})."
    )


def _draw_runs(results: Results, path: Path) -> None:
    runs = results.get("runs", [results])
    named = ", ".join(results["args"]["scenario"])
    draw_scores([one["curve"] for one in runs], f"{named}: self-play", path)


def _draw_curve(results: Results, path: Path) -> None:
    given = results["args"]
    named = ", ".join(given.get("scenario") or given["scenarios"])
    draw_learning_curve(results["curve"], f"{named}: MaskablePPO as {given['seat']}", path)


def _draw_distilled(results: Results, path: Path) -> None:
    draw_grades([Grade(**one) for one in results["grades"]], path)


def _trained(name: str, options: str, minutes: float, picture: str = "") -> Report:
    shown = {"curve.png": picture} if picture else {}
    return Report(name, f"agents.train{options}", minutes, grades_table, shown, draw=(_draw_curve,))


def _strength(name: str, options: str, minutes: float, picture: str = "") -> Report:
    shown = {"strength.png": picture} if picture else {}
    table = strength.DIFFERENCES.markdown
    return Report(
        name, f"experiments.strength{options}", minutes, table, shown, draw=(draw_strength,)
    )


def _compared(name: str, options: str, minutes: float, picture: str = "") -> Report:
    shown, table = {"curves.png": picture} if picture else {}, compare.SCORES.markdown
    return Report(name, f"agents.compare{options}", minutes, table, shown, draw=(draw_comparison,))


ALL = (
    Report(
        "fast",
        "agents.train_fast --runs 5",
        4,
        runs_table,
        {"curve.png": "fast-curve.png"},
        draw=(_draw_runs,),
    ),
    _trained("train", "", 8, "curve.png"),
    _trained("train-dispeller", " --seat dispeller", 8),
    _trained("train-scripted", " --opponent greedy --opponent veteran --opponent random", 8),
    Report(
        "large",
        f"agents.train_fast {LARGE}",
        14,
        run_table,
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
        draw=(draw_ratings, lambda results, path: draw_points(results["scenarios"][0], path)),
    ),
    _strength("strength", "", 60, "strength.png"),
    _strength(
        "strength-slow", " phase-search expectimax mcts:400 --battles 24", 60, "strength-slow.png"
    ),
    _strength(
        "strength-search",
        " phase-search search --battles 24 "
        + " ".join(f"--scenario {each}" for each in strength.BATTLES[:10]),
        30,
    ),
    _strength("strength-self-play", f" phase-search {SELF_PLAY}", 40),
    Report(
        "horizon",
        "experiments.horizon",
        30,
        horizon.SCORES.markdown,
        {"horizon.png": "horizon.png"},
        draw=(draw_horizon,),
        more={"horizon-battles": horizon.BATTLES.markdown},
    ),
    _trained("battle", " --scenario border-skirmish", 5, "battle-curve.png"),
    Report(
        "offline",
        "agents.compare_offline",
        30,
        compare_offline.SCORES.markdown,
        {"scores.png": "offline.png"},
        draw=(draw_offline,),
        more={"offline-regret": compare_offline.REGRETS.markdown},
    ),
    _compared("compare", "", 45, "learners.png"),
    _compared(
        "ablations",
        " --runs 3 --steps 1500000 --learner self-play "
        + " ".join(f"--learner {name}" for name in compare.ABLATIONS),
        30,
    ),
    _compared(
        "openspiel",
        " --scenario apprentice --steps 200000 --learner self-play --learner MCCFR --learner NFSP",
        15,
        "openspiel.png",
    ),
    Report(
        "hidden",
        "agents.hidden",
        60,
        hidden.SCORES.markdown,
        {"curves.png": "hidden.png"},
        draw=(draw_comparison,),
    ),
    Report("coverage", "experiments.coverage", 3, coverage.COVERAGE.markdown),
    Report(
        "generalisation",
        f"experiments.generalisation {CURVES}",
        10,
        generalisation.SHARES.markdown,
        {"generalisation.png": "generalisation.png"},
        draw=(draw_generalisation,),
    ),
    Report(
        "exploitability-bounds",
        "experiments.exploitability_bounds random greedy veteran phase-search",
        60,
        exploitability_bounds.POINTS.markdown,
    ),
    Report("language-models", "experiments.language_models", 10, language_models.REGRETS.markdown),
    Report("value-of-history", "experiments.value_of_history", 3, value_of_history.SCORES.markdown),
    Report(
        "hidden-values",
        f"experiments.solve {' '.join(hidden_scenarios())} --gap 0.05",
        5,
        lambda results: SOLUTIONS.markdown(results["scenarios"]),
        printed=True,
    ),
    Report(
        "value-of-hiding",
        "experiments.value_of_hiding",
        5,
        value_of_hiding.VALUES.markdown,
        {"value-of-hiding.png": "value-of-hiding.png"},
        draw=(draw_value_of_hiding,),
    ),
    Report(
        "optimality-gap",
        "experiments.optimality_gap",
        15,
        gaps.FIGURES.markdown,
        more={"optimality-gap-bounds": gaps.BOUNDS.markdown},
    ),
    Report(
        "values",
        "experiments.solve --all",
        15,
        solved,
        more={
            "values-too-large": unsolved,
            "scenarios": scenarios_table,
            "unseen": unseen_table,
        },
        printed=True,
    ),
    Report(
        "benchmark",
        "experiments.benchmark --long",
        20,
        lambda results: markdown_table(tables.speed_rows(results), (0,), compact=True),
        more={
            f"benchmark-{name}": ResultTable("", rows).markdown
            for name, rows in (
                ("summary", tables.summary_rows),
                ("ratios", tables.ratio_rows),
                ("threads", tables.scaling_rows),
                ("commands", tables.command_rows),
                ("solved", tables.solving_rows),
                ("update", tables.profile_rows),
            )
        }
        | {"benchmark-machine": tables.machine_line},
        pictures={"speed.png": "speed.png"},
        draw=(draw_speed,),
        printed=True,
    ),
)
_DRAWN = {
    "archmage-duel-dice.png": "experiments.solve archmage-duel --plot {}",
    "border-skirmish.png": "wfb_gym draw border-skirmish --out {}",
    "fire-ball.png": "wfb_gym draw border-skirmish --spell fireball --out {}",
    "rgb-array.png": "tools.rendering --out {}",
    "archmage-duel.gif": "tests.web.film",
}
_WEB = (
    "web-start", "web-desk", "web-phone", "web-review", "web-review-phone", "odds-sheet",
)  # fmt: skip
_FIVE_MINUTES = ("doubles", "first", "pools", "second", "third")
PAGES = {
    "docs/leaderboard.md": "experiments.leaderboard",
    **{f"docs/images/{name}": line.format(f"docs/images/{name}") for name, line in _DRAWN.items()},
    "docs/environments/": "tools.pages",
    "docs/gallery.md": "tools.gallery",
    **{f"docs/images/{name}.png": "tests.web" for name in _WEB},
    **{f"docs/images/five-minutes-{name}.png": "tools.five_minutes" for name in _FIVE_MINUTES},
}
"""Pages and pictures written by other commands, each within a minute."""
