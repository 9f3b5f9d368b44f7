"""Actions of the engine: one flat range of codes for every scenario.

Codes are relative to the player to move: its own spells and items come first. Environments
show only the part of the range that their limits admit (`wfb_gym.encoding`).
"""

from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.scenario.sizes import DICE, ITEMS, POINTS, SPELLS, WIZARDS

PASS = 0
"""Stop casting, use no item, keep the roll, let the spell through, decline, be done."""
FIRST_DICE = 1
"""Commit n dice by FIRST_DICE + n, 0 to DICE."""
FIRST_ITEM = FIRST_DICE + DICE + 1
"""Use or declare own item i by FIRST_ITEM + i."""
FIRST_REROLL = FIRST_ITEM + ITEMS
"""Re-roll one die that shows face f by FIRST_REROLL + f - 1."""
REROLL_ALL = FIRST_REROLL + 6
"""Re-roll all the dice that have not been re-rolled."""
FIRST_WIZARD = REROLL_ALL + 1
"""Let own wizard w add its own dice to the dispel roll by FIRST_WIZARD + w."""
FIRST_CAST = FIRST_WIZARD + WIZARDS
"""Nominate own spell s by FIRST_CAST + s; take it as the free spell, or swap it for the first."""
FIRST_IN_PLAY = FIRST_CAST + SPELLS
"""Name own spell s in play by FIRST_IN_PLAY + s, the other army's by FIRST_IN_PLAY + SPELLS + s.

Where the caster nominates this ends it; at the end of the phase it is an attempt to dispel it."""
FIRST_TARGET = FIRST_IN_PLAY + 2 * SPELLS
"""Cast at no target but the spell's own.

FIRST_TARGET + 1 + t is own target t, FIRST_TARGET + 1 + TARGETS + t the enemy's; units come first,
then characters. FIRST_TARGET + FIRST_POINT + p is point p of the battlefield, of those that the own
army's Comets may be aimed at."""
ACTIONS = FIRST_TARGET + FIRST_POINT + POINTS
