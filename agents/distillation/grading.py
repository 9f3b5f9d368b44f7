"""Exact scores of a policy on many generated scenarios that it was not trained on.

Scenarios are graded in numerical order. Scenarios that are too large, or in which no decision
matters, are skipped. Each scenario's results are one line of a file, so after an interruption,
grading resumes with the first missing scenario.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from pathlib import Path

from agents.distillation.targets import TargetSource, explore_positions
from agents.run_folder import write_or_warn
from experiments.workers import HERE, Workers, one_torch_thread
from wfb_gym import solver
from wfb_gym.files import DamagedFileError, atomic_write_text, wrap_read_errors
from wfb_gym.packing import pack
from wfb_gym.players.interface import Agent
from wfb_gym.seats import SEATS
from wfb_gym.solver.game_graph import GameGraph

MIN_STAKES = 1e-6
"""Minimum gap in points between optimal and random play for a scenario to be graded."""


@dataclass(frozen=True)
class Grade:
    """A policy's result in one seat of a scenario. Points are from that seat's perspective."""

    number: int  # the scenario's number
    seat: str
    decisions: int  # decisions in the scenario
    optimum: float  # points for optimal play
    guaranteed: float  # the policy's points against its best response
    random: float  # random play's points against its best response
    score: float  # 100 is optimal, 0 is as good as random


def grade_network(source: TargetSource, number: int, agent: Agent) -> list[Grade]:
    """Return a policy's grades in a scenario's seats with stakes, or [] if it is too large."""
    scenario, most = source.scenario(number), source.max_bytes
    try:
        # `full` is unmerged: policies may act differently at positions that play alike
        solution = solver.Solution(scenario, GameGraph(pack(scenario), most, merging=True), 0.0)
        solution.full = explore_positions(scenario, most)
    except solver.TooLarge:
        return []
    grades = []
    with one_torch_thread():
        for seat, name in enumerate(SEATS):
            found = solver.normalised_score(solution, agent, seat)
            if found.score is not None and found.optimum - found.random > MIN_STAKES:
                values = (found.optimum, found.guaranteed, found.random, found.score)
                grades.append(Grade(number, name, solution.full.size, *values))
    return grades


def grade_scenarios(
    source: TargetSource, agent: Agent, wanted: int, path: Path, workers: Workers = HERE
) -> Iterator[tuple[list[Grade], int]]:
    """Grade scenarios in order until `wanted` of them have a score in at least one seat.

    Grades that are already in the results file are not recomputed.

    Yields:
        The grades so far, and the number of scenarios graded or skipped.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    known = _read_grades(path)
    grades: list[Grade] = []
    found = number = 0
    missing = (each for each in count() if each not in known)
    grade_one = partial(grade_network, source, agent=agent)
    graded = workers.map(grade_one, missing, "the grade of scenario {}".format)
    while found < wanted:
        if number not in known:
            known[number] = next(graded)
            lines = ([asdict(one) for one in known[each]] for each in sorted(known))
            text = "".join(json.dumps(line) + "\n" for line in lines)
            write_or_warn(path, partial(atomic_write_text, path, text))
        grades += known[number]
        found += bool(known[number])
        number += 1
        yield grades, number


def _read_grades(path: Path) -> dict[int, list[Grade]]:
    """Return the grades in a file by number, or {} if the file is missing or corrupt."""
    try:
        with wrap_read_errors(path, "grades"):
            lines = path.read_text(encoding="utf-8").splitlines()
            return {
                number: [Grade(**one) for one in json.loads(line)]
                for number, line in enumerate(lines)
            }
    except DamagedFileError as error:
        if path.is_file():
            print(f"{error}; grading from scratch", file=sys.stderr)
        return {}
