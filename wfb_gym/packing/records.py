"""Enumerations and records of a packed scenario, which the engine reads and never writes.

The sizes are in `wfb_gym.scenario.sizes`; `wfb_gym.packing.pack` fills the records. The changing
state of a battle is in `wfb_gym.engine.state`.

All integers are signed: Numba makes an unsigned one of two unsigned ones, and a float of that
and a signed one. Counts that code loops over are int64, as its index is then.
"""

from enum import IntEnum
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Float64, Int8, Int16, Int32, Int64, Record, Records, dtype_of
from wfb_gym.scenario import sizes
from wfb_gym.scenario.sizes import (
    ARMIES,
    HIDDEN_KINDS,
    MARK_WORDS,
    MISCAST_TABLES,
    POINTS,
    SPELLS,
    TARGETS,
    UNITS,
)

UNBOUNDED = -1
"""Reach of a spell whose casualties follow the models left."""
GENERATED = -1
"""Mark of a dice pool that the rules generate, as against a fixed one."""
FIRST_POINT = 1 + ARMIES * TARGETS
"""Target code of the first point that a Comet may be aimed at."""
OUT_OF_REACH = np.iinfo(np.int8).max
"""Inches farther than any Comet reaches."""


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


class RerollKind(IntEnum):
    """Which dice an item re-rolls."""

    NONE = 0
    ONE = 1
    ALL = 2


class DispelUse(IntEnum):
    """What an item does when it is used at an attempt to dispel."""

    NONE = 0
    AUTOMATIC = 1
    BOOST = 2


class AimCondition(IntEnum):
    """When a spell can be aimed so."""

    ALWAYS = 0
    ALONE = 1  # at a character, once the unit it stands in is gone
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


class PackedWizard(Record):
    """A character: a wizard, a Runesmith or Runelord, or a hero."""

    level: Int8  # 0 for any but a wizard
    dispel_dice: Int8  # what it adds to the dispel pool at this level or rank
    leadership: Int8  # 2 to 10
    general: Int8  # 1: it is the general of its army
    rune: Int8  # 1 for a Runesmith or Runelord: dispel_dice does not follow the level
    wounds: Int8
    toughness: Int8
    armour_save: Int8  # NO_SAVE for none
    ward_save: Int8
    on_table: Int8
    alive: Int8
    fleeing: Int8  # 1: it flees when the battle begins
    reserve: Int8  # fixed own dice, or GENERATED
    bearer_dice: Int8  # power dice from items that only it may use
    extra_dice_cap: Int8  # items that raise the most dice it may roll
    cast_bonus: Int8  # items that add to its casting rolls
    any_double: Int8  # 1: any double in a successful cast is irresistible
    miscast_table: Int8
    unit: Int8  # 1 + the unit it has joined, or that it is
    daemons: Int8  # 1: it is the focal model of that unit of Daemons
    magic_resistance: Int8
    draws: Int8  # spells drawn from its lore when the battle begins
    first_spell: Int8  # the first of the six they are drawn from
    points_per_wound: Float64
    spells: Int32  # bit s: spell s of its army is its to cast
    bound: Int32  # bit s: spell s is bound in an item that it carries


class PackedSpell(Record):
    """A spell of an army."""

    wizard: Int8
    casting_value: Int8
    duration: Int8
    in_play: Int8  # 1: already in play when the battle begins
    in_play_aim: Int8  # 1 + its aim then
    survives_caster: Int8  # 1: its caster's death does not end it
    bound: Int8  # 1: it lies in an item, and its casting value is the power level
    bound_in: Int8  # 1 + the item whose uses it takes, of a bound spell
    targeted: Int8  # 1: it is aimed; 0: it has a fixed worth
    mark: Int8  # 1 + the mark its target keeps, so that it is not cast at it again
    reserved: Int8  # 0; without this byte the digests of packed scenarios would change
    gains_wound: Int8  # 1: its caster gains a wound if its target loses one
    heals: Int8  # 1: its target gets back the wounds it has lost
    needs_flight: Int8  # 1: its target must be fleeing
    rallies: Int8  # 1: its target rallies, unless too few are left
    namesakes: Int32  # bit s: spell s of the army is the same spell
    barred_by: Int32  # bit s: while spell s is in play this one cannot be cast
    first_aim: Int64  # its aims lie in a row, by target
    n_aims: Int64
    worth: Float64  # points when it takes effect; of an aimed one, with its best aim
    worth_per_phase: Float64  # points, at each end of phase while in play, likewise
    landing: Int64  # of a Comet at points of the battlefield: as an aim's, at the best; else -1


