"""Observations: one for each position, inside the bounds, with the numbers that they say."""

import os
import re
import subprocess
import sys
from functools import cache
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
from wfb_gym.scenario.sizes import ARMIES, TARGETS

from ..engine.builders import Game, aimed, army, known, lasting, miscast, spell, unit, wizard
from ..engine.builders import game as new_game
from ..envs.playing import play_randomly, some, table_of
from .test_layout import MOST

SCENARIOS = wfb_gym.bundled_scenarios()
FREE = miscast({"kind": "points_lost", "points": 5.0}, {"kind": "free_spell", "limit": "any"})


class Eye:
    """Observations of battles of one scenario from one seat."""

    def __init__(self, packed: Any, seat: int) -> None:
        self.seat = seat
        self.layout: Layout = layout(fit(packed, seat))
        self.static = np.empty(self.layout.size, np.float32)
        write_static(packed[0], seat, self.layout.offsets[0], self.static)

    def see(self, battle: Battle) -> NDArray[np.float32]:
        row = np.full(self.layout.size, np.nan, np.float32)
        at = self.layout.offsets[0]
        observe(battle.packed, battle.state, self.seat, at, self.static, row)
        return row

    def named_fields(self, battle: Battle) -> dict[str, float]:
        return self.layout.named_fields(self.see(battle))


class Census:
    """Keys by observation and observations by key, of one seat's own decisions."""

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
    "free spells", "re-rolls", "charms", "7e duel", "7e battle", "miscasts", "aims", "marks",
    "Comets", "healing", "bound spells", "Daemons", "other wizards", "kept dice", "drawn spells",
)  # fmt: skip
"""Names of the scenarios of `custom`: battles are made, and the engine compiled, only in tests."""


def of_units() -> dict[str, Game]:
    """What only battles of units know: aims, marks, Comets, healing, kept and drawn spells."""
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
        "healing": new_game(
            army(wizard(4, known("Healing Hand"), known("Steal Soul"), wounds=3), power_dice=9),
            army(wizard(4, known("Steal Soul"), wounds=4), units=[spears], dispel_dice=2),
            phases=3,
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
    """What both seats see in random games of a scenario, bundled or `custom`."""
    if name in custom():
        return census(custom()[name].packed_scenarios, 100, 6)
    return census(table_of(name), some(name, 150, 3), 5)


def census(packed: Any, games: int, seed: int) -> list[Census]:
    counts = [Census(Eye(packed, seat)) for seat in (0, 1)]
    rng = np.random.default_rng(seed)
    for _ in range(games):
        for battle in play_randomly(Battle(packed), rng):
            counts[battle.mover].count(battle)
    return counts


@pytest.mark.parametrize("name", SCENARIOS)
def test_positions_and_observations_are_one_to_one(name: str) -> None:
    counts = census_of(name)
    assert all(len(count.keys) == len(count.rows) > some(name, 10, 3) for count in counts)


RARE = {
    "free spells": {Node.FREE_SPELL, Node.IN_PLAY},
    "re-rolls": {Node.KEEP_CASTING, Node.KEEP_DISPEL},
    "7e battle": {Node.RESERVE_DICE, Node.DISPEL_RESERVE, Node.IN_PLAY},
    "miscasts": {Node.NOMINATE, Node.DISPEL},
    "aims": {Node.TARGET, Node.FREE_SPELL, Node.IN_PLAY},
    "kept dice": {Node.STORE_DICE},
    "drawn spells": {Node.SWAP_SPELL},
}
"""Nodes that must be met in the scenarios made for them."""


@pytest.mark.parametrize("name", CUSTOM)
def test_rare_positions_and_observations_are_one_to_one(name: str) -> None:
    counts = census_of(name)
    assert all(len(count.keys) == len(count.rows) > 10 for count in counts)
    assert RARE.get(name, set()) <= counts[0].nodes | counts[1].nodes


WRITTEN = (*CUSTOM, "archmage-duel", "grand-conclave", "border-skirmish")
"""Scenarios that have, together, something to show in every number of an observation."""


def kind_of(name: str) -> str:
    """A field's name without owner and number."""
    numbered = re.match(r"(?:own|enemy) ((?:wizard|spell|item|unit|mark) \d.*)", name)
    return re.sub(r"\b\d+\b", "N", numbered[1] if numbered else name)


def test_every_number_that_is_declared_is_written() -> None:
    """What an observation declares and never shows, nobody wrote."""
    written = {
        kind_of(field.name)
        for name in WRITTEN
        for count in census_of(name)
        for field, shown in zip(count.eye.layout.fields, count.written, strict=True)
        if shown
    }
    assert written == {kind_of(field.name) for field in layout(MOST).fields}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCENARIOS, *CUSTOM])
