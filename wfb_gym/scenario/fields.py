"""The base class of all models, and the kinds of value with the error text of each.

All kinds are strict: text is not read as a number, and true or false is no number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from wfb_gym.scenario.errors import Problem, format_value
from wfb_gym.scenario.sizes import DICE, MAX_POINTS

_MAX_LISTED = 24


class StrictModel(BaseModel):
    """A table of a TOML document: immutable, and without unknown keys."""

    extra_keys: ClassVar[tuple[str, ...]] = ()
    """Keys beside its fields that a validator of its own takes care of."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _with_message(schema: CoreSchema, expected: str) -> CoreSchema:
    """Return the schema with one error for whatever is wrong: `expected`."""
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
        return _with_message(schema, f"a whole number from {self.low} to {self.high}")


def _number_schema(low: float, high: float) -> CoreSchema:
    return core_schema.float_schema(strict=True, ge=low, le=high, allow_inf_nan=False)


@dataclass(frozen=True)
class Number:
    """A finite number from `low` to `high`, written with or without a decimal point."""

    low: float
    high: float

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """How pydantic checks the value."""
        schema = _number_schema(self.low, self.high)
        return _with_message(schema, f"a number from {self.low:g} to {self.high:g}")


@dataclass(frozen=True)
class Pair:
    """Two finite numbers from `low` to `high`, such as a place or the sides of a rectangle."""

    low: float
    high: float

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """How pydantic checks the value."""
        schema = core_schema.tuple_schema([_number_schema(self.low, self.high)] * 2)
        return _with_message(schema, f"two numbers from {self.low:g} to {self.high:g}")


class _NonEmpty:
    """A text that is more than blanks."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _with_message(
            core_schema.str_schema(strict=True, pattern=r"\S"), "a text, not empty"
        )


class _Boolean:
    """True or false, and no number or text."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _with_message(core_schema.bool_schema(strict=True), "true or false")


Name = Annotated[str, _NonEmpty()]
Flag = Annotated[bool, _Boolean()]
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
    """Return what was expected in place of an unknown name, with the most similar known names.

    Args:
        known: the known names.
        given: the unknown name.
        kind: what the names stand for, with its article.

    Returns:
        Words that list up to three close matches, or else all names unless they are many.
    """
    names = {name.casefold(): name for name in known}
    close = [names[match] for match in get_close_matches(given.casefold(), names, 3, 0.5)]
    if close:
        return f"{kind} (did you mean {' or '.join(close)}?)"
    if len(names) > _MAX_LISTED:
        return f"{kind} (none of the {len(names)} is close)"
    return f"{kind} ({', '.join(names.values()) or 'there are none'})"


def duplicate_name_problems(key: str, names: Iterable[str]) -> list[Problem]:
    """Return a problem for each entry of a list that has the name of an earlier one.

    Args:
        key: of the list.
        names: of its entries, in order.
    """
    seen: set[str] = set()
    problems = []
    for i, name in enumerate(names):
        if name in seen:
            problems.append(Problem(f"{key}[{i}].name", "each name once", format_value(name)))
        seen.add(name)
    return problems
