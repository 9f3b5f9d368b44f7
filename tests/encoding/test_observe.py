"""Observations: one for each position, inside the bounds, with the numbers that they say."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import wfb_gym
from wfb_gym.encoding.layout import Layout, layout
from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.observe import observe, write_static
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.scenario import load_scenario, pack

from ..engine.builders import Game, army, lasting, miscast, spell, wizard
from ..engine.builders import game as new_game
from ..envs.playing import play_randomly

SCENARIOS = wfb_gym.bundled_scenarios()
FREE = miscast({"kind": "points_lost", "points": 5.0}, {"kind": "free_spell", "limit": "any"})


class Eye:
    """Observations of battles of one scenario from one seat."""

    def __init__(self, table: Any, seat: int) -> None:
        self.seat = seat
        self.layout: Layout = layout(fit(table, seat))
        self.static = np.empty(self.layout.size, np.float32)
        write_static(table[0], seat, self.layout.offsets[0], self.static)

    def see(self, battle: Battle) -> NDArray[np.float32]:
        row = np.full(self.layout.size, np.nan, np.float32)
        at = self.layout.offsets[0]
        observe(battle.table, battle.state, self.seat, at, self.static, row)
        return row

    def named(self, battle: Battle) -> dict[str, float]:
        return self.layout.named(self.see(battle))


class Census:
    """Keys by observation and observations by key, of one seat's own decisions."""

    def __init__(self, eye: Eye) -> None:
        self.eye = eye
        self.keys: dict[bytes, bytes] = {}
        self.rows: dict[bytes, bytes] = {}
        self.nodes: set[Node] = set()

    def count(self, battle: Battle) -> None:
        row = self.eye.see(battle)
        assert np.isfinite(row).all()
        assert (row >= self.eye.layout.low).all(), self.out_of_bounds(row)
        assert (row <= self.eye.layout.high).all(), self.out_of_bounds(row)
        seen, key = row.tobytes(), battle.key()
        assert self.keys.setdefault(seen, key) == key, (battle.node, battle.state)
        assert self.rows.setdefault(key, seen) == seen, battle.node
        self.nodes.add(battle.node)

    def out_of_bounds(self, row: NDArray[np.float32]) -> list[tuple[str, float]]:
        fields = zip(self.eye.layout.fields, row, strict=True)
        return [(f.name, float(v)) for f, v in fields if not f.low <= v <= f.high]


def custom() -> dict[str, Game]:
    """Scenarios full of what the bundled ones have little of."""
    return {
        "free spells": new_game(
            army(wizard(4, spell("Bolt", 3, 9.0), lasting("Ward", 4)), power_dice=8),
            army(wizard(2, spell("Hex", 4, 7.0), lasting("Veil", 5)), dispel_dice=3),
            phases=3,
            **FREE,
        ),
        "re-rolls": new_game(
            army(wizard(3, spell("Bolt", 8), items=["Luckstone"]), power_dice=6),
            army(wizard(2, items=["Luckstone"]), dispel_dice=3),
        ),
        "7e battle": new_game(
            army(wizard(3, lasting("Ward", 5, worth_per_phase=2.0), spell("Bolt", 7))),
            army(
                wizard(2, lasting("Veil", 5, worth_per_phase=2.0)),
                wizard(1, spell("Spark", 4), name="Second"),
            ),
            ruleset="7e",
            phases=3,
        ),
        "miscasts": new_game(
            army(
                wizard(2, spell("Bolt", 4), spell("Beam", 6)),
                wizard(2, spell("Bolt", 4), name="Second"),
                power_dice=9,
            ),
            army(wizard(2, spell("Hex", 5), items=["Dispel Scroll"])),
            phases=3,
            **miscast(
                {"kind": "caster_hit", "strength": 4},
                {"kind": "locked", "until": "six", "bars_items": True},
                {"kind": "spell_forgotten"},
                {"kind": "level_lost"},
            ),
        ),
    }


def bundled(name: str) -> Battle:
    return Battle(pack(load_scenario(name)))


def census(table: Any, games: int, seed: int) -> list[Census]:
    counts = [Census(Eye(table, seat)) for seat in (0, 1)]
    rng = np.random.default_rng(seed)
    for _ in range(games):
        for battle in play_randomly(Battle(table), rng):
            counts[battle.mover].count(battle)
    return counts


@pytest.mark.parametrize("name", SCENARIOS)
def test_positions_and_observations_are_one_to_one(name: str) -> None:
    counts = census(pack(load_scenario(name)), 150, 5)
    assert all(len(count.keys) == len(count.rows) > 10 for count in counts)


