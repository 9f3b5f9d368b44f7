"""The parts of a run: lines of a record, results, and what a run came to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from experiments import common
from experiments.records import ResultFile

SettingsT = TypeVar("SettingsT")
PartT = TypeVar("PartT")
Line = dict[str, Any]
"""The result of a part, as its line of the record holds it."""
Results = dict[str, Any]
"""The content of results.json."""


class ExperimentError(RuntimeError):
    """A part that cannot be measured, or results that say nothing; the message is one line."""


@dataclass(frozen=True)
class Run(Generic[SettingsT, PartT]):
    """A run so far: all parts, the finished ones with their lines, and the records of these."""

    settings: SettingsT
    parts: Sequence[PartT]
    finished: Sequence[PartT]
    lines: Sequence[Line]
    records: Mapping[str, ResultFile]
    interrupted: bool

    def values(self, key: str) -> list[Any]:
        """Return the values of a key of the lines."""
        return [line[key] for line in self.lines]

    def document(self, **found: Any) -> Results:
        """Return what was found as results: beside the settings, and what else it depends on."""
        args, ended = common.settings_as_json(self.settings), {"interrupted": self.interrupted}
        return {"args": args, **ended, **found, "versions": common.versions()}


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes:
        results: what is written, and printed as JSON.
        texts: what is printed otherwise, with an empty line between them.
        notes: lines for stderr.
        failed: whether the command fails.
    """

    results: Any
    texts: Iterable[str]
    notes: Iterable[str] = ()
    failed: bool = False
