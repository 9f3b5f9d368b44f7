"""Rosters of army list builders: read them, and convert them to scenarios.

`read_roster` accepts the files of BattleScribe and New Recruit and plain text lists.
`import_roster` maps the names and counts in a roster to the profiles, lores and items of the
package, and writes a scenario as TOML. Every entry is reported: mapped, ignored because it does not
matter to magic, left out, or not understood.
"""

from wfb_gym.rosters.importing import ImportedArmy, ImportedEntry, map_roster
from wfb_gym.rosters.reading import read_roster
from wfb_gym.rosters.report import ImportReport, ReportSection, import_report
from wfb_gym.rosters.roster import MAX_BYTES, Roster, RosterEntry, RosterError
from wfb_gym.rosters.scenarios import ImportResult, import_roster

__all__ = [
    "MAX_BYTES",
    "ImportReport",
    "ImportResult",
    "ImportedArmy",
    "ImportedEntry",
    "ReportSection",
    "Roster",
    "RosterEntry",
    "RosterError",
    "import_report",
    "import_roster",
    "map_roster",
    "read_roster",
]
