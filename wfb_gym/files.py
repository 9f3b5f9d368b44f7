"""Files that are written whole or not at all, and what a damaged or foreign file is answered with.

What is in the files is the business of those who write and read them.
"""

import contextlib
import io
import math
import os
import stat
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOST_TEXT = 2**20
"""Bytes of a text in an archive: a header, or what a file says about itself."""
_MOST_MEMBERS = 2**21
"""Bytes of an archive's list of members, which is read whole."""
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Kinds of compression; the memory that others take to unpack has no limit."""
_MOST_CHARACTERS = 200
_LOCK = ".lock"
"""A file of a folder that is held locked; empty, and it may stay."""


class DamagedFileError(ValueError):
    """A file that is damaged, or is not what it should be."""


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft that takes the place of a file once the block has ended.

    Until then, and if the block fails, the file stays as it was. Drafts that processes left which
    were killed are deleted.

    Args:
        path: of the file; its folder exists.

    Raises:
        OSError: the file cannot be written; names it.
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
    except OSError as error:
        is_own = error.filename in (None, str(draft))  # else of a file that the block opened
        if not is_own or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        draft.unlink(missing_ok=True)


NOT_UTF8 = "another encoding: save it as UTF-8"
"""What was found in place of a text in UTF-8."""


def atomic_write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8 as `atomic_write` does.

    Raises:
        OSError: the file cannot be written.
    """
    with atomic_write(path) as file:
        file.write(text.encode())


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int) -> None:
    """Save a figure of Matplotlib's as `atomic_write` does, in the format that the name ends in.

    Raises:
        OSError: the file cannot be written.
        ValueError: Matplotlib knows no such format.
    """
    with atomic_write(path) as file:
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


class ArrayLayout(NamedTuple):
    """The shape and dtype of an array in an archive, as its header says."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Archive:
    """An archive of texts and arrays from elsewhere; what is not asked for stays packed.

    All methods raise a ValueError, or what `zipfile` and NumPy raise, for what is no such member.

    Args:
        held: the archive.
        most: bytes that its members may take, unpacked.

    Attributes:
        names: of the members.
    """

    def __init__(self, held: zipfile.ZipFile, most: int) -> None:
        members = held.infolist()
        self._held = held
        self.names = {each.filename for each in members}
        if len(self.names) < len(members):
            raise ValueError("expected members of different names, found one twice")
        if any(each.compress_type not in _PACKED for each in members):
            raise ValueError("expected members that are stored or deflated, found others")
        size = sum(each.file_size for each in members)
        if size > most:
            raise ValueError(f"it unpacks to {size:,} bytes, expected at most {most:,}")

    def require(self, names: Collection[str]) -> None:
        """Raise a ValueError unless the archive has these members and no others."""
        if self.names != set(names):
            missing, more = sorted(set(names) - self.names), sorted(self.names - set(names))
            raise ValueError(
                f"expected {len(names)} members, found {len(self.names)}: "
                f"{len(missing)} missing {missing[:3]}, {len(more)} unknown {more[:3]}"
            )

    def read_text(self, name: str, most: int = MOST_TEXT) -> bytes:
        """Return a member of at most so many bytes."""
        size = self._held.getinfo(name).file_size
        if size > most:
            raise ValueError(f"{name}: expected at most {most:,} bytes, found {size:,}")
        with self._held.open(name) as file:
            return file.read(size)  # without a size it unpacks first and cuts off then

    def read_string(self, name: str) -> str:
        """Return an array that is one text of at most `MOST_TEXT` bytes."""
        layout = self.layout(name)
        if layout.shape or layout.dtype.kind != "U" or layout.dtype.itemsize > MOST_TEXT:
            raise ValueError(
                f"{name}: expected a text of at most {MOST_TEXT:,} bytes, found {layout.dtype} of "
                f"shape {layout.shape}"
            )
        return str(self.read_array(name))

    def layout(self, name: str) -> ArrayLayout:
        """Return the layout of the array in the member NAME.npy, which has as many bytes."""
        path = f"{name}.npy"
        with self._held.open(path) as file:
            if np.lib.format.read_magic(file) != (1, 0):  # others may have headers of any length
                raise ValueError(f"{name}: expected an array in format 1.0 of NumPy")
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            start = file.tell()
        size = start + math.prod(shape) * dtype.itemsize
        if dtype.hasobject:
            raise ValueError(f"{name}: expected plain numbers or text, found objects")
        if min(shape, default=0) < 0 or size != self._held.getinfo(path).file_size:
            raise ValueError(f"{name}: expected the bytes of {dtype} of shape {shape}")
        return ArrayLayout(shape, dtype)

    def read_array(self, name: str) -> NDArray[Any]:
        """Unpack the array in the member NAME.npy."""
        self.layout(name)
        with self._held.open(f"{name}.npy") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


class _ListedFile(io.FileIO):
    """A file that gives only so many bytes at once while `zipfile` reads the list of members."""

    is_listed = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as `io.FileIO` does.

        Raises:
            ValueError: the list of members is too long.
        """
        if not self.is_listed:
            whole = size is None or size < 0
            wanted = os.fstat(self.fileno()).st_size - self.tell() if whole else size
            if wanted is not None and wanted > _MOST_MEMBERS:
                raise ValueError(
                    f"expected a list of members of at most {_MOST_MEMBERS:,} bytes, "
                    f"found {wanted:,}"
                )
        return super().read(size) or b""


@contextlib.contextmanager
def open_archive(path: str | os.PathLike[str], most: int) -> Iterator[Archive]:
    """Open an archive from elsewhere; what a damaged one raises, `wrap_read_errors` tells.

    Args:
        path: of the file.
        most: bytes that its members may take, unpacked.

    Raises:
        ValueError: the members take more.
        zipfile.BadZipFile: it is no archive.
    """
    with _ListedFile(path) as file, zipfile.ZipFile(file) as held:
        file.is_listed = True
        yield Archive(held, most)


@contextlib.contextmanager
def wrap_read_errors(
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
    text = text[: 10 * _MOST_CHARACTERS]
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    short = line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}..."
    return short or type(error).__name__
