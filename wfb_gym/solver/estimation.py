"""How large a scenario's game is, before it is solved; and the refusal of what will not fit.

`wfb_gym.solver.sampling` samples positions, `wfb_gym.solver.causes` names what makes a game large.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.keys import new_plan
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver.causes import causes_of
from wfb_gym.solver.game_graph import GameGraph, Progress, TooLarge, bytes_of
from wfb_gym.solver.sampling import estimate_count, sample_game

ESTIMATE_AFTER = 200_000
"""Positions that are solved before their number is estimated."""
DOUBT = 4
"""Factor by which an estimate must pass the limit for a scenario to be refused early."""
MAX_COUNT = 10**15
"""No estimate is larger; it would say nothing more."""


@dataclass(frozen=True)
class Estimate:
    """What solving a scenario takes.

    Attributes:
        states: number of stored positions: decisions, and chance nodes where many ways meet.
        bytes: memory of the arrays that hold them.
        exact: whether the positions were counted, not estimated.
        causes: what makes the game large, the largest first; at most four.
    """

    states: int
    bytes: int
    exact: bool
    causes: tuple[str, ...]

    def __str__(self) -> str:
        """Return one line for people."""
        about = "" if self.exact else "about "
        causes = f", most of them from {', '.join(self.causes)}" if self.causes else ""
        return f"{about}{count_text(self.states)} positions in {size_text(self.bytes)}{causes}"


def count_text(number: int) -> str:
    """Return a count with no more digits than an estimate has."""
    for size, word in ((10**12, " trillion"), (10**9, " billion"), (10**6, " million")):
        if number >= size:
            return f"{number / size:,.{1 if number < 10 * size else 0}f}{word}"
    return f"{number:,}"


def size_text(size: int) -> str:
    """Return bytes in the largest unit that leaves a whole number."""
    for unit, word in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB")):
        if size >= unit:
            return f"{size / unit:,.{1 if size < 10 * unit else 0}f} {word}"
    return f"{size / 2**10:,.0f} KiB"


def estimate(scenario: Any, battle: Battle | None = None) -> Estimate:
    """Return how many positions a scenario's game has, and how much memory solving takes.

    The same scenario always gets the same answer. Measured: exact for games of up to a few
    thousand positions, within a factor of 2 for the bundled ones that were solved (0.2 to 78
    million positions). Of battles of armies it only says that they are far too large.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        battle: a position of it to begin with; its beginning unless given.

    Raises:
        ScenarioError: There is no such scenario, or it is refused.
    """
    loaded = load_scenario(scenario)
    start = battle or Battle(pack(loaded))
    if start.is_over:
        return Estimate(0, bytes_of(0, 1), True, ())
    samples = sample_game(start)
    last = samples[-1]
    count = round(min(estimate_count(samples), MAX_COUNT))
    words = int(new_plan(last.origin, last.moves)[0].words)
    causes = causes_of(loaded, last.states, last.weights)
    return Estimate(count, bytes_of(count, words), last.exact, causes)


def explore(
    graph: GameGraph,
    scenario: Scenario,
    battle: Battle,
    progress: Progress | None = None,
    expect: Callable[[int], None] | None = None,
) -> None:
    """Solve all that can follow a position, or raise soon if it does not fit.

    Args:
        graph: of the scenario.
        scenario: to name what makes it large.
        battle: where to begin.
        progress: called with the number of positions so far.
        expect: called once with the estimated number of positions, if solving takes long.

    Raises:
        TooLarge: It does not fit, or hardly can; names what makes it large.
    """
    before = graph.size
    expected: Estimate | None = None

    def watch(size: int) -> None:
        nonlocal expected
        if progress is not None:
            progress(size)
        if expected is None and size - before >= ESTIMATE_AFTER:
            expected = estimate(scenario, battle)
            if expect is not None:
                expect(expected.states)
            if expected.bytes > DOUBT * graph.max_bytes:
                found = (
                    f"about {count_text(expected.states)} positions in {size_text(expected.bytes)}"
                )
                raise _refusal(found, expected, scenario, graph.max_bytes)

    try:
        graph.explore(battle.state, watch)
    except TooLarge as error:
        if expected is not None and expected.bytes > DOUBT * graph.max_bytes:
            raise
        expected = expected or estimate(scenario, battle)
        found = f"more than {count_text(graph.size)} positions"
        raise _refusal(found, expected, scenario, graph.max_bytes) from error


def _refusal(found: str, expected: Estimate, scenario: Scenario, max_bytes: int) -> TooLarge:
    causes = f"; what makes it large: {', '.join(expected.causes)}" if expected.causes else ""
    return TooLarge(
        f"{scenario.name} does not fit into max_bytes, {size_text(max_bytes)}: "
        f"it has {found}{causes}"
    )
