"""``import``: an army list from a list builder, or as text, as a scenario file."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wfb_gym.cli.output import align_columns, print_json
from wfb_gym.cli.parser import Command, UsageError, check_folder, option, report_write_errors

if TYPE_CHECKING:
    from wfb_gym.rosters import ImportedEntry, ImportResult, Roster

_DESCRIPTION = """\
Convert an army list to a scenario file for advise, odds, play and the web page. The list is a file
of New Recruit or BattleScribe (.ros, .rosz, JSON), or plain text with a line for each unit; - reads
text that you paste. The report lists mapped entries, entries that do not matter to magic, and
entries that were not understood. Without --enemy, the opponent is a typical army of about as many
points."""
_EXAMPLES = """\
examples:
  python -m wfb_gym import list.ros
  python -m wfb_gym import mine.rosz --enemy theirs.txt --out battle.toml
  python -m wfb_gym import - --out mine.toml
      paste the list, then press Ctrl-D (Windows: Ctrl-Z, Enter)
"""
_STANDARD_INPUT = "-"


@dataclass(frozen=True)
class ImportOptions:
    """Options of ``import``.

    Attributes:
        file: the army list, or - for standard input.
        enemy: the enemy's army list (default: a typical opponent).
        out: scenario file to write (default: the list's name with .toml).
        ruleset: the edition (default: the edition named in the list, or 6e).
        json: print the report as JSON.
    """

    file: str = option(positional=True)
    enemy: str | None = option(None, metavar="FILE")
    out: Path | None = option(None, metavar="FILE")
    ruleset: str | None = option(None, choices=("6e", "7e"))
    json: bool = False


def _run(options: ImportOptions) -> None:
    from wfb_gym.files import atomic_write_text
    from wfb_gym.rosters import RosterError, import_roster

    if options.out is not None:
        check_folder("--out", options.out)
    if options.enemy == _STANDARD_INPUT == options.file:
        raise UsageError("--enemy: expected another file than the first list, found -")
    rosters: list[Roster | None] = [
        None if path is None else _read(path) for path in (options.file, options.enemy)
    ]
    if rosters[0] is None:
        raise UsageError("file: expected an army list, found none")
    ruleset: Any = options.ruleset
    try:
        result = import_roster(rosters[0], rosters[1], ruleset)
    except RosterError as error:
        raise UsageError(f"{options.file}: {error}") from error
    out = options.out or Path(f"{result.scenario.name}.toml")
    if options.out is None and out.exists():
        raise UsageError(f"--out: expected a new file, found {out}: pass --out to replace it")
    with report_write_errors("--out", out):
        atomic_write_text(out, result.toml)
    if options.json:
        print_json(_document(result, out))
    else:
        print("\n".join(_lines(result, out)))


def _read(path: str) -> "Roster":
    from wfb_gym.files import describe_error, read_limited
    from wfb_gym.rosters import MAX_BYTES, RosterError, read_roster

    try:
        if path == _STANDARD_INPUT:
            data, name = sys.stdin.buffer.read(MAX_BYTES + 1), "pasted-list"
        else:
            data, name = read_limited(path, MAX_BYTES), Path(path).stem
        return read_roster(data, name)
    except RosterError as error:
        raise UsageError(f"{path}: {error}") from error
    except (OSError, ValueError) as error:
        found = describe_error(error)
        raise UsageError(f"{path}: expected an army list, found {found}") from error


COMMAND = Command(
    name="import",
    help="convert an army list of a list builder, or as text, to a scenario file",
    options=ImportOptions,
    run=_run,
    description=_DESCRIPTION,
    epilog=_EXAMPLES,
)


def _document(result: "ImportResult", out: Path) -> dict[str, Any]:
    return {
        "file": str(out),
        "scenario": result.scenario.name,
        "side": result.side,
        "ruleset": result.scenario.ruleset,
        "army": result.army.army,
        "points": result.army.points,
        "opponent": result.opponent,
        "entries": [each._asdict() for each in result.army.findings],
        "enemy_entries": [each._asdict() for each in result.enemy.findings],
    }


def _lines(result: "ImportResult", out: Path) -> list[str]:
    lines = [f"{out}: {result.army.name} is the {result.side}, against {result.opponent}."]
    for army, whose in ((result.army, ""), (result.enemy, "OF THE ENEMY")):
        lines += _report(army.findings, f" {whose}".rstrip())
    lines += ["", f"next: python -m wfb_gym advise {out} --estimate"]
    return lines


def _report(findings: "list[ImportedEntry]", whose: str) -> list[str]:
    """Return a section for each status, with its number of entries."""
    from wfb_gym.rosters import import_report

    report = import_report(findings)
    lines: list[str] = []
    for title, count, rows in report.sections:
        indented = [(f"  {entry}", owner, result) for entry, owner, result in rows]
        lines += ["", f"{title.upper()}{whose}: {count}", *align_columns(indented, "<<<")]
    if report.ignored:
        lines += ["", f"IGNORED{whose}, as it does not matter to magic: {report.ignored}"]
    return lines + [f"  {why}: {names}" for why, names in report.reasons.items()]
