"""Errors in scenarios: file, key, expected value and actual value."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic_core import PydanticCustomError

_MAX_TEXT = 60
_MAX_NUMBER = 10**15
_MAX_ENTRIES = 4
_MAX_LINE = 1000
MAX_PROBLEMS = 20  # maximum number of problems listed in an error; any others are only counted
NO_KEY = "no such key"  # text shown in place of a missing key's value


class Problem(NamedTuple):
    """A single problem in a scenario."""

    # path to the key in the document, such as ``caster.wizards[0].spells[1].casting_value``, or
    # empty for the whole document
    key: str
    expected: str  # the expected value, in words
    found: str  # the actual value, in words

    def below(self, key: str) -> "Problem":
        """Return the problem with its key prefixed by `key`, the key of its table."""
        return self._replace(key=join_keys(key, self.key))


class ScenarioError(ValueError):
    """Raised for an invalid scenario; the message has one line per problem.

    Attributes:
        where: path or name of the file, or "scenario" for a document passed from Python.
        problems: the first `MAX_PROBLEMS` problems, in document order.
        more: number of further problems.
    """

    def __init__(self, where: str, problems: Sequence[Problem], more: int = 0) -> None:
        """Store the problems, from which the message is built."""
        self.where = where
        self.problems = tuple(problems[:MAX_PROBLEMS])
        self.more = more + len(problems) - len(self.problems)
        super().__init__(where, self.problems, self.more)

    def __str__(self) -> str:
        """Return one line per problem: ``where: key: expected ..., found ...``."""
        lines = [
            f"{self.where}: {key}{': ' if key else ''}expected {expected}, found {found}"
            for key, expected, found in self.problems
        ]
        lines += [f"{self.where}: and {self.more} more"] if self.more else []
        return "\n".join(shortened(printable(line), _MAX_LINE) for line in lines)


def problem_in(table: Mapping[str, object], key: str, expected: str) -> Problem:
    """Return a problem with the value at `key` in a table as written."""
    return Problem(key, expected, format_value(table[key]) if key in table else NO_KEY)


def problem_error(*problems: Problem) -> PydanticCustomError:
    """Return the error to raise in a model's validator; keys are relative to the model."""
    text = "; ".join(
        f"{key or 'here'}: expected {expected}, found {found}" for key, expected, found in problems
    )
    return PydanticCustomError("refused", "{text}", {"text": text, "problems": problems})


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise a `problem_error` for these problems, if there are any."""
    if problems := tuple(problems):
        raise problem_error(*problems)


def join_keys(key: str, below: str) -> str:
    """Return the path to the key `below` inside the table at the path `key`."""
    if not key or not below or below.startswith("["):
        return key + below
    return f"{key}.{below}"


def printable(text: str) -> str:
    """Return a text with each unprintable character replaced by a question mark."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def shortened(text: str, most: int) -> str:
    """Return at most `most` characters of a text, ending in three dots if it was longer."""
    return text if len(text) <= most else f"{text[:most]}..."


def format_value(value: object) -> str:
    """Format a value as a short text in TOML notation."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{printable(shortened(value, _MAX_TEXT))}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        short = len(value) <= _MAX_ENTRIES and all(isinstance(x, int | float) for x in value)
        return f"[{', '.join(format_value(x) for x in value)}]" if short else "a list"
    if isinstance(value, int | float):
        return "a number that is too large" if abs(value) >= _MAX_NUMBER else str(value)
    return f"a Python {type(value).__name__}"
