"""Tables of probabilities and end-to-end probabilities, against an enumeration of all rolls."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from tests.support.builders import Game
from wfb_gym.engine.odds import CAST_CHANCES, cast_need, through_table
from wfb_gym.engine.state import Node
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario import scenario_from_dict

from ..solver.oracle import END_TO_END, Army, Duel, Spell, scenario, spell_name

ROLLS = {dice: list(product(range(1, FACES + 1), repeat=dice)) for dice in range(4)}


def ends(roll: tuple[int, ...], number: int, double_six: bool) -> bool:
    if roll.count(1) >= 2:
        return False
    return sum(roll) >= number or (double_six and roll.count(6) >= 2)


def comes_through(
    roll: tuple[int, ...], value: int, against: tuple[int, ...], double_six: bool
) -> bool:
    if roll.count(1) >= 2:
        return False  # a miscast
    if roll.count(6) >= 2:
        return True  # irresistible
    return sum(roll) >= value and not (against and ends(against, sum(roll), double_six))


@pytest.mark.parametrize("double_six", [False, True])
@pytest.mark.parametrize("value", [3, 7, 11])
def test_chances_of_success_match_all_rolls(value: int, double_six: bool) -> None:
    found = through_table(3)[int(double_six), cast_need(value, 0)]
    expected = np.zeros((4, 4))
    for dice, against in product(range(1, 4), range(4)):
        pairs = product(ROLLS[dice], ROLLS[against])
        through = [comes_through(roll, value, other, double_six) for roll, other in pairs]
        expected[dice, against] = np.mean(through)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found[3, 0] > found[3, 3] > 0.0


def test_penalties_count_in_full() -> None:
    """Nine dice match 51 if their faces are at most three below all 6s, in 220 rolls."""
    assert CAST_CHANCES[0, cast_need(15, -36), 9] == pytest.approx(220 / 6**9)


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
