"""Runs cases of every kind of input, or of some, and reports the laws that they break.

    python -m tests.fuzzing --minutes 60
    python -m tests.fuzzing --only states --seed 7 --case 123
    python -m tests.fuzzing --prove

The time is shared among the kinds. Every finding comes with the command that repeats it. Only
the first of similar findings is shown. Exit status: 0 without a finding, 1 with findings, 130
after Ctrl-C.
`--prove` removes single checks of the package and fails if fuzzing does not find that.
"""

import argparse
import re
import sys
import time

from tests.fuzzing.kinds import NAMES, find_kind
from tests.fuzzing.removals import REMOVALS, remove
from tests.fuzzing.running import Finding, Outcome, run_case, run_cases, work

INTERRUPTED = 130
_MINUTES = 5.0
_TITLE = 40
"""Number of characters of a finding's last line that identify similar findings."""
PROOF_SEED = 1
PROOF_CASES = 3000
"""Number of cases within which a removed check must be found."""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=_MINUTES, help="time to spend")
    parser.add_argument("--seed", type=int, default=None, help="of all cases; drawn if not given")
    parser.add_argument("--only", choices=NAMES, action="append", help="run only this kind")
    parser.add_argument("--case", type=int, help="run this case here, with its traceback")
    parser.add_argument("--without", choices=REMOVALS, help="remove this check from the package")
    parser.add_argument("--prove", action="store_true", help="prove that removed checks are found")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not options.minutes > 0:  # nan is not
        parser.error(f"--minutes: expected more than 0, found {options.minutes:g}")
    if options.case is not None and len(options.only or ()) != 1:
        parser.error("--case: expected together with one --only")
    if options.seed is None:
        options.seed = PROOF_SEED if options.prove else time.time_ns() % 1_000_000
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = parse(arguments)
    if options.without and (options.case is not None or options.work is not None):
        remove(REMOVALS[options.without])
    if options.work is not None:
        name = options.only[0]
        work(find_kind(name), name, options.seed, options.work)
        return 0
    if options.case is not None:
        return _repeat(options.only[0], options.seed, options.case)
    try:
        return _prove(options.seed) if options.prove else _fuzz(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _repeat(name: str, seed: int, case: int) -> int:
    """Run one case in this process."""
    kind = find_kind(name)
    kind.prepare()
    ending, text = run_case(kind, name, seed, case)
    print(text or ending)
    return 1 if text else 0


def command_of(name: str, seed: int, without: str | None = None) -> list[str]:
    """Return the command that runs cases of a kind, without its last option."""
    command = [sys.executable, "-m", "tests.fuzzing", "--only", name, "--seed", str(seed)]
    return command + (["--without", without] if without else [])


# --- fuzzing -------------------------------------------------------------------------------


def _fuzz(options: argparse.Namespace) -> int:
    names = list(dict.fromkeys(options.only or NAMES))
    print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
    outcomes: dict[str, Outcome] = {}
    end = time.monotonic() + 60 * options.minutes
    try:
        for left, name in zip(range(len(names), 0, -1), names, strict=True):
            outcomes[name] = Outcome()
            share = max(0.0, end - time.monotonic()) / left
            _fuzz_kind(name, options, share, outcomes[name])
    finally:
        _summarise(outcomes)
    return 1 if any(outcome.findings for outcome in outcomes.values()) else 0


def _fuzz_kind(name: str, options: argparse.Namespace, seconds: float, outcome: Outcome) -> None:
    """Fill the outcome of one kind."""
    command = command_of(name, options.seed, options.without)
    seen: set[str] = set()
    for case, ending, text in run_cases([*command, "--work"], seconds=seconds):
        outcome.cases += 1
        outcome.endings[ending] += 1
        if not text:
            continue
        finding = Finding(case, text)
        outcome.findings.append(finding)
        if _first_of_its_kind(seen, finding):
            print(f"FOUND in {name}, case {case}: {text.strip()}")
            print(f"  {' '.join(command[1:])} --case {case}", flush=True)


def _first_of_its_kind(seen: set[str], finding: Finding) -> bool:
    """Return whether no earlier finding differs only in numbers, paths and values."""
    title = re.sub(r"/\S*|\d+", "", finding.title)[:_TITLE]
    is_new = title not in seen
    seen.add(title)
    return is_new


def _summarise(outcomes: dict[str, Outcome]) -> None:
    for name, outcome in outcomes.items():
        endings = ", ".join(f"{count:,} {how}" for how, count in sorted(outcome.endings.items()))
        print(f"{name}: {outcome.cases:,} cases: {endings or 'none'}")


# --- the proof -----------------------------------------------------------------------------


def _prove(seed: int) -> int:
    missed = []
    for without in REMOVALS:
        began = time.monotonic()
        finding = find_removal(without, seed)
        seconds = time.monotonic() - began
        if finding is None:
            missed.append(without)
            print(f"{without}: not found in {PROOF_CASES:,} cases ({seconds:.0f} s)", flush=True)
        else:
            found = f"found by case {finding.case:,} ({seconds:.0f} s): {finding.title}"
            print(f"{without}: {found}", flush=True)
    return 1 if missed else 0


def find_removal(without: str, seed: int, most: int = PROOF_CASES) -> Finding | None:
    """Return the first finding that occurs only without a check; None if there is none."""
    name = REMOVALS[without].kind
    command = [*command_of(name, seed, without), "--work"]
    for case, _, text in run_cases(command, seconds=float("inf"), most=most):
        if text and not _breaks_a_law(name, seed, case):
            return Finding(case, text)
    return None


def _breaks_a_law(name: str, seed: int, case: int) -> bool:
    """Return whether a case is a finding with the unchanged package."""
    kind = find_kind(name)
    kind.prepare()
    return bool(run_case(kind, name, seed, case)[1])


if __name__ == "__main__":
    sys.exit(main())
