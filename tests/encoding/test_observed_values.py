"""Values of observations, number by number and position by position."""

import re
from dataclasses import replace
from itertools import product
from math import comb
from typing import Any

import pytest

from tests.engine.facts import mean_if_all_pass
from tests.support.builders import Data, Game, aimed, army, known, lasting, spell, unit, wizard
from tests.support.builders import game as new_game
from tests.support.playing import table_of
from wfb_gym.encoding.limits import fit
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_REROLL, FIRST_WIZARD
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.casualties import remove_wizard
from wfb_gym.engine.state import Node
from wfb_gym.scenario.sizes import ARMIES, MAX_POINTS, PHASES, TARGETS

from .test_observe import FREE, Census, Eye

DUEL_SPELLS = [(5, 20), (8, 40), (9, 50), (11, 60)]
BEST = [200 / 216 * 20, 1121 / 1296 * 40, 1108 / 1296 * 50, 6224 / 7776 * 60]
"""With 3, 4, 4 and 5 dice: counted over all rolls, two 1s fail and two 6s succeed."""
MISCAST_COST = 85 * (1 * 5 + 9 * 4 + 5 * 5) / 216
"""A wound costs 85. Hits of Strength 10 (total 2), 4 (8, 9) and 6 (10, 11) on Toughness 3."""
STOPS = (2 + 9 + 9) / 36
"""Totals 3, 5 to 6, 8 to 9."""


def duel_numbers(owner: str, other: str) -> dict[str, float]:
    """The numbers other than 0 of the duel that do not change, for the side of these names."""
    seen = {
        "phases left": 1 / 12, "rule one-turn dispels": 1.0, "rule recast per side": 1.0,
        "miscast stops": STOPS, f"{other} item 1 uses": 0.25, f"{other} item 1 bearer": 1 / 6,
        f"{other} item 1 automatic": 1.0,
    }  # fmt: skip
    for side in (owner, other):
        mage = f"{side} wizard 1"
        seen |= {f"{mage} level": 1.0, f"{mage} wounds": 0.6, f"{mage} can cast": 1.0}
        seen[f"{mage} miscast cost"] = MISCAST_COST / 100
    for i, (value, worth) in enumerate(DUEL_SPELLS, 1):
        seen[f"{owner} spell {i} wizard"] = 1 / 6
        seen[f"{owner} spell {i} casting value"] = value / 15
        seen[f"{owner} spell {i} worth"] = worth / 100
    return seen


def castable(owner: str, most_dice: float, best: dict[int, float]) -> dict[str, float]:
    """Numbers of spells that may be cast, by their best points."""
    seen = {}
    for i, points in best.items():
        seen[f"{owner} spell {i} castable"] = 1.0
        seen[f"{owner} spell {i} most dice"] = most_dice
        seen[f"{owner} spell {i} best"] = points / 100
    return seen


def shown(battle: Battle, seat: int = 0, part: str = "") -> dict[str, float]:
    """Return numbers of an observation other than 0 whose names match, by name."""
    named = Eye(battle.packed_scenarios, seat).named_fields(battle)
    return {name: value for name, value in named.items() if value and re.search(part, name)}


def turned(name: str) -> str:
    """Return a name as the other seat has it."""
    return re.sub("^(own|enemy) ", lambda it: "enemy " if it[1] == "own" else "own ", name)


def for_seat(seat: int, numbers: dict[str, float]) -> dict[str, float]:
    """Return numbers named from the first seat with the names of a seat."""
    return {turned(name) if seat else name: value for name, value in numbers.items()}


def assert_shown(battle: Battle, wanted: dict[str, float], *seats: int) -> None:
    """Assert numbers of observations, named from the first seat, from both seats by default."""
    for seat in seats or (0, 1):
        names = for_seat(seat, wanted)
        seen = Eye(battle.packed_scenarios, seat).named_fields(battle)
        assert {name: seen[name] for name in names} == pytest.approx(names)


def assert_all_shown(battle: Battle, part: str, wanted: dict[str, float]) -> None:
    """Assert all numbers other than 0 whose names match, named from the first seat."""
    for seat in (0, 1):
        seen = shown(battle, seat, turned(part) if seat else part)
        assert seen == pytest.approx(for_seat(seat, wanted))


def test_the_duel_at_the_start_and_at_the_choice_of_dice() -> None:
    battle = Battle(table_of("archmage-duel"))
    seen = duel_numbers("own", "enemy") | {"own phase": 1.0, "own pool": 0.6, "enemy pool": 0.4}
    best = dict(enumerate(BEST, 1))
    wanted = seen | {"node nominate": 1.0} | castable("own", 0.5, best)
    assert shown(battle) == pytest.approx(wanted, rel=1e-6)
    battle.act(FIRST_CAST + 1)
    del best[2]  # nominating a spell uses it up
    wanted = seen | {"node pool dice": 1.0, "own spell 2 pending": 1.0} | castable("own", 0.5, best)
    assert shown(battle) == pytest.approx(wanted, rel=1e-6)