@pytest.mark.parametrize("name", list(custom()))
def test_rare_positions_and_observations_are_one_to_one(name: str) -> None:
    counts = census(custom()[name]._tables, 300, 6)
    assert all(len(count.keys) == len(count.rows) > 10 for count in counts)
    nodes = counts[0].nodes | counts[1].nodes
    rare = {
        "free spells": {Node.FREE_SPELL, Node.IN_PLAY},
        "re-rolls": {Node.KEEP_CASTING, Node.KEEP_DISPEL},
        "7e battle": {Node.RESERVE_DICE, Node.DISPEL_RESERVE, Node.IN_PLAY},
        "miscasts": {Node.NOMINATE, Node.DISPEL},
    }
    assert rare[name] <= nodes


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCENARIOS, *custom()])
def test_many_positions_and_observations_are_one_to_one(name: str) -> None:
    table = custom()[name]._tables if name in custom() else pack(load_scenario(name))
    census(table, 1200, 7)


@pytest.mark.parametrize("name", ["apprentice"])
def test_every_position_of_a_small_scenario(name: str) -> None:
    """All that can happen, whoever decides and however the dice fall."""
    start = bundled(name)
    counts = [Census(Eye(start._tables, seat)) for seat in (0, 1)]
    todo, known = [start], {start.key()}
    while todo:
        battle = todo.pop()
        if battle.is_over:
            continue
        decides = battle.is_decision()
        if decides:
            counts[battle.mover].count(battle)
        options = battle.legal_actions() or [outcome for outcome, _ in battle.chance_outcomes()]
        for option in options:
            following = battle.copy()
            if decides:
                following.act(option)
            else:
                following.resolve(option)
            if following.key() not in known:
                known.add(following.key())
                todo.append(following)
    assert all(len(count.keys) == len(count.rows) > 5 for count in counts)
    assert len(known) > 100


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("seat", [0, 1])
def test_nothing_is_left_to_see_of_an_ended_battle(name: str, seat: int) -> None:
    eye = Eye(pack(load_scenario(name)), seat)
    rng = np.random.default_rng(2)
    for _ in range(5):
        battle = bundled(name)
        for _ in play_randomly(battle, rng):
            pass
        assert np.array_equal(eye.see(battle), eye.static)


DUEL_RULES = {"rule one-turn dispels": 1.0, "rule recast per side": 1.0}
DUEL_SPELLS = [(5, 20), (8, 40), (9, 50), (11, 60)]
BEST = [200 / 216 * 20, 1121 / 1296 * 40, 1108 / 1296 * 50, 6224 / 7776 * 60]
"""With 3, 4, 4 and 5 dice: counted over all rolls, two 1s fail and two 6s succeed."""
MISCAST_COST = 85 * (1 * 5 + 9 * 4 + 5 * 5) / 216
"""A wound costs 85. Hits of Strength 10 (total 2), 4 (8, 9) and 6 (10, 11) on Toughness 3."""
STOPS = (2 + 9 + 9) / 36
"""Totals 3, 5 to 6, 8 to 9."""


def duel(**changes: float) -> dict[str, float]:
    """What is not 0 as the caster sees the duel at the start, changed."""
    seen = {
        "node nominate": 1.0,
        "own phase": 1.0,
        "phases left": 1 / 12,
        "own pool": 0.6,
        "enemy pool": 0.4,
        **DUEL_RULES,
        "miscast stops": STOPS,
        "own wizard 1 level": 1.0,
        "own wizard 1 wounds": 0.6,
        "own wizard 1 can cast": 1.0,
        "own wizard 1 miscast cost": MISCAST_COST / 100,
        "enemy wizard 1 miscast cost": MISCAST_COST / 100,
        "enemy wizard 1 level": 1.0,
        "enemy wizard 1 wounds": 0.6,
        "enemy wizard 1 can cast": 1.0,
        "enemy item 1 uses": 0.25,
        "enemy item 1 bearer": 1 / 6,
        "enemy item 1 automatic": 1.0,
    }
    for i, (value, worth) in enumerate(DUEL_SPELLS, 1):
        seen[f"own spell {i} wizard"] = 1 / 6
        seen[f"own spell {i} casting value"] = value / 15
        seen[f"own spell {i} worth"] = worth / 100
        seen[f"own spell {i} most dice"] = 0.5
        seen[f"own spell {i} open"] = 1.0
        seen[f"own spell {i} best"] = BEST[i - 1] / 100
    return {**seen, **changes}


def told(battle: Battle, seat: int) -> dict[str, float]:
    """What is not 0 in an observation."""
    return {name: value for name, value in Eye(battle._tables, seat).named(battle).items() if value}


def test_the_duel_at_the_start() -> None:
    assert told(bundled("archmage-duel"), 0) == pytest.approx(duel(), rel=1e-6)


