"""The fixed sizes of packed scenarios.

Compiled code is specialised on dtypes. Sizes that depended on the scenario would compile the
engine again for each scenario. `wfb_gym.scenario.capacity` checks that a scenario fits.
"""

ARMIES = 2
WIZARDS = 6
"""Characters in one army: wizards, then Runesmiths and Runelords, then heroes."""
UNITS = 10
"""Units in one army."""
TARGETS = UNITS + WIZARDS
"""Targets in one army: its units, then its characters."""
SPELLS = 24
"""Spells in one army, of all its wizards and bound items."""
LORE_SPELLS = 6
"""Spells of one lore."""
POINTS = 64
"""Points of the battlefield that the Comets of one army may be aimed at."""
AIMS = 384
"""Aims in one army: pairs of a spell and a possible target or point."""
STRIKES = 640
"""Strikes of all aims of both armies; a strike is on one unit or character."""
PMFS = 1024
"""Probabilities of casualties, all strikes together."""
HITS = 2048
"""Numbers of models struck, by models left, of all strikes together."""
LANDINGS = 1792
"""Expected points of Comets by phase starts left, of all aims of both armies together."""
MARK_WORDS = 2
MARKS_PER_WORD = 3
MARKS = MARK_WORDS * MARKS_PER_WORD
"""Spells in one army that do not stack on a target, each with a mark."""
ITEMS = 8
"""Kinds of item in one army, counted per bearer."""
HIDDEN_KINDS = 4
"""Sets of hidden items of one army, of which one is dealt."""
MAX_WOUNDS = 20
"""Maximum number of wounds of a character, including gained wounds (house rule C.96)."""
CONTACTS = 16
"""Groups of models in base contact with a wizard, both armies together."""
CONTACT_MODELS = 20
"""Models in one such group."""
DICE = 24
"""Dice in one pool or reserve, and dice in one roll."""
PHASES = 12
"""Magic phases in one battle: six turns per side."""
MISCAST_TABLES = 3
"""Miscast tables in one scenario."""
MISCAST_ROWS = 33
"""Rows of all miscast tables of one scenario together."""
EFFECTS = 48
"""Effects in all miscast tables of one scenario together."""
MAX_POINTS = 1000.0
"""Largest absolute value of a worth, a cost or a loss, in points."""

NO_SAVE = 7
"""Armour or ward save of a model without one; a D6 never reaches 7."""
NO_BEARER = -1
"""Bearer of an item that belongs to the army itself."""
