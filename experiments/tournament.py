"""Plays a tournament: every agent against every agent, in either seat, in several scenarios.

    python -m experiments.tournament
    python -m experiments.tournament veteran optimal runs/duel/model.zip --scenario archmage-duel
    python -m experiments.tournament random veteran --battles 20000 --json

Agents are names or saved models, or two of these for the two seats, CASTER+DISPELLER. A match's
result is the mean of the points that the first army wins, with a 95 % bootstrap interval; battle i
has the same dice in all matches of a scenario. Beside it stands the exact value where the scenario
can be solved and both agents are functions of their observations. The rating is fitted to the
points of all scenarios; experiments/tournaments/rating.py says how.

The optimal player is left out of scenarios that are too large for it. An agent that crashes,
answers with illegal actions or takes too long forfeits the match, and the tournament goes on.
Finished matches are stored in OUT/cells.jsonl: the same command continues an interrupted
tournament. With --ray the matches are played on the machines of a Ray cluster, with the same
results. OUT gets results.json, a picture of each scenario's results and rating.png.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments import common
from experiments.records import Record, RecordError
from experiments.tournaments import reports, running
from experiments.tournaments.matches import model_names, policy_names
from experiments.tournaments.rating import rate
from experiments.workers import WorkerError, Workers, open_workers
from wfb_gym.cli.parser import COULD_NOT_RUN
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario

SMALLEST = "apprentice"


def parse_arguments(arguments: Sequence[str] | None) -> tuple[running.Settings, bool]:
    """Parse the command line: settings, and whether JSON is wanted."""
    settings, switches, parser = common.parse_settings(
        running.Settings,
        arguments,
        module="experiments.tournament",
        description=__doc__,
        quick={
            "battles": 64,
            "planner_battles": 16,
            "scenario": (SMALLEST, "archmage-duel"),
            "out": Path("runs/tournament-quick"),
        },
        switches={},
    )
    common.check_positive(parser, settings, ("battles", "planner_battles", "move_seconds"))
    if settings.seed < 0:
        parser.error(f"--seed: expected 0 or more, found {settings.seed}")
    if max(settings.battles, settings.planner_battles) > running.SEED_SPACING:
        parser.error(f"--battles: expected at most {running.SEED_SPACING:,}")
    try:
        for kind, names in (("agent", settings.agents), ("scenario", settings.scenario)):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{kind}: {name} is given twice")
        for name in policy_names(settings.agents):
            make_agent(name, scenario=SMALLEST)
        loaded = [load_scenario(scenario).name for scenario in settings.scenario]
        for name in loaded:
            if loaded.count(name) > 1:
                raise ValueError(f"scenario: two of them are named {name}")
        if reports.RATING in loaded:  # each scenario has a picture of its name
            raise ValueError(f"scenario: expected another name than that of {reports.RATING}.png")
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return settings, "json" in switches


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, print and draw; returns the exit status."""
    settings, as_json = parse_arguments(arguments)
    models = model_names(policy_names(settings.agents))
    try:
        with open_workers(settings.ray, files=models) as workers:
            try:
                record = running.open_record(settings.out, running.settings_as_json(settings))
            except (RecordError, OSError) as error:
                print(f"python -m experiments.tournament: {error}", file=sys.stderr)
                return COULD_NOT_RUN
            with record:
                return play_all(settings, record, workers, as_json)
    except WorkerError as error:
        print(f"python -m experiments.tournament: {error}", file=sys.stderr)
        return common.FAILED


def play_all(settings: running.Settings, record: Record, workers: Workers, as_json: bool) -> int:
    """Play what the record lacks, print and draw all; returns the exit status."""
    rounds: list[running.ScenarioRound] = []
    with common.Interruptible() as session:
        rounds += [running.load_round(name, settings.agents) for name in settings.scenario]
        total = sum(1 for each in rounds for _ in running.matches_of(settings, each))
        with common.report_progress("tournament", total) as report:
            running.run(settings, record, rounds, report, workers)
    results = [result for each in rounds for result in each.results]
    if session.interrupted:
        done = f"interrupted after {len(results)} matches; the same command continues"
        print(done, file=sys.stderr)
    ratings = rate(settings.agents, results, settings.seed)
    found = reports.results_as_json(settings, rounds, ratings, session.interrupted)
    common.write_results(settings.out, found)
    reports.draw_all(found, settings.out)
    for note in reports.notes(rounds):
        print(note, file=sys.stderr)
    common.print_results(found, reports.tables(rounds, ratings), as_json=as_json)
    if not as_json:
        print(f"results: {settings.out}")
    return common.INTERRUPTED if session.interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
