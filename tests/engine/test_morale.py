"""Panic, flight and rallying: tests, Leadership, and the effects of flight."""

from collections import Counter
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.support.builders import PASS, Data, Game, aimed, army, game, known, miscast, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE, FIRST_TARGET
from wfb_gym.engine.chance import outcome_of_roll
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.state import Node, new_work_spaces

D6 = {"hits": "D6", "strength": 4}
TWO_D6 = {"hits": "2D6", "strength": 4}
SPEARS, SCROLL = "Spears", "Dispel Scroll"


def strike(name: str = "Strike", **keys: Any) -> Data:
    """Return a spell of 2D6 hits on an enemy unit."""
    return aimed(name, damage=TWO_D6, **keys)


def seer(level: int = 2, *spells: Data, **keys: Any) -> Data:
    """Return a wizard in the Spears, with a lower Leadership than theirs and a spell of its own."""
    known = spells or (aimed("Dart", damage=D6),)
    return wizard(level, *known, name="Seer", **{"unit": SPEARS, "leadership": 5, **keys})


def host(*wizards: Data, models: int = 16, spears: Data | None = None, **keys: Any) -> Data:
    """Return the Spears, Leadership 7, with wizards in them, and Bows next to them."""
    units = [unit(SPEARS, models, **{"leadership": 7, **(spears or {})}), unit("Bows", 20)]
    return army(*(wizards or (seer(),)), units=units, **keys)


def fight(
    *spells: Data, foe: Data | None = None, own: Data | None = None, phases: int = 4, **keys: Any
) -> Game:
    """Return a wizard with two spells against the host; his own unit is far away."""
    mage = wizard(4, *(spells or (strike(), strike("Blast"))))
    caster = own or army(mage, units=[unit("Guard", 10)])
    return game(caster, foe or host(), phases=phases, **keys)


def lose(battle: Game, models: int, spell: str = "Strike", target: str = SPEARS) -> None:
    """Cast the spell with two 6s, so that it costs this many models of one wound."""
    battle.works(spell, target)
    assert battle.node == Node.ROLL_STRIKE
    battle.resolve(models)


def miscast_strike(battle: Game) -> None:
    """Miscast at the Spears with two 1s, and roll two more on the table."""
    battle.nominate("Strike")
    battle.aim(SPEARS)
    battle.act(FIRST_DICE + 2)
    battle.roll(1, 1)
    battle.roll(1, 1)


def stop(battle: Game) -> None:
    """Pass with both players for the rest of this phase."""
    phase = int(battle.state.phase)
    while battle.is_decision() and int(battle.state.phase) == phase:
        battle.act(PASS)


def until(battle: Game, phase: int) -> None:
    """Pass with both players until that phase."""
    while battle.is_decision() and battle.state.phase < phase:
        battle.act(PASS)
    assert battle.state.phase == phase


def panicking(lost: int = 4, **keys: Any) -> Game:
    """Let the Spears lose this many models, and end the phase."""
    battle = fight(**keys)
    lose(battle, lost)
    stop(battle)
    return battle


def fled(**keys: Any) -> Game:
    """Let the Spears flee and roll to rally before their own phase."""
    battle = panicking(**keys)
    battle.roll(6, 6)
    return battle


def flees(battle: Game, army: int, name: str) -> bool:
    """Return whether a unit or character flees."""
    index = battle.code(name, army) - FIRST_TARGET - 1
    return bool(int(battle.state.fleeing[army]) >> index & 1)


# --- who takes a test ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "lost", "tested"),
    [
        (16, 4, True),
        (16, 3, False),
        (17, 4, False),
        (17, 5, True),
        (8, 2, True),
        (9, 2, False),
        (10, 9, True),
        (10, 10, False),
    ],
)
def test_a_quarter_of_the_models_lost_takes_a_test(models: int, lost: int, tested: bool) -> None:
    battle = panicking(lost, foe=host(models=models))
    assert (battle.node == Node.ROLL_PANIC) == tested
    assert int(battle.state.phase) == (0 if tested else 1)
    if tested:
        assert battle.mover == 1


