"""One match in a tournament: two agents play a number of battles in one scenario.

An agent that crashes, returns anything but legal actions or takes too long forfeits the match, and
the tournament continues. Python cannot interrupt compiled code, so the time is checked between
calls, each of which covers all battles in a batch. An agent that never returns still blocks the
tournament. The first batch is small, so that a slow agent is detected early.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from experiments.common import play_battles
from experiments.luck import LuckWatcher
from experiments.own_sizes import in_own_sizes
from experiments.shared_files import local_path
from experiments.statistics import Interval, bootstrap, mean
from experiments.tournaments.guarding import Failure, ForfeitError, GuardedAgent, one_line
from experiments.workers import one_torch_thread
from wfb_gym.opponents.policy_spec import is_file, is_scripted
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS

FIRST_BATTLES = 16
"""Size of the first batch, used to measure an agent's time per decision."""
BATCH_SIZE = 1024
"""Maximum number of battles in a batch."""
_DECIMALS = 6
"""Decimal places of stored points."""


@dataclass(frozen=True)
class Match:
    """A match's agents, scenario and battles. `policy_name` explains the agents' names."""

    scenario: Scenario
    caster: str
    dispeller: str
    battles: int
    seed: int  # battle i uses seed + i, in every match
    agent_seeds: tuple[int, int]  # for the two agents' own random choices
    move_seconds: float  # limit on an agent's mean time per decision
    luck_adjusted: bool = False  # whether luck is subtracted from the points

    def __str__(self) -> str:
        """Return the scenario and both agents as text."""
        return f"{self.scenario.name}: {self.caster} - {self.dispeller}"


@dataclass(frozen=True)
class MatchResult:
    """A match's result: the first army's points in each battle, or none if the match failed.

    `thinking` is the caster's and the dispeller's mean time per decision in seconds, or 0 for an
    agent that plays inside the batch.
    """

    scenario: str
    caster: str
    dispeller: str
    points: tuple[float, ...]
    thinking: tuple[float, float]
    failure: Failure | None = None

    @property
    def array(self) -> NDArray[np.float64]:
        """The points, float64 (battles,)."""
        return np.array(self.points)

    @cached_property
    def interval(self) -> Interval | None:
        """The caster's mean points, or None if the match failed."""
        return None if self.failure is not None else bootstrap(mean, self.array[:, None])

    @staticmethod
    def from_json(held: dict[str, Any]) -> "MatchResult":
        """Restore the result from the value returned by `asdict`."""
        return TypeAdapter(MatchResult).validate_python(held)


def play_match(match: Match) -> MatchResult:
    """Play a match to its end, or until an agent forfeits it."""
    guarded: dict[int, GuardedAgent] = {}
    points: list[float] = []
    failure = None
    try:
        caster, dispeller = (_seat_agent(match, seat, guarded) for seat in range(2))
        for batch in batches(match.battles):
            with one_torch_thread():
                watcher = LuckWatcher(len(batch)) if match.luck_adjusted else None
                found = play_battles(
                    caster,
                    seat="caster",
                    scenario=match.scenario,
                    opponent=dispeller,
                    battles=len(batch),
                    seed=match.seed + batch.start,
                    watcher=watcher,
                )
                found -= 0.0 if watcher is None else watcher.luck
            points += np.round(found, _DECIMALS).tolist()
    except ForfeitError as error:
        points, failure = [], error.failure
    thinking = [guarded[seat].thinking if seat in guarded else 0.0 for seat in range(2)]
    return MatchResult(
        match.scenario.name,
        match.caster,
        match.dispeller,
        tuple(points),
        (thinking[0], thinking[1]),
        failure,
    )


SCENARIO = "{scenario}"
"""Placeholder in a player's name for the scenario's name."""


def batches(battles: int) -> list[range]:
    """Split a match's battles into a small first batch, then batches of at most `BATCH_SIZE`."""
    ends = [0, *range(FIRST_BATTLES, battles, BATCH_SIZE), battles]
    return [range(first, last) for first, last in pairwise(ends)]


def _seat_agent(match: Match, seat: int, guarded: dict[int, GuardedAgent]) -> Any:
    """Return a seat's agent: a guarded agent, or the name of a scripted dispeller."""
    agent_name = (match.caster, match.dispeller)[seat]
    name = policy_name(agent_name, seat, match.scenario.name)
    if seat and is_scripted(name):
        return name
    try:
        made = make_agent(
            local_path(name), scenario=match.scenario, seat=seat, seed=match.agent_seeds[seat]
        )
        agent = in_own_sizes(made, match.scenario, seat)
    except Exception as error:
        raise ForfeitError(agent_name, seat, one_line(error)) from error
    guarded[seat] = GuardedAgent(agent, agent_name, seat, match.move_seconds)
    return guarded[seat]


def policy_name(agent: str, seat: int, scenario: str = "") -> str:
    """Return the name of the policy that plays a seat for an agent, as accepted by `make_agent`.

    Most models are trained for one seat, so an agent may name two: "CASTER+DISPELLER". Models
    trained for one scenario have the placeholder `SCENARIO` in their path.
    """
    both = agent.split("+")
    name = both[seat] if len(both) == len(SEATS) else agent
    return name.replace(SCENARIO, scenario) if scenario else name


def model_names(policies: Sequence[str]) -> list[str]:
    """Return the policies that are saved model files."""
    return [name for name in policies if is_file(name)]


def policy_names(agents: Sequence[str]) -> list[str]:
    """Return all policies that play for some agents, without duplicates."""
    return list(dict.fromkeys(policy_name(agent, seat) for agent in agents for seat in range(2)))


def display_name(agent: str) -> str:
    """Return an agent's name for tables, shortening a path to its last folder and file."""
    return "+".join(
        "/".join(Path(each).with_suffix("").parts[-2:]) if is_file(each) else each
        for each in agent.split("+")
    )
