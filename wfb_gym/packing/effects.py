"""What each effect of a miscast can cost, for code that looks ahead of its row.

Packing adds up from it the most that a row costs, canonical states and estimates read its columns.
The table has a line for every `EffectKind` and no default: an effect without a line fails the
import. `wfb_gym.engine.miscasts` plays the effects.
"""

from enum import Flag, auto

import numpy as np
from numpy.typing import NDArray

from wfb_gym.packing.records import EffectKind


class Cost(Flag):
    """What an effect can cost beside points, dice and spells.

    Whom it wounds decides which wounds a canonical state keeps (`wfb_gym.engine.canonical`): an
    effect with other victims needs a member of its own there.
    """

    NOTHING = 0
    CASTING = auto()  # the caster, or its whole side, casts no more
    LEVEL = auto()  # the caster loses a level
    CASTER = auto()  # the caster dies
    CASTER_WOUNDS = auto()  # the caster loses wounds: `PackedEffect.dice_faces`, or one
    OTHER_WIZARDS_WOUNDS = auto()  # likewise each other wizard of its army
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
    """Return a column of the table, by `EffectKind`, for compiled code."""
    return np.array([cost in EFFECT_COSTS[kind] for kind in EffectKind])


COSTS_CASTING = _effects_that_cost(Cost.CASTING)
COSTS_LEVEL = _effects_that_cost(Cost.LEVEL)
COSTS_CASTER_WOUNDS = _effects_that_cost(Cost.CASTER_WOUNDS)
COSTS_OTHER_WIZARDS_WOUNDS = _effects_that_cost(Cost.OTHER_WIZARDS_WOUNDS)
