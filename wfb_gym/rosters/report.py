"""The report of an import: every entry of a roster, by its result."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from wfb_gym.rosters.importing import ImportedEntry

_TITLES = (("mapped", "Mapped"), ("left out", "Left out"), ("unknown", "Not understood"))
_MOST_NAMED = 12  # maximum number of ignored names listed for each reason


class ReportSection(NamedTuple):
    """Entries of a roster with the same status.

    Attributes:
        title: the status in words.
        entries: number of entries.
        rows: entry, owner and result of each, without models that only count for their unit.
    """

    title: str
    entries: int
    rows: list[tuple[str, str, str]]


class ImportReport(NamedTuple):
    """The report for one army.

    Attributes:
        sections: the entries that were mapped, left out and not understood.
        ignored: the number of entries that do not matter to magic.
        reasons: for each reason to ignore entries, their names in one line.
    """

    sections: list[ReportSection]
    ignored: int
    reasons: dict[str, str]


def import_report(findings: Iterable[ImportedEntry]) -> ImportReport:
    """Return the report of an army's entries."""
    entries = list(findings)
    sections = []
    for status, title in _TITLES:
        found = [each for each in entries if each.status == status]
        if status == "mapped":
            found = [each for each in found if not each.result.startswith("counted as models")]
        if found:
            rows = [(each.entry, each.owner, each.result) for each in found]
            sections.append(ReportSection(title, len(found), rows))
    ignored: defaultdict[str, list[str]] = defaultdict(list)
    for each in entries:
        if each.status == "ignored":
            ignored[each.result].append(each.entry)
    reasons = {why: _listed(names) for why, names in ignored.items()}
    return ImportReport(sections, sum(map(len, ignored.values())), reasons)


def _listed(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _MOST_NAMED} more" if len(distinct) > _MOST_NAMED else ""
    return f"{', '.join(distinct[:_MOST_NAMED])}{more}"
