"""Exact values of a magic phase that has been simplified to a duel.

The value of a position in the duel (`wfb_gym.players.search.duel`) depends only on positions with
fewer castable spells, so a single pass over a table computes all values. Dice probabilities come
from `wfb_gym.engine.odds` and `wfb_gym.rules.casting`.

Values are the active army's future points in this phase. Either army can be the active one.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.odds import DISPEL_CHANCE, HIGHEST_NEED, dispel_need
from wfb_gym.engine.outcomes import (
    ROLL_SUMMARY_ONES,
    ROLL_SUMMARY_PROBABILITY,
    ROLL_SUMMARY_SIXES,
    ROLL_SUMMARY_START,
    ROLL_SUMMARY_TOTAL,
)
from wfb_gym.engine.queries import bit, clear_bits, lowest_bit
from wfb_gym.players.search.duel import (
    NONE,
    Dispels,
    Duel,
    DuelState,
    DuelTable,
    block_size,
    blocks_after,
    inner_size,
    kept_after,
    mid_size,
    own_in,
    place_of,
    refund_dice,
    serves,
    spend_dice,
    uses_in,
    uses_size,
)
from wfb_gym.rules.casting import is_cast, natural_result_of_cast
from wfb_gym.rules.dice import FACES, NaturalResult
from wfb_gym.scenario.sizes import DICE

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
"""Probabilities of casting rolls, indexed by whether the roll may be irresistible and by number of
dice. Rolls that are neither irresistible nor a miscast are also indexed by total."""


@jit(forceinline=False)
def most_by_dispels(duel: Duel, dispels: Dispels, bonus: int, dice: int) -> None:
    """Fill `dispels.most` for 0 to `dice` dice; each spell in play may be tried once."""
    chances = DISPEL_CHANCE[duel.double_six]
    for left in range(bit(dispels.count)):
        for have in range(dice + 1):
            most = 0.0
            rest = int64(left)
            while rest:
                k = lowest_bit(rest)
                rest &= rest - 1
                need = dispel_need(dispels.spells[k].number, bonus)
                after = clear_bits(left, bit(k))
                for thrown in range(have + 1):
                    gained = chances[need, thrown] * dispels.spells[k].worth
                    most = max(most, gained + dispels.most[after, have - thrown])
            dispels.most[left, have] = most


@jit(forceinline=False)
def end_value(duel: Duel, here: DuelState) -> float:
    """Return the value after the last cast: spells in play, and resources left for later phases."""
    value = duel.base_points - duel.by_dispel[here.in_play, here.dispel]
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


@jit
def _highest_number(duel: Duel, slot: int, dice: int, bonus: int) -> int:
    """Return the largest number to match that makes a difference.

    Higher numbers are out of reach for the casting roll or for all dispel rolls.
    """
    spell = duel.spells[slot]
    thrown = min(DICE, duel.dispel + spell.resistance)
    out_of_reach = min(HIGHEST_NEED, FACES * thrown + duel.dispel_bonus + 1)
    return max(spell.casting_value, min(FACES * dice + bonus, out_of_reach))


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
    """Write the values of a spell that has been cast and may be dispelled.

    Args:
        duel: the duel.
        values: the duel's table.
        slot: the spell's index in `Duel.spells`.
        number: number that a dispel roll must match.
        lost: table index of the block that follows if the spell is dispelled.
        won: table index of the block that follows if it takes effect.
        block: overwritten.
    """
    worth = duel.spells[slot].worth
    row, size = duel.scrolls + 1, block_size(duel)
    dispelled = values[lost : lost + size]
    taking_effect = values[won : won + size]
    for k in range(size):
        block[k] = worth + taking_effect[k]
    for k in range(1, size):
        if k % row and dispelled[k - 1] < block[k]:  # read a scroll
            block[k] = dispelled[k - 1]
    resistance = duel.spells[slot].resistance
    chances = DISPEL_CHANCE[duel.double_six, dispel_need(number, duel.dispel_bonus)]
    for dice in range(0 if resistance > 0 else 1, duel.dispel + 1):
        chance = chances[min(DICE, dice + resistance)]
        if chance > 0.0:
            failing = 1.0 - chance
            answered = block[dice * row : size]
            for k in range(size - dice * row):
                value = chance * dispelled[k] + failing * (worth + taking_effect[k])
                answered[k] = value if value < answered[k] else answered[k]


@jit(forceinline=False)
def roll_block(
    duel: Duel, table: DuelTable, slot: int, lost: int, won: int, dice: int, aid: int
) -> None:
    """Write the values of rolling for a spell to `table.block`.

    Args:
        duel: the duel.
        table: the duel's values; `answers_after` must have filled `blocks` and `miscast_values`.
        slot: the spell's index in `Duel.spells`; not a bound spell.
        lost: see `answer_block`.
        won: see `answer_block`.
        dice: number of dice, including the aid's.
        aid: the declared aid, or NONE.
    """
    values, blocks, block, miscast_values = table
    spell, size = duel.spells[slot], block_size(duel)
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
    highest = _highest_number(duel, slot, dice, bonus)
    fixed = irresistible * spell.worth
    for k in range(size):
        block[k] = fixed + irresistible * taking_effect[k] + miscast * miscast_values[k]
    for total in range(dice, FACES * dice + 1):
        probability = _PLAIN[may_be, dice, total]
        if probability == 0.0:
            continue
        if not is_cast(total, bonus, spell.casting_value):
            failing += probability
            continue
        first = (min(total + bonus, highest) - spell.casting_value) * size
        answers = blocks[first : first + size]
        for k in range(size):
            block[k] += probability * answers[k]
    for k in range(size):
        block[k] += failing * failed[k]


@jit
def _most_of_roll(duel: Duel, slot: int) -> tuple[int, int]:
    """Return the maximum dice and the largest bonus for a spell's roll, with any aid."""
    spell = duel.spells[slot]
    dice, bonus = int64(0), int64(0)
    for aid in range(duel.n_aids):
        if serves(duel, slot, aid):
            dice = max(dice, duel.aids[aid].extra_dice)
            bonus = max(bonus, duel.aids[aid].bonus)
    return min(DICE, spell.cap + dice), spell.bonus + bonus


