"""The duel that represents a magic phase: its records and the table of its values.

In a duel each spell has a fixed value in points. The duel also has shared dice, wizards' own dice,
one kind of scroll, items that help a cast, and spells in play. A position in the duel lies between
two casts. `wfb_gym.players.search.reduction` builds the duels and documents the simplifications.
`wfb_gym.players.search.phase_duel` computes the values.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records
from wfb_gym.engine.odds import HIGHEST_NEED
from wfb_gym.engine.queries import bit, clear_bits
from wfb_gym.scenario.sizes import DICE, NO_BEARER, SPELLS, WIZARDS

MOST_SPELLS = 8  # maximum number of spells in a duel, including the spell being cast
MOST_KEPT = 4
"""Maximum number of the active army's spells that remain in play until their wizard casts again."""
MOST_TO_DISPEL = 6  # maximum number of one army's spells in play that may be dispelled
MOST_OWN = 4  # maximum number of wizards with their own dice in a duel
MOST_AIDS = 2  # maximum number of kinds of item that help a cast
MOST_USES = 7  # maximum number of uses that a duel tracks for one kind of item
MOST_SCROLLS = 15
MOST_LATER = (MOST_USES + 1) ** MOST_AIDS
NONE = -1


class DuelSpell(Record):
    """A castable spell."""

    spell: Int64  # number in the active army
    wizard: Int64
    worth: Float64  # points if it takes effect
    casting_value: Int64
    bonus: Int64  # to the casting roll
    cap: Int64  # maximum number of dice for the casting roll
    own: Int64  # index of its wizard in `own_dice`, or NONE
    bound: Int64
    resistance: Int64  # dice that Magic Resistance adds to a dispel attempt
    kept: Int64  # its index in `Duel.kept`, or NONE
    attempt: Int64  # bit set over `Duel.spells`: spells that an attempt at it spends
    barred: Int64  # bit set over `Duel.kept`: it cannot be cast while any of them is in play
    miscast_cost: Float64  # expected points, including a free spell for the enemy


class SpellInPlay(Record):
    """A spell of the active army that remains in play, or will remain in play if it is cast."""

    spell: Int64
    worth: Float64  # points if it is in play when casting ends
    wizard: Int64


class InPlay(Record):
    """A spell in play from an earlier phase, which its owner's enemy may dispel."""

    spell: Int64  # number in its owner's army
    worth: Float64  # points for its owner
    number: Int64  # number that a dispel roll must match
    kept: Int64  # its index in `Duel.kept`, or NONE


class CastAid(Record):
    """An item that helps one cast per use."""

    item_index: Int64  # in the active army
    wizard: Int64  # wizard that may use it, or NO_BEARER
    extra_dice: Int64
    bonus: Int64  # to the casting roll
    irresistible: Int64  # 1 if the cast may be irresistible


class Miscast(Record):
    """Cost and effects of a wizard's miscast. With the remaining probability, casting continues."""

    cost: Float64  # expected points
    locked: Float64  # chance that the wizard cannot cast again in this phase
    no_dice: Float64  # chance that all power dice are lost
    ends: Float64  # chance that casting ends
    ends_in_play: Float64  # chance that casting and all spells in play end
    succeeds: Float64  # chance that the spell takes effect after all
    free_any: Float64  # chance that the enemy casts any of its own spells
    free_limited: Float64  # chance that it casts one with the same casting value or lower
    later: Float64  # expected fraction of the wizard's casts lost in later phases


