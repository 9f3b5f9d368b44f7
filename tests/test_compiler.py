"""Compilation of callees with their entry: same results, less work, and the cache on disk."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from numba import version_info

from tests import compiled_sample as sample
from tests.support.pages import ROOT
from tests.support.scripts import run_python
from wfb_gym import _compiler, _jit

RESULTS = [25, 21, 5]

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled"
)


def start_process(
    cache: Path, before: str = "", prefix: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """Start a process that prints the result of `sample.report`."""
    code = f"{before}\nfrom tests.compiled_sample import report\nprint(report(), flush=True)"
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    variables = os.environ | {"WFB_GYM_CACHE_DIR": str(cache)}
    command = [*prefix, sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=ROOT, env=variables, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


def report_of_a_process(
    cache: Path, before: str = "", prefix: Sequence[str] = ()
) -> tuple[dict[str, Any], str]:
    """Return the result of `sample.report` in a new process, and its standard error."""
    with start_process(cache, before, prefix) as process:
        said, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(said), errors


def output_of(cache: Path, *words: str) -> str:
    """Return the output of Python with a cache folder."""
    done = run_python(*words, env={"WFB_GYM_CACHE_DIR": str(cache)})
    assert done.status == 0, done.err
    return done.out.strip()


class Stored(NamedTuple):
    """A cache folder with the sample in it, and the report and errors of its process."""

    folder: Path
    found: dict[str, Any]
    errors: str

    def copy(self, folder: Path) -> None:
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Compile the sample as if it took long; tests use copies of the folder."""
    folder: Path = tmp_path_factory.mktemp("stored")
    long = (
        "from wfb_gym import _jit\n"
        "_jit._LONG = {f'tests.compiled_sample.{name}': name for name in\n"
        "              ('sum_of_squares', 'difference', 'square')}\n"
        "from tests.compiled_sample import sum_in_parallel; sum_in_parallel(4)"
    )
    return Stored(folder, *report_of_a_process(folder, long))


def test_only_entries_are_compiled_and_stored_and_long_ones_announced(stored: Stored) -> None:
    names = "difference", "sum_in_parallel", "sum_of_squares"
    kept = [f"compiled_sample.{name}" for name in names]
    expected = {"results": RESULTS, "entries": [0, 0, 1, 1], "kept": kept, "loaded": [0, 0]}
    assert stored.found == expected
    (folder,) = stored.folder.iterdir()
    assert stored.errors.splitlines() == [
        f"wfb_gym: compiling sum_of_squares; the result is kept in {folder}",
        "wfb_gym: compiling difference",
    ]


_LOADED = """
import sys
from tests.compiled_sample import difference, of_another_package, sum_in_parallel, sum_of_squares
print(sum_of_squares(3, 4), sum_in_parallel(4), difference(5, 2))
print(*(each.stats.cache_misses.total() for each in (sum_of_squares, sum_in_parallel, difference)))
print("numba.np.linalg" in sys.modules)  # which only compiling takes
print(of_another_package(3), "numba.np.linalg" in sys.modules)
"""


def test_loaded_code_needs_no_compiler_at_first(stored: Stored, tmp_path: Path) -> None:
    stored.copy(tmp_path)
    # Without docstrings, Python has another bytecode.
    lines = output_of(tmp_path, "-OO", "-c", _LOADED).splitlines()
    assert lines == ["25 18 21", "0 0 0", "False", "10 True"]


_WITH_CORE = """
import sys
from pathlib import Path
from wfb_gym import _compiler
from tests import compiled_sample as sample
_compiler.use_core(lambda: (sample.core, (0,)))
{before}
results = [sample.calls_shared(3)]
try:
    sample.calls_shared(10)
except ValueError as error:
    results.append(str(error))
kept = sorted(path.name.split("-")[0] for path in Path(sys.argv[1]).rglob("*.nbi"))
print(results, sample.calls_shared.stats.cache_misses.total(), kept)
"""
_ALL_KEPT = "['compiled_sample.calls_shared', 'compiled_sample.core']"


def _with_core(cache: Path, before: str = "") -> str:
    return output_of(cache, "-c", _WITH_CORE.format(before=before), str(cache))


@pytest.fixture(scope="module")
def stored_with_core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder with the sample's core in it; tests copy it."""
    folder: Path = tmp_path_factory.mktemp("core")
    assert _with_core(folder) == f"[10, 'expected 0..9'] 1 {_ALL_KEPT}"
    return folder


