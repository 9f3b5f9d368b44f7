"""Exact values against a separate expectiminimax, and end-to-end probabilities."""

from fractions import Fraction as F
from typing import Any

import pytest

from tests.support.builders import Game
from wfb_gym._records import Records
from wfb_gym.engine.state import Node, State
from wfb_gym.scenario import scenario_from_dict

from ..solver.oracle import END_TO_END, Army, Duel, Spell, scenario, spell_name, value


class Minimax:
    """Exact values of a battle's positions, in the first army's points."""

    def __init__(self, battle: Game) -> None:
        self.battle = battle
        self.known: dict[bytes, float] = {}

    def value(self) -> float:
        """Return the value of the battle at its position, which stays unchanged."""
        battle = self.battle
        key = battle.key()
        if battle.is_over:
            return 0.0
        if key not in self.known:
            here = battle._states.copy()
            if battle.is_chance():
                chances = battle.chance_outcomes()
                found = sum(p * self._after(here, battle.resolve, code) for code, p in chances)
            else:
                best = max if battle.mover == 0 else min
                legal = battle.legal_actions()
                found = best(self._after(here, battle.act, action) for action in legal)
            battle._states[0] = here[0]
            self.known[key] = found
        return self.known[key]

    def _after(self, here: Records[State], step: Any, code: int) -> float:
        self.battle._states[0] = here[0]
        gained: float = step(code)
        return gained + self.value()


def battle_of(duel: Duel) -> Game:
    return Game(scenario_from_dict(scenario(duel)))


ONE = Spell(0, 7, 30)
TWO = Spell(0, 9, 45)
LOW = Spell(1, 4, 12)
FAR = Spell(0, 15, 80)

DUELS = [
    Duel(Army((1,), (Spell(0, 3, 10),), 1)),
    Duel(Army((2,), (ONE,), 3), Army(dispel=2, scrolls=1)),
    Duel(Army((2,), (ONE, TWO), 4), Army(dispel=3, scrolls=1)),
    Duel(Army((2, 1), (ONE, TWO, LOW), 5), Army(dispel=2, scrolls=2)),
    Duel(Army((4, 1), (Spell(0, 13, 80), LOW), 4), Army(dispel=3), double_six=True),
    Duel(Army((4, 1), (FAR, LOW), 4), Army(dispel=2, scrolls=1), double_six=True),
    Duel(Army((4,), (FAR, Spell(0, 12, 50)), 4), Army(dispel=2)),
    Duel(Army((3,), (Spell(0, 8, 40), Spell(0, 5, 20)), 5), Army(dispel=4, scrolls=1)),
]


@pytest.mark.parametrize("duel", DUELS, ids=str)
def test_the_engines_value_is_the_oracles(duel: Duel) -> None:
    assert Minimax(battle_of(duel)).value() == pytest.approx(float(value(duel)), abs=1e-9)


@pytest.mark.parametrize(("power", "dispel", "casting_value", "double_six", "chance"), END_TO_END)
def test_chance_that_a_spell_takes_effect_when_both_roll_all_their_dice(
    power: int, dispel: int, casting_value: int, double_six: bool, chance: F
) -> None:
    caster = Army((4,), (Spell(0, casting_value, 1),), power)
    battle = battle_of(Duel(caster, Army(dispel=dispel), double_six=double_six))
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
