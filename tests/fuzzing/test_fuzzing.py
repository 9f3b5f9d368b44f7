"""A few cases of every kind of input, the limits of reading, and the proof of removed checks."""

import gc
import json
import mmap
import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from tests.fuzzing import laws, running
from tests.fuzzing.__main__ import find_removal, main
from tests.fuzzing.kinds import NAMES, find_kind
from tests.fuzzing.laws import attempt
from tests.fuzzing.mutations import change_leaf, changed_array, damaged, mutated
from tests.fuzzing.removals import REMOVALS, Removal, remove
from tests.fuzzing.running import generator_of, run_case, run_cases
from tests.support.pages import ROOT, place_of
from wfb_gym.engine.state import STATE

Patch = pytest.MonkeyPatch
SEED = 20260707
NEEDS = {"session": "nicegui", "server": "nicegui"}
"""Modules that kinds of input need, in addition to PyTorch for files."""
ODD = """
import itertools, os, sys
from tests.fuzzing import running

first = int(sys.argv[1])
cases = itertools.count(first)

def run(rng, folder):
    case = next(cases)
    if case == 1:
        raise ValueError("broken")
    if case == 3:
        os.abort()
    if case == 5:
        while True:
            pass
    return "accepted"

running.CASE_SECONDS = 2.0
running.work(running.Kind(run), "odd", 0, first)
"""


def kind_or_skip(name: str) -> running.Kind:
    module = NEEDS.get(name, "torch")
    if find_spec(module) is None:
        pytest.skip(f"needs {module}")
    return find_kind(name)


@pytest.mark.parametrize("name", NAMES)
def test_cases_break_no_law(name: str) -> None:
    kind = kind_or_skip(name)
    kind.prepare()
    for case in range(2):
        _, text = run_case(kind, name, SEED, case)
        assert not text, text


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_cases_break_no_law(name: str) -> None:
    kind_or_skip(name)
    command = [sys.executable, "-m", "tests.fuzzing", "--only", name, "--seed", "1", "--work"]
    endings = {case: text for case, _, text in run_cases(command, seconds=1e9, most=300)}
    assert len(endings) == 300
    assert not any(endings.values()), [text for text in endings.values() if text]


@pytest.mark.slow
@pytest.mark.parametrize("name", REMOVALS)
def test_a_removed_check_is_found(name: str) -> None:
    kind_or_skip(REMOVALS[name].kind)
    assert find_removal(name, seed=1) is not None


def test_a_removal_names_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "wfb_gym.rules.morale"
    monkeypatch.setattr(SourceFileLoader, "get_code", SourceFileLoader.get_code)
    for check, found in (("no such line", "0"), ('"""', "[1-9][0-9]*")):
        monkeypatch.delitem(sys.modules, module, raising=False)
        remove(Removal("states", module, check))
        with pytest.raises(ImportError, match=f"expected '{check}' once, found it {found} times"):
            import_module(module)
    with pytest.raises(RuntimeError, match="not loaded yet"):
        remove(Removal("states", "numpy", ""))


@pytest.mark.parametrize("name", REMOVALS)
def test_removed_checks_are_in_the_sources(name: str) -> None:
    removal = REMOVALS[name]
    source = place_of(f"{removal.module.replace('.', '/')}.py").read_text("utf-8")
    assert source.count(removal.check) == 1
    compile(source.replace(removal.check, removal.instead), removal.module, "exec")


@pytest.mark.slow
def test_cases_that_fail_crash_or_hang_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command = [sys.executable, "-c", ODD]
    found = {case: text for case, _, text in run_cases(command, seconds=1e9, most=7)}
    assert sorted(found) == list(range(7))
    assert [case for case, text in found.items() if text] == [1, 3, 5]
    assert "ValueError: broken" in found[1]
    assert "SIGABRT" in found[3]
    assert "SIGPROF" in found[5]


def reject(message: str = "expected a file, found none") -> None:
    raise ValueError(message)


def test_a_rejection_is_the_documented_error() -> None:
    assert attempt(reject, ValueError) == (None, False)
    assert attempt(lambda: 3, ValueError) == (3, True)
    with pytest.raises(ValueError, match="expected a file"):
        attempt(reject, OSError)


