"""Exact scores of a policy over many generated scenarios that nobody learned from.

Scenarios are taken in the order of their numbers; those that are too large, or in which no decision
changes anything, are skipped. The results of a scenario are a line in a file, so that an
interruption loses only what was at work and running again goes on.
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
"""Points between optimal and random play below which a scenario cannot tell players apart."""


@dataclass(frozen=True)
class Grade:
    """What a policy reached in one seat of a scenario; points are those of the seat."""

    number: int  # of the scenario
    seat: str
    decisions: int  # that the scenario has
    optimum: float  # points of optimal play
    guaranteed: float  # points that the policy wins against its best response
    random: float  # points that random play wins against its own
    score: float  # 100: optimal, 0: as good as random


def grade_network(source: TargetSource, number: int, agent: Agent) -> list[Grade]:
    """The policy's grades in a scenario, of the seats that can win something; none if too large."""
    scenario, most = source.scenario(number), source.max_bytes
    try:
        # only what policies that see observations can tell apart
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
    """Grade one scenario after the other until so many as are wanted have a score in some seat.

    The file of the results keeps what is not to be worked out again.

    Yields:
        Grades so far, and the number of scenarios looked at.
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
    """The grades in a file, by number; none where it is damaged: they can be worked out again."""
    try:
        with wrap_read_errors(path, "grades"):
            lines = path.read_text(encoding="utf-8").splitlines()
            return {
                number: [Grade(**one) for one in json.loads(line)]
                for number, line in enumerate(lines)
            }
    except DamagedFileError as error:
        if path.is_file():
            print(f"{error}; they are worked out again", file=sys.stderr)
        return {}
