"""A whole tournament: every agent against every agent in every scenario, cell by cell."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import wfb_gym
from experiments.exact import Chances, ExactGame
from experiments.tournaments.cells import MODELS, Cell, Pairing, played, player
from experiments.tournaments.record import Record
from wfb_gym.opponents.policies import scripted_policy
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import TooLarge
from wfb_gym.solver.files import table_digest

FIRST_SEED = 5_000_000_000
"""Of the dice of the first tournament: far from those that anybody trains with."""
SPACING = 1_000_000
"""Between two tournaments' seeds, and so the most battles of a cell."""
OPTIMAL = "optimal"

Values = dict[tuple[str, str], float]
"""Exact points of the first army, by caster and dispeller."""


@dataclass(frozen=True)
class Args:
    """What is played.

    Attributes:
        agents: each a name or the path of a saved model.
        scenarios: bundled names or files.
        battles: of each cell.
        planner_battles: of each cell in which an agent searches, which takes long.
        seed: of dice and draws.
        out: folder of the results.
        move_seconds: that an agent may think about one decision, on average of its cell.
        exact_bytes: memory for exact values; a larger scenario goes without.
        exact_seconds: that asking one agent about all decisions may take; else it goes without.
    """

    agents: tuple[str, ...]
    scenarios: tuple[str, ...]
    battles: int = 2000
    planner_battles: int = 200
    seed: int = 0
    out: Path = Path("runs/tournament")
    move_seconds: float = 1.0
    exact_bytes: int = 1 << 26
    exact_seconds: float = 30.0


@dataclass
class Round:
    """What is played in one scenario, and what came of it so far.

    Attributes:
        scenario: that is played.
        agents: who take part.
        absent: who do not, and why.
        cells: that were played.
        exact: values of those pairs in which both are functions of what they see.
        exact_done: whether nothing more is to come there.
    """

    scenario: Scenario
    agents: tuple[str, ...]
    absent: dict[str, str]
    cells: list[Cell] = field(default_factory=list)
    exact: Values = field(default_factory=dict)
    exact_done: bool = False


def settings(args: Args) -> dict[str, Any]:
    """All that the cells depend on, as JSON holds it; of files a digest of what they hold."""
    found = {key: value for key, value in asdict(args).items() if key != "out"}
    found["agents"], found["scenarios"] = list(args.agents), list(args.scenarios)
    found["models"] = {
        name: hashlib.sha256(Path(name).read_bytes()).hexdigest()[:16]
        for name in dict.fromkeys(player(agent, seat) for agent in args.agents for seat in range(2))
        if Path(name).suffix in MODELS
    }
    tables = {name: table_digest(pack(load_scenario(name)))[:16] for name in args.scenarios}
    return {**found, "tables": tables, "wfb_gym": wfb_gym.__version__}


def round_of(name: str, agents: Sequence[str]) -> Round:
    """Who plays in a scenario: all, but an optimal player only where it can be solved."""
    scenario = load_scenario(name)
    optimal = [agent for agent in agents if any(is_optimal(player(agent, k)) for k in range(2))]
    absent: dict[str, str] = {}
    if optimal:
        try:
            make_agent(OPTIMAL, scenario=scenario)
        except TooLarge as error:
            absent = dict.fromkeys(optimal, str(error))
    return Round(scenario, tuple(each for each in agents if each not in absent), absent)


def is_optimal(name: str) -> bool:
    """Whether a player needs the scenario's solution."""
    return name.partition(":")[0] == OPTIMAL


def is_planner(name: str) -> bool:
    """Whether a player searches."""
    return scripted_policy(name) is None and Path(name).suffix not in MODELS


def pairings(args: Args, this: Round) -> Iterator[Pairing]:
    """All cells of a scenario, in order."""
    for caster in this.agents:
        for dispeller in this.agents:
            planning = is_planner(player(caster, 0)) or is_planner(player(dispeller, 1))
            draws = _draws(args.seed, this.scenario.name, caster, dispeller)
            yield Pairing(
                this.scenario,
                caster,
                dispeller,
                min(args.planner_battles, args.battles) if planning else args.battles,
                FIRST_SEED + SPACING * args.seed,
                draws,
                args.move_seconds,
            )


def _draws(*what: Any) -> tuple[int, int]:
    """Seeds of two agents' own draws, which no other cell has."""
    digest = hashlib.sha256(repr(what).encode()).digest()
    first, second = np.frombuffer(digest[:8], np.uint32)
    return int(first), int(second)


def run(args: Args, record: Record, rounds: list[Round], tell: Callable[[str, int], None]) -> None:
    """Play what the record does not hold yet.

    Args:
        args: what is played.
        record: where finished cells are kept.
        rounds: of the scenarios; filled.
        tell: told what is being played, and how many cells are done by now.

    Raises:
        KeyboardInterrupt: Ctrl-C; what was finished stands in `rounds` and in the record.
    """
    known = {
        (cell.scenario, cell.caster, cell.dispeller): cell
        for cell in (Cell.of(line["cell"]) for line in record.lines if "cell" in line)
    }
    exact = {line["exact"]["scenario"]: line["exact"] for line in record.lines if "exact" in line}
    for this in rounds:
        name = this.scenario.name
        for pairing in pairings(args, this):
            tell(f"{name}: {pairing.caster} - {pairing.dispeller}", 0)
            cell = known.get((name, pairing.caster, pairing.dispeller))
            if cell is None:
                cell = played(pairing)
                record.add({"cell": cell.plain()})
            this.cells.append(cell)
            tell("", 1)
        tell(f"{name}: exact values", 0)
        if name not in exact:
            values = exact_values(args, this)
            found = [{"caster": c, "dispeller": d, "points": p} for (c, d), p in values.items()]
            exact[name] = {"scenario": name, "values": found}
            record.add({"exact": exact[name]})
        this.exact.update(
            {(each["caster"], each["dispeller"]): each["points"] for each in exact[name]["values"]}
        )
        this.exact_done = True


def exact_values(args: Args, this: Round) -> Values:
    """Exact points of the pairs for which there are any; none where the scenario is too large."""
    try:
        game = ExactGame(this.scenario, args.exact_bytes)
    except TooLarge:
        return {}
    sides: list[dict[str, Chances]] = [{}, {}]
    for seat, side in enumerate(sides):
        for agent in this.agents:
            own = [c for c in this.cells if (c.caster, c.dispeller)[seat] == agent]
            thinking = max((c.thinking[seat] for c in own), default=0.0)
            slow = thinking * game.decisions(seat) > args.exact_seconds
            fault = (agent, SEATS[seat])
            lost = [c.failure for c in own if c.failure is not None]
            if slow or fault in [(each.agent, each.seat) for each in lost]:
                continue
            name = player(agent, seat)
            policy: Any = name
            try:
                if scripted_policy(name) is None:
                    policy = make_agent(name, scenario=this.scenario, seat=seat, seed=0)
                    if getattr(policy, "seeded", False):
                        continue  # another player in every cell
                side[agent] = game.chances(policy, SEATS[seat])
            except ValueError:  # it has memory, or draws of its own
                continue
    return {
        (caster, dispeller): game.points(given, answer)
        for caster, given in sides[0].items()
        for dispeller, answer in sides[1].items()
    }
