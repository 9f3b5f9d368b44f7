"""Measure how far players are from optimal play, also in battles that are too large to solve.

    python -m experiments.optimality_gap
    python -m experiments.optimality_gap phase-search veteran --scenario redhorn-pass
    python -m experiments.optimality_gap runs/duel/model.zip --budget 3000000 --battles 4000

Each player has two figures in each scenario and seat. The exact score refers to the battle cut to
its first phases: 100 is optimal and 0 random play. The gain of an exploiter is the points that it
wins more than the player itself in its place. Exploiters are named players, or learners trained
against the player; the dice that choose the best one do not grade it. The mean gain of both
seats is a lower bound of the player's exploitability in the whole battle. All sampled points are
luck-adjusted (experiments/luck.py).

Finished parts are stored in OUT/parts.jsonl, and the same command continues an interrupted run. OUT
gets results.json and the trained exploiters.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.optimality_gap")

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product, starmap
from pathlib import Path
from typing import Any, NamedTuple

from experiments import common
from experiments.exact import score_of
from experiments.experiment import Experiment
from experiments.optimality_gaps.exploiting import SEED_SPACING, Effort, Trainings, exploit
from experiments.optimality_gaps.tables import BOUNDS, FIGURES, Part
from experiments.outcomes import Line, Results, Run
from experiments.own_sizes import in_own_sizes
from experiments.tables import texts
from experiments.tournaments.guarding import one_line
from experiments.tournaments.matches import policy_name, policy_names
from experiments.tournaments.running import is_planner, rules_in_use
from experiments.workers import Workers
from wfb_gym.cli.parser import option
from wfb_gym.opponents.policy_spec import PolicySpec
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import ExactGame, TooLarge

ONE_SEAT = "; a model of one seat needs a model of the other seat: CASTER+DISPELLER"


class GapTask(NamedTuple):
    """A player and its seat in a scenario."""

    scenario: str
    player: str
    seat: int

    def __str__(self) -> str:
        return f"{self.scenario}: {self.player} as {SEATS[self.seat]}"


@dataclass(frozen=True)
class Settings(Effort):
    """Settings for the measurement.

    Attributes:
        players: names or paths of saved models; CASTER+DISPELLER plays one in each seat.
        scenario: bundled names or files.
        phases: number of first phases in the cut battle.
        memory: memory limit of the positions of a cut battle, in MiB.
        planner_decisions: maximum number of decisions of a cut battle in which a search player is
            graded.
        processes: processes that train exploiters in parallel.
    """

    players: tuple[str, ...] = option(
        ("greedy", "veteran", "phase-search"), positional=True, metavar="PLAYER"
    )
    scenario: tuple[str, ...] = ("border-skirmish",)
    phases: int = 1
    memory: int = option(1024, metavar="MIB")
    planner_decisions: int = 10_000
    processes: int = 2


def measure_gap(settings: Settings, task: GapTask, trained: Path | None) -> Part:
    """Measure a player's seat in a scenario. `trained` is the trained exploiter's model."""
    scenario, player, seat = task
    part: Part = {"scenario": load_scenario(scenario).name, "player": player, "seat": SEATS[seat]}
    part["exact"] = exact_figures(settings, scenario, player, seat)
    part["exploited"] = asdict(exploit(settings, scenario, player, seat, trained))
    return part


def exact_figures(settings: Settings, scenario: str, player: str, seat: int) -> dict[str, Any]:
    """Return a player's exact score in the cut battle, or the reason why it has none."""
    whole, name = load_scenario(scenario), policy_name(player, seat)
    cut = whole.first_phases(min(settings.phases, whole.phases))
    known: dict[str, Any] = {"phases": cut.phases, "of": whole.phases}
    try:
        game = ExactGame(cut, settings.memory * 2**20)
        if is_planner(name) and game.decisions(seat) > settings.planner_decisions:
            count = game.decisions(seat)
            raise TooLarge(f"{count:,} decisions are too many to ask a player that searches")
        score = score_of(game, name, seat)
    except ValueError as error:
        return known | {"rejected": one_line(error), "too_large": isinstance(error, TooLarge)}
    return known | {**asdict(score), "score": score.score}