class Duel(Record):
    """A duel. Dice, scrolls and uses are counted at its start."""

    n_spells: Int64
    n_kept: Int64
    n_aids: Int64
    n_own: Int64
    power: Int64
    dispel: Int64
    scrolls: Int64
    uses: Annotated[NDArray[np.int64], MOST_AIDS]
    own_dice: Annotated[NDArray[np.int64], MOST_OWN]
    own_wizard: Annotated[NDArray[np.int64], MOST_OWN]
    in_play: Int64  # bit set over `kept`: spells in play at the start
    dispel_bonus: Int64
    double_six: Int64
    base_points: Float64  # points from spells in play that are not in `kept`
    greatest: Float64  # points of the most valuable spell that may be cast
    miscasts: Annotated[Records[Miscast], WIZARDS]
    spells: Annotated[Records[DuelSpell], MOST_SPELLS]
    kept: Annotated[Records[SpellInPlay], MOST_KEPT]
    aids: Annotated[Records[CastAid], MOST_AIDS]
    # points in later phases relative to using nothing in this one, by the uses of aids and the
    # remaining scrolls
    later: Annotated[NDArray[np.float64], MOST_LATER, MOST_SCROLLS + 1]
    # points the dispeller loses with its own spells, by the number of scrolls that it reads
    scroll_reader_loss: Annotated[NDArray[np.float64], MOST_SCROLLS + 1]
    # maximum points from dispelling after the last cast, by dice: for the active army also by the
    # scrolls that were read, for the dispeller by the spells of `kept` that are in play
    by_power: Annotated[NDArray[np.float64], MOST_SCROLLS + 1, DICE + 1]
    by_dispel: Annotated[NDArray[np.float64], 1 << MOST_KEPT, DICE + 1]
    # scratch for the reduction: score of each of the army's spells, and its aim or NONE
    scores: Annotated[NDArray[np.float64], SPELLS]
    score_aims: Annotated[NDArray[np.int64], SPELLS]


class Dispels(Record):
    """One army's spells in play that the enemy may dispel, and the maximum points for doing so."""

    count: Int64
    spells: Annotated[Records[InPlay], MOST_TO_DISPEL]
    # maximum points, by the set of spells not tried yet and by dice
    most: Annotated[NDArray[np.float64], 1 << MOST_TO_DISPEL, DICE + 1]


class DuelTable(NamedTuple):
    """Values of a duel's positions, and scratch arrays. For blocks, see "the table" below."""

    values: NDArray[np.float64]
    blocks: NDArray[np.float64]  # a block for every number that a dispel may need to match
    block: NDArray[np.float64]
    miscast_values: NDArray[np.float64]  # a block: values after a miscast


class DuelState(NamedTuple):
    """A position in a duel, between two casts or during a cast."""

    left: int  # bit set over `Duel.spells`: spells that may still be cast
    in_play: int  # bit set over `Duel.kept`: spells in play
    aid_state: int  # remaining uses of aids and own dice, as a mixed-radix number
    power: int  # shared dice
    dispel: int
    scrolls: int


_BLOCK = (DICE + 1) * (MOST_SCROLLS + 1)
_NUMBERS = HIGHEST_NEED + 1


def new_table(places: int) -> DuelTable:
    """Return a table with this many values, all 0."""
    return DuelTable(
        np.zeros(places), np.zeros(_NUMBERS * _BLOCK), np.zeros(_BLOCK), np.zeros(_BLOCK)
    )


# --- the table -----------------------------------------------------------------------------------
#
# Its axes are ((spells to cast, spells in play), (uses of aids, own dice), power dice, dispel dice,
# scrolls); the last one varies fastest. `aid_state` is the combined index of the second pair. A
# block holds the values for every number of dispel dice and scrolls, with all else equal. It is
# contiguous in the table, and computed as a whole.


@jit
def _stride_of_use(duel: Duel, aid: int) -> int:
    stride = int64(1)
    for k in range(aid):
        stride *= duel.uses[k] + 1
    return int64(stride)


@jit
def _stride_of_own(duel: Duel, own: int) -> int:
    stride = uses_size(duel)
    for k in range(own):
        stride *= duel.own_dice[k] + 1
    return int64(stride)


@jit
def uses_size(duel: Duel) -> int:
    """Return the number of combinations of uses of aids."""
    return _stride_of_use(duel, duel.n_aids)


@jit
def mid_size(duel: Duel) -> int:
    """Return the number of combinations of uses of aids and own dice."""
    return _stride_of_own(duel, duel.n_own)


@jit
def block_size(duel: Duel) -> int:
    """Return the number of combinations of dispel dice and scrolls."""
    return int64((duel.dispel + 1) * (duel.scrolls + 1))


@jit
def inner_size(duel: Duel) -> int:
    """Return the number of combinations of power dice, dispel dice and scrolls."""
    return int64((duel.power + 1) * block_size(duel))


@jit(forceinline=False)
def table_size(duel: Duel) -> int:
    """Return the number of entries of the table."""
    return int64(bit(duel.n_spells + duel.n_kept) * mid_size(duel) * inner_size(duel))