def test_many_positions_and_observations_are_one_to_one(name: str) -> None:
    packed = custom()[name].packed_scenarios if name in custom() else table_of(name)
    census(packed, 1200 if name in custom() else some(name, 1200, 100), 7)


@pytest.mark.parametrize("name", ["apprentice"])
def test_every_position_of_a_small_scenario(name: str) -> None:
    """All that can happen, whoever decides and however the dice fall."""
    start = bundled(name)
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
def test_nothing_is_left_to_see_of_an_ended_battle(name: str, seat: int) -> None:
    eye = Eye(table_of(name), seat)
    rng = np.random.default_rng(2)
    for _ in range(some(name, 5, 1)):
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


def shown(battle: Battle, seat: int) -> dict[str, float]:
    """What is not 0 in an observation."""
    return {
        name: value
        for name, value in Eye(battle.packed_scenarios, seat).named_fields(battle).items()
        if value
    }


def test_the_duel_at_the_start() -> None:
    assert shown(bundled("archmage-duel"), 0) == pytest.approx(duel(), rel=1e-6)


def test_the_duel_where_dice_are_chosen() -> None:
    battle = bundled("archmage-duel")
    battle.act(FIRST_CAST + 1)
    seen = duel(**{"node pool dice": 1.0, "own spell 2 pending": 1.0})
    del seen["node nominate"]
    found = shown(battle, 0)
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
    found = shown(battle, 1)
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
    assert "enemy item 1 uses" not in shown(battle, 0)
    assert shown(battle, 0)["enemy pool"] == pytest.approx(0.4)


def test_spells_in_play_are_seen() -> None:
    battle = new_game(
        army(wizard(4, lasting("Ward", 5, 8.0, worth_per_phase=3.0), spell("Bolt")), power_dice=6),
        army(wizard(1), dispel_dice=0),
    )
    before = shown(battle, 0)
    assert before["own spell 1 worth per phase"] == pytest.approx(0.03)
    assert before["own spell 1 remains in play"] == 1.0
    assert "own spell 1 in play" not in before
    battle.cast("Ward", 2)
    battle.roll(4, 5)
    after = shown(battle, 0)
    assert after["own spell 1 in play"] == 1.0
    assert after["own spell 1 fresh"] == 1.0
    assert "own spell 2 in play" not in after


def test_best_counts_what_a_spell_still_pays() -> None:
    battle = new_game(
        army(wizard(4, lasting("Ward", 5, 8.0, worth_per_phase=3.0)), power_dice=3), phases=4
    )
    seen = shown(battle, 0)
    assert seen["own spell 1 best"] == pytest.approx(200 / 216 * (8.0 + 4 * 3.0) / 100)
    assert seen["phases left"] == pytest.approx(4 / 12)


def test_faces_are_seen_where_a_re_roll_is_open() -> None:
    battle = new_game(
        army(wizard(3, spell("Bolt", 12), items=["Luckstone"]), power_dice=3), army(wizard(1))
    )
    battle.cast("Bolt", 3)
    battle.roll(2, 2, 5)
    assert battle.node == Node.KEEP_CASTING
    seen = shown(battle, 0)
    assert seen["faces 2"] == pytest.approx(0.2)
    assert seen["faces 5"] == pytest.approx(0.1)
    assert "faces 1" not in seen
    assert battle.legal_actions()[0] == PASS


# What only battles of units know.


def skirmish(*spells: Any, phases: int = 2, **enemy: Any) -> Game:
    """A wizard with these spells against two units, with nothing to dispel."""
    return new_game(
        army(wizard(4, *spells, wounds=2), power_dice=12, units=[unit("Guard", 5)]),
        army(units=[unit("Spears", 10), unit("Boyz", 8, points=9.0)], dispel_dice=0, **enemy),
        phases=phases,
    )


STRIKE = aimed("Strike", 5, damage={"hits": "D6", "strength": 4})


def test_units_are_seen_with_all_their_wounds() -> None:
    seen = shown(skirmish(STRIKE), 0)
    wounds = {name: value for name, value in seen.items() if name.endswith("wounds")}
    assert wounds["own unit 1 wounds"] == pytest.approx(5 / 20)
    assert wounds["enemy unit 1 wounds"] == pytest.approx(10 / 20)
    assert wounds["enemy unit 2 wounds"] == pytest.approx(8 / 20)
    assert seen["enemy unit 2 points"] == pytest.approx(0.09)
    assert seen["enemy unit 2 wounds each"] == pytest.approx(0.2)
    mirrored = shown(skirmish(STRIKE), 1)
    assert mirrored["own unit 2 wounds"] == pytest.approx(8 / 20)