class PackedAim(Record):
    """One spell at one target."""

    # 0 for none; 1 + t: own target t; 1 + TARGETS + t: the enemy's; FIRST_POINT + p: a point
    target: Int8
    open: Int8  # Opening
    ranked: Int8  # of the spell's aims, the one that stands here by promise
    first_strike: Int64
    n_strikes: Int64
    worth: Float64  # points when it takes effect, beside the casualties
    worth_per_phase: Float64
    # expected points when it takes effect, casualties of whole units in it; of a Comet, those that
    # it brings until the battle ends if it is cast in the first phase
    promise: Float64
    # of a Comet, first of the points that it brings on average if it is cast, and lands within 0,
    # 1, 2 ... starts of phases; else -1
    landing: Int64


class PackedStrike(Record):
    """What a spell does to one unit or character."""

    victim: Int8  # army x TARGETS + target
    wounds_per_hit: Int8  # of an unsaved hit
    alone: Int8  # 1: a character, struck once the unit it stands in is gone
    # first of its chances of 0, 1, 2 ... wounds; of a character that shares hits with its unit,
    # those of hits on all members; -1 where it strikes models
    pmf: Int64
    pmf_size: Int64
    hits: Int64  # first of its hits by models left; -1 where it has a pmf
    touched: Int64  # likewise models only touched, or -1
    first_member: Int64  # of a unit: strikes on characters that share its hits while it is small
    n_members: Int64
    chance: Float64  # that a hit wounds
    touched_chance: Float64  # that a model only touched is hit and wounded
    # what the dice of the hits are read by, where they are thrown one by one
    dice: Int8  # HitDice
    extra_dice: Int8  # HitDice
    touched_on: Int8  # D6 that strikes a model only touched
    strength: Int8  # 0 where nothing asks for it
    toughness: Int8
    armour_save: Int8
    ward_save: Int8
    armour_allowed: Int8
    ward_allowed: Int8
    automatic: Int8  # 1: wounds without a roll


class PackedUnit(Record):
    """A unit of fighting models."""

    models: Int16
    wounds: Int8  # of each model
    leadership: Int8  # 2 to 10
    panics: Int8  # 1: it takes Panic tests
    magic_resistance: Int8  # its own; characters with it may have a better one
    caster: Int8  # 1 + the character that is this unit of Daemons
    shares: Int8  # 1: characters in it share the hits of some spell while it is small
    engaged: Int8
    fleeing: Int8  # 1: it flees when the battle begins
    points: Float64  # per model


class PackedItem(Record):
    """A kind of magic item, by its bearer."""

    bearer: Int8  # wizard, or NO_BEARER
    # uses for the whole battle, of hidden ones the most; 0 for an item that only adds
    count: Int8
    power_dice: Int8  # to the army's pool, each phase
    dispel_dice: Int8
    dispel_bonus: Int8  # to every dispel roll, while the bearer can use it
    cast_use: Int8  # 1: may be declared with a cast
    cast_extra_dice: Int8  # rolled beyond the level limit
    cast_use_bonus: Int8
    cast_not_irresistible: Int8
    dispel_use: Int8  # DispelUse
    dispel_use_bonus: Int8
    reroll_cast: Int8  # Reroll
    reroll_dispel: Int8  # Reroll; declared before the dice, so dispel_use is BOOST
    changes_natural: Int8  # 1: the dice after its re-roll decide miscast and the rest
    ends_own_spells: Int8  # 1: its use ends the user's spells that remain in play
    stores_dice: Int8  # 1: emptied by a loss of stored dice
    forgotten_on: Int8  # D6 on which a spell it dispels is forgotten; 0 for never
    takes_power: Int8  # enemy power dice that become dispel dice, each enemy phase
    stores: Int8  # dice it keeps from one phase for a later one
    store_check: Int8  # 1: they come back on a D6 that reaches their number
    store_either: Int8  # 1: dice of any phase for the next; 0: of own phases


