"""Compiling callees with their entry: the same results, less work, and what is kept on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba import version_info

from tests import compiled_sample as sample
from wfb_gym import _compiler

ROOT = Path(__file__).parents[1]
RESULTS = [25, 21, 5]

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled"
)


def report_of_a_process(cache: Path, before: str = "") -> tuple[dict[str, Any], str]:
    """What `sample.report` says in a new process, and its standard error."""
    code = f"{before}\nfrom tests.compiled_sample import report\nprint(report())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"WFB_GYM_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout), done.stderr


def test_only_entries_are_made_and_kept(tmp_path: Path) -> None:
    found, _ = report_of_a_process(tmp_path)
    assert found == {
        "results": RESULTS,
        "entries": [0, 0, 1, 1],
        "kept": ["compiled_sample.difference", "compiled_sample.sum_of_squares"],
        "loaded": 0,
    }
    again, _ = report_of_a_process(tmp_path)
    assert again == found | {"loaded": 1}


def test_an_inner_function_becomes_an_entry_when_python_calls_it() -> None:
    assert sample.sum_of_squares(3, 4) == 25
    assert sample.checked_square(7) == 49
    assert len(_compiler.entries(sample.checked_square)) == 1
    assert sample.difference(5, 2) == 21  # another entry, with an inner function that is one now
    assert [sample.square(value) for value in range(3)] == [0, 1, 4]


def test_an_error_of_an_inner_function_reaches_python() -> None:
    with pytest.raises(ValueError, match=r"expected 0\.\.9"):
        sample.sum_of_squares(10, 0)


def test_functions_of_other_packages_call_and_are_called() -> None:
    assert sample.calls_another_package(4) == 18
    assert sample.of_another_package(3) == 10
    assert sample.sum_in_parallel(4) == 18


def test_threads_that_compile_at_once_get_the_same(tmp_path: Path) -> None:
    calls = (
        "import threading; from tests import compiled_sample as s\n"
        "threads = [threading.Thread(target=f, args=(5, 2)) for f in\n"
        "           (s.sum_of_squares, s.difference, s.sum_of_squares)]\n"
        "[each.start() for each in threads]; [each.join() for each in threads]"
    )
    found, errors = report_of_a_process(tmp_path, calls)
    assert (found["results"], errors) == (RESULTS, "")


def test_releases_that_were_not_tested_compile_as_numba_does(tmp_path: Path) -> None:
    untested = (
        "import numba; numba.version_info = numba.version_info._replace(short=(0, 99))\n"
        "import warnings; warnings.simplefilter('always')"
    )
    found, errors = report_of_a_process(tmp_path, untested)
    assert found["results"] == RESULTS
    assert "compiled_sample.square" in found["kept"]
    assert errors.count("RuntimeWarning: wfb_gym was tested up to Numba 0.68, not with") == 1


def test_the_release_in_use_was_tested() -> None:
    assert _compiler.is_tested(version_info.short)
