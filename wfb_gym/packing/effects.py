"""Possible costs of each miscast effect, for code that evaluates a miscast before it is rolled.

Packing uses this table to compute a row's largest cost; canonical states and estimates read its
columns. Every `EffectKind` needs an entry: if one is missing, the import fails.
`wfb_gym.engine.miscasts` applies the effects.
"""

from enum import Flag, auto

import numpy as np
from numpy.typing import NDArray

from wfb_gym.packing.records import EffectKind


class Cost(Flag):
    """Possible costs of an effect other than points, dice and spells.

    A canonical state keeps the possible victims' wounds (`wfb_gym.engine.canonical`), so an effect
    that wounds other models needs a new member.
    """

    NOTHING = 0
    CASTING = auto()  # the caster or its whole side can no longer cast
    LEVEL = auto()  # the caster loses a level
    CASTER = auto()  # the caster dies
    CASTER_WOUNDS = auto()  # the caster loses wounds: `PackedEffect.dice_faces`, or one
    OTHER_WIZARDS_WOUNDS = auto()  # each other wizard of its army loses wounds
    CONTACT_WOUNDS = auto()  # models in base contact with the caster lose wounds
    FREE_SPELL = auto()  # the enemy casts a spell without a roll


EFFECT_COSTS = {
    EffectKind.POINTS_LOST: Cost.NOTHING,
    EffectKind.CASTER_HIT: Cost.CASTER_WOUNDS,
    EffectKind.BASE_CONTACT_HIT: Cost.CONTACT_WOUNDS,
    EffectKind.CASTER_REMOVED: Cost.CASTER | Cost.CASTING,
    EffectKind.LOCKED: Cost.CASTING,
    EffectKind.DICE_LOST: Cost.NOTHING,
    EffectKind.STORED_DICE_LOST: Cost.NOTHING,
    EffectKind.CASTING_ENDS: Cost.CASTING,
    EffectKind.PHASE_ENDS: Cost.CASTING,
    EffectKind.IN_PLAY_ENDS: Cost.NOTHING,
    EffectKind.SPELL_FORGOTTEN: Cost.NOTHING,
    EffectKind.LEVEL_LOST: Cost.LEVEL,
    EffectKind.SPELL_SUCCEEDS: Cost.NOTHING,
    EffectKind.FREE_SPELL: Cost.FREE_SPELL,
    EffectKind.CASTER_HITS: Cost.CASTER_WOUNDS,
    EffectKind.CASTER_WOUNDS: Cost.CASTER_WOUNDS,
    EffectKind.OTHER_WIZARDS_WOUNDS: Cost.OTHER_WIZARDS_WOUNDS,
}


def _effects_that_cost(cost: Cost) -> NDArray[np.bool_]:
    """Return a mask of the effects with this cost, indexed by `EffectKind`."""
    return np.array([cost in EFFECT_COSTS[kind] for kind in EffectKind])


COSTS_CASTING = _effects_that_cost(Cost.CASTING)
COSTS_LEVEL = _effects_that_cost(Cost.LEVEL)
COSTS_CASTER_WOUNDS = _effects_that_cost(Cost.CASTER_WOUNDS)
COSTS_OTHER_WIZARDS_WOUNDS = _effects_that_cost(Cost.OTHER_WIZARDS_WOUNDS)
