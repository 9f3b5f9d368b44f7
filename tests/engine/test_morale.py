"""Panic, flight and rallying: tests, Leadership, and the effects of flight."""

from collections import Counter
from itertools import product
from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, aimed, army, game, known, miscast, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE
from wfb_gym.engine.chance import outcome_of_roll
from wfb_gym.engine.morale import points_of_flight_to_come
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.state import Node, new_work_spaces

from .enumeration import passing
from .facts import check, mean_if_all_pass

SPEARS, SCROLL = "Spears", "Dispel Scroll"
FLED = {SPEARS, "Seer"}
ADEPT = wizard(1, aimed("Arrow", damage={"hits": "D6", "strength": 4}), name="Adept")
TRAITS = ("undead", "unbreakable", "immune_to_panic")
RALLIES = pytest.mark.parametrize("rallies", [False, True])


def strike(name: str = "Strike", hits: str = "2D6", **keys: Any) -> Data:
    return aimed(name, damage={"hits": hits, "strength": 4}, **keys)


def seer(level: int = 2, *spells: Data, **keys: Any) -> Data:
    """Return a wizard in the Spears, with a lower Leadership than theirs and a spell of its own."""
    known = spells or (strike("Dart", "D6"),)
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


@pytest.mark.parametrize(
    ("wounds", "lost", "tested"),
    [(1, 3, False), (1, 4, True), (1, 15, True), (1, 16, False), (3, 11, False), (3, 12, True)],
)
def test_a_quarter_of_the_models_lost_takes_a_test(wounds: int, lost: int, tested: bool) -> None:
    battle = panicking(lost, foe=host(spears={"wounds": wounds}))
    assert (battle.node == Node.ROLL_PANIC) == tested
    check(battle, phase=0 if tested else 1, mover=1)


def test_losses_of_a_phase_add_up_and_those_of_another_do_not_count() -> None:
    battle = fight()
    lose(battle, 2)
    lose(battle, 2, "Blast", stops=True)
    assert battle.node == Node.ROLL_PANIC
    for models, phase in [(16, 3), (15, 2)]:  # three of 13 are too few, three of 12 are not
        battle = panicking(3, foe=host(models=models))
        stop(battle)
        lose(battle, 3, stops=True)
        assert battle.state.phase == phase
    assert battle.node == Node.ROLL_PANIC


@pytest.mark.parametrize(
    "spears",
    [*({"traits": [each]} for each in TRAITS), {"in_combat": True}],
    ids=[*TRAITS, "engaged"],
)
def test_immune_and_engaged_units_take_no_test(spears: Data) -> None:
    battle = panicking(15, foe=host(spears=spears), own=army(wizard(4, strike(engaged="either"))))
    assert not battle.is_chance()
    assert battle.state.phase >= 1


def test_losses_by_a_miscast_count_and_both_armies_test_in_one_phase() -> None:
    """It kills the captain of the unit that it hits, who no longer lends its Leadership."""
    mage = wizard(4, strike(), unit="Guard", leadership=6)
    chief = wizard(1, name="Chief", unit="Guard", leadership=10, wounds=1)
    row: list[Data] = [
        {"kind": "base_contact_hit", "strength": 10},
        {"kind": "other_wizards_wounds", "dice": "D6"},
        {"kind": "spell_succeeds"},
    ]
    own = army(mage, chief, units=[unit("Guard", 8, leadership=8)])
    battle = game(own, host(), phases=4, **miscast(*row))
    miscast_strike(battle)
    for outcome in (3, 1, 4):
        battle.resolve(outcome)
    stop(battle)
    check(battle, node=Node.ROLL_PANIC, mover=0)  # the active army of the first phase
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(float(passing(8)))
    battle.roll(4, 4)
    check(battle, node=Node.ROLL_PANIC, mover=1, fleeing=set())
    battle.roll(6, 6)
    check(battle, fleeing=FLED)


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


@pytest.mark.parametrize(("faces", "stands"), [((3, 4), True), ((4, 4), False), ((6, 6), False)])
def test_a_roll_of_leadership_or_less_passes(faces: tuple[int, int], stands: bool) -> None:
    battle = panicking()
    battle.roll(*faces)
    node = Node.NOMINATE if stands else Node.ROLL_RALLY
    check(battle, node=node, fleeing=set() if stands else FLED)


@pytest.mark.parametrize(
    ("node", "own", "units"),
    [(Node.ROLL_PANIC, 2, 9), (Node.ROLL_PANIC, 9, 7), (Node.ROLL_RALLY, 2, 9)],
)
def test_chances_are_those_of_all_36_rolls(node: Node, own: int, units: int) -> None:
    """The best Leadership in the unit counts."""
    foe = host(seer(leadership=own), spears={"leadership": units})
    battle = panicking(foe=foe) if node == Node.ROLL_PANIC else fled(foe=foe)
    assert battle.node == node
    expected = {OUTCOME_WORKS: passing(9), OUTCOME_FAIL: 1 - passing(9)}
    assert battle.outcomes() == pytest.approx(expected, abs=1e-15)
    work, read = new_work_spaces()[0], Counter[int]()
    for faces in product(range(1, 7), repeat=2):
        work.faces[:2] = faces
        read[int(outcome_of_roll(battle.packed, battle.state, work))] += 1
    assert read == {outcome: 36 * chance for outcome, chance in expected.items()}


