"""Transcripts of battles: the file format (JSON Lines), and replays that check the rules.

The first line is a header and the last line is the result. Each of the other lines is a decision or
a roll. `recording` records battles.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import TypeAdapter, ValidationError

import wfb_gym
from wfb_gym._jit import rules_digest
from wfb_gym.engine.state import Node
from wfb_gym.files import atomic_write_text, describe_error, read_limited, wrap_read_errors
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario import (
    Scenario,
    ScenarioError,
    bundled_scenarios,
    load_scenario,
    scenario_from_dict,
)
from wfb_gym.scenario.errors import printable
from wfb_gym.scenario.fields import MAX_NAME, Name, Writing
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.view.events import Event, redact_event, redact_events
from wfb_gym.view.hidden_sets import UNREVEALED, sets_that_may_be
from wfb_gym.view.names import ScenarioNames

FORMAT = "wfb_gym transcript"
VERSION = 1
_HEADER = "the header of a transcript"
_NO_TRANSCRIPT = "something else: this is no transcript"
POINTS_TOLERANCE = 1e-9  # maximum difference at which numbers of points count as equal
MAX_BYTES = 2**22  # maximum file size; complete battles in the bundled scenarios take up to 60 KB
MAX_LINES = 10_000
"""Maximum number of lines in a file; complete battles in the bundled scenarios take up to 300."""
MAX_LINE = 2**19
"""Maximum number of characters in a line; the header contains the scenario's document."""
_MAX_SEED = 2**128 - 1
_NAME: TypeAdapter[str] = TypeAdapter(Name)
_WORDS: TypeAdapter[str] = TypeAdapter(Annotated[str, Writing(2000)])
_PLAYERS = f"the names of two players, each of up to {MAX_NAME} printable characters, not blank"


class TranscriptError(ValueError):
    """Raised if a file is not a transcript, or if a transcript breaks the rules."""

    @classmethod
    def at(cls, source: str, line: int, expected: str, found: object) -> Self:
        """Return the error for a line; `found` is shortened to one line."""
        shown = describe_error(ValueError(str(found)))
        return cls(f"{source}, line {line}: expected {expected}, found {shown}")


@dataclass(frozen=True)
class Transcript:
    """A record of a battle as it was played.

    Attributes:
        scenario: the scenario.
        players: names of the first and second armies' players.
        seed: seed for the dice, or None if they were thrown by hand.
        events: all events, in order.
        points: final points, from the first army's perspective.
        over: whether the battle was played to its end.
        source: file name, for error messages.
        is_public: whether it leaves out the deals of hidden items; see `published`.

    Raises:
        ValueError: if a player's name is invalid; see `player_label`.
    """

    scenario: Scenario
    players: tuple[str, str]
    seed: int | None
    events: tuple[Event, ...]
    points: float
    over: bool
    source: str = field(default="transcript", compare=False)
    is_public: bool = False

    def __post_init__(self) -> None:
        """Check the names, since they are printed unchanged."""
        if not _are_players(self.players):
            found = describe_error(ValueError(str(self.players)))
            raise ValueError(f"transcript: expected {_PLAYERS}, found {found}")

    def published(self) -> Self:
        """Return a copy without the deals of hidden items; items that were used are kept.

        The seed is removed too, because it determines the deals. If nothing is hidden, the same
        object is returned.
        """
        if not self.scenario.has_hidden_items:
            return self
        events = redact_events(ScenarioNames(self.scenario), self.events, ())
        return replace(self, seed=None, events=tuple(events), is_public=True)


def player_label(text: str) -> str:
    """Turn a player's name or path into a valid name, keeping the end of a long one.

    A transcript with an invalid name could not be read back.
    """
    shown = printable(text)
    shown = shown if len(shown) <= MAX_NAME else f"...{shown[3 - MAX_NAME :]}"
    return shown if shown.strip() else "player"


def _are_players(names: Any) -> bool:
    """Return whether these are two valid names."""
    return len(names) == 2 and all(_fits(_NAME, name) for name in names)


