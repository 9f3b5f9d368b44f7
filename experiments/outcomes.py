"""The state of a run: lines of a record, results, and the outcome of the command."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from experiments import common
from experiments.records import ResultFile

SettingsT = TypeVar("SettingsT")
PartT = TypeVar("PartT")
Line = dict[str, Any]
"""The result of a part, as a line of the record."""
Results = dict[str, Any]
"""The content of results.json."""


class ExperimentError(RuntimeError):
    """A part cannot be measured, or its results are of no use; the message is one line."""


@dataclass(frozen=True)
class Run(Generic[SettingsT, PartT]):
    """A run so far: all parts, the finished ones with their lines, and the records."""

    settings: SettingsT
    parts: Sequence[PartT]
    finished: Sequence[PartT]
    lines: Sequence[Line]
    records: Mapping[str, ResultFile]
    interrupted: bool

    def values(self, key: str) -> list[Any]:
        """Return the values of a key in all lines."""
        return [line[key] for line in self.lines]

    def document(self, **found: Any) -> Results:
        """Return the results with the settings and the versions of packages."""
        args, ended = common.settings_as_json(self.settings), {"interrupted": self.interrupted}
        return {"args": args, **ended, **found, "versions": common.versions()}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command.

    Attributes:
        results: results to write, and to print as JSON.
        texts: texts to print without ``--json``, with an empty line between them.
        notes: lines for stderr.
        failed: whether the command fails.
    """

    results: Any
    texts: Iterable[str]
    notes: Iterable[str] = ()
    failed: bool = False
