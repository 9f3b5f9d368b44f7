"""The benchmark protocol: tasks, budget, dice, and how a policy is graded on each task.

Any change here that changes a result requires a new `PROTOCOL` and new submissions.
docs/benchmark.md describes the protocol, and submissions.py reads the results files.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from experiments.exact import hidden_strategy_of, score_of, strategy_of
from experiments.luck import play_with_luck
from experiments.own_sizes import in_own_sizes
from experiments.shared_files import local_path
from experiments.workers import one_torch_thread
from wfb_gym.generating import ALL_KINDS, HARD_KINDS, KINDS, KINDS_OF_AXES, generate
from wfb_gym.opponents.policy_spec import WAYS, PolicySpec
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.solver import ExactGame, HiddenGame, Score
from wfb_gym.solver.evaluation import SAME

PROTOCOL = 3
BUDGETS = {
    "duels": 10_000_000, "hidden": 10_000_000, "generated": 100_000_000, "axes": 100_000_000,
    "hard": 100_000_000, "battles": 100_000_000,
}  # fmt: skip
"""Maximum number of environment steps of a run by track. Submissions with more are marked."""
RUNS = 5
"""Minimum number of runs (policies trained with different seeds, or battles with different
dice)."""

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

The error is at most half of `HIDDEN_GAP`. The numbers are frozen, because solving this precisely
takes a long time and every further sweep changes them slightly.
"""
HIDDEN_GAP = 1e-4
"""Gap between the bounds in points, which is less than 0.00002 of any seat's stakes."""

STAKES = {
    "apprentice": (10.5401, 4.2714),
    "archmage-duel": (7.62235, 31.903),
    "orc-shaman-hunt": (6.41511, 24.8525),
    "seventh-edition-duel": (20.5702, 35.4233),
    "dwarf-hold": (15.2853, 50.4174),
    "hidden-scroll": (5.9899, 8.61242),
    "hidden-stone": (8.301, 27.7814),
    "hidden-scrolls": (9.92248, 28.6096),
    "hidden-duel": (16.3156, 21.5989),
    "hidden-council": (20.2561, 20.9831),
}
"""Points between random and optimal play in the duels and hidden tracks, of the caster and of the
dispeller."""

GENERATED = {kind: 20 if options.duel else 50 for kind, options in KINDS.items()}
"""Number of scenarios by kind, the first of its test seeds that fit within `GENERATED_BYTES`."""
AXES = dict.fromkeys(KINDS_OF_AXES, 25)
"""Number of scenarios for kinds that share no lore or no army with each other."""
HARD = dict.fromkeys(HARD_KINDS, 20)
"""Number of scenarios by kind of the hard track, the first that also meet the limits below."""
PLANNERS = ("phase-search", "search")
HARD_SHARE = 0.95
"""In a scenario of the hard track, each of `PLANNERS` wins a smaller share of the stakes."""
HARD_STAKES = 5.0
"""Minimum points at stake in a scenario of the hard track, in both seats together."""
COUNTS = GENERATED | AXES | HARD
"""Number of scenarios by kind, in all tracks."""
SAMPLED = ("generated", "axes", "hard")
"""Tracks whose scenarios are a sample."""
GENERATED_BYTES = 16 * 2**20
SCENARIOS = Path(__file__).parent / "generated.json"

BATTLES = {
    "border-skirmish": ((-48.684, 19.226), (-49.648, 17.335)),
    "redhorn-pass": ((8.037, 40.934), (-55.401, -14.771)),
    "dawn-at-grimmwald": ((-137.860, 309.167), (-336.735, 27.184)),
}
"""Whole battles, with the mean points of random and of phase-search against the pool, as the caster
and as the dispeller."""
POOL = ("random", "greedy", "veteran", "phase-search")
"""Opponents in the battles."""
BATTLES_EACH = {"border-skirmish": 160, "redhorn-pass": 160, "dawn-at-grimmwald": 80}
"""Number of battles of a run against each opponent. The largest scenario takes most of the time,
and its scores vary least."""
FIRST_SEED = 6_000_000_000
"""Seed for the battles' dice. Run r begins at FIRST_SEED + r SPACING."""
SPACING = 1_000_000


@dataclass(frozen=True, order=True)
class Task:
    """A scenario, or a kind of generated scenario, and the seat in which a policy is graded."""

    track: str
    scenario: str
    seat: str

    def __str__(self) -> str:
        """Return the key used on the command line and in submissions."""
        return f"{self.scenario}/{self.seat}"

    @property
    def kind(self) -> str | None:
        """The kind of its generated scenarios, or None for a single scenario."""
        head, _, kind = self.scenario.partition("generated-")
        return None if head else kind


