"""The base class for all models, and strict field types that each have a single error text.

Text and booleans are never converted to numbers. NumPy scalars are converted to Python values.
"""

import re
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from wfb_gym.scenario.errors import NO_KEY, Problem, format_value, raise_problems
from wfb_gym.scenario.sizes import DICE, MAX_POINTS


def python_value(value: Any) -> Any:
    """Convert NumPy scalars to Python values, even inside lists; return other values unchanged."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [python_value(each) for each in value]
    return value


class StrictModel(BaseModel):
    """Base model for a TOML table: immutable, no unknown keys, checked for consistency."""

    extra_keys: ClassVar[tuple[str, ...]] = ()
    """Allowed keys that are not fields; `complete` handles them."""
    text_key: ClassVar[str | None] = None
    """Key for text given in place of a table. None if a table is required."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the table as written, with missing values filled in from other keys or data files.

        Raises:
            PydanticCustomError: if a reference is invalid.
        """
        return data

    def problems(self) -> Iterable[Problem]:
        """Return inconsistencies between values that are valid individually."""
        return ()

    def problem_at(self, key: str, expected: str) -> Problem:
        """Return a problem with the value at `key` in this table or a nested one."""
        value = attrgetter(key)(self)
        if value is None:
            return Problem(key, expected, NO_KEY)
        found = "a table" if isinstance(value, BaseModel) else format_value(value)
        return Problem(key, expected, found)

    def __hash__(self) -> int:
        """Return a hash of the field values, regardless of the order in dicts."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return hash(tuple(frozenset(v.items()) if isinstance(v, dict) else v for v in values))

    @model_validator(mode="wrap")
    @classmethod
    def _complete(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, str) and cls.text_key is not None:
            data = {cls.text_key: data}
        if not isinstance(data, Mapping):
            return handler(data)
        table = {key: python_value(value) for key, value in data.items()}
        try:
            completed = cls.complete(table)
        except PydanticCustomError as error:
            named = {problem.key for problem in (error.context or {}).get("problems", ())}
            # A key with two meanings, such as a spell's worth, is a table only for `complete`.
            fields = {
                key: value
                for key, value in table.items()
                if key not in cls.extra_keys or not isinstance(value, Mapping)
            }
            others = _errors_as_written(handler, fields, named)
            errors = [InitErrorDetails(type=error, input=table), *others]
            raise ValidationError.from_exception_data(cls.__name__, errors) from None
        return handler(completed)

    @model_validator(mode="after")
    def _has_no_problems(self) -> Self:
        raise_problems(self.problems())
        return self


def _errors_as_written(
    handler: ModelWrapValidatorHandler[Any], table: Mapping[str, Any], named: set[str]
) -> list[InitErrorDetails]:
    """Return the errors in a table that could not be completed, except for the keys in `named`."""
    try:
        handler(table)
    except ValidationError as error:
        return [
            InitErrorDetails(
                type=PydanticCustomError(
                    each["type"], "{msg}", {**each.get("ctx", {}), "msg": each["msg"]}
                ),
                loc=each["loc"],
                input=each["input"],
            )
            for each in error.errors(include_url=False)
            # Completion adds and removes keys, so missing and extra keys are not errors here.
            if len(each["loc"]) > 1
            or (each["type"] not in ("missing", "extra_forbidden") and each["loc"][0] not in named)
        ]
    return []


class _Kind:
    """A field type with a single error text for all invalid values."""

    def __init__(self, expected: str, schema: CoreSchema) -> None:
        self._expected = expected
        self._schema = schema

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.custom_error_schema(
            self._schema,
            custom_error_type="expected",
            custom_error_message="expected {expected}",
            custom_error_context={"expected": self._expected},
        )


class Whole(_Kind):
    """A whole number from `low` to `high`."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        schema = core_schema.int_schema(strict=True, ge=low, le=high)
        super().__init__(f"a whole number from {low} to {high}", schema)


class Number(_Kind):
    """A finite number from `low` to `high`, written with or without a decimal point."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        super().__init__(f"a number from {low:g} to {high:g}", _number_schema(low, high))


class Pair(_Kind):
    """Two finite numbers from `low` to `high`, such as a position or a size."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        schema = core_schema.tuple_schema([_number_schema(low, high)] * 2)
        super().__init__(f"two numbers from {low:g} to {high:g}", schema)


def _number_schema(low: float, high: float) -> CoreSchema:
    return core_schema.float_schema(strict=True, ge=low, le=high, allow_inf_nan=False)


class Writing(_Kind):
    """Text that is not blank and contains no control characters other than those in `allowed`."""

    def __init__(self, max_length: int, allowed: str = "") -> None:
        shown = rf"[{allowed}[^\p{{Cc}}\p{{Cf}}\p{{Zl}}\p{{Zp}}]]"
        pattern = rf"^{shown}*[{shown}&&\S]{shown}*$"
        super().__init__(
            f"a text of up to {max_length} printable characters, not blank",
            core_schema.str_schema(strict=True, max_length=max_length, pattern=pattern),
        )


MAX_NAME = 100
Name = Annotated[str, Writing(MAX_NAME)]
Text = Annotated[str, Writing(2000, allowed=r"\n\t")]  # text of one or more lines
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
FILE_NAME_EXPECTED = (
    "a name of up to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
)
FileName = Annotated[
    str,
    _Kind(
        FILE_NAME_EXPECTED, core_schema.str_schema(strict=True, pattern=f"^{FILE_NAME.pattern}$")
    ),
]
"""A name that can be used in a file name."""
Flag = Annotated[bool, _Kind("true or false", core_schema.bool_schema(strict=True))]
Dice = Annotated[int, Whole(0, DICE)]
Characteristic = Annotated[int, Whole(1, 10)]  # Toughness, Strength or Wounds
Leadership = Annotated[int, Whole(2, 10)]
DEFAULT_LEADERSHIP = 7
"""Leadership of a trained soldier, used without a profile or an entry (house rule C.104)."""
Save = Annotated[int, Whole(1, 6)]
Points = Annotated[float, Number(0.0, MAX_POINTS)]
Position = Annotated[tuple[float, float], Pair(-1000.0, 1000.0)]
"""A place on the battlefield, in inches from the left and near edges."""
Facing = Annotated[float, Number(-360.0, 360.0)]  # degrees clockwise from the y axis
Base = Annotated[tuple[float, float], Pair(1.0, 400.0)]
"""Width and depth of a model's base, in millimetres."""


def duplicate_name_problems(key: str, entries: Iterable[Any]) -> list[Problem]:
    """Return a problem for each entry in the list at `key` that repeats an earlier name."""
    names = [entry.name for entry in entries]
    return [
        Problem(f"{key}[{i}].name", "each name once", format_value(name))
        for i, name in enumerate(names)
        if name in names[:i]
    ]
