"""Exact scores of a policy over many generated scenarios that nobody learned from.

Scenarios are taken seed by seed; those that are too large, or in which nothing that the seat
decides matters, are passed over. Each result is a line in a file, so that an interruption loses
one scenario at most and running again goes on.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents.distilling.lessons import Course
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import Generated
from wfb_gym.packing import pack
from wfb_gym.players.interface import Agent
from wfb_gym.scenario import Scenario
from wfb_gym.solver import TooLarge
from wfb_gym.solver.game_graph import GameGraph

STAKES = 1e-6
"""Points between optimal and random play, from which on a scenario can tell players apart."""


@dataclass(frozen=True)
class Grade:
    """What a policy reached in a scenario.

    Attributes:
        seed: of the scenario.
        decisions: that the scenario has; 0 where it is too large.
        optimum: points of optimal play, from the policy's seat.
        guaranteed: points that the policy wins against its best response.
        random: points that random play wins against its own.
        score: 100 is optimal, 0 as good as random; None where the scenario is passed over.
    """

    seed: int
    decisions: int = 0
    optimum: float = 0.0
    guaranteed: float = 0.0
    random: float = 0.0
    score: float | None = None


def scenario_of(course: Course, seed: int) -> Scenario:
    """The scenario of a seed of the course's split."""
    return Generated(course.split, 1, seed, course.options).scenarios()[0]


def solution_of(scenario: Scenario, max_bytes: int) -> solver.Solution:
    """A solution that works out no more than what policies of observations tell apart.

    Raises:
        TooLarge: it has more positions than fit.
    """
    found = solver.Solution(scenario, GameGraph(pack(scenario), max_bytes, merging=True), 0.0)
    positions = GameGraph(found.packed, max_bytes)
    battle = Battle(found.packed)
    if not battle.is_over:
        positions.explore(battle.state)  # without the estimate, which takes longer than a small one
    found.full = positions
    return found


def grade(course: Course, seed: int, seat: int, agent: Agent) -> Grade:
    """The policy's grade in the scenario of a seed."""
    try:
        solution = solution_of(scenario_of(course, seed), course.max_bytes)
    except TooLarge:
        return Grade(seed)
    found = solver.normalised_score(solution, agent, seat)
    score = found.score if found.optimum - found.random > STAKES else None
    return Grade(seed, solution.full.size, found.optimum, found.guaranteed, found.random, score)


def grades(
    course: Course, seat: int, agent: Agent, wanted: int, path: Path
) -> Iterator[tuple[list[Grade], int]]:
    """Grade seed by seed until so many scenarios had a score.

    Args:
        course: whose split, first seed, options and bytes tell which scenarios.
        seat: of the policy.
        agent: the policy.
        wanted: scenarios with a score.
        path: of the file of results, which is gone on with if it is there.

    Yields:
        Those with a score so far, and how many seeds were looked at.
    """
    known = {one.seed: one for one in _read(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    found: list[Grade] = []
    seed = course.first
    while len(found) < wanted:
        one = known.get(seed)
        if one is None:
            one = grade(course, seed, seat, agent)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(one)) + "\n")
        if one.score is not None:
            found.append(one)
        seed += 1
        yield found, seed - course.first


def _read(path: Path) -> list[Grade]:
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [Grade(**line) for line in lines]
