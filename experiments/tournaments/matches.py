"""One match of a tournament: two agents play a number of battles in one scenario.

An agent that crashes, answers with something else than legal actions or takes too long forfeits
the match, and the tournament goes on. Python cannot interrupt compiled code, so the time is checked
between two calls, each about all battles that are played side by side: an agent that never answers
still holds up the tournament. The first batch is small, so that a slow agent is found out early.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
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
"""Size of the first batch, which shows how long an agent takes."""
BATCH_SIZE = 1024
"""Most battles side by side."""
_DECIMALS = 6
"""Of points as they are stored."""


@dataclass(frozen=True)
class Match:
    """Who plays whom, what, how often; `policy_name` says what an agent is."""

    scenario: Scenario
    caster: str
    dispeller: str
    battles: int
    seed: int  # of the dice: battle i has those of seed + i, whoever plays
    agent_seeds: tuple[int, int]  # of the two agents' own random choices
    move_seconds: float  # that an agent may take for one decision, on average
    luck_adjusted: bool = False  # whether the luck of the dice is taken off the points

    def __str__(self) -> str:
        """Return what is played, and by whom."""
        return f"{self.scenario.name}: {self.caster} - {self.dispeller}"


@dataclass(frozen=True)
class MatchResult:
    """The result of a match: points of the first army in each battle, none if the match failed.

    `thinking` is the mean time of caster and dispeller for a decision, in seconds; 0 for an agent
    that plays inside the batch.
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
        """Mean points of the caster; None if the match failed."""
        return None if self.failure is not None else bootstrap(mean, self.array[:, None])

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON holds it."""
        return asdict(self)

    @staticmethod
    def from_json(held: dict[str, Any]) -> "MatchResult":
        """Return the result that `as_json` returned."""
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
"""Stands in a player's name for that of the scenario that is played."""


def batches(battles: int) -> list[range]:
    """Split the battles of a match into batches: a small one, then as many as fit side by side."""
    ends = [0, *range(FIRST_BATTLES, battles, BATCH_SIZE), battles]
    return [range(first, last) for first, last in pairwise(ends)]


def _seat_agent(match: Match, seat: int, guarded: dict[int, GuardedAgent]) -> Any:
    """Return an agent ready to play: a guarded one, or the name of a scripted dispeller."""
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
    """Return the name of the policy that plays a seat for an agent, as `make_agent` takes it.

    Models are mostly trained for one seat, so that an agent may be two: "CASTER+DISPELLER"; and for
    one scenario, whose name takes the place of `SCENARIO`.
    """
    both = agent.split("+")
    name = both[seat] if len(both) == len(SEATS) else agent
    return name.replace(SCENARIO, scenario) if scenario else name


def model_names(policies: Sequence[str]) -> list[str]:
    """Return those policies that are files of saved models."""
    return [name for name in policies if is_file(name)]


def policy_names(agents: Sequence[str]) -> list[str]:
    """All policies that play for some agents, each once."""
    return list(dict.fromkeys(policy_name(agent, seat) for agent in agents for seat in range(2)))


def display_name(agent: str) -> str:
    """Return an agent's name as tables have it: of a path the last folder and the file."""
    return "+".join(
        "/".join(Path(each).with_suffix("").parts[-2:]) if is_file(each) else each
        for each in agent.split("+")
    )
