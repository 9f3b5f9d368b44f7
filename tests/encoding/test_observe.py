"""Observations: one for each position, within bounds, with the declared numbers."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import wfb_gym
from tests.support.builders import Game, aimed, army, known, lasting, miscast, spell, unit, wizard
from tests.support.builders import game as new_game
from tests.support.playing import play_randomly, some, table_of
from tests.support.scripts import run_python
from wfb_gym.encoding.fields import FLAG, POINTS
from wfb_gym.encoding.history import new_histories
from wfb_gym.encoding.layout import Layout, layout
from wfb_gym.encoding.limits import Limits, fit
from wfb_gym.encoding.observe import observe, write_static
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.scenario import load_scenario

from ..solver.small import everywhere, explored, start
from .test_layout import MOST

SCENARIOS = wfb_gym.bundled_scenarios()
FREE = miscast({"kind": "points_lost", "points": 5.0}, {"kind": "free_spell", "limit": "any"})


class Eye:
    """Positions and observations in battles of one scenario, from one seat."""

    def __init__(self, packed: Any, seat: int, limits: Limits | None = None) -> None:
        self.seat = seat
        self.layout: Layout = layout(limits or fit(packed, seat))
        self.static = np.empty(self.layout.size, np.float32)
        write_static(packed[0], seat, self.layout.offsets[0], self.static)

    def see(self, battle: Battle) -> NDArray[np.float32]:
        row = np.full(self.layout.size, np.nan, np.float32)
        at = self.layout.offsets[0]
        history = new_histories(1)[0]
        observe(battle.packed, battle.state, history, self.seat, at, self.static, row)
        return row

    def named_fields(self, battle: Battle) -> dict[str, float]:
        return self.layout.named_fields(self.see(battle))


class Census:
    """Return keys by observation and observations by key, for the seat's own decisions."""

    def __init__(self, eye: Eye) -> None:
        self.eye = eye
        self.keys: dict[bytes, bytes] = {}
        self.rows: dict[bytes, bytes] = {}
        self.nodes: set[Node] = set()
        self.written = np.zeros(eye.layout.size, np.bool_)

    def count(self, battle: Battle) -> None:
        row = self.eye.see(battle)
        assert np.isfinite(row).all()
        assert (row >= self.eye.layout.low).all(), self.out_of_bounds(row)
        assert (row <= self.eye.layout.high).all(), self.out_of_bounds(row)
        seen, key = row.tobytes(), battle.key()
        assert self.keys.setdefault(seen, key) == key, (battle.node, battle.state)
        assert self.rows.setdefault(key, seen) == seen, battle.node
        self.nodes.add(battle.node)
        self.written |= row != 0.0

    def out_of_bounds(self, row: NDArray[np.float32]) -> list[tuple[str, float]]:
        fields = zip(self.eye.layout.fields, row, strict=True)
        return [(f.name, float(v)) for f, v in fields if not f.low <= v <= f.high]


