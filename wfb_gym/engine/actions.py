"""Actions of the engine: one flat range of codes for every scenario.

Codes are relative to the player to move: its own spells and items come first. Environments
show only the part of the range that their limits admit (`wfb_gym.encoding`).
"""

from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.scenario.sizes import DICE, ITEMS, POINTS, SPELLS, WIZARDS

PASS = 0
"""Stop casting, use no item, keep the roll, let the spell through, decline, be done."""
FIRST_DICE = 1
"""FIRST_DICE + n: commit n dice, 0 to DICE."""
FIRST_ITEM = FIRST_DICE + DICE + 1
"""FIRST_ITEM + i: use or declare own item i."""
FIRST_REROLL = FIRST_ITEM + ITEMS
"""FIRST_REROLL + f - 1: re-roll one die that shows face f."""
REROLL_ALL = FIRST_REROLL + 6
"""Re-roll all the dice that have not been re-rolled."""
FIRST_WIZARD = REROLL_ALL + 1
"""FIRST_WIZARD + w: own wizard w adds own dice to the dispel roll."""
FIRST_CAST = FIRST_WIZARD + WIZARDS
"""FIRST_CAST + s: nominate own spell s, take it as the free spell, or swap it for the first."""
FIRST_IN_PLAY = FIRST_CAST + SPELLS
"""FIRST_IN_PLAY + s: own spell s in play; + SPELLS + s: the other army's. End it, where the
caster nominates; try to dispel it, at the end of the phase."""
FIRST_TARGET = FIRST_IN_PLAY + 2 * SPELLS
"""FIRST_TARGET: no target but the spell's own; + 1 + t: own target t; + 1 + TARGETS + t: the
enemy's. Units come first, then characters. + FIRST_POINT + p: point p of the battlefield, of those
that the own army's Comets may be aimed at."""
ACTIONS = FIRST_TARGET + FIRST_POINT + POINTS
