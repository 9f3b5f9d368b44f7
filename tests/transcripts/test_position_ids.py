"""Position ids: the same position again, nothing hidden revealed, and hostile texts rejected."""

import json
import re
import zlib
from collections.abc import Iterator
from itertools import islice
from random import Random

import numpy as np
import pytest

from tests.support.hidden import scenarios as hidden_examples
from tests.support.playing import narrate_randomly, some
from wfb_gym.engine.hidden_items import deal_instead
from wfb_gym.engine.state import Node
from wfb_gym.generating import OPTIONS_BY_NAME, TEST_SEEDS, Generation, generate
from wfb_gym.scenario import Scenario, bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.scenario.loading import scenario_from_dict
from wfb_gym.transcripts import NarratedBattle, position_from_id, position_id
from wfb_gym.transcripts.position_ids import POSITION
from wfb_gym.transcripts.text_codes import TextCodeError, decode, encode, to_base62
from wfb_gym.view.hidden_sets import ALL_ARMIES, may_be_dealt

HIDDEN = hidden_examples()
MOST_AT_START, MOST_IN_AN_ADDRESS = 100, 2000
GENERATED = {
    name: options for name, options in OPTIONS_BY_NAME.items() if isinstance(options, Generation)
}


def decisions(scenario: Scenario, seed: int, most: int = 40) -> Iterator[NarratedBattle]:
    """Play at random; yields at up to `most` decisions."""
    narrated = NarratedBattle(scenario)
    events = narrate_randomly(narrated, np.random.default_rng(seed))
    yield from islice((narrated for _ in events if narrated.battle.is_decision()), most)


def assert_same_again(narrated: NarratedBattle) -> str:
    battle, scenario = narrated.battle, narrated.scenario
    text = position_id(scenario, battle, visible=narrated.visible, known=ALL_ARMIES)
    assert re.fullmatch(r"[0-9A-Za-z.-]+", text)
    again = position_from_id(f" {text}\n")
    assert (again.scenario, again.unknown) == (scenario, ())
    assert (again.battle.key(), again.battle.points) == (battle.key(), battle.points)
    assert again.battle.legal_actions() == battle.legal_actions()
    assert again.visible.key() == narrated.visible.key()
    return text


@pytest.mark.parametrize("name", [*bundled_scenarios(), *hidden_scenarios()])
def test_bundled_scenarios_have_short_ids(name: str) -> None:
    for narrated in islice(decisions(load_scenario(name), 3, some(name, 40, 8)), 0, None, 2):
        text = assert_same_again(narrated)
        assert text.startswith(f"p1.{name}.")
        if narrated.battle.state.phase == 0 and narrated.battle.node == Node.NOMINATE:
            assert len(text) < MOST_AT_START


@pytest.mark.parametrize("kind", GENERATED)
def test_generated_scenarios_are_named_by_kind_and_seed(kind: str) -> None:
    scenario = generate(TEST_SEEDS[5], GENERATED[kind])
    for narrated in decisions(scenario, seed=1, most=10):
        text = assert_same_again(narrated)
        assert re.match(rf"p1\.generated[\w-]*-{TEST_SEEDS[5]}\.", text)


@pytest.mark.parametrize("name", ["long-siege", "border-skirmish", "the-winds-unbound"])
def test_own_scenarios_are_part_of_the_id(name: str) -> None:
    mine = scenario_from_dict(dict(load_scenario(name)) | {"description": "mine"})
    for narrated in decisions(mine, seed=2, most=3):
        text = assert_same_again(narrated)
        assert text.startswith("p1.own.")
        assert len(text) < MOST_IN_AN_ADDRESS


def test_only_decisions_have_ids() -> None:
    narrated = NarratedBattle(HIDDEN["both"])
    with pytest.raises(ValueError, match="expected a decision, found DEAL"):
        position_id(narrated.scenario, narrated.battle)


# --- hidden items --------------------------------------------------------------------------


@pytest.mark.parametrize("name", HIDDEN)
def test_an_id_does_not_depend_on_what_it_hides(name: str) -> None:
    """Compare positions with every other deal that fits the items shown."""
    compared = 0
    for seed in range(3):
        for narrated in islice(decisions(HIDDEN[name], seed), seed, None, 3):
            for army in ALL_ARMIES:
                for kind in range(int(narrated.battle.packed.armies[army].n_kinds)):
                    compared += compare_with_other_deal(narrated, army, kind)
    assert compared


