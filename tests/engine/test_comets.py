"""The Comet of Casandora: markers, landing, radius, and its end."""

from typing import Any

import numpy as np
import pytest

from tests.support.builders import PASS, Data, Game, army, game, known, miscast, spell, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE, FIRST_TARGET
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.spell_values import (
    expected_points,
    expected_points_at,
    expected_points_at_comet_points,
    expected_points_in_play,
)
from wfb_gym.engine.state import Node
from wfb_gym.engine.targets import can_aim, target_code
from wfb_gym.scenario.sizes import POINTS

from .enumeration import TWO_D6
from .facts import check, mean_if_all_pass
from .test_spells_damage import WOUND, Foe, mean_points, wound_chance

COMET = "The Comet of Casandora"


def sky(*more: Data, phases: int = 6, foe: Data | None = None, **keys: Any) -> Game:
    """Return a wizard of Heavens and a passive enemy with one unit."""
    mage = wizard(4, known(COMET), spell("Bolt"), *more, wounds=2)
    return game(army(mage), foe or army(units=[unit(models=20)]), phases=phases, **keys)


def wait(battle: Game) -> None:
    """Both players pass until the dice for the Comet are due again."""
    while not battle.is_chance():
        battle.act(PASS)


def test_a_comet_lands_on_a_4_at_the_start_of_every_turn_and_ends() -> None:
    battle = sky()
    assert battle.works(COMET) == 0
    assert battle.is_in_play(COMET, 0)
    assert battle.node == Node.NOMINATE
    # its caster cannot call it down: he may only cast Bolt
    assert len(battle.legal_actions()) == 2
    battle.stop()
    for phase, faces in [(1, 3), (2, 4)]:
        check(battle, phase=phase, node=Node.ROLL_COMET)
        assert battle.state.markers[0, 0] == phase
        assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 0.5, OUTCOME_WORKS: 0.5})
        battle.roll(faces)
        wait(battle)
    assert battle.node == Node.ROLL_RADIUS
    battle.roll(1)
    mean = mean_points(Foe(models=20), TWO_D6, wound_chance(Foe(), 4, True), flaming=False)
    assert battle.mean() == pytest.approx(float(mean))
    assert battle.roll(1, 2, *WOUND * 3) == 18
    assert not battle.is_in_play(COMET, 0)
    assert battle.state.markers[0, 0] == battle.state.aims[0].sum() == 0


def field(
    *distances: float, own: float = 0.0, phases: int = 6, cast: bool = True, **rules: Any
) -> Game:
    """Return a Comet on a model, with others this many inches from it on one side; one may be own.

    Its worth is so high that the best point is an inch from it, on the side towards them.
    """
    depth = 20 / 25.4
    foes = []
    for index, distance in enumerate((0.0, *distances)):
        x = 10.0 + distance + (0.5 * depth if distance else 0.0)
        points = 600.0 if distances and index == 0 else 6.0
        foes.append(unit(f"Foe {index}", 1, position=[x, 30.0 + depth / 2], points=points))
    mage = wizard(4, known(COMET), points=0.0, position=[60.0, 5.0])
    units = [unit("Own", 1, position=[10.0 - own - depth / 2, 30.0 + depth / 2])] if own else []
    table = {"width": 72.0, "depth": 48.0}
    side, keys = army(mage, units=units), {"phases": phases, "rules": rules}
    battle = game(side, army(units=foes), battlefield=table, **keys)
    if cast:
        battle.works(COMET, "Foe 0")
        wait(battle)
    return battle


def struck(battle: Game) -> int:
    count = 0
    while battle.node == Node.ROLL_STRIKE:
        battle.roll(1, 1, *WOUND * 2)
        count += 1
    return count


@pytest.mark.parametrize(
    ("markers", "die", "victims"), [(1, 2, 1), (1, 6, 2), (2, 1, 1), (2, 3, 2), (2, 4, 3)]
)
def test_a_comet_reaches_d6_inches_a_marker(markers: int, die: int, victims: int) -> None:
    battle = field(4.0, 8.0)  # from the point it is 1, 2.6 and 6.6 inches to them
    for _ in range(markers - 1):
        battle.roll(1)
        wait(battle)
    battle.roll(6)
    assert battle.outcomes() == pytest.approx(dict.fromkeys(range(1, 7), 1 / 6))
    battle.roll(die)
    assert struck(battle) == victims


def test_a_comet_also_hits_its_own_side() -> None:
    battle = field(own=3.0)  # from the point, on the far side, it is less than 5 inches to it
    battle.roll(6)
    battle.roll(5)
    before = battle.points
    assert struck(battle) == 2
    assert battle.points == before  # 6 points won and 6 lost


def in_play(battle: Game) -> float:
    return expected_points_in_play(battle.packed, battle.state, 0, battle.spell(COMET, 0), 0.0)


