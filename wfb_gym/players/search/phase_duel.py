"""A magic phase as a duel of plain worths, and its exact value, compiled.

The duel knows spells of a worth, dice, wizards' own dice, one kind of scroll, items that help a
cast, and spells in play; a position of it is a moment between two casts. Every value follows from
those with fewer spells to cast, so one pass over a table gives all of them. What dice do is the
engine's (`wfb_gym.engine.odds`, `wfb_gym.rules.casting`); what is left out of a phase is said in
`wfb_gym.players.search.reduction`, which makes the duels.

Values are points still to come in the phase for the active army, whichever of the two it is.
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
"""Spells that remain in play, of the active army, that a further cast of their wizard ends."""
MOST_TO_DISPEL = 6
"""Spells in play of one army that may be dispelled."""
MOST_OWN = 4
"""Wizards whose own dice are told apart."""
MOST_AIDS = 2
"""Kinds of item that help a cast."""
MOST_USES = 7
"""Uses of one kind of item that are told apart."""
MOST_SCROLLS = 15
MOST_LATER = (MOST_USES + 1) ** MOST_AIDS
NONE = -1


class DuelSpell(Record):
    """A spell that may be cast."""

    spell: Int64  # of the active army
    wizard: Int64
    worth: Float64  # points when it takes effect
    casting_value: Int64
    bonus: Int64  # to the casting roll
    cap: Int64  # most dice
    own: Int64  # its wizard's place in `own_dice`, or NONE
    bound: Int64
    resistance: Int64  # dice that Magic Resistance adds to a dispel
    kept: Int64  # its place in `kept`, or NONE
    barred: Int64  # bits of `kept`: it cannot be cast while one of them is in play
    miscast_cost: Float64  # points, those of a free spell of the enemy's among them


class KeptSpell(Record):
    """A spell of the active army that remains in play, or will once it is cast."""

    spell: Int64
    worth: Float64  # points, if it is in play when casting ends
    wizard: Int64


class InPlay(Record):
    """A spell in play from an earlier phase, which the enemy of its owner may dispel."""

    spell: Int64  # of its owner
    worth: Float64  # points for its owner
    number: Int64  # to match
    kept: Int64  # its place in `kept`, or NONE


class CastAid(Record):
    """An item that helps one cast with each use."""

    item: Int64  # of the active army
    wizard: Int64  # that may use it, or NO_BEARER
    extra_dice: Int64
    bonus: Int64
    irresistible: Int64  # 1: the cast may be


class Miscast(Record):
    """What a miscast of a wizard leads to; where none of the chances applies casting goes on."""

    cost: Float64  # points
    locked: Float64  # chance that the wizard casts no more in this phase
    no_dice: Float64  # chance that all power dice are lost
    ends: Float64  # chance that casting ends
    ends_in_play: Float64  # chance that casting and every spell in play end
    succeeds: Float64  # chance that the spell takes effect after all
    free_any: Float64  # chance that the enemy casts any spell of its own
    free_limited: Float64  # chance that it casts one of no higher casting value
    later: Float64  # share of what the wizard casts in phases to come that is lost


class Duel(Record):
    """A duel: what there is at most, which its table spans."""

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
    in_play: Int64  # bits of `kept`
    dispel_bonus: Int64
    double_six: Int64
    base: Float64  # points of spells in play that are not kept
    greatest: Float64  # worth of a spell that may be cast, points
    miscasts: Annotated[Records[Miscast], WIZARDS]
    spells: Annotated[Records[DuelSpell], MOST_SPELLS]
    kept: Annotated[Records[KeptSpell], MOST_KEPT]
    aids: Annotated[Records[CastAid], MOST_AIDS]
    # points that phases to come bring more than if nothing were used now, by the uses of aids and
    # the scrolls that are left
    later: Annotated[NDArray[np.float64], MOST_LATER, MOST_SCROLLS + 1]
    # points of spells that the dispeller loses by reading so many scrolls
    readers_lose: Annotated[NDArray[np.float64], MOST_SCROLLS + 1]
    # most points that dispelling brings once casting is over, by dice; the active army's also by
    # the scrolls that were read, the dispeller's by which of `kept` are in play
    by_power: Annotated[NDArray[np.float64], MOST_SCROLLS + 1, DICE + 1]
    by_dispel: Annotated[NDArray[np.float64], 1 << MOST_KEPT, DICE + 1]


class Dispels(Record):
    """One army's spells in play that the other may dispel, and what that brings."""

    count: Int64
    spells: Annotated[Records[InPlay], MOST_TO_DISPEL]
    # most points, by which of them are still to be tried, and dice
    most: Annotated[NDArray[np.float64], 1 << MOST_TO_DISPEL, DICE + 1]


