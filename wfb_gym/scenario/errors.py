"""What is said when a scenario is refused: where, which key, what was expected and found."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic_core import PydanticCustomError

_LONGEST = 60
_LARGEST = 10**15
_MOST_ENTRIES = 4


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


class ScenarioError(ValueError):
    """A scenario that cannot be played, with every problem that was found, one a line.

    Attributes:
        where: the file's path or name, or "scenario" for one that came from Python.
        problems: what is wrong, in the order of the document.
    """

    def __init__(self, where: str, problems: Sequence[Problem]) -> None:
        """Keeps the problems; the message is made from them."""
        super().__init__(where, tuple(problems))
        self.where = where
        self.problems = tuple(problems)

    def __str__(self) -> str:
        """One line a problem: ``where: key: expected ..., found ...``."""
        return "\n".join(
            f"{self.where}: {key}{': ' if key else ''}expected {expected}, found {found}"
            for key, expected, found in self.problems
        )


def refusal(problems: Sequence[Problem]) -> PydanticCustomError:
    """The error that a validator raises to report problems below its own place.

    Args:
        problems: at least one; their keys count from the model that the validator belongs to.
    """
    text = "; ".join(
        f"{key or 'here'}: expected {expected}, found {found}" for key, expected, found in problems
    )
    return PydanticCustomError("refused", "{text}", {"text": text, "problems": tuple(problems)})


def shown(value: object) -> str:
    """A short text for a value that was found, written as in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= _LONGEST else f'"{value[:_LONGEST]}..."'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        plain = len(value) <= _MOST_ENTRIES and all(isinstance(x, int | float) for x in value)
        return f"[{', '.join(shown(x) for x in value)}]" if plain else "a list"
    if isinstance(value, int | float):
        return "a number out of all bounds" if abs(value) >= _LARGEST else str(value)
    return f"a Python {type(value).__name__}"