def test_losses_of_a_phase_add_up_and_those_of_another_do_not_count() -> None:
    battle = fight()
    lose(battle, 2)
    lose(battle, 2, "Blast")
    stop(battle)
    assert battle.node == Node.ROLL_PANIC
    battle = panicking(3)
    stop(battle)
    assert int(battle.state.phase) == 2
    lose(battle, 3)  # of 13
    stop(battle)
    assert int(battle.state.phase) == 3


def test_the_quarter_is_of_the_models_at_the_start_of_the_phase() -> None:
    battle = panicking(3, foe=host(models=15))
    stop(battle)
    lose(battle, 3)  # of 12
    stop(battle)
    assert battle.node == Node.ROLL_PANIC


def test_wounds_that_cost_no_model_do_not_count() -> None:
    ogres = {"wounds": 3}
    battle = panicking(11, foe=host(models=16, spears=ogres))
    assert int(battle.state.phase) == 1
    battle = panicking(12, foe=host(models=16, spears=ogres))
    assert battle.node == Node.ROLL_PANIC


@pytest.mark.parametrize(
    "spears",
    [
        {"traits": ["undead"]},
        {"traits": ["unbreakable"]},
        {"traits": ["immune_to_panic"]},
    ],
)
def test_immune_units_take_no_test(spears: Data) -> None:
    assert int(panicking(15, foe=host(spears=spears)).state.phase) == 1


@pytest.mark.parametrize("fights", [{"spears": {"in_combat": True}}, {"who": seer(in_combat=True)}])
def test_engaged_units_take_no_test(fights: Data) -> None:
    foe = host(fights.get("who", seer()), spears=fights.get("spears"))
    battle = panicking(15, foe=foe, own=army(wizard(4, strike(engaged="either"))))
    assert not battle.is_chance()
    assert battle.state.phase >= 1


def test_fleeing_units_take_no_test() -> None:
    foe = host(seer(status="fleeing"), spears={"fleeing": True})
    battle = panicking(8, foe=foe)
    assert battle.node == Node.ROLL_RALLY
    assert int(battle.state.phase) == 1


def test_losses_by_a_miscast_count() -> None:
    guard = unit("Guard", 8, leadership=8)
    own = army(wizard(4, strike(), strike("Blast"), unit="Guard", leadership=6), units=[guard])
    effect = {"kind": "base_contact_hit", "strength": 10}
    battle = game(own, host(), phases=4, **miscast(effect))
    miscast_strike(battle)
    assert battle.node == Node.ROLL_HIT
    battle.resolve(2)
    stop(battle)
    assert battle.node == Node.ROLL_PANIC
    assert battle.mover == 0
    battle.roll(4, 4)
    assert not flees(battle, 0, "Guard")


def test_losses_by_a_landing_comet_count_in_that_phase() -> None:
    battle = fight(known("The Comet of Casandora"))
    battle.works("The Comet of Casandora", SPEARS)  # and no other spell can be cast
    battle.roll(4)
    battle.roll(6)
    while battle.node == Node.ROLL_STRIKE:
        battle.resolve(4 if battle.points == 0 else 0)
    assert int(battle.state.phase) == 1
    stop(battle)
    assert battle.node == Node.ROLL_PANIC
    assert int(battle.state.phase) == 1


def test_both_armies_test_in_one_phase_the_active_army_of_the_first_phase_first() -> None:
    guard = unit("Guard", 8, leadership=8)
    own = army(wizard(4, strike(), unit="Guard"), units=[guard])
    row: list[Data] = [{"kind": "base_contact_hit", "strength": 10}, {"kind": "spell_succeeds"}]
    battle = game(own, host(), phases=4, **miscast(*row))
    miscast_strike(battle)
    battle.resolve(3)
    battle.resolve(4)
    stop(battle)
    assert (battle.node, battle.mover) == (Node.ROLL_PANIC, 0)
    battle.roll(1, 1)
    assert (battle.node, battle.mover) == (Node.ROLL_PANIC, 1)
    battle.roll(6, 6)
    assert flees(battle, 1, SPEARS)
    assert not flees(battle, 0, "Guard")