@jit(forceinline=False)
def _write_miscast_values(
    duel: Duel, table: DuelTable, slot: int, here: DuelState, lost: int, won: int
) -> None:
    """Write the values after a miscast, once the dice are spent, to `table.miscast_values`."""
    values, miscast_values, spell = table.values, table.miscast_values, duel.spells[slot]
    miscast = duel.miscasts[spell.wizard]
    others = here.left
    for k in range(duel.n_spells):
        if duel.spells[k].wizard == spell.wizard and not duel.spells[k].bound:
            others = clear_bits(others, bit(k))
    uses = here.aid_state % uses_size(duel)
    locked = place_of(duel, others, here.in_play, here.aid_state, here.power)
    no_dice = place_of(duel, here.left, here.in_play, uses, 0)
    ends = place_of(duel, 0, here.in_play, here.aid_state, here.power)
    stops = miscast.locked + miscast.no_dice + miscast.ends + miscast.ends_in_play
    goes_on = 1.0 - stops - miscast.succeeds
    fixed = miscast.succeeds * spell.worth - spell.miscast_cost
    row = duel.scrolls + 1
    for k in range(block_size(duel)):
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
    """Fill `table.blocks` and `table.miscast_values` for a spell once its dice are spent.

    Returns:
        The table indices `lost` and `won`; see `answer_block`.
    """
    lost, won = blocks_after(duel, slot, here)
    lowest = highest = int64(duel.spells[slot].casting_value)
    if not duel.spells[slot].bound:
        dice, bonus = _most_of_roll(duel, slot)
        highest = int64(_highest_number(duel, slot, dice, bonus))
        _write_miscast_values(duel, table, slot, here, lost, won)
    size = block_size(duel)
    for number in range(lowest, highest + 1):
        first = (number - lowest) * size
        block = table.blocks[first : first + size]
        answer_block(duel, table.values, slot, number, lost, won, block)
    return lost, won


