"""Exact scores of a policy over many generated scenarios that nobody learned from.

Scenarios are taken seed by seed; those that are too large, or in which the seat's decisions change
nothing, are skipped. Each result is a line in a file, so that an interruption loses only what was
at work and running again goes on.
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
from wfb_gym.files import DamagedFileError, refuse_damage, write_text_whole
from wfb_gym.packing import pack
from wfb_gym.players.interface import Agent
from wfb_gym.solver.game_graph import GameGraph

MIN_STAKES = 1e-6
"""Points between optimal and random play below which a scenario cannot tell players apart."""


@dataclass(frozen=True)
class Grade:
    """What a policy reached in a scenario; points are those of its seat."""

    seed: int
    decisions: int = 0  # that the scenario has; 0 where it is too large
    optimum: float = 0.0  # points of optimal play
    guaranteed: float = 0.0  # points that the policy wins against its best response
    random: float = 0.0  # points that random play wins against its own
    score: float | None = None  # 100: optimal, 0: as good as random; None: it is skipped


def grade(source: TargetSource, seed: int, seat: int, agent: Agent) -> Grade:
    """The policy's grade in the scenario of a seed."""
    scenario, most = source.scenario(seed), source.max_bytes
    try:
        # only what policies that see observations can tell apart
        solution = solver.Solution(scenario, GameGraph(pack(scenario), most, merging=True), 0.0)
        solution.full = explore_positions(scenario, most)
    except solver.TooLarge:
        return Grade(seed)
    with one_torch_thread():
        found = solver.normalised_score(solution, agent, seat)
    score = found.score if found.optimum - found.random > MIN_STAKES else None
    return Grade(seed, solution.full.size, found.optimum, found.guaranteed, found.random, score)


def grade_seeds(
    source: TargetSource,
    seat: int,
    agent: Agent,
    wanted: int,
    path: Path,
    workers: Workers = HERE,
) -> Iterator[tuple[list[Grade], int]]:
    """Grade seed by seed until so many scenarios as are wanted have a score.

    The file of the results keeps what is not to be worked out again.

    Yields:
        Grades with a score so far, and the number of seeds looked at.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    known = _read_grades(path)
    grades: list[Grade] = []
    seed = 0
    missing = (each for each in count() if each not in known)
    grade_one = partial(grade, source, seat=seat, agent=agent)
    graded = workers.map(grade_one, missing, "the grade of seed {}".format)
    while len(grades) < wanted:
        one = known.get(seed)
        if one is None:
            known[seed] = one = next(graded)
            text = "".join(json.dumps(asdict(each)) + "\n" for each in known.values())
            write_or_warn(path, partial(write_text_whole, path, text))
        if one.score is not None:
            grades.append(one)
        seed += 1
        yield grades, seed


def _read_grades(path: Path) -> dict[int, Grade]:
    """The grades in a file, by seed; none where it is damaged, as they can be worked out again."""
    try:
        with refuse_damage(path, "grades"):
            lines = path.read_text(encoding="utf-8").splitlines()
            return {one.seed: one for one in (Grade(**json.loads(line)) for line in lines)}
    except DamagedFileError as error:
        if path.is_file():
            print(f"{error}; they are worked out again", file=sys.stderr)
        return {}
