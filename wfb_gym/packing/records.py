"""Enumerations and records for packed scenarios, which the engine reads but never writes.

The sizes are in `wfb_gym.scenario.sizes`, and `wfb_gym.packing.pack` fills the records. The mutable
state of a battle is in `wfb_gym.engine.state`.

All integers are signed, because Numba converts mixed signed and unsigned operands to float. Loop
bounds are int64, so the loop index is int64 too.
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
"""Reach of a spell whose casualties depend on the models left."""
GENERATED = -1
"""Marks a dice pool that the rules generate; any other value is a fixed pool."""
FIRST_POINT = 1 + ARMIES * TARGETS
"""Target code of the first point that a Comet may be aimed at."""
OUT_OF_REACH = np.iinfo(np.int8).max
"""Distance in inches that is beyond any Comet's reach."""


class Duration(IntEnum):
    """How long a spell lasts (6th edition, "Spells in Play")."""

    INSTANT = 0
    REMAINS_IN_PLAY = 1
    ONE_TURN = 2
    DELAYED = 3  # a Comet: in play until it lands, even if its caster dies


class EffectKind(IntEnum):
    """Primitive effects that make up the rows of a miscast table."""

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
    """How long a wizard is barred from casting."""

    NONE = 0
    PHASE_END = 1
    OWN_NEXT_PHASE = 2
    SIX = 3
    BATTLE_END = 4


class Whose(IntEnum):
    """Scope of a miscast effect."""

    CASTER = 0
    SIDE = 1
    ALL = 2


class Limit(IntEnum):
    """Which spells are allowed as the free spell after a miscast."""

    ANY = 0
    MISCAST_VALUE = 1


class RerollKind(IntEnum):
    """Which dice an item re-rolls."""

    NONE = 0
    ONE = 1
    ALL = 2


class DispelUse(IntEnum):
    """Effect of an item used in a dispel attempt."""

    NONE = 0
    AUTOMATIC = 1
    BOOST = 2


class AimCondition(IntEnum):
    """When an aim is legal."""

    ALWAYS = 0
    ALONE = 1  # at a character, once its unit is destroyed
    NEVER = 2  # only for the aim of a spell that starts the battle in play


class HitDice(IntEnum):
    """Dice that determine the number of hits."""

    NONE = 0
    ONE_HIT = 1
    D6 = 2
    TWO_D6 = 3
    CHAIN = 4
    MODELS = 5  # no dice: the number of models struck
    TWO_HITS = 6
    THREE_HITS = 7
    D3 = 8
    TWO_D3 = 9
    D3_AND_ONE = 10
    THREE_D6 = 11
    FOUR_D6 = 12
    D6_AND_ONE = 13


HIT_DICE = {
    "1": HitDice.ONE_HIT,
    "D6": HitDice.D6,
    "2D6": HitDice.TWO_D6,
    "2": HitDice.TWO_HITS,
    "3": HitDice.THREE_HITS,
    "D3": HitDice.D3,
    "2D3": HitDice.TWO_D3,
    "D3+1": HitDice.D3_AND_ONE,
    "3D6": HitDice.THREE_D6,
    "4D6": HitDice.FOUR_D6,
    "D6+1": HitDice.D6_AND_ONE,
    "D6 chain": HitDice.CHAIN,
}
"""Hit dice by the names used in spells."""


class PackedWizard(Record):
    """A character: a wizard, a Runesmith or Runelord, or a hero."""

    level: Int8  # 0 for a character that is not a wizard
    dispel_dice: Int8  # dice added to the dispel pool at this level or rank
    leadership: Int8  # 2 to 10
    general: Int8  # 1 for its army's general
    rune: Int8  # 1 for a Runesmith or Runelord, whose dispel_dice does not depend on level
    wounds: Int8
    toughness: Int8
    armour_save: Int8  # NO_SAVE if there is none
    ward_save: Int8
    on_table: Int8
    alive: Int8
    fleeing: Int8  # 1 if it is fleeing when the battle begins
    reserve: Int8  # fixed own dice, or GENERATED
    bearer_dice: Int8  # power dice from items, for its own casts only
    extra_dice_cap: Int8  # from items; added to the maximum number of dice in a roll
    cast_bonus: Int8  # from items; added to its casting rolls
    any_double: Int8  # 1 if any double in a successful cast is irresistible
    miscast_table: Int8
    unit: Int8  # 1 + the unit that it has joined or represents; 0 if none
    daemons: Int8  # 1 for the focal model of that unit of Daemons
    magic_resistance: Int8
    draws: Int8  # number of spells drawn from its lore when the battle begins
    first_spell: Int8  # first of that lore's six spells
    points_per_wound: Float64
    spells: Int32  # bit s: spell s of its army belongs to this wizard
    bound: Int32  # bit s: spell s is bound in an item that it carries


