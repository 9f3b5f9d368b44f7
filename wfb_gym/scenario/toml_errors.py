"""Hints for syntax errors in TOML files.

The models check the values in files that are valid TOML.
"""

import re
from collections.abc import Iterator
from typing import Any, get_args

from wfb_gym.scenario.document_limits import opened_marks
from wfb_gym.scenario.errors import format_value
from wfb_gym.scenario.fields import Number, StrictModel, Whole

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")
_BRACKETS = {"[": ("list", "]"), "{": ("table", "}")}
_STATEMENT = re.compile(r"[\w.-]+\s*=|\[")
"""Start of a line that begins a new key or table, and so cannot continue a list."""
_SWITCHES = {"true": "true", "yes": "true", "on": "true"}
_SWITCHES |= {"false": "false", "no": "false", "off": "false"}
"""Unquoted words that mean true or false, with their meaning."""


def explain(text: str, error: ValueError) -> str:
    """Return the text to append to the parser's message: the line, and a hint if there is one.

    Empty if the parser gives no position and there is no hint.
    """
    message = str(error)
    found = _PLACE.search(message)
    text = text.replace("\r\n", "\n")  # the parser counts positions after this replacement
    lines = text.split("\n")
    if found is None or int(found[1]) > len(lines):
        is_quote_missing = message.startswith(("Expected \"'", "Expected '\""))
        unclosed = _unclosed(text, len(text), "", message)
        return unclosed or (" (a closing quote is missing)" if is_quote_missing else "")
    number, column = int(found[1]), int(found[2])
    line = lines[number - 1]
    place = sum(len(each) + 1 for each in lines[: number - 1]) + column - 1
    unclosed = _unclosed(text, place, line, message)
    if unclosed:
        return unclosed
    hint = _hint(message, line.strip(), line[column - 1 :].strip())
    return f", in the line {format_value(line.strip())}{f' ({hint})' if hint else ''}"


def _unclosed(text: str, place: int, line: str, message: str) -> str:
    """Describe where the unclosed list or table begins, or return "" if there is none."""
    opened = opened_marks(text[:place])
    if not opened:
        return ""
    mark, start = opened[-1]
    begins = text.count("\n", 0, start) + 1
    within = begins != text.count("\n", 0, place) + 1
    if "Unclosed" not in message and not (within and _STATEMENT.match(line.strip())):
        return ""
    shown = format_value(text.split("\n")[begins - 1].strip())
    kind, closing = _BRACKETS[mark]
    missing = f"a comma, a quote or a {closing} is missing"
    return f", in the {kind} that begins in line {begins}, {shown} ({missing})"


def _hint(message: str, line: str, rest: str) -> str:
    """Return a hint on how to write a line, given the parser's message and the line's remainder."""
    unquoted = re.fullmatch(r"([\w-]+)\s*=\s*([A-Za-z][\w '-]*)", line)
    mixed_digits = re.fullmatch(r"([\w-]+)\s*=\s*\d+ *[A-Za-z]\w*\d\w*", line)
    half_quoted = re.fullmatch(r"[\w-]+\s*=\s*[A-Za-z][\w '-]*\"", line)
    digits_first = re.fullmatch(r"([\w-]+)\s*=\s*((\d+) *[A-Za-z][\w ]*)", line)
    value_plus = re.fullmatch(r"([\w-]+)\s*=\s*(\d+)\+", line)
    decimal_comma = re.fullmatch(r"([\w-]+)\s*=\s*(\d+),(\d+)", line)
    header = re.fullmatch(r"\[([\w.-]+)\]", line)
    key = re.match(r"[\w-]+", line)
    hint = ""
    if rest.startswith("//"):
        hint = "# begins a comment"
    elif unquoted and unquoted[2].lower() in _SWITCHES:
        hint = f"true or false, in lower case: {unquoted[1]} = {_SWITCHES[unquoted[2].lower()]}"
    elif unquoted and unquoted[1] in _number_keys():
        hint = "a text needs quotes, and a number needs digits"
    elif unquoted:
        hint = f"a text needs quotes: {unquoted[1]} = {format_value(unquoted[2])}"
    elif mixed_digits and mixed_digits[1] in _number_keys():
        hint = f"a number has only digits, such as {mixed_digits[1]} = 25"
    elif digits_first and digits_first[1] in _number_keys():
        hint = f"only the number: {digits_first[1]} = {digits_first[3]}"
    elif digits_first:
        hint = f"a text needs quotes: {digits_first[1]} = {format_value(digits_first[2])}"
    elif half_quoted:
        hint = "the opening quote is missing"
    elif "Illegal character '\\n'" in message:
        hint = "the closing quote is missing"
    elif value_plus:
        hint = f"without the +: {value_plus[1]} = {value_plus[2]}"
    elif decimal_comma:
        hint = "a decimal point: {} = {}.{}".format(*decimal_comma.groups())
    elif re.search(r"[=\[,]\s*[\u2018-\u201e«»]", line):
        hint = 'use straight quotes: "'
    elif re.match(r"[\w-]+\s*=\s*\(", line):
        hint = "a list needs square brackets"
    elif key and "Expected '='" in message:
        hint = "= is missing between a key and its value"
    elif key and "overwrite" in message:
        hint = f"the key {key[0]} is there twice"
    elif header and "twice" in message and "." in header[1]:
        hint = f"each entry of a list begins with [[{header[1]}]]"
    elif header and "twice" in message:
        hint = f"the table {header[1]} is there twice"
    elif "Invalid value" in message and rest[:1].isalpha():
        hint = "a text needs quotes"
    return hint


def _number_keys() -> set[str]:
    """Return the keys that are numbers in all models."""
    numbers: set[str] = set()
    others: set[str] = set()
    for model in _models(StrictModel):
        for name, field in model.model_fields.items():
            kinds = (*field.metadata, *_kinds(field.annotation))
            is_number = any(isinstance(each, Number | Whole) for each in kinds)
            (numbers if is_number else others).add(name)
    return numbers - others


def _models(model: type[StrictModel]) -> Iterator[type[StrictModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _models(each)


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield the annotations of a type and of its components."""
    yield from getattr(annotation, "__metadata__", ())
    for part in get_args(annotation):
        yield from _kinds(part)
