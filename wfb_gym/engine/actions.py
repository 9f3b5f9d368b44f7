"""Engine actions: one flat range of codes, shared by all scenarios.

Codes are relative to the player to move, with its own spells and items first. Environments expose
only the part of the range that their limits allow (`wfb_gym.encoding`).
"""

from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.scenario.sizes import DICE, ITEMS, POINTS, SPELLS, WIZARDS

PASS = 0
"""Stop casting, use no item, keep the roll, let the spell through, decline or stop dispelling."""
FIRST_DICE = 1
"""FIRST_DICE + n: commit n dice, 0 to DICE."""
FIRST_ITEM = FIRST_DICE + DICE + 1
"""FIRST_ITEM + i: use or declare own item i."""
FIRST_REROLL = FIRST_ITEM + ITEMS
"""FIRST_REROLL + f - 1: re-roll one die that shows face f."""
REROLL_ALL = FIRST_REROLL + 6
"""Re-roll all dice that have not been re-rolled."""
FIRST_WIZARD = REROLL_ALL + 1
"""FIRST_WIZARD + w: add wizard w's own dice to the dispel roll."""
FIRST_CAST = FIRST_WIZARD + WIZARDS
"""FIRST_CAST + s: nominate own spell s, take it as a free spell or swap it for the lore's first."""
FIRST_IN_PLAY = FIRST_CAST + SPELLS
"""Name a spell in play.

Own spell s is FIRST_IN_PLAY + s; enemy spell s is FIRST_IN_PLAY + SPELLS + s. When the player
chooses its next cast, the action ends one of its spells in play. At the end of the phase, the
action attempts to dispel the spell.
"""
FIRST_TARGET = FIRST_IN_PLAY + 2 * SPELLS
"""Cast a spell that needs no choice of a target.

FIRST_TARGET + 1 + t: own target t; FIRST_TARGET + 1 + TARGETS + t: the enemy's target t. Units come
first, then characters. FIRST_TARGET + FIRST_POINT + p: point p, one of the points on the
battlefield at which the player's Comets may be aimed.
"""
ACTIONS = FIRST_TARGET + FIRST_POINT + POINTS
