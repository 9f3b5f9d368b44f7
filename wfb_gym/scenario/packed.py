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
"""Characters in one army: wizards, then Runesmiths and Runelords, then heroes."""
UNITS = 10
"""Units in one army."""
TARGETS = UNITS + WIZARDS
"""What spells can be cast at in one army: its units, then its characters."""
SPELLS = 24
"""Spells in one army, all its wizards and bound items together."""
LORE_SPELLS = 6
"""Spells of one lore."""
AIMS = 224
"""Ways to aim in one army: each spell with each of its possible targets."""
STRIKES = 640
"""Units struck by all the aims of both armies."""
LAWS = 1024
"""Chances of casualties, all strikes together."""
HITS = 2048
"""Numbers of models struck by how many are left, all strikes together."""
MARK_WORDS = 2
MARKS_PER_WORD = 3
MARKS = MARK_WORDS * MARKS_PER_WORD
"""Spells in one army whose mark a target keeps."""
ITEMS = 8
"""Kinds of item in one army, counted by bearer."""
MOST_WOUNDS = 20
"""Wounds that a character can come to, stolen ones among them."""
CONTACTS = 16
"""Groups of models in base contact with a wizard, both armies together."""
CONTACT_MODELS = 20
"""Models in one such group."""
DICE = 24
"""Dice in one pool or reserve, and dice in one roll."""
PHASES = 12
"""Magic phases in one battle: six turns a side."""
MISCAST_TABLES = 3
"""Miscast tables in one scenario."""
MISCAST_ROWS = 33
"""Rows of all its miscast tables together."""
EFFECTS = 48
"""Effects in all its miscast tables together."""
MAX_POINTS = 1000.0
"""Largest size of a worth, a cost or a loss, in points."""

NO_SAVE = 7
"""Armour or ward save of a model without one: a D6 never reaches it."""
NO_BEARER = -1
"""Bearer of an item that belongs to the army itself."""
UNBOUNDED = -1
"""Reach of a spell whose casualties follow the models left."""
GENERATED = -1
"""Mark of a dice pool that the rules generate, as against a fixed one."""


class Duration(IntEnum):
    """How long a spell lasts (6th edition, "Spells in Play")."""

    INSTANT = 0
    REMAINS_IN_PLAY = 1
    ONE_TURN = 2
    DELAYED = 3  # a Comet: in play until it lands, whatever its caster does


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
    CASTER_HITS = 14
    CASTER_WOUNDS = 15
    OTHER_WIZARDS_WOUNDS = 16


class Lock(IntEnum):
    """Until when a wizard may not cast."""

    NONE = 0
    PHASE_END = 1
    OWN_NEXT_PHASE = 2
    SIX = 3
    BATTLE_END = 4


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


class Opening(IntEnum):
    """When a spell can be aimed so."""

    ALWAYS = 0
    ALONE = 1  # at a character, once the unit he stands in is gone
    NEVER = 2  # it lies there from the beginning


class HitDice(IntEnum):
    """Dice that give a number of hits."""

    NONE = 0
    ONE_HIT = 1
    D6 = 2
    TWO_D6 = 3
    CHAIN = 4
    MODELS = 5  # no dice: so many models as are struck


HIT_DICE = {
    "1": HitDice.ONE_HIT,
    "D6": HitDice.D6,
    "2D6": HitDice.TWO_D6,
    "D6 chain": HitDice.CHAIN,
}
"""Numbers of hits by the names that spells have for them."""

