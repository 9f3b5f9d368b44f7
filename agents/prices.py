"""Learns how much of what is kept for later phases counts, for the player "phase-search:learned".

    python -m agents.prices
    python -m agents.prices --scenarios 100 --by-phases

What phase-search keeps (a scroll, an item that helps a cast, a wizard, a spell in play) it prices
by duels of the phases to come, in which nobody is slain and nothing moves. Here the price is
measured: in battles of several players one of these is taken away as a phase begins, and both
positions are played to the end of the battle with the same dice. The difference, without the luck
of the dice (experiments/luck.py), is what it was worth. By least squares each kind gets the share
of the worked-out price that comes true: one for all numbers of phases to come, or with --by-phases
one for each, from the last phase back. The battles are generated; no bundled one is learned from.

Finished battles are stored in OUT/samples.jsonl: the same command goes on where it was interrupted,
and fits anew. OUT gets results.json, which phase-search can load
(`wfb_gym.players.search.prices`); the package's own is a copy of one.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from experiments import common
from experiments.luck import LuckWatcher
from experiments.records import Record, RecordError
from wfb_gym._jit import int64, jit
from wfb_gym._records import Records, as_records
from wfb_gym.cli.parser import COULD_NOT_RUN
from wfb_gym.engine.casualties import remove_wizard
from wfb_gym.engine.queries import bit, other
from wfb_gym.engine.spells import end_spells
from wfb_gym.engine.state import STATE, Node, State, new_states
from wfb_gym.envs.scenario_set import pack_all
from wfb_gym.generating import TRAIN_SEEDS, Generation, generate
from wfb_gym.packing.records import DispelUse, Duration, PackedScenario
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search.look_ahead import look_ahead, phases_to_come, value_of_later
from wfb_gym.players.search.phase_search import DEFAULT_SPELLS, PhaseSearchAgent
from wfb_gym.players.search.phase_values import Room, position_value
from wfb_gym.players.search.prices import MOST_PHASES, Kept, Prices, plain_prices
from wfb_gym.players.search.reduction import Terms
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS

MODULE = "agents.prices"
FILE = "samples.jsonl"
"""File of the run's folder that holds what was measured, a line for each scenario."""
FIRST_SEED = 1_500_000_000
"""Of the dice: far from those of gradings."""
FIRST_SCENARIO = 1_000_000
"""Of the train split's seeds, before the first that is played."""
OPTIONS = (
    Generation(points=1000, phases=8),
    Generation(points=1500, phases=12, units=7),
    Generation(points=2000, phases=12, units=8, items=8, spells=12),
)
"""What generated battles are like, in turn."""
ROUNDS = 12
"""How often shares are fitted that count in each other's prices, at most."""
SETTLED = 0.01
"""Difference of a share from the one that it was worked out with, below which it is good enough."""
_LEAST = 1e-9


@dataclass(frozen=True)
class Settings:
    """What is played and fitted.

    Attributes:
        scenarios: generated battles.
        battles: battles in each from which positions are taken, in either seat.
        positions: positions of each, in either seat, from which it is played on.
        player: players of the battles from which positions are taken, drawn for each seat.
        continuation: player of both seats from there.
        by_phases: each number of phases to come has its own share.
        spread: how far these are thought to lie from the share for all.
        seed: seed of the dice and of the draws.
        out: folder of the results.
    """

    scenarios: int = 60
    battles: int = 8
    positions: int = 24
    player: tuple[str, ...] = ("greedy", "veteran", "phase-search:2")
    continuation: str = "phase-search:2"
    by_phases: bool = False
    spread: float = 0.2
    seed: int = 0
    out: Path = Path("runs/prices")


QUICK = {"scenarios": 1, "battles": 2, "positions": 4, "out": Path("runs/prices-quick")}
NOT_PLAYED = {"scenarios", "by_phases", "spread", "out"}
"""Settings that do not decide what is measured in a scenario."""


class Sample(NamedTuple):
    """What taking one thing away at the beginning of a phase cost its owner."""

    kind: int  # Kept
    owner: int  # army
    which: int  # item, wizard or spell
    state: str  # bytes of the position, as hexadecimal digits
    points: float  # lost


