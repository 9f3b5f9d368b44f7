"""Atomic file writes, and safe reading of files that may be corrupt or malicious.

This module knows nothing about file formats, except for archives of texts and arrays (.npz).
"""

import contextlib
import glob
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
"""Maximum size of a text in an archive, such as a header or a description, in bytes."""
_MOST_MEMBERS = 2**21
"""Maximum size of an archive's list of members, in bytes; `zipfile` reads it all at once."""
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted types of compression; others may take unlimited memory to unpack."""
_MOST_CHARACTERS = 200
_LOCK = ".lock"
"""Name of a folder's lock file, which is empty and may be left behind."""


class DamagedFileError(ValueError):
    """Raised if a file is corrupt or does not have the expected format."""


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft that replaces a file when the block ends.

    Until then, or if the block fails, the file is unchanged. Drafts left behind by processes that
    were killed are deleted first.

    Args:
        path: path of the file. Its folder must exist.

    Yields:
        The draft, opened for writing.

    Raises:
        OSError: if the file cannot be written. `filename` is then `path`.
    """
    path = Path(path)
    delete_abandoned_drafts(path.parent, path.name)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # otherwise a power failure may leave an empty file
        draft.replace(path)
    except OSError as error:
        is_own = error.filename in (None, str(draft))  # otherwise the error is about another file
        if not is_own or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        draft.unlink(missing_ok=True)


NOT_UTF8 = "another encoding: save it as UTF-8"
"""Describes text that is not UTF-8, for error messages."""


def atomic_write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8, in the same way as `atomic_write`.

    Raises:
        OSError: if the file cannot be written.
    """
    with atomic_write(path) as file:
        file.write(text.encode())


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int) -> None:
    """Save a Matplotlib figure in the same way as `atomic_write`; the suffix selects the format.

    Args:
        figure: the figure.
        path: path of the file.
        dpi: dots per inch.

    Raises:
        OSError: if the file cannot be written.
        ValueError: if Matplotlib does not know the format.
    """
    with atomic_write(path) as file:
        figure.savefig(file, dpi=dpi, format=Path(path).suffix[1:])


@contextlib.contextmanager
def lock_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a folder for this process while the block runs, if the system supports locking.

    The system releases the lock when the process ends, even if it is killed.

    Raises:
        BlockingIOError: if another process holds the lock.
        OSError: if the folder is not writable.
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


def delete_abandoned_drafts(folder: Path, name: str) -> None:
    """Delete the drafts of `atomic_write` whose processes have ended.

    Args:
        folder: path of the folder.
        name: name of the file.
    """
    for draft in folder.glob(f"{glob.escape(name)}.*.part"):
        process = draft.name.removesuffix(".part").rpartition(".")[2]
        if process.isdecimal() and not _runs(int(process)):
            draft.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Return whether the process with this id is running; True if that cannot be checked."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # signal 0 only checks that the process exists
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's process
        return True
    return True


def read_limited(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a regular file, up to a size limit.

    Args:
        path: path of the file. Pipes and devices are rejected, because they may never end.
        most: maximum size in bytes.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if the path is invalid or not a regular file, or if the file is too large.
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
    """The shape and dtype given in the header of an archived array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Archive:
    """An untrusted archive of texts and arrays; members are unpacked only on request.

    If a member is invalid, all methods raise a ValueError or an error from `zipfile` or NumPy.

    Args:
        held: the archive.
        most: maximum total size of the unpacked members, in bytes.

    Attributes:
        names: the members' names.
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
        """Raise a ValueError unless the archive has exactly these members."""
        if self.names != set(names):
            missing, more = sorted(set(names) - self.names), sorted(self.names - set(names))
            raise ValueError(
                f"expected {len(names)} members, found {len(self.names)}: "
                f"{len(missing)} missing {missing[:3]}, {len(more)} unknown {more[:3]}"
            )

    def read_text(self, name: str, most: int = MOST_TEXT) -> bytes:
        """Return a member's bytes.

        Args:
            name: the member's name.
            most: maximum size in bytes.
        """
        size = self._held.getinfo(name).file_size
        if size > most:
            raise ValueError(f"{name}: expected at most {most:,} bytes, found {size:,}")
        with self._held.open(name) as file:
            return file.read(size)  # without a size, `zipfile` would unpack everything first

    def read_string(self, name: str) -> str:
        """Return a scalar text array of at most `MOST_TEXT` bytes as a string."""
        layout = self.layout(name)
        if layout.shape or layout.dtype.kind != "U" or layout.dtype.itemsize > MOST_TEXT:
            raise ValueError(
                f"{name}: expected a text of at most {MOST_TEXT:,} bytes, found {layout.dtype} of "
                f"shape {layout.shape}"
            )
        return str(self.read_array(name))

    def layout(self, name: str) -> ArrayLayout:
        """Return the layout of the array in the member NAME.npy; checks the member's size."""
        path = f"{name}.npy"
        with self._held.open(path) as file:
            if np.lib.format.read_magic(file) != (1, 0):  # later formats allow very long headers
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
    """A file that limits how much is read while `zipfile` reads the list of members."""

    is_listed = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as `io.FileIO` does.

        Raises:
            ValueError: if the list of members is too long.
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
    """Open an untrusted archive. Wrap this in `wrap_read_errors` to handle corrupt files.

    Args:
        path: path of the file.
        most: maximum total size of the unpacked members, in bytes.

    Raises:
        ValueError: if the members are too large.
        zipfile.BadZipFile: if the file is not an archive.
    """
    with _ListedFile(path) as file, zipfile.ZipFile(file) as held:
        file.is_listed = True
        yield Archive(held, most)


@contextlib.contextmanager
def wrap_read_errors(
    path: str | os.PathLike[str], expected: str, error: type[ValueError] = DamagedFileError
) -> Iterator[None]:
    """Convert any error while reading a corrupt or unsupported file to one type.

    Readers of archives, arrays and JSON raise a dozen different types of error for unexpected
    bytes. If the block itself raises an `error`, it is passed on unchanged.

    Args:
        path: path of the file, for use in the message.
        expected: expected content, for use in the message, such as "a saved network".
        error: type of error to raise. It must be a type that no reader raises.
    """
    try:
        yield
    except error:
        raise
    except Exception as found:
        text = f"found a damaged or unsupported file ({describe_error(found)})"
        raise error(f"{path}: expected {expected}, {text}") from found


def describe_error(error: BaseException) -> str:
    """Return an error's text as a single short line without control characters."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    text = text[: 10 * _MOST_CHARACTERS]
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    short = line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}..."
    return short or type(error).__name__


def user_data_folder(name: str) -> Path | None:
    """Return the folder wfb_gym/NAME for the user's own files, which may not exist yet.

    It is in XDG_DATA_HOME, by default ~/.local/share. None if there is no home folder.
    """
    if home := os.environ.get("XDG_DATA_HOME"):
        return Path(home, "wfb_gym", name).absolute()
    with contextlib.suppress(RuntimeError):
        return Path.home() / ".local" / "share" / "wfb_gym" / name
    return None
