"""Exact values of a magic phase that is simplified to a duel.

In a duel each spell has a fixed value in points. The duel also has shared dice, wizards' own dice,
one kind of scroll, items that help a cast, and spells in play. A position of the duel lies between
two casts. The value of a position depends only on positions with fewer spells to cast, so one pass
over a table computes all values. Chances of dice come from `wfb_gym.engine.odds` and
`wfb_gym.rules.casting`. `wfb_gym.players.search.reduction` builds the duels and lists the
simplifications.

Values are points still to come in the phase for the active army, which may be either army.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records
from wfb_gym.engine.odds import DISPEL_CHANCE, HIGHEST_NEED, dispel_need
from wfb_gym.engine.outcomes import (
    ROLL_SUMMARY_ONES,
    ROLL_SUMMARY_PROBABILITY,
    ROLL_SUMMARY_SIXES,
    ROLL_SUMMARY_START,
    ROLL_SUMMARY_TOTAL,
)
from wfb_gym.engine.queries import bit, clear_bits, lowest_bit
from wfb_gym.rules.casting import is_cast, natural_result_of_cast
from wfb_gym.rules.dice import FACES, NaturalResult
from wfb_gym.scenario.sizes import DICE, NO_BEARER, WIZARDS

MOST_SPELLS = 8
"""Spells that may still be cast in a duel."""
MOST_KEPT = 4
"""Spells of the active army that remain in play until their wizard casts again."""
MOST_TO_DISPEL = 6
"""Spells in play of one army that may be dispelled."""
MOST_OWN = 4
"""Wizards with own dice that a duel tracks."""
MOST_AIDS = 2
"""Kinds of item that help a cast."""
MOST_USES = 7
"""Uses of one kind of item that a duel tracks."""
MOST_SCROLLS = 15
MOST_LATER = (MOST_USES + 1) ** MOST_AIDS
NONE = -1


class DuelSpell(Record):
    """A spell that may be cast."""

    spell: Int64  # number in the active army
    wizard: Int64
    worth: Float64  # points if it takes effect
    casting_value: Int64
    bonus: Int64  # to the casting roll
    cap: Int64  # most dice for the casting roll
    own: Int64  # index of its wizard in `own_dice`, or NONE
    bound: Int64
    resistance: Int64  # dice that Magic Resistance adds to a dispel
    kept: Int64  # its index in `Duel.kept`, or NONE
    barred: Int64  # bit set over `Duel.kept`: it cannot be cast while one of them is in play
    miscast_cost: Float64  # expected points, including a free spell of the enemy


class SpellInPlay(Record):
    """A spell of the active army that remains in play, or will remain in play if it is cast."""

    spell: Int64
    worth: Float64  # points, if it is in play when casting ends
    wizard: Int64


class InPlay(Record):
    """A spell in play from an earlier phase, which the enemy of its owner may dispel."""

    spell: Int64  # number in its owner's army
    worth: Float64  # points for its owner
    number: Int64  # that a dispel roll has to match
    kept: Int64  # its index in `Duel.kept`, or NONE


class CastAid(Record):
    """An item that helps one cast with each use."""

    item: Int64  # number in the active army
    wizard: Int64  # that may use it, or NO_BEARER
    extra_dice: Int64
    bonus: Int64  # to the casting roll
    irresistible: Int64  # 1 if the cast may be irresistible


class Miscast(Record):
    """Cost and effects of a wizard's miscast. With the remaining probability casting continues."""

    cost: Float64  # expected points
    locked: Float64  # chance that the wizard casts no more in this phase
    no_dice: Float64  # chance that all power dice are lost
    ends: Float64  # chance that casting ends
    ends_in_play: Float64  # chance that casting and every spell in play end
    succeeds: Float64  # chance that the spell takes effect after all
    free_any: Float64  # chance that the enemy casts any spell of its own
    free_limited: Float64  # chance that it casts one with a casting value no higher
    later: Float64  # expected fraction of the wizard's casts in later phases that is lost


