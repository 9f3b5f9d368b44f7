"""Measure the strength of players in large battles: points won from a pool of players, and speed.

    python -m experiments.strength
    python -m experiments.strength veteran phase-search:2 --scenario the-iron-tide --battles 64

Each player plays either seat of each battle against every member of the pool. Battle i has the same
dice for all players, so players are compared in pairs: the difference is the points that the
reference wins more, with a 95 % interval. If the interval is above 0, the reference is better.
All points are luck-adjusted (experiments/luck.py).

Finished matches are stored in OUT/matches.jsonl, and the same command continues an interrupted run.
OUT gets results.json and strength.png, points won against milliseconds per decision.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.strength")

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import common
from experiments.experiment import Experiment
from experiments.figures.strength import draw_strength
from experiments.outcomes import ExperimentError, Line, Results, Run
from experiments.tables import ResultTable, texts
from experiments.tournaments.matches import (
    Match,
    MatchResult,
    display_name,
    play_match,
    policy_name,
)
from experiments.workers import RAY
from wfb_gym.cli.parser import option
from wfb_gym.opponents.policy_spec import PolicySpec
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS

PLAYERS = (
    "phase-search", "phase-search:4", "phase-search:2", "phase-search:1",
    "greedy", "veteran", "expectimax:2", "mcts:50",
)  # fmt: skip
POOL = ("greedy", "veteran", "phase-search:2")
BATTLES = (
    "border-skirmish", "long-siege", "redhorn-pass", "ford-of-the-green-lady",
    "horrors-in-the-mist", "dawn-at-grimmwald", "the-iron-tide", "battle-of-black-gorge",
    "march-of-the-pale-count", "the-crooked-mile", "the-shattered-gate", "the-winds-unbound",
)  # fmt: skip
FIRST_SEED = 7_000_000_000
"""Seed for the dice, far from the seeds of training runs and tournaments."""
_AGENT_SEEDS = (1, 2)


@dataclass(frozen=True)
class Settings:
    """Settings for the measurement.

    Attributes:
        players: names or saved models; CASTER+DISPELLER plays one in each seat, and {scenario} is
            replaced by the scenario's name; the first is the reference.
        scenario: bundled names or files.
        pool: opponents of every player.
        battles: battles of each match.
        seed: seed of the dice.
        out: folder of the results.
    """

    players: tuple[str, ...] = option(PLAYERS, positional=True, metavar="PLAYER")
    scenario: tuple[str, ...] = BATTLES
    pool: tuple[str, ...] = POOL
    battles: int = 64
    seed: int = 0
    out: Path = Path("runs/strength")
    ray: str = option("", **RAY)


def _check(settings: Settings, _: Collection[str]) -> Settings:
    if len(settings.players) < 2:
        raise ValueError("players: expected a reference and at least one more, found one")
    scenarios = scenarios_of(settings)
    for name in (*settings.players, *settings.pool):
        for scenario, seat in product(scenarios, range(len(SEATS))):
            make_agent(policy_name(name, seat, scenario.name))
    return settings


def scenarios_of(settings: Settings) -> list[Scenario]:
    """Load each scenario once."""
    return [load_scenario(name) for name in dict.fromkeys(settings.scenario)]


def _matches_of(settings: Settings) -> list[Match]:
    first = FIRST_SEED + settings.seed * 1_000_000
    pairs = [
        pair
        for player, member in product(settings.players, settings.pool)
        for pair in ((player, member), (member, player))
    ]
    return [
        Match(
            scenario, caster, dispeller, settings.battles, first, _AGENT_SEEDS, 60.0,
            luck_adjusted=True,
        )
        for scenario, (caster, dispeller) in product(scenarios_of(settings), dict.fromkeys(pairs))
    ]  # fmt: skip


def _run_part(_: Settings, match: Match) -> Line:
    return {"match": asdict(play_match(match))}


def _points(
    found: Mapping[tuple[str, str, str], MatchResult],
    settings: Settings,
    scenario: str,
    player: str,
    seat: str,
) -> tuple[NDArray[np.float64], float]:
    """Return the seat's points in all battles, by pool member in order, and ms per decision."""
    points, thinking = [], []
    for member in settings.pool:
        pair = (player, member) if seat == SEATS[0] else (member, player)
        result = found[scenario, *pair]
        points.append(result.array if seat == SEATS[0] else -result.array)
        thinking.append(1e3 * result.thinking[SEATS.index(seat)])
    return np.concatenate(points), float(np.mean(thinking))