def test_each_target_is_seen_with_what_the_spell_promises_there() -> None:
    """3.5 hits that wound two times in three, 6 and 9 points a model."""
    battle = skirmish(STRIKE, aimed("Hex", 5, worth={"points": 4.0}))
    battle.nominate("Strike")
    seen = shown(battle, 0)
    assert seen["node target"] == 1.0
    assert seen["own spell 1 pending"] == 1.0
    promises = {name: value for name, value in seen.items() if name.endswith("promise")}
    assert promises == {
        "enemy unit 1 promise": pytest.approx(3.5 * 2 / 3 * 6 / 100),
        "enemy unit 2 promise": pytest.approx(3.5 * 2 / 3 * 9 / 100),
    }
    assert not any("aimed at" in name for name in seen)


def test_the_target_chosen_is_seen_with_its_promise() -> None:
    battle = skirmish(STRIKE)
    battle.nominate("Strike")
    battle.aim("Boyz")
    assert battle.node == Node.POOL_DICE
    for seat, owner in ((0, "enemy"), (1, "own")):
        seen = shown(battle, seat)
        found = {n: v for n, v in seen.items() if n.endswith(("aimed at", "promise"))}
        assert found == {
            f"{owner} unit 2 aimed at": 1.0,
            f"{owner} unit 2 promise": pytest.approx(3.5 * 2 / 3 * 9 / 100),
        }


def test_what_a_spell_still_pays_is_part_of_its_promise() -> None:
    doom = aimed(
        "Doom", 5, duration="remains_in_play", worth={"points": 1.0, "points_per_phase": 3.0}
    )
    battle = skirmish(doom, phases=4)
    battle.nominate("Doom")
    assert shown(battle, 0)["enemy unit 1 promise"] == pytest.approx((1.0 + 4 * 3.0) / 100)


def test_characters_are_seen_as_targets() -> None:
    sting = aimed("Sting", 5, target="enemy_model", worth={"points": 7.0})
    battle = skirmish(sting, heroes=[{"name": "Hero", "unit": "Boyz"}])
    battle.nominate("Sting")
    assert shown(battle, 0)["enemy wizard 1 promise"] == pytest.approx(0.07)
    battle.aim("Hero")
    assert shown(battle, 0)["enemy wizard 1 aimed at"] == 1.0


def test_the_target_of_a_free_spell_is_half_one() -> None:
    battle = new_game(
        army(wizard(4, STRIKE), units=[unit("Guard", 5), unit("Cooks", 3)], power_dice=9),
        army(wizard(4, STRIKE, name="Foe"), units=[unit("Spears"), unit("Boyz")], dispel_dice=3),
        **FREE,
    )
    battle.nominate("Strike")
    battle.aim("Spears")
    battle.play([FIRST_DICE + 2, (1, 1), (3, 4)])
    assert battle.node == Node.FREE_SPELL
    battle.act(FIRST_CAST)
    assert battle.node == Node.TARGET
    seen = shown(battle, 1)
    assert seen["node target"] == 1.0
    assert not any("aimed at" in name for name in seen)  # the miscast spell is lost
    assert seen["own spell 1 pending"] == seen["enemy spell 1 pending"] == 1.0
    assert 0.0 < seen["enemy unit 2 promise"] < seen["enemy unit 1 promise"]  # three models, five
    battle.aim("Guard")
    assert battle.node == Node.DISPEL
    assert shown(battle, 0)["own unit 1 aimed at"] == 0.5
    assert shown(battle, 1)["enemy unit 1 aimed at"] == 0.5


def test_a_spell_in_play_says_what_it_lies_on() -> None:
    doom = aimed("Doom", 5, duration="remains_in_play", worth={"points_per_phase": 3.0})
    battle = skirmish(doom)
    battle.works("Doom", "Boyz")
    codes = 1 + ARMIES * TARGETS
    assert shown(battle, 0)["own spell 1 lies on"] == pytest.approx((1 + TARGETS + 1) / codes)
    assert shown(battle, 1)["enemy spell 1 lies on"] == pytest.approx((1 + TARGETS + 1) / codes)


