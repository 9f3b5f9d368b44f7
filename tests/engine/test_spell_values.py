"""Expected values of spells in victory points: the change of the score by the phase's end."""

from fractions import Fraction as F
from typing import Any

import pytest

from tests.support.builders import Data, Game, aimed, army, game, known, spell, unit, wizard
from wfb_gym.engine.actions import FIRST_TARGET
from wfb_gym.engine.expected_score import change_by_rest
from wfb_gym.engine.spell_values import expected_points, expected_points_at
from wfb_gym.engine.state import Node
from wfb_gym.engine.targets import aim_at

from .enumeration import passing, wounds_of_d6_hits
from .facts import mean_if_all_pass
from .test_shared_hits import SHARING, hero

D6 = {"hits": "D6", "strength": 4}  # wounds Toughness 3 on 3 or more
GENERAL = 100


def fight(foe: Data, *spells: Data, panic: bool = False, **keys: Any) -> Game:
    """Return a wizard with two bolts against an army, for victory points."""
    mage = wizard(4, *(spells or (aimed("Bolt", damage=D6), aimed("Dart", damage=D6))))
    own = keys.pop("own", None) or army(mage, power_dice=9)
    rules = {"scoring": "victory_points", "panic": panic}
    return game(own, {**foe, "dispel_dice": 0}, rules=rules, **{"phases": 4, **keys})


def points_at(battle: Game, spell: str, target: str) -> float:
    code = battle.code(target) - FIRST_TARGET
    index = battle.spell(spell)
    aim = aim_at(battle.packed, battle.mover, index, code)
    return expected_points_at(battle.packed, battle.state, battle.mover, index, aim, 0.0)


def hurt(battle: Game, target: str, wounds: int, spell: str = "Dart") -> Game:
    battle.works(spell, target)
    assert battle.node == Node.ROLL_STRIKE
    battle.resolve(wounds)
    return battle


def check(battle: Game, spell: str, target: str) -> float:
    """Compare the spell's expected value with its mean effect by the phase's end; returns it."""
    estimated_points = points_at(battle, spell, target)
    before = mean_if_all_pass(battle, 0)
    gained = battle.works(spell, target) + mean_if_all_pass(battle, 0) - before
    assert estimated_points == pytest.approx(gained, abs=1e-9)
    return estimated_points


OGRES = unit("Ogres", 6, wounds=3, points=40.0, leadership=7)


@pytest.mark.parametrize("panic", [False, True])
@pytest.mark.parametrize(("target", "keys", "lost", "expects"), [
    # the Ogres lose points only by a Panic test
    (OGRES, {}, 0, "panic"), (OGRES, {}, 2, "panic"), (OGRES, {}, 3, "panic"),
    (unit("Spears", 9, points=7.0, leadership=5), {}, 0, "points"),
    (unit("Spears", 9, points=7.0, leadership=5), {}, 3, "points"),
    (unit("Spears", 9, traits=["immune_to_panic"]), {}, 3, "points"),
    (unit("Spears", 9, fleeing=True), {"status": "fleeing"}, 3, "nothing"),
])  # fmt: skip
def test_the_expected_points_of_a_strike_are_its_mean_effect(
    target: Data, keys: Data, lost: int, panic: bool, expects: str
) -> None:
    name = target["name"]
    captain = hero("Captain", unit=name, leadership=8, general=True, **keys)
    battle = fight(army(units=[target, unit("Bows")], heroes=[captain]), panic=panic)
    if lost:
        hurt(battle, name, lost)
    best = max(points_at(battle, "Bolt", each) for each in (name, "Bows"))
    index = battle.spell("Bolt")
    found = expected_points(battle.packed, battle.state, 0, index, 0.0)
    assert found == pytest.approx(best, abs=1e-9)
    counts = {"panic": panic, "points": True, "nothing": False}[expects]
    assert (check(battle, "Bolt", name) > 0.0) == counts


