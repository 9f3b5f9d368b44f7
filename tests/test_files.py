"""Atomic writes, and errors for damaged files."""

import contextlib
import io
import os
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.scripts import run_python
from wfb_gym import files
from wfb_gym.files import open_archive


def test_a_file_is_replaced_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    files.atomic_write_text(path, "first\n")

    def interrupted_writing() -> None:
        with files.atomic_write(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_writing()
    assert list(tmp_path.iterdir()) == [path]
    with files.atomic_write(path) as file:
        file.write(b"sec")
        assert path.read_bytes() == b"first\n"
        file.write(b"ond\n")
    assert path.read_bytes() == b"second\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_a_full_disk_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"
    files.atomic_write_text(path, "first\n")
    (tmp_path / f"results.json.{os.getpid()}.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        files.atomic_write_text(path, "second\n")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"first\n"
    assert list(tmp_path.iterdir()) == [path]


def test_drafts_of_processes_that_were_killed_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a[1]*.npz"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    abandoned = tmp_path / f"{path.name}.{ended.pid}.part"
    others = [
        tmp_path / f"{path.name}.{os.getppid()}.part",  # still being written
        tmp_path / f"a1.npz.{ended.pid}.part",  # for another file
        tmp_path / f"{path.name}.mine.part",
    ]
    for each in (abandoned, *others):
        each.touch()
    files.atomic_write_text(path, "")
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


class OwnError(ValueError):
    """The documented error of a loader."""


@pytest.mark.parametrize("error", [RecursionError("too deep"), ValueError("x"), MemoryError()])
def test_any_error_of_reading_becomes_the_documented_one(error: Exception) -> None:
    wrap, message = files.wrap_read_errors, r"x\.npz: expected a policy, found a damaged or unsup"
    with pytest.raises(files.DamagedFileError, match=message), wrap("x.npz", "a policy"):
        raise error
    for passed in (OwnError("own words"), KeyboardInterrupt()):
        with pytest.raises(type(passed)) as caught, wrap("x.npz", "a", OwnError):
            raise passed
        assert caught.value is passed


def test_an_error_is_one_short_line() -> None:
    assert files.describe_error(ValueError("a\nb\x1b[31m\tc")) == "a b [31m c"
    assert files.describe_error(EOFError()) == "EOFError"
    assert len(files.describe_error(ValueError("x" * 10**6))) == 203
    assert files.describe_error(FileNotFoundError(2, "No such file", "x")) == "No such file"


def test_a_folder_is_locked_by_one_process_until_it_ends(tmp_path: Path) -> None:
    other = (
        "import sys; from wfb_gym.files import lock_folder\n"
        "with lock_folder(sys.argv[1]): print('kept')\n"
    )
    with files.lock_folder(tmp_path):
        assert "\nBlockingIOError" in run_python("-c", other, tmp_path).err
    assert run_python("-c", other, tmp_path).out == "kept\n"


def archive_of(path: Path, members: dict[str, bytes], packed: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def npy(array: Any) -> bytes:
    written = io.BytesIO()
    np.save(written, array, allow_pickle=True)
    return written.getvalue()


@contextlib.contextmanager
def little_memory(most: int = 16 * 2**20) -> Iterator[None]:
    """Fail if the block allocates more bytes at once; allocations of C code are not counted."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def test_an_archive_holds_texts_and_arrays(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    members = {"header.json": b"{}", "a.npy": npy(numbers), "about.npy": npy(np.array("words"))}
    path = archive_of(tmp_path / "a.zip", members)
    size = sum(map(len, members.values()))
    with open_archive(path, size) as archive:
        assert archive.names == set(members)
        archive.require(members)
        assert archive.read_text("header.json") == b"{}"
        assert archive.layout("a") == ((2, 3), np.float32)
        assert np.array_equal(archive.read_array("a"), numbers)
        assert archive.read_string("about") == "words"
        with pytest.raises(KeyError):
            archive.read_text("other")
        message = "expected 2 members, found 3: 1 missing .'b'.*, 2 unknown .'about.npy', 'header"
        with pytest.raises(ValueError, match=message):
            archive.require(["a.npy", "b"])
        with pytest.raises(ValueError, match="a: expected a text of at most"):
            archive.read_string("a")
    message = f"unpacks to {size:,} bytes, expected at most {size - 1:,}"
    with pytest.raises(ValueError, match=message), open_archive(path, size - 1):
        pass


MANY = {f"{k}.npy": b"" for k in range(50_000)}
LONG = npy(np.array("x" * (files.MOST_TEXT // 4 + 1)))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (MANY, "expected a list of members of at most 2,097,152 bytes"),
        ({"header.json": b"[" * (files.MOST_TEXT + 1)}, "expected at most 1,048,576 bytes, found"),
        ({"about.npy": LONG}, "expected a text of at most 1,048,576 bytes"),
        ({"a.npy": npy(np.zeros(3))[:-1]}, "a: expected the bytes of float64 of shape"),
        ({"a.npy": npy(np.zeros(3)) + b"x"}, "a: expected the bytes of float64 of shape"),
        ({"a.npy": b"\x93NUMPY\x02\x00" + bytes(4)}, "in format 1.0 of NumPy"),
        ({"a.npy": npy(np.array([{}]))}, "a: expected plain numbers or text, found objects"),
    ],
)
def test_too_long_or_missing_members_are_not_unpacked(
    tmp_path: Path, members: dict[str, bytes], message: str
) -> None:
    path = archive_of(tmp_path / "a.zip", members)
    with little_memory(), pytest.raises(ValueError, match=message):
        read_all(path)


def read_all(path: Path) -> None:
    with open_archive(path, 2**30) as archive:
        for name in archive.names:
            if name == "a.npy":
                archive.read_array("a")
            elif name == "about.npy":
                archive.read_string("about")
            else:
                archive.read_text(name)


def test_a_member_is_unpacked_only_to_its_declared_size(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.zip", {"header.json": bytes(2**26)})
    data = path.read_bytes()
    size = (2**26).to_bytes(4, "little")
    assert data.count(size) == 2  # before the member, and in the list
    path.write_bytes(data.replace(size, (1000).to_bytes(4, "little")))
    with little_memory(), open_archive(path, 2**30) as archive, pytest.raises(zipfile.BadZipFile):
        archive.read_text("header.json")


def test_duplicate_members_and_other_kinds_of_compression_are_rejected(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.zip", {"first": b"", "other": b""})
    path.write_bytes(path.read_bytes().replace(b"other", b"first"))
    with pytest.raises(ValueError, match="found one twice"), open_archive(path, 1000):
        pass
    for packed in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        archive_of(path, {"a": b"text"}, packed)
        with pytest.raises(ValueError, match="stored or deflated"), open_archive(path, 1000):
            pass


def test_only_the_end_of_another_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "array.npz"
    path.write_bytes(npy(np.zeros(1)))
    os.truncate(path, 2**29)  # it takes no disk space on most systems
    with little_memory(), pytest.raises(zipfile.BadZipFile), open_archive(path, 2**30):
        pass