WIZARD = np.dtype(
    [
        ("level", "i1"),  # 0 for any but a wizard
        ("dispel_dice", "i1"),  # what he adds to the dispel pool at this level or rank
        ("rune", "i1"),  # 1 for a Runesmith or Runelord: dispel_dice does not follow the level
        ("wounds", "i1"),
        ("toughness", "i1"),
        ("armour_save", "i1"),  # NO_SAVE for none
        ("ward_save", "i1"),
        ("makes_dice", "i1"),  # neither fleeing nor dead
        ("casts", "i1"),  # a wizard who is ready or rallied
        ("uses_items", "i1"),  # alive and not fleeing
        ("on_table", "i1"),
        ("alive", "i1"),
        ("reserve", "i1"),  # fixed own dice, or GENERATED
        ("bearer_dice", "i1"),  # power dice from items that only he may use
        ("extra_dice_cap", "i1"),  # items that raise the most dice he may roll
        ("cast_bonus", "i1"),  # items that add to his casting rolls
        ("any_double", "i1"),  # 1: any double in a successful cast is irresistible
        ("miscast_table", "i1"),
        ("unit", "i1"),  # 1 + the unit he has joined, or that he is
        ("daemons", "i1"),  # 1: he is the focal model of that unit of Daemons
        ("magic_resistance", "i1"),
        ("draws", "i1"),  # spells drawn from his lore when the battle begins
        ("first_spell", "i1"),  # the first of the six they are drawn from
        ("points_per_wound", "f8"),
        ("spells", "i4"),  # bit s: spell s of his army is his to cast
        ("bound", "i4"),  # bit s: spell s lies bound in an item that he carries
    ],
    align=True,
)

SPELL = np.dtype(
    [
        ("wizard", "i1"),
        ("casting_value", "i1"),
        ("duration", "i1"),
        ("in_play", "i1"),  # 1: already in play when the battle begins
        ("in_play_aim", "i1"),  # 1 + its aim then
        ("survives_caster", "i1"),  # 1: his death does not end it
        ("bound", "i1"),  # 1: it lies in an item, and its casting value is the power level
        ("bound_in", "i1"),  # 1 + the item whose uses it takes, of a bound spell
        ("targeted", "i1"),  # 1: it is aimed; 0: it has a fixed worth
        ("mark", "i1"),  # 1 + the mark its target keeps, so that it is not cast at it again
        ("mark_stays", "i1"),  # 1: for the rest of the battle; 0: for the phase
        ("gains_wound", "i1"),  # 1: its caster gains a wound if its target loses one
        ("heals", "i1"),  # 1: its target gets back the wounds it has lost
        ("namesakes", "i4"),  # bit s: spell s of the army is the same spell
        ("barred_by", "i4"),  # bit s: while spell s is in play this one cannot be cast
        ("first_aim", "i8"),  # its aims lie in a row, by target
        ("n_aims", "i8"),
        ("worth", "f8"),  # points when it takes effect; of an aimed one, with its best aim
        ("worth_per_phase", "f8"),  # points, at each end of phase while in play, likewise
    ],
    align=True,
)

AIM = np.dtype(
    [
        ("target", "i1"),  # 0 for none; 1 + t: own target t; 1 + TARGETS + t: the enemy's
        ("open", "i1"),  # Opening
        ("ranked", "i1"),  # of the spell's aims, the one that stands here by promise
        ("first_strike", "i8"),
        ("n_strikes", "i8"),
        ("worth", "f8"),  # points when it takes effect, beside the casualties
        ("worth_per_phase", "f8"),
        ("promise", "f8"),  # expected points when it takes effect, casualties of whole units in it
    ],
    align=True,
)
"""One spell at one target."""

STRIKE = np.dtype(
    [
        ("victim", "i1"),  # army x TARGETS + target
        ("wounds_per_hit", "i1"),  # of an unsaved hit
        ("alone", "i1"),  # 1: a character, struck once the unit he stands in is gone
        ("law", "i8"),  # first of its chances of 0, 1, 2 ... wounds; -1 where it strikes models
        ("law_size", "i8"),
        ("hits", "i8"),  # first of its hits by models left; -1 where it has a law
        ("touched", "i8"),  # likewise models only touched, or -1
        ("chance", "f8"),  # that a hit wounds, where it strikes models
        ("touched_chance", "f8"),  # that a model only touched is hit and wounded
        ("distance", "f8"),  # inches from the point of a Comet
        # what the dice of the hits are read by, where they are thrown one by one
        ("dice", "i1"),  # HitDice
        ("extra_dice", "i1"),  # HitDice
        ("touched_on", "i1"),  # D6 that strikes a model only touched
        ("strength", "i1"),  # 0 where nothing asks for it
        ("toughness", "i1"),
        ("armour_save", "i1"),
        ("ward_save", "i1"),
        ("armour_allowed", "i1"),
        ("ward_allowed", "i1"),
        ("automatic", "i1"),  # 1: wounds without a roll
    ],
    align=True,
)
"""What a spell does to one unit or character."""

