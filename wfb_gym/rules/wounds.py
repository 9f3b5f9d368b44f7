"""Hits, wounds and saves (6th edition): one hit of a given Strength on one model."""

from wfb_gym._jit import jit
from wfb_gym.rules.dice import FACES

NEVER = FACES + 1
"""A number that no D6 reaches."""
DICE_PER_HIT = 3
"""Dice rolled for each hit: to wound, armour save, ward save; unneeded dice are ignored."""


@jit
def to_wound(strength: int, toughness: int) -> int:
    """Return the D6 needed to wound, 2 to 6; `NEVER` if Toughness is 4 or more above Strength."""
    if toughness - strength >= 4:
        return NEVER
    return min(6, max(2, 4 + toughness - strength))


@jit
def armour_needed(armour_save: int, strength: int) -> int:
    """Return the D6 needed to save by armour against a hit of `strength`; 7 or more: no save.

    Each point of Strength above 3 makes the save one worse. A natural 1 always fails, so the result
    is at least 2.
    """
    return max(2, armour_save + max(0, strength - 3))


@jit
def hit_wounds(
    wound_die: int,
    armour_die: int,
    ward_die: int,
    strength: int,
    toughness: int,
    armour_save: int,
    ward_save: int,
    armour_allowed: bool,
) -> bool:
    """Return whether one hit causes a wound, from the dice of its three possible rolls.

    Args:
        wound_die: D6 to wound.
        armour_die: D6 of the armour save, ignored without a save.
        ward_die: D6 of the ward save, ignored without a save.
        strength: Strength of the hit, 1 to 10.
        toughness: Toughness of the model, 1 to 10.
        armour_save: D6 needed without modifiers; 7 for none.
        ward_save: D6 needed; 7 for none. It is never modified and also works if armour does not.
        armour_allowed: False for hits that ignore armour.
    """
    if wound_die < to_wound(strength, toughness):
        return False
    if armour_allowed and armour_die >= armour_needed(armour_save, strength):
        return False
    return ward_die < max(2, ward_save)


@jit(forceinline=False)
def wounding_rolls(
    strength: int, toughness: int, armour_save: int, ward_save: int, armour_allowed: bool
) -> int:
    """Return how many of the 216 results of the three dice cause a wound."""
    count = 0
    for wound_die in range(1, FACES + 1):
        for armour_die in range(1, FACES + 1):
            for ward_die in range(1, FACES + 1):
                if hit_wounds(
                    wound_die,
                    armour_die,
                    ward_die,
                    strength,
                    toughness,
                    armour_save,
                    ward_save,
                    armour_allowed,
                ):
                    count += 1
    return count
