"""Hits, wounds and saves (6th edition): one hit of a given Strength on one model."""

from wfb_gym._jit import jit
from wfb_gym.rules.dice import FACES

NEVER = FACES + 1
"""A number that no D6 can reach."""
DICE_PER_HIT = 3
"""Dice rolled per hit: to wound, armour save and ward save. Unneeded dice are ignored."""


@jit
def to_wound(strength: int, toughness: int) -> int:
    """Return the D6 needed to wound, 2 to 6; `NEVER` if Toughness is 4 or more above Strength."""
    if toughness - strength >= 4:
        return NEVER
    return min(6, max(2, 4 + toughness - strength))


@jit
def armour_needed(armour_save: int, strength: int) -> int:
    """Return the D6 roll needed for an armour save against `strength`; 7 or more: no save.

    Each point of Strength above 3 worsens the save by one. A natural 1 always fails, so the result
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
    """Return whether one hit causes a wound, given the dice for its three possible rolls.

    Args:
        wound_die: D6 to wound.
        armour_die: D6 for the armour save, ignored if there is no save.
        ward_die: D6 for the ward save, ignored if there is no save.
        strength: the hit's Strength, 1 to 10.
        toughness: the model's Toughness, 1 to 10.
        armour_save: D6 needed without modifiers, or 7 if there is no save.
        ward_save: D6 needed, or 7 if there is no save. It is never modified, and it works even
            when armour does not.
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
    """Return how many of the 216 possible rolls of three dice cause a wound."""
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
