"""Make every table and figure of README.md and docs/, from committed results or from scratch.

    python -m tools.report                  tables and figures from docs/results/
    python -m tools.report --check          only report whether the tables are current
    python -m tools.report --list           list all reports and their commands
    python -m tools.report --scratch        run every command again, for some hours
    python -m tools.report --scratch fast   run one of them again

A command's results.json is stored in docs/results/NAME.json, and its pictures in docs/images.
Tables are written between <!-- report:NAME --> and <!-- /report --> in README.md and docs/.
Pictures that need more than the results (a trained network) are only made from scratch.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.report")

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.common import FAILED
from tools.documents import ROOT, find_stale_tables, rewrite_tables, run_report
from tools.report_tables import ALL, PAGES
from tools.scenario_results import MissingResultsError
from wfb_gym.cli.parser import option, parse_options
from wfb_gym.suggestions import did_you_mean


@dataclass(frozen=True)
class _Options:
    """Command-line options.

    Attributes:
        names: reports to make (default: all).
        scratch: run the commands again.
        check: change nothing, list stale tables.
        list: list names and commands.
    """

    names: tuple[str, ...] = option((), positional=True, metavar="NAME")
    scratch: bool = False
    check: bool = False
    list: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the reports; returns the exit status."""
    given, parser = parse_options(_Options, arguments, module="tools.report", description=__doc__)
    known = {one.name: one for one in ALL}
    for name in given.names:
        if name not in known:
            question = did_you_mean(known, name)
            parser.error(f"expected one of {', '.join(known)}{question}, found {name!r}")
    chosen = [known[name] for name in given.names or known]
    if given.list:
        for one in chosen:
            print(f"{one.name:16} {one.minutes:4.0f} min  python -m {one.line}")
        for page, command in PAGES.items():
            print(f"{page}: python -m {command}")
        return 0
    try:
        if given.check:
            stale = find_stale_tables(chosen)
            for name, pages in stale.items():
                print(f"stale: {', '.join(pages)}; run python -m tools.report {name}")
            if not stale:
                print("all tables are current")
            return FAILED if stale else 0
        for one in chosen:
            if given.scratch:
                run_report(one)
            if one.results.is_file():
                rewrite_tables(one)
            else:
                print(f"{one.name}: no results yet; run it with --scratch", file=sys.stderr)
        if given.scratch and not given.names:
            for command in dict.fromkeys(PAGES.values()):
                subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, check=True)
    except (subprocess.CalledProcessError, MissingResultsError) as error:
        print(f"report: {error}", file=sys.stderr)
        return FAILED
    return 0