def _fits(rule: TypeAdapter[str], text: object) -> bool:
    """Return whether a text from a file is valid."""
    try:
        rule.validate_python(text)
    except ValidationError:
        return False
    return True


# --- writing -------------------------------------------------------------------------------


def scenario_digest(scenario: Scenario) -> str:
    """Return the hash of a scenario's document."""
    document = scenario.model_dump_json(exclude_defaults=True)
    return hashlib.sha256(document.encode()).hexdigest()[:16]


def write(transcript: Transcript, path: str | os.PathLike[str], *, public: bool = False) -> None:
    """Write a transcript to a file, overwriting any existing file.

    Args:
        transcript: the transcript.
        path: path of the file.
        public: whether to leave out the deals of hidden items, as `Transcript.published` does.

    Raises:
        OSError: if the file cannot be written.
    """
    atomic_write_text(path, text_of(transcript.published() if public else transcript))


def text_of(transcript: Transcript) -> str:
    """Return the text of a transcript file."""
    result = {"result": transcript.points, "over": transcript.over}
    lines = [_header(transcript), *(_event_fields(event) for event in transcript.events), result]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _header(transcript: Transcript) -> dict[str, Any]:
    scenario = transcript.scenario
    entry: dict[str, Any] = {"name": scenario.name, "digest": scenario_digest(scenario)}
    if scenario.name not in bundled_scenarios() or load_scenario(scenario.name) != scenario:
        entry["document"] = scenario.model_dump(mode="json")
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": entry,
        "players": list(transcript.players),
        "seed": transcript.seed,
        **({"public": True} if transcript.is_public else {}),
        "wfb_gym": wfb_gym.__version__,
        "rules": rules_digest(),
    }


def _event_fields(event: Event) -> dict[str, Any]:
    code: dict[str, Any] = {"act": event.code}
    if event.kind == "roll":
        code = {"roll": list(event.faces), "outcome": event.code}
    if event.node == Node.DEAL and event.code == UNREVEALED:
        code["outcome"] = None
    return {
        "army": event.army,
        "node": event.node.name,
        **code,
        "points": event.points,
        "words": event.words,
    }


# --- reading -------------------------------------------------------------------------------

_TYPE_NAMES: dict[type, str] = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "text",
    type(None): "null",
}


class _Line(NamedTuple):
    """A line in the file: a JSON object and its line number, from 1."""

    source: str
    number: int
    fields: dict[str, Any]

    def error(self, expected: str, found: object) -> TranscriptError:
        return TranscriptError.at(self.source, self.number, expected, found)

    def get(self, key: str, *types: type) -> Any:
        """Return a field that must have one of the given types."""
        expected = f'"{key}", {" or ".join(_TYPE_NAMES[each] for each in types)}'
        if key not in self.fields:
            raise self.error(expected, "none")
        value = self.fields[key]
        if type(value) not in types:
            raise self.error(expected, json.dumps(value))
        return value

    def get_points(self, key: str) -> float:
        """Return a field that contains points; rejects numbers too large for a float."""
        value = self.get(key, int, float)
        try:
            return float(value)
        except OverflowError:
            raise self.error(f'"{key}", points', value) from None


def read(path: str | os.PathLike[str]) -> Transcript:
    """Read a transcript without checking it against the rules, which `replay` does.

    Raises:
        FileNotFoundError: if the file does not exist.
        TranscriptError: if the file is not a transcript. The message contains the file, the line
            and the expected content.
    """
    source = os.fspath(path)
    if not Path(path).is_file():
        raise FileNotFoundError(f"{source}: expected a transcript, found no file")
    with wrap_read_errors(source, "a transcript", TranscriptError):
        return _transcript_of(source, _parse_lines(source, read_limited(path, MAX_BYTES)))