@jit(forceinline=False)
def value_of_roll(
    duel: Duel, table: DuelTable, slot: int, here: DuelState, dice: int, aid: int
) -> float:
    """Return the value of rolling for a spell.

    Args:
        duel: the duel.
        table: the duel's values.
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
    """Return the value of casting a spell with this aid (or NONE) and the best number of dice.

    Like `value_of_roll`, except that `here` still has all dice. The wizard's own dice are spent
    first. The value is minus infinity if there are no dice or the aid cannot be used.
    """
    spell = duel.spells[slot]
    extra = int64(0)
    if aid >= 0:
        if not serves(duel, slot, aid) or uses_in(duel, here.aid_state, aid) == 0:
            return -np.inf
        extra = int64(duel.aids[aid].extra_dice)
    if spell.bound:
        return value_of_roll(duel, table, slot, here, 0, NONE)
    own = own_in(duel, here.aid_state, spell.own) if spell.own >= 0 else int64(0)
    best = -np.inf
    for dice in range(1, min(spell.cap, own + here.power) + 1):
        ours = min(own, dice)
        aid_state = spend_dice(duel, here.aid_state, slot, ours, aid)
        power = here.power - (dice - ours)
        after = DuelState(here.left, here.in_play, aid_state, power, here.dispel, here.scrolls)
        rolled = min(DICE, dice + extra)
        best = max(best, value_of_roll(duel, table, slot, after, rolled, aid))
    return float(best)


@jit(forceinline=False)
def value_of_nomination(duel: Duel, table: DuelTable, slot: int, here: DuelState) -> float:
    """Return the value of nominating a spell in `left`, with the best aid or none."""
    left = clear_bits(here.left, duel.spells[slot].attempt)
    in_play = kept_after(duel, slot, here.in_play)
    after = DuelState(left, in_play, here.aid_state, here.power, here.dispel, here.scrolls)
    best = -np.inf
    for aid in range(NONE, duel.n_aids):
        best = max(best, value_of_cast(duel, table, slot, after, aid))
    return float(best)


@jit(forceinline=False)
def solve_duel(duel: Duel, table: DuelTable) -> None:
    """Fill a duel's table, which must have at least `table_size` entries."""
    for left in range(bit(duel.n_spells)):
        for in_play in range(bit(duel.n_kept)):
            impossible = int64(0)
            for slot in range(duel.n_spells):
                own = int64(duel.spells[slot].kept)
                if left & bit(slot) and own >= 0:
                    impossible |= in_play & bit(own)
            if impossible:
                continue
            _fill_ends(duel, table, left, in_play)
            rest = int64(left)
            while rest:
                slot = lowest_bit(rest)
                rest &= rest - 1
                if not in_play & duel.spells[slot].barred:
                    _fill_casts(duel, table, left, in_play, slot)
            rest = int64(in_play)
            while rest:  # the caster may end a spell in play
                _fill_end_of(duel, table, left, in_play, lowest_bit(rest))
                rest &= rest - 1


@jit(forceinline=False)
def _fill_ends(duel: Duel, table: DuelTable, left: int, in_play: int) -> None:
    """Write the values of casting no more spells."""
    for aid_state in range(mid_size(duel)):
        for power in range(duel.power + 1):
            place = place_of(duel, left, in_play, aid_state, power)
            for dispel in range(duel.dispel + 1):
                for scrolls in range(duel.scrolls + 1):
                    here = DuelState(left, in_play, aid_state, power, dispel, scrolls)
                    table.values[place] = end_value(duel, here)
                    place += 1


@jit(forceinline=False)
def _fill_end_of(duel: Duel, table: DuelTable, left: int, in_play: int, ended: int) -> None:
    """Raise the values of positions in which ending a spell in play is better."""
    place = place_of(duel, left, in_play, 0, 0)
    ending = place_of(duel, left, clear_bits(in_play, bit(ended)), 0, 0)
    values = table.values
    for k in range(mid_size(duel) * inner_size(duel)):
        values[place + k] = max(values[place + k], values[ending + k])


@jit(forceinline=False)
def _fill_casts(duel: Duel, table: DuelTable, left: int, in_play: int, slot: int) -> None:
    """Raise the values of positions in which casting one spell is better.

    For each set of resources after the cast, it updates every position from which some number of
    dice leads there, so each block is computed only once.
    """
    spell = duel.spells[slot]
    after = kept_after(duel, slot, in_play)
    rest = clear_bits(left, spell.attempt)
    for aid_state in range(mid_size(duel)):
        own, spare = int64(0), int64(0)
        if spell.own >= 0:
            own = own_in(duel, aid_state, spell.own)
            spare = duel.own_dice[spell.own] - own
        for power in range(duel.power + 1):
            here = DuelState(rest, after, aid_state, power, int64(0), int64(0))
            lost, won = answers_after(duel, table, slot, here)
            if spell.bound:
                place = place_of(duel, left, in_play, aid_state, power)
                _raise_to_block(duel, table, table.blocks, place)
                continue
            for aid in range(NONE, duel.n_aids):
                extra = int64(0)
                if aid >= 0:
                    if not serves(duel, slot, aid):
                        continue
                    if uses_in(duel, aid_state, aid) == duel.uses[aid]:
                        continue
                    extra = int64(duel.aids[aid].extra_dice)
                for dice in range(1, spell.cap + 1):
                    rolled = min(DICE, dice + extra)
                    written = False
                    for ours in range(min(dice, spare) + 1):
                        pool = dice - ours
                        if power + pool > duel.power or (pool > 0 and own > 0):
                            continue  # own dice go first
                        if not written:
                            roll_block(duel, table, slot, lost, won, rolled, aid)
                            written = True
                        before = refund_dice(duel, aid_state, slot, ours, aid)
                        place = place_of(duel, left, in_play, before, power + pool)
                        _raise_to_block(duel, table, table.block, place)


@jit
def _raise_to_block(duel: Duel, table: DuelTable, block: NDArray[np.float64], place: int) -> None:
    """Raise the values at a table index to a block's values where these are greater."""
    size = block_size(duel)
    values = table.values[place : place + size]
    for k in range(size):
        values[k] = block[k] if block[k] > values[k] else values[k]
