"""How large a scenario's game is, told before it is solved; and the refusal of what will not fit.

The sampling is `wfb_gym.solver.sampling`, the words for what makes a game large are
`wfb_gym.solver.causes`.
"""

from dataclasses import dataclass
from typing import Any

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.keys import new_plan
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver.causes import causes_of
from wfb_gym.solver.game_graph import GameGraph, Progress, TooLarge, bytes_of
from wfb_gym.solver.progress import Bar
from wfb_gym.solver.sampling import extrapolated, samples_of

MOMENT = 200_000
"""Positions that are worked out before anybody asks how many there are."""
DOUBT = 4
"""The estimate must pass the limit by this factor before a scenario is refused on its word."""
MOST = 10**15
"""No estimate is larger; it would say nothing more."""


@dataclass(frozen=True)
class Estimate:
    """What solving a scenario takes.

    Attributes:
        states: positions that are stored: decisions, and chance nodes where many ways meet.
        bytes: of the arrays that hold them.
        exact: whether they were counted, not estimated.
        causes: what makes the game large, the largest first; at most four.
    """

    states: int
    bytes: int
    exact: bool
    causes: tuple[str, ...]

    def __str__(self) -> str:
        """One line for people."""
        about = "" if self.exact else "about "
        causes = f", most of them from {', '.join(self.causes)}" if self.causes else ""
        return f"{about}{rounded(self.states)} positions in {in_words(self.bytes)}{causes}"


def rounded(number: int) -> str:
    """A count with no more digits than an estimate has."""
    for size, word in ((10**12, " trillion"), (10**9, " billion"), (10**6, " million")):
        if number >= size:
            return f"{number / size:,.{1 if number < 10 * size else 0}f}{word}"
    return f"{number:,}"


def in_words(size: int) -> str:
    """Bytes in the largest unit that leaves a whole number."""
    for unit, word in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB")):
        if size >= unit:
            return f"{size / unit:,.{1 if size < 10 * unit else 0}f} {word}"
    return f"{size / 2**10:,.0f} KiB"


def estimate(scenario: Any, battle: Battle | None = None) -> Estimate:
    """How many positions a scenario's game has, and how much memory solving takes.

    The same scenario always gets the same answer. Measured: exact for games of up to a few
    thousand positions, within a factor of 2 for the bundled ones that were solved (0.2 to 78
    million positions). Of battles of armies it only tells that they are far too large.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        battle: a position of it to begin with; its beginning unless given.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
    """
    loaded = load_scenario(scenario)
    begun = battle or Battle(pack(loaded))
    if begun.is_over:
        return Estimate(0, bytes_of(0, 1), True, ())
    samples = samples_of(begun)
    last = samples[-1]
    states = last.number if last.exact else extrapolated(samples)
    number = round(min(states, MOST))
    words = int(new_plan(last.origin, last.moves)[0].words)
    return Estimate(
        number, bytes_of(number, words), last.exact, causes_of(loaded, last.states, last.weights)
    )


def explore(
    positions: GameGraph, scenario: Scenario, battle: Battle, progress: Progress | None = None
) -> None:
    """Work out all that can follow a position, or say soon that it does not fit.

    Args:
        positions: of the scenario.
        scenario: to name what makes it large.
        battle: where to begin.
        progress: told the number of positions so far.

    Raises:
        TooLarge: it does not fit, or hardly can; names what makes it large.
    """
    before = positions.size
    expected: Estimate | None = None

    def watch(size: int) -> None:
        nonlocal expected
        if progress is not None:
            progress(size)
        if expected is None and size - before >= MOMENT:
            expected = estimate(scenario, battle)
            if isinstance(progress, Bar):
                progress.expect(expected.states)
            if expected.bytes > DOUBT * positions.max_bytes:
                told = f"about {rounded(expected.states)} positions in {in_words(expected.bytes)}"
                raise _refusal(told, expected, scenario, positions.max_bytes)

    try:
        positions.explore(battle.state, watch)
    except TooLarge as error:
        if expected is not None and expected.bytes > DOUBT * positions.max_bytes:
            raise
        known = expected if expected is not None else estimate(scenario, battle)
        told = f"more than {rounded(positions.size)} positions"
        raise _refusal(told, known, scenario, positions.max_bytes) from error


def _refusal(told: str, expected: Estimate, scenario: Scenario, max_bytes: int) -> TooLarge:
    causes = f"; what makes it large: {', '.join(expected.causes)}" if expected.causes else ""
    return TooLarge(
        f"{scenario.name} does not fit into max_bytes, {in_words(max_bytes)}: it has {told}{causes}"
    )