class PackedSpell(Record):
    """One of an army's spells."""

    wizard: Int8
    casting_value: Int8
    duration: Int8
    in_play: Int8  # 1 if it is already in play when the battle begins
    in_play_aim: Int8  # 1 + its aim when the battle begins; 0 if none
    survives_caster: Int8  # 1 if its caster's death does not end it
    bound: Int8  # 1 if it is bound in an item; its casting value is then the power level
    bound_in: Int8  # for a bound spell, 1 + the item whose uses it spends
    targeted: Int8  # 1 if it has aims, 0 if it has a fixed value in points
    mark: Int8  # 1 + the mark that prevents a second cast at the same target; 0 if none
    group: Int8  # attempting a spell also spends the other spells of its group; 0 if none
    gains_wound: Int8  # 1 if its caster gains a wound when its target loses one
    heals: Int8  # 1 if its target regains lost wounds
    needs_flight: Int8  # 1 if its target must be fleeing
    rallies: Int8  # 1 if its target rallies, unless too few models are left
    copy_of: Int8  # 1 + the spell before it that is the same spell's previous cast; 0 if none
    namesakes: Int32  # bit s: spell s of the army is the same spell
    barred_by: Int32  # bit s: this spell cannot be cast while spell s is in play
    first_aim: Int64  # its aims are consecutive, in target order
    n_aims: Int64
    worth: Float64  # points when it takes effect, with its best aim if it is targeted
    worth_per_phase: Float64  # points at the end of each phase in play, with its best aim
    landing: Int64  # for a Comet, index like `PackedAim.landing`, for the best point; else -1


class PackedAim(Record):
    """One spell aimed at one target."""

    # 0: none; 1 + t: own target t; 1 + TARGETS + t: enemy target t; FIRST_POINT + p: a point
    target: Int8
    open: Int8  # AimCondition
    ranked: Int8  # in a spell's row k, index of its k-th best aim
    first_strike: Int64
    n_strikes: Int64
    worth: Float64  # points when it takes effect, excluding casualties
    worth_per_phase: Float64
    # expected points when it takes effect, including casualties in full units; for a Comet,
    # expected points until the battle ends if it is cast in the first phase
    expected_points: Float64
    # for a Comet, index of its expected points by phase starts left (0, 1, 2 ...); else -1
    landing: Int64


class PackedStrike(Record):
    """A spell's hits on one unit or character."""

    victim: Int8  # army x TARGETS + target
    wounds_per_hit: Int8  # for an unsaved hit
    alone: Int8  # 1 for a character that is struck only once its unit is destroyed
    # index of its probabilities of 0, 1, 2 ... wounds; for a character that shares its unit's
    # hits, probabilities of hits on all members together; -1 if it strikes models
    pmf: Int64
    pmf_size: Int64
    hits: Int64  # index of its hits by models left; -1 if it has a pmf
    touched: Int64  # index of the models only touched, by models left, or -1
    first_member: Int64  # for a unit, strikes on characters that share its hits while it is small
    n_members: Int64
    chance: Float64  # probability that a hit wounds
    touched_chance: Float64  # probability that a model only touched is hit and wounded
    # the remaining fields are for hits that are rolled one by one
    dice: Int8  # HitDice
    extra_dice: Int8  # HitDice
    touched_on: Int8  # D6 needed to hit a model only touched
    strength: Int8  # 0 if not needed; -3 or -6 if a D3 or D6 gives it
    toughness: Int8
    armour_save: Int8
    ward_save: Int8
    armour_allowed: Int8
    ward_allowed: Int8
    automatic: Int8  # 1 if hits wound without a roll


class PackedUnit(Record):
    """A unit of fighting models."""

    models: Int16
    wounds: Int8  # per model
    leadership: Int8  # 2 to 10
    panics: Int8  # 1 if it takes Panic tests
    magic_resistance: Int8  # the unit's own; a character in it may have a better one
    caster: Int8  # 1 + the character that represents this unit of Daemons
    shares: Int8  # 1 if characters in it share some spell's hits while it is small
    engaged: Int8
    fleeing: Int8  # 1 if it is fleeing when the battle begins
    points: Float64  # per model


class PackedItem(Record):
    """A kind of magic item, for one bearer."""

    bearer: Int8  # index of a character, or NO_BEARER
    # uses for the whole battle (the maximum possible if hidden); 0 if it is never used up
    count: Int8
    power_dice: Int8  # added to the army's pool in each of its own phases
    dispel_dice: Int8
    dispel_bonus: Int8  # added to every dispel roll while the bearer can use the item
    cast_use: Int8  # 1 if it can be used with a cast
    cast_extra_dice: Int8  # extra dice beyond the level limit
    cast_use_bonus: Int8
    cast_not_irresistible: Int8
    dispel_use: Int8  # DispelUse
    dispel_use_bonus: Int8
    reroll_cast: Int8  # RerollKind
    reroll_dispel: Int8  # RerollKind; declared before the roll, so dispel_use is BOOST
    changes_natural: Int8  # 1 if miscasts and irresistible force use the re-rolled dice
    ends_own_spells: Int8  # 1 if its use ends the user's spells that remain in play
    stores_dice: Int8  # 1 if a miscast that loses stored dice empties it
    forgotten_on: Int8  # D6 on which a spell it dispels is forgotten; 0 means never
    takes_power: Int8  # power dice that it turns into dispel dice in each enemy phase
    stores: Int8  # dice that it can keep for a later phase
    store_check: Int8  # 1 if they are kept only on a D6 of at least their number
    store_either: Int8  # 1: keeps any phase's dice for the next; 0: only between own phases