def test_the_wounds_of_a_giant_of_a_character_and_of_daemons_with_their_general_count() -> None:
    giant = unit("Giant", 1, wounds=4, points=205.0)
    hunter = aimed("Dart", target="enemy_model", damage=D6)
    captain = hero("Captain", unit=None, wounds=3, general=True)
    foe = army(units=[giant, unit("Spears")], heroes=[captain])
    battle = fight(foe, aimed("Bolt", damage=D6), hunter)
    assert check(battle.copy(), "Bolt", "Giant") > 0.0
    hurt(battle, "Captain", 1)
    assert check(battle.copy(), "Bolt", "Captain") > 0.0
    horrors = unit("Horrors", 3, points=13.0, traits=["daemons"])
    focal = {"name": "Focal", "level": 1, "daemon_unit": "Horrors", "general": True}
    gone = sum(chance for wounds, chance in wounds_of_d6_hits(F(2, 3), 3).items() if wounds == 3)
    battle = fight(army(focal, units=[horrors, unit("Bows")]))
    assert check(battle, "Bolt", "Horrors") > gone * GENERAL


@pytest.mark.parametrize(("models", "heroes"), [(1, 2), (3, 1), (4, 2)])
def test_shared_hits_count_for_each_victim(models: int, heroes: int) -> None:
    """Without panic: the loss of a character in a fleeing unit is not counted."""
    who = [hero(f"Hero {k}", wounds=1 + k, general=k == 0) for k in range(heroes)]
    foe = army(units=[unit("Spears", models), unit("Bows")], heroes=who)
    battle = fight(foe, known("Fiery Blast"), spell())
    assert check(battle, "Fiery Blast", "Spears") > 0.0
    while battle.node in SHARING:  # with two hits, one of them on a character
        rest = change_by_rest(battle.packed, battle.state, 0.0)
        assert rest == pytest.approx(battle.mean(), abs=1e-9)
        codes = sorted(battle.outcomes())
        battle.resolve(codes[-1] if battle.node == Node.ROLL_ODD_HIT else codes[0])


@pytest.mark.parametrize("panic", [False, True])
def test_a_caster_who_gains_a_wound_counts_less(panic: bool) -> None:
    hit = {"hits": "1", "strength": 4}
    soul = aimed("Soul", target="enemy_model", damage=hit, gains_wound=True)
    mage = wizard(4, soul, spell(), wounds=3, points=90.0)
    foe = army(units=[unit("Spears", 3)])
    battle = fight(foe, own=army(mage, power_dice=6), panic=panic)
    battle.state.wounds[0, 0] = 1
    flight = (1 - passing(7)) * 18 if panic else 0  # a model of three is lost, 18 points in all
    assert check(battle, "Soul", "Spears") == pytest.approx(2 / 3 * (45 + flight))


def test_healed_wounds_and_rallied_units_are_no_longer_counted() -> None:
    giant = unit("Giant", 1, wounds=4, points=205.0)
    spears = unit("Spears", 9, points=7.0, fleeing=True)
    seer = wizard(1, name="Seer", unit="Spears", points=50.0, status="fleeing", general=True)
    mage = wizard(4, known("Healing Hand"), known("The Oxen Stands"))
    own = army(mage, seer, units=[giant, spears, OGRES], power_dice=6)
    battle = fight(army(units=[unit("Bows")]), own=own, panic=True)
    battle.state.unit_wounds[0, 0] = 1
    battle.state.unit_wounds[0, 2] = 4  # of 18: two models, also if they are healed
    while battle.node == Node.ROLL_RALLY:
        battle.roll(6, 6)
    worth = battle.packed.armies[0].aims[0].worth
    assert check(battle.copy(), "Healing Hand", "Ogres") == 0
    assert check(battle, "Healing Hand", "Giant") == pytest.approx(103 + worth)
    assert check(battle, "The Oxen Stands", "Spears") == 63 + 50 + GENERAL