# --- the dice ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("faces", "stands"), [((3, 4), True), ((4, 4), False), ((6, 6), False)])
def test_a_roll_of_leadership_or_less_passes(faces: tuple[int, int], stands: bool) -> None:
    battle = panicking()
    battle.roll(*faces)
    assert flees(battle, 1, SPEARS) == flees(battle, 1, "Seer") == (not stands)
    assert not flees(battle, 1, "Bows")
    assert battle.node == (Node.NOMINATE if stands else Node.ROLL_RALLY)


def test_the_best_leadership_in_the_unit_counts() -> None:
    for leadership, total in ((5, 7), (9, 9)):
        battle = panicking(foe=host(seer(leadership=leadership)))
        works = [sum(chance for code, chance in battle.chance_outcomes() if code == OUTCOME_WORKS)]
        assert works == [pytest.approx(float(passing(total)))]


def test_a_dead_character_does_not_lend_its_leadership() -> None:
    """A miscast kills the captain of the unit that it hits."""
    others = {"kind": "other_wizards_wounds", "dice": "D6"}
    row: list[Data] = [{"kind": "base_contact_hit", "strength": 10}, others]
    mages = (
        wizard(4, strike(), unit="Guard", leadership=6),
        wizard(1, name="Chief", unit="Guard", leadership=10, wounds=1),
    )
    own = army(*mages, units=[unit("Guard", 8, leadership=7)])
    battle = game(own, host(), phases=4, **miscast(*row))
    miscast_strike(battle)
    battle.resolve(3)
    battle.resolve(1)
    stop(battle)
    assert dict(battle.chance_outcomes())[OUTCOME_WORKS] == pytest.approx(float(passing(7)))


def passing(leadership: int) -> F:
    """Return the probability of 2D6 at or below a number, roll by roll."""
    return F(sum(a + b <= leadership for a, b in product(range(1, 7), repeat=2)), 36)


@pytest.mark.parametrize("node", [Node.ROLL_PANIC, Node.ROLL_RALLY])
@pytest.mark.parametrize("leadership", range(2, 11))
def test_chances_are_those_of_all_36_rolls(leadership: int, node: Node) -> None:
    foe = host(seer(leadership=2), spears={"leadership": leadership})
    battle = panicking(foe=foe) if node == Node.ROLL_PANIC else fled(foe=foe)
    assert battle.node == node
    chance = passing(leadership)
    assert battle.outcomes() == pytest.approx(
        {OUTCOME_WORKS: float(chance), OUTCOME_FAIL: float(1 - chance)}, abs=1e-15
    )
    work, read = new_work_spaces()[0], Counter[int]()
    for faces in product(range(1, 7), repeat=2):
        work.faces[:2] = faces
        read[int(outcome_of_roll(battle.packed, battle.state, work))] += 1
    assert read == {OUTCOME_WORKS: 36 * chance, OUTCOME_FAIL: 36 * (1 - chance)}


# --- flight ------------------------------------------------------------------------------------


def test_a_fleeing_wizard_brings_no_power_dice_and_does_not_cast() -> None:
    adept = wizard(1, aimed("Arrow", damage=D6), name="Adept")
    for faces, dice in (((6, 6), 2 + 1), ((1, 1), 2 + 1 + 2)):
        battle = fled(foe=host(seer(), adept))
        battle.roll(*faces)
        assert battle.state.phase == 1
        assert battle.state.power == dice
        assert battle.can_cast("Arrow")
        assert battle.can_cast("Dart") == (dice == 5)