class PackedArmy(Record):
    """One army."""

    base_power: Int8
    base_dispel: Int8
    fixed_power: Int8  # the shared pool, or GENERATED
    fixed_dispel: Int8
    n_wizards: Int64
    n_spells: Int64
    n_items: Int64
    rerolls: Int8  # 1 if one of the army's items re-rolls dice
    bound: Int32  # bit s: spell s is bound in an item
    healing: Int32  # bit s: spell s restores wounds
    gains_if_fleeing: Int32  # bit t: a spell gains points if target t is fleeing
    staying: Annotated[NDArray[np.int64], MARK_WORDS]  # bits of `marks` that last all battle
    n_kinds: Int64  # number of hidden item sets, one of which is dealt; 0 without hidden items
    kind_chances: Annotated[NDArray[np.float64], HIDDEN_KINDS]  # each set's probability
    # uses of each item for the whole battle, known and hidden, by dealt set
    kind_uses: Annotated[NDArray[np.int8], HIDDEN_KINDS, sizes.ITEMS]
    n_units: Int64
    n_aims: Int64
    n_points: Int64  # number of points that its Comets may be aimed at
    # distance from each point to each target in both armies, rounded up; or OUT_OF_REACH
    inches: Annotated[NDArray[np.int8], POINTS, ARMIES * TARGETS]
    wizards: Annotated[Records[PackedWizard], sizes.WIZARDS]
    spells: Annotated[Records[PackedSpell], SPELLS]
    items: Annotated[Records[PackedItem], sizes.ITEMS]
    units: Annotated[Records[PackedUnit], UNITS]
    aims: Annotated[Records[PackedAim], sizes.AIMS]
    # maximum number of wounds by spell and target; UNBOUNDED if it depends on models
    reach: Annotated[NDArray[np.int16], SPELLS, ARMIES * TARGETS]


class PackedContact(Record):
    """A group of models in base contact with a wizard."""

    army: Int8  # the wizard's army
    wizard: Int8
    owner: Int8  # the army that loses the points
    unit: Int8  # 1 + the owner's unit that they belong to; 0 if none
    models: Int8
    toughness: Int8
    armour_save: Int8
    ward_save: Int8
    points: Float64  # per model


class PackedEffect(Record):
    """One effect in a row of a miscast table."""

    kind: Int8
    strength: Int8
    armour_save: Int8  # 1 if an armour save is allowed
    until: Int8  # Lock
    bars_items: Int8  # 1 if the lock also bars items
    whose: Int8  # Whose
    limit: Int8  # Limit
    dice_faces: Int8  # 3 or 6: D3 or D6 hits or wounds; 0: one
    points: Float64


class PackedMiscastRow(Record, align=False):
    """The effects in one row of a miscast table, as a range of indices."""

    first: Int64
    count: Int64


class PackedScenario(Record):
    """One scenario. `pack` returns a record array of this dtype with one row."""

    phases: Int8
    own_dice: Int8  # 1 if each wizard's level dice are its own (7th edition)
    dispel_double_six: Int8
    dispel_one_turn: Int8  # 1 if spells that last one turn may be dispelled later
    in_play_recast_side: Int8  # 1 if a spell in play bars the same spell for the whole army
    panic: Int8  # 1 if units that lose many models in a phase may flee
    victory_points: Int8  # 1: rewards are victory points; 0: points for losses
    reroll_all_dice: Int8  # 1 if re-rolling a cast re-rolls all its dice (7th edition)
    targets: Int8  # 1 if any spell has targets
    draws: Int8  # 1 if any wizard draws its spells when the battle begins
    stores: Int8  # 1 if any item keeps dice
    deals: Int8  # 1 if any army has hidden items
    delayed: Int8  # 1 if any spell is a Comet
    wounds_others: Int8  # 1 if a miscast can wound other wizards
    miscast_wounds: Int8  # maximum wounds to one wizard from a miscast; UNBOUNDED if it may die
    miscast_levels: Int8  # maximum number of levels that a miscast costs the caster
    miscast_spells: Int8  # maximum number of free spells after a miscast
    destroys_bound: Int8  # 1 if an enemy item may destroy a bound spell (7th edition)
    n_contacts: Int64
    n_miscast_tables: Int64
    n_miscast_rows: Int64
    miscast_dice: Annotated[NDArray[np.int8], MISCAST_TABLES]  # number of D6 per table
    miscast_row: Annotated[NDArray[np.int8], MISCAST_TABLES, 13]  # row for each dice total
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
    """Return an armour or ward save in packed form; None becomes `NO_SAVE`."""
    return sizes.NO_SAVE if save is None else save
