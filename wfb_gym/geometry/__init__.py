"""The table: where units and characters stand, whom a spell may be cast at, and what it strikes.

`verdicts` and `strikes` answer for one spell of one character; `explain` says it to people;
`placement_problems` and `outlines` look at the table as a whole. A target's code is
16 * army + index: of unit i the index is i, of character j it is 10 + j. Dice are not rolled
here, and how much damage a strike does is not reckoned.

shapely is imported when a scenario with a battlefield is first asked about.
"""

from wfb_gym.geometry.explaining import Row, explain
from wfb_gym.geometry.legality import verdicts
from wfb_gym.geometry.results import Strike, Verdict
from wfb_gym.geometry.striking import strikes
from wfb_gym.geometry.table import outlines, placement_problems

__all__ = [
    "Row",
    "Strike",
    "Verdict",
    "explain",
    "outlines",
    "placement_problems",
    "strikes",
    "verdicts",
]
