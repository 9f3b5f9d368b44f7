"""Conversion of TOML text to validated models, bundled files, and readable error messages."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wfb_gym.files import describe_error
from wfb_gym.scenario.document_limits import document_problem, text_problem
from wfb_gym.scenario.errors import (
    MAX_PROBLEMS,
    NO_KEY,
    Problem,
    ScenarioError,
    format_value,
    join_keys,
)
from wfb_gym.scenario.fields import StrictModel
from wfb_gym.scenario.toml_errors import explain
from wfb_gym.suggestions import one_of

_SUFFIX = ".toml"
_COORDINATES = ("x", "y")  # unknown keys that suggest that a position was meant
_POSITION = "two numbers in inches, [x, y]"
_OF_PROFILES = ("name", "toughness", "points")  # required keys that a profile can supply
_MOST_DIGITS = 10
_Model = TypeVar("_Model", bound=StrictModel)
_EXPECTED = {
    "missing": "a value, as the key is required",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "string_type": "a text",
    "string_unicode": "a text of printable characters",
    "union_tag_not_found": "a value, as the key is required",
}


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Parse TOML text to tables, lists and plain values; `where` is the file name.

    Raises:
        ScenarioError: if the text is too large or too deep, or is not valid TOML. For invalid TOML,
            the message includes the line and column.
    """
    problem = text_problem(text)
    if problem is None:
        try:
            return tomllib.loads(text)
        except ValueError as error:  # TOMLDecodeError, or a number with too many digits
            problem = Problem("", "a TOML file", describe_error(error) + explain(text, error))
    raise ScenarioError(where, [problem])


@cache
def bundled_names(folder: str) -> tuple[str, ...]:
    """Return the sorted names, without suffixes, of the TOML files in a data folder."""
    files = (resources.files("wfb_gym") / "data" / folder).iterdir()
    return tuple(sorted(f.name[: -len(_SUFFIX)] for f in files if f.name.endswith(_SUFFIX)))


def bundled_data(*path: str) -> dict[str, Any]:
    """Return the contents of one of the package's TOML files; `path` has no suffix."""
    file = resources.files("wfb_gym").joinpath("data", *path[:-1], path[-1] + _SUFFIX)
    return parse_toml(file.read_text(encoding="utf-8"), "/".join(path) + _SUFFIX)


def validate(model: type[_Model], data: object, where: str) -> _Model:
    """Validate a document of tables, lists and plain values; `where` is the file name.

    Raises:
        ScenarioError: if there are problems. It lists all of those found in one pass. Checks that
            compare several values in a table run only if each value is valid.
    """
    too_large = document_problem(data)
    if too_large is not None:
        raise ScenarioError(where, [too_large])
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[:MAX_PROBLEMS]
        found: dict[tuple[str, str], Problem] = {}  # the x and y of a position are one problem
        for one in first:
            for problem in _problems(model, one):
                found.setdefault((problem.key, problem.expected), problem)
        problems = [*found.values()]
        raise ScenarioError(where, problems, error.error_count() - len(first)) from None


def _models_in(annotation: Any) -> list[type[StrictModel]]:
    """Return the models in a field's annotation."""
    if isinstance(annotation, type) and issubclass(annotation, StrictModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _place(root: type[StrictModel], path: Sequence[int | str]) -> tuple[str, list[str]]:
    """Return an error's key in the document, and the known keys of its innermost table.

    Pydantic's path also includes the tag used to choose a model from a union. The document has no
    such step.
    """
    key = ""
    models = [root]
    known: list[str] = []
    free_names = False  # whether the keys of this table are names chosen by the user
    for step in path:
        if isinstance(step, int):
            key += f"[{step}]"
            continue
        if step == "[key]":  # a name chosen by the user is invalid
            continue
        if free_names:
            key, known, free_names = join_keys(key, step), [], False
            continue
        fields = models[0].model_fields if len(models) == 1 else {}
        chosen = [] if step in fields else [each for each in models if step in _kinds_of(each)]
        if chosen:
            models = chosen
            continue
        key = join_keys(key, step)
        known = [*fields, *models[0].extra_keys] if fields else []
        if step in fields:
            annotation = fields[step].annotation
            models = _models_in(annotation) or models
            free_names = get_origin(annotation) is dict
    return key, known


def _kinds_of(model: type[StrictModel]) -> tuple[str, ...]:
    """Return the tags that select the model in a union."""
    return get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()


def _number_hint(text: str) -> str:
    """Return a hint on how to write a number that was given as text, or "" if it is not one."""
    number = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)(\s*\+)?\s*", text)
    if number is None or len(number[1]) > _MOST_DIGITS:
        return ""
    return f", {'without the +' if number[2] else 'without quotes'}: {number[1]}"


def _problems(root: type[StrictModel], error: ErrorDetails) -> list[Problem]:
    """Convert one pydantic error to problems."""
    key, known = _place(root, error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    if kind == "refused":
        return [problem.below(key) for problem in context["problems"]]
    expected = context.get("expected") or _EXPECTED.get(kind) or error["msg"]
    found = format_value(error["input"])
    if kind == "tuple_type" and isinstance(error["input"], str):
        expected = f"a list such as [{found}]"
    elif kind == "tuple_type" and isinstance(error["input"], dict):
        expected = f"a list: [[{key}]] in double brackets, once for each entry"
    elif kind == "extra_forbidden":
        name = str(error["loc"][-1])
        if name in _COORDINATES and "position" in known:
            key = join_keys(key[: -len(name)].rstrip("."), "position")
            return [Problem(key, _POSITION, f"unknown key {format_value(name)}")]
        expected = one_of(known, name, "a known key", '"python -m wfb_gym schema"')
        found = f"unknown key {format_value(name)}"
    elif kind == "missing":
        found = NO_KEY
        if "profile" in known and error["loc"][-1] in _OF_PROFILES:
            expected = f'{expected} unless a profile = "..." supplies it'
    elif kind == "union_tag_not_found":
        key, found = join_keys(key, "kind"), NO_KEY
    elif kind == "union_tag_invalid":
        key, found = join_keys(key, "kind"), format_value(context["tag"])
        expected = f"one of {context['expected_tags']}".replace("'", '"')
    elif kind == "too_long":
        found = f"more: {context['actual_length']}"
        expected = f"at most {context['max_length']} entries"
    elif kind == "literal_error":
        expected = expected.replace("'", '"')
    elif kind == "expected" and " number from " in expected and isinstance(error["input"], str):
        expected += _number_hint(error["input"])
    return [Problem(key, expected, found)]
