"""The benchmark's protocol: tasks, budget, dice, and how a policy is graded in each task.

A change here that moves any result needs a new `PROTOCOL` and new submissions. docs/benchmark.md
describes the protocol; files of results are read in submissions.py.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.common import play
from experiments.exact import hidden_strategy_of, score_of
from experiments.own_sizes import in_own_sizes
from experiments.progress import Report
from experiments.records import Record
from experiments.tournaments.matches import one_line
from experiments.workers import Workers, local_path, one_torch_thread
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import KINDS, KINDS_OF_AXES, TEST_SEEDS, generate
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.solver import ExactGame, HiddenGame, Score, TooLarge
from wfb_gym.solver.evaluation import SAME
from wfb_gym.solver.game_graph import GameGraph

PROTOCOL = 2
BUDGET = 10_000_000
"""Most decisions of the learner that a policy may learn from; with more it is marked."""
RUNS = 5
"""Least number of runs: policies trained with different seeds, or battles with other dice."""

DUELS = ("apprentice", "archmage-duel", "orc-shaman-hunt", "seventh-edition-duel", "dwarf-hold")
"""Scenarios that are solved exactly."""

HIDDEN = {
    "hidden-scroll": 8.68569,
    "hidden-stone": 9.21451,
    "hidden-scrolls": 13.4407,
    "hidden-duel": 21.8691,
    "hidden-council": 28.38935,
}
"""Scenarios with hidden items, and the caster's points in equilibrium.

They are at most half of `HIDDEN_GAP` away, and frozen: solving so closely takes long, and every
sweep more moves them a little.
"""
HIDDEN_GAP = 1e-4
"""Points between the bounds: less than two hundred-thousandths of what is at stake in any seat."""

GENERATED = {kind: 20 if options.duel else 50 for kind, options in KINDS.items()}
"""By kind, how many scenarios: the first of its test seeds within `GENERATED_BYTES`."""
AXES = dict.fromkeys(KINDS_OF_AXES, 25)
"""The same of kinds that share no lore, or no army, with each other."""
SEEDS_APART = 10_000
"""Test seeds between the first ones of two kinds, since equal seeds make similar armies."""
GENERATED_BYTES = 16 * 2**20
SCENARIOS = Path(__file__).parent / "generated.json"

BATTLES = {"border-skirmish": 1000, "redhorn-pass": 1000, "dawn-at-grimmwald": 2000}
"""Whole battles, and what an army costs in them."""
POOL = ("random", "greedy", "veteran")
"""Players of the other seat there."""
POINTS_UNIT = 1000
"""Points of army that a battle's result is scaled to."""
BATTLES_EACH = 1000
FIRST_SEED = 6_000_000_000
"""Of the battles' dice; those of run r begin at FIRST_SEED + r SPACING."""
SPACING = 1_000_000


@dataclass(frozen=True, order=True)
class Task:
    """A scenario and seat in which a policy is graded, or a kind of generated scenario and seat."""

    track: str
    scenario: str
    seat: str

    def __str__(self) -> str:
        """Return the key of the command line and of submissions."""
        return f"{self.scenario}/{self.seat}"

    @property
    def kind(self) -> str | None:
        """The kind of its generated scenarios; None for a single scenario."""
        head, _, kind = self.scenario.partition("generated-")
        return None if head else kind


_SCENARIOS = {
    "duels": DUELS,
    "hidden": tuple(HIDDEN),
    "generated": tuple(f"generated-{kind}" for kind in GENERATED),
    "axes": tuple(f"generated-{kind}" for kind in AXES),
    "battles": tuple(BATTLES),
}
TRACKS = {
    track: tuple(Task(track, scenario, seat) for scenario in scenarios for seat in SEATS)
    for track, scenarios in _SCENARIOS.items()
}
TASKS = {str(task): task for tasks in TRACKS.values() for task in tasks}
_PRESETS = {
    "easy": DUELS[:3],
    "medium": (*DUELS[3:], *(f"generated-{kind}" for kind in KINDS if KINDS[kind].points == 500)),
}
PRESETS = {
    name: tuple(task for task in TASKS.values() if task.scenario in scenarios)
    for name, scenarios in _PRESETS.items()
}
PRESETS["hard"] = tuple(
    task for task in TASKS.values() if not any(task in easier for easier in PRESETS.values())
)
"""Tasks by how hard they are to learn; see docs/benchmark.md."""


@dataclass(frozen=True)
class GeneratedScenario:
    """A generated scenario: by seat the points that random play and the optimum guarantee."""

    kind: str
    seed: int
    points: dict[str, tuple[float, float]]

    @property
    def stakes(self) -> tuple[str, ...]:
        """The seats in which the optimum wins more than random play."""
        return tuple(s for s, (random, optimum) in self.points.items() if optimum - random > SAME)

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return generate(self.seed, _OPTIONS[self.kind])


