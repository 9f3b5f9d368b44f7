"""What a tournament has found so far, a line of JSON for each finished cell.

The first line says what is played. A tournament that was interrupted goes on where it was, if it
is asked for with the same settings; with others it is refused, so that no table mixes two.
"""

import json
import os
from pathlib import Path
from typing import Any

FILE = "cells.jsonl"


class RecordError(Exception):
    """The folder holds something else; the message says what."""


class Record:
    """The file of a tournament.

    Args:
        folder: of the results; made if it is not there.
        settings: what is played, as JSON holds it.

    Attributes:
        lines: what stands there, as it was added.

    Raises:
        RecordError: the folder holds another tournament, or a file that is none.
        OSError: it cannot be read or written.
    """

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self._path = folder / FILE
        folder.mkdir(parents=True, exist_ok=True)
        whole, self.lines = self._read(settings)
        if self._path.exists() and self._path.stat().st_size > whole:
            os.truncate(self._path, whole)  # a line that was cut off while it was written
        if not whole:
            self._write({"tournament": settings})

    def add(self, line: dict[str, Any]) -> None:
        """Keep a finished cell; it is on the disk when this returns."""
        self._write(line)
        self.lines.append(line)

    def _write(self, line: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self, settings: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
        """How many bytes are whole lines, and what they say, the first left out."""
        if not self._path.exists():
            return 0, []
        content = self._path.read_bytes()
        whole = content.rfind(b"\n") + 1
        try:
            found = [json.loads(line) for line in content[:whole].splitlines()]
            known = found[0]["tournament"] if found else settings
        except (ValueError, KeyError, TypeError):
            raise RecordError(f"{self._path}: expected the cells of a tournament") from None
        for key in sorted({*settings, *known}):
            if known.get(key) != settings.get(key):
                raise RecordError(
                    f"{self._path} holds another tournament, with {key} {known.get(key)}, not "
                    f"{settings.get(key)}: choose another --out, or delete that file"
                )
        return whole, found[1:]