def test_the_duel_at_the_dispel() -> None:
    """Fire Ball is cast with three dice, as 12, against four dispel dice and a scroll."""
    battle = Battle(table_of("archmage-duel"))
    battle.play([FIRST_CAST, FIRST_DICE + 3, (4, 5, 3)])
    best = {2: 178 / 216 * 40, 3: 160 / 216 * 50, 4: 108 / 216 * 60}
    seen = duel_numbers("enemy", "own") | castable("enemy", 0.3, best)
    seen |= {"node dispel": 1.0, "own pool": 0.4, "enemy pool": 0.3, "number to match": 12 / 15}
    assert shown(battle, 1) == pytest.approx(seen | {"enemy spell 1 pending": 1.0}, rel=1e-6)
    battle.act(battle.legal_actions()[-1])
    assert_shown(battle, {"node nominate": 1, "enemy item 1 uses": 0, "enemy pool": 0.4})


def test_spells_in_play_and_their_later_payments() -> None:
    ward = lasting("Ward", 5, 8.0, worth_per_phase=3.0)
    mage = wizard(4, ward, spell("Bolt"))
    battle = new_game(army(mage, power_dice=3), army(wizard(1), dispel_dice=0), phases=4)
    first = {"worth per phase": 0.03, "remains in play": 1, "in play": 0}
    first["best"] = 200 / 216 * (8.0 + 4 * 3.0) / 100
    wanted = {f"own spell 1 {name}": value for name, value in first.items()}
    assert_shown(battle, wanted | {"phases left": 4 / 12})
    battle.cast_with("Ward", 4, 5)
    assert_shown(battle, {"own spell 1 in play": 1, "own spell 1 fresh": 1})
    assert_shown(battle, {"own spell 2 in play": 0})


def test_the_most_points_of_a_spell_are_within_its_bounds() -> None:
    """With two dice, it fails only on two 1s."""
    ward = lasting("Ward", 3, MAX_POINTS, worth_per_phase=MAX_POINTS)
    battle = new_game(army(wizard(4, ward)), army(dispel_dice=0), phases=PHASES)
    wanted = {"own spell 1 best": 35 / 36 * (1 + PHASES) * MAX_POINTS / 100}
    assert_shown(battle, wanted | {"own spell 1 worth": MAX_POINTS / 100})
    Census(Eye(battle.packed_scenarios, 0)).count(battle)


def skirmish(*spells: Any, phases: int = 2, rules: Data | None = None, **enemy: Any) -> Game:
    """A wizard with these spells against two units without dispel dice."""
    return new_game(
        army(wizard(4, *spells, wounds=2), power_dice=12, units=[unit("Guard", 5)]),
        army(units=[unit("Spears", 10), unit("Boyz", 8, points=9.0)], dispel_dice=0, **enemy),
        phases=phases,
        rules=rules or {},
    )


COMET = known("The Comet of Casandora")
STRIKE = aimed("Strike", 5, damage={"hits": "D6", "strength": 4})
FIELD = {"width": 48.0, "depth": 48.0}


def test_the_chosen_target_has_its_expected_points() -> None:
    """3.5 hits that wound with probability 2/3, at 6 and 9 points a model."""
    battle = skirmish(STRIKE, aimed("Hex", 5, worth={"points": 4.0}))
    units = {"own unit 1 wounds": 5 / 20, "enemy unit 1 wounds": 10 / 20}
    units |= {"enemy unit 2 wounds": 8 / 20, "enemy unit 2 wounds each": 0.2}
    assert_shown(battle, units | {"enemy unit 2 points": 0.09})
    battle.nominate("Strike")
    assert_shown(battle, {"node target": 1, "own spell 1 pending": 1})
    spears, boyz = (3.5 * 2 / 3 * points / 100 for points in (6, 9))
    expected = {"enemy unit 1 expected points": spears, "enemy unit 2 expected points": boyz}
    assert shown(battle, 0, "expected points|aimed at") == pytest.approx(expected)
    battle.aim("Boyz")
    assert battle.node == Node.POOL_DICE
    wanted = {"enemy unit 2 aimed at": 1.0, "enemy unit 2 expected points": boyz}
    assert_all_shown(battle, "aimed at|expected points", wanted)