@pytest.mark.parametrize("message", ["?", "a\x1b[2J", "x" * 30_000])
def test_a_message_is_readable(message: str) -> None:
    with pytest.raises(AssertionError):
        attempt(lambda: reject(message), ValueError)


def test_a_rejection_that_takes_much_memory_or_time_breaks_a_law(monkeypatch: Patch) -> None:
    def take(size: int) -> None:
        """Fill new pages; an array may get memory that earlier tests freed, which is no growth."""
        with mmap.mmap(-1, size) as area:
            area[:: mmap.PAGESIZE] = bytes(size // mmap.PAGESIZE)
            reject()

    gc.collect()  # garbage of earlier tests, freed during the call, would count against its memory
    monkeypatch.setattr(laws, "MOST_BYTES", 1 << 23)
    attempt(lambda: take(1 << 20), ValueError)
    with pytest.raises(AssertionError, match="MiB of memory: expected a file"):
        attempt(lambda: take(1 << 26), ValueError)
    monkeypatch.setattr(laws, "MOST_SECONDS", -1.0)
    with pytest.raises(AssertionError, match="s of CPU time"):
        attempt(reject, ValueError)


def test_running_out_of_memory_is_no_rejection() -> None:
    def read() -> None:
        raise ValueError("expected a file, found a damaged one") from MemoryError()

    with pytest.raises(AssertionError, match="ran out of memory"):
        attempt(read, ValueError)


DOCUMENT: dict[str, Any] = {
    "name": "x",
    "list": [1, 2.5, {"deep": True}, None],
    "array": np.arange(6.0).reshape(2, 3),
    "records": np.zeros(2, STATE),
    "pair": (1, b"bytes"),
}


def flat(value: Any) -> str:
    return json.dumps(value, default=lambda each: repr(getattr(each, "tolist", lambda: each)()))


def test_a_change_leaves_the_document_as_it_was() -> None:
    before, rng = flat(DOCUMENT), np.random.default_rng(0)
    different = sum(flat(mutated(rng, DOCUMENT)) != before for _ in range(60))
    assert flat(DOCUMENT) == before
    assert different > 50


def test_each_field_of_a_record_is_changed() -> None:
    rng, changed = np.random.default_rng(0), set()
    for _ in range(2000):
        records = np.zeros(1, STATE)
        change_leaf(rng, records)
        changed |= {name for name in STATE.names or () if records[name].any()}
    assert changed == set(STATE.names or ())


def test_arrays_and_bytes_change_in_elements_shape_or_type() -> None:
    rng, array = np.random.default_rng(0), np.arange(6.0, dtype=np.float32).reshape(2, 3)
    found = [changed_array(rng, array) for _ in range(300)]
    assert any(each.shape == array.shape and np.isnan(each).any() for each in found)
    assert any(each.shape != array.shape for each in found)
    assert any(each.dtype != array.dtype for each in found)
    assert sum(damaged(rng, bytes(100)) != bytes(100) for _ in range(100)) > 90
    assert damaged(rng, b"") == b""


def test_the_command_repeats_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    one, same, other = (generator_of("a", 1, case).random() for case in (2, 2, 3))
    assert one == same != other
    assert main(["--only", "calls", "--seed", str(SEED), "--case", "1"]) == 0
    assert capsys.readouterr().out == "rejected\n"


@pytest.mark.slow
def test_the_command_reports_findings_and_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: Patch
) -> None:
    monkeypatch.chdir(ROOT)
    line = "--only states --seed 1 --minutes 0.3 --without phase-models"
    assert main(line.split()) == 1
    out = capsys.readouterr().out
    assert "FOUND in states, case " in out
    assert "AssertionError: accepted in " in out
    assert "  -m tests.fuzzing --only states --seed 1 --without phase-models --case " in out
    assert "states: " in out.splitlines()[-1]


@pytest.mark.parametrize("line", ["--case 3", "--minutes nan"])
def test_invalid_arguments_are_rejected(line: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(line.split())
    assert caught.value.code == 2