_OPTIONS = KINDS | KINDS_OF_AXES


@cache
def _all_generated() -> dict[str, tuple[GeneratedScenario, ...]]:
    found = json.loads(SCENARIOS.read_text(encoding="utf-8"))
    return {
        kind: tuple(
            GeneratedScenario(
                kind, each["seed"], {seat: (each[seat][0], each[seat][1]) for seat in SEATS}
            )
            for each in scenarios
        )
        for kind, scenarios in found.items()
    }


def generated_scenarios(kind: str) -> tuple[GeneratedScenario, ...]:
    """Return the generated scenarios of a kind, in order."""
    return _all_generated()[kind]


def scenarios_at_stake(task: Task) -> list[GeneratedScenario]:
    """Return the generated scenarios that count in a task."""
    assert task.kind is not None
    return [each for each in generated_scenarios(task.kind) if task.seat in each.stakes]


def find_generated_scenarios(kind: str, count: int) -> Iterator[dict[str, Any]]:
    """Search the benchmark's generated scenarios of a kind again, from the first of its seeds."""
    first = SEEDS_APART * list(_OPTIONS).index(kind)
    candidates = ((seed, generate(seed, _OPTIONS[kind])) for seed in TEST_SEEDS[first:])
    small = (each for each in candidates if _is_small_enough(each[1]))
    for seed, scenario in islice(small, count):
        game = ExactGame(scenario)
        scores = {seat: game.score(game.probabilities("random", seat), seat) for seat in SEATS}
        yield {"seed": seed} | {seat: [s.random, s.optimum] for seat, s in scores.items()}


def _is_small_enough(scenario: Scenario) -> bool:
    """Whether a scenario can be solved within the protocol's memory."""
    table = pack(scenario)
    battle = Battle(table)
    try:
        if not battle.is_over:
            GameGraph(table, GENERATED_BYTES).explore(battle.state)  # no estimate may refuse it
    except TooLarge:
        return False
    return True


class BattleRun(NamedTuple):
    """Battles of a run against one opponent."""

    opponent: str
    run: int
    policy: str


class Job(NamedTuple):
    """What is graded at once: a task, several tasks in a generated scenario, or a battle's run."""

    policies: list[str]
    tasks: tuple[Task, ...]
    part: GeneratedScenario | BattleRun | None = None
    is_last: bool = True  # of those with the same tasks
    found: Any = None  # by a grading that was interrupted

    def __str__(self) -> str:
        """Return what is graded; no two jobs of a grading are called the same."""
        words = " and ".join(map(str, self.tasks))
        if isinstance(self.part, GeneratedScenario):
            words += f", seed {self.part.seed}"
        elif self.part is not None:
            words += f" against {self.part.opponent}, run {self.part.run + 1}"
        return words


class Refused(NamedTuple):
    """Why a policy could not be graded."""

    reason: str


def do_job(job: Job) -> tuple[Job, Any]:
    """Grade; returns the job, and the results or that the policy was refused."""
    try:
        task = job.tasks[0]
        if job.found is not None:
            return job, job.found
        if isinstance(job.part, GeneratedScenario):
            seats = [each.seat for each in job.tasks]
            return job, grade_generated(job.policies, seats, job.part)
        if job.part is not None:
            return job, play_battles(job.part, task)
        return job, (grade_duel if task.track == "duels" else grade_hidden)(job.policies, task)
    except ValueError as error:  # it does not fit, or TooLarge
        return job, Refused(one_line(error))


def jobs_of(policies: list[str], tasks: Sequence[Task]) -> Iterator[Job]:
    """Yield the jobs of tasks; each generated scenario is solved once for both seats.

    In battles an untrained policy plays `RUNS` runs with other dice.
    """
    players = policies if len(policies) > 1 else policies * RUNS
    battles = [BattleRun(opponent, *run) for opponent in POOL for run in enumerate(players)]
    for scenario in dict.fromkeys(task.scenario for task in tasks):
        own = tuple(task for task in tasks if task.scenario == scenario)
        kind = own[0].kind
        if kind is not None:
            scenarios = generated_scenarios(kind)
            yield from (Job(policies, own, each, each is scenarios[-1]) for each in scenarios)
        elif own[0].track == "battles":
            for task in own:
                yield from (Job(policies, (task,), each, each is battles[-1]) for each in battles)
        else:
            yield from (Job(policies, (task,)) for task in own)


