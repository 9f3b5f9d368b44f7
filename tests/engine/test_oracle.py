"""Exact values against an expectiminimax written on its own, and end-to-end chances."""

from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from wfb_gym.engine.state import Node

from .builders import Game, army, game, miscast, spell, wizard

FAILED, IRRESISTIBLE = -1, 1000
Known = tuple[int, int, int]
"""A spell: most dice of its wizard, casting value, worth."""


# The oracle: the rules once more, from the rulebook alone, nothing taken from the package.


@cache
def casting(dice: int, value: int) -> dict[int, F]:
    """Chances of the totals that cast, `IRRESISTIBLE` and `FAILED`."""
    found: dict[int, F] = {}
    for faces in product(range(1, 7), repeat=dice):
        if faces.count(1) >= 2:
            result = FAILED
        elif faces.count(6) >= 2:
            result = IRRESISTIBLE
        elif sum(faces) >= max(3, value):
            result = sum(faces)
        else:
            result = FAILED
        found[result] = found.get(result, F(0)) + F(1, 6**dice)
    return found


@cache
def dispelling(dice: int, number: int, double_six: bool) -> F:
    """Chance to dispel."""
    works = 0
    for faces in product(range(1, 7), repeat=dice):
        if faces.count(1) >= 2:
            continue
        works += sum(faces) >= number or (double_six and faces.count(6) >= 2)
    return F(works, 6**dice)


@dataclass(frozen=True)
class Phase:
    """All that matters of a phase without spells in play."""

    power: int
    dispel: int
    scrolls: int
    spells: tuple[Known, ...]
    double_six: bool = False


@cache
def value(phase: Phase) -> F:
    """Points that the caster wins on the best play of both."""
    best = F(0)
    for index, (cap, casting_value, worth) in enumerate(phase.spells):
        rest = phase.spells[:index] + phase.spells[index + 1 :]
        for dice in range(1, min(cap, phase.power) + 1):
            after = replace(phase, power=phase.power - dice, spells=rest)
            chances = casting(dice, casting_value)
            mean = sum((p * answered(after, r, worth) for r, p in chances.items()), F(0))
            best = max(best, mean)
    return best


def answered(after: Phase, result: int, worth: int) -> F:
    """Points to come once the casting roll is known."""
    if result == FAILED:
        return value(after)
    options = [worth + value(after)]
    if result == IRRESISTIBLE:
        return options[0]
    if after.scrolls:
        options.append(value(replace(after, scrolls=after.scrolls - 1)))
    for dice in range(1, after.dispel + 1):
        works = dispelling(dice, result, after.double_six)
        options.append(value(replace(after, dispel=after.dispel - dice)) + (1 - works) * worth)
    return min(options)


# The same value over the engine's own operations.


class Minimax:
    """Exact values of a battle's positions, by the first army's points."""

    def __init__(self, battle: Game) -> None:
        self.battle = battle
        self.known: dict[bytes, float] = {}

    def value(self) -> float:
        """Value of the battle from where it stands; leaves it there."""
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

    def _after(self, here: np.recarray[Any, Any], step: Any, code: int) -> float:
        self.battle._states[0] = here[0]
        gained: float = step(code)
        return gained + self.value()


def battle_of(phase: Phase) -> Game:
    """The phase as a scenario; wizards are told apart by their most dice."""
    mages = []
    for cap in sorted({cap for cap, _, _ in phase.spells}):
        own = [
            spell(f"{cap}.{index}", casting_value, worth)
            for index, (most, casting_value, worth) in enumerate(phase.spells)
            if most == cap
        ]
        mages.append(wizard(cap - 1, *own, name=f"Level {cap - 1}"))
    keys = miscast()
    keys["rules"]["dispel_double_six"] = phase.double_six
    scrolls = ["Dispel Scroll"] * phase.scrolls
    caster = army(*mages, power_dice=phase.power)
    return game(caster, army(dispel_dice=phase.dispel, items=scrolls), **keys)


ONE: Known = (3, 7, 30)
TWO: Known = (3, 9, 45)
LOW: Known = (2, 4, 12)


@pytest.mark.parametrize(
    "phase",
    [
        Phase(1, 0, 0, ((2, 3, 10),)),
        Phase(3, 2, 0, (ONE,)),
        Phase(3, 2, 1, (ONE,)),
        Phase(4, 3, 0, (ONE, TWO)),
        Phase(4, 3, 1, (ONE, TWO)),
        Phase(5, 2, 2, (ONE, TWO, LOW)),
        Phase(4, 3, 0, (LOW, (5, 13, 80)), double_six=True),
        Phase(4, 2, 1, (LOW, (5, 15, 80)), double_six=True),
        Phase(4, 2, 0, ((5, 15, 80), (5, 12, 50))),
        Phase(5, 4, 1, ((4, 8, 40), (4, 5, 20))),
    ],
    ids=str,
)
def test_the_engines_value_is_the_oracles(phase: Phase) -> None:
    assert Minimax(battle_of(phase)).value() == pytest.approx(float(value(phase)), abs=1e-9)


def test_a_hand_counted_value() -> None:
    # one die, 3+, nobody to dispel: four of six faces
    assert value(Phase(1, 0, 0, ((2, 3, 9),))) == 6
    assert Minimax(battle_of(Phase(1, 0, 0, ((2, 3, 9),)))).value() == pytest.approx(6)


END_TO_END = [
    (3, 3, 8, True, F(6985, 15552)),
    (3, 3, 8, False, F(65, 144)),
    (4, 4, 11, True, F(257425, 559872)),
    (4, 4, 11, False, F(261001, 559872)),
    (2, 2, 5, True, F(565, 1296)),
    (3, 2, 8, True, F(155, 216)),
    (3, 2, 8, False, F(1405, 1944)),
]


@pytest.mark.parametrize(("power", "dispel", "casting_value", "double_six", "chance"), END_TO_END)
def test_chance_that_a_spell_takes_effect_when_both_roll_all_their_dice(
    power: int, dispel: int, casting_value: int, double_six: bool, chance: F
) -> None:
    battle = battle_of(Phase(power, dispel, 0, ((5, casting_value, 1),), double_six))
    battle.cast("5.0", power)
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


@pytest.mark.parametrize(("dice", "chance"), [(2, F(7, 12)), (3, F(95, 108))])
def test_chance_to_dispel_a_spell_in_play_of_7(dice: int, chance: F) -> None:
    ward = spell("Ward", 7, 0, duration="remains_in_play", worth_per_phase=5, in_play=True)
    battle = game(army(wizard(1, ward)), army(dispel_dice=dice))
    battle.stop()
    battle.try_in_play("Ward", 0)
    battle.act(1 + dice)
    assert battle.outcomes()[1] == pytest.approx(float(chance))
