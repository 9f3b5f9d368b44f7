"""Spells that also hit their caster."""

from fractions import Fraction as F
from typing import Any

import pytest

from tests.support.builders import Data, Game, aimed, army, game, spell, unit, wizard
from wfb_gym import solver
from wfb_gym.engine.state import Node

from .facts import check
from .test_laws import check_battle
from .test_spells_damage import Foe, wound_chance

BURN: Data = {"hits": "2", "strength": 4}
HURT: Data = {"hits": "1", "strength": 5}


def blast(*spells: Data, own: Data | None = None, power: int = 4, **keys: Any) -> Game:
    burn = aimed("Blast", 3, damage=BURN, caster_damage=HURT if own is None else own)
    mage = wizard(4, burn, *spells, points=80.0, **keys.pop("mage", {}))
    side = army(mage, power_dice=power, units=keys.pop("units", []))
    return game(side, army(units=[unit(models=10)], dispel_dice=0), **keys)


def test_the_caster_is_hit_after_the_target() -> None:
    battle = blast(spell())
    battle.works("Blast", "Spears")
    battle.roll(*(3, 1, 1) * 2)  # two Spears die
    check(battle, node=Node.ROLL_STRIKE, points=12, wounds=2)
    battle.roll(2, 1, 1)  # Strength 5 wounds Toughness 3 on a 2+
    check(battle, node=Node.NOMINATE, points=12 - 40, wounds=1, castable={"Bolt"})


def test_a_spell_may_kill_its_caster() -> None:
    battle = blast(spell(), mage={"wounds": 1})
    battle.works("Blast", "Spears")
    battle.roll(*(1, 1, 1) * 2)
    battle.roll(6, 1, 1)
    assert battle.points == -80
    assert battle.is_over


def test_a_caster_in_a_unit_is_hit_itself() -> None:
    battle = blast(spell(), mage={"unit": "Guard"}, units=[unit("Guard", models=10)])
    battle.works("Blast", "Spears")
    battle.roll(*(1, 1, 1) * 2)
    battle.roll(2, 1, 1)
    assert battle.units_left(0) == [10]
    assert battle.points == -40


def test_hits_on_a_unit_of_daemons_that_casts_cost_it_models() -> None:
    horrors = unit("Horrors", models=10, traits=["daemons"])
    burn = aimed("Blast", 3, damage=BURN, caster_damage=HURT)
    mage = {
        "name": "Horrors Caster",
        "level": 1,
        "daemon_unit": "Horrors",
        "spells": [burn, spell()],
    }
    foes = army(units=[unit()], dispel_dice=0)
    battle = game(army(mage, units=[horrors], power_dice=4), foes)
    battle.works("Blast", "Spears")
    battle.roll(*(1, 1, 1) * 2)
    battle.roll(2, 1, 1)
    assert battle.units_left(0) == [9]
    assert battle.points == -6


@pytest.mark.parametrize("status", ["dead", "off_table"])
def test_an_absent_caster_has_no_strikes_to_pack(status: str) -> None:
    assert blast(mage={"status": status}, power=0).is_over


def test_points_and_solved_value() -> None:
    battle = blast(power=1)
    burn = 2 * wound_chance(Foe(), 4, True) * 6
    hurt = wound_chance(Foe(), 5, True) * 40
    assert float(battle.packed.armies[0].aims[0].expected_points) == pytest.approx(
        float(burn - hurt)
    )
    worth = max(F(0), F(4, 6) * (burn - hurt))  # a 3+ is needed, or the caster passes
    assert solver.solve(battle.scenario).value == pytest.approx(float(worth), abs=1e-9)
    assert solver.solve(blast(power=1, own={"hits": "D6", "strength": 10}).scenario).value == 0


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_and_samples_agree(seed: int) -> None:
    check_battle(blast(spell(), own={"hits": "D6", "strength": 3}, phases=3).scenario, seed)


def test_a_curse_without_damage_may_hit_its_caster() -> None:
    curse = aimed("Curse", 3, worth={"points": 9.0}, caster_damage=HURT)
    battle = game(army(wizard(4, curse, points=80.0)), army(units=[unit()], dispel_dice=0))
    battle.works("Curse", "Spears")
    battle.roll(2, 1, 1)
    assert battle.points == 9 - 40
