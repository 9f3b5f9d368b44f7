"""Train the bundled policies in wfb_gym/players/policies/ again, after a change of an id's version.

    python -m tools.policies                     all of them
    python -m tools.policies apprentice          both seats of one scenario
    python -m tools.policies generalist          the network for all scenarios, with its report

A scenario takes some minutes on two cores. The generalist needs a GPU for some hours. Runs are
stored in runs/policies/, and a policy is replaced when its run is finished.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.policies")

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from experiments.common import FAILED
from tools.documents import ROOT, rewrite_tables, run_report
from tools.report_tables import ALL
from wfb_gym.cli.parser import option, parse_options
from wfb_gym.opponents.policy_spec import GENERALIST
from wfb_gym.seats import SEATS

POLICIES = ROOT / "wfb_gym" / "players" / "policies"
RUNS = ROOT / "runs" / "policies"
REPORT = {one.name: one for one in ALL}["general"]
"""The report of the generalist's training, whose results are on a page."""
COMMANDS = {
    "apprentice": "agents.train_fast --scenario apprentice --steps 2000000 --evaluations 1",
    "archmage-duel": "agents.train_fast --steps 4500000",
    "orc-shaman-hunt": "agents.train_fast --scenario orc-shaman-hunt --steps 5000000",
    GENERALIST: REPORT.command,
}
"""Arguments of ``python -m``, by scenario, and for the generalist."""


@dataclass(frozen=True)
class _Options:
    """Command-line options.

    Attributes:
        names: policies to train (default: all).
    """

    names: tuple[str, ...] = option((), positional=True, choices=tuple(COMMANDS), metavar="NAME")


def train_scenario(name: str) -> int:
    """Train both seats of a scenario, replace their policies, and return the exit status."""
    module, *arguments = COMMANDS[name].split()
    folder = RUNS / name
    status: int = import_module(module).main([*arguments, "--out", str(folder), "--overwrite"])
    if status == 0:
        for seat in SEATS:
            _replace(folder / f"{seat}.npz", POLICIES / name / f"{seat}.npz")
    return status


def train_generalist() -> None:
    """Run the generalist's report, and replace the policy."""
    run_report(REPORT)
    rewrite_tables(REPORT)
    _replace(ROOT / REPORT.folder / "policy.npz", POLICIES / f"{GENERALIST}.npz")


def _replace(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(source, target)
    print(f"written: {target}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the policies; returns the exit status."""
    given, _ = parse_options(_Options, arguments, module="tools.policies", description=__doc__)
    for name in given.names or COMMANDS:
        if name == GENERALIST:
            try:
                train_generalist()
            except subprocess.CalledProcessError as error:
                print(f"policies: {error}", file=sys.stderr)
                return FAILED
        elif status := train_scenario(name):
            return status
    return 0
