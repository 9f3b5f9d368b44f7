"""Expected values of spells in victory points: the change of the score by the phase's end."""

from fractions import Fraction as F
from typing import Any

import pytest

from tests.support.builders import Data, Game, aimed, army, game, known, spell, unit, wizard
from wfb_gym.engine.actions import FIRST_TARGET
from wfb_gym.engine.spell_values import expected_points, expected_points_at
from wfb_gym.engine.state import Node
from wfb_gym.engine.targets import aim_at

from .enumeration import passing, wounds_of_d6_hits
from .facts import mean_if_all_pass

D6 = {"hits": "D6", "strength": 4}  # wounds Toughness 3 on 3 or more
GENERAL = 100


def fight(foe: Data, *spells: Data, panic: bool = False, **keys: Any) -> Game:
    """Return a wizard with two bolts against an army, for victory points."""
    mage = wizard(4, *(spells or (aimed("Bolt", damage=D6), aimed("Dart", damage=D6))))
    own = keys.pop("own", None) or army(mage, power_dice=9)
    rules = {"scoring": "victory_points", "panic": panic}
    return game(own, {**foe, "dispel_dice": 0}, rules=rules, **{"phases": 4, **keys})


def points_at(battle: Game, spell: str, target: str) -> float:
    """Return the expected points of the mover's spell at the target."""
    code = battle.code(target) - FIRST_TARGET
    index = battle.spell(spell)
    aim = aim_at(battle.packed, battle.mover, index, code)
    return expected_points_at(battle.packed, battle.state, battle.mover, index, aim, 0.0)


def hurt(battle: Game, target: str, wounds: int, spell: str = "Dart") -> Game:
    """Cast the spell for this many wounds."""
    battle.works(spell, target)
    assert battle.node == Node.ROLL_STRIKE
    battle.resolve(wounds)
    return battle


# --- an enumeration of its own ------------------------------------------------------------------


def counted(points: int, left: int, original: int, flees: bool = False) -> int:
    """Return the victory points for a unit."""
    if left == 0 or flees:
        return points
    return (points + 1) // 2 if 2 * left < original else 0


def tally(left: int, began: int, panic: bool, company: int) -> F:
    """Return the expected points for nine models of 7 points, Leadership 6, and characters."""
    points = counted(63, left, 9)
    if not panic or left == 0 or began == left or 4 * (began - left) < began:
        return F(points)
    return points + (1 - passing(6)) * (63 - points + company)


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("panic", [False, True])
@pytest.mark.parametrize("lost", [0, 2, 3, 4])
def test_the_expected_points_of_a_strike_are_the_mean_change_of_the_score(
    lost: int, panic: bool, general: bool
) -> None:
    """Some of nine models fell in the same phase; five protect the wizard among them."""
    seer = wizard(1, name="Seer", unit="Spears", leadership=6, points=50.0, general=general)
    foes = [unit("Spears", 9, points=7.0, leadership=5), unit("Bows")]
    battle = fight(army(seer, units=foes), panic=panic)
    if lost:
        hurt(battle, "Spears", lost)
    company = 50 + GENERAL * general
    left = 9 - lost
    mean = F(0)
    for wounds, chance in wounds_of_d6_hits(F(2, 3), left).items():
        mean += chance * tally(left - wounds, 9, panic, company)
    mean -= tally(left, 9, panic, company)
    assert points_at(battle, "Bolt", "Spears") == pytest.approx(float(mean), abs=1e-9)
    best = max(float(mean), points_at(battle, "Bolt", "Bows"))
    index = battle.spell("Bolt")
    assert expected_points(battle.packed, battle.state, 0, index, 0.0) == pytest.approx(
        best, abs=1e-9
    )


def test_fleeing_units_are_already_counted() -> None:
    battle = fight(army(units=[unit("Spears", 9, fleeing=True), unit("Bows")]), panic=True)
    assert points_at(battle, "Bolt", "Spears") == 0.0
    assert points_at(battle, "Bolt", "Bows") > 0.0


@pytest.mark.parametrize(
    "keys", [{"traits": ["immune_to_panic"]}, {"traits": ["undead"]}, {"fleeing": True}]
)
def test_units_without_panic_tests_expect_no_flight(keys: Data) -> None:
    means = []
    for panic in (False, True):
        battle = fight(army(units=[unit("Spears", 12, **keys), unit("Bows")]), panic=panic)
        means.append(points_at(battle, "Bolt", "Spears"))
    assert means[0] == means[1]


# --- against the engine's own results -----------------------------------------------------------