def test_rallied_wizards_cast_as_normal_in_that_same_phase() -> None:
    battle = fled()
    assert battle.mover == 1
    battle.roll(3, 4)
    assert not flees(battle, 1, SPEARS)
    assert not flees(battle, 1, "Seer")
    assert battle.state.phase == 1
    assert battle.state.power == 2 + 2
    assert battle.can_cast("Dart")


def test_a_fleeing_wizard_brings_no_dispel_dice() -> None:
    for faces, dice in (((6, 6), 2), ((1, 1), 3)):
        battle = fled()
        battle.roll(*faces)
        until(battle, 2)
        assert battle.state.dispel == dice


def test_a_fleeing_runesmith_brings_no_dispel_dice() -> None:
    """House rule: the sources mention only wizards."""
    smith = {"name": "Smith", "unit": SPEARS}
    foe = host(models=16, runesmiths=[smith])
    foe["wizards"] = []
    for faces, dice in (((6, 6), 2), ((1, 1), 3)):
        battle = panicking(foe=foe)
        battle.roll(*faces)
        if battle.node == Node.ROLL_RALLY:
            battle.roll(6, 6)
        until(battle, 2)
        assert battle.state.dispel == dice


def test_a_fleeing_wizard_reads_no_scroll_and_adds_nothing_to_dispels() -> None:
    foe = host(seer(items=[SCROLL, "Staff of Sorcery"]))
    for faces, uses in (((6, 6), False), ((1, 1), True)):
        battle = fled(foe=foe)
        battle.roll(*faces)
        until(battle, 2)
        battle.nominate("Strike")
        battle.aim(SPEARS)
        battle.act(FIRST_DICE + 3)
        battle.roll(2, 3, 4)
        assert battle.node == Node.DISPEL
        assert battle.can_use(SCROLL) == uses


def test_a_fleeing_wizard_uses_no_bound_spell() -> None:
    hero = {"name": "Captain", "unit": SPEARS, "items": ["Ring of Flame"], "leadership": 5}
    for faces, can in (((6, 6), False), ((1, 1), True)):
        adept = wizard(1, aimed("Arrow", damage=D6), name="Adept")
        battle = fled(foe=host(seer(), adept, heroes=[hero]))
        battle.roll(*faces)
        assert battle.state.phase == 1
        assert battle.can_cast("Fire Ball") == can


def test_a_fleeing_wizard_casts_no_free_spell() -> None:
    for faces, node in (((6, 6), Node.NOMINATE), ((1, 1), Node.FREE_SPELL)):
        battle = fled(**miscast({"kind": "free_spell"}))
        battle.roll(*faces)
        until(battle, 2)
        miscast_strike(battle)
        assert battle.node == node


def test_a_fleeing_wizards_spell_stays_in_play() -> None:
    lasting_spell = aimed("Veil", duration="remains_in_play", worth={"points_per_phase": 1.0})
    mage = seer(2, lasting_spell)
    battle = fight(foe=host(mage))
    until(battle, 1)
    battle.works("Veil", "Guard")
    until(battle, 2)
    lose(battle, 4)
    stop(battle)
    battle.roll(6, 6)
    assert battle.node == Node.ROLL_RALLY
    battle.roll(6, 6)
    assert battle.is_in_play("Veil", 1)


def test_a_fleeing_unit_keeps_its_place_and_can_be_aimed_at() -> None:
    battle = fled()
    battle.roll(6, 6)
    until(battle, 2)
    battle.nominate("Strike")
    assert SPEARS in battle.targets()


def test_a_unit_that_flees_on_takes_no_further_test() -> None:
    battle = fled(phases=6)
    battle.roll(6, 6)
    until(battle, 2)
    lose(battle, 6)
    stop(battle)
    assert (battle.node, int(battle.state.phase)) == (Node.ROLL_RALLY, 3)


# --- rallying ------------------------------------------------------------------------------


