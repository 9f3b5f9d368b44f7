"""All kinds of input by name; a kind's module is imported when its cases run."""

from importlib import import_module

from tests.fuzzing.running import Kind

_PLACES = {
    "play": "calls:PLAY",
    "calls": "calls:MISUSE",
    "states": "states:ENVIRONMENTS",
    "self-play": "states:SELF_PLAY",
    "scenario": "files:SCENARIO",
    "policy": "files:POLICY",
    "table": "files:TABLE",
    "solution": "files:SOLUTION",
    "checkpoint": "files:CHECKPOINT",
    "transcript": "files:TRANSCRIPT",
    "stored-review": "files:STORED_REVIEW",
    "submission": "files:SUBMISSION",
    "roster": "files:ROSTER",
    "roster-archive": "files:ROSTER_ARCHIVE",
    "roster-text": "files:ROSTER_TEXT",
    "session": "web:SESSION",
    "server": "web:SERVER",
}
NAMES = tuple(_PLACES)


def find_kind(name: str) -> Kind:
    """Return the kind of that name; an ImportError if a package is not installed."""
    module, _, constant = _PLACES[name].partition(":")
    kind: Kind = getattr(import_module(f"tests.fuzzing.{module}"), constant)
    return kind