class DuelTable(NamedTuple):
    """Values of a duel's positions, and scratch."""

    values: NDArray[np.float64]
    blocks: NDArray[np.float64]  # of every number to match
    block: NDArray[np.float64]
    missed: NDArray[np.float64]  # a block of what a miscast leads to


class DuelState(NamedTuple):
    """A position of a duel, between two casts or while one is under way."""

    left: int  # spells that may be cast, as bits of their slots
    kept: int  # spells kept in play, as bits of their places
    mid: int  # uses of aids and own dice, see below
    power: int  # shared dice
    dispel: int
    scrolls: int


_BLOCK = (DICE + 1) * (MOST_SCROLLS + 1)
_NUMBERS = HIGHEST_NEED + 1


def new_table(places: int) -> DuelTable:
    """Room for the values of a duel."""
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
"""Probabilities of casting rolls: [it may be irresistible, dice], plain ones also by total."""


# --- the table -----------------------------------------------------------------------------------
#
# A place in it is ((spells to cast, spells kept in play), (uses of aids, own dice), power dice,
# dispel dice, scrolls), the last running fastest. `mid` stands for the second pair.


@jit
def inner_size(duel: Duel) -> int:
    """Places of the table that differ in shared dice and scrolls alone."""
    return int64((duel.power + 1) * (duel.dispel + 1) * (duel.scrolls + 1))


@jit
def uses_size(duel: Duel) -> int:
    """How many combinations of uses of aids there are."""
    size = int64(1)
    for k in range(duel.n_aids):
        size *= duel.uses[k] + 1
    return int64(size)


@jit
def mid_size(duel: Duel) -> int:
    """How many combinations of uses and own dice there are."""
    size = uses_size(duel)
    for k in range(duel.n_own):
        size *= duel.own_dice[k] + 1
    return int64(size)


