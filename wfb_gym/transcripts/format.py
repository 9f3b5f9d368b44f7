"""The transcript of a battle: a text file of JSON, line by line, and what may stand in it.

A header; then one line for each decision and each roll; a last line with the result. `replay`
plays it again by the rules and refuses what does not follow from them.
"""

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wfb_gym
from wfb_gym._jit import rules_digest
from wfb_gym.engine.state import Node
from wfb_gym.scenario import Scenario, ScenarioError, bundled_scenarios, load_scenario
from wfb_gym.transcripts.events import Event
from wfb_gym.transcripts.lines import Line, TranscriptError, parsed

FORMAT = "wfb_gym transcript"
VERSION = 1
SAME_POINTS = 1e-9
"""Points that differ by less are the same."""


@dataclass(frozen=True)
class Transcript:
    """A battle as it was played.

    Attributes:
        scenario: that was played.
        players: names of the first army's player and of the other's.
        seed: of the dice; None where somebody threw them.
        events: what happened, in order.
        points: in the end, as the first army sees them.
        over: whether the battle was played to its end.
        source: what errors call it, the file's name.
    """

    scenario: Scenario
    players: tuple[str, str]
    seed: int | None
    events: tuple[Event, ...]
    points: float
    over: bool
    source: str = field(default="transcript", compare=False)


def scenario_digest(scenario: Scenario) -> str:
    """Hash of what a scenario says."""
    said = scenario.model_dump_json(exclude_defaults=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _header(transcript: Transcript) -> dict[str, Any]:
    scenario = transcript.scenario
    told: dict[str, Any] = {"name": scenario.name, "digest": scenario_digest(scenario)}
    if scenario.name not in bundled_scenarios() or load_scenario(scenario.name) != scenario:
        told["document"] = scenario.model_dump(mode="json")
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": told,
        "players": list(transcript.players),
        "seed": transcript.seed,
        "wfb_gym": wfb_gym.__version__,
        "rules": rules_digest(),
    }


def _line(event: Event) -> dict[str, Any]:
    what: dict[str, Any] = {"act": event.code}
    if event.kind == "roll":
        what = {"roll": list(event.faces), "outcome": event.code}
    return {
        "army": event.army,
        "node": event.node.name,
        **what,
        "points": event.points,
        "words": event.words,
    }


def write(transcript: Transcript, path: str | os.PathLike[str]) -> None:
    """Write a transcript to a file, which is overwritten.

    Raises:
        OSError: the file cannot be written.
    """
    result = {"result": transcript.points, "over": transcript.over}
    lines = [_header(transcript), *(_line(event) for event in transcript.events), result]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    Path(path).write_text(text, encoding="utf-8")


def read(path: str | os.PathLike[str]) -> Transcript:
    """Read a transcript; whether it follows from the rules is `replay`'s to say.

    Raises:
        FileNotFoundError: there is no such file.
        TranscriptError: it is no transcript; names file, line and what was expected.
    """
    source = os.fspath(path)
    if not Path(path).is_file():
        raise FileNotFoundError(f"{source}: expected a transcript, found no file")
    lines = parsed(source, Path(path).read_bytes())
    if len(lines) < 2:
        raise TranscriptError(source, 1, "a header, the battle and its result", "too few lines")
    header, *rows, result = lines
    scenario = _scenario(header)
    players = header.get("players", list)
    if len(players) != 2 or not all(isinstance(name, str) for name in players):
        raise header.error("the names of two players", players)
    seed = header.get("seed", int, type(None))
    return Transcript(
        scenario,
        (players[0], players[1]),
        seed,
        tuple(_event(row) for row in rows),
        float(result.get("result", int, float)),
        result.get("over", bool),
        source,
    )


def _scenario(header: Line) -> Scenario:
    """The scenario that a header tells of."""
    if header.fields.get("format") != FORMAT:
        raise header.error(f'"format": "{FORMAT}"', header.fields.get("format"))
    if header.get("version", int) != VERSION:
        raise header.error(f"format version {VERSION}", header.fields["version"])
    told = Line(header.source, header.number, header.get("scenario", dict))
    name, digest = told.get("name", str), told.get("digest", str)
    try:
        if "document" in told.fields:
            scenario = Scenario.model_validate_json(json.dumps(told.get("document", dict)))
        elif name in bundled_scenarios():
            scenario = load_scenario(name)
        else:
            raise header.error("a bundled scenario's name, or its document", name)
    except (ScenarioError, ValueError) as error:
        if isinstance(error, TranscriptError):
            raise
        raise header.error("a scenario", str(error).splitlines()[0]) from error
    if scenario_digest(scenario) != digest:
        raise header.error(f"{name} as it is now, {scenario_digest(scenario)}", digest)
    return scenario


def _event(row: Line) -> Event:
    """A decision or a roll."""
    node = row.get("node", str)
    if node not in Node.__members__:
        raise row.error("the name of a node", node)
    army = row.get("army", int)
    faces: tuple[int, ...] = ()
    if "act" in row.fields:
        kind, code = "decision", row.get("act", int)
    else:
        kind, code = "roll", row.get("outcome", int)
        shown = row.get("roll", list)
        if not all(type(face) is int for face in shown):
            raise row.error("faces of dice", shown)
        faces = tuple(shown)
    points = float(row.get("points", int, float))
    return Event(kind, army, Node[node], code, faces, points, row.get("words", str))
