"""Descriptions of events, and the visible position."""

import re
from typing import Any

import numpy as np
import pytest

from tests.support.builders import aimed, army, known, lasting, miscast, spell, unit, wizard
from tests.support.packed import scenario
from tests.support.playing import EVERY_SCENARIO, narrate_randomly
from tests.support.playing import narrate as play_script
from wfb_gym.engine import actions
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_TARGET, PASS
from wfb_gym.engine.state import Node
from wfb_gym.packing.records import Duration, Lock
from wfb_gym.scenario import load_scenario
from wfb_gym.scenario.sizes import TARGETS
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.view import armies as view_armies
from wfb_gym.view import changes
from wfb_gym.view.decisions import describe_choices

BURNING_HEAD = FIRST_CAST + 2
SPEARS = FIRST_TARGET + 1 + TARGETS


def narrate(caster: Any, dispeller: Any, **keys: Any) -> NarratedBattle:
    return NarratedBattle(scenario(caster, dispeller, **keys))


def duel(*script: int | tuple[int, ...]) -> list[str]:
    return words_of(NarratedBattle(load_scenario("archmage-duel")), *script)


def words_of(narrated: NarratedBattle, *script: int | tuple[int, ...]) -> list[str]:
    return [event.words for event in play_script(narrated, *script)]


def test_a_spell_is_cast_and_a_scroll_read_or_it_is_let_through() -> None:
    opening = "phase 1 of 1: the caster with 6 power dice, the dispeller with 4 dispel dice"
    assert NarratedBattle(load_scenario("archmage-duel")).opening == opening
    cast = BURNING_HEAD, FIRST_DICE + 3, (6, 5, 2)
    assert duel(*cast, FIRST_ITEM) == [
        "Archmage begins to cast Burning Head (9+).",
        "Archmage throws 3 dice.",
        "6 5 2: 13 against 9, Burning Head is cast.",
        "The dispeller uses the Dispel Scroll: Burning Head is dispelled.",
    ]
    assert duel(*cast, PASS)[-1] == "The dispeller lets it through. 50 points to the caster."


def test_panic_flight_and_rallying_are_described() -> None:
    blast = {"hits": "2D6", "strength": 4}
    seer = wizard(2, aimed("Dart", damage=blast), name="Seer", unit="Spears", leadership=5)
    units = [unit("Spears", 16, leadership=7), unit("Bows")]
    shaken = (SPEARS, FIRST_DICE + 2, (6, 6), (2, 2, *(6, 1, 1) * 4))

    def words(*script: int | tuple[int, ...]) -> list[str]:
        foes = army(seer, units=units, dispel_dice=0)
        narrated = narrate(army(wizard(4, aimed("Blast", damage=blast))), foes, phases=4)
        return words_of(narrated, FIRST_CAST, *shaken, *script)[5:]

    second = "Phase 2 of 4: the dispeller with 4 power dice, the caster with 4 dispel dice."
    third = "Phase 3 of 4: the caster with 6 power dice, the dispeller with 0 dispel dice."
    passed = f"3 4: 7 against Leadership 7, the Panic test of Spears is passed. {second}"
    assert words((3, 4)) == [passed]
    fled = "5 4: 9 against Leadership 7, the Panic test of Spears fails: they flee. "
    fled += "Phase 2 of 4 begins for the dispeller."
    flight = "against Leadership 7, the flight of Spears"
    assert words((5, 4), (3, 5)) == [fled, f"3 5: 8 {flight} continues. {third}"]
    assert words((5, 4), (1, 2)) == [fled, f"1 2: 3 {flight} ends. {second}"]


def test_a_spell_is_dispelled_and_another_is_not() -> None:
    cast = (BURNING_HEAD, FIRST_DICE + 2, (5, 4), FIRST_DICE + 2)
    assert duel(*cast, (5, 4))[-2:] == [
        "The dispeller tries to dispel with 2 dice against 9.",
        "5 4: 9 against 9, Burning Head is dispelled.",
    ]
    failed = "4 4: 8 against 9, Burning Head is not dispelled. 50 points to the caster."
    assert duel(*cast, (4, 4))[-1] == failed
    assert "2 against 9, Burning Head is not dispelled. 50" in duel(*cast, (1, 1))[-1]
    four = (*cast[:-1], FIRST_DICE + 4, (1, 1, 6, 5))
    assert "13 against 9, Burning Head is not dispelled as two 1s never dispel." in duel(*four)[-1]


@pytest.mark.parametrize(
    ("faces", "words"),
    [
        ((6, 6, 1), "6 6 1: irresistible force, Burning Head is cast. 50 points to the caster."),
        ((4, 2, 2), "4 2 2: 8 against 9, Burning Head fails."),
        ((1, 1, 6), "1 1 6: a miscast, Burning Head fails."),
    ],
)
def test_casting_rolls(faces: tuple[int, ...], words: str) -> None:
    assert duel(BURNING_HEAD, FIRST_DICE + 3, faces)[-1] == words


