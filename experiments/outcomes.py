"""A run's state: the lines of a record, the results, and the command's outcome."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from experiments import common
from experiments.records import ResultFile

SettingsT = TypeVar("SettingsT")
PartT = TypeVar("PartT")
Line = dict[str, Any]
"""A part's result, as a line in the record."""
Results = dict[str, Any]
"""The contents of results.json."""


class ExperimentError(RuntimeError):
    """A part cannot be measured, or its results are unusable. The message is one line."""


@dataclass(frozen=True)
class Run(Generic[SettingsT, PartT]):
    """A run in progress: all parts, the lines of finished ones, and the records."""

    settings: SettingsT
    parts: Sequence[PartT]
    finished: Sequence[PartT]
    lines: Sequence[Line]
    records: Mapping[str, ResultFile]
    interrupted: bool

    def values(self, key: str) -> list[Any]:
        """Return a key's values in all lines."""
        return [line[key] for line in self.lines]

    def document(self, **found: Any) -> Results:
        """Return the results with the settings and the versions of packages."""
        args, ended = common.settings_as_json(self.settings), {"interrupted": self.interrupted}
        return {"args": args, **ended, **found, "versions": common.versions()}


@dataclass(frozen=True)
class Outcome:
    """A command's outcome.

    Attributes:
        results: results to write, and to print as JSON.
        texts: texts to print without ``--json``, separated by empty lines.
        notes: lines to print on stderr.
        failed: whether the command fails.
    """

    results: Any
    texts: Iterable[str]
    notes: Iterable[str] = ()
    failed: bool = False
