"""Errors in scenarios: where, which key, what was expected and what was found."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic_core import PydanticCustomError

_MAX_TEXT = 60
_MAX_NUMBER = 10**15
_MAX_ENTRIES = 4
_MAX_LINE = 1000
MAX_PROBLEMS = 20
"""Problems that an error lists; it only counts the others."""
NO_KEY = "no such key"
"""What is found where a key is missing."""


class Problem(NamedTuple):
    """One thing wrong with a scenario.

    Attributes:
        key: the key's place in the document, as ``caster.wizards[0].spells[1].casting_value``;
            empty for the document as a whole.
        expected: what would have been right.
        found: what was there.
    """

    key: str
    expected: str
    found: str

    def below(self, key: str) -> "Problem":
        """Return the same problem of a table that stands at `key` of another one."""
        return self._replace(key=join_keys(key, self.key))


class ScenarioError(ValueError):
    """A scenario that cannot be played, with the problems that were found, one a line.

    Attributes:
        where: the file's path or name, or "scenario" for one that came from Python.
        problems: what is wrong, in the order of the document; the first `MAX_PROBLEMS`.
        more: how many more problems there are.
    """

    def __init__(self, where: str, problems: Sequence[Problem], more: int = 0) -> None:
        """Keep the problems; the message is made from them."""
        self.where = where
        self.problems = tuple(problems[:MAX_PROBLEMS])
        self.more = more + len(problems) - len(self.problems)
        super().__init__(where, self.problems, self.more)

    def __str__(self) -> str:
        """One line a problem: ``where: key: expected ..., found ...``."""
        lines = [
            f"{self.where}: {key}{': ' if key else ''}expected {expected}, found {found}"
            for key, expected, found in self.problems
        ]
        lines += [f"{self.where}: and {self.more} more"] if self.more else []
        return "\n".join(shortened(printable(line), _MAX_LINE) for line in lines)


def problem_in(table: Mapping[str, object], key: str, expected: str) -> Problem:
    """Return the problem that the value at `key` of a table as written is wrong."""
    return Problem(key, expected, format_value(table[key]) if key in table else NO_KEY)


def problem_error(*problems: Problem) -> PydanticCustomError:
    """Return the error of a validator whose model has problems; their keys count from it."""
    text = "; ".join(
        f"{key or 'here'}: expected {expected}, found {found}" for key, expected, found in problems
    )
    return PydanticCustomError("refused", "{text}", {"text": text, "problems": problems})


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise the `problem_error` of these problems if there are any."""
    if problems := tuple(problems):
        raise problem_error(*problems)


def join_keys(key: str, below: str) -> str:
    """Return the place of `below` in the document, from the place of the table around it."""
    if not key or not below or below.startswith("["):
        return key + below
    return f"{key}.{below}"


def printable(text: str) -> str:
    """Return a text with a question mark for each character that would not show as itself."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text, and three dots where there is more of it."""
    return text if len(text) <= most else f"{text[:most]}..."


def format_value(value: object) -> str:
    """Format a value that was found as a short text, written as in TOML."""
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
        return "a number out of all bounds" if abs(value) >= _MAX_NUMBER else str(value)
    return f"a Python {type(value).__name__}"
