"""End-to-end probabilities of the rulebook; tests of the solver compare values with the oracle."""

from fractions import Fraction as F

import pytest

from tests.support.builders import Game
from wfb_gym.engine.state import Node
from wfb_gym.scenario import scenario_from_dict

from ..solver.oracle import END_TO_END, Army, Duel, Spell, scenario, spell_name


@pytest.mark.parametrize(("power", "dispel", "casting_value", "double_six", "chance"), END_TO_END)
def test_chance_that_a_spell_takes_effect_when_both_roll_all_their_dice(
    power: int, dispel: int, casting_value: int, double_six: bool, chance: F
) -> None:
    caster = Army((4,), (Spell(0, casting_value, 1),), power)
    duel = Duel(caster, Army(dispel=dispel), double_six=double_six)
    battle = Game(scenario_from_dict(scenario(duel)))
    battle.cast(spell_name(0), power)
    takes_effect = 0.0
    for code, p in battle.chance_outcomes():
        twin = battle.copy()
        if twin.resolve(code) == 1:
            takes_effect += p
        elif twin.node == Node.DISPEL:
            twin.act(twin.legal_actions()[-1])
            fails = [q for roll, q in twin.chance_outcomes() if twin.copy().resolve(roll) == 1]
            takes_effect += p * sum(fails)
    assert takes_effect == pytest.approx(float(chance), abs=1e-12)
