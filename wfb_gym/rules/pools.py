"""Generate power and dispel dice (6th edition, p. 135).

What a wizard brings at its level; which wizards count and where the dice go is the engine's.
"""

from wfb_gym._jit import jit

BASE_POWER_DICE = 2
"""Power dice of any army (S0)."""
BASE_DISPEL_DICE = 2
"""Dispel dice of any army (S0); there need be no wizard."""
DWARF_DISPEL_DICE = 4
"""Dispel dice of a Dwarf army instead (S0)."""
RUNESMITH_DISPEL_DICE = 1
"""Dispel dice of a Runesmith (S0); a Runelord's are the ruleset's."""


@jit
def power_dice_of_level(level: int) -> int:
    """Power dice that a wizard of `level` (0 to 4) generates: one a level (S0)."""
    return level


@jit
def dispel_dice_of_level(level: int) -> int:
    """Dispel dice that a wizard of `level` (0 to 4) generates (S0): 0, 1, 1, 2, 2."""
    return (level + 1) // 2