def test_shared_functions_are_compiled_in_the_core(stored_with_core: Path, tmp_path: Path) -> None:
    raised = b"expected 0..9"  # through functions that only the core contains
    assert raised in next(stored_with_core.rglob("*.core-*.nbc")).read_bytes()
    assert raised not in next(stored_with_core.rglob("*calls_shared*.nbc")).read_bytes()
    results = "[10, 'expected 0..9']"
    shutil.copytree(stored_with_core, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.rglob("*.core-*"):
        path.unlink()
    # The entry is compiled again for another core. Functions compiled before and after it must
    # have different names.
    assert _with_core(tmp_path, "sample.difference(5, 2)").startswith(f"{results} 1 ")
    assert _with_core(tmp_path).startswith(f"{results} 0 ")


def test_the_core_is_complete_though_its_callees_wait_for_it(tmp_path: Path) -> None:
    # Numba would treat the core's call as recursion, and a later process would not find it.
    core = "_compiler.use_core(lambda: (sample.wider_core, (0,)))"
    names = "from wfb_gym import _compiler\nfrom tests import compiled_sample as sample"

    def said(*calls: str) -> str:
        results = ", ".join(f"sample.{call}" for call in calls)
        return output_of(tmp_path, "-c", f"{names}\n{core}\nprint({results})")

    assert said("calls_both(3)") == "19"
    assert said("calls_shared(3)", "wider_core(3)") == "10 27"


def test_the_core_is_complete_after_an_interruption(tmp_path: Path) -> None:
    interrupted = """
from wfb_gym._compiler import linking
finalize = linking.Library.finalize
def interrupt(library):
    if not library.is_inner:
        raise KeyboardInterrupt
    finalize(library)
linking.Library.finalize = interrupt
try:
    sample.calls_shared(3)
except KeyboardInterrupt:
    print("interrupted")
linking.Library.finalize = finalize
"""
    said = _with_core(tmp_path, interrupted).splitlines()
    assert said[0] == "interrupted"
    assert said[1].startswith("[10, 'expected 0..9'] ")
    assert b"expected 0..9" not in next(tmp_path.rglob("*calls_shared*.nbc")).read_bytes()
    assert _with_core(tmp_path).startswith("[10, 'expected 0..9'] 0 ")


@pytest.mark.parametrize("is_core_stored", [False, True])
def test_caches_of_other_packages_have_their_own_core(
    tmp_path: Path, stored_with_core: Path, is_core_stored: bool
) -> None:
    if is_core_stored:
        shutil.copytree(stored_with_core, tmp_path, dirs_exist_ok=True)
    other = """
import numba
numba.config.CACHE_DIR = sys.argv[1] + "/other"
function = numba.njit(cache=True)(sample._of_another_package_kept)
print(function(3), function.stats.cache_misses.total())
"""
    assert _with_core(tmp_path, other).startswith("20 1\n")
    alone = f"{other}\nraise SystemExit"  # without a core in the process
    assert _with_core(tmp_path, alone) == "20 0"


def test_inner_functions_are_called_from_python_and_from_other_packages() -> None:
    assert (sample.sum_of_squares(3, 4), sample.checked_square(7)) == (25, 49)
    assert len(_compiler.entries(sample.checked_square)) == 1
    assert sample.difference(5, 2) == 21  # another entry; an inner function is an entry now
    assert [sample.square(value) for value in range(3)] == [0, 1, 4]
    with pytest.raises(ValueError, match=r"expected 0\.\.9"):
        sample.sum_of_squares(10, 0)
    assert (sample.calls_another_package(4), sample.of_another_package(3)) == (18, 10)
    assert sample.sum_in_parallel(4) == 18


def test_untested_releases_compile_like_numba(tmp_path: Path) -> None:
    untested = (
        "import numba; numba.version_info = numba.version_info._replace(short=(0, 99))\n"
        "import warnings; warnings.simplefilter('always')"
    )
    found, errors = report_of_a_process(tmp_path, untested)
    assert found["results"] == RESULTS
    assert "compiled_sample.square" in found["kept"]
    assert errors.count("RuntimeWarning: wfb_gym was tested with Numba 0.61 to 0.68, not with") == 1
    assert _compiler.is_tested(version_info.short)


def without_permission(folder: Path) -> list[str]:
    """Make a folder read-only; returns the prefix of a command that respects it."""
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere")
    return ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_read_only_cache_is_used(stored: Stored, tmp_path: Path, is_complete: bool) -> None:
    stored.copy(tmp_path)
    if not is_complete:
        for path in tmp_path.rglob("compiled_sample.sum_of_squares*"):
            path.unlink()
    files = sorted(tmp_path.rglob("*"))
    found, errors = report_of_a_process(tmp_path, "", without_permission(tmp_path))
    expected = (RESULTS, [int(is_complete), 1], "")
    assert (found["results"], found["loaded"], errors) == expected
    assert sorted(tmp_path.rglob("*")) == files


@pytest.mark.parametrize(
    ("index", "data"),
    [("cut", "changed"), pytest.param("foreign", "empty", marks=pytest.mark.slow)],
)
def test_damaged_caches_are_replaced(tmp_path: Path, stored: Stored, index: str, data: str) -> None:
    stored.copy(tmp_path)
    for name, harm in (("sum_of_squares*.nbi", index), ("difference*.nbc", data)):
        (path,) = tmp_path.rglob(f"compiled_sample.{name}")
        held = path.read_bytes()
        first, last = held[: len(held) // 2], held[len(held) // 2 + 64 :]
        damaged = {"empty": b"", "cut": first, "changed": first + bytes(64) + last}
        path.write_bytes(damaged.get(harm, b"no pickle"))
    for loaded in ([0, 0], [1, 1]):
        found, errors = report_of_a_process(tmp_path)
        assert (found["results"], found["loaded"], errors) == (RESULTS, loaded, "")


def test_a_full_disk_does_not_stop_compilation(tmp_path: Path) -> None:
    full = (
        "import errno\n"
        "from numba.core import caching\n"
        "def fail(*_):\n"
        "    raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "caching.os.replace = caching.IndexDataCacheFile._save_data = fail"
    )
    found, errors = report_of_a_process(tmp_path, full)
    assert (found["results"], errors) == (RESULTS, "")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".lock"}


SAYS_WHEN_IT_SAVES = """
from wfb_gym._compiler.cache import EntryCache
save = EntryCache.save_overload
def wait(self, sig, data):
    if data.entry_point is not None and "sum_of_squares" in self._name:
        print("saving", flush=True)
        input()
    save(self, sig, data)
EntryCache.save_overload = wait
"""
SAYS_WHEN_IT_MISSES = """
from wfb_gym._compiler.cache import EntryCache
from wfb_gym._compiler.core import Core
load = EntryCache._load_undamaged
def look(self, *key):
    found = load(self, *key)
    if "sum_of_squares" in self._name and not Core.compiles_inner():
        print("missing" if found is None else "found", flush=True)
    return found
EntryCache._load_undamaged = look
"""


@pytest.mark.parametrize("killed", [pytest.param(False, marks=pytest.mark.slow), True])
def test_one_of_two_processes_compiles_unless_it_is_killed(tmp_path: Path, killed: bool) -> None:
    with contextlib.ExitStack() as running:
        first = running.enter_context(start_process(tmp_path, SAYS_WHEN_IT_SAVES))
        assert first.stdout is not None
        assert first.stdout.readline() == "saving\n"
        second = running.enter_context(start_process(tmp_path, SAYS_WHEN_IT_MISSES))
        assert second.stdout is not None
        assert second.stdout.readline() == "missing\n"
        if killed:
            first.send_signal(signal.SIGKILL)
            first.communicate()
        else:
            assert json.loads(first.communicate("\n")[0])["results"] == RESULTS
        said, errors = second.communicate()
        again, report = said.splitlines()
    assert again == ("missing" if killed else "found")
    assert (json.loads(report)["results"], errors) == (RESULTS, "")
    assert json.loads(report)["loaded"][0] == int(not killed)


WITHOUT_A_HOME = """
import os, pwd, tempfile
def no_entry(uid):
    raise KeyError(f"getpwuid(): uid not found: {uid}")
pwd.getpwuid = no_entry
tempfile._candidate_tempdir_list = list
for name in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME", "XDG_CACHE_HOME"):
    os.environ.pop(name, None)
"""


THREADS = """
import threading; from tests import compiled_sample as s
threads = [threading.Thread(target=f, args=(5, 2)) for f in
           (s.sum_of_squares, s.difference, s.sum_of_squares)]
[each.start() for each in threads]; [each.join() for each in threads]
"""


def test_threads_of_a_user_without_a_home_compile_code(tmp_path: Path) -> None:
    found, errors = report_of_a_process(tmp_path, WITHOUT_A_HOME + THREADS)
    assert (found["results"], errors) == (RESULTS, "")


def test_without_any_folder_one_sentence_names_the_setting(tmp_path: Path) -> None:
    with start_process(tmp_path, WITHOUT_A_HOME + "del os.environ['WFB_GYM_CACHE_DIR']") as process:
        _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.endswith(
        "OSError: wfb_gym: expected a writable folder for compiled code, found none; "
        "set WFB_GYM_CACHE_DIR to a writable folder\n"
    )
    assert "During handling" not in errors


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners")
def test_other_users_folders_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    shared = tmp_path / "wfb_gym-4711"
    shared.mkdir()
    if shared.stat().st_uid == 0:  # which could contain any code
        os.chown(shared, 4712, -1)
    assert shared not in list(_jit._cache_roots())
    monkeypatch.setattr(os, "getuid", lambda: shared.stat().st_uid)
    assert list(_jit._cache_roots())[-1] == tmp_path / f"wfb_gym-{os.getuid()}"


def test_the_folder_is_named_with_the_first_stored_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(_jit, "_LONG", {f"{__name__}.without_permission": "a test"})
    monkeypatch.setattr(_jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "_is_announced", False)
    for is_kept in (False, True, True):
        _jit.announce_compiling(without_permission, is_kept=is_kept)
    said = "wfb_gym: compiling a test"
    expected = [said, f"{said}; the result is kept in {tmp_path}", said]
    assert capsys.readouterr().err.splitlines() == expected


def test_slow_functions_are_all_from_the_package() -> None:
    for name in _jit._LONG:
        module, _, function = f"wfb_gym.{name}".rpartition(".")
        assert hasattr(getattr(import_module(module), function), "py_func"), name
