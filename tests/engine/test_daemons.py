"""Units of Daemons that cast: the unit is the wizard, one named model is its focal point."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, miscast, spell, unit, wizard
from wfb_gym.engine.state import Node

from .facts import check


def daemons(models: int = 12, wounds: int = 1, **focal: Any) -> Data:
    pink = unit("Horrors", models, wounds=wounds, points=15.0, traits=["daemons"])
    return army({"name": "Focal", "level": 2, "daemon_unit": "Horrors", **focal}, units=[pink])


def horrors(
    *effects: Data, models: int = 12, wounds: int = 1, phases: int = 4, spells: Any = None
) -> Game:
    """Return a battle of Horrors of level 2 with given effects of a miscast."""
    side = daemons(models, wounds, spells=spells or [spell("Bolt"), spell("Second")])
    return game(side, army(units=[unit()]), phases=phases, **miscast(*effects))


def test_the_focal_model_has_the_points_of_a_model_of_its_unit() -> None:
    assert horrors(wounds=2).packed.armies[0].wizards[0].points_per_wound == 15.0 / 2


def test_the_unit_makes_the_dice_of_a_wizard_of_its_level() -> None:
    battle = horrors()
    assert battle.state.power == 2 + 2
    battle.nominate("Bolt")
    assert battle.most_dice() == 3
    rival = game(army(wizard(1, spell())), daemons(level=3, spells=[spell("X")]), phases=2)
    assert rival.state.dispel == 2 + 2


@pytest.mark.parametrize(
    ("effect", "keys", "chance", "faces", "models"),
    [
        # Strength 4 on Toughness 3 without a save
        ("caster_hit", {"strength": 4}, 2 / 3, (3, 6, 1), 1),
        ("caster_wounds", {"dice": "D3"}, 1 / 3, (5,), 3),
        # the two others of three
        ("base_contact_hit", {"strength": 10}, 10 / 36, (2, 1, 1) * 2, 2),
    ],
)
def test_a_hit_on_the_caster_and_on_those_in_contact_costs_the_unit_models(
    effect: str, keys: Data, chance: float, faces: tuple[int, ...], models: int
) -> None:
    battle = horrors({"kind": effect, **keys}, models=3 if models == 2 else 12)
    before = battle.units_left(0)[0]
    battle.miscast()
    assert battle.outcomes()[1] == pytest.approx(chance)
    assert battle.roll(*faces) == -15 * models
    assert battle.units_left(0) == [before - models]
    assert battle.can_cast("Second")


@pytest.mark.parametrize(("left", "after"), [(12, 9), (8, 6)])
def test_a_caster_removed_is_one_model(left: int, after: int) -> None:
    battle = horrors({"kind": "caster_removed"}, models=4, wounds=3)
    battle.state.unit_wounds[0, 0] = left
    assert battle.miscast() == -15
    assert battle.units_left(0) == [after]  # the wounded one goes


def test_the_last_model_takes_the_caster_with_it() -> None:
    hit: Data = {"kind": "caster_hit", "strength": 10}
    battle = horrors(hit, models=1, spells=[lasting("Ward"), spell("Bolt"), spell("Second")])
    battle.works("Ward")
    battle.miscast()
    assert battle.roll(2, 1, 1) == -15  # its points are the unit's, and not counted twice
    check(battle, wounds=0, level=0, in_play=set(), node=Node.END)
    side = daemons(2, spells=[lasting("Ward", in_play=True)])
    battle = game(army(wizard(4, {"name": "Fire Ball"}, spell("Bolt"))), side, phases=2)
    battle.works("Fire Ball")
    assert battle.roll(2, *(6, 1, 1) * 2) == 30
    assert battle.state.wounds[1, 0] == 0
    check(battle, in_play=set())


def test_daemons_read_a_miscast_of_3_as_a_2_and_each_wizard_his_own_table() -> None:
    first = wizard(2, spell("Bolt"), name="A", miscast_table="daemons")
    second = wizard(2, spell("Spark"), spell("More"), name="B")
    battle = game(army(first, second), army(), phases=3)
    battle.miscast("Spark", (1, 2))  # the rulebook's 3: locked
    check(battle, node=Node.NOMINATE, castable={"Bolt"})
    battle.cast_with("Bolt", 1, 1)
    chances = sorted(battle.outcomes().values())
    assert chances == pytest.approx(sorted(n / 36 for n in (3, 3, 9, 6, 9, 5, 1)))
    battle.roll(1, 2)
    assert battle.node == Node.ROLL_HIT
    assert battle.outcomes() == pytest.approx({0: 1 / 6, 1: 5 / 6})


def test_daemons_whom_a_miscast_may_wound_are_not_forgotten() -> None:
    effect: Data = {"kind": "other_wizards_wounds", "dice": "D3"}
    horror = {"name": "Horror", "level": 2, "daemon_unit": "Imps", "spells": []}
    imps = [unit("Imps", 3, traits=["daemons"])]
    mage = wizard(1, spell("Bolt"), {"name": "Fire Ball"})
    own = army(mage, horror, units=imps, power_dice=2)
    assert game(own, army(), **miscast(effect)).state.unit_wounds[0, 0] == 3
    alone: Data = {"spells": mage["spells"], "base_contact": [{"side": "enemy", "models": 1}]}
    own = army(horror | alone, units=imps, power_dice=2)
    assert game(own, army(), **miscast()).state.unit_wounds[0, 0] == 3