def test_a_miscast_has_its_row_and_effects() -> None:
    lost = duel(BURNING_HEAD, FIRST_DICE + 3, (1, 1, 6), (3, 4))[-1]
    assert lost.startswith("3 4: miscast: The side's remaining power dice are lost.")
    assert "The battle ends: the score is even." in lost
    locked = duel(BURNING_HEAD, FIRST_DICE + 2, (1, 1), (1, 2))[-1]
    assert "Archmage casts no more until it rolls a 6" in locked
    hurt = duel(BURNING_HEAD, FIRST_DICE + 2, (1, 1), (5, 5), (6, 1, 1))
    assert hurt[-1] == (
        "6 1 1: a Strength 6 hit on Archmage: 1 wound. Archmage loses 1 wound, 2 left. "
        "Archmage forgets Burning Head. 85 points to the dispeller."
    )


def test_a_spell_with_several_casts_is_forgotten_once() -> None:
    raising = spell("Raise", 7, casts=2, alternatives=[{"casting_value": 10}])
    mage = wizard(4, raising, spell("Bolt"))
    narrated = narrate(army(mage, power_dice=6), army(), **miscast({"kind": "spell_forgotten"}))
    words = words_of(narrated, FIRST_CAST, FIRST_DICE + 2, (1, 1), (1, 1))
    assert " ".join(words).count("Mage forgets Raise") == 1


FIRE_BALL = wizard(4, known("Fire Ball"), spell("Beam"))
RING = {"name": "Ring", "bound": {"power_level": 4, "spell": {"name": "Fire Ball"}}}
CAST = FIRST_CAST, FIRST_DICE + 2
AT_SPEARS = FIRST_CAST, SPEARS, FIRST_DICE + 2
TALLIED: Any = {"rules": {"scoring": "victory_points", "panic": False}}
ENDINGS: dict[str, tuple[Any, Any, Any, tuple[Any, ...], str]] = {
    "casualties": (
        army(FIRE_BALL), army(units=[unit("Spears", 3), unit("Bows")], dispel_dice=0), {},
        (*AT_SPEARS, (4, 4), (4, *(6, 1, 1) * 4)),
        "Fire Ball strikes Spears: 3 wounds. Spears: wiped out. 18 points to the caster.",
    ),
    "victory points": (
        army(FIRE_BALL), army(units=[unit("Spears", 3, points=7.0), unit("Bows")], dispel_dice=0),
        TALLIED, (*AT_SPEARS, (6, 5), (2, *(6, 1, 1) * 2)),
        ("Fire Ball strikes Spears: 2 wounds. Spears: 2 models lost, 1 left. "
         "11 victory points to the caster."),
    ),
    "a rallied unit": (
        army(wizard(4, known("The Oxen Stands")), units=[unit("Spears", fleeing=True)]),
        army(units=[unit("Bows")], dispel_dice=0), {}, (*CAST, (6, 6)),
        ("6 6: irresistible force, The Oxen Stands is cast. The flight of Spears ends. "
         "24 points to the caster. The battle ends: 24 points to the caster."),
    ),
    "a bound spell that is destroyed": (
        army(wizard(1, spell("Bolt")), heroes=[{"name": "Captain", "items": ["Ring"]}]),
        army(items=["Sigil of Asuryan"], units=[unit()], dispel_dice=0),
        {"items": [RING], "ruleset": "7e", "phases": 4}, (FIRST_CAST + 1, FIRST_ITEM, (5,)),
        "5: the spell is dispelled and destroyed, on 4+. Captain loses the bound Fire Ball.",
    ),
    "a miscast table without words": (
        army(wizard(4, spell(), spell("Beam"))), army(),
        miscast({"kind": "points_lost", "points": 30.0}), (*CAST, (1, 1), (3, 3)),
        "3 3: miscast: points lost. 30 points to the dispeller.",
    ),
}  # fmt: skip
"""Both armies, keys of the scenario, a script, and the last description."""


@pytest.mark.parametrize("name", ENDINGS)
def test_effects_are_described(name: str) -> None:
    caster, dispeller, keys, script, words = ENDINGS[name]
    assert words_of(narrate(caster, dispeller, **keys), *script)[-1] == words


def test_aims_are_described() -> None:
    foes = army(units=[unit("Spears", 10), unit("Bows", 3)], dispel_dice=0)
    script = FIRST_CAST, SPEARS + 1, FIRST_DICE + 2, (4, 4)
    assert words_of(narrate(army(FIRE_BALL), foes), *script) == [
        "Mage begins to cast Fire Ball (5+).",
        "Mage aims at Bows.",
        "Mage throws 2 dice at Bows.",
        "4 4: 8 against 5, Fire Ball is cast; no dispel attempt is possible.",
    ]