def compare_with_other_deal(narrated: NarratedBattle, army: int, kind: int) -> bool:
    """Compare the ids of a position and of one with another set; returns whether it fits."""
    scenario, twins = narrated.scenario, []
    for battle in (narrated.battle, narrated.visible):
        if not may_be_dealt(battle, army, kind):
            return False
        twins.append(battle.copy())
        deal_instead(battle.packed, twins[-1].state, army, kind)
    for known in ((), (1 - army,)):
        text = position_id(scenario, narrated.battle, visible=narrated.visible, known=known)
        assert text == position_id(scenario, twins[0], visible=twins[1], known=known)
        again = position_from_id(text)
        assert army in again.unknown
        is_dealt = bool(narrated.battle.state.hidden_set[1 - army])
        assert (1 - army in again.unknown) == (not known and is_dealt)
        if narrated.battle.mover != army:
            assert len(again.battle.legal_actions()) >= 1
    own = position_from_id(position_id(scenario, twins[0], visible=twins[1], known=(army,)))
    assert int(own.battle.state.hidden_set[army]) == kind + 1
    return bool(narrated.battle.state.hidden_set[army] != kind + 1)


# --- hostile texts -------------------------------------------------------------------------


def an_id() -> str:
    narrated = list(decisions(load_scenario("border-skirmish"), seed=1, most=12))[-1]
    return position_id(narrated.scenario, narrated.battle, visible=narrated.visible)


def test_a_mistyped_letter_is_noticed() -> None:
    text = an_id()
    for place in range(len(text)):
        for other in ("a" if text[place] != "a" else "b", ""):
            changed = text[:place] + other + text[place + 1 :]
            with pytest.raises(TextCodeError, match=r"^expected a position id, found "):
                position_from_id(changed)


def test_changed_data_with_a_right_checksum_is_rejected_or_playable() -> None:
    text, random = an_id(), Random(7)
    scenario, data = decode(POSITION, text)
    rejected = played = 0
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 5))):
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        try:
            found = position_from_id(encode(POSITION, scenario, bytes(changed)))
        except TextCodeError as error:
            rejected += "\n" not in str(error)
        else:
            narrated = NarratedBattle(scenario)
            narrated.set_state(found.battle.state, found.battle.points, found.visible)
            narrated.view(0)
            for _ in narrate_randomly(narrated, np.random.default_rng(0)):
                pass
            played += narrated.battle.is_over
    assert rejected + played == 150
    assert rejected > 100


HOSTILE = {
    "": "a code begins with p1. and a scenario",
    "p1": "a code begins with p1. and a scenario",
    "p1.archmage-duel": "a code begins with p1. and a scenario",
    "p1.archmag-duel.00000000000": r"did you mean archmage-duel\?",
    "p1.../../etc/passwd.00000000000": "a code begins with p1. and a scenario",
    "g1.archmage-duel.00000000000": "a code begins with p1. and a scenario",  # a game line
    "p1.army.toml.00000000000": "no document with army",
    "p1.archmage-duel.0000000000_": "a part is mistyped or missing",
    "p1.archmage-duel.zzzzzzzzzzz": "a part is mistyped or missing",
    "p1.archmage-duel.00000000000": "it is mistyped, or another version of wfb_gym made it",
    "p1.generated-9999999999.00000000000": "expected a whole number from 0 to 4294967295",
    f"p1.generated-{'9' * 5000}.00000000000": "expected a position id",
    "p1.own.00000000000": "the scenario's document is mistyped or missing",
    "p1.own.00000000000.00": "the scenario's document is mistyped",
    f"p1.archmage-duel.{'0' * 20_000}": "at most 16,384 characters, found 20,0",
    "p1.archmage-duel.\N{SUPERSCRIPT TWO}00": "a part is mistyped or missing",
    "p1.\N{ARABIC-INDIC DIGIT ONE}.00000000000": "expected the name of a scenario",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_rejected_in_one_line(text: str) -> None:
    with pytest.raises(TextCodeError, match=HOSTILE[text]) as reply:
        position_from_id(text)
    message = str(reply.value)
    assert "\n" not in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("document", "reply"),
    [
        (bytes(2**23), "at most 131,072 bytes"),  # 8 MB of zeros in 8 KB
        (b"[" * 100_000, "expected a position id"),
        (b'{"a":' * 20_000, "expected a position id"),
        (b"[1, 2]", "expected a scenario's document"),
        (b'{"name": 1e999}', "name: expected"),
        (b"\xff\xfe", "expected a position id"),
        (json.dumps({"name": "x", "caster": {}, "dispeller": {}}).encode(), "it is mistyped"),
    ],
)
def test_hostile_documents_are_rejected(document: bytes, reply: str) -> None:
    text = f"p1.own.00000000000.{to_base62(zlib.compress(document, 9))}"  # without a right checksum
    with pytest.raises(TextCodeError, match=reply):
        position_from_id(text)
