"""The last phase: canonical states drop irrelevant data and keep relevant data."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.builders import PASS, Data, Game, aimed, army, game, miscast, spell, unit, wizard
from wfb_gym import solver
from wfb_gym._records import Records
from wfb_gym.engine.state import Node, State

from .strategies import EFFECTS, OWN_ITEMS, armies

NOT_OF_ONE_PHASE = ("Rod of Power", "Black Periapt", "Seal of Destruction")
"""Items whose nodes do not occur in the last phase."""


def twins(caster: Data, dispeller: Data, **keys: Any) -> tuple[Game, Game]:
    """Return the same phase as the last of the battle, and with one more after it."""
    last = game(caster, dispeller, **keys)
    return last, game(caster, dispeller, phases=2, **keys)


@settings(max_examples=15, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    caster=armies(1, True),
    dispeller=armies(0, True),
    effects=st.lists(st.sampled_from(EFFECTS), max_size=3),
    seed=st.integers(0, 2**32),
)
def test_a_battle_continues_in_its_last_phase_as_in_any(
    caster: Data, dispeller: Data, effects: list[Data], seed: int
) -> None:
    for mage in (*caster["wizards"], *dispeller["wizards"]):
        items = mage.get("items", ())
        mage["items"] = [name for name in items if name not in NOT_OF_ONE_PHASE]
    last, other = twins(caster, dispeller, items=OWN_ITEMS, **miscast(*effects))
    choose = random.Random(seed)
    while not last.is_over:
        assert other.state.phase == 0
        assert (other.node, other.mover) == (last.node, last.mover)
        if last.is_chance():
            assert other.chance_outcomes() == last.chance_outcomes()
            codes = [code for code, _ in last.chance_outcomes()]
            weights = [6 if last.node == Node.ROLL_CASTING and code == 1 else 1 for code in codes]
            code = choose.choices(codes, weights)[0]
            gained = last.resolve(code), other.resolve(code)
        else:
            assert other.legal_actions() == last.legal_actions()
            action = choose.choice(last.legal_actions()[-6:])
            gained = last.act(action), other.act(action)
        if other.state.phase == 0:  # otherwise spells in play pay for the next phase too
            assert gained[0] == gained[1]


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


VICTORY_POINTS = {"scoring": "victory_points", "panic": False}
BALL = {"name": "Fire Ball"}
FOE = army(dispel_dice=1, units=[unit(models=9)])
SMALL = army(dispel_dice=1, units=[unit(models=3, wounds=2), unit("Giant", 1, wounds=5)])
RANKS = army(dispel_dice=0, units=[unit(models=4, wounds=3), unit("Bows", 12)])
REPLY = army(wizard(1, {"name": "Dark Hand of Death"}, name="Foe"), dispel_dice=0, units=[unit()])
IDLE = wizard(1, name="Idle", wounds=3, points=90.0)
HEALER = wizard(1, {"name": "Healing Hand"}, name="Priest", points=50.0)
HEALS_AND_BURNS = wizard(2, {"name": "Healing Hand"}, BALL, name="Priest", points=50.0)
TWO_BALLS = army(wizard(2, BALL, {"name": "Fiery Blast"}), power_dice=3)
BOLT = army(wizard(2, aimed(damage={"hits": "2D6", "strength": 4})), power_dice=2)
LINE = army(wizard(2, {"name": "Burning Head"}, BALL), power_dice=3)
SPARKS = army(wizard(2, spell("Bolt"), wounds=3, points=99.0, general=True), power_dice=4)
OTHERS: Data = {"kind": "other_wizards_wounds", "dice": "D3"}
HIT: Data = {"kind": "caster_hit", "strength": 10}
FREE: Data = {"kind": "free_spell"}


@pytest.mark.parametrize(("caster", "dispeller", "effects", "rules"), [
    (TWO_BALLS, FOE, [], {}), (BOLT, FOE, [], {}), (LINE, RANKS, [], {}),
    (army(HEALER, IDLE, power_dice=2), FOE, [], {}),
    (army(wizard(1, BALL), IDLE, power_dice=2), FOE, [OTHERS], {}),
    (army(wizard(1, BALL), power_dice=2, units=[unit("Own", 8)]), REPLY, [FREE], {}),
    (TWO_BALLS, FOE, [], VICTORY_POINTS), (TWO_BALLS, SMALL, [], VICTORY_POINTS),
    (SPARKS, army(dispel_dice=1), [HIT], VICTORY_POINTS),
    (army(HEALS_AND_BURNS, IDLE, power_dice=3), FOE, [OTHERS], VICTORY_POINTS),
])  # fmt: skip
def test_canonicalizing_the_last_phase_changes_no_value(
    caster: Data, dispeller: Data, effects: list[Data], rules: Data
) -> None:
    dispeller = {**dispeller, "power_dice": 0}  # nothing happens in the next phase
    house = miscast(*effects)
    house["rules"].update(rules)
    last, other = twins(caster, dispeller, **house)
    exact, brute = Minimax(last), Minimax(other)
    value = exact.value()
    assert value == pytest.approx(brute.value(), abs=1e-12)
    assert len(exact.known) <= len(brute.known)
    assert solver.solve(last.scenario).value == pytest.approx(value, abs=1e-9)


def after_a_loss(models: int, wounds: int, each: int = 1) -> Game:
    """Return a battle after a Fire Ball wounded a unit, with another one to cast."""
    caster = army(wizard(4, BALL), wizard(4, BALL, name="Second"))
    battle = game(caster, army(units=[unit(models=models, wounds=each)]))
    battle.works("Fire Ball", wizard=0)
    battle.resolve(wounds)
    return battle


def test_models_beyond_any_possible_loss_are_one_position() -> None:
    keys = {after_a_loss(models, wounds).key() for models, wounds in [(20, 0), (20, 4), (9, 2)]}
    assert len(keys) == 1
    # six may still fall: of seven models one is safe, of six none
    assert after_a_loss(9, 2).key() == after_a_loss(9, 1).key()
    assert after_a_loss(9, 3).key() != after_a_loss(9, 2).key()
    # a wounded model of several wounds keeps its wounds
    left = [after_a_loss(20, wounds, each=3).units_left(1)[0] for wounds in range(5)]
    assert {wounds % 3 for wounds in left} == {0, 1, 2}
    assert left[:2] == left[3:]
    assert min(left) > 6


def test_a_spell_that_strikes_is_one_position_however_it_came_to_work() -> None:
    keys = set()
    for faces in [(6, 6), (3, 4)]:
        battle = game(army(wizard(4, BALL), wizard(1, BALL, name="Second")), army(units=[unit()]))
        battle.cast_with("Fire Ball", *faces, wizard=0)
        if battle.node == Node.DISPEL:
            battle.act(PASS)
        assert (battle.node, battle.mover) == (Node.ROLL_STRIKE, 0)
        keys.add(battle.key())
    assert len(keys) == 1
