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
from wfb_gym.encoding.history import new_histories
from wfb_gym.encoding.layout import Layout, layout
from wfb_gym.encoding.limits import Limits, fit
from wfb_gym.encoding.observe import observe, write_static
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node

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
        "charms": new_game(
            army(
                wizard(3, spell("Bolt", 8), items=["Power Stone", "Charm"]),
                wizard(2, spell("Spark", 5), items=["Starwood Staff"], name="Second"),
                power_dice=8,
            ),
            army(wizard(2, items=["Charm", "Staff of Sorcery"]), dispel_dice=4),
            items=[
                {
                    "name": "Charm",
                    "uses": 3,
                    "reroll": {"of": "both", "dice": "one", "changes_natural": True},
                    "when_casting": {"bonus": 1},
                }
            ],
        ),
        "powers of items": new_game(
            army(
                wizard(3, spell("Bolt", 8), items=["Book of Hoeth", "Rod of Power"]),
                wizard(2, spell("Spark", 5), items=["Power Stone"], name="Second"),
                items=["Power Familiar", "Master Rune of Balance"],
            ),
            army(
                wizard(2, spell("Hex", 5), items=["Seal of Destruction", "Black Periapt"]),
                wizard(1, name="Second", items=["Dispel Scroll"]),
            ),
            phases=4,
        ),
        "7e duel": new_game(
            army(wizard(4, spell("Storm", 11)), wizard(2, spell("Spark", 4), name="Second")),
            army(wizard(1, lasting("Curse", 7, 0.0, in_play=True))),
            ruleset="7e",
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
        **of_units(),
    }


CUSTOM = (
    "free spells", "re-rolls", "charms", "7e duel", "7e battle", "miscasts", "powers of items",
    "aims", "marks", "victory points", "Comets", "points of Comets", "healing", "bound spells",
    "Daemons",
    "other wizards", "kept dice", "drawn spells",
)  # fmt: skip
"""Names of the scenarios of `custom`. Tests make the battles, so collection compiles nothing."""


def of_units() -> dict[str, Game]:
    """Features of battles of units: targets, marks, Comets, healing, stored dice, rolled spells."""
    spears, boyz = unit("Spears", 4, wounds=2), unit("Boyz", 5, magic_resistance=1)
    strike = aimed("Strike", 3, damage={"hits": "D6", "strength": 4})
    once = aimed("Curse", 3, once=True, worth={"points": 5.0})
    doom = aimed("Doom", 4, duration="remains_in_play", worth={"points_per_phase": 3.0})
    return {
        "aims": new_game(
            army(wizard(4, strike, once, doom), units=[spears], power_dice=9),
            army(wizard(3, strike, doom, unit="Boyz"), units=[boyz, unit("Wolves", 3)]),
            phases=4,
            **FREE,
        ),
        "marks": new_game(
            army(
                wizard(4, once, aimed("Hex", 3, worth={"points": 4.0})),
                wizard(2, aimed("Hex", 3, worth={"points": 4.0}), name="Second"),
                power_dice=9,
            ),
            army(wizard(1, once), units=[boyz, spears, unit("Wolves", 3)], dispel_dice=2),
            phases=3,
        ),
        "Comets": new_game(
            army(wizard(4, known("The Comet of Casandora"), strike), units=[spears], power_dice=9),
            army(wizard(2, known("The Comet of Casandora")), units=[boyz], dispel_dice=2),
            phases=5,
        ),
        "points of Comets": new_game(
            army(
                wizard(4, known("The Comet of Casandora"), strike, position=[10.0, 6.0]),
                units=[{**spears, "position": [20.0, 6.0]}],
                power_dice=9,
            ),
            army(
                wizard(3, known("The Comet of Casandora"), position=[20.0, 24.0], facing=180.0),
                units=[{**boyz, "position": [10.0, 24.0], "facing": 180.0}],
                dispel_dice=2,
            ),
            phases=5,
            battlefield={"width": 30.0, "depth": 30.0},
        ),
        "healing": new_game(
            army(wizard(4, known("Healing Hand"), known("Steal Soul"), wounds=3), power_dice=9),
            army(wizard(4, known("Steal Soul"), wounds=4), units=[spears], dispel_dice=2),
            phases=3,
        ),
        "victory points": new_game(
            army(wizard(4, strike, wounds=3), units=[spears], power_dice=9),
            army(wizard(3, strike, wounds=3), units=[boyz, unit("Wolves", 3)]),
            phases=4,
            rules={"scoring": "victory_points"},
        ),
        "bound spells": new_game(
            army(wizard(2, strike, items=["Storm Stone"]), units=[spears]),
            army(wizard(1), heroes=[{"name": "Hero", "items": ["Ring of Flame"]}], units=[boyz]),
            phases=4,
        ),
        "Daemons": new_game(
            army(
                wizard(2, strike, daemon_unit="Horrors", miscast_table="daemons"),
                units=[unit("Horrors", 8, traits=["daemons"])],
                power_dice=8,
            ),
            army(wizard(2, strike, unit="Boyz"), units=[boyz], dispel_dice=2),
            phases=4,
        ),
        "other wizards": new_game(
            army(
                *(
                    wizard(2, strike, name=name, miscast_table="gut-magic", wounds=3)
                    for name in "AB"
                ),
                power_dice=9,
            ),
            army(wizard(2, strike), units=[boyz], dispel_dice=2),
            phases=3,
        ),
        "kept dice": new_game(
            army(wizard(4, spell("Bolt", 7), items=["Rod of Power", "Black Periapt"])),
            army(wizard(2, spell("Bolt", 7), items=["Black Periapt"])),
            phases=5,
        ),
        "drawn spells": new_game(
            army({"name": "Anna", "level": 2, "lore": "Fire"}, units=[spears]),
            army({"name": "Berta", "level": 1, "lore": "Death"}, wizard(1, strike), units=[boyz]),
            phases=2,
        ),
    }


