"""Allocate hits on a unit that characters have joined (6th edition).

A unit of fewer than five models does not protect the characters in it. Each member of the unit,
including the characters, takes the same number of hits. Odd hits fall on random members, at most
one each (RE rulebook/characters_shooting). All of a spell's hits are allocated before any of them
wounds (house rule C.113). `wfb_gym.packing.aims` decides which spells hit this way.
"""

from math import comb

import numpy as np

from wfb_gym._jit import jit
from wfb_gym.rules.damage import Pmf

SPARES_CHARACTERS = 5
"""Minimum number of models that a unit needs to protect the characters in it."""


@jit
def spares_characters(models: int) -> bool:
    """Return whether a unit with this many models left protects the characters in it."""
    return models >= SPARES_CHARACTERS


@jit
def hits_each(hits: int, members: int) -> int:
    """Return the number of hits that every member of a unit takes."""
    return hits // members


@jit
def odd_hits(hits: int, members: int) -> int:
    """Return the hits left over after `hits_each`, which fall on different members.

    A member takes one of them with probability odd_hits / members.
    """
    return hits % members


def shared_pmfs(hits: Pmf, models: int, characters: int) -> tuple[Pmf, Pmf]:
    """Return the distribution of hits on all models together, and on a single character.

    Args:
        hits: probabilities of 0, 1, 2 and so on hits on the unit.
        models: models left in the unit, 1 or more.
        characters: characters in the unit, 1 or more.
    """
    members = models + characters
    on_models, on_one = np.zeros(len(hits)), np.zeros(len(hits) + 1)
    for number, weight in enumerate(hits):
        each, odd = int(hits_each(number, members)), int(odd_hits(number, members))
        for k in range(max(0, odd - characters), min(models, odd) + 1):
            # hypergeometric: k of the odd hits fall on models
            chance = comb(models, k) * comb(characters, odd - k) / comb(members, odd)
            on_models[each * models + k] += weight * chance
        on_one[each] += weight * (members - odd) / members
        on_one[each + 1] += weight * odd / members
    return on_models, on_one
