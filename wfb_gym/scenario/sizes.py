"""The fixed sizes of packed scenarios: how much a scenario can hold.

Sizes are the same for every scenario: compiled code is specialised on dtypes, so a size that
followed the scenario would compile the engine again for each one. `wfb_gym.scenario.slots` checks
whether a scenario fits.
"""

ARMIES = 2
WIZARDS = 6
"""Characters in one army: wizards, then Runesmiths and Runelords, then heroes."""
UNITS = 10
"""Units in one army."""
TARGETS = UNITS + WIZARDS
"""What spells can be cast at in one army: its units, then its characters."""
SPELLS = 24
"""Spells in one army, all its wizards and bound items together."""
LORE_SPELLS = 6
"""Spells of one lore."""
POINTS = 64
"""Points of the battlefield that the Comets of one army may be aimed at."""
AIMS = 384
"""Ways to aim in one army: each spell with each of its possible targets or points."""
STRIKES = 640
"""Units struck by all the aims of both armies."""
PMFS = 1024
"""Probabilities of casualties, all strikes together."""
HITS = 2048
"""Numbers of models struck by how many are left, all strikes together."""
LANDINGS = 1792
"""What Comets bring by the phase in which they land, all aims of both armies together."""
MARK_WORDS = 2
MARKS_PER_WORD = 3
MARKS = MARK_WORDS * MARKS_PER_WORD
"""Spells in one army whose mark a target keeps."""
ITEMS = 8
"""Kinds of item in one army, counted by bearer."""
HIDDEN_KINDS = 4
"""Sets of hidden items that chance may deal to one army."""
MAX_WOUNDS = 20
"""Wounds that a character can come to, stolen ones among them."""
CONTACTS = 16
"""Groups of models in base contact with a wizard, both armies together."""
CONTACT_MODELS = 20
"""Models in one such group."""
DICE = 24
"""Dice in one pool or reserve, and dice in one roll."""
PHASES = 12
"""Magic phases in one battle: six turns a side."""
MISCAST_TABLES = 3
"""Miscast tables in one scenario."""
MISCAST_ROWS = 33
"""Rows of all its miscast tables together."""
EFFECTS = 48
"""Effects in all its miscast tables together."""
MAX_POINTS = 1000.0
"""Largest size of a worth, a cost or a loss, in points."""

NO_SAVE = 7
"""Armour or ward save of a model without one: a D6 never reaches it."""
NO_BEARER = -1
"""Bearer of an item that belongs to the army itself."""