def grade(
    name: str,
    policies: list[str],
    tasks: Sequence[Task],
    results: dict[str, Any],
    report: Report,
    workers: Workers,
    record: Record | None = None,
) -> list[str]:
    """Grade a policy in tasks, and give `results`, by track and task, what it reaches.

    Returns the tasks that could not be graded, and why, a line each. After Ctrl-C `results` holds
    what was done. What a record holds is not graded again, and what is graded is added to it.
    """
    known = {line["job"]: line["found"] for line in record.lines} if record is not None else {}
    failed: list[str] = []
    refused: set[tuple[Task, ...]] = set()
    parts: list[tuple[Job, Any]] = []  # of the same tasks

    def jobs() -> Iterator[Job]:
        for job in jobs_of(policies, tasks):
            if job.tasks not in refused:
                report(f"{name}: {job}", 0)
                yield job._replace(found=known.get(str(job)))

    results.update((track, {}) for track in TRACKS)
    for job, found in workers.map(do_job, jobs()):
        if job.tasks in refused:
            continue
        if isinstance(found, Refused):
            refused.add(job.tasks)
            parts = []
            failed += [f"{name}: {task}: {found.reason}" for task in job.tasks]
        else:
            if record is not None and job.found is None:
                record.add({"job": str(job), "found": found})
            parts.append((job, found))
            if job.is_last:
                for task in job.tasks:
                    results[task.track][str(task)] = _joined(parts, task)
                parts = []
        if job.is_last or job.tasks in refused:
            report("", len(job.tasks))
    return failed


def _joined(parts: list[tuple[Job, Any]], task: Task) -> Any:
    """Join what the jobs of a task have found.

    In generated scenarios these are a seat's scores, a list for each run; in a battle mean points
    by opponent, of each run.
    """
    if task.track == "battles":
        points: dict[str, list[float]] = {opponent: [] for opponent in POOL}
        for job, found in parts:
            assert isinstance(job.part, BattleRun)
            points[job.part.opponent].append(found)
        return points
    if task.kind is None:
        return parts[0][1]
    return [
        [score for scores in run for score in scores]
        for run in zip(*(found[task.seat] for _, found in parts), strict=True)
    ]


def _score(policy: str, game: ExactGame, seat: str) -> float | None:
    """Return a policy's normalised score; None where nothing can be won."""
    return _rounded(score_of(game, policy, seat))


def _rounded(score: Score) -> float | None:
    return None if score.score is None else round(score.score, 4) + 0.0  # no minus zero


def grade_duel(policies: list[str], task: Task) -> list[float]:
    """Grade several runs of a policy in a duel; returns their scores."""
    game = ExactGame(task.scenario)
    scores = [_score(policy, game, task.seat) for policy in policies]
    return [score for score in scores if score is not None]


@cache
def _hidden_game(scenario: str) -> HiddenGame:
    """Return the tree of a scenario with hidden items, which both seats are graded in."""
    return HiddenGame(scenario, whole=True)


def grade_hidden(policies: list[str], task: Task) -> list[float]:
    """Grade several runs of a policy where items are hidden; returns their scores."""
    game, seat = _hidden_game(task.scenario), seat_number(task.seat)
    optimum = HIDDEN[task.scenario] * (1 - 2 * seat)
    random = -game.best_answer(game.uniform, 1 - seat)
    found = []
    for policy in policies:
        guaranteed = -game.best_answer(hidden_strategy_of(game, policy, seat), 1 - seat)
        score = _rounded(Score(optimum, guaranteed, random))
        assert score is not None, f"{task}: nothing can be won"
        found.append(score)
    return found


def grade_generated(
    policies: list[str], seats: Sequence[str], generated: GeneratedScenario
) -> dict[str, list[list[float]]]:
    """Grade several runs of a policy in a generated scenario, which is solved once.

    Args:
        policies: one for each run.
        seats: that they play.
        generated: the scenario.

    Returns:
        By seat: a list for each run, of its score if something can be won.
    """
    game = ExactGame(generated.scenario)
    found: dict[str, list[list[float]]] = {seat: [[] for _ in policies] for seat in seats}
    for seat in seats:
        if seat not in generated.stakes:
            continue
        for scores, policy in zip(found[seat], policies, strict=True):
            score = _score(policy, game, seat)
            assert score is not None, f"{generated.seed} {seat}: nothing can be won"
            scores.append(score)
    return found


def play_battles(part: BattleRun, task: Task) -> float:
    """Play a run's battles against an opponent; returns the mean points."""
    agent = make_agent(
        local_path(part.policy), scenario=task.scenario, seat=task.seat, seed=part.run
    )
    with one_torch_thread():
        points = play(
            in_own_sizes(agent, load_scenario(task.scenario), task.seat),
            seat=task.seat,
            scenario=task.scenario,
            opponent=part.opponent,
            battles=BATTLES_EACH,
            seed=FIRST_SEED + part.run * SPACING,
        )
    return round(float(np.mean(points)), 4)
