"""Play a round-robin tournament: every agent against every agent, in either seat and scenario.

    python -m experiments.tournament
    python -m experiments.tournament veteran optimal runs/duel/model.zip --scenario archmage-duel
    python -m experiments.tournament random veteran --battles 20000 --json

Agents are names or saved models; CASTER+DISPELLER plays one in each seat. A match's result is the
mean points of the first army, with a 95 % bootstrap interval; battle i has the same dice in all
matches of a scenario. The result includes the exact value if the scenario can be solved and both
agents depend on their observations only. The rating is fitted to the points of all scenarios, see
experiments/tournaments/rating.py.

The optimal player is left out of scenarios that are too large for it. An agent that crashes, takes
illegal actions or takes too long forfeits the match, and the tournament continues. Finished matches
are stored in OUT/cells.jsonl, and the same command continues an interrupted tournament. --ray plays
the matches on the machines of a Ray cluster, with the same results. OUT gets results.json, a figure
of each scenario's results and rating.png.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.tournament")

from collections.abc import Collection

from experiments.experiment import Experiment
from experiments.tournaments import reports, running
from experiments.tournaments.matches import model_names, policy_names
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario

SMALLEST = "apprentice"


def _check(settings: running.Settings, _: Collection[str]) -> running.Settings:
    if max(settings.battles, settings.planner_battles) > running.SEED_SPACING:
        raise ValueError(f"--battles: expected at most {running.SEED_SPACING:,}")
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
    if reports.RATING in loaded:  # each scenario's figure has the scenario's name
        raise ValueError(f"scenario: expected another name, as {reports.RATING}.png is reserved")
    return settings


EXPERIMENT = Experiment(
    module="experiments.tournament",
    description=__doc__,
    settings=running.Settings,
    quick={"battles": 64, "planner_battles": 16, "scenario": (SMALLEST, "archmage-duel")},
    check=_check,
    positive=("battles", "planner_battles", "move_seconds"),
    natural=("seed",),
    kind="tournament",
    file="cells.jsonl",
    recorded=running.relevant_settings,
    parts=running.parts_of,
    work=running.play_all,
    files=lambda settings: model_names(policy_names(settings.agents)),
    results=reports.results_of,
    tables=reports.tables,
    notes=reports.notes,
    figures=reports.draw_all,
)
main = EXPERIMENT.main