@RALLIES
def test_a_fleeing_wizard_brings_no_dice_and_does_not_cast(rallies: bool) -> None:
    """House rule: nor does a fleeing Runesmith; the sources mention only wizards."""
    hero = {"name": "Captain", "unit": SPEARS, "items": ["Ring of Flame"], "leadership": 5}
    smith = {"name": "Smith", "unit": SPEARS}
    battle = fled(foe=host(seer(), ADEPT, heroes=[hero], runesmiths=[smith]))
    assert battle.mover == 1
    battle.roll(*((3, 4) if rallies else (6, 6)))
    if rallies:
        check(battle, fleeing=set(), castable={"Arrow", "Dart", "Fire Ball"})
    else:
        check(battle, fleeing=FLED | {"Captain", "Smith"}, castable={"Arrow"})
    check(battle, phase=1, power=2 + 1 + 2 * rallies)
    battle.pass_until(2)
    assert battle.state.dispel == 2 + 1 + 2 * rallies


@RALLIES
def test_a_fleeing_wizard_reads_no_scroll_and_casts_no_free_spell(rallies: bool) -> None:
    free = miscast({"kind": "free_spell"})
    battle = fled(rallies, phase=2, foe=host(seer(items=[SCROLL])), **free)
    twin = battle.copy()
    miscast_strike(twin)
    assert twin.node == (Node.FREE_SPELL if rallies else Node.NOMINATE)
    battle.nominate("Strike")
    battle.aim(SPEARS)
    battle.act(FIRST_DICE + 3)
    battle.roll(2, 3, 4)
    assert battle.node == Node.DISPEL
    assert battle.can_use(SCROLL) == rallies


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


@RALLIES
def test_a_unit_that_flees_on_takes_no_further_test_and_a_rallied_one_does(rallies: bool) -> None:
    """A spell may be aimed at either."""
    battle = fled(rallies, phase=2, phases=6)
    lose(battle, 6, stops=True)
    check(battle, phase=2 if rallies else 3, node=Node.ROLL_PANIC if rallies else Node.ROLL_RALLY)


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


def test_a_lone_character_takes_no_panic_test_and_rallies_by_its_own_leadership() -> None:
    battle = fight(foe=army(seer(unit=None, wounds=4), units=[unit("Bows")]))
    lose(battle, 3, target="Seer", stops=True)
    check(battle, node=Node.NOMINATE, phase=1)
    foe = army(seer(status="fleeing", unit=None, leadership=6), units=[unit("Bows")])
    battle = fight(foe=foe)
    stop(battle)
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(float(passing(6)))
    battle.roll(3, 3)
    assert battle.can_cast("Dart")


def test_a_character_flees_on_when_its_fleeing_unit_is_gone() -> None:
    battle = fled(False, phase=2, phases=6)
    lose(battle, 12, stops=True)
    check(battle, fleeing={"Seer"}, node=Node.ROLL_RALLY)
    assert battle.outcomes()[OUTCOME_WORKS] == pytest.approx(float(passing(5)))
    battle.roll(1, 1)
    check(battle, fleeing=set(), power=4)


def test_several_units_rally_one_after_the_other() -> None:
    second = wizard(1, strike("Dart", "D6"), name="Adept", unit="Bows", status="fleeing")
    foe = host(seer(status="fleeing"), second, spears={"fleeing": True})
    foe["units"][1]["fleeing"] = True
    battle = panicking(8, foe=foe)
    check(battle, node=Node.ROLL_RALLY, phase=1)  # fleeing units take no Panic test
    battle.roll(6, 6)
    assert battle.node == Node.ROLL_RALLY
    battle.roll(1, 1)
    check(battle, fleeing=FLED, power=2 + 1)


def oxen(fleeing: bool = True, stops: bool = False) -> Game:
    """Return a shaman next to the Spears with a wizard in them, in its phase if `stops`."""
    shaman = wizard(4, known("The Oxen Stands"), name="Shaman")
    status = "fleeing" if fleeing else "ready"
    battle = fight(foe=host(shaman, seer(status=status), spears={"fleeing": fleeing}))
    if stops:
        stop(battle)
        battle.roll(6, 6)
    return battle


def test_the_oxen_stands_rallies_a_unit_and_its_wizard_casts_from_the_next_phase_on() -> None:
    battle = oxen(stops=True)
    assert battle.state.power == 2 + 4
    assert battle.works("The Oxen Stands", SPEARS) == -0.4 * 16 * 6
    # dice are left, but no wizard may cast
    check(battle, fleeing=set(), phase=2, dispel=2 + 2 + 1)
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