@pytest.mark.parametrize(("lost", "rolls"), [(12, True), (13, False)])
def test_a_unit_below_a_quarter_does_not_rally(lost: int, rolls: bool) -> None:
    battle = fled(lost=lost)
    assert flees(battle, 1, SPEARS)
    assert battle.node == (Node.ROLL_RALLY if rolls else Node.NOMINATE)
    assert battle.state.phase == (1 if rolls else 2)  # no other wizard can cast


def test_rally_rolls_begin_with_each_armys_second_phase() -> None:
    own = army(wizard(4, strike(), status="fleeing", unit="Guard"),
               units=[unit("Guard", 10, fleeing=True)])  # fmt: skip
    foe = host(seer(status="fleeing"), spears={"fleeing": True})
    battle = game(own, foe, phases=4)
    assert (battle.node, battle.mover, int(battle.state.phase)) == (Node.ROLL_RALLY, 1, 1)
    battle.roll(1, 1)
    stop(battle)
    assert (battle.node, battle.mover, int(battle.state.phase)) == (Node.ROLL_RALLY, 0, 2)
    battle.roll(1, 1)
    assert battle.can_cast("Strike")


def test_a_rallied_unit_may_panic_again() -> None:
    battle = fled(phases=6)
    battle.roll(1, 1)
    until(battle, 2)
    lose(battle, 3)
    stop(battle)
    assert battle.node == Node.ROLL_PANIC


def test_a_lone_character_rallies_by_its_own_leadership() -> None:
    foe = army(seer(status="fleeing", unit=None, leadership=6), units=[unit("Bows")])
    battle = fight(foe=foe)
    stop(battle)
    assert battle.node == Node.ROLL_RALLY
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(float(passing(6)))
    battle.roll(3, 3)
    assert battle.can_cast("Dart")


def test_a_lone_character_takes_no_panic_test() -> None:
    foe = army(seer(unit=None, wounds=4), units=[unit("Bows")])
    battle = fight(foe=foe)
    lose(battle, 3, target="Seer")
    stop(battle)
    assert (battle.node, int(battle.state.phase)) == (Node.NOMINATE, 1)


def test_a_character_flees_on_when_its_fleeing_unit_is_gone() -> None:
    battle = fled(phases=6)
    battle.roll(6, 6)
    until(battle, 2)
    lose(battle, 12)
    stop(battle)
    assert not flees(battle, 1, SPEARS)
    assert flees(battle, 1, "Seer")
    assert battle.node == Node.ROLL_RALLY
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(float(passing(5)))
    battle.roll(1, 1)
    assert not flees(battle, 1, "Seer")
    assert battle.state.power == 4


def test_several_units_rally_one_after_the_other() -> None:
    second = wizard(1, aimed("Dart", damage=D6), name="Adept", unit="Bows", status="fleeing")
    foe = host(seer(status="fleeing"), second, spears={"fleeing": True})
    foe["units"][1]["fleeing"] = True
    battle = fight(foe=foe)
    stop(battle)
    battle.roll(6, 6)
    assert battle.node == Node.ROLL_RALLY
    battle.roll(1, 1)
    assert flees(battle, 1, SPEARS)
    assert not flees(battle, 1, "Bows")
    assert battle.state.power == 2 + 1


# --- the Oxen Stands -------------------------------------------------------------------------


def oxen(models: int = 16, fleeing: bool = True, **keys: Any) -> Game:
    """Return a shaman next to the Spears with a wizard in them, after the first army's turn."""
    shaman = wizard(4, known("The Oxen Stands"), name="Shaman")
    status = "fleeing" if fleeing else "ready"
    foe = host(shaman, seer(status=status), models=models, spears={"fleeing": fleeing})
    return fight(foe=foe, **keys)


