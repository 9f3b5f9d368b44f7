"""The view of a position: the contents that every renderer shows."""

from tests.support.playing import narrate
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import NarratedBattle


def test_the_dice_to_throw_and_the_stage_before_and_after_the_battle() -> None:
    narrated = NarratedBattle(load_scenario("horrors-in-the-mist"))
    assert narrated.view().stage == "before the battle"
    narrated = NarratedBattle(load_scenario("archmage-duel"))
    narrate(narrated, FIRST_CAST, FIRST_DICE + 2)
    assert narrated.view().step.dice == 2
    narrate(narrated, (2, 1), 0)
    view = narrated.view()
    assert (view.is_over, view.stage, view.step.text) == (True, "over", "The battle is over")
    assert [spell.points for spell in view.armies[0].characters[0].spells] == [None] * 4