class Duel(Record):
    """A duel. Counts of dice, scrolls and uses are the ones at its start."""

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
    base: Float64  # points of spells in play that are not in `kept`
    greatest: Float64  # points of the most valuable spell that may be cast
    miscasts: Annotated[Records[Miscast], WIZARDS]
    spells: Annotated[Records[DuelSpell], MOST_SPELLS]
    kept: Annotated[Records[SpellInPlay], MOST_KEPT]
    aids: Annotated[Records[CastAid], MOST_AIDS]
    # points of later phases relative to using nothing in this one, by the uses of aids and the
    # scrolls that are left
    later: Annotated[NDArray[np.float64], MOST_LATER, MOST_SCROLLS + 1]
    # points of own spells that the dispeller loses, by the number of scrolls that it reads
    scroll_reader_loss: Annotated[NDArray[np.float64], MOST_SCROLLS + 1]
    # most points from dispelling after the last cast, by dice: for the active army also by the
    # scrolls that were read, for the dispeller by the spells of `kept` that are in play
    by_power: Annotated[NDArray[np.float64], MOST_SCROLLS + 1, DICE + 1]
    by_dispel: Annotated[NDArray[np.float64], 1 << MOST_KEPT, DICE + 1]


class Dispels(Record):
    """One army's spells in play that the other may dispel, and the most points from that."""

    count: Int64
    spells: Annotated[Records[InPlay], MOST_TO_DISPEL]
    # most points, by the set of spells that are still to be tried, and by dice
    most: Annotated[NDArray[np.float64], 1 << MOST_TO_DISPEL, DICE + 1]


class DuelTable(NamedTuple):
    """Values of a duel's positions, and scratch arrays. "Casts" below explains blocks."""

    values: NDArray[np.float64]
    blocks: NDArray[np.float64]  # a block for every number that a dispel may have to match
    block: NDArray[np.float64]
    miscast_values: NDArray[np.float64]  # a block: values after a miscast


class DuelState(NamedTuple):
    """A position of a duel, between two casts or during a cast."""

    left: int  # bit set over `Duel.spells`: spells that may still be cast
    in_play: int  # bit set over `Duel.kept`: spells in play
    aid_state: int  # uses of aids and own dice that are left, as a mixed-radix number
    power: int  # shared dice
    dispel: int
    scrolls: int


_BLOCK = (DICE + 1) * (MOST_SCROLLS + 1)
_NUMBERS = HIGHEST_NEED + 1


def new_table(places: int) -> DuelTable:
    """Return a table with that many values, all 0."""
    return DuelTable(
        np.zeros(places), np.zeros(_NUMBERS * _BLOCK), np.zeros(_BLOCK), np.zeros(_BLOCK)
    )


_TOTALS = FACES * DICE + 1


@jit(_nrt=True, forceinline=False)
def _casting_rolls() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    plain = np.zeros((2, DICE + 1, _TOTALS))
    irresistible = np.zeros((2, DICE + 1))
    miscast = np.zeros((2, DICE + 1))
    for may_be in range(2):
        for dice in range(1, DICE + 1):
            for reading in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
                natural = natural_result_of_cast(
                    ROLL_SUMMARY_ONES[reading], ROLL_SUMMARY_SIXES[reading], may_be == 1
                )
                probability = ROLL_SUMMARY_PROBABILITY[reading]
                if natural == NaturalResult.MISCAST:
                    miscast[may_be, dice] += probability
                elif natural == NaturalResult.IRRESISTIBLE:
                    irresistible[may_be, dice] += probability
                else:
                    plain[may_be, dice, ROLL_SUMMARY_TOTAL[reading]] += probability
    return plain, irresistible, miscast


_PLAIN, _IRRESISTIBLE, _MISCAST = _casting_rolls()
"""Probabilities of casting rolls, indexed by whether the roll may be irresistible and by dice.
Rolls that are neither irresistible nor a miscast are also indexed by total."""


# --- the table -----------------------------------------------------------------------------------
#
# Its axes are ((spells to cast, spells in play), (uses of aids, own dice), power dice, dispel dice,
# scrolls); the last one varies fastest. `aid_state` is the combined index of the second pair.


@jit
def inner_size(duel: Duel) -> int:
    """Return the number of combinations of power dice, dispel dice and scrolls."""
    return int64((duel.power + 1) * (duel.dispel + 1) * (duel.scrolls + 1))


