"""From TOML text to checked models: bundled files, and errors that a player can act on."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from wfb_gym.scenario.errors import Problem, ScenarioError, format_value, join_keys
from wfb_gym.scenario.fields import StrictModel, one_of

_SUFFIX = ".toml"
_Model = TypeVar("_Model", bound=StrictModel)
_TABLE = "a table"
_EXPECTED = {
    "missing": "a value, as the key is required",
    "tuple_type": "a list",
    "dict_type": _TABLE,
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
    "string_type": "a text",
    "union_tag_not_found": "a value, as the key is required",
}
_NOTHING = "no such key"


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Parse TOML to tables, lists and plain values.

    Args:
        text: the file's contents.
        where: the file's name, for the message.

    Raises:
        ScenarioError: the text is not TOML; the message gives line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(where, [Problem("", "a TOML file", str(error))]) from None


@cache
def bundled_names(folder: str) -> tuple[str, ...]:
    """Names of the TOML files in a folder of the package's data, sorted, without ending."""
    files = (resources.files("wfb_gym") / "data" / folder).iterdir()
    return tuple(sorted(f.name[: -len(_SUFFIX)] for f in files if f.name.endswith(_SUFFIX)))


def bundled_data(*path: str) -> dict[str, Any]:
    """Contents of a TOML file of the package's data.

    Args:
        *path: folders and the file's name without its ending, from the data folder.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    file = resources.files("wfb_gym").joinpath("data", *path[:-1], path[-1] + _SUFFIX)
    return parse_toml(file.read_text(encoding="utf-8"), "/".join(path) + _SUFFIX)


def validate(model: type[_Model], data: object, where: str) -> _Model:
    """Make a model of a document.

    Args:
        model: the kind of document.
        data: tables, lists and plain values, as TOML gives them.
        where: the file's name, for the message.

    Raises:
        ScenarioError: with all problems that one reading finds. Checks that compare several
            values of a table run only once each of them is right by itself.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = [problem for one in error.errors() for problem in _problems(model, one)]
        raise ScenarioError(where, found) from None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a field's type mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _models_of_kind(models: Sequence[type[BaseModel]], tag: str) -> list[type[BaseModel]]:
    """Return the model of a union that has `tag` among its kinds; empty where none has."""
    return [
        model
        for model in models
        if "kind" in model.model_fields and tag in get_args(model.model_fields["kind"].annotation)
    ]


def _place(root: type[BaseModel], path: Sequence[int | str]) -> tuple[str, list[str]]:
    """Where in the document an error lies, and which keys are known there.

    Pydantic's path holds, beside keys and indices, the kind by which it chose a model from a
    union; the document has no such step.

    Args:
        root: model of the whole document.
        path: pydantic's location of the error.

    Returns:
        The key, and the keys of the innermost table that holds its last step.
    """
    key = ""
    models = [root]
    known: list[str] = []
    free_names = False  # the keys of this table are names that the user chooses
    for step in path:
        if isinstance(step, int):
            key += f"[{step}]"
            continue
        if free_names:
            key, known, free_names = join_keys(key, step), [], False
            continue
        fields = models[0].model_fields if len(models) == 1 else {}
        extra = models[0].extra_keys if fields and issubclass(models[0], StrictModel) else ()
        if step not in fields and (chosen := _models_of_kind(models, step)):
            models = chosen
            continue
        key, known = join_keys(key, step), [*fields, *extra]
        if step in fields:
            annotation = fields[step].annotation
            models = _models_in(annotation) or models
            free_names = get_origin(annotation) is dict
    return key, known


def _problems(root: type[BaseModel], error: ErrorDetails) -> list[Problem]:
    """Return the problems that one of pydantic's errors stands for."""
    key, known = _place(root, error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    if kind == "refused":
        return [problem.below(key) for problem in context["problems"]]
    expected = context.get("expected") or _EXPECTED.get(kind) or error["msg"]
    found = format_value(error["input"])
    if kind == "extra_forbidden":
        name = str(error["loc"][-1])
        expected, found = one_of(known, name, "a known key"), f'unknown key "{name}"'
    elif kind == "missing":
        found = _NOTHING
    elif kind == "union_tag_not_found":
        key, found = join_keys(key, "kind"), _NOTHING
    elif kind == "union_tag_invalid":
        key, found = join_keys(key, "kind"), f'"{context["tag"]}"'
        expected = f"one of {context['expected_tags']}".replace("'", '"')
    elif kind == "too_long":
        found = f"more: {context['actual_length']}"
        expected = f"at most {context['max_length']} entries"
    elif kind == "literal_error":
        expected = expected.replace("'", '"')
    return [Problem(key, expected, found)]