def test_the_duel_where_dice_are_chosen() -> None:
    battle = bundled("archmage-duel")
    battle.act(FIRST_CAST + 1)
    seen = duel(**{"node pool dice": 1.0, "own spell 2 pending": 1.0})
    del seen["node nominate"]
    found = told(battle, 0)
    # A spell is spent by its nomination: it is open no more.
    for field in ("most dice", "open", "best"):
        seen.pop(f"own spell 2 {field}")
        found.pop(f"own spell 2 {field}", None)
    assert found == pytest.approx(seen, rel=1e-6)


def test_the_duel_where_it_is_dispelled() -> None:
    """Fire Ball is cast with three dice, as 12, against four dispel dice and a scroll."""
    battle = bundled("archmage-duel")
    battle.play([FIRST_CAST, FIRST_DICE + 3, (4, 5, 3)])
    assert battle.node == Node.DISPEL
    found = told(battle, 1)
    seen = {
        "node dispel": 1.0,
        "phases left": 1 / 12,
        "own pool": 0.4,
        "enemy pool": 0.3,
        "number to match": 12 / 15,
        **DUEL_RULES,
        "miscast stops": STOPS,
        "own item 1 uses": 0.25,
        "own item 1 bearer": 1 / 6,
        "own item 1 automatic": 1.0,
        "enemy spell 1 pending": 1.0,
    }
    for owner in ("own", "enemy"):
        seen[f"{owner} wizard 1 level"] = 1.0
        seen[f"{owner} wizard 1 wounds"] = 0.6
        seen[f"{owner} wizard 1 can cast"] = 1.0
        seen[f"{owner} wizard 1 miscast cost"] = MISCAST_COST / 100
    best = [0.0, 178 / 216 * 40, 160 / 216 * 50, 108 / 216 * 60]
    for i, (value, worth) in enumerate(DUEL_SPELLS, 1):
        seen[f"enemy spell {i} wizard"] = 1 / 6
        seen[f"enemy spell {i} casting value"] = value / 15
        seen[f"enemy spell {i} worth"] = worth / 100
        if i > 1:
            seen[f"enemy spell {i} open"] = 1.0
            seen[f"enemy spell {i} most dice"] = 0.3
            seen[f"enemy spell {i} best"] = best[i - 1] / 100
    assert found == pytest.approx(seen, rel=1e-6)


def test_the_scroll_that_is_read_is_gone() -> None:
    battle = bundled("archmage-duel")
    battle.play([FIRST_CAST, FIRST_DICE + 3, (4, 5, 3)])
    battle.act(battle.legal_actions()[-1])
    assert battle.node == Node.NOMINATE
    assert "enemy item 1 uses" not in told(battle, 0)
    assert told(battle, 0)["enemy pool"] == pytest.approx(0.4)


def test_spells_in_play_are_seen() -> None:
    battle = new_game(
        army(wizard(4, lasting("Ward", 5, 8.0, worth_per_phase=3.0), spell("Bolt")), power_dice=6),
        army(wizard(1), dispel_dice=0),
    )
    before = told(battle, 0)
    assert before["own spell 1 worth per phase"] == pytest.approx(0.03)
    assert before["own spell 1 remains in play"] == 1.0
    assert "own spell 1 in play" not in before
    battle.cast("Ward", 2)
    battle.roll(4, 5)
    after = told(battle, 0)
    assert after["own spell 1 in play"] == 1.0
    assert after["own spell 1 fresh"] == 1.0
    assert "own spell 2 in play" not in after


def test_best_counts_what_a_spell_still_pays() -> None:
    battle = new_game(
        army(wizard(4, lasting("Ward", 5, 8.0, worth_per_phase=3.0)), power_dice=3), phases=4
    )
    seen = told(battle, 0)
    assert seen["own spell 1 best"] == pytest.approx(200 / 216 * (8.0 + 4 * 3.0) / 100)
    assert seen["phases left"] == pytest.approx(4 / 12)


def test_faces_are_seen_where_a_re_roll_is_open() -> None:
    battle = new_game(
        army(wizard(3, spell("Bolt", 12), items=["Luckstone"]), power_dice=3), army(wizard(1))
    )
    battle.cast("Bolt", 3)
    battle.roll(2, 2, 5)
    assert battle.node == Node.KEEP_CASTING
    seen = told(battle, 0)
    assert seen["faces 2"] == pytest.approx(0.2)
    assert seen["faces 5"] == pytest.approx(0.1)
    assert "faces 1" not in seen
    assert battle.legal_actions()[0] == PASS


@pytest.mark.slow
def test_uncompiled_code_sees_the_same() -> None:
    code = (
        "import gymnasium, wfb_gym\n"
        "env = gymnasium.make('wfb_gym/Caster-v0', disable_env_checker=True)\n"
        "print(env.reset(seed=1)[0].tobytes().hex())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