# --- what is taken away --------------------------------------------------------------------------


@jit(forceinline=False)
def take_away(packed: PackedScenario, state: State, kind: int, owner: int, index: int) -> None:
    """Change a position to one without a use of an item, a wizard or a spell in play."""
    if kind == Kept.WIZARD:
        remove_wizard(packed, state, owner, index)
    elif kind == Kept.IN_PLAY:
        end_spells(packed, state, owner, bit(index))
    elif kind in (Kept.SCROLL, Kept.AID):
        state.items[owner, index] -= 1
    else:
        raise ValueError("kind: no such kind of what is kept")


def things_to_take(packed: Any, state: Any) -> list[tuple[int, int, int]]:
    """Return the kind, owner and index of what may be taken away as an army begins its phase.

    These are the things that the enemy's phase before has kept: the active army's scrolls, the
    enemy's wizards and their items, and spells in play of both.
    """
    active = int(state.active)
    enemy = 1 - active
    found = []
    for owner, kind in ((active, Kept.SCROLL), (enemy, Kept.AID)):
        army = packed.armies[owner]
        for item in range(army.n_items):
            entry = army.items[item]
            uses = (
                entry.dispel_use == DispelUse.AUTOMATIC if kind == Kept.SCROLL else entry.cast_use
            )
            if uses and state.items[owner, item] > 0:
                found.append((int(kind), owner, item))
    army = packed.armies[enemy]
    for wizard in range(army.n_wizards):
        if state.level[enemy, wizard] > 0 and not army.wizards[wizard].daemons:
            found.append((int(Kept.WIZARD), enemy, wizard))
    for owner in (0, 1):
        for spell in range(packed.armies[owner].n_spells):
            remains = packed.armies[owner].spells[spell].duration == Duration.REMAINS_IN_PLAY
            if remains and int(state.in_play[owner]) >> spell & 1:
                found.append((int(Kept.IN_PLAY), owner, spell))
    return found


# --- what it costs: as it is worked out ----------------------------------------------------------


@jit(forceinline=False)
def _worked_out(
    packed: PackedScenario,
    states: Records[State],
    changes: NDArray[np.int64],
    terms: Terms,
    room: Room,
    prices: NDArray[np.float64],
    phases: NDArray[np.int64],
) -> None:
    for i in range(states.shape[0]):
        state, kind, owner, index = states[i], changes[i, 0], changes[i, 1], changes[i, 2]
        active, enemy = int64(state.active), other(int64(state.active))
        look_ahead(packed, state, terms, room.ahead)
        phases[i] = phases_to_come(packed, state, enemy)
        if kind == Kept.IN_PLAY:
            phases[i] = (packed.phases - state.phase + 1) // 2
            before = position_value(
                packed, state, int64(state.phase), int64(DEFAULT_SPELLS), terms, room
            )
        else:
            before = value_of_later(packed, state, enemy, room.ahead)
        if kind == Kept.WIZARD:
            levels = 0
            for wizard in range(packed.armies[enemy].n_wizards):
                levels += state.level[enemy, wizard]
            prices[i] = before * state.level[enemy, index] / max(1, levels)
            continue
        take_away(packed, state, kind, owner, index)
        if kind == Kept.IN_PLAY:
            prices[i] = before - position_value(
                packed, state, int64(state.phase), int64(DEFAULT_SPELLS), terms, room
            )
            if owner == 1:
                prices[i] = -prices[i]
        else:
            prices[i] = before - value_of_later(packed, state, enemy, room.ahead)
            if owner == active:
                prices[i] = -prices[i]


