"""Transcripts: written, read, replayed, and rejected if they were changed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.envs.test_generated import SMALL
from tests.support.playing import EVERY_SCENARIO, episode, lines_of, picks, raw, recorded
from tests.test_files import little_memory
from wfb_gym.generating import Generated
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import Transcript, TranscriptError, read, record, replay, write

DUEL = "archmage-duel"


def write_to(transcript: Transcript, folder: Path) -> Path:
    path = folder / "battle.jsonl"
    write(transcript, path)
    return path


def rewrite(path: Path, lines: list[Any]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def duel(tmp_path: Path) -> Path:
    return write_to(record(DUEL, "veteran", "greedy", seed=1), tmp_path)


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_round_trip(scenario: str, tmp_path: Path) -> None:
    transcript = recorded(scenario)
    again = read(write_to(transcript, tmp_path))
    assert again == transcript
    narrated, events = replay(again)
    assert events == list(transcript.events)
    assert narrated.battle.is_over
    assert narrated.battle.points == transcript.points


def test_only_other_scenarios_than_bundled_ones_are_included(duel: Path, tmp_path: Path) -> None:
    assert lines_of(duel)[0]["scenario"].keys() == {"name", "digest"}
    mine = load_scenario(DUEL).model_copy(update={"phases": 3})  # of the same name
    for scenario in (mine, Generated("train", 1, options=SMALL).scenarios()[0]):
        path = write_to(record(scenario, "greedy", "greedy", seed=0), tmp_path)
        assert "document" in lines_of(path)[0]["scenario"]
        assert read(path).scenario == scenario
        replay(read(path))


def test_an_interrupted_battle(duel: Path) -> None:
    header, *rows, _ = lines_of(duel)
    rewrite(duel, [header, *rows[:2], {"result": 0.0, "over": False}])
    narrated, events = replay(read(duel))
    assert len(events) == 2
    assert not narrated.battle.is_over


def test_the_same_seed_is_the_same_battle_as_in_an_environment() -> None:
    transcript = record(DUEL, picks, "veteran", seed=9)
    env = raw("wfb_gym/Caster-v0", scenario=DUEL, opponent="veteran", points_per_reward=1.0)
    assert sum(step.reward for step in episode(env, 9)) == pytest.approx(transcript.points)


@pytest.mark.parametrize(
    "name", ["\x1b[31mred", "a\u202eb", "two\nlines", "\ud800", "x" * 101, " "]
)
def test_names_that_break_the_rule_for_names(name: str, duel: Path) -> None:
    with pytest.raises(ValueError, match="transcript: expected the names of two players"):
        Transcript(load_scenario(DUEL), (name, "greedy"), 1, (), 0.0, over=False)
    assert "expected the names of two players" in tamper(duel, 0, players=[name, "greedy"])


def test_players_have_names_and_paths_are_shortened(tmp_path: Path) -> None:
    class Named:
        name = f"/{'folder/' * 20}\x1b[31m/caster.npz"

        def __call__(self, observations: Any, masks: Any) -> Any:
            return picks(observations, masks)

    assert record(DUEL, picks, "greedy", seed=0).players == ("picks", "greedy")
    assert record(DUEL, picks, "greedy", seed=0, names=("me", "you")).players == ("me", "you")
    transcript = record(DUEL, Named(), "greedy", seed=0)
    assert len(transcript.players[0]) == 100
    assert transcript.players[0].endswith("?[31m/caster.npz")
    assert read(write_to(transcript, tmp_path)) == transcript


def test_a_policy_with_illegal_actions() -> None:
    with pytest.raises(ValueError, match=r"player: action .* is illegal"):
        record(DUEL, lambda observations, masks: (~masks).argmax(axis=1), "greedy", seed=0)


def refusal(path: Path) -> str:
    with pytest.raises(TranscriptError) as caught:
        replay(read(path))
    return str(caught.value)


def tamper(path: Path, number: int | str, **fields: Any) -> str:
    """Change fields of a line, counted from 0, or of the first line at a node; return the error."""
    rows = lines_of(path)
    if isinstance(number, str):
        number = next(k for k, row in enumerate(rows) if row.get("node") == number)
    number %= len(rows)
    rows[number].update(fields)
    rewrite(path, rows)
    message = refusal(path)
    assert message.startswith(f"{path}, line {number + 1}: expected ")
    return message


@pytest.mark.parametrize(
    ("number", "fields", "message"),
    [
        *(("ROLL_CASTING", {"roll": roll, "outcome": -1}, "") for roll in ([7], [], ["x"], [2.0])),
        *(("ROLL_CASTING", {"points": points}, '"points"') for points in (1.0, float("nan"))),
        (1, {"act": 1}, '"act": one of ['),
        (1, {"act": 2**64 - 1}, f"found {2**64 - 1}"),
        (1, {"points": 10**400}, ""),
        *((1, {"army": army}, "") for army in (1, 10**400)),
        (1, {"node": "NOWHERE"}, ""),
        *((1, {"words": words}, '"words"') for words in ("\x1b[2J", "x" * 2001, "\ud800")),
        (-1, {"result": 1e6}, '"result"'),
        (-1, {"over": False}, '"over": true'),
        (0, {"version": 2}, "format version 1, found 2"),
        (0, {"version": "1"}, '"version", a whole number, found "1"'),
        (0, {"players": ["one"]}, "the names of two players"),
        (0, {"seed": "x"}, '"seed", a whole number or null'),
        (0, {"seed": 1 << 128}, '"seed", a whole number from 0'),
        (0, {"scenario": "archmage-duel"}, '"scenario", an object'),
        (0, {"scenario": {"name": "nobody", "digest": ""}}, "a bundled scenario's name"),
        (0, {"scenario": {"name": DUEL, "digest": "0"}}, "the current archmage-duel, digest "),
        (0, {"scenario": {"name": "x", "digest": "", "document": {}}}, "a scenario, found"),
        (0, {"scenario": {"name": "x", "digest": "", "document": {"x": [0] * 129}}}, "at most 128"),
    ],
)
def test_a_changed_line_is_rejected(
    duel: Path, number: int | str, fields: dict[str, Any], message: str
) -> None:
    assert message in tamper(duel, number, **fields)


def test_other_dice_give_another_outcome(duel: Path) -> None:
    faces = next(row for row in lines_of(duel) if row.get("node") == "ROLL_CASTING")["roll"]
    changed = tamper(duel, "ROLL_CASTING", roll=[1] * len(faces))
    assert f"dice that give the recorded outcome, found {' '.join('1' * len(faces))}" in changed


def test_exchanged_missing_and_extra_lines(duel: Path) -> None:
    header, first, *rows = lines_of(duel)
    called = {**first, "roll": [], "outcome": 0}
    del called["act"]
    for lines, message in (
        ([header, called, *rows], "line 2: expected a decision, found a roll"),
        ([header, *rows], ", line 2: expected army 0 at NOMINATE"),
        ([header, first, *rows[:-1], *rows[-2:]], f"line {len(rows) + 2}: expected the result"),
    ):
        rewrite(duel, lines)
        assert message in refusal(duel)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected the header of a transcript, found something else: this is no tra"),
        ("# A README\n\nwords\n", "found something else: this is no transcript"),
        ("{}\n", "line 1: expected a header"),
        ("[]\n{}\n", "line 1: expected a JSON object"),
        ("{}\n{}\n", 'line 1: expected "format": "wfb_gym transcript", found None: this is no'),
        ("{}\n{oops\n", "line 2: expected a JSON object"),
        ("[" * 100_000, "expected a transcript, found a damaged or unsupported file"),
        ('{"format": "one\\ntwo"}\n{}\n', 'line 1: expected "format": "wfb_gym transcript"'),
        (b"\xff\xfe", "expected text in UTF-8"),
    ],
)
def test_another_file(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = tmp_path / "battle.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert message in refusal(path)
    with pytest.raises(FileNotFoundError, match="expected a transcript, found no file"):
        read(tmp_path / "none.jsonl")


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "battle.jsonl"
    monkeypatch.setattr(json, "loads", None)  # none of it is parsed
    for text, message in (
        ("{}\n" * 10_001, "line 10001: expected at most 10,000 lines, found 10,001"),
        ("{" + " " * 2**19 + "}\n{}\n", "line 1: expected at most 524,288 characters, found"),
    ):
        path.write_text(text, encoding="utf-8")
        assert message in refusal(path)


def test_no_more_of_a_file_is_read_than_a_transcript_has(tmp_path: Path) -> None:
    path = tmp_path / "battle.jsonl"
    path.write_bytes(b"{}\n")
    os.truncate(path, 2**29)  # it takes no disk space on most systems
    message = r"a transcript, .*more than 4,194,304 bytes"
    with little_memory(), pytest.raises(TranscriptError, match=message):
        read(path)