@jit(forceinline=False)
def table_size(duel: Duel) -> int:
    """Places of the table."""
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
def uses_in(duel: Duel, mid: int, aid: int) -> int:
    """Return how many uses of an aid are left."""
    return int64(mid // _stride_of_use(duel, aid) % (duel.uses[aid] + 1))


@jit
def own_in(duel: Duel, mid: int, own: int) -> int:
    """Return how many own dice of a wizard are left."""
    return int64(mid // _stride_of_own(duel, own) % (duel.own_dice[own] + 1))


@jit
def spend_dice(duel: Duel, mid: int, slot: int, own: int, aid: int) -> int:
    """`mid` after a cast with so many of its wizard's own dice and an aid, or NONE."""
    if own > 0:
        mid -= own * _stride_of_own(duel, int64(duel.spells[slot].own))
    if aid >= 0:
        mid -= _stride_of_use(duel, aid)
    return int64(mid)


@jit
def refund_dice(duel: Duel, mid: int, slot: int, own: int, aid: int) -> int:
    """Undo `spend_dice`."""
    return int64(2 * mid - spend_dice(duel, mid, slot, own, aid))


@jit
def place_of(duel: Duel, left: int, kept: int, mid: int, power: int) -> int:
    """Place in the table with no dispel dice and no scrolls."""
    outer = (left << duel.n_kept) | kept
    dispels = (duel.dispel + 1) * (duel.scrolls + 1)
    return int64((outer * mid_size(duel) + mid) * inner_size(duel) + power * dispels)


@jit
def value_at(duel: Duel, values: NDArray[np.float64], here: DuelState) -> float:
    """Return a position's entry of the table."""
    place = place_of(duel, here.left, here.kept, here.mid, here.power)
    return float(values[place + here.dispel * (duel.scrolls + 1) + here.scrolls])


@jit
def worth_of(duel: Duel, slot: int) -> float:
    """Points of a spell that takes effect, what it brings while it remains in play among them."""
    worth = float(duel.spells[slot].worth)
    if duel.spells[slot].kept >= 0:
        worth += duel.kept[duel.spells[slot].kept].worth
    return worth


@jit
def kept_after(duel: Duel, slot: int, kept: int) -> int:
    """Spells kept in play once a spell is nominated: its wizard's end, unless it is bound."""
    if duel.spells[slot].bound:
        return int64(kept)
    for k in range(duel.n_kept):
        if duel.kept[k].wizard == duel.spells[slot].wizard:
            kept = clear_bits(kept, bit(k))
    return int64(kept)


@jit
def kept_if_cast(duel: Duel, slot: int, kept: int) -> int:
    """Spells kept in play once a spell is cast."""
    own = int64(duel.spells[slot].kept)
    return int64(kept | bit(own)) if own >= 0 else int64(kept)


@jit(forceinline=False)
def most_by_dispels(duel: Duel, dispels: Dispels, bonus: int, dice: int) -> None:
    """Fill `dispels.most` up to so many dice: each spell in play may be tried once."""
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
    """Value once casting is over: what is in play, and what is left for phases to come."""
    value = duel.base - duel.by_dispel[here.kept, here.dispel]
    read = duel.scrolls - here.scrolls
    value += duel.later[here.mid % uses_size(duel), here.scrolls] + duel.readers_lose[read]
    for k in range(duel.n_kept):
        if here.kept & bit(k):
            value += duel.kept[k].worth
    own = int64(0)
    for k in range(duel.n_own):
        own = max(own, own_in(duel, here.mid, k))
    return float(value + duel.by_power[read, min(DICE, here.power + own)])


# --- casts ---------------------------------------------------------------------------------------
#
# A block is the values at every number of dispel dice and scrolls, all else equal. They lie side by
# side in the table, and are computed together.


@jit
def _lowest_number(duel: Duel, slot: int) -> int:
    """Return the lowest number to match that a cast of a spell can give."""
    return int64(duel.spells[slot].casting_value)


@jit
def _highest_number(duel: Duel, slot: int, dice: int, bonus: int) -> int:
    """Return a number beyond which all are alike: nothing rolled reaches, or no dispel matches."""
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
        slot: the spell.
        number: to match.
        lost: where the block begins that follows if the spell is dispelled.
        won: likewise if it takes effect.
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
        if k % row and dispelled[k - 1] < block[k]:  # a scroll
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
    """Write the `answer_block` of each number to match up to `highest`, one behind the other."""
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
        table: its values, the answers to all numbers that the roll can come to, and what a miscast
            leads to.
        slot: the spell, which is not bound.
        lost: see `answer_block`.
        won: likewise.
        dice: of the roll, those of the aid among them.
        aid: that was declared, or NONE.
    """
    values, blocks, block, missed = table.values, table.blocks, table.block, table.missed
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
        block[k] = fixed + irresistible * taking_effect[k] + miscast * missed[k]
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
    """Most dice of a roll for a spell, with any aid."""
    extra = int64(0)
    for aid in range(duel.n_aids):
        if serves(duel, slot, int64(aid)):
            extra = max(extra, int64(duel.aids[aid].extra_dice))
    return min(int64(DICE), int64(duel.spells[slot].cap) + extra)


@jit
def _most_bonus(duel: Duel, slot: int) -> int:
    """Largest bonus of a roll for a spell, with any aid."""
    extra = int64(0)
    for aid in range(duel.n_aids):
        if serves(duel, slot, int64(aid)):
            extra = max(extra, int64(duel.aids[aid].bonus))
    return int64(duel.spells[slot].bonus) + extra


@jit
def serves(duel: Duel, slot: int, aid: int) -> bool:
    """Whether an aid may help to cast a spell."""
    if duel.spells[slot].bound:
        return False
    wizard = duel.aids[aid].wizard
    return bool(wizard == NO_BEARER or wizard == duel.spells[slot].wizard)


@jit(forceinline=False)
def _write_missed(
    duel: Duel, table: DuelTable, slot: int, here: DuelState, lost: int, won: int
) -> None:
    """Write the values after a miscast, with the dice spent, to `table.missed`."""
    values, missed, spell = table.values, table.missed, duel.spells[slot]
    miscast = duel.miscasts[spell.wizard]
    others = here.left
    for k in range(duel.n_spells):
        if duel.spells[k].wizard == spell.wizard and not duel.spells[k].bound:
            others = clear_bits(others, bit(k))
    uses = here.mid % uses_size(duel)
    locked = place_of(duel, others, here.kept, here.mid, here.power)
    no_dice = place_of(duel, here.left, here.kept, uses, int64(0))
    ends = place_of(duel, int64(0), here.kept, here.mid, here.power)
    row = int64(duel.scrolls + 1)
    stops = miscast.locked + miscast.no_dice + miscast.ends + miscast.ends_in_play
    goes_on = 1.0 - stops - miscast.succeeds
    fixed = miscast.succeeds * spell.worth - spell.miscast_cost
    for k in range((duel.dispel + 1) * row):
        scrolls = k % row
        nothing = duel.later[uses, scrolls] + duel.readers_lose[duel.scrolls - scrolls]
        missed[k] = (
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
    """Write the answers to a spell, with the dice spent, and what a miscast leads to.

    Returns:
        The places `lost` and `won`.
    """
    lost = place_of(duel, here.left, here.kept, here.mid, here.power)
    won = place_of(duel, here.left, kept_if_cast(duel, slot, here.kept), here.mid, here.power)
    highest = _lowest_number(duel, slot)
    if not duel.spells[slot].bound:
        highest = _highest_number(duel, slot, _most_dice(duel, slot), _most_bonus(duel, slot))
        _write_missed(duel, table, slot, here, lost, won)
    answer_blocks(duel, table.values, slot, highest, lost, won, table.blocks)
    return lost, won


@jit(forceinline=False)
def value_of_roll(
    duel: Duel, table: DuelTable, slot: int, here: DuelState, dice: int, aid: int
) -> float:
    """Value of rolling for a spell.

    Args:
        duel: the duel.
        table: its values.
        slot: the spell, which is not left, and whose wizard keeps nothing else in play.
        here: with the dice and the aid spent.
        dice: of the roll, those of the aid among them; nothing is rolled for a bound spell.
        aid: that was declared, or NONE.
    """
    behind = here.dispel * (duel.scrolls + 1) + here.scrolls
    lost, won = answers_after(duel, table, slot, here)
    if duel.spells[slot].bound:
        return float(table.blocks[behind])
    roll_block(duel, table, slot, lost, won, dice, aid)
    return float(table.block[behind])


@jit(forceinline=False)
def value_of_cast(duel: Duel, table: DuelTable, slot: int, here: DuelState, aid: int) -> float:
    """Value of casting a spell with the best number of dice, and this aid or NONE.

    As `value_of_roll`, before any dice are spent; own dice go first. It is minus infinity where
    there are no dice, or the aid is not at hand.
    """
    spell = duel.spells[slot]
    extra = int64(0)
    if aid >= 0:
        if not serves(duel, slot, aid) or uses_in(duel, here.mid, aid) == 0:
            return -np.inf
        extra = int64(duel.aids[aid].extra_dice)
    if spell.bound:
        return value_of_roll(duel, table, slot, here, int64(0), int64(NONE))
    own = own_in(duel, here.mid, int64(spell.own)) if spell.own >= 0 else int64(0)
    best = -np.inf
    for dice in range(1, min(int64(spell.cap), own + here.power) + 1):
        ours = min(own, int64(dice))
        mid = spend_dice(duel, here.mid, slot, ours, aid)
        power = int64(here.power - (dice - ours))
        after = DuelState(here.left, here.kept, mid, power, here.dispel, here.scrolls)
        rolled = min(int64(DICE), int64(dice + extra))
        best = max(best, value_of_roll(duel, table, slot, after, rolled, aid))
    return float(best)


@jit(forceinline=False)
def value_of_nomination(duel: Duel, table: DuelTable, slot: int, here: DuelState) -> float:
    """Value of nominating a spell that is left, with the best aid if any."""
    left = clear_bits(here.left, bit(slot))
    kept = kept_after(duel, slot, here.kept)
    after = DuelState(left, kept, here.mid, here.power, here.dispel, here.scrolls)
    best = -np.inf
    for aid in range(NONE, duel.n_aids):
        best = max(best, value_of_cast(duel, table, slot, after, int64(aid)))
    return float(best)


@jit
def whole(duel: Duel) -> DuelState:
    """Return the moment at which everything is left."""
    return DuelState(
        bit(duel.n_spells) - 1, int64(duel.in_play), mid_size(duel) - 1, int64(duel.power),
        int64(duel.dispel), int64(duel.scrolls),
    )  # fmt: skip


@jit(forceinline=False)
def solve_duel(duel: Duel, table: DuelTable) -> None:
    """Fill a duel's table, which has `table_size` entries at least."""
    for left in range(bit(duel.n_spells)):
        for kept in range(bit(duel.n_kept)):
            impossible = int64(0)
            for slot in range(duel.n_spells):
                own = int64(duel.spells[slot].kept)
                if left & bit(slot) and own >= 0:
                    impossible |= kept & bit(own)
            if impossible:
                continue
            _fill_ends(duel, table, int64(left), int64(kept))
            rest = int64(left)
            while rest:
                slot = lowest_bit(rest)
                rest &= rest - 1
                if not kept & duel.spells[slot].barred:
                    _fill_casts(duel, table, int64(left), int64(kept), slot)
            rest = int64(kept)
            while rest:  # a spell in play may be ended
                _fill_end_of(duel, table, int64(left), int64(kept), lowest_bit(rest))
                rest &= rest - 1


@jit(forceinline=False)
def _fill_ends(duel: Duel, table: DuelTable, left: int, kept: int) -> None:
    """Write the values of casting no more."""
    for mid in range(mid_size(duel)):
        for power in range(duel.power + 1):
            place = place_of(duel, left, kept, int64(mid), int64(power))
            for dispel in range(duel.dispel + 1):
                for scrolls in range(duel.scrolls + 1):
                    here = DuelState(
                        left, kept, int64(mid), int64(power), int64(dispel), int64(scrolls)
                    )
                    table.values[place] = end_value(duel, here)
                    place += 1


@jit(forceinline=False)
def _fill_end_of(duel: Duel, table: DuelTable, left: int, kept: int, ended: int) -> None:
    """Raise the values to those of ending a spell in play, wherever that is better."""
    place = place_of(duel, left, kept, int64(0), int64(0))
    ending = place_of(duel, left, clear_bits(kept, bit(ended)), int64(0), int64(0))
    values = table.values
    for k in range(mid_size(duel) * inner_size(duel)):
        values[place + k] = max(values[place + k], values[ending + k])


@jit(forceinline=False)
def _fill_casts(duel: Duel, table: DuelTable, left: int, kept: int, slot: int) -> None:
    """Raise the values to those of casting one spell, wherever that is better.

    It goes from what is left after a cast back to where each number of dice came from.
    """
    spell = duel.spells[slot]
    after = kept_after(duel, slot, kept)
    rest = clear_bits(left, bit(slot))
    cap, place_own = int64(spell.cap), int64(spell.own)
    for mid in range(mid_size(duel)):
        own = own_in(duel, int64(mid), place_own) if place_own >= 0 else int64(0)
        spare = int64(duel.own_dice[place_own]) - own if place_own >= 0 else int64(0)
        for power in range(duel.power + 1):
            here = DuelState(rest, after, int64(mid), int64(power), int64(0), int64(0))
            lost, won = answers_after(duel, table, slot, here)
            if spell.bound:
                _raise(duel, table, table.blocks, place_of(duel, left, kept, int64(mid), power))
                continue
            for aid in range(NONE, duel.n_aids):
                extra = int64(0)
                if aid >= 0:
                    if not serves(duel, slot, int64(aid)):
                        continue
                    if uses_in(duel, int64(mid), int64(aid)) == duel.uses[aid]:
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
                        before = refund_dice(duel, int64(mid), slot, int64(ours), int64(aid))
                        place = place_of(duel, left, kept, before, int64(power + pool))
                        _raise(duel, table, table.block, place)


@jit
def _raise(duel: Duel, table: DuelTable, block: NDArray[np.float64], place: int) -> None:
    """Raise the values from a place on to those of a block."""
    size = int64((duel.dispel + 1) * (duel.scrolls + 1))
    values = table.values[place : place + size]
    for k in range(size):
        values[k] = block[k] if block[k] > values[k] else values[k]
