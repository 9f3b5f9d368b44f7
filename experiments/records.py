"""Records of long runs. Each finished part is a line in a file, and the run continues from it."""

import json
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from wfb_gym.files import lock_folder


class RecordError(Exception):
    """The folder holds something else, or cannot be used. The message gives the reason."""


class ResultFile:
    """A file with one line of JSON per finished part. `lines` holds the lines after the first.

    The first line holds the settings. The constructor raises a `RecordError` if the file has
    different settings or a different kind, or if another process is working in the folder. As a
    context manager, it releases the folder on exit.

    Args:
        folder: the run's folder. It is created if it is missing.
        name: file name.
        kind: the file's content, in one word such as "tournament".
        settings: everything that the results depend on.
    """

    def __init__(self, folder: Path, name: str, kind: str, settings: dict[str, Any]) -> None:
        self._path, self._kind = folder / name, kind
        with ExitStack() as held:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                held.enter_context(lock_folder(folder))
                self._open(settings)
            except BlockingIOError:
                raise RecordError(
                    f"{folder}: another process works on a {kind} there; wait for it to end, "
                    "or choose another --out"
                ) from None
            except OSError as error:
                raise RecordError(str(error)) from error
            self._held = held.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _open(self, settings: dict[str, Any]) -> None:
        content = self._path.read_bytes() if self._path.exists() else b""
        complete = content[: content.rfind(b"\n") + 1]
        try:
            lines = [json.loads(line) for line in complete.splitlines()]
            known = lines[0][self._kind] if lines else settings
            if not all(isinstance(each, dict) for each in (known, *lines)):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RecordError(f"{self._path}: expected the results of a {self._kind}") from None
        for key in sorted({*settings, *known}):
            if known.get(key) != settings.get(key):
                raise RecordError(
                    f"{self._path} holds another {self._kind}, with {key} {known.get(key)}, not "
                    f"{settings.get(key)}; choose another --out, or delete that file"
                )
        self.lines: list[dict[str, Any]] = lines[1:]
        if len(content) > len(complete):
            os.truncate(self._path, len(complete))  # drops a line cut off when a process was killed
        if not lines:
            self.add({self._kind: settings})

    def delete(self) -> None:
        """Delete a finished run's file."""
        self._path.unlink()

    def add(self, line: dict[str, Any]) -> None:
        """Append a line and flush it to disk. On an error, the file stays unchanged."""
        before = self._path.stat().st_size if self._path.exists() else 0
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                os.truncate(self._path, before)
            raise OSError(error.errno, error.strerror, str(self._path)) from error
