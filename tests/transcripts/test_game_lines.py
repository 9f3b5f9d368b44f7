"""Game lines: the same transcript again, and hostile texts rejected."""

import re
from itertools import islice

import numpy as np
import pytest

from tests.support.hidden import scenarios as hidden_examples
from tests.support.playing import narrate_randomly
from wfb_gym.generating import TEST_SEEDS, generate
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.transcripts import NarratedBattle, TextCodeError, Transcript, game_line, record
from wfb_gym.transcripts.game_lines import GAME, transcript_from_line
from wfb_gym.transcripts.text_codes import decode, encode

HIDDEN = hidden_examples()
LONG = ("the-winds-unbound", "the-iron-tide", "march-of-the-pale-count")


def play(scenario: Scenario, seed: int, most: int | None = None) -> Transcript:
    """Play at random, to the end or for some events."""
    narrated = NarratedBattle(scenario)
    events = tuple(islice(narrate_randomly(narrated, np.random.default_rng(seed)), most))
    battle, names = narrated.battle, ("me", "\N{SNOWMAN}")
    return Transcript(scenario, names, 7, events, battle.points, battle.is_over)


@pytest.mark.parametrize("name", [each for each in bundled_scenarios() if each not in LONG])
def test_a_battle_in_one_line_is_the_same_transcript(name: str) -> None:
    transcript = record(name, "veteran", "greedy", seed=4)
    line = game_line(transcript)
    assert re.fullmatch(rf"g1\.{name}\.[0-9A-Za-z]+", line)
    assert transcript_from_line(line) == transcript
    random = play(load_scenario(name), 2)
    assert transcript_from_line(game_line(random)) == random


def test_a_duel_is_short() -> None:
    for seed in range(5):
        assert len(game_line(record("archmage-duel", "veteran", "veteran", seed=seed))) < 100


def test_own_and_generated_scenarios_and_broken_off_battles() -> None:
    mine = load_scenario("orc-shaman-hunt").model_copy(update={"name": "mine"})
    for scenario in (mine, generate(TEST_SEEDS[3])):
        for most in (1, 9, None):
            transcript = play(scenario, 5, most)
            assert transcript.over or most
            assert transcript_from_line(f"{game_line(transcript)}\n") == transcript


@pytest.mark.parametrize("name", HIDDEN)
def test_full_and_public_transcripts_with_hidden_items(name: str) -> None:
    for seed in range(3):
        transcript = play(HIDDEN[name], seed)
        assert transcript_from_line(game_line(transcript)) == transcript
        public = transcript.published()
        assert transcript_from_line(game_line(public)) == public


def test_changed_lines_are_rejected() -> None:
    line = game_line(record("orc-shaman-hunt", "veteran", "greedy", seed=4))
    for place in range(len(line)):
        changed = line[:place] + ("a" if line[place] != "a" else "b") + line[place + 1 :]
        with pytest.raises(TextCodeError, match=r"^expected a game line, found "):
            transcript_from_line(changed)
    scenario, data = decode(GAME, line)
    for place in range(8 * len(data)):  # with a right checksum
        number = int.from_bytes(data, "big") ^ 1 << place
        try:
            found = transcript_from_line(encode(GAME, scenario, number.to_bytes(len(data), "big")))
        except TextCodeError:
            continue
        assert found.scenario == scenario
