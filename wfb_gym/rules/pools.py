"""Generate power and dispel dice (6th edition, p. 135).

This module has the dice of a wizard by its level. The engine decides which wizards count and which
pool gets their dice.
"""

from wfb_gym._jit import jit

BASE_POWER_DICE = 2
"""Power dice of every army (S0)."""
BASE_DISPEL_DICE = 2
"""Dispel dice of every army, even without a wizard (S0)."""
DWARF_DISPEL_DICE = 4
"""Dispel dice of a Dwarf army, in place of `BASE_DISPEL_DICE` (S0)."""
RUNESMITH_DISPEL_DICE = 1
"""Dispel dice of a Runesmith (S0); the ruleset sets the dice of a Runelord."""


@jit
def power_dice_of_level(level: int) -> int:
    """Return the power dice that a wizard of `level` (0 to 4) generates: one per level (S0)."""
    return level


@jit
def dispel_dice_of_level(level: int) -> int:
    """Return the dispel dice that a wizard of `level` (0 to 4) generates (S0): 0, 1, 1, 2, 2."""
    return (level + 1) // 2