def bundled(name: str) -> Battle:
    return Battle(table_of(name))


@cache
def census_of(name: str) -> list[Census]:
    """Yield the observations of both seats in random games of a scenario, bundled or `custom`."""
    if name in custom():
        return census(custom()[name].packed_scenarios, 100, 6)
    return census(table_of(name), some(name, 50, 3), 5)


def census(packed: Any, games: int, seed: int) -> list[Census]:
    counts = [Census(Eye(packed, seat)) for seat in (0, 1)]
    rng = np.random.default_rng(seed)
    for _ in range(games):
        for battle in play_randomly(Battle(packed), rng):
            counts[battle.mover].count(battle)
    return counts


RARE = {
    "free spells": {Node.FREE_SPELL, Node.IN_PLAY},
    "re-rolls": {Node.KEEP_CASTING, Node.KEEP_DISPEL},
    "7e battle": {Node.RESERVE_DICE, Node.DISPEL_RESERVE, Node.IN_PLAY},
    "miscasts": {Node.NOMINATE, Node.DISPEL},
    "aims": {Node.TARGET, Node.FREE_SPELL, Node.IN_PLAY},
    "kept dice": {Node.STORE_DICE},
    "drawn spells": {Node.SWAP_SPELL},
}
"""Nodes that the scenarios made for them must reach."""


@pytest.mark.parametrize("name", [*SCENARIOS, *CUSTOM])
def test_positions_and_observations_are_one_to_one(name: str) -> None:
    counts = census_of(name)
    least = 10 if name in CUSTOM else some(name, 10, 3)
    assert all(len(count.keys) == len(count.rows) > least for count in counts)
    assert RARE.get(name, set()) <= counts[0].nodes | counts[1].nodes


WRITTEN = (*CUSTOM, "archmage-duel", "grand-conclave", "border-skirmish")
"""Scenarios that together give every number of an observation a value other than 0."""


def kind_of(name: str) -> str:
    """Return a field's name without owner and number."""
    numbered = re.match(r"(?:own|enemy) ((?:wizard|spell|item|unit|mark) \d.*)", name)
    return re.sub(r"\b\d+\b", "N", numbered[1] if numbered else name)


def test_every_number_that_is_declared_is_written() -> None:
    """A declared number that always stays 0 is not written by the code."""
    written = {
        kind_of(field.name)
        for name in WRITTEN
        for count in census_of(name)
        for field, shown in zip(count.eye.layout.fields, count.written, strict=True)
        if shown
    }
    # fields of `test_hidden_items` and `test_history` do not follow from the position
    declared = layout(replace(MOST, hidden=False, history=False)).fields
    assert written == {kind_of(field.name) for field in declared}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCENARIOS, *CUSTOM])
def test_many_positions_and_observations_are_one_to_one(name: str) -> None:
    packed = custom()[name].packed_scenarios if name in custom() else table_of(name)
    census(packed, 1200 if name in custom() else some(name, 1200, 100), 7)


def test_every_position_of_a_small_scenario() -> None:
    """All actions of both players and all results of the dice."""
    start = bundled("apprentice")
    counts = [Census(Eye(start.packed_scenarios, seat)) for seat in (0, 1)]
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
def test_an_ended_battle_has_an_empty_observation(name: str, seat: int) -> None:
    eye = Eye(table_of(name), seat)
    rng = np.random.default_rng(2)
    for _ in range(some(name, 5, 1)):
        battle = bundled(name)
        for _ in play_randomly(battle, rng):
            pass
        assert np.array_equal(eye.see(battle), eye.static)


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
