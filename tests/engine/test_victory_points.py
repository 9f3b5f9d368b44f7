"""Victory points: the value of each loss, and their sum in the final score."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.builders import Data, Game, aimed, army, game, known, miscast, unit, wizard
from tests.support.builders import spell as plain
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.narrated_battle import NarratedBattle

from .invariants import tally
from .strategies import EFFECTS, GREAT_BOLT, OWN_ITEMS, armies, drop_worths, throw

GENERAL = 100


def battle_for(caster: Data, dispeller: Data, *effects: Data, **keys: Any) -> Game:
    """Return a battle for victory points, without panic by default; a miscast has these effects."""
    house = miscast(*effects)
    rules = {"panic": False, **house["rules"], **keys.pop("rules", {}), "scoring": "victory_points"}
    return game(caster, dispeller, **{**house, **keys, "rules": rules})


HAIL = aimed("Hail", 3, damage={"hits": "2D6", "strength": 10})
MORE = HAIL | {"name": "More"}
GIANT = unit("Giant", 1, wounds=5, points=205.0)
CAPTAIN: Data = {"name": "Captain", "wounds": 3, "points": 85.0}


def bolts(*foes: Data) -> Game:
    units = [foe for foe in foes if "models" in foe]
    heroes = [foe for foe in foes if "models" not in foe]
    enemy = army(units=[*units, unit("Bows")], heroes=heroes, dispel_dice=0)
    spells = HAIL, MORE, HAIL | {"name": "Last"}
    return battle_for(army(wizard(4, *spells), power_dice=8), enemy, phases=4)


def struck(battle: Game, name: str, target: str, wounds: int) -> float:
    """Cast a spell for this many wounds; returns the points."""
    battle.works(name, target)
    assert battle.node == Node.ROLL_STRIKE
    return battle.resolve(wounds)


NINE = unit("Nine", 9, points=7.0)


@pytest.mark.parametrize(("foe", "losses"), [
    (unit("Ten", 10), {5: 0}), (NINE, {6: 32, 3: 63 - 32}), (NINE, {9: 63}),
    (NINE, {4: 0, 1: 32, 3: 0}),  # half of 63 is rounded up
    (unit("Ogres", 4, wounds=3, points=40.0), {8: 0, 1: 80}),  # two models are left of four
    (GIANT, {3: 103, 2: 205 - 103}),  # a lone model counts by its wounds
    (CAPTAIN, {2: 43, 1: 85 - 43}), (CAPTAIN | {"wounds": 4}, {2: 0, 1: 43}),
    (CAPTAIN | {"general": True}, {2: 43, 1: 85 - 43 + GENERAL}),
])  # fmt: skip
def test_points_of_units_and_characters_by_what_is_left(foe: Data, losses: dict[int, int]) -> None:
    battle = bolts(foe)
    for name, (wounds, points) in zip(("Hail", "More", "Last"), losses.items(), strict=False):
        assert struck(battle, name, foe["name"], wounds) == points


def test_units_fleeing_at_the_start_are_already_counted() -> None:
    general = CAPTAIN | {"general": True, "unit": "Nine", "status": "fleeing"}
    battle = bolts(NINE | {"fleeing": True}, general, CAPTAIN | {"name": "Other"})
    assert struck(battle, "Hail", "Nine", 9) == 0
    assert struck(battle, "More", "Captain", 3) == 0
    assert struck(battle, "Last", "Other", 3) == 85


def test_daemons_count_as_their_unit_and_their_general_as_such() -> None:
    pink = unit("Horrors", 4, points=15.0, traits=["daemons"])
    focal = {"name": "Focal", "level": 2, "daemon_unit": "Horrors", "general": True, "spells": []}
    foe = army(focal, units=[pink], dispel_dice=0)
    battle = battle_for(army(wizard(4, HAIL, MORE)), foe, phases=3)
    assert struck(battle, "Hail", "Horrors", 3) == 30
    assert struck(battle, "More", "Horrors", 1) == 30 + GENERAL


@pytest.mark.parametrize(("spell", "target", "left", "points"), [
    ("Healing Hand", "Captain", 1, 43), ("Healing Hand", "Captain", 2, 0),
    ("Healing Hand", "Giant", 2, 103),
    ("Steal Soul", "Spears", 1, 50),  # its caster is lifted above half
])  # fmt: skip
def test_healed_wounds_are_given_back(spell: str, target: str, left: int, points: int) -> None:
    priest = wizard(4, known(spell), plain("Second"), wounds=3, points=100.0)
    own = army(priest, heroes=[CAPTAIN], units=[GIANT])
    battle = battle_for(own, army(units=[unit()]), phases=4)
    if target == "Giant":
        battle.state.unit_wounds[0, 0] = left
    else:
        battle.state.wounds[0, int(target == "Captain")] = left
    gained = battle.works(spell, target)
    if battle.node == Node.ROLL_STRIKE:
        gained += battle.resolve(1)
    assert gained == points


def test_points_that_the_scenario_sets_are_still_paid() -> None:
    """A miscast costs 9 points, and models in contact of no unit count nothing."""
    contact = [{"side": "own", "models": 3, "points": 5.0}]
    effects = {"kind": "base_contact_hit", "strength": 10}, {"kind": "points_lost", "points": 9.0}
    mage = wizard(4, plain("Bolt"), plain("Second", 5, 20.0), base_contact=contact)
    battle = battle_for(army(mage), army(), *effects, phases=3)
    battle.miscast()
    assert battle.roll(*(2, 1, 1) * 3) == -9
    assert battle.state.contacts[0] == 0
    assert battle.works("Second") == 20


def test_wounds_of_a_wizard_without_further_actions_keep_their_points() -> None:
    lord = wizard(1, plain("Bolt"), wounds=5, name="Lord")
    left = {}
    for wounds in range(1, 6):
        battle = battle_for(army(lord, wizard(1, plain("Other"), name="Aide")), army())
        battle.state.wounds[0, 0] = wounds
        battle.works("Bolt")
        left[wounds] = int(battle.state.wounds[0, 0])
    assert left == {1: 1, 2: 1, 3: 3, 4: 3, 5: 3}


HURTS = ("caster_hits", "caster_removed", "other_wizards_wounds", "base_contact_hit", "free_spell")


@pytest.mark.parametrize("panic", [False, True])
@settings(max_examples=5, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    caster=armies(1, True),
    dispeller=armies(1, True),
    phases=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_rewards_of_a_battle_add_up_to_the_final_score(
    panic: bool, caster: Data, dispeller: Data, phases: int, seed: int
) -> None:
    for side in (caster, dispeller):
        drop_worths(side)
        lord = {"name": "Lord", "level": 4, "wounds": 3, "points": 255.0, "leadership": 6}
        lord |= {"unit": "Guard", "general": True, "spells": [GREAT_BOLT, known("Fire Ball")]}
        side["wizards"].append(lord)
        side["units"].append(unit("Guard", 7, points=7.0, leadership=4))
        side.update(power_dice=6, dispel_dice=1)
    effects = [each for each in EFFECTS if each["kind"] in HURTS]
    keys: Data = {"phases": phases, "items": OWN_ITEMS, "rules": {"panic": panic}}
    battle = battle_for(caster, dispeller, *effects, **keys)
    for choose in map(random.Random, range(seed, seed + 2)):
        check_tally(battle.scenario, choose)


def check_tally(scenario: Scenario, choose: random.Random) -> None:
    """Play at random; the points equal the score at every step, and at the end."""
    narrated = NarratedBattle(scenario, pack(scenario))
    begun = tally(narrated.battle.packed, narrated.visible.state)
    while not narrated.battle.is_over:
        if narrated.battle.is_decision():
            legal = narrated.battle.legal_actions()
            narrated.act(choose.choice(legal[1:] if choose.random() < 0.8 else legal))
        else:
            narrated.roll(*throw(narrated.battle, lambda: choose.choice([1, 4, 5, 6])))
        found = tally(narrated.battle.packed, narrated.visible.state) - begun
        assert narrated.battle.points == pytest.approx(found)