def _relevant_settings(settings: Settings) -> dict[str, Any]:
    found = common.recorded_settings(settings, {"out", "processes"})
    return found | rules_in_use(settings.scenario)


def bounds(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return lower bounds on exploitability for players measured in both seats."""
    found = []
    for first, second in zip(parts[::2], parts[1::2], strict=False):
        gains = [each["exploited"]["gain"] for each in (first, second)]
        width = (gains[0]["half_width"] ** 2 + gains[1]["half_width"] ** 2) ** 0.5
        value = (gains[0]["mean"] + gains[1]["mean"]) / 2
        found.append(
            {"scenario": first["scenario"], "player": first["player"], "value": value}
            | {"half_width": width / 2}
        )
    return found


def _check(settings: Settings, _: Collection[str]) -> Settings:
    most = max(settings.battles, settings.planner_battles)
    if most > SEED_SPACING:
        raise ValueError(f"--battles: expected at most {SEED_SPACING:,}, found {most:,}")
    for name in policy_names((*settings.players, *settings.exploiter)):
        make_agent(name, scenario="apprentice")
    for scenario in settings.scenario:
        load_scenario(scenario)
    check_models(settings)
    return settings


def check_models(settings: Settings) -> None:
    """Raise a ValueError if a trained model cannot play both seats of all scenarios.

    Each model plays a short battle in either seat, so that errors appear before training starts.
    """
    for scenario in settings.scenario:
        for player in dict.fromkeys((*settings.players, *settings.exploiter)):
            for seat, seat_name in enumerate(SEATS):
                name = policy_name(player, seat)
                spec = PolicySpec.parse(name)
                if spec.path is None:
                    continue
                agent = spec.make(seed=0)
                try:
                    common.play_battles(
                        in_own_sizes(agent, load_scenario(scenario), seat),
                        seat=seat_name,
                        scenario=scenario,
                        opponent="random",
                        battles=1,
                        seed=0,
                    )
                except ValueError as error:
                    hint = ONE_SEAT if name == player else ""
                    where = f"{player} as {seat_name} in {scenario}"
                    raise ValueError(f"{where}: {one_line(error)}{hint}") from error


def _tasks_of(settings: Settings) -> list[GapTask]:
    return list(starmap(GapTask, product(settings.scenario, settings.players, range(len(SEATS)))))


def measure_all(
    settings: Settings, tasks: Sequence[GapTask], _: Sequence[Line], __: Workers
) -> Iterator[Line]:
    """Measure seats in order, while exploiters for later seats are trained."""
    with Trainings(settings.processes) as trainings:
        learners = [trainings.begin(settings, *task) for task in tasks if settings.budget]
        for place, task in enumerate(tasks):
            trained = learners[place].result() if learners else None
            yield {"part": measure_gap(settings, task, trained)}


def _results_of(run: Run[Settings, GapTask]) -> Results:
    parts = run.values("part")
    return run.document(args=_relevant_settings(run.settings), parts=parts, bounds=bounds(parts))


def _notes(results: Results) -> list[str]:
    return [
        f"{each['player']} as {each['seat']} in {each['scenario']}: {reason}"
        for each in results["parts"]
        if (reason := each["exact"].get("rejected"))
    ]


EXPERIMENT = Experiment(
    module="experiments.optimality_gap",
    description=__doc__,
    settings=Settings,
    quick={
        "players": ("greedy",),
        "scenario": ("apprentice",),
        "exploiter": ("random",),
        "budget": 0,
        "battles": 64,
        "planner_battles": 16,
        "processes": 1,
    },
    check=_check,
    positive=("phases", "memory", "planner_budget", "battles", "planner_battles", "processes"),
    natural=("seed", "budget", "planner_decisions"),
    kind="optimality gap",
    recorded=_relevant_settings,
    parts=_tasks_of,
    work=measure_all,
    results=_results_of,
    tables=texts(FIGURES, BOUNDS),
    notes=_notes,
)
main = EXPERIMENT.main
