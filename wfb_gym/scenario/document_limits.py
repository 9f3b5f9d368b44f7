"""Limits on the size and depth of a scenario document.

These checks run first, so that a document from an untrusted source can be rejected cheaply. The
models check the values.
"""

import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from wfb_gym.scenario.errors import Problem, format_value, join_keys

MAX_BYTES = 2**17
"""Largest file in bytes. The largest bundled scenario is 6 KB."""
MAX_DEPTH = 12
"""Deepest nesting of tables and lists. A scenario needs 8 levels."""
MAX_ENTRIES = 128  # maximum number of entries in a list, and of keys in a table
MAX_VALUES = 5_000  # maximum number of values in a document, including tables and lists
MAX_KEY = 100  # maximum length of a key, in characters

_MARKS = re.compile(  # whole strings and comments, and the characters that mark structure
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"*+'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'*+"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
    r"|[][{}.,=\n]",
    re.DOTALL,
)


def text_problem(text: str) -> Problem | None:
    """Return a problem if a TOML text is too large or too deep to parse.

    The parser's memory use grows with the square of the number of parts in a dotted key, and each
    nested list uses a level of Python's stack.
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
    """Return the unclosed brackets and braces in a TOML text, with their positions.

    Brackets in headers, strings and comments are not counted.
    """
    opened: list[tuple[str, int]] = []
    for found in _MARKS.finditer(text):
        if found[0] in ("[", "{"):
            opened.append((found[0], found.start()))
        elif found[0] in ("]", "}") and opened:
            opened.pop()
    return opened


def document_problem(document: object) -> Problem | None:
    """Return a problem if a document of tables, lists and values is too large or too deep.

    Models have already been validated and count as a single value.
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
    """Return a problem with the size, depth or keys of a single value."""
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
    """Return the entries in a table or list, each with its relative key."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        for i, each in enumerate(value):
            yield f"[{i}]", each


def _depth_expected() -> str:
    return f"tables and lists at most {MAX_DEPTH} deep"