def test_targets_of_spells_at_models_and_of_spells_in_play() -> None:
    worth = {"points": 1.0, "points_per_phase": 3.0}
    doom = aimed("Doom", 5, duration="remains_in_play", worth=worth)
    sting = aimed("Sting", 5, target="enemy_model", worth={"points": 7.0})
    battle = skirmish(doom, sting, phases=4, heroes=[{"name": "Hero", "unit": "Boyz"}])
    twin = battle.copy()
    twin.nominate("Doom")
    assert_shown(twin, {"enemy unit 1 expected points": (1.0 + 4 * 3.0) / 100}, 0)
    battle.works("Doom", "Boyz")
    assert_shown(battle, {"own spell 1 lies on": (1 + TARGETS + 1) / (1 + ARMIES * TARGETS)})
    battle.nominate("Sting")
    assert_shown(battle, {"enemy wizard 1 expected points": 0.07}, 0)
    battle.aim("Hero")
    assert_shown(battle, {"enemy wizard 1 aimed at": 1})


def free_spell() -> Game:
    """The Foe chooses the free spell of a miscast."""
    battle = new_game(
        army(wizard(4, STRIKE), units=[unit("Guard", 5), unit("Cooks", 3)], power_dice=9),
        army(wizard(4, STRIKE, name="Foe"), units=[unit("Spears"), unit("Boyz")], dispel_dice=3),
        **FREE,
    )
    battle.nominate("Strike")
    battle.aim("Spears")
    battle.play([FIRST_DICE + 2, (1, 1), (3, 4)])
    assert battle.node == Node.FREE_SPELL
    return battle


def test_the_target_of_a_free_spell_is_half_one() -> None:
    battle = free_spell()
    seen = shown(battle, 1)
    assert 0.0 < seen["own spell 1 at unit 2"] < seen["own spell 1 at unit 1"]
    battle.act(FIRST_CAST)
    assert battle.node == Node.TARGET
    seen = shown(battle, 1)
    assert not any("aimed at" in name for name in seen)  # the miscast spell is lost
    assert seen["node target"] == seen["own spell 1 pending"] == seen["enemy spell 1 pending"] == 1
    guard, cooks = (seen[f"enemy unit {k} expected points"] for k in (1, 2))
    assert 0.0 < cooks < guard  # three models, five
    battle.aim("Guard")
    assert battle.node == Node.DISPEL
    assert_shown(battle, {"own unit 1 aimed at": 0.5})


def test_marks_are_seen_bit_by_bit() -> None:
    once = aimed("Curse", 5, once=True, worth={"points": 5.0})
    mages = wizard(4, once, spell()), wizard(4, once, name="Second")
    foes = army(units=[unit("Spears"), unit("Boyz")], dispel_dice=0)
    battle = new_game(army(*mages, power_dice=12), foes, phases=2)
    assert_shown(battle, {"own mark 1": 0})
    battle.works("Curse", "Boyz", wizard=0)
    assert_shown(battle, {"own mark 1": 2 / 65535})
    battle.nominate("Curse", wizard=1)  # only the Spears can be cursed
    battle.play([FIRST_DICE + 2, (6, 6)])
    assert_shown(battle, {"own mark 1": 3 / 65535})


def test_markers_of_a_comet_are_seen_with_its_wizard() -> None:
    battle = skirmish(COMET, STRIKE, phases=3)
    names = "in play", "remains in play", "lasts one turn", "lands later"
    comet = dict(zip([f"own spell 1 {name}" for name in names], (0.0, 0.0, 0.0, 1.0), strict=True))
    assert_shown(battle, comet | {"own wizard 1 markers": 0, "own spell 2 lands later": 0})
    battle.works("The Comet of Casandora", "Boyz")
    assert_shown(battle, comet | {"own wizard 1 markers": 1 / 12, "own spell 1 in play": 1})
    plain = skirmish(STRIKE, phases=3)
    assert "own spell 1 lands later" not in Eye(plain.packed_scenarios, 0).named_fields(plain)


def test_a_comet_is_worth_its_expected_points_in_the_remaining_phases() -> None:
    """It lands at the first start with probability 1/2, at the second with 1/4, and so on."""
    hits = [0] * 13
    for one, other in product(range(1, 7), repeat=2):
        hits[one + other] += 1
    wounds = sum(  # of eight Boyz at 9 points; 2D6 hits, each wounds on 3+
        count_of_rolls / 36 * comb(n, k) * (2 / 3) ** k * (1 / 3) ** (n - k) * min(8, k)
        for n, count_of_rolls in enumerate(hits)
        for k in range(n + 1)
    )
    dearest = wounds * 9 / 100
    for left, chance in ((1, 0.0), (2, 1 / 2), (3, 3 / 4), (4, 7 / 8)):
        battle = skirmish(COMET, phases=left)
        assert_shown(battle, {"own spell 1 worth": chance * dearest})
        assert ("own spell 1 best" in shown(battle)) == (left > 1)
        battle.nominate("The Comet of Casandora")
        assert_shown(battle, {"enemy unit 2 expected points": chance * dearest}, 0)
    battle.aim("Boyz")
    battle.play([FIRST_DICE + 2, (6, 6)])
    battle.roll(1)  # another marker, and two phases left
    assert_shown(battle, {"own spell 1 worth": 3 / 4 * dearest})