class PackedArmy(Record):
    """One army."""

    base_power: Int8
    base_dispel: Int8
    fixed_power: Int8  # the shared pool, or GENERATED
    fixed_dispel: Int8
    n_wizards: Int64
    n_spells: Int64
    n_items: Int64
    rerolls: Int8  # 1: some item of the army re-rolls dice
    bound: Int32  # bit s: spell s lies bound in an item
    healing: Int32  # bit s: spell s brings back wounds
    sought: Int32  # bit of a target: some spell gains by its flight
    staying: Annotated[NDArray[np.int64], MARK_WORDS]  # bits of `marks` that stay for the battle
    n_kinds: Int64  # sets of hidden items, of which chance deals one; 0 where nothing is hidden
    kind_chances: Annotated[NDArray[np.float64], HIDDEN_KINDS]  # of each; they sum to 1
    # uses of each item for the whole battle, known and hidden, by what was dealt
    kind_uses: Annotated[NDArray[np.int8], HIDDEN_KINDS, sizes.ITEMS]
    n_units: Int64
    n_aims: Int64
    n_points: Int64  # that its Comets may be aimed at
    # from each of them to each target of both armies, rounded up; OUT_OF_REACH for none
    inches: Annotated[NDArray[np.int8], POINTS, ARMIES * TARGETS]
    wizards: Annotated[Records[PackedWizard], sizes.WIZARDS]
    spells: Annotated[Records[PackedSpell], SPELLS]
    items: Annotated[Records[PackedItem], sizes.ITEMS]
    units: Annotated[Records[PackedUnit], UNITS]
    aims: Annotated[Records[PackedAim], sizes.AIMS]
    # most wounds; UNBOUNDED where models count
    reach: Annotated[NDArray[np.int16], SPELLS, ARMIES * TARGETS]


class PackedContact(Record):
    """A group of models in base contact with a wizard."""

    army: Int8  # army of the wizard they touch
    wizard: Int8
    owner: Int8  # army that loses the points
    unit: Int8  # 1 + the owner's unit that they belong to; 0 for models of their own
    models: Int8
    toughness: Int8
    armour_save: Int8
    ward_save: Int8
    points: Float64  # per model


class PackedEffect(Record):
    """One effect of a row of a miscast table."""

    kind: Int8
    strength: Int8
    armour_save: Int8  # 1: an armour save is allowed
    until: Int8  # Lock
    bars_items: Int8  # 1: the lock bars items too
    whose: Int8  # Whose
    limit: Int8  # Limit
    dice_faces: Int8  # 3 or 6: so many hits or wounds; 0 for one
    points: Float64


class PackedMiscastRow(Record, align=False):
    """Where the effects of a row of a miscast table stand."""

    first: Int64
    count: Int64


class PackedScenario(Record):
    """One scenario. A scenario is packed as a record array of this dtype with one row."""

    phases: Int8
    own_dice: Int8  # 1: each wizard's level dice are its own (7th edition)
    dispel_double_six: Int8
    dispel_one_turn: Int8  # 1: spells that last one turn may be dispelled later
    in_play_recast_side: Int8  # 1: a spell in play bars its namesakes in the whole army
    panic: Int8  # 1: units that lose many models in a phase may flee
    victory_points: Int8  # 1: rewards count victory points; 0: points of losses
    reroll_all_dice: Int8  # 1: a re-roll of a cast takes all its dice (7th edition)
    targets: Int8  # 1: some spell is aimed
    draws: Int8  # 1: some wizard draws its spells when the battle begins
    stores: Int8  # 1: some item keeps dice
    deals: Int8  # 1: some army has hidden items
    delayed: Int8  # 1: some spell is a Comet
    wounds_others: Int8  # 1: some miscast wounds the other wizards
    miscast_wounds: Int8  # most that a miscast costs one wizard; UNBOUNDED: its life
    miscast_levels: Int8  # most that a miscast costs the caster
    miscast_spells: Int8  # most free spells after a miscast
    destroys_bound: Int8  # 1: an enemy's item may destroy a bound spell (7th edition)
    n_contacts: Int64
    n_miscast_tables: Int64
    n_miscast_rows: Int64
    miscast_dice: Annotated[NDArray[np.int8], MISCAST_TABLES]  # D6 that each table is rolled with
    miscast_row: Annotated[NDArray[np.int8], MISCAST_TABLES, 13]  # row by the total of the dice
    miscast_rows: Annotated[Records[PackedMiscastRow], sizes.MISCAST_ROWS]
    effects: Annotated[Records[PackedEffect], sizes.EFFECTS]
    contacts: Annotated[Records[PackedContact], sizes.CONTACTS]
    armies: Annotated[Records[PackedArmy], ARMIES]
    strikes: Annotated[Records[PackedStrike], sizes.STRIKES]
    pmfs: Annotated[NDArray[np.float64], sizes.PMFS]
    hits: Annotated[NDArray[np.int8], sizes.HITS]
    landings: Annotated[NDArray[np.float64], sizes.LANDINGS]


ITEM = dtype_of(PackedItem)
ARMY = dtype_of(PackedArmy)
CONTACT = dtype_of(PackedContact)
MISCAST_ROW = dtype_of(PackedMiscastRow)
PACKED_SCENARIO = dtype_of(PackedScenario)


def packed_save(save: int | None) -> int:
    """Return an armour or ward save as the engine has it: `NO_SAVE` for none."""
    return sizes.NO_SAVE if save is None else save
