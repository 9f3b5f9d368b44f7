"""Array layout of a packed scenario: what the engine reads and never writes.

Holds the global sizes, the enumerations stored in the records and the structured dtypes.
It does not hold the filling of the records (`packing`) nor the changing state of a phase
(`wfb_gym.engine.state`).

All integers are signed: Numba makes an unsigned one of two unsigned ones, and a float of that
and a signed one. Counts that code loops over are int64, as its index is then.

Sizes are fixed for every scenario: compiled code is specialised on dtypes, so a size that
followed the scenario would compile the engine again for each one.
"""

from enum import IntEnum

import numpy as np

ARMIES = 2
WIZARDS = 6
"""Wizards, Runesmiths and Runelords in one army."""
SPELLS = 20
"""Spells in one army, all its wizards together."""
ITEMS = 8
"""Kinds of item in one army, counted by bearer."""
CONTACTS = 8
"""Groups of models in base contact with a wizard, both armies together."""
CONTACT_MODELS = 20
"""Models in one such group."""
DICE = 24
"""Dice in one pool or reserve, and dice in one roll."""
PHASES = 12
"""Magic phases in one battle: six turns a side."""
MISCAST_ROWS = 11
EFFECTS = 48
"""Effects in one miscast table, all its rows together."""
MAX_POINTS = 1000.0
"""Largest size of a worth, a cost or a loss, in points."""

NO_SAVE = 7
"""Armour or ward save of a model without one: a D6 never reaches it."""
NO_BEARER = -1
"""Bearer of an item that belongs to the army itself."""
GENERATED = -1
"""Mark of a dice pool that the rules generate, as against a fixed one."""


class Duration(IntEnum):
    """How long a spell lasts (6th edition, "Spells in Play")."""

    INSTANT = 0
    REMAINS_IN_PLAY = 1
    ONE_TURN = 2


class EffectKind(IntEnum):
    """The primitives that rows of a miscast table are made of."""

    POINTS_LOST = 0
    CASTER_HIT = 1
    BASE_CONTACT_HIT = 2
    CASTER_REMOVED = 3
    LOCKED = 4
    DICE_LOST = 5
    STORED_DICE_LOST = 6
    CASTING_ENDS = 7
    PHASE_ENDS = 8
    IN_PLAY_ENDS = 9
    SPELL_FORGOTTEN = 10
    LEVEL_LOST = 11
    SPELL_SUCCEEDS = 12
    FREE_SPELL = 13


class Lock(IntEnum):
    """Until when a wizard may not cast."""

    NONE = 0
    PHASE_END = 1
    OWN_NEXT_PHASE = 2
    SIX = 3


class Whose(IntEnum):
    """Whom an effect of a miscast reaches."""

    CASTER = 0
    SIDE = 1
    ALL = 2


class Limit(IntEnum):
    """Which spells a miscast's free spell may be."""

    ANY = 0
    MISCAST_VALUE = 1


class Reroll(IntEnum):
    """Which dice an item re-rolls."""

    NONE = 0
    ONE = 1
    ALL = 2


class DispelUse(IntEnum):
    """What an item does when it is used at an attempt to dispel."""

    NONE = 0
    AUTOMATIC = 1
    BOOST = 2


WIZARD = np.dtype(
    [
        ("level", "i1"),  # 0 for a Runesmith or Runelord
        ("dispel_dice", "i1"),  # what he adds to the dispel pool at this level or rank
        ("rune", "i1"),  # 1 for a Runesmith or Runelord: dispel_dice does not follow the level
        ("wounds", "i1"),
        ("toughness", "i1"),
        ("armour_save", "i1"),  # NO_SAVE for none
        ("ward_save", "i1"),
        ("makes_dice", "i1"),  # neither fleeing nor dead
        ("casts", "i1"),  # a wizard who is ready or rallied
        ("uses_items", "i1"),  # alive and not fleeing
        ("alive", "i1"),
        ("reserve", "i1"),  # fixed own dice, or GENERATED
        ("bearer_dice", "i1"),  # power dice from items that only he may use
        ("extra_dice_cap", "i1"),  # items that raise the most dice he may roll
        ("cast_bonus", "i1"),  # items that add to his casting rolls
        ("points_per_wound", "f8"),
        ("spells", "i4"),  # bit s: spell s of his army is his
    ],
    align=True,
)

