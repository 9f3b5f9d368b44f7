"""A short slice of every area, and what the runner makes of cases that fail, crash or hang."""

import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fuzzing import running
from tests.fuzzing.__main__ import main
from tests.fuzzing.areas import AREAS
from tests.fuzzing.running import generator_of, run_apart, run_case

ROOT = Path(__file__).parents[2]
SEED = 20260707
ODD = """
import os, sys, time
from tests.fuzzing.running import work

def area(rng, folder):
    case = area.case
    area.case += 1
    if case == 1:
        raise ValueError("broken")
    if case == 3:
        os.abort()
    if case == 5:
        time.sleep(60)
    return "well"

cases = [int(each) for each in sys.argv[1:]]
area.case = cases[0]
work({"odd": area}, "odd", 0, cases)
"""


@pytest.mark.parametrize("case", range(8))
@pytest.mark.parametrize("area", AREAS)
def test_a_case_keeps_every_promise(area: str, case: int) -> None:
    _, text = run_case(AREAS, area, SEED, case)
    assert not text, text


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS)
def test_many_cases_keep_every_promise(area: str) -> None:
    command = [sys.executable, "-m", "tests.fuzzing", "--area", area, "--seed", "1", "--work"]
    outcome = run_apart(command, area, range(300))
    assert outcome.cases == 300
    assert not outcome.findings, outcome.findings


@pytest.mark.slow
def test_cases_that_fail_crash_or_hang_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = run_apart([sys.executable, "-c", ODD], "odd", range(7), limit=10.0)
    assert outcome.cases == 7
    assert outcome.endings == {"well": 4}
    assert [each.case for each in outcome.findings] == [1, 3, 5]
    assert "ValueError: broken" in outcome.findings[0].text


def test_a_case_is_the_same_again() -> None:
    one, same, other = (generator_of(*key).random() for key in (("a", 1, 2),) * 2 + (("a", 1, 3),))
    assert one == same != other


def test_a_case_that_takes_much_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(_: np.random.Generator, __: Path) -> str:
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        unused = max(0, peak - pages * resource.getpagesize())  # since other tests took more
        return "well" if np.ones(unused + (1 << 28), np.uint8).all() else ""

    monkeypatch.setattr(running, "MOST_GROWTH", 1 << 26)
    assert "MiB" in run_case({"greedy": greedy}, "greedy", 0, 1)[1]


def test_the_command_repeats_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--area", "misuse", "--seed", str(SEED), "--case", "1"]) == 0
    assert capsys.readouterr().out == "refused\n"


@pytest.mark.parametrize("line", ["--minutes 0", "--area nothing", "--case 3", "--minutes nan"])
def test_arguments_that_make_no_sense_are_refused(line: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(line.split())
    assert caught.value.code == 2
