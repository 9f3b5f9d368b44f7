"""The fixed sizes of packed scenarios.

Compiled code is specialised on dtypes. If sizes depended on the scenario, the engine would be
recompiled for each scenario. `wfb_gym.scenario.capacity` checks that a scenario fits.
"""

ARMIES = 2
WIZARDS = 6
"""Characters per army: wizards, then Runesmiths and Runelords, then heroes."""
UNITS = 10
"""Units per army."""
TARGETS = UNITS + WIZARDS
"""Targets per army: its units, then its characters."""
SPELLS = 24
"""Spells per army, for all its wizards and bound items."""
LORE_SPELLS = 6
"""Spells per lore."""
POINTS = 64
"""Points on the battlefield at which an army's Comets may be aimed."""
AIMS = 384
"""Aims per army: pairs of a spell and a possible target or point."""
STRIKES = 640
"""Strikes for all aims of both armies; a strike hits a single unit or character."""
PMFS = 1024
"""Probabilities of casualties, for all strikes together."""
HITS = 2048
"""Numbers of models hit, by models left, for all strikes together."""
LANDINGS = 1792
"""Expected points of Comets, by remaining phase starts, for all aims of both armies together."""
MARK_WORDS = 2
MARKS_PER_WORD = 3
MARKS = MARK_WORDS * MARKS_PER_WORD
"""Spells per army that do not stack on a target, each of which has a mark."""
ITEMS = 8
"""Kinds of item per army, counted per bearer."""
HIDDEN_KINDS = 4
"""Sets of hidden items per army, one of which is dealt."""
MAX_WOUNDS = 20
"""Maximum number of wounds of a character, including wounds gained (house rule C.96)."""
CONTACTS = 16
"""Groups of models in base contact with a wizard, for both armies together."""
CONTACT_MODELS = 20
"""Models per such group."""
DICE = 24
"""Dice per pool, reserve or roll."""
PHASES = 12
"""Magic phases per battle: six turns per side."""
MISCAST_TABLES = 3
"""Miscast tables per scenario."""
MISCAST_ROWS = 33
"""Rows in all of a scenario's miscast tables together."""
EFFECTS = 48
"""Effects in all of a scenario's miscast tables together."""
MAX_POINTS = 1000.0
"""Largest absolute value of a spell's point value, a cost or a loss, in points."""

NO_SAVE = 7
"""Armour or ward save of a model that has none, since a D6 never reaches 7."""
NO_BEARER = -1
"""Bearer of an item that belongs to the army itself."""
