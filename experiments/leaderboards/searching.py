"""Find the generated scenarios of the benchmark from scratch."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from experiments.exact import score_of
from experiments.leaderboards import protocol
from experiments.leaderboards.settings import Settings
from experiments.outcomes import Line, Outcome, Run
from wfb_gym._progress import tell
from wfb_gym.engine.battle import Battle
from wfb_gym.files import atomic_write_text
from wfb_gym.generating import ALL_KINDS, TEST_SEEDS, generate
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import ExactGame, Score, TooLarge
from wfb_gym.solver.game_graph import GameGraph

SEEDS_APART = 10_000
"""Number of test seeds between two kinds' first seeds, because equal seeds give similar armies."""


class Search(NamedTuple):
    """The search for a kind's scenarios, and how many to find."""

    name: str
    number: int

    def __str__(self) -> str:
        return self.name


def searches() -> Sequence[Search]:
    """Return all searches."""
    return [Search(*each) for each in protocol.COUNTS.items()]


def find_scenarios(part: Search) -> Line:
    """Find a kind's generated scenarios, showing progress."""
    found = []
    seeds = range(benchmark_seed(part.name), TEST_SEEDS.stop)
    hard = part.name in protocol.HARD
    for each in find_generated_scenarios(part.name, part.number, seeds, hard=hard):
        found.append(each)
        tell(f"seed {each['seed']}")
    tell("")
    return {"kind": part.name, "found": found}


def benchmark_seed(kind: str) -> int:
    """Return the first seed of a kind's scenarios in the benchmark."""
    return TEST_SEEDS.start + SEEDS_APART * list(ALL_KINDS).index(kind)


def find_generated_scenarios(
    kind: str, count: int, seeds: Iterable[int], *, hard: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a kind's first generated scenarios from some seeds that are small enough to solve.

    Args:
        kind: the kind of scenario.
        count: number of scenarios.
        seeds: seeds to try.
        hard: whether to skip scenarios in which the planners do not fail.
    """
    return islice(_small_scenarios(kind, seeds, hard=hard), count)


def grade_found(
    policies: Mapping[str, Sequence[str]], kind: str, count: int, seeds: Iterable[int]
) -> Line:
    """Grade policies in the scenarios of `find_generated_scenarios`.

    Args:
        policies: by seat, saved models or registered agents.
        kind: the kind of scenario.
        count: number of scenarios.
        seeds: seeds to try.

    Returns:
        By seat, the "scores" of each policy in the scenarios that have a stake for the seat, and
        the "stakes" in points.
    """
    scores: dict[str, list[list[float]]] = {seat: [[] for _ in policies[seat]] for seat in SEATS}
    stakes: dict[str, list[float]] = {seat: [] for seat in SEATS}
    for found in find_generated_scenarios(kind, count, seeds):
        points = {seat: (found[seat][0], found[seat][1]) for seat in SEATS}
        scenario = protocol.GeneratedScenario(kind, found["seed"], points)
        own = {seat: policies[seat] for seat in scenario.stakes}
        for seat, graded in protocol.grade_generated(own, scenario).items():
            random, optimum = points[seat]
            stakes[seat].append(optimum - random)
            for each, (score,) in zip(scores[seat], graded, strict=True):
                each.append(score)
    return {"scores": scores, "stakes": stakes}


def _small_scenarios(kind: str, seeds: Iterable[int], *, hard: bool) -> Iterator[dict[str, Any]]:
    for seed in seeds:
        scenario = generate(seed, ALL_KINDS[kind])
        if not _is_small_enough(scenario):
            continue
        game = ExactGame(scenario)
        scores = {seat: game.score(game.probabilities("random", seat), seat) for seat in SEATS}
        if not hard or _is_hard(game, scores):
            yield {"seed": seed} | {seat: [s.random, s.optimum] for seat, s in scores.items()}


def _is_hard(game: ExactGame, scores: Mapping[str, Score]) -> bool:
    """Return whether enough is at stake, and all planners win less than the protocol's share."""
    at_random = sum(score.random for score in scores.values())
    stakes = sum(score.optimum for score in scores.values()) - at_random
    return stakes >= protocol.HARD_STAKES and all(
        sum(score_of(game, planner, seat).guaranteed for seat in SEATS) - at_random
        < protocol.HARD_SHARE * stakes
        for planner in protocol.PLANNERS
    )


def _is_small_enough(scenario: Scenario) -> bool:
    """Return whether a scenario can be solved within the protocol's memory limit."""
    table = pack(scenario)
    battle = Battle(table)
    try:
        if not battle.is_over:
            # explored in full, because an estimate may be wrong
            GameGraph(table, protocol.GENERATED_BYTES).explore(battle.state)
    except TooLarge:
        return False
    return True


def write_scenarios(run: Run[Settings, Any]) -> Outcome:
    """Write the generated scenarios to their file, unless the search was interrupted."""
    counts = {line["kind"]: len(line["found"]) for line in run.lines}
    if run.interrupted:
        return Outcome(counts, ())
    kinds = []
    for line in run.lines:
        rows = ",\n".join(f"  {json.dumps(each)}" for each in line["found"])
        kinds.append(f' "{line["kind"]}": [\n{rows}\n ]')
    atomic_write_text(protocol.SCENARIOS, "{\n" + ",\n".join(kinds) + "\n}\n")
    return Outcome(counts, (), [f"written: {protocol.SCENARIOS}"])