def test_a_comet_lies_on_no_target() -> None:
    foes = [unit(f"{x}", 20, position=[x, 30.0], facing=180.0) for x in (16.0, 28.0)]
    curse = aimed("Curse", duration="remains_in_play", worth={"points_per_phase": 1.0})
    mage = wizard(4, COMET, curse, position=[24.0, 4.0])
    battle = new_game(army(mage), army(units=foes), battlefield=FIELD, phases=3)
    battle.nominate(COMET["name"])
    battle.act(battle.legal_actions()[0])
    battle.play([FIRST_DICE + 4, (6, 6, 2, 3)])
    assert_shown(battle, {"own spell 1 in play": 1, "own spell 1 lies on": 0}, 0)


def test_expected_victory_points_of_a_comet_are_without_flight() -> None:
    """Panic tests belong to the phase in which it lands."""

    def begin(panic: bool) -> Game:
        rules = {"scoring": "victory_points", "panic": panic}
        foes = army(units=[unit("Boyz", 20)])
        return new_game(army(wizard(4, COMET)), foes, phases=2, rules=rules)

    battle = begin(panic=False)
    battle.works(COMET["name"], "Boyz")
    expected = mean_if_all_pass(battle)
    assert expected > 0.0
    for panic in (False, True):
        being_cast, in_play = begin(panic), begin(panic)
        being_cast.nominate(COMET["name"])
        being_cast.aim("Boyz")
        in_play.works(COMET["name"], "Boyz")
        for each in (being_cast, in_play):
            assert_shown(each, {"own spell 1 worth": expected / 100})


def test_flight_and_the_losses_until_a_panic_test_are_observed() -> None:
    blast = {"hits": "2D6", "strength": 4}
    mage = wizard(4, aimed("Blast", damage=blast), aimed("Strike", damage=blast))
    seer = wizard(2, aimed("Dart", damage=blast), name="Seer", unit="Spears", leadership=9)
    adept = wizard(1, aimed("Arrow", damage=blast), name="Adept")
    spears = unit("Spears", 40, leadership=6)
    foe = army(seer, adept, units=[spears, unit("Bows", 20)], dispel_dice=0)
    battle = new_game(army(mage), foe, phases=3)

    part = "enemy (wizard 1|unit [12]) (flees|can cast|leadership|models)"
    untested = {"enemy unit 1 leadership": 0.9, "enemy unit 2 leadership": 0.7}
    start = {**untested, "enemy unit 1 models at start": 2.0, "enemy wizard 1 can cast": 1.0}
    assert shown(battle, 0, part) == pytest.approx({**start, "enemy unit 1 models until test": 0.5})
    battle.works("Blast", "Spears")
    battle.resolve(4)
    assert shown(battle, 0, part) == pytest.approx({**start, "enemy unit 1 models until test": 0.3})
    battle.works("Strike", "Spears")  # which is the last one
    battle.resolve(6)
    battle.roll(5, 5)  # they panic
    battle.roll(5, 5)  # and flee on
    assert battle.state.phase == 1
    fled = {**untested, "enemy unit 1 flees": 1.0, "enemy wizard 1 flees": 1.0}
    assert_all_shown(battle, part, fled)


def test_a_bound_spell_needs_no_dice_and_has_its_full_points() -> None:
    hero = {"name": "Hero", "items": ["Ring of Flame"]}
    battle = new_game(army(heroes=[hero]), army(units=[unit()], dispel_dice=2))
    best = shown(battle)["own spell 1 worth"]
    assert_shown(battle, {"own spell 1 best": best, "own spell 1 casting value": 3 / 15})
    assert_shown(battle, {"own spell 1 castable": 1, "own spell 1 most dice": 0})


def test_the_number_to_dispel_may_be_negative() -> None:
    """A declared re-roll keeps its bonus, here 12, for the roll: 8 less 12."""
    way = {"of": "dispel", "dice": "one", "changes_natural": False}
    names, keys = ("Charm", "Amulet"), {"reroll": way, "when_dispelling": {"bonus": 12}}
    foe = army(dispel_dice=4, items=names)
    items = [{"name": name, "uses": 1, **keys} for name in names]
    battle = new_game(army(wizard(4, spell("Bolt", 8), spell("Second"))), foe, items=items)
    battle.cast_with("Bolt", 4, 4)
    for name in names:
        battle.use(name)
    battle.dispel(2, 3)
    battle.play([FIRST_REROLL + 1, (2,)])
    assert battle.node == Node.KEEP_DISPEL
    assert_shown(battle, {"number to match": (8 - 12) / 15})
    Census(Eye(battle.packed_scenarios, 1)).count(battle)  # all within their bounds


