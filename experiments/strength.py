"""Measures players where nothing can be solved: what each wins from a common pool, and how fast.

    python -m experiments.strength
    python -m experiments.strength veteran phase-search:2 --scenario the-iron-tide --battles 64

Each player sits in either seat of each battle against every member of the pool. Battle i has the
same dice whoever plays, so players are compared in pairs: the difference is what the reference wins
more, with a 95 % interval. Where the interval of a difference is above 0 the reference is ahead.
The luck of the dice is taken off all points (experiments/luck.py).

Finished matches are stored in OUT/matches.jsonl: the same command goes on where it was interrupted.
OUT gets results.json and strength.png, points won against milliseconds a decision.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import common
from experiments.figures.strength import draw_strength
from experiments.records import Record, RecordError
from experiments.tournaments.matches import (
    Match,
    MatchResult,
    display_name,
    play_match,
    policy_name,
)
from experiments.workers import RAY, WorkerError, Workers, open_workers
from wfb_gym.cli.parser import COULD_NOT_RUN
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
FILE = "matches.jsonl"
"""File of the folder that holds finished matches."""
FIRST_SEED = 7_000_000_000
"""Of the dice: far from those of any training, and of tournaments."""
_AGENT_SEEDS = (1, 2)


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        players: each a name or a saved model, or two as CASTER+DISPELLER, in which {scenario}
            stands for the scenario's name; the first is the reference.
        scenario: bundled names or files.
        pool: whom they meet, each as often.
        battles: battles of each match.
        seed: seed of the dice.
        out: folder of the results.
    """

    players: tuple[str, ...] = field(
        default=PLAYERS, metadata={"positional": True, "metavar": "PLAYER"}
    )
    scenario: tuple[str, ...] = BATTLES
    pool: tuple[str, ...] = POOL
    battles: int = 64
    seed: int = 0
    out: Path = Path("runs/strength")
    ray: str = field(default="", metadata=RAY)


def parse_arguments(
    arguments: Sequence[str] | None,
) -> tuple[Settings, list[Scenario], bool]:
    """Parse the command line: settings, the scenarios, and whether JSON is wanted."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module="experiments.strength",
        description=__doc__,
        quick={
            "players": ("phase-search", "greedy"),
            "pool": ("greedy",),
            "scenario": ("border-skirmish",),
            "battles": 4,
            "out": Path("runs/strength-quick"),
        },
        switches={},
    )
    common.check_positive(parser, settings, ("battles",))
    try:
        if len(settings.players) < 2:
            raise ValueError("players: expected a reference and at least one more, found one")
        scenarios = [load_scenario(name) for name in dict.fromkeys(settings.scenario)]
        for name in (*settings.players, *settings.pool):
            for scenario, seat in product(scenarios, range(len(SEATS))):
                make_agent(policy_name(name, seat, scenario.name))
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return settings, scenarios, "json" in switches


def matches_of(settings: Settings, scenarios: Sequence[Scenario]) -> Iterator[Match]:
    """All matches, in order; one that serves two purposes comes once."""
    seen = set()
    for scenario in scenarios:
        for player in settings.players:
            for member in settings.pool:
                for caster, dispeller in ((player, member), (member, player)):
                    key = scenario.name, caster, dispeller
                    if key in seen:
                        continue
                    seen.add(key)
                    first = FIRST_SEED + settings.seed * 1_000_000
                    yield Match(
                        scenario, caster, dispeller, settings.battles, first, _AGENT_SEEDS, 60.0,
                        luck_adjusted=True,
                    )  # fmt: skip


def play_all(
    settings: Settings,
    scenarios: Sequence[Scenario],
    record: Record,
    report: common.Report,
    workers: Workers,
) -> dict[tuple[str, str, str], MatchResult]:
    """Play what the record lacks; returns all results by scenario, caster and dispeller."""
    lines = (MatchResult.from_json(line["match"]) for line in record.lines)
    found = {(one.scenario, one.caster, one.dispeller): one for one in lines}
    report("", len(found))
    missing = [
        match
        for match in matches_of(settings, scenarios)
        if (match.scenario.name, match.caster, match.dispeller) not in found
    ]
    for match, result in zip(missing, workers.map(play_match, missing), strict=True):
        record.add({"match": result.as_json()})
        found[result.scenario, result.caster, result.dispeller] = result
        report(str(match), 1)
    return found


def _points(
    found: Mapping[tuple[str, str, str], MatchResult],
    settings: Settings,
    scenario: str,
    player: str,
    seat: str,
) -> tuple[NDArray[np.float64], float]:
    """Return the seat's points in all battles, pool member by pool member, and ms a decision."""
    points, thinking = [], []
    for member in settings.pool:
        pair = (player, member) if seat == SEATS[0] else (member, player)
        result = found[scenario, *pair]
        points.append(result.array if seat == SEATS[0] else -result.array)
        thinking.append(1e3 * result.thinking[SEATS.index(seat)])
    return np.concatenate(points), float(np.mean(thinking))


def rows_of(
    found: Mapping[tuple[str, str, str], MatchResult],
    settings: Settings,
    scenarios: Sequence[Scenario],
) -> list[dict[str, Any]]:
    """Return what each player wins in each seat, and what the reference wins more."""
    rows = []
    for scenario in scenarios:
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
    """Return the name of a player without its option; of another text the text."""
    spec = PolicySpec.find(player)
    return player if spec is None else spec.name


def strength_rows(results: Mapping[str, Any], *, variants: bool = False) -> list[list[str]]:
    """Return the table of differences, header first: a line for each battle and seat.

    Of the reference with another number behind its name there is a column only with `variants`.
    """
    reference, *others = results["players"]
    kind = _kind(reference)
    others = [each for each in others if variants or _kind(each) != kind]
    table = [
        [
            "battle",
            "seat",
            f"{reference} wins",
            *(f"more than {display_name(each)}" for each in others),
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, print and draw; returns the exit status."""
    settings, scenarios, as_json = parse_arguments(arguments)
    held = common.recorded_settings(settings, {"out", "ray"})
    total = sum(1 for _ in matches_of(settings, scenarios))
    found: dict[tuple[str, str, str], MatchResult] = {}
    try:
        with (
            open_workers(settings.ray) as workers,
            Record(settings.out, FILE, "measurement", held) as record,
            common.Interruptible() as session,
            common.report_progress("strength", total) as report,
        ):
            found = play_all(settings, scenarios, record, report, workers)
    except (RecordError, OSError) as error:
        print(f"python -m experiments.strength: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    except WorkerError as error:
        print(f"python -m experiments.strength: {error}", file=sys.stderr)
        return common.FAILED
    if session.interrupted:
        print("interrupted; the same command goes on", file=sys.stderr)
        return common.INTERRUPTED
    failures = {str(one.failure): None for one in found.values() if one.failure is not None}
    if failures:
        print(*failures, sep="\n", file=sys.stderr)
        return common.FAILED
    results = {
        "args": held,
        "players": list(settings.players),
        "pool": list(settings.pool),
        "rows": rows_of(found, settings, scenarios),
        "versions": common.versions(),
    }
    common.write_results(settings.out, results)
    draw_strength(results, settings.out / "strength.png")
    title = "points a battle against the pool, without the luck of the dice"
    table = common.text_table(strength_rows(results, variants=True), title, (0, 1))
    common.print_results(results, [table], as_json=as_json)
    if not as_json:
        print(f"results: {settings.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
