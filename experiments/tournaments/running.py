"""Run a tournament: every agent against every agent in every scenario, match by match.

A tournament continues only with the same settings, so that no table mixes two tournaments.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import wfb_gym
from experiments import common
from experiments.outcomes import Line
from experiments.own_sizes import limits_of
from experiments.tournaments.matches import (
    Match,
    MatchResult,
    model_names,
    play_match,
    policy_name,
    policy_names,
)
from experiments.workers import RAY, Workers
from wfb_gym.cli.parser import option
from wfb_gym.opponents.policy_spec import PolicySpec, is_file, is_scripted
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import ExactGame, HiddenItemsError, TooLarge
from wfb_gym.solver.solution import packed_digest

AGENTS = ("random", "greedy", "veteran", "expectimax", "mcts", "phase-search", "optimal")
SCENARIOS = ("archmage-duel", "orc-shaman-hunt", "seventh-edition-duel", "border-skirmish")
FIRST_SEED = 5_000_000_000
"""Seed for the first tournament's dice, far from the seeds of training runs."""
SEED_SPACING = 1_000_000
"""Distance between two tournaments' seeds, which is the maximum number of battles in a match."""
OPTIMAL = "optimal"

Values = dict[tuple[str, str], float]
"""The first army's exact points, by caster and dispeller."""


@dataclass(frozen=True)
class Settings:
    """Settings for a tournament.

    Attributes:
        agents: names or paths of saved models.
        scenario: bundled names or files.
        battles: battles of each match.
        planner_battles: battles of each match with a search agent, which is slow.
        seed: seed of dice and random choices.
        out: folder of the results.
        move_seconds: limit of an agent's mean time per decision in a match, in seconds.
        exact_bytes: memory limit of exact values; larger scenarios have none.
        exact_seconds: seconds for an agent's choices at all decisions; slower agents have no exact
            values.
        luck_adjusted: subtract luck from all points; see experiments/luck.py.
    """

    agents: tuple[str, ...] = option(AGENTS, positional=True, metavar="AGENT")
    scenario: tuple[str, ...] = SCENARIOS
    battles: int = 2000
    planner_battles: int = 200
    seed: int = 0
    out: Path = Path("runs/tournament")
    move_seconds: float = 1.0
    exact_bytes: int = 1 << 26
    exact_seconds: float = 30.0
    luck_adjusted: bool = False
    ray: str = option("", **RAY)


def relevant_settings(settings: Settings) -> dict[str, Any]:
    """Return everything that the results depend on, as JSON. Files are given by their digests."""
    found = common.settings_as_json(settings)
    del found["out"], found["ray"]
    agents, scenarios = list(found.pop("agents")), list(found.pop("scenario"))
    models = model_names(policy_names(agents))
    return {
        "agents": agents,
        "scenarios": scenarios,
        **found,
        "models": {
            name: hashlib.sha256(Path(name).read_bytes()).hexdigest()[:16] for name in models
        },
        **rules_in_use(scenarios),
    }


def rules_in_use(scenarios: Sequence[str]) -> dict[str, Any]:
    """Return the inputs to the results other than settings: scenario contents and the release."""
    tables = {name: packed_digest(pack(load_scenario(name)))[:16] for name in scenarios}
    return {"tables": tables, "wfb_gym": wfb_gym.__version__}


@dataclass(frozen=True)
class ScenarioRound:
    """The part of a tournament that is played in one scenario."""

    scenario: Scenario
    agents: tuple[str, ...]  # agents that take part
    absent: dict[str, str]  # agents that do not take part, with the reason


class ExactPart(NamedTuple):
    """A scenario's exact values, as part of a tournament."""

    this: ScenarioRound

    def __str__(self) -> str:
        return f"{self.this.scenario.name}: exact values"


def parts_of(settings: Settings) -> list[Match | ExactPart]:
    """Return all parts of a tournament: each scenario's matches, then its exact values."""
    parts: list[Match | ExactPart] = []
    for name in settings.scenario:
        this = load_round(name, settings.agents)
        parts += [*matches_of(settings, this), ExactPart(this)]
    return parts


def _is_optimal(policy: str) -> bool:
    spec = PolicySpec.find(policy)
    return spec is not None and spec.name == OPTIMAL