def test_the_oxen_stands_rallies_a_unit_and_its_wizard_casts_and_dispels_again() -> None:
    battle = oxen()
    stop(battle)
    battle.roll(6, 6)
    assert battle.works("The Oxen Stands", SPEARS) == -0.4 * 16 * 6
    assert not flees(battle, 1, SPEARS)
    assert not flees(battle, 1, "Seer")
    until(battle, 2)
    assert battle.state.dispel == 2 + 2 + 1


def test_wizards_rallied_by_a_spell_cast_from_the_next_phase_on() -> None:
    battle = oxen()
    stop(battle)
    battle.roll(6, 6)
    assert battle.state.power == 2 + 4
    battle.works("The Oxen Stands", SPEARS)
    assert battle.state.phase == 2  # dice are left, but no wizard may cast
    until(battle, 3)
    assert battle.state.power == 2 + 4 + 2
    assert battle.can_cast("Dart")


def test_the_oxen_stands_does_nothing_for_a_unit_below_a_quarter() -> None:
    for lost, works in ((12, True), (13, False)):
        battle = oxen()
        lose(battle, lost)
        stop(battle)
        if battle.node == Node.ROLL_RALLY:
            battle.roll(6, 6)
        assert (battle.mover == 1 and battle.can_cast("The Oxen Stands")) == works


def test_the_oxen_stands_is_paid_only_for_units_that_panicked() -> None:
    """It has the same value as for a unit that fled when the battle began."""
    battle = oxen(fleeing=False)
    stop(battle)
    assert not battle.can_cast("The Oxen Stands")
    battle = oxen(fleeing=False)
    lose(battle, 4)
    stop(battle)
    battle.roll(6, 6)
    battle.roll(6, 6)
    assert battle.works("The Oxen Stands", SPEARS) == 0.0
    assert not flees(battle, 1, SPEARS)


def test_printed_effects_on_leadership_and_psychology_stay_estimates() -> None:
    sage = wizard(4, known("Guardian Light", in_play=True), name="Sage")
    mage = wizard(4, known("Doom and Darkness!"), strike(), name="Doomsayer")
    battle = fight(own=army(mage), foe=host(sage, seer()))
    battle.works("Doom and Darkness!", SPEARS)
    lose(battle, 4)
    stop(battle)
    assert battle.node == Node.ROLL_PANIC
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(21 / 36)  # 7 or less
    battle.roll(6, 6)
    assert flees(battle, 1, SPEARS)


# --- flight without effect -------------------------------------------------------------------


def test_irrelevant_panic_tests_are_skipped() -> None:
    battle = fight()
    lose(battle, 15, target="Bows")  # no wizard is in them
    until(battle, 1)
    hero = {"name": "Captain", "unit": SPEARS}
    until(panicking(8, foe=host(heroes=[hero]) | {"wizards": []}), 2)
    staff = {**hero, "items": [SCROLL]}
    battle = panicking(8, foe=host(heroes=[staff]) | {"wizards": []})
    assert battle.node == Node.ROLL_PANIC


def test_no_morale_rolls_in_the_last_phase() -> None:
    battle = fight(phases=1)
    lose(battle, 12)
    assert not battle.state.phase_models.any()
    stop(battle)
    assert battle.is_over


def test_a_fleeing_unit_without_magic_does_not_roll_to_rally_and_flees_on() -> None:
    foe = host(spears={"fleeing": True}) | {"wizards": []}
    battle = fight(foe=foe)
    until(battle, 2)
    assert flees(battle, 1, SPEARS)


@pytest.mark.parametrize("starts_fleeing", [False, True])
def test_without_the_switch_there_is_no_panic_and_no_rallying(starts_fleeing: bool) -> None:
    status = "fleeing" if starts_fleeing else "ready"
    foe = host(seer(status=status), spears={"fleeing": starts_fleeing})
    battle = fight(foe=foe, rules={"panic": False})
    lose(battle, 15)
    until(battle, 2)
    assert flees(battle, 1, SPEARS) == starts_fleeing
    assert not battle.state.phase_models.any()


# --- models at the start of a phase ------------------------------------------------------------


