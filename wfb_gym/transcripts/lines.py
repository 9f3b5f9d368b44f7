"""Lines of a transcript's file: JSON objects that know where they stand."""

import json
from dataclasses import dataclass
from typing import Any


class TranscriptError(ValueError):
    """A file that is no transcript, or a transcript that does not follow from the rules."""

    def __init__(self, source: str, line: int, expected: str, found: object) -> None:
        super().__init__(f"{source}, line {line}: expected {expected}, found {found}")


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes:
        source: the file's name.
        number: of the line, from 1.
        fields: what stands there.
    """

    source: str
    number: int
    fields: dict[str, Any]

    def error(self, expected: str, found: object) -> TranscriptError:
        """What is wrong with it."""
        return TranscriptError(self.source, self.number, expected, found)

    def get(self, key: str, *kinds: type) -> Any:
        """A field of one of some types.

        Raises:
            TranscriptError: it is missing, or of another type.
        """
        names = " or ".join(_NAMES[kind] for kind in kinds)
        if key not in self.fields:
            raise self.error(f'"{key}", {names}', "none")
        value = self.fields[key]
        if type(value) not in kinds:
            raise self.error(f'"{key}", {names}', json.dumps(value))
        return value


_NAMES: dict[type, str] = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "text",
    type(None): "null",
}


def parsed(source: str, data: bytes) -> list[Line]:
    """The lines of a file.

    Raises:
        TranscriptError: it is not UTF-8, or a line is no JSON object.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TranscriptError(source, 1, "text in UTF-8", str(error)) from None
    lines = []
    # Not splitlines(), which also splits at separators that a name may hold.
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise TranscriptError(source, number, "a JSON object", str(error)) from None
        if not isinstance(fields, dict):
            raise TranscriptError(source, number, "a JSON object", line[:40])
        lines.append(Line(source, number, fields))
    return lines
