"""Kinds of value that the documents hold, each with the words that say what it must be.

All are strict: text is not read as a number, and a truth value is no number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from wfb_gym.scenario.packed import DICE, MAX_POINTS

_MOST_LISTED = 24


class Document(BaseModel):
    """A table of a document: immutable, and without keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _saying(schema: CoreSchema, expected: str) -> CoreSchema:
    """The schema with one error for whatever is wrong: `expected`."""
    return core_schema.custom_error_schema(
        schema,
        custom_error_type="expected",
        custom_error_message="expected {expected}",
        custom_error_context={"expected": expected},
    )


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`."""

    low: int
    high: int

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """How pydantic checks the value."""
        schema = core_schema.int_schema(strict=True, ge=self.low, le=self.high)
        return _saying(schema, f"a whole number from {self.low} to {self.high}")


@dataclass(frozen=True)
class Number:
    """A finite number from `low` to `high`, written with or without a decimal point."""

    low: float
    high: float

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """How pydantic checks the value."""
        schema = core_schema.float_schema(
            strict=True, ge=self.low, le=self.high, allow_inf_nan=False
        )
        return _saying(schema, f"a number from {self.low:g} to {self.high:g}")


class _Filled:
    """A text that is more than blanks."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _saying(core_schema.str_schema(strict=True, pattern=r"\S"), "a text, not empty")


class _Truth:
    """True or false and nothing that passes for it."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _saying(core_schema.bool_schema(strict=True), "true or false")


Name = Annotated[str, _Filled()]
Flag = Annotated[bool, _Truth()]
Dice = Annotated[int, Whole(0, DICE)]
Characteristic = Annotated[int, Whole(1, 10)]
"""Toughness, Strength or Wounds."""
Save = Annotated[int, Whole(1, 6)]
Points = Annotated[float, Number(0.0, MAX_POINTS)]


def one_of(known: Iterable[str], given: str, kind: str) -> str:
    """What was expected in place of an unknown name, its nearest likenesses first.

    Args:
        known: the names there are.
        given: the name that is none of them.
        kind: what the names name, with its article.

    Returns:
        Words that list up to three close matches, or else all names unless they are many.
    """
    names = {name.casefold(): name for name in known}
    close = [names[match] for match in get_close_matches(given.casefold(), names, 3, 0.5)]
    if close:
        return f"{kind} (did you mean {' or '.join(close)}?)"
    if len(names) > _MOST_LISTED:
        return f"{kind} (none of the {len(names)} is close)"
    return f"{kind} ({', '.join(names.values()) or 'there are none'})"
