"""Panic, flight and rallying: tests, Leadership, and the effects of flight."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.support.builders import PASS, Data, Game, aimed, army, game, known, miscast, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE
from wfb_gym.engine.chance import outcome_of_roll
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.state import Node, new_work_spaces

from .enumeration import passing
from .facts import check

D6 = {"hits": "D6", "strength": 4}
TWO_D6 = {"hits": "2D6", "strength": 4}
SPEARS, SCROLL = "Spears", "Dispel Scroll"
FLED = {SPEARS, "Seer"}
ADEPT = wizard(1, aimed("Arrow", damage=D6), name="Adept")
RALLIES = pytest.mark.parametrize("rallies", [False, True])


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


def lose(
    battle: Game, models: int, spell: str = "Strike", target: str = SPEARS, stops: bool = False
) -> None:
    """Cast the spell so that it costs this many models of one wound; end the phase if `stops`."""
    battle.works(spell, target)
    assert battle.node == Node.ROLL_STRIKE
    battle.resolve(models)
    if stops:
        stop(battle)


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


def panicking(lost: int = 4, **keys: Any) -> Game:
    """Let the Spears lose this many models, and end the phase."""
    battle = fight(**keys)
    lose(battle, lost, stops=True)
    return battle


def fled(rallies: bool | None = None, phase: int | None = None, **keys: Any) -> Game:
    """Let the Spears flee before their own phase; then they may rally, and both players pass."""
    battle = panicking(**keys)
    battle.roll(6, 6)
    if rallies is not None:
        battle.roll(*((1, 1) if rallies else (6, 6)))
    if phase is not None:
        battle.pass_until(phase)
    return battle


# --- who takes a test ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "lost", "tested"),
    [
        (16, 4, True), (16, 3, False), (17, 4, False), (17, 5, True), (8, 2, True), (9, 2, False),
        (10, 9, True), (10, 10, False),
    ],
)  # fmt: skip
def test_a_quarter_of_the_models_lost_takes_a_test(models: int, lost: int, tested: bool) -> None:
    battle = panicking(lost, foe=host(models=models))
    assert (battle.node == Node.ROLL_PANIC) == tested
    check(battle, phase=0 if tested else 1, mover=1)


def test_losses_of_a_phase_add_up_and_those_of_another_do_not_count() -> None:
    battle = fight()
    lose(battle, 2)
    lose(battle, 2, "Blast", stops=True)
    assert battle.node == Node.ROLL_PANIC
    battle = panicking(3)
    stop(battle)
    assert int(battle.state.phase) == 2
    lose(battle, 3, stops=True)  # of 13
    assert int(battle.state.phase) == 3


def test_the_quarter_is_of_the_models_at_the_start_of_the_phase() -> None:
    battle = panicking(3, foe=host(models=15))
    stop(battle)
    lose(battle, 3, stops=True)  # of 12
    assert battle.node == Node.ROLL_PANIC


@pytest.mark.parametrize("lost", [11, 12])
def test_wounds_that_cost_no_model_do_not_count(lost: int) -> None:
    battle = panicking(lost, foe=host(models=16, spears={"wounds": 3}))
    assert (battle.node == Node.ROLL_PANIC) == (lost == 12)
    assert int(battle.state.phase) == (0 if lost == 12 else 1)


@pytest.mark.parametrize("trait", ["undead", "unbreakable", "immune_to_panic"])
def test_immune_units_take_no_test(trait: str) -> None:
    assert int(panicking(15, foe=host(spears={"traits": [trait]})).state.phase) == 1


@pytest.mark.parametrize("fights", [{"spears": {"in_combat": True}}, {"who": seer(in_combat=True)}])
def test_engaged_units_take_no_test(fights: Data) -> None:
    foe = host(fights.get("who", seer()), spears=fights.get("spears"))
    battle = panicking(15, foe=foe, own=army(wizard(4, strike(engaged="either"))))
    assert not battle.is_chance()
    assert battle.state.phase >= 1


def test_fleeing_units_take_no_test() -> None:
    battle = panicking(8, foe=host(seer(status="fleeing"), spears={"fleeing": True}))
    check(battle, node=Node.ROLL_RALLY, phase=1)


def test_losses_by_a_miscast_count() -> None:
    guard = unit("Guard", 8, leadership=8)
    own = army(wizard(4, strike(), strike("Blast"), unit="Guard", leadership=6), units=[guard])
    effect = {"kind": "base_contact_hit", "strength": 10}
    battle = game(own, host(), phases=4, **miscast(effect))
    miscast_strike(battle)
    assert battle.node == Node.ROLL_HIT
    battle.resolve(2)
    stop(battle)
    check(battle, node=Node.ROLL_PANIC, mover=0)
    battle.roll(4, 4)
    check(battle, fleeing=set())


def test_losses_by_a_landing_comet_count_in_that_phase() -> None:
    battle = fight(known("The Comet of Casandora"))
    battle.works("The Comet of Casandora", SPEARS)  # and no other spell can be cast
    battle.roll(4)
    battle.roll(6)
    while battle.node == Node.ROLL_STRIKE:
        battle.resolve(4 if battle.points == 0 else 0)
    assert int(battle.state.phase) == 1
    stop(battle)
    check(battle, node=Node.ROLL_PANIC, phase=1)


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
    check(battle, fleeing=FLED)


# --- the dice ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("faces", "stands"), [((3, 4), True), ((4, 4), False), ((6, 6), False)])
def test_a_roll_of_leadership_or_less_passes(faces: tuple[int, int], stands: bool) -> None:
    battle = panicking()
    battle.roll(*faces)
    node = Node.NOMINATE if stands else Node.ROLL_RALLY
    check(battle, node=node, fleeing=set() if stands else FLED)


@pytest.mark.parametrize(("leadership", "best"), [(5, 7), (9, 9)])
def test_the_best_leadership_in_the_unit_counts(leadership: int, best: int) -> None:
    battle = panicking(foe=host(seer(leadership=leadership)))
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(float(passing(best)))


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


@RALLIES
def test_a_fleeing_wizard_brings_no_power_dice_and_does_not_cast(rallies: bool) -> None:
    battle = fled(rallies, foe=host(seer(), ADEPT))
    check(battle, phase=1, power=(2 + 1 + 2 if rallies else 2 + 1))
    assert battle.can_cast("Arrow")
    assert battle.can_cast("Dart") == rallies


def test_rallied_wizards_cast_as_normal_in_that_same_phase() -> None:
    battle = fled()
    assert battle.mover == 1
    battle.roll(3, 4)
    check(battle, phase=1, power=2 + 2, fleeing=set(), castable={"Dart"})


@RALLIES
def test_a_fleeing_wizard_brings_no_dispel_dice(rallies: bool) -> None:
    assert fled(rallies, phase=2).state.dispel == (3 if rallies else 2)


@pytest.mark.parametrize("panics", [False, True])
def test_a_fleeing_runesmith_brings_no_dispel_dice(panics: bool) -> None:
    """House rule: the sources mention only wizards."""
    foe = host(runesmiths=[{"name": "Smith", "unit": SPEARS}]) | {"wizards": []}
    battle = panicking(foe=foe)
    battle.roll(*((6, 6) if panics else (1, 1)))
    if battle.node == Node.ROLL_RALLY:
        battle.roll(6, 6)
    battle.pass_until(2)
    assert battle.state.dispel == (2 if panics else 3)


@RALLIES
def test_a_fleeing_wizard_reads_no_scroll_and_adds_nothing_to_dispels(rallies: bool) -> None:
    battle = fled(rallies, phase=2, foe=host(seer(items=[SCROLL, "Staff of Sorcery"])))
    battle.nominate("Strike")
    battle.aim(SPEARS)
    battle.act(FIRST_DICE + 3)
    battle.roll(2, 3, 4)
    assert battle.node == Node.DISPEL
    assert battle.can_use(SCROLL) == rallies


@RALLIES
def test_a_fleeing_wizard_uses_no_bound_spell(rallies: bool) -> None:
    hero = {"name": "Captain", "unit": SPEARS, "items": ["Ring of Flame"], "leadership": 5}
    battle = fled(rallies, foe=host(seer(), ADEPT, heroes=[hero]))
    assert battle.state.phase == 1
    assert battle.can_cast("Fire Ball") == rallies


@RALLIES
def test_a_fleeing_wizard_casts_no_free_spell(rallies: bool) -> None:
    battle = fled(rallies, phase=2, **miscast({"kind": "free_spell"}))
    miscast_strike(battle)
    assert battle.node == (Node.FREE_SPELL if rallies else Node.NOMINATE)


def test_a_fleeing_wizards_spell_stays_in_play() -> None:
    lasting_spell = aimed("Veil", duration="remains_in_play", worth={"points_per_phase": 1.0})
    battle = fight(foe=host(seer(2, lasting_spell)))
    battle.pass_until(1)
    battle.works("Veil", "Guard")
    battle.pass_until(2)
    lose(battle, 4, stops=True)
    battle.roll(6, 6)
    assert battle.node == Node.ROLL_RALLY
    battle.roll(6, 6)
    assert battle.is_in_play("Veil", 1)


def test_a_fleeing_unit_keeps_its_place_and_can_be_aimed_at() -> None:
    battle = fled(False, phase=2)
    battle.nominate("Strike")
    assert SPEARS in battle.targets()


def test_a_unit_that_flees_on_takes_no_further_test() -> None:
    battle = fled(False, phase=2, phases=6)
    lose(battle, 6, stops=True)
    assert (battle.node, int(battle.state.phase)) == (Node.ROLL_RALLY, 3)


# --- rallying ------------------------------------------------------------------------------


@pytest.mark.parametrize(("lost", "rolls"), [(12, True), (13, False)])
def test_a_unit_below_a_quarter_does_not_rally(lost: int, rolls: bool) -> None:
    battle = fled(lost=lost)
    node = Node.ROLL_RALLY if rolls else Node.NOMINATE
    check(battle, fleeing=FLED, node=node, phase=1 if rolls else 2)  # no other wizard can cast


def test_rally_rolls_begin_with_each_armys_second_phase() -> None:
    mage = wizard(4, strike(), status="fleeing", unit="Guard")
    own = army(mage, units=[unit("Guard", 10, fleeing=True)])
    foe = host(seer(status="fleeing"), spears={"fleeing": True})
    battle = game(own, foe, phases=4)
    check(battle, node=Node.ROLL_RALLY, mover=1, phase=1)
    battle.roll(1, 1)
    stop(battle)
    check(battle, node=Node.ROLL_RALLY, mover=0, phase=2)
    battle.roll(1, 1)
    assert battle.can_cast("Strike")


def test_a_rallied_unit_may_panic_again() -> None:
    battle = fled(True, phase=2, phases=6)
    lose(battle, 3, stops=True)
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
    lose(battle, 3, target="Seer", stops=True)
    assert (battle.node, int(battle.state.phase)) == (Node.NOMINATE, 1)


def test_a_character_flees_on_when_its_fleeing_unit_is_gone() -> None:
    battle = fled(False, phase=2, phases=6)
    lose(battle, 12, stops=True)
    check(battle, fleeing={"Seer"}, node=Node.ROLL_RALLY)
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(float(passing(5)))
    battle.roll(1, 1)
    check(battle, fleeing=set(), power=4)


def test_several_units_rally_one_after_the_other() -> None:
    second = wizard(1, aimed("Dart", damage=D6), name="Adept", unit="Bows", status="fleeing")
    foe = host(seer(status="fleeing"), second, spears={"fleeing": True})
    foe["units"][1]["fleeing"] = True
    battle = fight(foe=foe)
    stop(battle)
    battle.roll(6, 6)
    assert battle.node == Node.ROLL_RALLY
    battle.roll(1, 1)
    check(battle, fleeing=FLED, power=2 + 1)


# --- the Oxen Stands -------------------------------------------------------------------------


def oxen(fleeing: bool = True, stops: bool = False) -> Game:
    """Return a shaman next to the Spears with a wizard in them, in its phase if `stops`."""
    shaman = wizard(4, known("The Oxen Stands"), name="Shaman")
    status = "fleeing" if fleeing else "ready"
    battle = fight(foe=host(shaman, seer(status=status), spears={"fleeing": fleeing}))
    if stops:
        stop(battle)
        battle.roll(6, 6)
    return battle


def test_the_oxen_stands_rallies_a_unit_and_its_wizard_casts_and_dispels_again() -> None:
    battle = oxen(stops=True)
    assert battle.works("The Oxen Stands", SPEARS) == -0.4 * 16 * 6
    check(battle, fleeing=set())
    battle.pass_until(2)
    assert battle.state.dispel == 2 + 2 + 1


def test_wizards_rallied_by_a_spell_cast_from_the_next_phase_on() -> None:
    battle = oxen(stops=True)
    assert battle.state.power == 2 + 4
    battle.works("The Oxen Stands", SPEARS)
    assert battle.state.phase == 2  # dice are left, but no wizard may cast
    battle.pass_until(3)
    assert battle.state.power == 2 + 4 + 2
    assert battle.can_cast("Dart")


@pytest.mark.parametrize(("lost", "works"), [(12, True), (13, False)])
def test_the_oxen_stands_does_nothing_for_a_unit_below_a_quarter(lost: int, works: bool) -> None:
    battle = oxen()
    lose(battle, lost, stops=True)
    if battle.node == Node.ROLL_RALLY:
        battle.roll(6, 6)
    assert (battle.mover == 1 and battle.can_cast("The Oxen Stands")) == works


def test_the_oxen_stands_is_paid_only_for_units_that_panicked() -> None:
    """It has the same value as for a unit that fled when the battle began."""
    battle = oxen(fleeing=False)
    stop(battle)
    assert not battle.can_cast("The Oxen Stands")
    battle = oxen(fleeing=False)
    lose(battle, 4, stops=True)
    battle.roll(6, 6)
    battle.roll(6, 6)
    assert battle.works("The Oxen Stands", SPEARS) == 0.0
    check(battle, fleeing=set())


def test_printed_effects_on_leadership_and_psychology_stay_estimates() -> None:
    sage = wizard(4, known("Guardian Light", in_play=True), name="Sage")
    mage = wizard(4, known("Doom and Darkness!"), strike(), name="Doomsayer")
    battle = fight(own=army(mage), foe=host(sage, seer()))
    battle.works("Doom and Darkness!", SPEARS)
    lose(battle, 4, stops=True)
    assert battle.node == Node.ROLL_PANIC
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(21 / 36)  # 7 or less
    battle.roll(6, 6)
    check(battle, fleeing=FLED)


# --- flight without effect -------------------------------------------------------------------


def test_irrelevant_panic_tests_are_skipped() -> None:
    battle = fight()
    lose(battle, 15, target="Bows")  # no wizard is in them
    battle.pass_until(1)
    hero = {"name": "Captain", "unit": SPEARS}
    panicking(8, foe=host(heroes=[hero]) | {"wizards": []}).pass_until(2)
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
    battle.pass_until(2)
    check(battle, fleeing={SPEARS})


@pytest.mark.parametrize("starts_fleeing", [False, True])
def test_without_the_switch_there_is_no_panic_and_no_rallying(starts_fleeing: bool) -> None:
    status = "fleeing" if starts_fleeing else "ready"
    foe = host(seer(status=status), spears={"fleeing": starts_fleeing})
    battle = fight(foe=foe, rules={"panic": False})
    lose(battle, 15)
    battle.pass_until(2)
    check(battle, fleeing=FLED if starts_fleeing else set())
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


@pytest.mark.parametrize(("lost", "kept"), [(2, 0), (3, 16)])
def test_they_are_forgotten_when_no_spell_is_left_that_could_cost_enough(
    lost: int, kept: int
) -> None:
    battle = fight(strike(), aimed("Dart", damage={"hits": "1", "strength": 4}))
    lose(battle, lost)
    assert began(battle) == [kept, 0]


def test_they_are_forgotten_when_the_unit_is_gone() -> None:
    battle = fight()
    lose(battle, 10)
    lose(battle, 6, "Blast")
    assert began(battle) == [0, 0]
    battle.pass_until(2)  # only the Seer can still cast, and no unit tests


def test_the_last_phase_forgets_irrelevant_flight() -> None:
    assert fled(False, phases=2).is_over
    mute = wizard(2, name="Seer", unit=SPEARS, leadership=5)
    for seers, kept in ((mute, False), (seer(), True), (mute | {"items": [SCROLL]}, True)):
        battle = fled(False, phase=2, phases=3, foe=host(seers))
        check(battle, fleeing=FLED if kept else set())


# --- victory points --------------------------------------------------------------------------


TALLIED: Data = {"rules": {"scoring": "victory_points"}}
"""The Spears count 96 victory points, the Seer 100."""


def test_flight_counts_a_unit_and_its_characters_until_they_rally() -> None:
    battle = panicking(**TALLIED)
    assert battle.points == 0
    battle.roll(6, 6)
    check(battle, points=96 + 100, node=Node.ROLL_RALLY)
    battle.roll(1, 1)
    assert battle.points == 0


def test_for_victory_points_units_without_magic_test_and_in_the_last_phase_too() -> None:
    battle = fight(**TALLIED, phases=1)
    lose(battle, 5, target="Bows")
    lose(battle, 4, "Blast", stops=True)
    battle.roll(6, 6)
    check(battle, points=96 + 100, node=Node.ROLL_PANIC)
    battle.roll(6, 6)
    check(battle, node=Node.END, points=96 + 100 + 120)


def test_a_unit_slain_while_fleeing_counts_once() -> None:
    battle = fled(False, phase=2, **TALLIED)
    lose(battle, 12)
    assert battle.points == 96 + 100


def test_models_are_counted_in_the_last_phase_while_a_test_may_come() -> None:
    """Also if their number no longer matters for half strength."""
    battle = fight(**TALLIED, phases=1, foe=host(models=100))
    lose(battle, 12)
    assert began(battle)[0] == 0  # twelve more could be lost, and it takes thirteen
    battle = fight(**TALLIED, phases=1, foe=host(models=40))
    lose(battle, 2)
    assert int(battle.state.unit_wounds[1, 0]) == 38
    assert began(battle)[0] == 40
