"""Writing whole files, and answering damaged ones."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from wfb_gym.files import (
    DamagedFileError,
    check_unpacked,
    describe_error,
    lock_folder,
    refuse_damage,
    write_text_whole,
    write_whole,
)


def test_a_file_is_replaced_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_text_whole(path, "first\n")
    with write_whole(path) as file:
        file.write(b"sec")
        assert path.read_text(encoding="utf-8") == "first\n"
        file.write(b"ond\n")
    assert path.read_bytes() == b"second\n"
    assert list(tmp_path.iterdir()) == [path]


def interrupted_writing(path: Path) -> None:
    with write_whole(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_what_fails_leaves_the_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_text_whole(path, "first\n")
    with pytest.raises(KeyboardInterrupt):
        interrupted_writing(path)
    assert path.read_bytes() == b"first\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_a_full_disk_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"
    write_text_whole(path, "first\n")
    (tmp_path / f"results.json.{os.getpid()}.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_text_whole(path, "second\n")
    assert path.read_bytes() == b"first\n"
    assert list(tmp_path.iterdir()) == [path]


def test_drafts_of_processes_that_were_killed_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a[1]*.npz"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    abandoned = tmp_path / f"{path.name}.{ended.pid}.part"
    others = [
        tmp_path / f"{path.name}.{os.getppid()}.part",  # still being written
        tmp_path / f"a1.npz.{ended.pid}.part",  # of another file
        tmp_path / f"{path.name}.mine.part",
    ]
    for each in (abandoned, *others):
        each.touch()
    write_text_whole(path, "")
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


class OwnError(ValueError):
    """What a loader documents."""


@pytest.mark.parametrize("error", [RecursionError("too deep"), ValueError("x"), MemoryError()])
def test_any_error_of_reading_becomes_the_one(error: Exception) -> None:
    message = r"x\.npz: expected a policy, found a damaged or foreign file \("
    with pytest.raises(DamagedFileError, match=message), refuse_damage("x.npz", "a policy"):
        raise error


@pytest.mark.parametrize("error", [OwnError("own words"), KeyboardInterrupt()])
def test_the_one_error_and_ctrl_c_pass_as_they_are(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, refuse_damage("x.npz", "a policy", OwnError):
        raise error
    assert caught.value is error


def test_an_error_is_one_short_line() -> None:
    assert describe_error(ValueError("a\nb\x1b[31m\tc")) == "a b [31m c"
    assert describe_error(EOFError()) == "EOFError"
    assert len(describe_error(ValueError("x" * 10**6))) == 203
    assert describe_error(FileNotFoundError(2, "No such file", "x")) == "No such file"


def test_a_folder_is_kept_by_one_process_until_it_ends(tmp_path: Path) -> None:
    other = (
        "import sys; from wfb_gym.files import lock_folder\n"
        "with lock_folder(sys.argv[1]): print('kept')\n"
    )

    def try_it() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", other, str(tmp_path)]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    with lock_folder(tmp_path):
        assert try_it().stderr.splitlines()[-1].startswith("BlockingIOError")
    assert try_it().stdout == "kept\n"


def test_an_archive_says_what_it_unpacks_to(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(1_000_000))
        archive.writestr("more", bytes(1))
    assert path.stat().st_size < 2_000
    with zipfile.ZipFile(path) as archive:
        check_unpacked(archive, 1_000_001)
        with pytest.raises(ValueError, match="unpacks to 1,000,001 bytes, expected at most 1,000"):
            check_unpacked(archive, 1_000_000)