@pytest.mark.parametrize("scoring", ["points", "victory_points"])
@pytest.mark.parametrize("phases", [1, 2, 4])
def test_the_expected_points_of_a_comet_before_the_battle_ends(phases: int, scoring: str) -> None:
    battle = field(4.0, own=1.5, phases=phases, cast=False, scoring=scoring)
    spell = battle.spell(COMET, 0)
    best = expected_points(battle.packed, battle.state, 0, spell, 0.0)
    battle.nominate(COMET)
    each, found = [], np.zeros(POINTS)
    for aim in range(int(battle.packed.armies[0].spells[spell].n_aims)):
        twin = battle.copy()
        if twin.node == Node.TARGET:
            twin.act(FIRST_TARGET + int(target_code(battle.packed, 0, spell, aim)))
        each.append(expected_points_at(battle.packed, battle.state, 0, spell, aim, 0.0))
        twin.act(FIRST_DICE + 2)
        twin.roll(6, 6)
        assert each[-1] == pytest.approx(mean_if_all_pass(twin))
        assert phases == 1 or each[-1] == pytest.approx(in_play(twin))
    assert best == pytest.approx(max(each))
    assert (best > 0.0) == (len(each) > 1) == (phases > 1)
    if phases > 1:
        count = expected_points_at_comet_points(battle.packed, battle.state, 0, spell, 0.0, found)
        assert found[:count] == pytest.approx(each)


def test_the_points_that_a_scenario_sets_for_a_comet_are_expected() -> None:
    """A Comet that is cast in the last phase does not land."""
    battle = sky(phases=1, worths=[{"spell": COMET, "points": 2.0, "points_per_phase": 3.0}])
    spell = battle.spell(COMET, 0)
    assert expected_points(battle.packed, battle.state, 0, spell, 0.0) == 2.0 + 3.0
    assert battle.works(COMET) == 2
    battle.stop()
    check(battle, points=5)


def test_a_point_stays_open_when_those_near_it_are_gone_until_no_enemy_is_left() -> None:
    battle = field(4.0, 30.0, cast=False)
    spell = battle.spell(COMET, 0)
    aims = range(int(battle.packed.armies[0].spells[spell].n_aims))
    assert len(aims) > 3
    battle.state.unit_wounds[1, :2] = 0
    assert all(can_aim(battle.packed, battle.state, 0, spell, aim) for aim in aims)
    battle.state.unit_wounds[1, 2] = 0
    assert not any(can_aim(battle.packed, battle.state, 0, spell, aim) for aim in aims)


@pytest.mark.parametrize("scoring", ["points", "victory_points"])
def test_the_expected_points_of_a_comet_in_play_are_its_markers(scoring: str) -> None:
    battle = field(4.0, 9.0, phases=4, scoring=scoring)
    while not battle.is_over:
        assert in_play(battle) == pytest.approx(mean_if_all_pass(battle))
        battle.roll(1) if battle.node == Node.ROLL_COMET else battle.act(PASS)
    assert in_play(battle) == 0.0
    battle = field(4.0, 9.0, phases=3, scoring=scoring)
    battle.roll(1)
    wait(battle)
    battle.roll(6)
    assert battle.node == Node.ROLL_RADIUS
    assert in_play(battle) == pytest.approx(mean_if_all_pass(battle))


def test_a_comet_can_be_dispelled_in_a_later_phase_against_its_casting_value() -> None:
    foe = army(wizard(1, spell("Reply"), name="Foe"), units=[unit()])
    battle = sky(foe=foe, **miscast({"kind": "caster_removed"}))
    battle.works(COMET, "Spears")
    battle.miscast()
    # it outlives its caster and his next attempt
    assert battle.state.wounds[0, 0] == 0
    check(battle, in_play={COMET}, node=Node.ROLL_COMET)
    battle.roll(1)
    assert battle.node == Node.NOMINATE
    battle.stop()  # the enemy's phase: the Comet's owner decides first
    check(battle, node=Node.IN_PLAY, mover=0)
    battle.act(PASS)
    battle.try_in_play(COMET, 0)
    assert battle.state.number == 11
    battle.dispel(5, 6)
    assert not battle.is_in_play(COMET, 0)
    assert battle.state.markers[0, 0] == 0


@pytest.mark.parametrize("recast", ["side", "caster"])
def test_one_comet_at_a_time_for_a_side_or_for_each_wizard(recast: str) -> None:
    mages = wizard(4, known(COMET), name="A"), wizard(4, known(COMET), name="B")
    foes = army(units=[unit("One", 20), unit("Two", 20)])
    battle = game(army(*mages, power_dice=9), foes, phases=4, rules={"in_play_recast": recast})
    battle.works(COMET, "One", wizard=0)
    if recast == "side":
        assert battle.node == Node.ROLL_COMET  # B may not call another
        return
    assert not battle.can_cast(COMET, 0)
    battle.works(COMET, "Two", wizard=1)
    assert list(battle.state.markers[0][:2]) == [1, 1]
    battle.state.unit_wounds[1, 1] = 0
    for victims in (1, 0):  # the point matters after its target is gone
        battle.roll(4)
        battle.roll(1)
        assert (battle.node == Node.ROLL_STRIKE) == (victims == 1)
        if victims:
            battle.roll(1, 1, *WOUND * 2)
            assert list(battle.state.markers[0][:2]) == [0, 1]  # each has its own
    assert battle.units_left(1) == [18, 0]
    assert list(battle.state.in_play) == [0, 0]