def began(battle: Game) -> list[int]:
    """Return the state's number of models at the start of the phase, for Spears and Bows."""
    models: np.ndarray[Any, Any] = battle.state.phase_models[1, :2]
    return [int(each) for each in models]


def test_the_models_at_the_start_are_kept_only_while_a_test_may_need_them() -> None:
    battle = panicking(3)
    stop(battle)
    assert began(battle) == [13, 0]  # no wizard is in the Bows
    lose(battle, 3)
    assert began(battle) == [13, 0]
    lose(battle, 1, "Blast")
    assert began(battle) == [16, 0]  # the test is certain
    stop(battle)
    assert battle.node == Node.ROLL_PANIC
    assert began(battle) == [16, 0]
    battle.roll(1, 1)
    assert began(battle)[1] == 0


def test_they_are_forgotten_when_no_spell_is_left_that_could_cost_enough() -> None:
    battle = fight(strike(), aimed("Dart", damage={"hits": "1", "strength": 4}))
    lose(battle, 2)
    assert began(battle) == [0, 0]
    battle = fight(strike(), aimed("Dart", damage={"hits": "1", "strength": 4}))
    lose(battle, 3)
    assert began(battle) == [16, 0]


def test_they_are_forgotten_when_the_unit_is_gone() -> None:
    battle = fight()
    lose(battle, 10)
    lose(battle, 6, "Blast")
    assert began(battle) == [0, 0]
    until(battle, 2)  # only the Seer can still cast, and no unit tests


def test_the_last_phase_forgets_irrelevant_flight() -> None:
    battle = fled(phases=2)
    battle.roll(6, 6)
    assert battle.is_over
    mute = wizard(2, name="Seer", unit=SPEARS, leadership=5)
    for seers, kept in ((mute, False), (seer(), True), (mute | {"items": [SCROLL]}, True)):
        battle = fled(phases=3, foe=host(seers))
        battle.roll(6, 6)
        until(battle, 2)
        assert flees(battle, 1, SPEARS) == flees(battle, 1, "Seer") == kept


# --- victory points --------------------------------------------------------------------------


def tallied(**keys: Any) -> Game:
    """Return a battle for victory points: the Spears are worth 96, the Seer 100."""
    return fight(rules={"scoring": "victory_points"}, **keys)


def test_flight_counts_a_unit_and_its_characters_until_they_rally() -> None:
    battle = tallied()
    lose(battle, 4)
    stop(battle)
    assert battle.points == 0
    battle.roll(6, 6)
    assert battle.points == 96 + 100
    assert battle.node == Node.ROLL_RALLY
    battle.roll(1, 1)
    assert battle.points == 0


def test_for_victory_points_units_without_magic_test_and_in_the_last_phase_too() -> None:
    battle = tallied(phases=1)
    lose(battle, 5, target="Bows")
    lose(battle, 4, "Blast")
    stop(battle)
    battle.roll(6, 6)
    assert battle.points == 96 + 100
    assert battle.node == Node.ROLL_PANIC
    battle.roll(6, 6)
    assert battle.is_over
    assert battle.points == 96 + 100 + 120


def test_a_unit_slain_while_fleeing_counts_once() -> None:
    battle = tallied()
    lose(battle, 4)
    stop(battle)
    battle.roll(6, 6)
    battle.roll(6, 6)
    until(battle, 2)
    lose(battle, 12)
    assert battle.points == 96 + 100


def test_models_are_counted_in_the_last_phase_while_a_test_may_come() -> None:
    """Also if their number no longer matters for half strength."""
    battle = tallied(phases=1, foe=host(models=100))
    lose(battle, 12)
    assert began(battle)[0] == 0  # twelve more could be lost, and it takes thirteen
    battle = tallied(phases=1, foe=host(models=40))
    lose(battle, 2)
    assert int(battle.state.unit_wounds[1, 0]) == 38
    assert began(battle)[0] == 40