def test_uses_that_help_a_dispel_are_counted() -> None:
    charm = {"name": "Charm", "uses": 1, "when_dispelling": {"bonus": 1}}
    battle = new_game(army(wizard(4, spell("Bolt", 8))), army(items=["Charm"] * 3), items=[charm])
    battle.cast_with("Bolt", 4, 4)
    for uses in (1, 2):
        battle.use("Charm")
        assert_shown(battle, {"enemy item 1 declared": uses, "enemy item 1 uses": (3 - uses) / 4})


def test_the_item_that_may_keep_dice_is_marked() -> None:
    mage = wizard(2, spell(), items=["Dispel Scroll", "Rod of Power"])
    battle = new_game(army(mage, power_dice=3), phases=3)
    battle.stop()
    assert battle.node == Node.STORE_DICE
    assert_shown(battle, {"node store dice": 1})
    assert_all_shown(battle, "declared", {"own item 2 declared": 1.0})
    battle.act(FIRST_DICE + 2)
    assert_shown(battle, {"own item 2 uses": 2 / 4})


def test_the_spells_that_were_drawn_are_marked() -> None:
    """The wizard rolls 3 and 5: it may swap one of them for the lore's first spell."""
    anna = {"name": "Anna", "level": 2, "lore": "Fire"}
    battle = new_game(army(wizard(4, spell()), anna), army(units=[unit()]))
    battle.roll(3, 5)
    assert battle.node == Node.SWAP_SPELL
    assert_shown(battle, {"node swap spell": 1})
    assert_all_shown(battle, "pending", {f"own spell {k} pending": 1.0 for k in (4, 6)})
    assert_all_shown(battle, "known", {f"own spell {k} known": 1.0 for k in (1, 4, 6)})
    seen = shown(battle)
    at = [f"own spell {k} at unit 1" for k in range(1, 8) if f"own spell {k} worth" in seen]
    assert [name for name in seen if name.endswith("at unit 1")] == at[1:]


def test_the_points_of_a_comet_and_their_expected_points() -> None:
    boyz = unit("Boyz", 20, position=[16.0, 30.0], facing=180.0, points=9.0)
    mob = unit("Mob", 20, position=[28.0, 30.0], facing=180.0)
    caster = army(wizard(4, COMET, position=[24.0, 4.0], points=0.0), power_dice=9)
    battle = new_game(caster, army(units=[boyz, mob]), battlefield=FIELD, phases=3)
    aims = battle.packed.armies[0].aims
    count = int(battle.packed.armies[0].n_points)
    assert count > 3
    expected_points = [float(aims[k].expected_points) / 100 for k in range(count)]
    for nominated in (False, True):
        if nominated:
            battle.nominate("The Comet of Casandora")
        wanted = {f"comet at point {k + 1}": expected_points[k] for k in range(count)}
        assert shown(battle, 0, "comet") == pytest.approx(wanted)
        assert not shown(battle, 1, "comet")
    battle.act(battle.legal_actions()[2])
    for node in (Node.POOL_DICE, Node.ROLL_COMET):
        assert battle.node == node
        wanted = {"own wizard 1 comet point": 3 / 64, "own spell 1 worth": expected_points[2]}
        assert_shown(battle, wanted)
        assert not shown(battle, 0, "^comet at") | shown(battle, 1, "^comet at")
        if node == Node.POOL_DICE:
            battle.play([FIRST_DICE + 2, (6, 6)])


def test_an_expected_loss_is_negative() -> None:
    """A Comet that also hits one's own regiment has an expected loss, within the bounds."""
    guard = unit("Guard", 40, points=50.0, position=[5.0, 8.0])
    wolves = unit("Wolves", 1, points=1.0, position=[5.0, 9.0], facing=180.0)
    own = army(wizard(4, COMET, position=[9.0, 1.0]), units=[guard])
    table = {"width": 10.0, "depth": 10.0}
    battle = new_game(own, army(units=[wolves]), battlefield=table, phases=3)
    for seat in (0, 1):
        Census(Eye(battle.packed_scenarios, seat)).count(battle)
    assert shown(battle)["own spell 1 worth"] < -0.1
    assert shown(battle)["own spell 1 best"] < 0.0


def test_a_spell_is_worth_its_best_initially_legal_aim() -> None:
    """The wizard in the unit is worth most, but no legal target while the unit exists."""
    dear = wizard(1, name="Foe", unit="Spears", points=500.0, wounds=1)
    battle = skirmish(STRIKE, wizards=[dear])
    assert_shown(battle, {"own spell 1 worth": 3.5 * 2 / 3 * 9 / 100})