def worked_out(
    packed: Records[PackedScenario], samples: Sequence[Sample], agent: PhaseSearchAgent
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Work out what samples of a scenario cost, before the share of the phases to come.

    Args:
        packed: the scenario, (1,).
        samples: what is taken away, k of them.
        agent: whose shares count in the phases behind.

    Returns:
        Points, float64 (k,), and the phases to come in which each thing counts, int64 (k,).
    """
    states = _states_of(samples)
    changes = np.array([each[:3] for each in samples], np.int64)
    found, phases = np.zeros(len(samples)), np.zeros(len(samples), np.int64)
    terms, room = agent._terms, agent._room  # noqa: SLF001 (what its decisions are made with)
    _worked_out(packed[0], states, changes, terms, room, found, phases)
    return found, phases


def _states_of(samples: Sequence[Sample]) -> Records[State]:
    data = b"".join(bytes.fromhex(each.state) for each in samples)
    return as_records(State, np.frombuffer(data, STATE).copy())


# --- what it costs: as it is played --------------------------------------------------------------


def _make_envs(scenario: Scenario, seat: int, opponent: Sequence[str], count: int) -> Any:
    return gym.make_vec(
        common.IDS[SEATS[seat]], num_envs=count, scenario=scenario, opponent=list(opponent),
        autoreset_mode="Disabled", points_per_reward=1.0, strict=True,
    )  # fmt: skip


def find_positions(scenario: Scenario, seat: int, settings: Settings, seed: int) -> Records[State]:
    """Play battles; returns the positions in which the seat's phases begin."""
    envs = _make_envs(scenario, seat, settings.player, settings.battles)
    players = [common.batch_player(make_agent(name, seed=seed)) for name in settings.player]
    drawn = np.random.default_rng(seed).integers(len(players), size=settings.battles)
    observations, _ = envs.reset(seed=seed)
    last = np.full(settings.battles, -1)
    found = []
    ended = np.zeros(settings.battles, np.bool_)
    while not ended.all():
        states = envs.batch.envs["state"]
        begins = (states["active"] == seat) & (states["node"] == Node.NOMINATE)
        begins &= (states["phase"] > last) & ~ended
        last[begins] = states["phase"][begins]
        found.append(np.asarray(states[begins]).copy())
        masks = envs.action_masks()
        answers = np.array([player(envs, observations, masks) for player in players])
        observations, _, ended, _, _ = envs.step(answers[drawn, np.arange(settings.battles)])
    return as_records(State, np.concatenate(found))


def play_on(
    scenario: Scenario, seat: int, states: Records[State], player: str, seeds: Sequence[int]
) -> NDArray[np.float64]:
    """Play positions in which the seat decides to the end of the battle.

    Args:
        scenario: that is played.
        seat: that decides.
        states: the positions, (k,).
        player: of both seats.
        seeds: of the dice, k; luck is shared where they are equal.

    Returns:
        Points still to come for the first army, without the luck of the dice, float64 (k,).
    """
    envs = _make_envs(scenario, seat, (player,), len(states))
    envs.reset(seed=list(seeds))
    batch = envs.batch
    batch.envs["state"] = states
    batch.envs["unpaid"] = 0.0
    batch.watcher = watcher = LuckWatcher(len(states))
    observations = batch.look().observations
    answer = common.batch_player(make_agent(player))
    points = np.zeros(len(states))
    ended = np.zeros(len(states), np.bool_)
    while not ended.all():
        observations, rewards, ended, _, _ = envs.step(
            answer(envs, observations, envs.action_masks())
        )
        points += rewards
    return (points if seat == 0 else -points) - watcher.luck


def measure(scenario: Scenario, number: int, settings: Settings) -> list[Sample]:
    """Measure what things cost in positions of one scenario."""
    packed = pack_all([scenario])[0]
    seed = FIRST_SEED + settings.seed * 10_000_000 + number * 10_000
    rng = np.random.default_rng(seed)
    samples: list[Sample] = []
    for seat in range(len(SEATS)):
        found = find_positions(scenario, seat, settings, seed + 5_000 * seat)
        chosen = rng.permutation(len(found))
        plays: list[tuple[int, tuple[int, int, int] | None]] = []
        taken = 0
        for place in chosen:
            things = things_to_take(packed, found[place])
            if things and taken < settings.positions:
                taken += 1
                plays += [(int(place), None), *((int(place), thing) for thing in things)]
        if not plays:
            continue
        states = new_states(len(plays))
        for i, (place, thing) in enumerate(plays):
            states[i] = found[place]
            if thing is not None:
                take_away(packed, states[i], *thing)
        seeds = [seed + 5_000 * seat + 1_000 + place for place, _ in plays]
        points = play_on(scenario, seat, states, settings.continuation, seeds)
        whole = 0.0
        for i, (place, thing) in enumerate(plays):
            if thing is None:
                whole = points[i]
                continue
            lost = whole - points[i] if thing[1] == 0 else points[i] - whole
            samples.append(Sample(*thing, found[place].tobytes().hex(), float(lost)))
    return samples


# --- the shares ----------------------------------------------------------------------------------


class Data(NamedTuple):
    """Samples of all scenarios side by side, n of them."""

    kinds: NDArray[np.int64]  # (n,)
    phases: NDArray[np.int64]  # (n,): to come in which each thing counts, 1 or more
    points: NDArray[np.float64]  # (n,): lost
    weights: NDArray[np.float64]  # (n,): less where more points vary


WorkOut = Callable[[Prices], NDArray[np.float64]]
"""Shares to what the samples are worked out to cost before their own share, float64 (n,)."""


def fit_shares(
    data: Data, work_out: WorkOut, by_phases: bool, spread: float
) -> tuple[Prices, Prices]:
    """Fit shares by least squares.

    Args:
        data: what was measured.
        work_out: works out what that should have been.
        by_phases: whether each number of phases to come has its own share.
        spread: standard deviation of these around the share for all, as it is thought to be.

    Returns:
        The shares and their standard errors; those of a kind without samples stay as they are.
    """
    prices, errors = plain_prices(0.85), np.zeros((len(Kept), MOST_PHASES))
    for _ in range(ROUNDS):
        costs, fitted = work_out(prices), prices.copy()
        for kind in Kept:
            own = data.kinds == kind
            fitted[kind], errors[kind] = _fit(data, costs, own, prices[kind, 0], 0.0)
        # Halfway: a share that is too small now makes prices small, and the next share too great.
        settled, prices = np.abs(fitted - prices).max() < SETTLED, (prices + fitted) / 2
        if settled:
            break
    if not by_phases:
        return prices, errors
    common_shares = prices.copy()
    for phases in range(1, MOST_PHASES + 1):
        costs = work_out(prices)
        for kind in Kept:
            own = (data.kinds == kind) & (np.minimum(data.phases, MOST_PHASES) == phases)
            share, error = _fit(data, costs, own, common_shares[kind, 0], spread)
            prices[kind, phases - 1], errors[kind, phases - 1] = share, error
    return prices, errors


def _fit(
    data: Data, costs: NDArray[np.float64], own: NDArray[np.bool_], share: float, spread: float
) -> tuple[float, float]:
    """Fit one share; `spread` draws it to this one, unless that is 0."""
    x, y, weights = costs[own], data.points[own], data.weights[own]
    known = float((weights * x * x).sum())
    if known < _LEAST:
        return share, 0.0
    rest = y - x * float((weights * x * y).sum()) / known
    variance = float((weights * rest * rest).sum()) / max(1, len(x) - 1)
    drawn = variance / spread**2 if spread > 0.0 else 0.0
    found = (float((weights * x * y).sum()) + drawn * share) / (known + drawn)
    return found, float(np.sqrt(variance / (known + drawn)))


def fit_samples(
    packed: Sequence[Records[PackedScenario]],
    samples: Sequence[Sequence[Sample]],
    settings: Settings,
) -> dict[str, Any]:
    """Fit shares to the samples of scenarios; returns them as results.json has them."""
    pairs = [(one, of_one) for one, of_one in zip(packed, samples, strict=True) if of_one]
    points = [np.array([each.points for each in of_one]) for _, of_one in pairs]
    squares = [float(np.mean(one**2)) for one in points]
    weights = [
        np.full(len(one), 1.0 / (at + np.mean(squares)))
        for one, at in zip(points, squares, strict=True)
    ]
    kinds = [np.array([each.kind for each in of_one], np.int64) for _, of_one in pairs]
    phases = [worked_out(one, of_one, PhaseSearchAgent())[1] for one, of_one in pairs]
    data = Data(*(np.concatenate(each) for each in (kinds, phases, points, weights)))

    def work_out(prices: Prices) -> NDArray[np.float64]:
        agent = PhaseSearchAgent(prices=prices)
        return np.concatenate([worked_out(one, of_one, agent)[0] for one, of_one in pairs])

    shares, errors = fit_shares(data, work_out, settings.by_phases, settings.spread)
    names = [kind.name.lower() for kind in Kept]
    return {
        "shares": dict(zip(names, shares.round(4).tolist(), strict=True)),
        "standard_errors": dict(zip(names, errors.round(4).tolist(), strict=True)),
        "samples": {name: int((data.kinds == k).sum()) for k, name in enumerate(names)},
    }


# --- the command ---------------------------------------------------------------------------------


def scenario_of(number: int) -> Scenario:
    """Generate the scenario of a number."""
    first = TRAIN_SEEDS.start + FIRST_SCENARIO
    return generate(first + number, OPTIONS[number % len(OPTIONS)])


def measure_all(
    settings: Settings, record: Record, report: common.Report
) -> Iterator[list[Sample]]:
    """Measure what the record lacks; gives the samples of each scenario, in order."""
    for line in record.lines[: settings.scenarios]:
        report("", 1)
        yield [Sample(*each) for each in line["samples"]]
    for number in range(len(record.lines), settings.scenarios):
        report(f"scenario {number + 1}", 0)
        found = measure(scenario_of(number), number, settings)
        record.add({"samples": found})
        report("", 1)
        yield found


def prices_rows(found: dict[str, Any]) -> list[list[str]]:
    """Return the table of the shares with standard errors, header first.

    There is one column for all numbers of phases to come where these have the same shares.
    """
    shares, errors = found["shares"], found["standard_errors"]
    columns = [f"{n} to come" for n in range(1, MOST_PHASES + 1)]
    if all(len(set(each)) == 1 for each in shares.values()):
        columns = ["share"]
    rows = [["kept", "samples", *columns]]
    for name, count in found["samples"].items():
        pairs = list(zip(shares[name], errors[name], strict=True))[: len(columns)]
        cells = [f"{share:.2f} ± {error:.2f}" for share, error in pairs]
        rows.append([name.replace("_", " "), f"{count:,}", *cells])
    return rows


def parse_arguments(arguments: Sequence[str] | None) -> tuple[Settings, bool]:
    """Parse the command line: settings, and whether JSON is wanted."""
    settings, switches, parser = common.parse_settings(
        Settings, arguments, module=MODULE, description=__doc__, quick=QUICK, switches={}
    )
    common.check_positive(parser, settings, ("scenarios", "battles", "positions", "spread"))
    if settings.seed < 0:
        parser.error(f"--seed: expected 0 or more, found {settings.seed}")
    try:
        for name in (*settings.player, settings.continuation):
            make_agent(name)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return settings, "json" in switches


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, fit, write and print; returns the exit status."""
    settings, as_json = parse_arguments(arguments)
    samples: list[list[Sample]] = []
    held = common.recorded_settings(settings, NOT_PLAYED)
    try:
        with (
            Record(settings.out, FILE, "measurement", held) as record,
            common.Interruptible() as session,
            common.report_progress("scenarios", settings.scenarios) as report,
        ):
            samples.extend(measure_all(settings, record, report))
    except (RecordError, OSError) as error:
        print(f"python -m {MODULE}: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    if session.interrupted:
        print("interrupted; the same command goes on", file=sys.stderr)
        return common.INTERRUPTED
    packed = [pack_all([scenario_of(number)]) for number in range(len(samples))]
    found = {
        "command": common.command_line(MODULE, settings),
        "args": common.recorded_settings(settings, {"out"}),
        **fit_samples(packed, samples, settings),
        "versions": common.versions(),
    }
    common.write_results(settings.out, found)
    title = "shares of worked-out prices, with standard errors"
    table = common.text_table(prices_rows(found), title, (0,))
    common.print_results(found, [table], as_json=as_json)
    if not as_json:
        print(f"results: {settings.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