def _transcript_of(source: str, lines: list["_Line"]) -> Transcript:
    if len(lines) < 2:
        raise TranscriptError.at(source, 1, "a header, the battle and its result", "too few lines")
    header, *events, result = lines
    scenario = _read_scenario(header)
    is_public = "public" in header.fields and header.get("public", bool)
    players = header.get("players", list)
    if not _are_players(players):
        raise header.error(_PLAYERS, players)
    seed = header.get("seed", int, type(None))
    if seed is not None and not 0 <= seed <= _MAX_SEED:
        raise header.error('"seed", a whole number from 0 to 2^128 - 1', "another number")
    return Transcript(
        scenario,
        (players[0], players[1]),
        seed,
        tuple(_read_event(line, is_public) for line in events),
        result.get_points("result"),
        result.get("over", bool),
        source,
        is_public,
    )


def _parse_lines(source: str, data: bytes) -> list[_Line]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TranscriptError.at(source, 1, "text in UTF-8", str(error)) from None
    count = text.removesuffix("\n").count("\n") + 1
    if count > MAX_LINES:
        raise TranscriptError.at(
            source, MAX_LINES + 1, f"at most {MAX_LINES:,} lines", f"{count:,}"
        )
    lines = []
    # Not splitlines(), which also splits at separators that a name may contain.
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if len(line) > MAX_LINE:
            expected, found = f"at most {MAX_LINE:,} characters", f"{len(line):,}"
            raise TranscriptError.at(source, number, expected, found)
        try:
            fields = json.loads(line)
        except ValueError as error:
            if number == 1:
                raise TranscriptError.at(source, 1, _HEADER, _NO_TRANSCRIPT) from None
            raise TranscriptError.at(source, number, "a JSON object", str(error)) from None
        if not isinstance(fields, dict):
            raise TranscriptError.at(source, number, "a JSON object", line[:40])
        lines.append(_Line(source, number, fields))
    return lines


def _read_scenario(header: _Line) -> Scenario:
    if header.fields.get("format") != FORMAT:
        found = header.fields.get("format")
        raise header.error(f'"format": "{FORMAT}"', f"{found}: this is no transcript")
    if header.get("version", int) != VERSION:
        raise header.error(f"format version {VERSION}", header.fields["version"])
    entry = _Line(header.source, header.number, header.get("scenario", dict))
    name, digest = entry.get("name", str), entry.get("digest", str)
    document = entry.get("document", dict) if "document" in entry.fields else None
    if document is None and name not in bundled_scenarios():
        raise header.error("a bundled scenario's name, or its document", name)
    try:
        scenario = load_scenario(name) if document is None else scenario_from_dict(document)
    except (ScenarioError, ValueError) as error:
        raise header.error("a scenario", str(error).splitlines()[0]) from error
    if scenario_digest(scenario) != digest:
        raise header.error(f"the current {name}, digest {scenario_digest(scenario)}", digest)
    return scenario


def _read_event(line: _Line, is_public: bool) -> Event:
    node = line.get("node", str)
    if node not in Node.__members__:
        raise line.error("the name of a node", node)
    army = line.get("army", int)
    faces: tuple[int, ...] = ()
    if "act" in line.fields:
        kind, code = "decision", line.get("act", int)
    else:
        is_deal_unknown = (
            is_public and node == Node.DEAL.name and line.fields.get("outcome", 0) is None
        )
        kind, code = "roll", UNREVEALED if is_deal_unknown else line.get("outcome", int)
        dice = line.get("roll", list)
        if not all(type(face) is int for face in dice):
            raise line.error("faces of dice", dice)
        faces = tuple(dice)
    points, words = line.get_points("points"), line.get("words", str)
    if not _fits(_WORDS, words):
        raise line.error('"words", a text of up to 2000 printable characters', words)
    return Event(kind, army, Node[node], code, faces, points, words)


# --- replaying -----------------------------------------------------------------------------


def replay(transcript: Transcript) -> tuple[NarratedBattle, list[Event]]:
    """Replay a transcript and check it against the rules.

    Unknown deals in a public transcript are replaced by sets that are consistent with the actions.

    Args:
        transcript: the transcript.

    Returns:
        The battle at the end of the transcript, and its events as described by this version.

    Raises:
        TranscriptError: if an event is not possible under the rules or gives different points. The
            message contains the line in the file.
    """
    narrated = NarratedBattle(transcript.scenario)
    return narrated, list(follow(transcript, narrated))