def check(battle: Game, spell: str, target: str) -> float:
    """Compare the spell's expected value with its mean effect by the phase's end; returns it."""
    estimated_points = points_at(battle, spell, target)
    before = mean_if_all_pass(battle, 0)
    gained = battle.works(spell, target)
    assert estimated_points == pytest.approx(
        gained + mean_if_all_pass(battle, 0) - before, abs=1e-9
    )
    return estimated_points


def hero(name: str = "Hero", wounds: int = 2, **keys: Any) -> Data:
    """Return a hero of 100 points in the Spears."""
    return {"name": name, "wounds": wounds, "points": 100.0, "unit": "Spears", **keys}


@pytest.mark.parametrize("panic", [False, True])
@pytest.mark.parametrize("lost", [0, 2, 3])
def test_the_expected_points_of_a_strike_are_its_mean_effect(lost: int, panic: bool) -> None:
    ogres = unit("Ogres", 6, wounds=3, points=40.0, leadership=7)
    captain = hero("Captain", unit="Ogres", leadership=8, general=True)
    battle = fight(army(units=[ogres, unit("Bows")], heroes=[captain]), panic=panic)
    if lost:
        hurt(battle, "Ogres", lost)
    assert (check(battle, "Bolt", "Ogres") > 0.0) == panic  # only by their test


def test_the_wounds_of_a_giant_and_of_a_character_count() -> None:
    giant = unit("Giant", 1, wounds=4, points=205.0)
    hunter = aimed("Dart", target="enemy_model", damage=D6)
    captain = hero("Captain", unit=None, wounds=3, general=True)
    foe = army(units=[giant, unit("Spears")], heroes=[captain])
    battle = fight(foe, aimed("Bolt", damage=D6), hunter)
    assert check(battle.copy(), "Bolt", "Giant") > 0.0
    hurt(battle, "Captain", 1)
    assert check(battle.copy(), "Bolt", "Captain") > 0.0


@pytest.mark.parametrize("heroes", [1, 2])
@pytest.mark.parametrize("models", [1, 3, 4])
def test_shared_hits_count_for_each_victim(models: int, heroes: int) -> None:
    """Without panic: the loss of a character in a fleeing unit is not counted."""
    who = [hero(f"Hero {k}", wounds=1 + k, general=k == 0) for k in range(heroes)]
    foe = army(units=[unit("Spears", models), unit("Bows")], heroes=who)
    assert check(fight(foe, known("Fiery Blast"), spell()), "Fiery Blast", "Spears") > 0.0


def test_daemons_and_their_general_count_together() -> None:
    horrors = unit("Horrors", 3, points=13.0, traits=["daemons"])
    focal = {"name": "Focal", "level": 1, "daemon_unit": "Horrors", "general": True}
    gone = sum(chance for wounds, chance in wounds_of_d6_hits(F(2, 3), 3).items() if wounds == 3)
    battle = fight(army(focal, units=[horrors, unit("Bows")]))
    assert check(battle, "Bolt", "Horrors") > gone * GENERAL


@pytest.mark.parametrize("panic", [False, True])
def test_a_caster_who_gains_a_wound_counts_less(panic: bool) -> None:
    soul = aimed(
        "Soul", target="enemy_model", damage={"hits": "1", "strength": 4}, gains_wound=True
    )
    mage = wizard(4, soul, spell(), wounds=3, points=90.0)
    foe = army(units=[unit("Spears", 3)])
    battle = fight(foe, own=army(mage, power_dice=6), panic=panic)
    battle.state.wounds[0, 0] = 1
    flight = (1 - passing(7)) * 18 if panic else 0  # a model of three is lost, 18 points in all
    assert check(battle, "Soul", "Spears") == pytest.approx(2 / 3 * (45 + flight))


def test_healed_wounds_are_no_longer_counted() -> None:
    giant = unit("Giant", 1, wounds=4, points=205.0)
    mage = wizard(4, known("Healing Hand"), spell())
    battle = fight(army(units=[unit("Bows")]), own=army(mage, units=[giant], power_dice=6))
    battle.state.unit_wounds[0, 0] = 1
    worth = battle.packed.armies[0].aims[0].worth
    assert check(battle, "Healing Hand", "Giant") == pytest.approx(103 + worth)


def test_rallied_units_are_no_longer_counted() -> None:
    seer = wizard(1, name="Seer", unit="Spears", points=50.0, status="fleeing", general=True)
    own = army(
        wizard(4, known("The Oxen Stands"), spell()),
        seer,
        units=[unit("Spears", 9, points=7.0, fleeing=True)],
        power_dice=6,
    )
    battle = fight(army(units=[unit("Bows")]), own=own, panic=True)
    while battle.node == Node.ROLL_RALLY:
        battle.roll(6, 6)
    assert check(battle, "The Oxen Stands", "Spears") == 63 + 50 + GENERAL