def _rows_of(
    found: Mapping[tuple[str, str, str], MatchResult], settings: Settings
) -> list[dict[str, Any]]:
    """Return each player's points in each seat, and the points by which the reference leads."""
    rows = []
    for scenario in scenarios_of(settings):
        for seat in SEATS:
            reference, _ = _points(found, settings, scenario.name, settings.players[0], seat)
            for player in settings.players:
                points, thinking = _points(found, settings, scenario.name, player, seat)
                won = common.mean_points(points)
                more = common.mean_points(reference - points)
                rows.append(
                    {
                        "scenario": scenario.name, "seat": seat, "player": player,
                        "battles": won.battles, "points": won.mean,
                        "points_half_width": won.half_width,
                        "reference_wins_more": more.mean, "half_width": more.half_width,
                        "milliseconds": thinking,
                    }
                )  # fmt: skip
    return rows


def _kind(player: str) -> str:
    """Return a player's name without its option. Other texts stay unchanged."""
    spec = PolicySpec.find(player)
    return player if spec is None else spec.name


def _header_name(player: str) -> str:
    """Return a player's name for the header; one network per scenario is "the network"."""
    return "the network" if "{scenario}" in player else display_name(player)


def strength_rows(results: Mapping[str, Any], *, variants: bool = False) -> list[list[str]]:
    """Return the table of differences, header first, with one line per battle and seat.

    The reference with other options has columns only if `variants`.
    """
    reference, *others = results["players"]
    kind = _kind(reference)
    others = [each for each in others if variants or _kind(each) != kind]
    table = [
        [
            "battle",
            "seat",
            f"{reference} wins",
            *(f"lead over {_header_name(each)}" for each in others),
        ]
    ]
    for first in results["rows"]:
        if first["player"] != reference:
            continue
        cells = {
            row["player"]: f"{row['reference_wins_more']:+.0f} ± {row['half_width']:.0f}"
            for row in results["rows"]
            if (row["scenario"], row["seat"]) == (first["scenario"], first["seat"])
        }
        line = [first["scenario"], first["seat"], f"{first['points']:+.0f}"]
        table.append([*line, *(cells[each] for each in others)])
    return table


def _results_of(run: Run[Settings, Match]) -> Results:
    played = [MatchResult.from_json(held) for held in run.values("match")]
    failures = {str(each.failure): None for each in played if each.failure is not None}
    if failures:
        raise ExperimentError("\n".join(failures))
    found = {(each.scenario, each.caster, each.dispeller): each for each in played}
    return {
        "args": common.recorded_settings(run.settings, {"out", "ray"}),
        "players": list(run.settings.players),
        "pool": list(run.settings.pool),
        "rows": _rows_of(found, run.settings),
        "versions": common.versions(),
    }


TITLE = "points per battle against the pool, luck-adjusted"
DIFFERENCES = ResultTable(TITLE, strength_rows, (0, 1))
WITH_VARIANTS = ResultTable(TITLE, partial(strength_rows, variants=True), (0, 1))
EXPERIMENT = Experiment(
    module="experiments.strength",
    description=__doc__,
    settings=Settings,
    quick={
        "players": ("phase-search", "greedy"),
        "pool": ("greedy",),
        "scenario": ("border-skirmish",),
        "battles": 4,
    },
    check=_check,
    positive=("battles",),
    file="matches.jsonl",
    parts=_matches_of,
    run_part=_run_part,
    results=_results_of,
    tables=texts(WITH_VARIANTS),
    figures=lambda results, out: draw_strength(results, out / "strength.png"),
    needs_all=True,
)
main = EXPERIMENT.main