_SCENARIOS = {
    "duels": DUELS,
    "hidden": tuple(HIDDEN),
    "generated": tuple(f"generated-{kind}" for kind in GENERATED),
    "axes": tuple(f"generated-{kind}" for kind in AXES),
    "hard": tuple(f"generated-{kind}" for kind in HARD),
    "battles": tuple(BATTLES),
}
TRACKS = {
    track: tuple(Task(track, scenario, seat) for scenario in scenarios for seat in SEATS)
    for track, scenarios in _SCENARIOS.items()
}
TASKS = {str(task): task for tasks in TRACKS.values() for task in tasks}
_PRESETS = {
    "easy": DUELS,
    "medium": (
        "hidden-scroll", "hidden-council", "generated-phase", "generated-phase-500",
        "generated-phase-2000", "generated-duel", "generated-duel-2000", "generated-duel-7e",
        "generated-duel-3", "generated-armies-seen", "generated-armies-unseen",
    ),
}  # fmt: skip
PRESETS = {
    name: tuple(task for task in TASKS.values() if task.scenario in scenarios)
    for name, scenarios in _PRESETS.items()
}
PRESETS["hard"] = tuple(
    task for task in TASKS.values() if not any(task in easier for easier in PRESETS.values())
)
"""Tasks by difficulty: duels, other tasks in which a planner's mean score is 99.5, and the rest."""


@dataclass(frozen=True)
class GeneratedScenario:
    """A generated scenario. `points` holds each seat's points under random and optimal play."""

    kind: str
    seed: int
    points: dict[str, tuple[float, float]]

    @property
    def stakes(self) -> tuple[str, ...]:
        """The seats in which optimal play wins more points than random play."""
        return tuple(s for s, (random, optimum) in self.points.items() if optimum - random > SAME)

    @property
    def scenario(self) -> Scenario:
        """The scenario, generated from its seed."""
        return generate(self.seed, ALL_KINDS[self.kind])


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
    """Return a kind's generated scenarios, in order."""
    return _all_generated()[kind]


def scenarios_at_stake(task: Task) -> list[GeneratedScenario]:
    """Return the generated scenarios that count in a task."""
    assert task.kind is not None
    return [each for each in generated_scenarios(task.kind) if task.seat in each.stakes]


RANKED_WAYS = {
    "duels": "argmax", "hidden": "sample", "generated": "argmax", "axes": "argmax",
    "hard": "argmax", "battles": "argmax",
}  # fmt: skip
"""How a saved model chooses its actions for the results that are ranked, by track: its most likely
action, or actions drawn from its policy, because hidden items need mixed strategies. The other way
is graded too."""


def both_ways(policies: Sequence[str], track: str) -> tuple[list[str], list[str]]:
    """Return the policies to rank in a track, and models that choose actions the other way."""
    specs = [PolicySpec.parse(policy) for policy in policies]
    if any(spec.path is None or spec.option is not None for spec in specs):
        return list(policies), []
    ranked = RANKED_WAYS[track]
    (other,) = WAYS.keys() - {ranked}
    first, second = ([f"{way}:{policy}" for policy in policies] for way in (ranked, other))
    return first, second


def stakes_of(task: Task) -> list[float]:
    """Return the points between random and optimal play, one number for each exact score."""
    if task.kind is None:
        return [STAKES[task.scenario][seat_number(task.seat)]]
    both = (each.points[task.seat] for each in scenarios_at_stake(task))
    return [optimum - random for random, optimum in both]


class BattleRun(NamedTuple):
    """A run's battles against one opponent."""

    opponent: str
    run: int
    policy: str


def _rounded(score: Score) -> float | None:
    return None if score.score is None else round(score.score, 4) + 0.0  # + 0.0 avoids minus zero


def grade_duel(policies: list[str], task: Task) -> list[float]:
    """Grade several runs of a policy in a duel, and return their scores."""
    game = ExactGame(task.scenario)
    scores = [_rounded(score_of(game, policy, task.seat)) for policy in policies]
    return [score for score in scores if score is not None]


@cache
def _hidden_game(scenario: str) -> HiddenGame:
    """Return the tree of a scenario with hidden items, shared when grading both seats."""
    return HiddenGame(scenario, whole=True)


def grade_hidden(policies: list[str], task: Task) -> list[float]:
    """Grade several runs of a policy in a scenario with hidden items, and return their scores."""
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
    policies: Mapping[str, Sequence[str]], generated: GeneratedScenario
) -> dict[str, list[list[float]]]:
    """Grade several runs of a policy in a generated scenario, which is solved only once.

    Args:
        policies: by seat, one policy per run.
        generated: the scenario.

    Returns:
        By seat, a list per run with its score, which is empty if the seat has no stake.
    """
    game = ExactGame(generated.scenario)
    found: dict[str, list[list[float]]] = {
        seat: [[] for _ in own] for seat, own in policies.items()
    }
    graded = [
        (seat, run, name)
        for seat, own in policies.items()
        if seat in generated.stakes
        for run, name in enumerate(own)
    ]
    given = [strategy_of(game, name, seat) for seat, _, name in graded]
    scores = game.scores(given, [seat for seat, _, _ in graded])
    for (seat, run, _), each in zip(graded, scores, strict=True):
        score = _rounded(each)
        assert score is not None, f"{generated.seed} {seat}: nothing can be won"
        found[seat][run].append(score)
    return found


def play_run(part: BattleRun, task: Task) -> float:
    """Play a run's battles against an opponent, and return the mean luck-adjusted points."""
    agent = make_agent(
        local_path(part.policy), scenario=task.scenario, seat=task.seat, seed=part.run
    )
    with one_torch_thread():
        found = play_with_luck(
            in_own_sizes(agent, load_scenario(task.scenario), task.seat),
            seat=task.seat,
            scenario=task.scenario,
            opponent=part.opponent,
            battles=BATTLES_EACH[task.scenario],
            seed=FIRST_SEED + part.run * SPACING,
        )
    return round(float(found.adjusted.mean()), 4)