def test_hits_that_are_shared_out() -> None:
    hero = {"name": "Hans", "unit": "Bows", "wounds": 2}
    foes = army(units=[unit("Spears", 10), unit("Bows", 3)], heroes=[hero], dispel_dice=0)
    narrated = narrate(army(FIRE_BALL), foes)
    hit, held = (6, 1, 1), (1, 1, 1)
    dice = (5,), (1,), (*hit, *held), (*hit, *held * 2)
    words = words_of(narrated, FIRST_CAST, SPEARS + 1, FIRST_DICE + 2, (4, 4), *dice)
    lost = "1 wound. Hans loses 1 wound, 1 left."
    fallen = "1 wound. Bows: 1 model lost, 2 left."
    assert words[-4:] == [
        "Fire Ball: 5 hits on Bows, shared with the characters in it.",
        "Hans takes an odd hit.",
        f"Fire Ball strikes Hans with 2 hits: {lost} 50 points to the caster.",
        f"Fire Ball strikes Bows with 3 hits: {fallen} 6 points to the caster.",
    ]


def test_a_spell_that_remains_in_play_begins_and_ends() -> None:
    caster = army(wizard(4, lasting("Ward"), spell("Beam")), power_dice=6)
    narrated = narrate(caster, army(dispel_dice=0), phases=2)
    cast = "4 4: 8 against 5, Ward is cast; no dispel attempt is possible. Ward is in"
    assert words_of(narrated, FIRST_CAST, FIRST_DICE + 2, (4, 4))[-1].startswith(cast)
    assert "Ward is in play no more" in narrated.act(FIRST_CAST + 1).words


def test_the_point_of_a_comet_is_described() -> None:
    places = {"Left": [20.0, 30.0], "Right": [28.0, 30.0], "Far": [60.0, 44.0]}
    narrated = narrate(
        army(wizard(4, known("The Comet of Casandora"), position=[40.0, 4.0]), power_dice=6),
        army(units=[unit(name, position=at, facing=180.0) for name, at in places.items()]),
        battlefield={"width": 72.0, "depth": 48.0},
        phases=2,
    )
    narrated.act(FIRST_CAST)
    names, battle = narrated.names, narrated.battle
    texts = [names.aimed_at(battle.packed, 0, a - FIRST_TARGET) for a in battle.legal_actions()]
    assert len(set(texts)) == len(texts)
    assert all(words.startswith(f"point {k} (") for k, words in enumerate(texts, 1))
    words = next(each for each in texts if "Left" in each and "Right" in each)
    side = r"\d inch(es)? from (Left|Right)"
    assert re.fullmatch(rf"point \d+ \({side}, {side}\)", words)
    assert any(re.fullmatch(r"point \d+ \((1 inch from|on) Far\)", each) for each in texts)
    action = battle.legal_actions()[texts.index(words)]
    said = words_of(narrated, action, FIRST_DICE + 2, (6, 6))
    assert said[:2] == [f"Mage aims at {words}.", f"Mage throws 2 dice at {words}."]
    assert f"The Comet of Casandora is on its way to {words}." in said[2]
    caster = army(wizard(4, known("The Comet of Casandora")))
    narrated = narrate(caster, army(units=[unit("Left"), unit("Right")]), phases=2)
    assert words_of(narrated, FIRST_CAST, SPEARS)[1] == "Mage aims at Left."


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_the_visible_position_is_the_state_until_the_last_phases(scenario: str) -> None:
    narrated = NarratedBattle(load_scenario(scenario))
    checked = 0
    for event in narrate_randomly(narrated, np.random.default_rng(1)):
        assert event.words.endswith(".")
        assert "  " not in event.words
        state, shown = narrated.battle.state, narrated.visible.state
        for field in ("node", "mover", "power", "dispel", "castable", "spell"):
            assert state[field] == shown[field]
        if int(state.phase) + 1 < int(narrated.battle.packed.phases):
            checked += 1
            assert narrated.battle.key() == narrated.visible.key()
    assert checked or int(narrated.battle.packed.phases) == 1
    assert narrated.battle.is_over


def test_the_end_of_a_battle_is_still_visible() -> None:
    narrated = NarratedBattle(load_scenario("archmage-duel"))
    narrated.act(PASS)
    assert narrated.battle.is_over
    assert not narrated.battle.state.wounds.any()
    assert narrated.visible.state.wounds[:, 0].tolist() == [3, 3]
    assert narrated.visible.state.items[1, 0] == 1
    narrated = narrate(  # the last caster is slain
        army(wizard(4, spell(), name="One", wounds=1)),
        army(wizard(2, name="Two"), units=[unit("Spears")]),
    )
    words = words_of(narrated, FIRST_CAST, FIRST_DICE + 2, (1, 1), (1, 1), (6, 1, 1))
    assert "One is slain." in words[-1]
    assert narrated.battle.is_over
    assert narrated.visible.state.wounds[:, 0].tolist() == [0, 2]
    assert narrated.visible.state.unit_wounds[1, 0] == 10