@cache
def custom() -> dict[str, Game]:
    """Scenarios with many features that are rare in the bundled ones."""
    spears, boyz = unit("Spears", 4, wounds=2), unit("Boyz", 5, magic_resistance=1)
    strike = aimed("Strike", 3, damage={"hits": "D6", "strength": 4})
    once = aimed("Curse", 3, once=True, worth={"points": 5.0})
    hex_ = aimed("Hex", 3, worth={"points": 4.0})
    doom = aimed("Doom", 4, duration="remains_in_play", worth={"points_per_phase": 3.0})
    bolt, spark = spell("Bolt", 8), spell("Spark", 5)
    comet = known("The Comet of Casandora")
    reroll = {"of": "both", "dice": "one", "changes_natural": True}
    charm = {"name": "Charm", "uses": 3, "reroll": reroll, "when_casting": {"bonus": 1}}
    return {
        "re-rolls": new_game(
            army(wizard(3, bolt, items=["Power Stone", "Charm", "Luckstone"]),
                 wizard(2, spark, items=["Starwood Staff"], name="Second"), power_dice=8),
            army(wizard(2, items=["Charm", "Staff of Sorcery"]), dispel_dice=4), items=[charm],
        ),
        "powers of items": new_game(
            army(wizard(3, bolt, items=["Book of Hoeth", "Rod of Power"]),
                 wizard(2, spark, items=["Power Stone"], name="Second"),
                 items=["Power Familiar", "Master Rune of Balance"]),
            army(wizard(2, spell("Hex", 5), items=["Seal of Destruction", "Black Periapt"]),
                 wizard(1, name="Second", items=["Dispel Scroll"])),
            phases=4,
        ),
        "7e battle": new_game(
            army(wizard(3, lasting("Ward", 5, worth_per_phase=2.0), spell("Bolt", 7))),
            army(wizard(2, lasting("Veil", 5, worth_per_phase=2.0, in_play=True)),
                 wizard(1, spell("Spark", 4), name="Second")),
            ruleset="7e", phases=3,
        ),
        "miscasts": new_game(
            army(wizard(2, spell("Bolt", 4), spell("Beam", 6)),
                 wizard(2, spell("Bolt", 4), name="Second"), power_dice=9),
            army(wizard(2, spell("Hex", 5), items=["Dispel Scroll"])), phases=3,
            **miscast({"kind": "caster_hit", "strength": 4},
                      {"kind": "locked", "until": "six", "bars_items": True},
                      {"kind": "spell_forgotten"}, {"kind": "level_lost"}),
        ),
        "aims": new_game(
            army(wizard(4, strike, once, doom, bolt), units=[spears], power_dice=9),
            army(wizard(3, strike, doom, bolt, unit="Boyz"), units=[boyz, unit("Wolves", 3)]),
            phases=4, **FREE,
        ),
        "marks": new_game(
            army(wizard(4, once, hex_), wizard(2, hex_, name="Second"), power_dice=9),
            army(wizard(1, once), units=[boyz, spears, unit("Wolves", 3)], dispel_dice=2),
            phases=3,
        ),
        "Comets": new_game(
            army(wizard(4, comet, strike), units=[spears], power_dice=9),
            army(wizard(2, comet), units=[boyz], dispel_dice=2), phases=5,
        ),
        "points of Comets": new_game(
            army(wizard(4, comet, strike, position=[10.0, 6.0]),
                 units=[{**spears, "position": [20.0, 6.0]}], power_dice=9),
            army(wizard(3, comet, position=[20.0, 24.0], facing=180.0),
                 units=[{**boyz, "position": [10.0, 24.0], "facing": 180.0}], dispel_dice=2),
            phases=5, battlefield={"width": 30.0, "depth": 30.0},
        ),
        "healing and bound spells": new_game(
            army(wizard(4, known("Healing Hand"), known("Steal Soul"), wounds=3),
                 wizard(2, strike, name="Second", items=["Storm Stone"]), units=[boyz]),
            army(wizard(4, known("Steal Soul"), wounds=4),
                 heroes=[{"name": "Hero", "items": ["Ring of Flame"]}], units=[spears]),
            phases=4, rules={"scoring": "victory_points"},
        ),
        "miscast tables": new_game(
            army(wizard(2, strike, daemon_unit="Horrors", miscast_table="daemons"),
                 wizard(2, strike, name="A", miscast_table="gut-magic", wounds=3),
                 wizard(2, strike, name="B", miscast_table="gut-magic", wounds=3),
                 units=[unit("Horrors", 8, traits=["daemons"])], power_dice=9),
            army(wizard(2, strike, unit="Boyz"), units=[boyz], dispel_dice=2), phases=3,
        ),
        "drawn spells": new_game(
            army({"name": "Anna", "level": 2, "lore": "Fire"}, units=[spears]),
            army({"name": "Berta", "level": 1, "lore": "Death"}, wizard(1, strike), units=[boyz]),
            phases=2,
        ),
    }  # fmt: skip


CUSTOM = (
    "re-rolls", "powers of items", "7e battle", "miscasts", "aims", "marks", "Comets",
    "points of Comets", "healing and bound spells", "miscast tables", "drawn spells",
)  # fmt: skip
"""Names of the scenarios of `custom`. Tests make the battles, so collection compiles nothing."""


@cache
def census_of(name: str) -> list[Census]:
    if name in custom():
        return census(custom()[name].packed_scenarios, 60, 6)
    return census(table_of(name), some(name, 40, 2), 5)


def census(packed: Any, games: int, seed: int) -> list[Census]:
    counts = [Census(Eye(packed, seat)) for seat in (0, 1)]
    rng = np.random.default_rng(seed)
    for _ in range(games):
        for battle in play_randomly(Battle(packed), rng):
            counts[battle.mover].count(battle)
    return counts