@pytest.mark.parametrize("value", [False, True])
def test_switches_of_the_rules_are_seen(value: bool) -> None:
    keys = {"own_dice": "own dice", "dispel_double_six": "double six"}
    keys |= {"reroll_all_dice": "re-roll all"}
    rules: dict[str, Any] = dict.fromkeys(keys, value)
    for key, name in keys.items():
        only = new_game(army(wizard(2, spell())), rules=rules | {key: not value})
        wanted = {f"rule {each}": float(value ^ (each == name)) for each in keys.values()}
        assert_shown(only, wanted)
    battle = new_game(army(wizard(4, STRIKE)), army(units=[unit()]), rules={"panic": value})
    limits = replace(fit(battle.packed_scenarios, 0), panic=True)
    assert Eye(battle.packed_scenarios, 0, limits).named_fields(battle)["rule panic"] == value


EVERY_DIE = {"dice": 2, "check": True, "either_phase": True}
POWERS = [
    ({"uses": 1, "when_casting": {"bonus": 1}}, {"helps casts": 1.0, "bonus": 1 / 5}),
    ({"uses": 1, "when_dispelling": {"bonus": 1}}, {"helps dispels": 1.0, "bonus": 1 / 5}),
    ({"dispel_bonus": 2}, {"lasting bonus": 2 / 5}),
    ({"uses": 1, "reroll": {"of": "both", "changes_natural": True}},
     {"helps casts": 1.0, "helps dispels": 1.0, "changes natural": 1.0, "re-roll": 0.5}),
    ({"uses": 1, "reroll": {"of": "cast"}}, {"helps casts": 1.0, "re-roll": 0.5}),
    ({"uses": 1, "reroll": {"of": "both", "dice": "all"}},
     {"helps casts": 1.0, "helps dispels": 1.0, "re-roll": 1.0}),
    ({"uses": 1, "when_casting": {"bonus": 1, "irresistible": False}, "ends_own_spells": True},
     {"helps casts": 1.0, "bonus": 1 / 5, "not irresistible": 1.0, "ends own spells": 1.0}),
    ({"uses": 1, "when_casting": {"extra_dice": 1}, "stores_dice": True},
     {"helps casts": 1.0, "extra dice": 0.1, "holds dice": 1.0}),
    ({"uses": 1, "when_dispelling": {"automatic": True}}, {}),
    ({"uses": 1, "when_dispelling": {"automatic": True, "forgotten_on": 4}}, {"forgotten": 0.5}),
    ({"power_dice": 1, "dispel_dice": 2}, {"power dice": 0.1, "dispel dice": 0.2}),
    ({"takes_power_dice": 3}, {"takes power": 0.3}),
    ({"stores": {"dice": 3}}, {"keeps": 0.3}),
    ({"stores": EVERY_DIE}, {"keeps": 0.2, "keeps on a roll": 1.0, "keeps of any phase": 1.0}),
]  # fmt: skip
"""Observed powers of items, in a scenario with an unusual item."""
NAMES_OF_POWERS = (
    "helps casts", "helps dispels", "not irresistible", "changes natural", "ends own spells",
    "holds dice", "forgotten", "power dice", "dispel dice", "takes power", "keeps",
    "keeps on a roll", "keeps of any phase", "re-roll", "bonus", "lasting bonus", "extra dice",
)  # fmt: skip


@pytest.mark.parametrize(("item", "powers_seen"), POWERS)
def test_unusual_items_are_distinguished(item: Data, powers_seen: dict[str, float]) -> None:
    staff, thing = wizard(3, spell(), items=["Starwood Staff"]), wizard(2, items=["Thing"])
    battle = new_game(army(staff), army(thing), items=[{"name": "Thing", **item}])
    part = f"enemy item 1 ({'|'.join(NAMES_OF_POWERS)})$"
    wanted = {f"enemy item 1 {name}": value for name, value in powers_seen.items()}
    assert_all_shown(battle, part, wanted)


def test_bonuses_and_doubles_of_a_caster_are_seen() -> None:
    staff = wizard(3, spell(), items=["Starwood Staff"])
    book = wizard(3, spell(), items=["Book of Hoeth"], name="Second")
    battle = new_game(army(staff, book, power_dice=3))
    wanted = {"own wizard 1 cast bonus": 1 / 5, "own wizard 2 any double": 1.0}
    assert_all_shown(battle, "(bonus|double)$", wanted)


def chance_to_cast(dice: int, value: int, *, sixes: bool = True) -> float:
    """Counted over all rolls: two 1s fail, two 6s succeed if they may, 1 and 2 are never enough."""
    rolls, good = list(product(range(1, 7), repeat=dice)), 0
    for roll in rolls:
        succeeds = (sixes and roll.count(6) > 1) or sum(roll) >= max(value, 3)
        good += succeeds and roll.count(1) < 2
    return good / len(rolls)


