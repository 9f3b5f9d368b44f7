"""Files that are written whole or not at all, and what a damaged or foreign file is answered with.

What is in the files is the business of those who write and read them.
"""

import contextlib
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MOST_CHARACTERS = 200
_LOCK = ".lock"
"""A file of a folder that is held locked; empty, and it may stay."""


class DamagedFileError(ValueError):
    """A file that is damaged, or is not what it should be."""


@contextlib.contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft that takes the place of a file once the block has ended.

    Until then, and if the block fails, the file stays as it was. Drafts that processes left which
    were killed are deleted.

    Args:
        path: of the file; its folder exists.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    _delete_abandoned_drafts(path)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a power failure may keep the name and no bytes
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


NOT_UTF8 = "another encoding: save it as UTF-8"
"""What was found in place of a text in UTF-8."""


def write_text_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8 as `write_whole` does.

    Raises:
        OSError: the file cannot be written.
    """
    with write_whole(path) as file:
        file.write(text.encode())


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int) -> None:
    """Save a figure of Matplotlib's as `write_whole` does, in the format that the name ends in.

    Raises:
        OSError: the file cannot be written.
        ValueError: Matplotlib knows no such format.
    """
    with write_whole(path) as file:
        figure.savefig(file, dpi=dpi, format=Path(path).suffix[1:])


@contextlib.contextmanager
def lock_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep a folder for this process while the block runs, if the system can.

    The system gives it back however the process ends.

    Raises:
        BlockingIOError: another process has it.
        OSError: the folder cannot be written into.
    """
    with Path(folder, _LOCK).open("ab") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise
            except OSError:  # a file system without locks
                pass
        yield


def _delete_abandoned_drafts(path: Path) -> None:
    """Delete the drafts of a file whose processes have ended."""
    for draft in path.parent.glob(f"{_escape(path.name)}.*.part"):
        process = draft.name[len(path.name) + 1 : -len(".part")]
        if process.isdecimal() and not _runs(int(process)):
            draft.unlink(missing_ok=True)


def _escape(name: str) -> str:
    """Return a pattern that matches this name alone."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in name)


def _runs(process: int) -> bool:
    """Whether a process with this number runs; where that cannot be asked, it may."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # asks, and sends nothing
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True


def read_limited(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file that has at most so many bytes; pipes and devices, which may not end, are none.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no file or larger, or no file can have this path.
    """
    path = Path(path)
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("a folder" if path.is_dir() else "neither a file nor a folder")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"more than {most:,} bytes")
    return content


def check_unpacked(archive: zipfile.ZipFile, most: int) -> None:
    """Raise a ValueError if the members of an archive take more bytes than `most`, unpacked.

    Reading a member gives no more bytes than its entry names, so none needs to be read.
    """
    size = sum(member.file_size for member in archive.infolist())
    if size > most:
        raise ValueError(f"it unpacks to {size:,} bytes, expected at most {most:,}")


def read_arrays(path: str | os.PathLike[str], most: int) -> dict[str, Any]:
    """Return the arrays of a .npz file by name; what a damaged one raises, `refuse_damage` tells.

    Args:
        path: of the file.
        most: bytes that they may take, unpacked.
    """
    # NumPy leaves a damaged file open that it has opened itself.
    with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
        check_unpacked(held.zip, most)
        return {name: held[name] for name in held.files}


@contextlib.contextmanager
def refuse_damage(
    path: str | os.PathLike[str], expected: str, error: type[ValueError] = DamagedFileError
) -> Iterator[None]:
    """Raise one kind of error for whatever reading a damaged or foreign file raises.

    Readers of archives, arrays and JSON raise a dozen kinds between them for bytes that they did
    not expect. An `error` that the block raises itself passes as it is.

    Args:
        path: of the file, for the message.
        expected: what should have been there, as "a saved network".
        error: what is raised; a kind of its own, as those of readers do not pass.
    """
    try:
        yield
    except error:
        raise
    except Exception as found:
        text = f"found a damaged or foreign file ({describe_error(found)})"
        raise error(f"{path}: expected {expected}, {text}") from found


def describe_error(error: BaseException) -> str:
    """Return an error's text as one short line without control characters."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    short = line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}..."
    return short or type(error).__name__
