"""From pydantic's report on a document to a `ScenarioError` that a player can act on."""

from collections.abc import Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from wfb_gym.scenario.errors import Problem, ScenarioError, shown
from wfb_gym.scenario.fields import Document, one_of

_Model = TypeVar("_Model", bound=Document)
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


def validated(model: type[_Model], data: object, where: str) -> _Model:
    """The document read as `model`.

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


def joined(key: str, below: str) -> str:
    """A key's place from that of the table around it: ``caster`` and ``items[0]``."""
    if not key or not below or below.startswith("["):
        return key + below
    return f"{key}.{below}"


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models that a field's type mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _tagged(models: Sequence[type[BaseModel]], tag: str) -> list[type[BaseModel]]:
    """The model of a union that has `tag` among its kinds; empty where the models have none."""
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
    own_names = False  # the keys of the table reached are names of the user's own
    for step in path:
        if isinstance(step, int):
            key += f"[{step}]"
            continue
        if own_names:
            key, known, own_names = joined(key, step), [], False
            continue
        fields = models[0].model_fields if len(models) == 1 else {}
        gathered = models[0].also_known if fields and issubclass(models[0], Document) else ()
        if step not in fields and (chosen := _tagged(models, step)):
            models = chosen
            continue
        key, known = joined(key, step), [*fields, *gathered]
        if step in fields:
            annotation = fields[step].annotation
            models = _models_in(annotation) or models
            own_names = get_origin(annotation) is dict
    return key, known


def _problems(root: type[BaseModel], error: ErrorDetails) -> list[Problem]:
    """The problems that one of pydantic's errors stands for."""
    key, known = _place(root, error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    if kind == "refused":
        return [
            Problem(joined(key, below), expected, found)
            for below, expected, found in context["problems"]
        ]
    found = shown(error["input"])
    if kind == "extra_forbidden":
        name = str(error["loc"][-1])
        return [Problem(key, one_of(known, name, "a known key"), f'unknown key "{name}"')]
    if kind == "missing":
        found = _NOTHING
    elif kind == "union_tag_not_found":
        key, found = joined(key, "kind"), _NOTHING
    elif kind == "union_tag_invalid":
        key, found = joined(key, "kind"), f'"{context["tag"]}"'
        expected = context["expected_tags"].replace("'", '"')
        return [Problem(key, f"one of {expected}", found)]
    elif kind == "too_long":
        found = f"more: {context['actual_length']}"
        return [Problem(key, f"at most {context['max_length']} entries", found)]
    elif kind == "literal_error":
        expected = context["expected"].replace("'", '"')
        return [Problem(key, expected, found)]
    expected = context.get("expected") or _EXPECTED.get(kind) or error["msg"]
    return [Problem(key, expected, found)]