BUNDLED = (
    "apprentice", "archmage-duel", "long-siege", "grand-conclave", "border-skirmish",
    "the-winds-unbound",
)  # fmt: skip
RARE = {
    "re-rolls": {Node.KEEP_CASTING, Node.KEEP_DISPEL},
    "powers of items": {Node.STORE_DICE},
    "7e battle": {Node.RESERVE_DICE, Node.DISPEL_RESERVE, Node.IN_PLAY},
    "miscasts": {Node.NOMINATE, Node.DISPEL},
    "aims": {Node.TARGET, Node.FREE_SPELL, Node.IN_PLAY},
    "drawn spells": {Node.SWAP_SPELL},
}
"""Nodes that the scenarios made for them must reach."""


@pytest.mark.parametrize("name", [*BUNDLED, *CUSTOM])
def test_positions_and_observations_are_one_to_one(name: str) -> None:
    counts = census_of(name)
    least = 10 if name in CUSTOM else some(name, 10, 3)
    assert all(len(count.keys) == len(count.rows) > least for count in counts)
    assert RARE.get(name, set()) <= counts[0].nodes | counts[1].nodes


def kind_of(name: str) -> str:
    """Return a field's name without owner and number."""
    numbered = re.match(r"(?:own|enemy) ((?:wizard|spell|item|unit|mark) \d.*)", name)
    return re.sub(r"\b\d+\b", "N", numbered[1] if numbered else name)


def test_every_number_that_is_declared_is_written() -> None:
    """A declared number that always stays 0 is not written by the code."""
    written = {
        kind_of(field.name)
        for name in (*BUNDLED, *CUSTOM)
        for count in census_of(name)
        for field, shown in zip(count.eye.layout.fields, count.written, strict=True)
        if shown
    }
    # fields of `test_hidden_items` and `test_history` do not follow from the position
    declared = layout(replace(MOST, hidden=False, history=False)).fields
    assert written == {kind_of(field.name) for field in declared}


def test_numbers_are_written_with_their_declared_scales() -> None:
    """Unscaled, they are whole, and have no greater common divisor than in the scenarios."""
    divisors: dict[str, int] = {}
    for count in (each for name in (*BUNDLED, *CUSTOM) for each in census_of(name)):
        rows = np.array([np.frombuffer(row, np.float32) for row in count.rows.values()])
        for column, field in zip(rows.T, count.eye.layout.fields, strict=True):
            if field.quantity in (FLAG, POINTS):
                continue
            unscaled = column.astype(np.float64) * field.quantity.scale
            whole = np.rint(unscaled).astype(int)
            assert unscaled == pytest.approx(whole, abs=0.01), field.name
            kind = kind_of(field.name)
            divisors[kind] = int(np.gcd.reduce(whole, initial=divisors.get(kind, 0)))
    # Power Stones add two dice; models touch in threes
    assert divisors == dict.fromkeys(divisors, 1) | {"item N extra dice": 2, "contact N": 3}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCENARIOS, *CUSTOM])
def test_many_positions_and_observations_are_one_to_one(name: str) -> None:
    packed = custom()[name].packed_scenarios if name in custom() else table_of(name)
    census(packed, 1200 if name in custom() else some(name, 1200, 100), 7)


def test_every_position_of_a_small_scenario() -> None:
    """All actions of both players and all results of the dice."""
    made = load_scenario("apprentice")
    graph, _ = explored(made, merging=False)
    battle = start(made)
    counts = [Census(Eye(battle.packed_scenarios, seat)) for seat in (0, 1)]
    for _ in everywhere(graph, battle):
        if battle.is_decision():
            counts[battle.mover].count(battle)
    assert all(len(count.keys) == len(count.rows) > 5 for count in counts)
    assert graph.size == sum(len(count.keys) for count in counts)


@pytest.mark.slow
@pytest.mark.parametrize("made", ["Caster-v0'", "Battle-v0', scenario='border-skirmish'"])
def test_uncompiled_code_gives_the_same_observations(made: str) -> None:
    code = (
        "import gymnasium, numpy, wfb_gym\n"
        f"env = gymnasium.make('wfb_gym/{made}, disable_env_checker=True)\n"
        "seen, info = env.reset(seed=1)\n"
        "for _ in range(8):\n"
        "    print(seen.tobytes().hex())\n"
        "    legal = numpy.flatnonzero(info['action_mask'])\n"
        "    seen, reward, done, _, info = env.step(legal[-1])\n"
        "    print(reward)\n"
        "    if done:\n"
        "        seen, info = env.reset()\n"
    )
    compiled, uncompiled = (
        run_python("-c", code, env={"NUMBA_DISABLE_JIT": disabled}) for disabled in ("0", "1")
    )
    assert compiled.status == 0
    assert compiled.out == uncompiled.out