SPELL = np.dtype(
    [
        ("wizard", "i1"),
        ("casting_value", "i1"),
        ("duration", "i1"),
        ("in_play", "i1"),  # 1: already in play when the battle begins
        ("survives_caster", "i1"),  # 1: his death does not end it
        ("barred_by", "i4"),  # bit s: while spell s is in play this one cannot be cast
        ("worth", "f8"),  # points, when it takes effect
        ("worth_per_phase", "f8"),  # points, at each end of phase while in play
    ],
    align=True,
)

ITEM = np.dtype(
    [
        ("bearer", "i1"),  # wizard, or NO_BEARER
        ("count", "i1"),  # uses for the whole battle; 0 for an item that only adds
        ("power_dice", "i1"),  # to the army's pool, each phase
        ("dispel_dice", "i1"),
        ("dispel_bonus", "i1"),  # to every dispel roll, while the bearer can use it
        ("cast_use", "i1"),  # 1: may be declared with a cast
        ("cast_extra_dice", "i1"),  # rolled beyond the level limit
        ("cast_use_bonus", "i1"),
        ("cast_not_irresistible", "i1"),
        ("dispel_use", "i1"),  # DispelUse
        ("dispel_use_bonus", "i1"),
        ("reroll_cast", "i1"),  # Reroll
        ("reroll_dispel", "i1"),  # Reroll; declared before the dice, so dispel_use is BOOST
        ("changes_natural", "i1"),  # 1: the dice after its re-roll decide miscast and the rest
        ("ends_own_spells", "i1"),  # 1: its use ends the user's spells that remain in play
        ("stores_dice", "i1"),  # 1: emptied by a loss of stored dice
    ],
    align=True,
)

ARMY = np.dtype(
    [
        ("base_power", "i1"),
        ("base_dispel", "i1"),
        ("fixed_power", "i1"),  # the shared pool, or GENERATED
        ("fixed_dispel", "i1"),
        ("n_wizards", "i8"),
        ("n_spells", "i8"),
        ("n_items", "i8"),
        ("rerolls", "i1"),  # 1: some item of the army re-rolls dice
        ("wizards", WIZARD, (WIZARDS,)),
        ("spells", SPELL, (SPELLS,)),
        ("items", ITEM, (ITEMS,)),
    ],
    align=True,
)

CONTACT = np.dtype(
    [
        ("army", "i1"),  # army of the wizard they touch
        ("wizard", "i1"),
        ("owner", "i1"),  # army that loses the points
        ("models", "i1"),
        ("toughness", "i1"),
        ("armour_save", "i1"),
        ("ward_save", "i1"),
        ("points", "f8"),  # per model
    ],
    align=True,
)

EFFECT = np.dtype(
    [
        ("kind", "i1"),
        ("strength", "i1"),
        ("armour_save", "i1"),  # 1: an armour save is allowed
        ("until", "i1"),  # Lock
        ("bars_items", "i1"),  # 1: the lock bars items too
        ("whose", "i1"),  # Whose
        ("limit", "i1"),  # Limit
        ("points", "f8"),
    ],
    align=True,
)

MISCAST_ROW = np.dtype([("first", "i8"), ("count", "i8")])

TABLE = np.dtype(
    [
        ("phases", "i1"),
        ("own_dice", "i1"),  # 1: each wizard's level dice are his own (7th edition)
        ("dispel_double_six", "i1"),
        ("dispel_one_turn", "i1"),  # 1: spells that last one turn may be dispelled later
        ("in_play_recast_side", "i1"),  # 1: a spell in play bars its namesakes in the whole army
        ("reroll_all_dice", "i1"),  # 1: a re-roll of a cast takes all its dice (7th edition)
        ("n_contacts", "i8"),
        ("n_miscast_rows", "i8"),
        ("miscast_row", "i1", (13,)),  # row by the total of 2D6; entries 0 and 1 unused
        ("miscast_rows", MISCAST_ROW, (MISCAST_ROWS,)),
        ("effects", EFFECT, (EFFECTS,)),
        ("contacts", CONTACT, (CONTACTS,)),
        ("armies", ARMY, (ARMIES,)),
    ],
    align=True,
)
"""One scenario. A scenario is packed as a record array of this dtype with one row."""
