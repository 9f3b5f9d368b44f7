"""Hits on a unit that characters have joined (6th edition): how they are shared out.

Fewer than five models do not hide a character: each member of the unit, characters included, is
hit equally often, and odd hits fall on members at random, on none twice (RE
rulebook/characters_shooting; that all hits of a spell are shared out before any of them wounds is
ours). Which spells hit so is `wfb_gym.packing.aims`'s to say.
"""

from math import comb

import numpy as np

from wfb_gym._jit import jit
from wfb_gym.rules.damage import Pmf

SPARES_CHARACTERS = 5
"""Models of a unit that spare the characters in it."""


@jit
def spares_characters(models: int) -> bool:
    """Whether hits on a unit with so many models left spare the characters in it."""
    return models >= SPARES_CHARACTERS


@jit
def hits_each(hits: int, members: int) -> int:
    """Hits that every member of a unit takes."""
    return hits // members


@jit
def odd_hits(hits: int, members: int) -> int:
    """Hits beyond those, each on another member; a member takes one with chance odd / members."""
    return hits % members


def shared_pmfs(hits: Pmf, models: int, characters: int) -> tuple[Pmf, Pmf]:
    """How likely each number of hits is on the models of a unit together, and on one character.

    Args:
        hits: probabilities of 0, 1, 2 and so on hits on the unit.
        models: left in the unit, 1 or more.
        characters: in it, 1 or more.
    """
    members = models + characters
    on_models, on_one = np.zeros(len(hits)), np.zeros(len(hits) + 1)
    for number, weight in enumerate(hits):
        each, odd = int(hits_each(number, members)), int(odd_hits(number, members))
        for k in range(max(0, odd - characters), min(models, odd) + 1):
            ways = comb(models, k) * comb(characters, odd - k) / comb(members, odd)
            on_models[each * models + k] += weight * ways
        on_one[each] += weight * (members - odd) / members
        on_one[each + 1] += weight * odd / members
    return on_models, on_one