UNIT = np.dtype(
    [
        ("models", "i2"),
        ("wounds", "i1"),  # of each model
        ("magic_resistance", "i1"),  # its own; characters with it may have a better one
        ("caster", "i1"),  # 1 + the character that is this unit of Daemons
        ("engaged", "i1"),
        ("fleeing", "i1"),
        ("points", "f8"),  # per model
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
        ("forgotten_on", "i1"),  # D6 on which a spell it dispels is forgotten; 0 for never
        ("takes_power", "i1"),  # enemy power dice that become dispel dice, each enemy phase
        ("stores", "i1"),  # dice it keeps from one phase for a later one
        ("store_check", "i1"),  # 1: they come back on a D6 that reaches their number
        ("store_either", "i1"),  # 1: dice of any phase for the next; 0: of own phases
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
        ("bound", "i4"),  # bit s: spell s lies bound in an item
        ("healing", "i4"),  # bit s: spell s brings back wounds
        ("staying", "i8", (MARK_WORDS,)),  # bits of `marked` that stay for the battle
        ("n_units", "i8"),
        ("n_aims", "i8"),
        ("wizards", WIZARD, (WIZARDS,)),
        ("spells", SPELL, (SPELLS,)),
        ("items", ITEM, (ITEMS,)),
        ("units", UNIT, (UNITS,)),
        ("aims", AIM, (AIMS,)),
        ("reach", "i2", (SPELLS, ARMIES * TARGETS)),  # most wounds; UNBOUNDED where models count
    ],
    align=True,
)

CONTACT = np.dtype(
    [
        ("army", "i1"),  # army of the wizard they touch
        ("wizard", "i1"),
        ("owner", "i1"),  # army that loses the points
        ("unit", "i1"),  # 1 + the owner's unit that they belong to; 0 for models of their own
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
        ("dice_faces", "i1"),  # 3 or 6: so many hits or wounds; 0 for one
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
        ("targets", "i1"),  # 1: some spell is aimed
        ("draws", "i1"),  # 1: some wizard draws his spells when the battle begins
        ("stores", "i1"),  # 1: some item keeps dice
        ("delayed", "i1"),  # 1: some spell is a Comet
        ("wounds_others", "i1"),  # 1: some miscast wounds the other wizards
        ("miscast_wounds", "i1"),  # most that a miscast costs one wizard; UNBOUNDED: his life
        ("miscast_levels", "i1"),  # most that a miscast costs the caster
        ("n_contacts", "i8"),
        ("n_miscast_tables", "i8"),
        ("n_miscast_rows", "i8"),
        ("miscast_dice", "i1", (MISCAST_TABLES,)),  # D6 that each table is rolled with
        ("miscast_row", "i1", (MISCAST_TABLES, 13)),  # row by the total of the dice
        ("miscast_rows", MISCAST_ROW, (MISCAST_ROWS,)),
        ("effects", EFFECT, (EFFECTS,)),
        ("contacts", CONTACT, (CONTACTS,)),
        ("armies", ARMY, (ARMIES,)),
        ("strikes", STRIKE, (STRIKES,)),
        ("laws", "f8", (LAWS,)),
        ("hits", "i1", (HITS,)),
    ],
    align=True,
)
"""One scenario. A scenario is packed as a record array of this dtype with one row."""