def test_irrelevant_morale_rolls_are_skipped() -> None:
    battle = fight()
    lose(battle, 15, target="Bows")  # no wizard is in them
    battle.pass_until(1)
    hero = {"name": "Captain", "unit": SPEARS}
    panicking(8, foe=host(heroes=[hero]) | {"wizards": []}).pass_until(2)
    mages: list[Data] = [{"heroes": [hero | {"items": [SCROLL]}]}, {"runesmiths": [hero]}]
    for keys in mages:
        assert panicking(8, foe=host(**keys) | {"wizards": []}).node == Node.ROLL_PANIC
    battle = fight(foe=host(spears={"fleeing": True}) | {"wizards": []})
    battle.pass_until(2)
    check(battle, fleeing={SPEARS})
    battle = fight(phases=1)
    lose(battle, 12)
    assert not battle.state.phase_models.any()
    stop(battle)
    assert battle.is_over


@pytest.mark.parametrize("flees", [False, True])
def test_without_the_switch_there_is_no_panic_and_no_rallying(flees: bool) -> None:
    foe = host(seer(status="fleeing" if flees else "ready"), spears={"fleeing": flees})
    battle = fight(foe=foe, rules={"panic": False})
    lose(battle, 15)
    battle.pass_until(2)
    check(battle, fleeing=FLED if flees else set())
    assert not battle.state.phase_models.any()


def began(battle: Game) -> list[int]:
    """Return the state's number of models at the start of the phase, for Spears and Bows."""
    return [int(each) for each in battle.state.phase_models[1, :2]]


def test_the_models_at_the_start_are_kept_only_while_a_test_may_need_them() -> None:
    battle = panicking(3)
    stop(battle)
    for lost, spell, kept in [(0, "", 13), (3, "Strike", 13), (1, "Blast", 16)]:
        if spell:
            lose(battle, lost, spell)
        assert began(battle) == [kept, 0]  # no wizard is in the Bows
    stop(battle)
    assert battle.node == Node.ROLL_PANIC
    assert began(battle) == [16, 0]  # the test is certain
    battle.roll(1, 1)
    assert began(battle)[1] == 0
    for lost, kept in [(2, 0), (3, 16)]:  # one more may be lost
        battle = fight(strike(), strike("Dart", "1"))
        lose(battle, lost)
        assert began(battle) == [kept, 0]
    battle = fight()
    lose(battle, 10)
    lose(battle, 6, "Blast")
    assert began(battle) == [0, 0]  # the unit is gone


def test_the_last_phase_forgets_irrelevant_flight() -> None:
    assert fled(False, phases=2).is_over
    mute = wizard(2, name="Seer", unit=SPEARS, leadership=5)
    with_scroll, apart = mute | {"items": [SCROLL]}, wizard(2, strike("Dart", "D6"), name="Apart")
    for seers, kept in (
        ([mute], False), ([seer()], True), ([with_scroll], True), ([mute, apart], False)
    ):  # fmt: skip
        battle = fled(False, phase=2, phases=3, foe=host(*seers))
        check(battle, fleeing=FLED if kept else set())


TALLIED: Data = {"rules": {"scoring": "victory_points"}}
"""The Spears count 96 victory points, the Seer 100."""


def test_flight_counts_a_unit_and_its_characters_once_until_they_rally() -> None:
    battle = panicking(**TALLIED)
    assert battle.points == 0
    battle.roll(6, 6)
    check(battle, points=96 + 100, node=Node.ROLL_RALLY)
    twin = battle.copy()
    twin.roll(1, 1)
    assert twin.points == 0
    battle.roll(6, 6)
    battle.pass_until(2)
    lose(battle, 12)
    assert battle.points == 96 + 100


def test_for_victory_points_units_without_magic_test_and_in_the_last_phase_too() -> None:
    battle = fight(**TALLIED, phases=1)
    lose(battle, 5, target="Bows")
    lose(battle, 4, "Blast", stops=True)
    for node, points in [(Node.ROLL_PANIC, 96 + 100), (Node.END, 96 + 100 + 120)]:
        battle.roll(6, 6)
        check(battle, node=node, points=points)


@pytest.mark.parametrize("lost", [0, 4, 13])
@pytest.mark.parametrize("phases", [1, 2, 5])
def test_points_of_flight_to_come_are_exact_if_both_players_pass(phases: int, lost: int) -> None:
    """The Spears may rally if a quarter of them is left, so not after 13 losses."""
    mage = wizard(4, strike(), strike("Blast"))
    own = army(mage, units=[unit("Guard", 10, leadership=6, fleeing=True)])
    battle = fight(**TALLIED, own=own, phases=phases)
    if lost:
        lose(battle, lost)
    assert battle.node == Node.NOMINATE
    found = points_of_flight_to_come(battle.packed, battle.state)
    assert found == pytest.approx(mean_if_all_pass(battle))
    assert (found != 0.0) == (lost > 0 or phases > 2)


def test_models_are_counted_in_the_last_phase_while_a_test_may_come() -> None:
    """Also if their number no longer matters for half strength."""
    battle = fight(**TALLIED, phases=1, foe=host(models=100))
    lose(battle, 12)
    assert began(battle)[0] == 0  # twelve more could be lost, and it takes thirteen
    battle = fight(**TALLIED, phases=1, foe=host(models=40))
    lose(battle, 2)
    assert int(battle.state.unit_wounds[1, 0]) == 38
    assert began(battle)[0] == 40