def test_best_counts_lasting_bonuses_and_with_an_item_its_dice_bonus_and_restriction() -> None:
    """With one die available the stone makes three; two 6s and a 1 do not reach 14 then."""
    items = [
        {"name": "Stone", "uses": 1, "when_casting": {"extra_dice": 2, "irresistible": False}},
        {"name": "Charm", "uses": 1, "when_casting": {"bonus": 1}},
        {"name": "Staff", "cast_bonus": 2},
        {"name": "Curse", "cast_bonus": -1},
    ]
    stone = chance_to_cast(3, 14, sixes=False)
    assert stone < chance_to_cast(3, 14)
    rows = [  # casting value, items, chances without and with the item
        (14, ["Stone"], 0, stone), (5, ["Charm"], 2 / 6, 3 / 6), (5, [], 2 / 6, 2 / 6),
        (9, ["Staff", "Charm"], 0, 1 / 6), (3, ["Curse"], 3 / 6, 3 / 6),
        (5, ["Curse", "Charm"], 1 / 6, 2 / 6),
    ]  # fmt: skip
    mages, wanted = [], {}
    for k, (value, carried, chance, with_item) in enumerate(rows, start=1):
        mages.append(wizard(2, spell(f"Bolt {k}", value, 20.0), items=carried, name=f"Mage {k}"))
        wanted[f"own spell {k} best"], wanted[f"own spell {k} best with item"] = chance, with_item
    best = shown(new_game(army(*mages, power_dice=1), items=items), 0, " best")
    assert best == pytest.approx({name: p * 0.2 for name, p in wanted.items() if p})


def test_expected_points_are_victory_points_under_that_scoring() -> None:
    """Five of ten Spears are left: the next loss counts half of 60 points, the rest nothing."""
    battle = skirmish(STRIKE, rules={"scoring": "victory_points", "panic": False})
    battle.state.unit_wounds[1, 0] = 5
    none = sum((1 / 3) ** hits for hits in range(1, 7)) / 6
    five = (2 / 3) ** 5 / 6  # 5 or 6 of as many hits
    five += ((2 / 3) ** 6 + 6 * (2 / 3) ** 5 / 3) / 6
    spears, boyz = (30 * (1 - none) + 30 * five) / 100, 36 * five / 100
    assert_shown(battle, {"own spell 1 at unit 1": spears, "own spell 1 at unit 2": boyz}, 0)
    battle.nominate("Strike")
    wanted = {"enemy unit 1 expected points": spears, "enemy unit 2 expected points": boyz}
    assert shown(battle, 0, "expected points") == pytest.approx(wanted)


def test_victory_points_are_observed_with_the_losses_until_half() -> None:
    mage = wizard(4, STRIKE, points=90.0, wounds=2, general=True)
    hero = {"name": "Hero", "points": 85.0, "wounds": 3}
    units = [unit("Spears", 10), unit("Boyz", 8, points=9.0)]
    own = army(mage, power_dice=12, units=[unit("Giant", 1, wounds=6, points=205.0)])
    foes = army(heroes=[hero], units=units, dispel_dice=0)
    battle = new_game(own, foes, rules={"scoring": "victory_points"}, phases=2)
    part = "counted|until half|rule v"
    before = {
        "rule victory points": 1.0,
        "own wizard 1 counted if lost": 1.9,  # the general counts a hundred more
        "own unit 1 counted if lost": 2.05, "own unit 1 wounds until half": 4 / 20,
        "enemy wizard 1 counted if lost": 0.85, "enemy wizard 1 wounds until half": 2 / 5,
        "enemy unit 1 counted if lost": 0.6, "enemy unit 1 wounds until half": 6 / 20,
        "enemy unit 2 counted if lost": 0.72, "enemy unit 2 wounds until half": 5 / 20,
    }  # fmt: skip
    assert_all_shown(battle, part, before)
    battle.works("Strike", "Spears")
    battle.roll(6, *(6, 1, 1) * 6)
    after = before | {"enemy unit 1 counted": 0.3}
    del after["enemy unit 1 wounds until half"]
    assert_all_shown(battle, part, after)


