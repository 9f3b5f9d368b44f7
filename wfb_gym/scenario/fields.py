"""Kinds of value that the documents hold, each with the words that say what it must be.

All are strict: text is not read as a number, and a truth value is no number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from wfb_gym.scenario.errors import Problem, shown
from wfb_gym.scenario.sizes import DICE, MAX_POINTS

_MOST_LISTED = 24


class Document(BaseModel):
    """A table of a document: immutable, and without keys that it does not know."""

    also_known: ClassVar[tuple[str, ...]] = ()
    """Keys beside its fields, which a validator of its own gathers."""

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


@dataclass(frozen=True)
class Pair:
    """Two finite numbers from `low` to `high`, such as a place or the sides of a rectangle."""

    low: float
    high: float

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """How pydantic checks the value."""
        number = core_schema.float_schema(
            strict=True, ge=self.low, le=self.high, allow_inf_nan=False
        )
        schema = core_schema.tuple_schema([number, number])
        return _saying(schema, f"two numbers from {self.low:g} to {self.high:g}")


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
Position = Annotated[tuple[float, float], Pair(-1000.0, 1000.0)]
"""A place on the battlefield, in inches from its left and its near edge."""
Facing = Annotated[float, Number(-360.0, 360.0)]
"""Degrees clockwise; 0 looks towards growing y."""
Base = Annotated[tuple[float, float], Pair(1.0, 400.0)]
"""Width and depth of a model's base in millimetres."""


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


def named_twice(key: str, names: Iterable[str], expected: str) -> list[Problem]:
    """A problem for each entry of a list whose name stands there before.

    Args:
        key: of the list.
        names: of its entries, in order.
        expected: what the message says in place of the name.
    """
    seen: set[str] = set()
    problems = []
    for i, name in enumerate(names):
        if name in seen:
            problems.append(Problem(f"{key}[{i}].name", expected, shown(name)))
        seen.add(name)
    return problems
