"""How large a scenario document may be and how deep, whatever it says.

Both checks come before anything looks closely at a document, so that a foreign one is refused at
little cost. What the values may be is the business of the models.
"""

import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from wfb_gym.scenario.errors import Problem, format_value, join_keys

MAX_BYTES = 2**17
"""Size of a file; the largest of the package's scenarios has 6 KB."""
MAX_DEPTH = 12
"""Tables and lists in one another; a scenario needs 8."""
MAX_ENTRIES = 128
"""Entries of one list, and keys of one table."""
MAX_VALUES = 5_000
"""Values of a document, tables and lists among them."""
MAX_KEY = 100
"""Characters of a key."""

_MARKS = re.compile(  # strings and comments whole, which hold no structure, and what has some
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"*+'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'*+"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
    r"|[][{}.,=\n]",
    re.DOTALL,
)


def text_problem(text: str) -> Problem | None:
    """Return what makes a TOML text too large or too deep to be parsed.

    Parsing takes memory by the square of the parts of a key, and a level of Python's stack for each
    list in a list.
    """
    if len(text) > MAX_BYTES:
        return Problem("", f"at most {MAX_BYTES:,} characters", f"{len(text):,}")
    opened = dots = 0
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark == ".":
            dots += 1
        elif len(mark) == 1:
            dots = 0
            opened = max(0, opened + (mark in "[{") - (mark in "]}"))
        if max(opened, dots) >= MAX_DEPTH:
            line = text.count("\n", 0, found.start()) + 1
            return Problem("", _depth_expected(), f"more at line {line}")
    return None


def opened_marks(text: str) -> list[tuple[str, int]]:
    """Return the brackets and braces that a TOML text opens and does not close, and where.

    Those of headers and what stands in strings and comments are none.
    """
    opened: list[tuple[str, int]] = []
    for found in _MARKS.finditer(text):
        if found[0] in ("[", "{"):
            opened.append((found[0], found.start()))
        elif found[0] in ("]", "}") and opened:
            opened.pop()
    return opened


def document_problem(document: object) -> Problem | None:
    """Return what makes tables, lists and values from TOML or from Python no scenario's.

    Models, which have been checked before, count as values.
    """
    values = 0
    waiting = [("", document, 0)]
    while waiting:
        key, value, depth = waiting.pop()
        values += 1
        if values > MAX_VALUES:
            return Problem("", f"at most {MAX_VALUES:,} values in all", "more")
        problem = _value_problem(key, value, depth)
        if problem is not None:
            return problem
        waiting += [(join_keys(key, below), each, depth + 1) for below, each in _below(value)]
    return None


def _value_problem(key: str, value: object, depth: int) -> Problem | None:
    """Return what is wrong with the size, the depth or the keys of one value."""
    if isinstance(value, Mapping):
        for each in value:
            if not isinstance(each, str) or not each.isprintable() or len(each) > MAX_KEY:
                expected = f"keys that are texts of up to {MAX_KEY} printable characters"
                return Problem(key, expected, format_value(each))
    elif not isinstance(value, list | tuple):
        if hasattr(value, "__iter__") and not isinstance(value, str | bytes | BaseModel):
            expected = "a table, a list or a plain value"
            return Problem(key, expected, format_value(value))
        return None
    if len(value) > MAX_ENTRIES:
        return Problem(key, f"at most {MAX_ENTRIES} entries", f"more: {len(value):,}")
    if depth >= MAX_DEPTH and value:
        return Problem(key, _depth_expected(), "more")
    return None


def _below(value: object) -> Iterator[tuple[str, object]]:
    """Return what stands in a table or a list, each with its key from there on."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        for i, each in enumerate(value):
            yield f"[{i}]", each


def _depth_expected() -> str:
    return f"tables and lists at most {MAX_DEPTH} deep"