def load_round(name: str, agents: Sequence[str]) -> ScenarioRound:
    """Prepare a scenario. An optimal player takes part only if the scenario can be solved."""
    scenario = load_scenario(name)
    optimal = [
        agent for agent in agents if any(_is_optimal(each) for each in policy_names([agent]))
    ]
    absent: dict[str, str] = {}
    if optimal:
        try:
            make_agent(OPTIMAL, scenario=scenario)
        except (TooLarge, HiddenItemsError) as error:
            absent = dict.fromkeys(optimal, str(error))
    return ScenarioRound(scenario, tuple(each for each in agents if each not in absent), absent)


def is_planner(policy: str) -> bool:
    """Return whether a policy uses search."""
    return not is_scripted(policy) and not is_file(policy)


def matches_of(settings: Settings, this: ScenarioRound) -> Iterator[Match]:
    """Yield all of a scenario's matches, in order."""
    for caster, dispeller in product(this.agents, repeat=2):
        planning = is_planner(policy_name(caster, 0)) or is_planner(policy_name(dispeller, 1))
        most = settings.planner_battles if planning else settings.battles
        yield Match(
            this.scenario,
            caster,
            dispeller,
            min(most, settings.battles),
            FIRST_SEED + SEED_SPACING * settings.seed,
            _agent_seeds(settings.seed, this.scenario.name, caster, dispeller),
            settings.move_seconds,
            settings.luck_adjusted,
        )


def _agent_seeds(*match: Any) -> tuple[int, int]:
    """Return seeds for two agents' random choices, different in every match."""
    digest = hashlib.sha256(repr(match).encode()).digest()
    first, second = np.frombuffer(digest[:8], np.uint32)
    return int(first), int(second)


def play_all(
    settings: Settings, parts: Sequence[Match | ExactPart], before: Sequence[Line], workers: Workers
) -> Iterator[Line]:
    """Play matches with the workers. A scenario's exact values come after its matches."""
    played = workers.map(play_match, [part for part in parts if isinstance(part, Match)])
    lines = list(before)
    for part in parts:
        if isinstance(part, Match):
            lines.append({"cell": asdict(next(played))})
        else:
            results = results_in(part.this, lines)
            values = exact_values(settings, part.this, results)
            pairs = [{"caster": c, "dispeller": d, "points": p} for (c, d), p in values.items()]
            lines.append({"exact": {"scenario": part.this.scenario.name, "values": pairs}})
        yield lines[-1]


def results_in(this: ScenarioRound, lines: Sequence[Line]) -> list[MatchResult]:
    """Return the results of a scenario's matches from a record."""
    name = this.scenario.name
    cells = (line["cell"] for line in lines if "cell" in line)
    return [MatchResult.from_json(each) for each in cells if each["scenario"] == name]


def exact_values(settings: Settings, this: ScenarioRound, results: Sequence[MatchResult]) -> Values:
    """Return pairs' exact points, or {} if the scenario is too large or has hidden items."""
    try:
        game = ExactGame(this.scenario, settings.exact_bytes)
    except (TooLarge, HiddenItemsError):
        return {}
    casters, dispellers = (_probabilities(settings, this, results, game, s) for s in range(2))
    return {
        (caster, dispeller): game.value(given, answer)
        for caster, given in casters.items()
        for dispeller, answer in dispellers.items()
    }


def _probabilities(
    settings: Settings,
    this: ScenarioRound,
    results: Sequence[MatchResult],
    game: ExactGame,
    seat: int,
) -> dict[str, NDArray[np.float64]]:
    """Return each agent's action probabilities at all of a seat's decisions, if they are known."""
    found: dict[str, NDArray[np.float64]] = {}
    for agent in this.agents:
        own = [each for each in results if (each.caster, each.dispeller)[seat] == agent]
        failures = [(f.agent, f.seat) for each in own if (f := each.failure) is not None]
        thinking = max((each.thinking[seat] for each in own), default=0.0)
        slow = thinking * game.decisions(seat) > settings.exact_seconds
        if slow or (agent, SEATS[seat]) in failures:
            continue
        name = policy_name(agent, seat)
        with suppress(ValueError):  # the agent has memory, or makes random choices
            policy: Any = name
            limits = None
            if not is_scripted(name):
                policy = make_agent(name, scenario=this.scenario, seat=seat, seed=0)
                limits = limits_of(policy, this.scenario, seat)
            if not getattr(policy, "seeded", False):  # a seeded agent differs in every match
                found[agent] = game.probabilities(policy, seat, limits, reached=True)
    return found