@jit
def uses_size(duel: Duel) -> int:
    """Return the number of combinations of uses of aids."""
    size = int64(1)
    for k in range(duel.n_aids):
        size *= duel.uses[k] + 1
    return int64(size)


@jit
def mid_size(duel: Duel) -> int:
    """Return the number of combinations of uses of aids and own dice."""
    size = uses_size(duel)
    for k in range(duel.n_own):
        size *= duel.own_dice[k] + 1
    return int64(size)


@jit(forceinline=False)
def table_size(duel: Duel) -> int:
    """Return the number of entries of the table."""
    return int64(bit(duel.n_spells + duel.n_kept) * mid_size(duel) * inner_size(duel))


@jit
def _stride_of_use(duel: Duel, aid: int) -> int:
    stride = int64(1)
    for k in range(aid):
        stride *= duel.uses[k] + 1
    return int64(stride)


@jit
def _stride_of_own(duel: Duel, own: int) -> int:
    stride = _stride_of_use(duel, int64(duel.n_aids))
    for k in range(own):
        stride *= duel.own_dice[k] + 1
    return int64(stride)


@jit
def uses_in(duel: Duel, aid_state: int, aid: int) -> int:
    """Return the uses of an aid that are left."""
    return int64(aid_state // _stride_of_use(duel, aid) % (duel.uses[aid] + 1))


@jit
def own_in(duel: Duel, aid_state: int, own: int) -> int:
    """Return the own dice of a wizard that are left."""
    return int64(aid_state // _stride_of_own(duel, own) % (duel.own_dice[own] + 1))


@jit
def spend_dice(duel: Duel, aid_state: int, slot: int, own: int, aid: int) -> int:
    """Return `aid_state` after a cast with `own` own dice and an aid, or NONE for no aid."""
    if own > 0:
        aid_state -= own * _stride_of_own(duel, int64(duel.spells[slot].own))
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
    dispels = (duel.dispel + 1) * (duel.scrolls + 1)
    return int64((outer * mid_size(duel) + aid_state) * inner_size(duel) + power * dispels)


@jit
def value_at(duel: Duel, values: NDArray[np.float64], here: DuelState) -> float:
    """Return the value of a position from the table."""
    place = place_of(duel, here.left, here.in_play, here.aid_state, here.power)
    return float(values[place + here.dispel * (duel.scrolls + 1) + here.scrolls])


@jit
def worth_of(duel: Duel, slot: int) -> float:
    """Return the points of a spell that takes effect, including those while it is in play."""
    worth = float(duel.spells[slot].worth)
    if duel.spells[slot].kept >= 0:
        worth += duel.kept[duel.spells[slot].kept].worth
    return worth


@jit
def kept_after(duel: Duel, slot: int, in_play: int) -> int:
    """Return the spells in play after a nomination; unless it is bound, its wizard's spells end."""
    if duel.spells[slot].bound:
        return int64(in_play)
    for k in range(duel.n_kept):
        if duel.kept[k].wizard == duel.spells[slot].wizard:
            in_play = clear_bits(in_play, bit(k))
    return int64(in_play)


@jit
def kept_if_cast(duel: Duel, slot: int, in_play: int) -> int:
    """Return the spells in play after a spell is cast."""
    own = int64(duel.spells[slot].kept)
    return int64(in_play | bit(own)) if own >= 0 else int64(in_play)


@jit(forceinline=False)
def most_by_dispels(duel: Duel, dispels: Dispels, bonus: int, dice: int) -> None:
    """Fill `dispels.most` for 0 to `dice` dice; each spell in play may be tried once."""
    chances = DISPEL_CHANCE[int64(duel.double_six)]
    for left in range(bit(dispels.count)):
        for have in range(dice + 1):
            most = 0.0
            rest = int64(left)
            while rest:
                k = lowest_bit(rest)
                rest &= rest - 1
                need = dispel_need(int64(dispels.spells[k].number), bonus)
                after = clear_bits(int64(left), bit(k))
                for thrown in range(have + 1):
                    gained = chances[need, thrown] * dispels.spells[k].worth
                    most = max(most, gained + dispels.most[after, have - thrown])
            dispels.most[left, have] = most


@jit(forceinline=False)
def end_value(duel: Duel, here: DuelState) -> float:
    """Return the value after the last cast: spells in play, and resources for later phases."""
    value = duel.base - duel.by_dispel[here.in_play, here.dispel]
    read = duel.scrolls - here.scrolls
    value += (
        duel.later[here.aid_state % uses_size(duel), here.scrolls] + duel.scroll_reader_loss[read]
    )
    for k in range(duel.n_kept):
        if here.in_play & bit(k):
            value += duel.kept[k].worth
    own = int64(0)
    for k in range(duel.n_own):
        own = max(own, own_in(duel, here.aid_state, k))
    return float(value + duel.by_power[read, min(DICE, here.power + own)])


# --- casts ---------------------------------------------------------------------------------------
#
# A block holds the values for every number of dispel dice and scrolls, with all else equal. It is
# contiguous in the table, and computed as a whole.


@jit
def _lowest_number(duel: Duel, slot: int) -> int:
    """Return the lowest number to match after a spell is cast."""
    return int64(duel.spells[slot].casting_value)


@jit
def _highest_number(duel: Duel, slot: int, dice: int, bonus: int) -> int:
    """Return the largest number to match that makes a difference.

    Higher numbers are out of reach for the casting roll, or for every dispel roll.
    """
    spell = duel.spells[slot]
    thrown = min(int64(DICE), int64(duel.dispel + spell.resistance))
    out_of_reach = min(int64(HIGHEST_NEED), int64(FACES * thrown + duel.dispel_bonus + 1))
    return max(_lowest_number(duel, slot), min(int64(FACES * dice + bonus), out_of_reach))


@jit(forceinline=False)
def answer_block(
    duel: Duel,
    values: NDArray[np.float64],
    slot: int,
    number: int,
    lost: int,
    won: int,
    block: NDArray[np.float64],
) -> None:
    """Write the values of a spell that is cast and may be dispelled.

    Args:
        duel: the duel.
        values: its table.
        slot: the spell's index in `Duel.spells`.
        number: that a dispel roll has to match.
        lost: table index of the block that follows if the spell is dispelled.
        won: table index of the block that follows if it takes effect.
        block: overwritten.
    """
    worth = duel.spells[slot].worth
    row = int64(duel.scrolls + 1)
    size = int64((duel.dispel + 1) * row)
    dispelled = values[lost : lost + size]
    taking_effect = values[won : won + size]
    for k in range(size):
        block[k] = worth + taking_effect[k]
    for k in range(1, size):
        if k % row and dispelled[k - 1] < block[k]:  # read a scroll
            block[k] = dispelled[k - 1]
    need = dispel_need(number, int64(duel.dispel_bonus))
    resistance = int64(duel.spells[slot].resistance)
    chances = DISPEL_CHANCE[int64(duel.double_six), need]
    for dice in range(0 if resistance > 0 else 1, duel.dispel + 1):
        chance = chances[min(DICE, dice + resistance)]
        if chance > 0.0:
            failing = 1.0 - chance
            answered = block[dice * row : size]
            for k in range(size - dice * row):
                value = chance * dispelled[k] + failing * (worth + taking_effect[k])
                answered[k] = value if value < answered[k] else answered[k]


@jit(forceinline=False)
def answer_blocks(
    duel: Duel,
    values: NDArray[np.float64],
    slot: int,
    highest: int,
    lost: int,
    won: int,
    blocks: NDArray[np.float64],
) -> None:
    """Write the `answer_block` of each number to match up to `highest`, in order."""
    size = int64((duel.dispel + 1) * (duel.scrolls + 1))
    lowest_number = _lowest_number(duel, slot)
    for number in range(lowest_number, highest + 1):
        first = (number - lowest_number) * size
        answer_block(duel, values, slot, int64(number), lost, won, blocks[first : first + size])


@jit(forceinline=False)
def roll_block(
    duel: Duel, table: DuelTable, slot: int, lost: int, won: int, dice: int, aid: int
) -> None:
    """Write the values of rolling for a spell to `table.block`.

    Args:
        duel: the duel.
        table: its values; `answers_after` has filled its `blocks` and `miscast_values`.
        slot: the spell's index in `Duel.spells`; not a bound spell.
        lost: see `answer_block`.
        won: see `answer_block`.
        dice: number of dice, including the aid's.
        aid: the declared aid, or NONE.
    """
    values, blocks, block, miscast_values = (
        table.values,
        table.blocks,
        table.block,
        table.miscast_values,
    )
    spell = duel.spells[slot]
    size = int64((duel.dispel + 1) * (duel.scrolls + 1))
    bonus = int64(spell.bonus)
    may_be = int64(1)
    if aid >= 0:
        bonus += duel.aids[aid].bonus
        may_be = int64(duel.aids[aid].irresistible)
    failed = values[lost : lost + size]
    taking_effect = values[won : won + size]
    irresistible = _IRRESISTIBLE[may_be, dice]
    miscast = _MISCAST[may_be, dice]
    failing = 0.0
    lowest_number = _lowest_number(duel, slot)
    highest = _highest_number(duel, slot, dice, bonus)
    fixed = irresistible * spell.worth
    for k in range(size):
        block[k] = fixed + irresistible * taking_effect[k] + miscast * miscast_values[k]
    for total in range(dice, FACES * dice + 1):
        probability = _PLAIN[may_be, dice, total]
        if probability == 0.0:
            continue
        if not is_cast(total, bonus, int64(spell.casting_value)):
            failing += probability
            continue
        first = (min(int64(total + bonus), highest) - lowest_number) * size
        answers = blocks[first : first + size]
        for k in range(size):
            block[k] += probability * answers[k]
    for k in range(size):
        block[k] += failing * failed[k]


@jit
def _most_dice(duel: Duel, slot: int) -> int:
    """Return the most dice of a roll for a spell, with any aid."""
    extra = int64(0)
    for aid in range(duel.n_aids):
        if serves(duel, slot, int64(aid)):
            extra = max(extra, int64(duel.aids[aid].extra_dice))
    return min(int64(DICE), int64(duel.spells[slot].cap) + extra)


@jit
def _most_bonus(duel: Duel, slot: int) -> int:
    """Return the largest bonus of a roll for a spell, with any aid."""
    extra = int64(0)
    for aid in range(duel.n_aids):
        if serves(duel, slot, int64(aid)):
            extra = max(extra, int64(duel.aids[aid].bonus))
    return int64(duel.spells[slot].bonus) + extra


@jit
def serves(duel: Duel, slot: int, aid: int) -> bool:
    """Return whether an aid may help to cast a spell."""
    if duel.spells[slot].bound:
        return False
    wizard = duel.aids[aid].wizard
    return bool(wizard == NO_BEARER or wizard == duel.spells[slot].wizard)


@jit(forceinline=False)
def _write_miscast_values(
    duel: Duel, table: DuelTable, slot: int, here: DuelState, lost: int, won: int
) -> None:
    """Write the values after a miscast, with the dice spent, to `table.miscast_values`."""
    values, miscast_values, spell = table.values, table.miscast_values, duel.spells[slot]
    miscast = duel.miscasts[spell.wizard]
    others = here.left
    for k in range(duel.n_spells):
        if duel.spells[k].wizard == spell.wizard and not duel.spells[k].bound:
            others = clear_bits(others, bit(k))
    uses = here.aid_state % uses_size(duel)
    locked = place_of(duel, others, here.in_play, here.aid_state, here.power)
    no_dice = place_of(duel, here.left, here.in_play, uses, int64(0))
    ends = place_of(duel, int64(0), here.in_play, here.aid_state, here.power)
    row = int64(duel.scrolls + 1)
    stops = miscast.locked + miscast.no_dice + miscast.ends + miscast.ends_in_play
    goes_on = 1.0 - stops - miscast.succeeds
    fixed = miscast.succeeds * spell.worth - spell.miscast_cost
    for k in range((duel.dispel + 1) * row):
        scrolls = k % row
        nothing = duel.later[uses, scrolls] + duel.scroll_reader_loss[duel.scrolls - scrolls]
        miscast_values[k] = (
            fixed
            + goes_on * values[lost + k]
            + miscast.succeeds * values[won + k]
            + miscast.locked * values[locked + k]
            + miscast.no_dice * values[no_dice + k]
            + miscast.ends * values[ends + k]
            + miscast.ends_in_play * nothing
        )


@jit(forceinline=False)
def answers_after(duel: Duel, table: DuelTable, slot: int, here: DuelState) -> tuple[int, int]:
    """Fill `table.blocks` and `table.miscast_values` for a spell, after its dice are spent.

    Returns:
        The table indices `lost` and `won`, see `answer_block`.
    """
    lost = place_of(duel, here.left, here.in_play, here.aid_state, here.power)
    won = place_of(
        duel, here.left, kept_if_cast(duel, slot, here.in_play), here.aid_state, here.power
    )
    highest = _lowest_number(duel, slot)
    if not duel.spells[slot].bound:
        highest = _highest_number(duel, slot, _most_dice(duel, slot), _most_bonus(duel, slot))
        _write_miscast_values(duel, table, slot, here, lost, won)
    answer_blocks(duel, table.values, slot, highest, lost, won, table.blocks)
    return lost, won


@jit(forceinline=False)
def value_of_roll(
    duel: Duel, table: DuelTable, slot: int, here: DuelState, dice: int, aid: int
) -> float:
    """Return the value of rolling for a spell.

    Args:
        duel: the duel.
        table: its values.
        slot: the spell's index in `Duel.spells`.
        here: the position after the nomination, with the dice and the aid spent. The spell is not
            in `left`, and its wizard's other spells have ended.
        dice: number of dice, including the aid's; ignored for a bound spell, which needs no roll.
        aid: the declared aid, or NONE.
    """
    behind = here.dispel * (duel.scrolls + 1) + here.scrolls
    lost, won = answers_after(duel, table, slot, here)
    if duel.spells[slot].bound:
        return float(table.blocks[behind])
    roll_block(duel, table, slot, lost, won, dice, aid)
    return float(table.block[behind])


@jit(forceinline=False)
def value_of_cast(duel: Duel, table: DuelTable, slot: int, here: DuelState, aid: int) -> float:
    """Return the value of casting a spell with the best number of dice, and this aid or NONE.

    Like `value_of_roll`, but `here` still has all dice. The wizard's own dice are spent first.

    Returns:
        The value; minus infinity if there are no dice, or the aid cannot be used.
    """
    spell = duel.spells[slot]
    extra = int64(0)
    if aid >= 0:
        if not serves(duel, slot, aid) or uses_in(duel, here.aid_state, aid) == 0:
            return -np.inf
        extra = int64(duel.aids[aid].extra_dice)
    if spell.bound:
        return value_of_roll(duel, table, slot, here, int64(0), int64(NONE))
    own = own_in(duel, here.aid_state, int64(spell.own)) if spell.own >= 0 else int64(0)
    best = -np.inf
    for dice in range(1, min(int64(spell.cap), own + here.power) + 1):
        ours = min(own, int64(dice))
        aid_state = spend_dice(duel, here.aid_state, slot, ours, aid)
        power = int64(here.power - (dice - ours))
        after = DuelState(here.left, here.in_play, aid_state, power, here.dispel, here.scrolls)
        rolled = min(int64(DICE), int64(dice + extra))
        best = max(best, value_of_roll(duel, table, slot, after, rolled, aid))
    return float(best)


@jit(forceinline=False)
def value_of_nomination(duel: Duel, table: DuelTable, slot: int, here: DuelState) -> float:
    """Return the value of nominating a spell of `left`, with the best aid or none."""
    left = clear_bits(here.left, bit(slot))
    in_play = kept_after(duel, slot, here.in_play)
    after = DuelState(left, in_play, here.aid_state, here.power, here.dispel, here.scrolls)
    best = -np.inf
    for aid in range(NONE, duel.n_aids):
        best = max(best, value_of_cast(duel, table, slot, after, int64(aid)))
    return float(best)


@jit
def whole(duel: Duel) -> DuelState:
    """Return the position at the start of the duel, with nothing used."""
    return DuelState(
        bit(duel.n_spells) - 1, int64(duel.in_play), mid_size(duel) - 1, int64(duel.power),
        int64(duel.dispel), int64(duel.scrolls),
    )  # fmt: skip


@jit(forceinline=False)
def solve_duel(duel: Duel, table: DuelTable) -> None:
    """Fill a duel's table, which has at least `table_size` entries."""
    for left in range(bit(duel.n_spells)):
        for in_play in range(bit(duel.n_kept)):
            impossible = int64(0)
            for slot in range(duel.n_spells):
                own = int64(duel.spells[slot].kept)
                if left & bit(slot) and own >= 0:
                    impossible |= in_play & bit(own)
            if impossible:
                continue
            _fill_ends(duel, table, int64(left), int64(in_play))
            rest = int64(left)
            while rest:
                slot = lowest_bit(rest)
                rest &= rest - 1
                if not in_play & duel.spells[slot].barred:
                    _fill_casts(duel, table, int64(left), int64(in_play), slot)
            rest = int64(in_play)
            while rest:  # the caster may end a spell in play
                _fill_end_of(duel, table, int64(left), int64(in_play), lowest_bit(rest))
                rest &= rest - 1


@jit(forceinline=False)
def _fill_ends(duel: Duel, table: DuelTable, left: int, in_play: int) -> None:
    """Write the values if no more spells are cast."""
    for aid_state in range(mid_size(duel)):
        for power in range(duel.power + 1):
            place = place_of(duel, left, in_play, int64(aid_state), int64(power))
            for dispel in range(duel.dispel + 1):
                for scrolls in range(duel.scrolls + 1):
                    here = DuelState(
                        left, in_play, int64(aid_state), int64(power), int64(dispel), int64(scrolls)
                    )
                    table.values[place] = end_value(duel, here)
                    place += 1


@jit(forceinline=False)
def _fill_end_of(duel: Duel, table: DuelTable, left: int, in_play: int, ended: int) -> None:
    """Raise the values where ending a spell in play is better."""
    place = place_of(duel, left, in_play, int64(0), int64(0))
    ending = place_of(duel, left, clear_bits(in_play, bit(ended)), int64(0), int64(0))
    values = table.values
    for k in range(mid_size(duel) * inner_size(duel)):
        values[place + k] = max(values[place + k], values[ending + k])


@jit(forceinline=False)
def _fill_casts(duel: Duel, table: DuelTable, left: int, in_play: int, slot: int) -> None:
    """Raise the values where casting one spell is better.

    For each set of resources after the cast, it updates every position from which a number of dice
    leads there: so each block is computed once.
    """
    spell = duel.spells[slot]
    after = kept_after(duel, slot, in_play)
    rest = clear_bits(left, bit(slot))
    cap, place_own = int64(spell.cap), int64(spell.own)
    for aid_state in range(mid_size(duel)):
        own = own_in(duel, int64(aid_state), place_own) if place_own >= 0 else int64(0)
        spare = int64(duel.own_dice[place_own]) - own if place_own >= 0 else int64(0)
        for power in range(duel.power + 1):
            here = DuelState(rest, after, int64(aid_state), int64(power), int64(0), int64(0))
            lost, won = answers_after(duel, table, slot, here)
            if spell.bound:
                _raise_to_block(
                    duel,
                    table,
                    table.blocks,
                    place_of(duel, left, in_play, int64(aid_state), power),
                )
                continue
            for aid in range(NONE, duel.n_aids):
                extra = int64(0)
                if aid >= 0:
                    if not serves(duel, slot, int64(aid)):
                        continue
                    if uses_in(duel, int64(aid_state), int64(aid)) == duel.uses[aid]:
                        continue
                    extra = int64(duel.aids[aid].extra_dice)
                for dice in range(1, cap + 1):
                    rolled = min(int64(DICE), int64(dice + extra))
                    written = False
                    for ours in range(min(int64(dice), spare) + 1):
                        pool = dice - ours
                        if power + pool > duel.power or (pool > 0 and own > 0):
                            continue  # own dice go first
                        if not written:
                            roll_block(duel, table, slot, lost, won, rolled, int64(aid))
                            written = True
                        before = refund_dice(duel, int64(aid_state), slot, int64(ours), int64(aid))
                        place = place_of(duel, left, in_play, before, int64(power + pool))
                        _raise_to_block(duel, table, table.block, place)


@jit
def _raise_to_block(duel: Duel, table: DuelTable, block: NDArray[np.float64], place: int) -> None:
    """Raise the values at a table index to a block's values where these are greater."""
    size = int64((duel.dispel + 1) * (duel.scrolls + 1))
    values = table.values[place : place + size]
    for k in range(size):
        values[k] = block[k] if block[k] > values[k] else values[k]