@jit
def uses_in(duel: Duel, aid_state: int, aid: int) -> int:
    """Return the remaining uses of an aid."""
    return int64(aid_state // _stride_of_use(duel, aid) % (duel.uses[aid] + 1))


@jit
def own_in(duel: Duel, aid_state: int, own: int) -> int:
    """Return a wizard's remaining own dice."""
    return int64(aid_state // _stride_of_own(duel, own) % (duel.own_dice[own] + 1))


@jit
def spend_dice(duel: Duel, aid_state: int, slot: int, own: int, aid: int) -> int:
    """Return `aid_state` after a cast with `own` own dice and an aid (NONE for no aid)."""
    if own > 0:
        aid_state -= own * _stride_of_own(duel, duel.spells[slot].own)
    if aid >= 0:
        aid_state -= _stride_of_use(duel, aid)
    return int64(aid_state)


@jit
def refund_dice(duel: Duel, aid_state: int, slot: int, own: int, aid: int) -> int:
    """Undo `spend_dice`."""
    # spending subtracts a fixed offset, so twice the state less the spent one adds it back
    return int64(2 * aid_state - spend_dice(duel, aid_state, slot, own, aid))


@jit
def place_of(duel: Duel, left: int, in_play: int, aid_state: int, power: int) -> int:
    """Return the table index of a position without dispel dice and scrolls."""
    outer = (left << duel.n_kept) | in_play
    rest = power * block_size(duel)
    return int64((outer * mid_size(duel) + aid_state) * inner_size(duel) + rest)


@jit
def value_at(duel: Duel, values: NDArray[np.float64], here: DuelState) -> float:
    """Look up a position's value in the table."""
    place = place_of(duel, here.left, here.in_play, here.aid_state, here.power)
    return float(values[place + here.dispel * (duel.scrolls + 1) + here.scrolls])


@jit
def worth_of(duel: Duel, slot: int) -> float:
    """Return a spell's points if it takes effect, including those scored while it is in play."""
    worth = float(duel.spells[slot].worth)
    if duel.spells[slot].kept >= 0:
        worth += duel.kept[duel.spells[slot].kept].worth
    return worth


@jit
def kept_after(duel: Duel, slot: int, in_play: int) -> int:
    """Return the spells in play after a nomination; unless bound, it ends its wizard's spells."""
    if duel.spells[slot].bound:
        return int64(in_play)
    for k in range(duel.n_kept):
        if duel.kept[k].wizard == duel.spells[slot].wizard:
            in_play = clear_bits(in_play, bit(k))
    return int64(in_play)


@jit
def blocks_after(duel: Duel, slot: int, here: DuelState) -> tuple[int, int]:
    """Return the table indices of two blocks: if the cast is dispelled, and if it takes effect."""
    in_play, own = here.in_play, duel.spells[slot].kept
    if own >= 0:
        in_play |= bit(own)
    lost = place_of(duel, here.left, here.in_play, here.aid_state, here.power)
    return lost, place_of(duel, here.left, in_play, here.aid_state, here.power)


@jit
def slot_of(duel: Duel, spell: int) -> int:
    """Return a spell's index in `Duel.spells`, or NONE."""
    for slot in range(duel.n_spells):
        if duel.spells[slot].spell == spell:
            return int64(slot)
    return int64(NONE)


@jit
def aid_of(duel: Duel, item: int) -> int:
    """Return an item's index in `Duel.aids`, or NONE."""
    for aid in range(duel.n_aids):
        if duel.aids[aid].item_index == item:
            return int64(aid)
    return int64(NONE)


@jit
def serves(duel: Duel, slot: int, aid: int) -> bool:
    """Return whether an aid may help cast a spell."""
    if duel.spells[slot].bound:
        return False
    wizard = duel.aids[aid].wizard
    return bool(wizard == NO_BEARER or wizard == duel.spells[slot].wizard)


@jit
def whole(duel: Duel) -> DuelState:
    """Return the position at the start of the duel, before anything is used."""
    left, aid_state = bit(duel.n_spells) - 1, mid_size(duel) - 1
    return DuelState(left, duel.in_play, aid_state, duel.power, duel.dispel, duel.scrolls)
