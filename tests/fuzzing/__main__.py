"""Attacks every area in turn until the time is over, and tells what was found.

    python -m tests.fuzzing --minutes 60
    python -m tests.fuzzing --area states --seed 7 --case 123

Exit status 1 if a promise was broken; each finding is told with the command that repeats it.
"""

import argparse
import itertools
import sys
import time

from tests.fuzzing.areas import AREAS
from tests.fuzzing.running import MOST_SECONDS, Outcome, run_apart, run_case, work

_CASES = 25
"""Cases that one process runs, unless it ends before."""
_COMPILING_SECONDS = 1200.0
"""That a case may take in the first process of an area, which may compile."""
INTERRUPTED = 130


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=5.0, help="time to spend")
    parser.add_argument("--seed", type=int, default=None, help="of all cases; told if not given")
    parser.add_argument("--area", choices=AREAS, action="append", help="attack this area alone")
    parser.add_argument("--case", type=int, help="run this case here, with its traceback")
    parser.add_argument("--work", type=int, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not options.minutes > 0:  # nan is not
        parser.error(f"--minutes: expected more than 0, found {options.minutes:g}")
    if options.case is not None and len(options.area or ()) != 1:
        parser.error("--case: expected together with one --area")
    if options.seed is None:
        options.seed = time.time_ns() % 1_000_000
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = parse(arguments)
    if options.work:
        work(AREAS, options.area[0], options.seed, options.work)
        return 0
    if options.case is not None:
        ending, text = run_case(AREAS, options.area[0], options.seed, options.case)
        print(text or ending)
        return 1 if text else 0
    print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
    outcomes: dict[str, Outcome] = {area: Outcome() for area in options.area or AREAS}
    try:
        attack(options, outcomes)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        tell(outcomes)
        return INTERRUPTED
    return tell(outcomes)


def attack(options: argparse.Namespace, outcomes: dict[str, Outcome]) -> None:
    """Fill the outcomes until the time is over."""
    end = time.monotonic() + 60 * options.minutes
    for first in itertools.count(0, _CASES):
        for area, outcome in outcomes.items():
            command = [sys.executable, "-m", "tests.fuzzing", "--area", area]
            command += ["--seed", str(options.seed), "--work"]
            limit = MOST_SECONDS if first else _COMPILING_SECONDS
            found = run_apart(command, area, range(first, first + _CASES), limit)
            outcome.cases += found.cases
            outcome.endings += found.endings
            outcome.findings += found.findings
            for each in found.findings:
                print(f"FOUND in {area}, case {each.case}: {each.text.strip()}")
                print(f"  {' '.join(command[1:-1])} --case {each.case}", flush=True)
            left = (end - time.monotonic()) / 60
            if sys.stderr.isatty():
                print(f"{left:5.1f} minutes left; {area}: {outcome.cases} cases", file=sys.stderr)
            if left <= 0:
                return


def tell(outcomes: dict[str, Outcome]) -> int:
    """Print what all cases came to; returns the exit status."""
    for area, outcome in outcomes.items():
        endings = ", ".join(f"{count:,} {how}" for how, count in sorted(outcome.endings.items()))
        found = f"{len(outcome.findings)} findings"
        print(f"{area}: {outcome.cases:,} cases, {found}; {endings}")
    return 1 if any(outcome.findings for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
