"""Power and dispel dice (6th edition, p. 135).

This module computes a wizard's dice from its level. The engine decides which wizards count and
which pool their dice go to.
"""

from wfb_gym._jit import jit

BASE_POWER_DICE = 2
"""Power dice that every army gets (S0)."""
BASE_DISPEL_DICE = 2
"""Dispel dice that every army gets, even without a wizard (S0)."""
DWARF_DISPEL_DICE = 4
"""Dispel dice for a Dwarf army, instead of `BASE_DISPEL_DICE` (S0)."""
RUNESMITH_DISPEL_DICE = 1
"""Dispel dice for a Runesmith (S0); the ruleset sets a Runelord's dice."""


@jit
def power_dice_of_level(level: int) -> int:
    """Return the power dice that a wizard of `level` (0 to 4) generates: one per level (S0)."""
    return level


@jit
def dispel_dice_of_level(level: int) -> int:
    """Return the dispel dice that a wizard of `level` (0 to 4) generates (S0): 0, 1, 1, 2, 2."""
    return (level + 1) // 2