def follow(transcript: Transcript, narrated: NarratedBattle) -> Iterator[Event]:
    """Replay a transcript against the rules, and yield its events as described by this version.

    `narrated` is a battle in its scenario, at the start. It advances with every event.

    Raises:
        TranscriptError: see `replay`. A wrong final result is reported after the last event.
    """
    line, is_deal_unknown = 1, [False] * ARMIES
    for line, event in enumerate(transcript.events, 2):  # line 1 is the header
        error_at = partial(TranscriptError.at, transcript.source, line)
        again = replay_event(narrated, event, is_deal_unknown, error_at)
        if not abs(event.points - again.points) <= POINTS_TOLERANCE:
            raise error_at(f'"points": {again.points}', event.points)
        yield again
    battle, error_at = narrated.battle, partial(TranscriptError.at, transcript.source, line + 1)
    if transcript.over != battle.is_over:
        raise error_at(f'"over": {json.dumps(battle.is_over)}', json.dumps(transcript.over))
    if not abs(transcript.points - battle.points) <= POINTS_TOLERANCE:
        raise error_at(f'"result": {battle.points}', transcript.points)


def replay_event(
    narrated: NarratedBattle,
    event: Event,
    is_deal_unknown: list[bool],
    error_at: Callable[[str, object], TranscriptError],
) -> Event:
    """Replay an event against the rules, and return it as described by this version.

    Args:
        narrated: the battle before the event.
        event: the event; its points and words are not checked.
        is_deal_unknown: for each army, whether the transcript leaves out its deal; it is updated.
        error_at: returns the error for an expected and a found value.

    Raises:
        TranscriptError: if the event is not possible.
    """
    battle = narrated.battle
    if battle.is_over:
        raise error_at("the result, because the battle is over", f"a {event.kind}")
    if (event.army, event.node) != (battle.mover, battle.node):
        raise error_at(
            f"army {battle.mover} at {battle.node.name}", f"army {event.army} at {event.node.name}"
        )
    kind = "decision" if battle.is_decision() else "roll"
    if event.kind != kind:
        raise error_at(f"a {kind}", f"a {event.kind}")
    if kind == "decision":
        if is_deal_unknown[event.army]:
            _deal_to_fit(narrated, event)
        legal = battle.legal_actions()
        if event.code not in legal:
            raise error_at(f'"act": one of {legal}', event.code)
        return narrated.act(event.code)
    if battle.node == Node.DEAL and event.code == UNREVEALED:
        is_deal_unknown[event.army] = True
        sets = sets_that_may_be(narrated.names, battle, event.army)
        return redact_event(narrated.names, narrated.resolve(sets[0].kind), ())
    dice = battle.dice_to_roll
    if dice is None or not event.faces:
        outcomes = [outcome for outcome, _ in battle.chance_outcomes()]
        if event.code not in outcomes or event.faces:
            raise error_at(
                f'"roll": [] and "outcome": one of {outcomes}',
                f'"roll": {list(event.faces)} and "outcome": {event.code}',
            )
        return narrated.resolve(event.code)
    if len(event.faces) != dice or not all(1 <= face <= FACES for face in event.faces):
        raise error_at(f'"roll": {dice} faces from 1 to {FACES}', list(event.faces))
    again = narrated.roll(*event.faces)
    if again.code != event.code:
        thrown = " ".join(map(str, event.faces))
        raise error_at("dice that give the recorded outcome", thrown)
    return again


def _deal_to_fit(narrated: NarratedBattle, event: Event) -> None:
    """Change an army's dealt set, if necessary, to make its action legal."""
    # Sets that fit the items shown also fit the other earlier actions, which depend on no set.
    battle, army = narrated.battle, event.army
    for each in sets_that_may_be(narrated.names, battle, army):
        if event.code in battle.legal_actions():
            return
        narrated.deal_instead(army, each.kind)