@pytest.mark.parametrize("script", [(PASS,), (FIRST_CAST, FIRST_DICE + 1, (1,))])
def test_no_unit_loses_models_at_the_end_of_a_battle_with_one_caster(script: Any) -> None:
    foes = army(units=[unit("Spears", 30)], dispel_dice=0)
    narrated = narrate(army(wizard(2, known("Fire Ball"))), foes)
    assert "lost" not in words_of(narrated, *script)[-1]
    assert narrated.battle.is_over
    assert narrated.visible.state.unit_wounds[1, 0] == 30


def test_losses_on_the_table_add_up_to_the_points() -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        narrated = NarratedBattle(load_scenario("border-skirmish").first_phases(1))
        lost = 0.0
        for _ in narrate_randomly(narrated, rng):
            pass
        for side, sign in ((0, -1.0), (1, 1.0)):
            for k, each in enumerate(narrated.scenario.armies[side].units):
                wounds = int(narrated.visible.state.unit_wounds[side, k])
                lost += sign * (each.models - -(-wounds // each.wounds)) * each.points
            for k, character in enumerate(narrated.scenario.armies[side].characters):
                left = int(narrated.visible.state.wounds[side, k])
                lost += sign * (character.wounds - left) * character.points / character.wounds
        assert lost == pytest.approx(narrated.battle.points)


def test_rerolls() -> None:
    luck = {"name": "Luck", "uses": 1, "reroll": {"of": "cast", "dice": "one"}}
    caster = army(wizard(4, spell(), spell("Beam"), items=["Luck"]), power_dice=6)
    kept, again = (narrate(caster, army(dispel_dice=0), items=[luck]) for _ in range(2))
    words = words_of(kept, FIRST_CAST, FIRST_DICE + 2, (2, 4), PASS)
    assert words[-2] == "2 4: the dice may be re-rolled."
    assert words[-1].startswith("Mage keeps the roll: 6 against 5, Bolt is cast")
    words = words_of(again, FIRST_CAST, FIRST_DICE + 2, (2, 2), actions.FIRST_REROLL + 1, (5,))
    assert words[-2] == "Mage re-rolls a 2."
    assert words[-1].startswith("5: 7 against 5, Bolt is cast")


def test_items_that_boost_do_not_dispel_by_themselves() -> None:
    ring = {"name": "Ring", "uses": 1, "when_dispelling": {"bonus": 2}}
    tries = "The dispeller tries to dispel with 1 die and"
    for uses, words in (
        (1, f"{tries} the Ring against 8 with +2."),
        (2, f"{tries} 2 uses of the Ring against 8 with +4."),
    ):
        foes = army(dispel_dice=1, items=["Ring"] * uses)
        narrated = narrate(army(wizard(4, spell(), spell("Beam"))), foes, items=[ring])
        uses_of_ring = [FIRST_ITEM] * uses  # the last one also commits the only die
        said = words_of(narrated, FIRST_CAST, FIRST_DICE + 2, (4, 4), *uses_of_ring, (6,))
        assert said[-2:] == [words, f"6: {6 + 2 * uses} against 8, Bolt is dispelled."]


def test_spells_in_play_are_dispelled_later_and_ones_own_is_marked() -> None:
    both = lasting("Ward", in_play=True)
    idle = {"power_dice": 0, "dispel_dice": 0}
    defender = army(wizard(2, both), power_dice=0, dispel_dice=4)
    narrated = narrate(army(wizard(1, spell()), **idle), defender)
    assert narrated.battle.node == Node.IN_PLAY
    words = words_of(narrated, narrated.battle.legal_actions()[1], FIRST_DICE + 2, (4, 4))
    assert words[:2] == [
        "The dispeller tries to dispel Ward, its own.",
        "The dispeller tries to dispel Ward (5+), its own, in play, with 2 dice against 5.",
    ]
    assert words[2].startswith("4 4: 8 against 5, Ward is dispelled.")
    narrated = narrate(army(wizard(2, both), **idle), defender)
    narrated.act(PASS)
    texts = [each.text for each in describe_choices(narrated.names, narrated.battle).values()]
    tried = "try to dispel Ward"
    assert texts == ["leave the spells in play", f"{tried}, its own", tried]


def test_every_lock_and_duration_has_words() -> None:
    assert set(changes.LOCKS) == set(view_armies._LOCKS) == set(Lock) - {Lock.NONE}
    assert set(changes._ENTERS_PLAY) == set(Duration) - {Duration.INSTANT}
