"""What the benchmark asks of a policy: tasks, budget, dice. docs/benchmark.md tells it to people.

A change here that moves any result needs a new `PROTOCOL`, and the old submissions with it.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common import play
from experiments.exact import ExactGame
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import TEST_SEEDS, Generation, generate
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import TooLarge
from wfb_gym.solver.evaluation import SAME
from wfb_gym.solver.game_graph import GameGraph

PROTOCOL = 1
BUDGET = 10_000_000
"""Decisions of the learner that a policy may learn from."""
RUNS = 5
"""Fewest runs: trained policies of different seeds, or battles with other dice."""

DUELS = (
    "apprentice",
    "archmage-duel",
    "orc-shaman-hunt",
    "seventh-edition-duel",
    "dwarf-hold",
)
"""Scenarios that are solved exactly."""

OPTIONS = Generation(phases=1, points=1000)
GENERATED = 200
"""Test scenarios of those options: the first that are solved within `GENERATED_BYTES`."""
GENERATED_BYTES = 16 * 2**20
SCENARIOS = Path(__file__).parent / "generated.json"

BATTLES = {"border-skirmish": 1000, "redhorn-pass": 1000, "dawn-at-grimmwald": 2000}
"""Whole battles, and what an army costs in them."""
POOL = ("random", "greedy", "veteran")
"""Who plays the other seat there."""
PER = 1000
"""Points of army that a battle's result is told for."""
BATTLES_EACH = 1000
FIRST_SEED = 6_000_000_000
"""Of the battles' dice; run r has those of FIRST_SEED + r SPACING and on."""
SPACING = 1_000_000


@dataclass(frozen=True, order=True)
class Task:
    """Something that a policy is graded in.

    Attributes:
        track: "duels", "generated" or "battles".
        scenario: its name; "generated" for all generated ones.
        seat: that the policy plays.
    """

    track: str
    scenario: str
    seat: str

    def __str__(self) -> str:
        """As the command line and submissions have it."""
        return f"{self.scenario}/{self.seat}"


def _tasks_of(track: str, scenarios: Any) -> tuple[Task, ...]:
    return tuple(Task(track, scenario, seat) for scenario in scenarios for seat in SEATS)


TRACKS = {
    "duels": _tasks_of("duels", DUELS),
    "generated": _tasks_of("generated", ("generated",)),
    "battles": _tasks_of("battles", BATTLES),
}
TASKS = {str(task): task for tasks in TRACKS.values() for task in tasks}


@dataclass(frozen=True)
class Frozen:
    """A generated scenario of the benchmark.

    Attributes:
        seed: that makes it.
        points: what random play and the optimum guarantee, by seat.
    """

    seed: int
    points: dict[str, tuple[float, float]]

    @property
    def stakes(self) -> tuple[str, ...]:
        """The seats in which the optimum wins more than random play."""
        return tuple(s for s, (random, optimum) in self.points.items() if optimum - random > SAME)

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return generate(self.seed, OPTIONS)


@cache
def frozen() -> tuple[Frozen, ...]:
    """The generated scenarios, in order."""
    found = json.loads(SCENARIOS.read_text(encoding="utf-8"))
    return tuple(
        Frozen(each["seed"], {seat: (each[seat][0], each[seat][1]) for seat in SEATS})
        for each in found["scenarios"]
    )


def generated_tasks(seat: str) -> int:
    """How many generated scenarios count for a seat."""
    return sum(seat in each.stakes for each in frozen())


def found_scenarios(count: int = GENERATED) -> Iterator[dict[str, Any]]:
    """Look for the generated scenarios anew, from the first test seed on."""
    found = 0
    for seed in TEST_SEEDS:
        if found == count:
            return
        scenario = generate(seed, OPTIONS)
        if not fits(scenario):
            continue
        game = ExactGame(scenario)
        scores = {seat: game.score(game.chances("random", seat), seat) for seat in SEATS}
        found += 1
        yield {"seed": seed} | {seat: [s.random, s.optimum] for seat, s in scores.items()}


def fits(scenario: Scenario) -> bool:
    """Whether a scenario can be solved within the protocol's memory."""
    table = pack(scenario)
    battle = Battle(table)
    try:
        if not battle.is_over:
            GameGraph(table, GENERATED_BYTES).explore(battle.state)  # no estimate may refuse it
    except TooLarge:
        return False
    return True


def _score(policy: str, game: ExactGame, seat: str) -> float | None:
    """A policy's normalised score; None where nothing is to be won."""
    score = game.score_of(policy, seat).score
    return None if score is None else round(score, 4) + 0.0  # no minus zero


def duel(policies: list[str], task: Task) -> list[float]:
    """Scores of several runs of a policy in a duel."""
    game = ExactGame(task.scenario)
    scores = [_score(policy, game, task.seat) for policy in policies]
    return [score for score in scores if score is not None]


def generated(
    policies: list[str], seats: Sequence[str], tell: Callable[[str], None]
) -> dict[str, list[list[float]]]:
    """Scores of several runs of a policy in the generated scenarios, by seat.

    Args:
        policies: one for each run.
        seats: that they play; each scenario is worked out once for all of them.
        tell: told how far it is.

    Returns:
        For each seat a list for each run, of the scenarios in which something is to be won.
    """
    found: dict[str, list[list[float]]] = {seat: [[] for _ in policies] for seat in seats}
    for number, each in enumerate(frozen(), 1):
        tell(f"generated scenarios: {number} of {len(frozen())}")
        game = ExactGame(each.scenario)
        for seat in seats:
            if seat not in each.stakes:
                continue
            for own, policy in zip(found[seat], policies, strict=True):
                score = _score(policy, game, seat)
                assert score is not None, f"{each.seed} {seat}: nothing is to be won"
                own.append(score)
    return found


def battle(policies: list[str], task: Task) -> dict[str, list[float]]:
    """Mean points of several runs of a policy in a battle, by opponent.

    A policy that is not trained plays `RUNS` runs with other dice.
    """
    runs = policies if len(policies) > 1 else policies * RUNS
    found: dict[str, list[float]] = {}
    for opponent in POOL:
        found[opponent] = []
        for run, policy in enumerate(runs):
            agent = make_agent(policy, scenario=task.scenario, seat=task.seat, seed=run)
            points = play(
                agent,
                seat=task.seat,
                scenario=task.scenario,
                opponent=opponent,
                battles=BATTLES_EACH,
                seed=FIRST_SEED + run * SPACING,
            )
            found[opponent].append(round(float(np.mean(points)), 4))
    return found
