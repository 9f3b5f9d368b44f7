"""Battles with hidden items: described, written in full or in public, and replayed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.hidden import LUCK, SCROLL, STONE, hidden_scenario, kinds, other_deals, scenarios
from tests.support.playing import lines_of, narrate, narrate_randomly
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node
from wfb_gym.opponents.policy_spec import PolicySpec
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts import NarratedBattle, Transcript, read, record, replay, write
from wfb_gym.transcripts.recording import make_chooser, rng_of_seed
from wfb_gym.transcripts.transcript import TranscriptError
from wfb_gym.view import hidden_sets
from wfb_gym.view.events import redact_event
from wfb_gym.view.hidden_sets import ALL_ARMIES, chances_words, known_items, redact

SCENARIOS = scenarios()
NAMES = list(SCENARIOS)
READ_SCROLL = actions.FIRST_CAST, actions.FIRST_DICE + 2, (6, 5), actions.FIRST_ITEM
TWICE = hidden_scenario(dispeller=kinds([], [SCROLL], [SCROLL, SCROLL], weights=[1.0, 2.0, 1.0]))


def play(scenario: Scenario, seed: int) -> Transcript:
    """Play a battle at random, with items used whenever they can be."""
    narrated = NarratedBattle(scenario)
    events = tuple(narrate_randomly(narrated, np.random.default_rng(seed)))
    return Transcript(scenario, ("one", "other"), 5, events, narrated.battle.points, True)


def test_a_deal_is_described_only_to_its_owner() -> None:
    narrated = NarratedBattle(SCENARIOS["both"])
    assert narrated.opening == "hidden items are dealt"
    events = [narrated.resolve(0), narrated.resolve(1)]
    rest = "Phase 1 of 1: the caster with 3 power dice, the dispeller with 2 dispel dice."
    assert [(event.kind, event.army, event.node, event.words) for event in events] == [
        ("roll", 0, Node.DEAL, "Chance deals the caster: Power Stone."),
        ("roll", 1, Node.DEAL, f"Chance deals the dispeller: nothing. {rest}"),
    ]
    one, two = (redact_event(narrated.names, event, (0,)) for event in events)
    assert one is events[0]
    assert two.words == f"Chance deals the dispeller its hidden items. {rest}"
    assert two.code == hidden_sets.UNREVEALED


@pytest.mark.parametrize("name", NAMES)
def test_full_and_public_transcripts_are_played_again(name: str, tmp_path: Path) -> None:
    path = tmp_path / "battle.jsonl"
    for seed in range(3):
        transcript = play(SCENARIOS[name], seed)
        write(transcript, path)
        again = read(path)
        assert again == transcript
        narrated, events = replay(again)
        assert events == list(transcript.events)
        assert narrated.battle.is_over
        dealt = {event.army: event.code + 1 for event in events if event.node == Node.DEAL}
        assert narrated.battle.state.hidden_set.tolist() == [0, 0]
        assert narrated.visible.state.hidden_set.tolist() == [dealt.get(k, 0) for k in ALL_ARMIES]
        write(transcript, path, public=True)
        again = read(path)
        assert again.is_public
        assert again.seed is None
        narrated, events = replay(again)
        assert narrated.battle.points == pytest.approx(transcript.points)
        for event, shown in zip(transcript.events, events, strict=True):
            if event.node != Node.DEAL:
                assert event.words == shown.words
        assert again.published() == again


@pytest.mark.parametrize("name", NAMES)
def test_a_public_transcript_does_not_depend_on_the_deal(name: str) -> None:
    """Compare the same play with each other deal that fits it."""
    compared = 0
    for seed in range(4):
        transcript = play(SCENARIOS[name], seed)
        deals = [event.code for event in transcript.events if event.node == Node.DEAL]
        for place in range(len(deals)):
            for kind in range(4):
                other = other_deal(transcript, [*deals[:place], kind, *deals[place + 1 :]])
                if other is not None:
                    assert other.published() == transcript.published()
                    compared += kind != deals[place]
    assert compared


def other_deal(transcript: Transcript, deals: list[int]) -> Transcript | None:
    """Return the same play after another deal; None if it is impossible."""
    narrated, events, left = NarratedBattle(transcript.scenario), [], iter(deals)
    for event in transcript.events:
        battle = narrated.battle
        if battle.node == Node.DEAL:
            kind = next(left)
            if kind >= len(transcript.scenario.armies[battle.mover].hidden):
                return None
            events.append(narrated.resolve(kind))
        elif battle.is_chance():
            events.append(narrated.resolve(event.code))
        elif event.code in battle.legal_actions():
            events.append(narrated.act(event.code))
        else:
            return None
    points = narrated.battle.points
    return Transcript(transcript.scenario, transcript.players, 5, tuple(events), points, True)


@pytest.mark.parametrize("public", [False, True])
def test_only_a_public_file_hides_the_deal(public: bool, tmp_path: Path) -> None:
    path = tmp_path / "battle.jsonl"
    write(play(TWICE, 1), path, public=public)
    header, deal, *_ = lines_of(path)
    assert header.get("public", False) is public
    assert (header["seed"] is None) is public
    assert (deal["node"], deal["roll"]) == ("DEAL", [])
    assert deal["outcome"] in ((None,) if public else (0, 1, 2))
    assert not public or "Dispel" not in deal["words"]


def test_a_full_transcript_with_another_deal_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "battle.jsonl"
    write(play(TWICE, 1), path)
    lines = lines_of(path)
    for outcome, message in (
        (None, 'line 2: expected "outcome", a whole number'),
        (3, r"line 2: expected .*one of \[0, 1, 2\]"),
    ):
        lines[1]["outcome"] = outcome
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        with pytest.raises(TranscriptError, match=message):
            replay(read(path))


def test_a_use_of_an_item_in_no_set_is_rejected() -> None:
    narrated = NarratedBattle(TWICE)
    events = [narrated.resolve(2), *narrate(narrated, *READ_SCROLL)]
    points = narrated.battle.points
    fewer = hidden_scenario(dispeller=kinds([], [STONE], [LUCK]))
    transcript = Transcript(fewer, ("one", "other"), None, tuple(events), points, False)
    with pytest.raises(TranscriptError, match='line 6: expected "act": one of'):
        replay(transcript.published())


def test_players_of_all_kinds_play_with_hidden_items() -> None:
    for caster, dispeller in (("veteran", "random"), ("search:1", "phase-search")):
        transcript = record(SCENARIOS["both"], caster, dispeller, seed=2)
        assert transcript.over
        replay(transcript)
    with pytest.raises(ValueError, match="expected a scenario in which nothing is hidden"):
        record(SCENARIOS["both"], "optimal", "random", seed=2)
    transcript = record("archmage-duel", "veteran", "greedy", seed=1)
    assert transcript.published() is transcript


@pytest.mark.parametrize("player", ["greedy", "veteran", "phase-search", "search:1"])
def test_choices_of_players_do_not_depend_on_the_enemys_deal(player: str) -> None:
    compared, spec = 0, PolicySpec.parse(player)
    for name in ("both", "three spells"):
        narrated = NarratedBattle(SCENARIOS[name])
        players = [player if spec.is_scripted else spec.make() for _ in ALL_ARMIES]
        chosen = [make_chooser(each, narrated, seat) for seat, each in enumerate(players)]
        rng = rng_of_seed(1)
        for event in play(SCENARIOS[name], 4).events:
            battle = narrated.battle
            if battle.is_decision():
                expected = chosen[battle.mover](battle, rng)
                for twin in other_deals(battle, 1 - battle.mover):
                    assert chosen[battle.mover](twin, rng) == expected
                    compared += 1
            (narrated.act if battle.is_decision() else narrated.resolve)(event.code)
    assert compared


def test_sets_in_words() -> None:
    of_army = hidden_sets.hidden_sets
    words = "nothing (25%), Dispel Scroll (50%), Dispel Scroll x2 (25%)"
    assert chances_words(of_army(TWICE.dispeller)) == words
    bearers: list[Any] = [{"items": [STONE], "bearer": "Mage"}, {"items": [STONE]}]
    found = [each.words for each in of_army(hidden_scenario(caster=bearers).caster)]
    assert found == ["Power Stone of Mage", "Power Stone of the army"]
    army = hidden_scenario(dispeller=kinds([], [SCROLL], weights=[1.0, 0.0])).dispeller
    assert chances_words(of_army(army)) == "nothing"  # a set of weight 0 is not listed


def test_a_use_leaves_the_sets_that_have_it() -> None:
    narrated = NarratedBattle(TWICE)
    narrated.resolve(2)
    battle, names = narrated.battle, narrated.names
    sets_that_may_be = hidden_sets.sets_that_may_be
    assert [each.kind for each in sets_that_may_be(names, battle, 1)] == [0, 1, 2]
    assert known_items(names, battle, 1, False) == {}
    assert known_items(names, battle, 1, True) == {0: (2, 2)}
    narrate(narrated, *READ_SCROLL)
    may_be = sets_that_may_be(names, battle, 1)
    assert [(each.kind, round(each.chance, 6)) for each in may_be] == [(1, 0.666667), (2, 0.333333)]
    assert known_items(names, battle, 1, False) == {0: (0, 1)}
    assert known_items(names, battle, 1, True) == {0: (1, 2)}


def test_a_redacted_position_has_the_item_declared_with_the_pending_cast() -> None:
    narrated = NarratedBattle(hidden_scenario(caster=kinds([], [STONE], weights=[3.0, 1.0])))
    narrated.resolve(1)
    narrated.act(actions.FIRST_CAST)
    assert redact(narrated.battle, ()).state.hidden_set[0] == 1  # the likeliest, without a stone
    narrated.act(actions.FIRST_ITEM)
    battle = narrated.battle
    assert (battle.node, battle.state.cast_item) == (Node.POOL_DICE, 1)
    seen = redact(battle, (1,))
    assert seen.state.hidden_set[0] == 2
    assert seen.state.items[0, 0] == 1
    assert [each.kind for each in hidden_sets.sets_that_may_be(narrated.names, battle, 0)] == [1]
    narrated.act(actions.FIRST_DICE + 2)  # the stone is used
    assert redact(battle, ()).state.hidden_set[0] == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_redacted_position_does_not_depend_on_the_deal(name: str) -> None:
    compared = 0
    for seed in range(2):
        narrated = NarratedBattle(SCENARIOS[name])
        for event in play(SCENARIOS[name], seed).events:
            battle = narrated.battle
            if battle.node != Node.DEAL:
                for army in ALL_ARMIES:
                    for twin in other_deals(battle, army):
                        known = (1 - army,)
                        assert redact(twin, known).key() == redact(battle, known).key()
                        compared += 1
            (narrated.act if battle.is_decision() else narrated.resolve)(event.code)
    assert compared
