"""The fixed sizes of packed scenarios.

Compiled code is specialised on dtypes. If sizes depended on the scenario, the engine would be
recompiled for each scenario. `wfb_gym.scenario.capacity` checks that a scenario fits.
"""

ARMIES = 2
WIZARDS = 6  # characters per army: wizards, then Runesmiths and Runelords, then heroes
UNITS = 10  # units per army
TARGETS = UNITS + WIZARDS  # targets per army: its units, then its characters
SPELLS = 24  # spells per army, for all its wizards and bound items
LORE_SPELLS = 6  # spells per lore
POINTS = 64  # points on the battlefield at which an army's Comets may be aimed
AIMS = 384  # aims per army: pairs of a spell and a possible target or point
STRIKES = 640  # strikes for all aims of both armies; a strike hits a single unit or character
PMFS = 1024  # probabilities of casualties, for all strikes together
HITS = 2048  # numbers of models hit, by models left, for all strikes together
LANDINGS = 1792
"""Expected points of Comets, by remaining phase starts, for all aims of both armies together."""
MARK_WORDS = 2
MARKS_PER_WORD = 3
MARKS = MARK_WORDS * MARKS_PER_WORD
"""Spells per army that do not stack on a target, each of which has a mark."""
ITEMS = 8  # kinds of item per army, counted per bearer
HIDDEN_KINDS = 4  # sets of hidden items per army, one of which is dealt
MAX_WOUNDS = 20
"""Maximum number of wounds of a character, including wounds gained (house rule C.96)."""
CONTACTS = 16  # groups of models in base contact with a wizard, for both armies together
CONTACT_MODELS = 20  # models per such group
DICE = 24  # dice per pool, reserve or roll
PHASES = 12  # magic phases per battle: six turns per side
MISCAST_TABLES = 3  # miscast tables per scenario
MISCAST_ROWS = 33  # rows in all of a scenario's miscast tables together
EFFECTS = 48  # effects in all of a scenario's miscast tables together
MAX_POINTS = 1000.0  # largest absolute value of a spell's point value, a cost or a loss, in points

NO_SAVE = 7  # armour or ward save of a model that has none, since a D6 never reaches 7
NO_BEARER = -1  # bearer of an item that belongs to the army itself
