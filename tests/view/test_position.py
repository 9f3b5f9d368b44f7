"""The view of a position: the contents that every renderer shows."""

from tests.support.playing import narrate
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.view.armies import SpellStatus
from wfb_gym.view.choices import view_decision


def test_a_position_with_its_armies_step_and_pending_spell() -> None:
    narrated = NarratedBattle(load_scenario("archmage-duel"))
    view = narrated.view(1)
    assert (view.scenario, view.viewer, view.stage) == ("archmage-duel", 1, "phase 1 of 1")
    assert (view.points, view.leader, view.score) == (0.0, None, "the score is even")
    caster, dispeller = view.armies
    assert (caster.activity, caster.pool_kind, caster.pool) == ("decides", "power", 6)
    assert (dispeller.activity, dispeller.pool_kind, dispeller.pool) == ("", "dispel", 4)
    (wizard,) = caster.characters
    assert [spell.points for spell in wizard.spells] == [20.0, 40.0, 50.0, 60.0]
    assert {spell.status for spell in wizard.spells} == {SpellStatus.CASTABLE}
    assert view.pending == ""
    narrate(narrated, FIRST_CAST, FIRST_DICE + 2)
    assert narrated.view().step.dice == 2
    narrated.roll(3, 4)
    view = narrated.view()
    assert view.pending == "Fire Ball (5+), 7 to match"
    assert view.step.details == "cast with 7: match it to dispel"
    assert view.armies[0].characters[0].spells[0].status == SpellStatus.PENDING


def test_the_stage_before_and_after_the_battle() -> None:
    narrated = NarratedBattle(load_scenario("horrors-in-the-mist"))
    assert narrated.view().stage == "before the battle"
    narrated = NarratedBattle(load_scenario("archmage-duel"))
    narrated.act(0)
    view = narrated.view()
    assert (view.is_over, view.stage, view.step.text) == (True, "over", "The battle is over")
    assert [spell.points for spell in view.armies[0].characters[0].spells] == [None] * 4


def test_a_decision_has_its_question_stake_and_notes() -> None:
    narrated = NarratedBattle(load_scenario("archmage-duel"))
    decision = view_decision(narrated.names, narrated.battle)
    assert (decision.question, decision.stake) == ("What will you cast?", "")
    assert decision.actions[FIRST_CAST].text == "cast Fire Ball (5+)"
    assert decision.notes[FIRST_CAST] == "20 points"
    narrate(narrated, FIRST_CAST, FIRST_DICE + 2, (3, 4))
    decision = view_decision(narrated.names, narrated.battle)
    assert decision.stake.endswith("Fire Ball (5+) would bring the caster 20 points.")
