"""Victory points: the value of each loss, and their sum in the final score."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.builders import (
    Data,
    Game,
    aimed,
    army,
    game,
    known,
    miscast,
    spell,
    unit,
    wizard,
)
from wfb_gym import solver
from wfb_gym.engine.scoring import half_of_unit
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import UNITS
from wfb_gym.transcripts.narrated_battle import NarratedBattle

from .enumeration import wounds_of_d6_hits
from .strategies import EFFECTS, GREAT_BOLT, OWN_ITEMS, armies, drop_worths, throw

GENERAL = 100


def battle_for(caster: Data, dispeller: Data, *effects: Data, **keys: Any) -> Game:
    """Return a battle for victory points, without panic by default; a miscast has these effects."""
    house = miscast(*effects)
    rules = {"panic": False, **house["rules"], **keys.pop("rules", {}), "scoring": "victory_points"}
    return game(caster, dispeller, **{**house, **keys, "rules": rules})


HAIL = aimed("Hail", 3, damage={"hits": "2D6", "strength": 10})
DART = aimed("Dart", 3, target="enemy_model", damage={"hits": "2D6", "strength": 10})
MORE = HAIL | {"name": "More"}
SECOND = spell("Second")
BOWS = unit("Bows")
OGRES = unit("Ogres", 4, wounds=3, points=40.0)
GIANT = unit("Giant", 1, wounds=5, points=205.0)
CAPTAIN: Data = {"name": "Captain", "wounds": 3, "points": 85.0}


def bolts(*foes: Data, characters: Sequence[Data] = ()) -> Game:
    """Return a wizard with spells of many hits against units and heroes."""
    enemy = army(units=[*foes, BOWS], heroes=list(characters), dispel_dice=0)
    return battle_for(army(wizard(4, HAIL, DART, MORE), power_dice=8), enemy, phases=4)


def struck(battle: Game, name: str, target: str, wounds: int) -> float:
    """Cast a spell for this many wounds; returns the points."""
    battle.works(name, target)
    assert battle.node == Node.ROLL_STRIKE
    return battle.resolve(wounds)


# --- units and characters ---------------------------------------------------------------------


def test_a_unit_counts_nothing_down_to_half_of_its_models() -> None:
    battle = bolts(unit("Spears", 10))
    assert struck(battle, "Hail", "Spears", 5) == 0
    assert battle.units_left(1)[0] == 5


def test_a_unit_below_half_of_its_models_counts_half_of_its_points_rounded_up() -> None:
    battle = bolts(unit("Spears", 9, points=7.0))
    assert struck(battle, "Hail", "Spears", 4) == 0
    assert struck(battle, "More", "Spears", 1) == 32  # 63 / 2


@pytest.mark.parametrize("wounds", [6, 9])
def test_a_unit_wiped_out_counts_what_is_not_counted_yet(wounds: int) -> None:
    battle = bolts(unit("Spears", 9, points=7.0))
    assert struck(battle, "Hail", "Spears", wounds) == (32 if wounds == 6 else 63)
    if wounds == 6:
        assert struck(battle, "More", "Spears", 3) == 63 - 32


def test_a_model_counts_until_its_last_wound() -> None:
    battle = bolts(OGRES)
    assert struck(battle, "Hail", "Ogres", 8) == 0  # two models are left of four
    assert struck(battle, "More", "Ogres", 1) == 80


def test_a_lone_model_counts_by_its_wounds() -> None:
    battle = bolts(GIANT)
    assert struck(battle, "Hail", "Giant", 2) == 0
    assert struck(battle, "More", "Giant", 1) == 103
    assert struck(battle, "Dart", "Giant", 2) == 205 - 103


def test_a_character_is_a_unit_of_its_own() -> None:
    battle = bolts(characters=[CAPTAIN])
    assert struck(battle, "Hail", "Captain", 1) == 0
    assert struck(battle, "Dart", "Captain", 1) == 43
    assert struck(battle, "More", "Captain", 1) == 85 - 43


def test_half_of_the_wounds_are_not_below_half() -> None:
    battle = bolts(characters=[CAPTAIN | {"wounds": 2}])
    assert struck(battle, "Hail", "Captain", 1) == 0
    assert struck(battle, "Dart", "Captain", 1) == 85


def test_the_general_slain_counts_a_hundred_more() -> None:
    battle = bolts(characters=[CAPTAIN | {"general": True}])
    assert struck(battle, "Hail", "Captain", 2) == 43
    assert struck(battle, "Dart", "Captain", 1) == 85 - 43 + GENERAL


def test_units_fleeing_at_the_start_are_already_counted() -> None:
    general = CAPTAIN | {"general": True, "unit": "Spears", "status": "fleeing"}
    other = CAPTAIN | {"name": "Other"}
    battle = bolts(unit("Spears", 9, fleeing=True), characters=[general, other])
    assert struck(battle, "Hail", "Spears", 9) == 0
    assert struck(battle, "More", "Captain", 3) == 0
    assert struck(battle, "Dart", "Other", 3) == 85


def test_the_dead_count_nothing() -> None:
    battle = bolts(characters=[CAPTAIN | {"general": True, "status": "dead"}])
    assert battle.points == 0
    assert struck(battle, "Hail", "Bows", 1) == 0


def test_daemons_count_as_their_unit_and_their_general_as_such() -> None:
    pink = unit("Horrors", 4, points=15.0, traits=["daemons"])
    focal = {"name": "Focal", "level": 2, "daemon_unit": "Horrors", "general": True, "spells": []}
    foe = army(focal, units=[pink], dispel_dice=0)
    battle = battle_for(army(wizard(4, HAIL, MORE)), foe, phases=3)
    assert struck(battle, "Hail", "Horrors", 3) == 30
    assert struck(battle, "More", "Horrors", 1) == 30 + GENERAL


# --- losses of other causes, and regained wounds ----------------------------------------------


@pytest.mark.parametrize(
    ("target", "left", "points"), [("Captain", 1, 43), ("Captain", 2, 0), ("Giant", 2, 103)]
)
def test_healed_wounds_are_given_back(target: str, left: int, points: int) -> None:
    priest = wizard(4, known("Healing Hand"), SECOND)
    battle = battle_for(army(priest, heroes=[CAPTAIN], units=[GIANT]), army(), phases=4)
    if target == "Captain":
        battle.state.wounds[0, 1] = left
    else:
        battle.state.unit_wounds[0, 0] = left
    assert battle.works("Healing Hand", target) == points


def test_a_stolen_wound_may_lift_its_thief_above_half() -> None:
    thief = wizard(4, known("Steal Soul"), SECOND, wounds=3, points=100.0)
    battle = battle_for(army(thief), army(units=[unit()]), phases=4)
    battle.state.wounds[0, 0] = 1
    assert struck(battle, "Steal Soul", "Spears", 1) == 50


def test_a_miscast_counts_as_any_loss() -> None:
    lord = wizard(4, spell("Bolt"), SECOND, wounds=3, points=255.0, general=True)
    hit = {"kind": "caster_hit", "strength": 10}
    battle = battle_for(army(lord, power_dice=8), army(), hit, phases=3)
    costs = []
    for name in ("Bolt", "Bolt", "Second"):
        battle.miscast(name)
        costs.append(battle.roll(2, 1, 1))
        battle.state.castable |= 3
    assert costs == [0, -128, -(255 - 128) - GENERAL]
    assert battle.points == sum(costs)


def test_points_lost_by_a_miscast_are_still_paid() -> None:
    lost = {"kind": "points_lost", "points": 9.0}
    assert battle_for(army(wizard(4, spell("Bolt"))), army(), lost).miscast() == -9


def test_models_in_contact_of_no_unit_count_nothing() -> None:
    contact = [{"side": "own", "models": 3, "points": 5.0}]
    mage = wizard(4, spell("Bolt"), SECOND, base_contact=contact)
    battle = battle_for(army(mage), army(), {"kind": "base_contact_hit", "strength": 10})
    battle.miscast()
    assert battle.roll(*(2, 1, 1) * 3) == 0
    assert battle.state.contacts[0] == 0


def test_fixed_worths_are_still_paid() -> None:
    battle = battle_for(army(wizard(4, spell("Bolt", 5, 20.0), SECOND)), army())
    assert battle.works("Bolt") == 20


# --- the last phase ---------------------------------------------------------------------------


def test_models_above_half_that_cannot_be_lost_are_merged() -> None:
    def after(models: int, wounds: int) -> Game:
        ball = known("Fire Ball")
        mages = wizard(4, ball, name="A"), wizard(4, ball, name="B")
        battle = battle_for(army(*mages), army(units=[unit("Spears", models)]))
        battle.works("Fire Ball", wizard=0)
        battle.resolve(wounds)
        return battle

    # of forty models six may still fall, and twenty are half
    assert after(40, 0).key() == after(40, 6).key()
    # of twenty models ten are half: fifteen may come below, sixteen may not
    assert after(20, 4).key() == after(20, 3).key()
    assert after(20, 5).key() != after(20, 4).key()
    # below half, models beyond any loss are one position as well
    assert after(26, 0).units_left(1)[0] == 19


@pytest.mark.parametrize(
    ("models", "wounds", "below_half"),
    [(1, 5, 2), (1, 4, 1), (1, 3, 1), (1, 1, 0), (10, 1, 4), (9, 1, 4), (4, 3, 3), (2, 4, 0)],
)
def test_the_most_wounds_of_a_unit_below_half(models: int, wounds: int, below_half: int) -> None:
    battle = bolts(unit("Foes", models, wounds=wounds))
    assert half_of_unit(battle.packed, 1, 0) == below_half


def test_wounds_of_a_wizard_without_further_actions_keep_their_points() -> None:
    lord = wizard(1, spell("Bolt"), wounds=5, name="Lord")
    left = {}
    for wounds in range(1, 6):
        battle = battle_for(army(lord, wizard(1, spell("Other"), name="Aide")), army())
        battle.state.wounds[0, 0] = wounds
        battle.works("Bolt")
        left[wounds] = int(battle.state.wounds[0, 0])
    assert left == {1: 1, 2: 1, 3: 3, 4: 3, 5: 3}


# --- the tally of a whole battle --------------------------------------------------------------


def tally(scenario: Scenario, state: Any) -> float:
    """Return the victory points of a position, the first army's less the second's, by the file."""
    scores = []
    for army_index, side in enumerate(scenario.armies):
        fleeing = int(state.fleeing[army_index])
        conceded = 0.0
        for index, each in enumerate(side.units):
            wounds = int(state.unit_wounds[army_index, index])
            left, of = math.ceil(wounds / each.wounds), each.models
            if of == 1:
                left, of = wounds, each.wounds
            points = each.points * each.models
            if left == 0 or fleeing >> index & 1:
                conceded += points
            elif left < of / 2:
                conceded += math.ceil(points / 2)
        for index, who in enumerate(side.characters):
            left = int(state.wounds[army_index, index])
            lost = left == 0 or fleeing >> (UNITS + index) & 1
            if lost and who.general:
                conceded += GENERAL
            if getattr(who, "daemon_unit", None) is None:
                half = math.ceil(who.points / 2) if left < who.wounds / 2 else 0
                conceded += who.points if lost else half
        scores.append(conceded)
    return scores[1] - scores[0]


HURTS = ("caster_hits", "caster_removed", "other_wizards_wounds", "base_contact_hit", "free_spell")


@pytest.mark.parametrize("panic", [False, True])
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
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
    begun = tally(scenario, narrated.visible.state)
    while not narrated.battle.is_over:
        if narrated.battle.is_decision():
            legal = narrated.battle.legal_actions()
            narrated.act(choose.choice(legal[1:] if choose.random() < 0.8 else legal))
        else:
            narrated.roll(*throw(narrated.battle, lambda: choose.choice([1, 4, 5, 6])))
        found = tally(scenario, narrated.visible.state) - begun
        assert narrated.battle.points == pytest.approx(found)


# --- an enumeration of its own ----------------------------------------------------------------


class Caster:
    """Return a caster with bolts of 5+ that strike D6 times at units of 10 points a model.

    Args:
        of: models of each unit at the start.
        panic: whether units flee after a failed test against Leadership 7.
        rallies: whether they may rally once, by such a test.
    """

    def __init__(self, of: tuple[int, ...], panic: bool, rallies: bool) -> None:
        self.of = of
        self.flees = 15 / 36 if panic else 0.0
        self.stays = 15 / 36 if rallies else 1.0

    def counted(self, unit: int, models: int) -> int:
        """Return the points counted for a unit that does not flee."""
        points = 10 * self.of[unit]
        return points if models == 0 else (points + 1) // 2 if 2 * models < self.of[unit] else 0

    def flight(self, left: tuple[int, ...]) -> float:
        """Return the mean points of Panic tests."""
        points = 0.0
        for target, models in enumerate(left):
            lost = self.of[target] - models
            if models > 0 and lost > 0 and lost >= self.of[target] / 4:
                stays = self.stays if models >= self.of[target] / 4 else 1.0
                points += self.flees * stays * (10 * self.of[target] - self.counted(target, models))
        return points

    def value(self, dice: int, spells: int, left: tuple[int, ...]) -> float:
        """Return the victory points to come."""
        best = self.flight(left)
        for thrown in range(1, min(dice, 2) + 1 if spells else 1):
            rest = self.value(dice - thrown, spells - 1, left)
            works = 2 / 6 if thrown == 1 else 30 / 36  # 5+, or 5+ on two dice
            for target, models in enumerate(left):
                if models == 0:
                    continue
                value = (1 - works) * rest
                for wounds, chance in wounds_of_d6_hits(F(2, 3), models).items():
                    after = (*left[:target], models - wounds, *left[target + 1 :])
                    gained = self.counted(target, models - wounds) - self.counted(target, models)
                    coming = self.value(dice - thrown, spells - 1, after)
                    value += works * chance * (gained + coming)
                best = max(best, value)
        return best


@pytest.mark.parametrize(
    ("panic", "phases"), [(False, 1), (True, 1), (True, 2)], ids=["steady", "panic", "rally"]
)
def test_the_solver_finds_the_value_of_an_enumeration_of_its_own(panic: bool, phases: int) -> None:
    hit = {"hits": "D6", "strength": 4}  # a 3+ wounds Toughness 3
    spells = [aimed(f"Bolt {k}", 5, damage=hit) for k in range(2)]
    foes = [unit("A", 9, points=10.0), unit("B", 4, points=10.0)]
    battle = battle_for(
        army(wizard(1, *spells), power_dice=4),
        army(units=foes, dispel_dice=0),
        phases=phases,
        rules={"panic": panic},
    )
    expected = Caster((9, 4), panic, phases > 1).value(4, 2, (9, 4))
    assert expected > 0
    assert solver.solve(battle.scenario).value == pytest.approx(expected, abs=1e-9)