def test_marks_are_seen_bit_by_bit() -> None:
    once = aimed("Curse", 5, once=True, worth={"points": 5.0})
    battle = new_game(
        army(wizard(4, once, spell()), wizard(4, once, name="Second"), power_dice=12),
        army(units=[unit("Spears"), unit("Boyz")], dispel_dice=0),
        phases=2,
    )
    for seat, owner in ((0, "own"), (1, "enemy")):
        assert f"{owner} mark 1" not in shown(battle, seat)
    battle.works("Curse", "Boyz", wizard=0)
    assert shown(battle, 0)["own mark 1"] == pytest.approx(2 / 65535)
    battle.nominate("Curse", wizard=1)  # Spears are all that is left to curse
    battle.play([FIRST_DICE + 2, (6, 6)])
    assert shown(battle, 0)["own mark 1"] == pytest.approx(3 / 65535)
    assert shown(battle, 1)["enemy mark 1"] == pytest.approx(3 / 65535)


def test_markers_of_a_comet_are_seen_with_its_wizard() -> None:
    battle = skirmish(known("The Comet of Casandora"), phases=3)
    assert "own wizard 1 markers" not in shown(battle, 0)
    battle.works("The Comet of Casandora", "Boyz")
    seen = shown(battle, 0)
    assert seen["own wizard 1 markers"] == pytest.approx(1 / 12)
    assert seen["own spell 1 in play"] == 1.0
    assert "own spell 1 remains in play" not in seen
    assert "own spell 1 lasts one turn" not in seen


def test_a_bound_spell_needs_no_dice_and_promises_all_it_is_worth() -> None:
    battle = new_game(
        army(heroes=[{"name": "Hero", "items": ["Ring of Flame"]}]),
        army(units=[unit("Spears", 10, toughness=3)], dispel_dice=2),
    )
    seen = shown(battle, 0)
    assert seen["own spell 1 open"] == 1.0
    assert "own spell 1 most dice" not in seen
    assert seen["own spell 1 best"] == pytest.approx(seen["own spell 1 worth"])
    assert seen["own spell 1 casting value"] == pytest.approx(3 / 15)


def test_the_item_that_may_keep_dice_is_marked() -> None:
    battle = new_game(
        army(wizard(2, spell(), items=["Dispel Scroll", "Rod of Power"]), power_dice=3), phases=3
    )
    battle.stop()
    assert battle.node == Node.STORE_DICE
    seen = shown(battle, 0)
    assert seen["node store dice"] == 1.0
    declared = [name for name in seen if name.endswith("declared")]
    assert declared == ["own item 2 declared"]
    battle.act(FIRST_DICE + 2)
    assert shown(battle, 0)["own item 2 uses"] == pytest.approx(2 / 4)


def test_the_spells_that_were_drawn_are_marked() -> None:
    """The wizard rolls a 3 and a 5: with these it may swap for the lore's first."""
    battle = new_game(
        army(wizard(4, spell()), {"name": "Anna", "level": 2, "lore": "Fire"}),
        army(units=[unit("Spears")]),
    )
    battle.roll(3, 5)
    assert battle.node == Node.SWAP_SPELL
    seen = shown(battle, 0)
    assert seen["node swap spell"] == 1.0
    pending = [name for name in seen if name.endswith("pending")]
    assert pending == ["own spell 4 pending", "own spell 6 pending"]
    assert [n for n in seen if n.endswith("known")] == [f"own spell {k} known" for k in (1, 4, 6)]


def test_a_loss_is_seen_as_a_loss() -> None:
    """A Comet beside one's own regiment promises less than nothing, within the bounds."""
    field = {"width": 48.0, "depth": 48.0}
    battle = new_game(
        army(
            wizard(4, known("The Comet of Casandora"), position=[24.0, 4.0]),
            units=[unit("Guard", 40, points=50.0, position=[24.0, 20.0])],
        ),
        army(units=[unit("Wolves", 1, points=1.0, position=[24.0, 22.0], facing=180.0)]),
        battlefield=field,
        phases=3,
    )
    for seat in (0, 1):
        Census(Eye(battle.packed_scenarios, seat)).count(battle)
    assert shown(battle, 0)["own spell 1 worth"] < -0.1
    assert shown(battle, 0)["own spell 1 best"] < 0.0


def test_a_spell_is_worth_its_best_aim_that_is_open_from_the_beginning() -> None:
    """The wizard in the unit is the dearest, but out of reach while it stands."""
    battle = skirmish(
        STRIKE, wizards=[wizard(1, name="Foe", unit="Spears", points=500.0, wounds=1)]
    )
    seen = shown(battle, 0)
    assert seen["own spell 1 worth"] == pytest.approx(3.5 * 2 / 3 * 9 / 100)


@pytest.mark.slow
@pytest.mark.parametrize("made", ["Caster-v0'", "Battle-v0', scenario='border-skirmish'"])
def test_uncompiled_code_sees_the_same(made: str) -> None:
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