def test_each_spell_has_its_expected_points_at_each_target() -> None:
    """3.5 hits that wound with probability 2/3; the Doom pays for both phases."""
    doom = aimed("Doom", 5, duration="remains_in_play", worth={"points_per_phase": 3.0})
    ward = aimed("Ward", 5, target="friendly_unit", worth={"points": 4.0})
    sting = aimed("Sting", 5, target="enemy_model", worth={"points": 7.0})
    battle = skirmish(STRIKE, doom, ward, sting, heroes=[{"name": "Hero", "unit": "Boyz"}])

    part = " at (unit|wizard) "
    strike = {f"unit {k}": 3.5 * 2 / 3 * worth / 100 for k, worth in ((1, 6.0), (2, 9.0))}
    wanted = {f"own spell 1 at {name}": worth for name, worth in strike.items()}
    wanted |= {f"own spell 2 at unit {k}": 0.06 for k in (1, 2)}
    wanted |= {f"own spell 3 at {name} 1": 0.04 for name in ("unit", "wizard")}
    wanted |= {f"own spell 4 at {name}": 0.07 for name in ("unit 1", "unit 2", "wizard 1")}
    assert shown(battle, 0, part) == pytest.approx(wanted)
    assert shown(battle, 1, part) == {}  # it has nothing to choose from
    assert [*shown(battle, 0, "for friends")] == ["own spell 3 for friends"]
    battle.works("Doom", "Boyz")
    spent = {name: worth for name, worth in wanted.items() if "spell 2" not in name}
    assert shown(battle, 0, part) == pytest.approx(spent)
    battle.nominate("Strike")
    assert shown(battle, 0, part) == {}  # the spell is chosen
    battle.aim("Boyz")
    battle.play([FIRST_DICE + 1, (1,)])
    left = {name: worth for name, worth in spent.items() if "spell 1" not in name}
    assert shown(battle, 0, part) == pytest.approx(left)


def test_a_removed_target_has_no_expected_points() -> None:
    sting = aimed("Sting", 5, worth={"points": 7.0})
    foe = wizard(1, name="Foe", unit="Spears")
    foes = army(foe, units=[unit("Spears", 5), unit("Boyz")], dispel_dice=0)
    battle = new_game(army(wizard(4, STRIKE, sting), power_dice=12), foes)
    part = "own spell 2 at "
    assert {*shown(battle, 0, part)} == {"own spell 2 at unit 1", "own spell 2 at unit 2"}
    battle.works("Strike", "Spears")
    battle.roll(5, *(6, 1, 1) * 5)
    after = {"own spell 2 at wizard 1", "own spell 2 at unit 2"}  # out of the unit now
    assert {*shown(battle, 0, part)} == after


def test_a_miscast_row_is_observed_with_its_completed_effects() -> None:
    """Points are lost, then the enemy may cast a free spell, which own dice may answer."""
    mage = wizard(2, spell("Bolt"), spell("Second", 8), items=["Jewel of the Dusk"])
    foe = wizard(2, spell("Curse", 5, 5.0), name="Foe")
    battle = new_game(army(mage, power_dice=5), army(foe, dispel_dice=3), **FREE)
    battle.miscast()
    assert battle.node == Node.FREE_SPELL
    assert_shown(battle, {"miscast row": 1 / 12, "effect": 1 / 12})
    battle.nominate("Curse")
    assert_shown(battle, {"dispelling free": 1})
    battle.act(FIRST_WIZARD)
    assert battle.node == Node.DISPEL_POOL  # there is one die of its own, which must join
    assert_shown(battle, {"own wizard 1 joins": 1})


def cast_with_charm(*faces: int, **charm: Any) -> Game:
    """Roll three dice for a spell whose caster may roll one of them again."""
    item = {"name": "Charm", "uses": 2, "reroll": {"dice": "one", "of": "cast", **charm}}
    battle = new_game(
        army(wizard(3, spell("Bolt", 12), items=["Charm"]), power_dice=3), army(wizard(1)),
        items=[item], rules={"reroll_all_dice": False},
    )  # fmt: skip
    battle.cast_with("Bolt", *faces)
    return battle


def test_faces_are_observed_if_a_re_roll_is_possible() -> None:
    """After the re-roll, with the natural dice if they can still miscast."""
    battle = cast_with_charm(2, 2, 5)
    assert battle.node == Node.KEEP_CASTING
    assert_shown(battle, {"natural dice": 0, "faces 1": 0, "faces 2": 0.2, "faces 5": 0.1})
    battle.act(FIRST_REROLL + 1)
    battle.roll(3)
    assert battle.node == Node.KEEP_CASTING
    assert_shown(battle, {"held 3": 0.1, "faces 2": 0.1})
    assert_shown(cast_with_charm(1, 1, 5, changes_natural=True), {"natural dice": 1 / 3})


def test_hidden_items_of_a_lost_bearer_are_gone() -> None:
    reader = {"items": ["Dispel Scroll"], "bearer": "Reader", "weight": 3.0}
    answers = army(wizard(2, name="Reader"), hidden=[{"items": [], "weight": 1.0}, reader])
    battle = new_game(army(wizard(3, spell())), answers)
    battle.resolve(1)
    assert_shown(battle, {"enemy item 1 uses": 0.25, "enemy item 1 shown": 0})
    remove_wizard(battle.packed, battle.state, 1, 0)
    assert_shown(battle, {"enemy item 1 uses": 0})
