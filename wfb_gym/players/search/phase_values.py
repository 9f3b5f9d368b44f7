"""Computes the values of the legal actions at a decision from the duel of its magic phase.

A single compiled function, `action_points`, handles every kind of decision that a duel represents.
Phase search and the advice for players call it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records, new_records
from wfb_gym.engine.actions import (
    ACTIONS,
    FIRST_CAST,
    FIRST_DICE,
    FIRST_IN_PLAY,
    FIRST_ITEM,
    FIRST_TARGET,
    FIRST_WIZARD,
    PASS,
)
from wfb_gym.engine.dispelling import bonus_to_dispel, dispel_probability_of
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.morale import points_of_flight_to_come
from wfb_gym.engine.odds import DISPEL_CHANCE, dispel_need
from wfb_gym.engine.queries import (
    attempt_pool,
    bit,
    clear_bits,
    dice_cap,
    dispel_bonus,
    dispels_outright,
    gain,
    number_against,
    opponent_of,
    split_spell,
)
from wfb_gym.engine.state import (
    AfterMiscast,
    DispelAttempt,
    Node,
    State,
    WorkSpace,
    new_work_spaces,
)
from wfb_gym.engine.targets import aim_at, resistance, resistance_of_aim, worth_per_phase
from wfb_gym.packing.records import DispelUse, Duration, PackedScenario
from wfb_gym.players.search.duel import (
    NONE,
    Dispels,
    Duel,
    DuelState,
    DuelTable,
    aid_of,
    blocks_after,
    new_table,
    slot_of,
    spend_dice,
    table_size,
    value_at,
    whole,
)
from wfb_gym.players.search.effect_values import aim_value, value_in_play, value_of_effect
from wfb_gym.players.search.future_phases import (
    FuturePhases,
    fade_of,
    new_future,
    price_later,
    price_of_scroll,
    value_of_later,
)
from wfb_gym.players.search.phase_duel import (
    answer_block,
    end_value,
    solve_duel,
    value_of_cast,
    value_of_nomination,
    value_of_roll,
)
from wfb_gym.players.search.reduction import (
    Terms,
    most_power,
    price_of_boost,
    reader_loses,
    reduce_phase,
    reduce_readers,
)
from wfb_gym.scenario.sizes import ARMIES, DICE, ITEMS, SPELLS

_MOST_PLACES = 200_000  # table size limit for a duel; spells are left out until the duel fits


class Scratch(NamedTuple):
    """Scratch arrays for one search, and values in later phases."""

    duel: Records[Duel]  # (1,)
    dispels: Records[Dispels]  # (ARMIES,)
    table: DuelTable
    future: FuturePhases
    points: NDArray[np.float64]  # (ACTIONS,): values of the legal actions, in their order
    total: NDArray[np.float64]  # (ACTIONS,): sum of the values over sets of hidden items
    work: Records[WorkSpace]  # (1,)


def new_scratch(terms: Terms) -> Scratch:
    """Return scratch arrays for one search."""
    return Scratch(
        new_records(Duel, 1), new_records(Dispels, ARMIES), new_table(_MOST_PLACES),
        new_future(terms), np.zeros(ACTIONS), np.zeros(ACTIONS), new_work_spaces(),
    )  # fmt: skip


@jit(forceinline=False)
def _solve(
    packed: PackedScenario, state: State, most_spells: int, forced: int, scratch: Scratch
) -> bool:
    """Reduce a position to a duel that fits, and solve it; return whether a duel fits."""
    duel, future = scratch.duel[0], scratch.future
    for spells in range(most_spells, -1, -1):
        reduce_phase(packed, state, spells, forced, future.terms, duel, scratch.dispels)
        if table_size(duel) <= scratch.table.values.shape[0]:
            price_later(packed, state, duel, future)
            solve_duel(duel, scratch.table)
            return True
    return False


@jit(forceinline=False)
def action_points(
    packed: PackedScenario, state: State, most_spells: int, every_spell: bool, scratch: Scratch
) -> int:
    """Write the values of a decision's legal actions, for the side to move; return their number.

    Args:
        packed: the battle's scenario.
        state: the position.
        most_spells: maximum number of spells in a duel.
        every_spell: whether to also value the remaining spells, each in a separate duel.
        scratch: arrays; `look_ahead` must have filled `future`. The action values are written to
            `points`; NaN if no duel represents the action.

    """
    work = scratch.work[0]
    count = int64(legal_actions(packed, state, work))
    scratch.points[:count] = np.nan
    node = state.node
    if node == Node.NOMINATE:
        if _solve(packed, state, most_spells, NONE, scratch):
            _value_nominations(count, scratch)
            if every_spell:
                _value_other_spells(packed, state, most_spells, count, scratch)
    elif node == Node.TARGET:
        if state.free:
            _value_free_targets(packed, state, count, scratch)
        elif _solve(packed, state, most_spells - 1, NONE, scratch):
            _value_targets(packed, state, count, scratch)
    elif node in (Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE):
        if _solve(packed, state, most_spells - 1, NONE, scratch):
            _value_dice(packed, state, count, scratch)
    elif node in (Node.DISPEL, Node.DISPEL_RESERVE, Node.DISPEL_POOL):
        if _solve(packed, state, most_spells - 1, NONE, scratch):
            if state.attempt == DispelAttempt.CAST:
                _value_answers(packed, state, count, scratch)
            else:
                _value_own_dispels(packed, state, count, scratch)
    elif node == Node.IN_PLAY:
        if _solve(packed, state, 0, NONE, scratch):
            _value_spells_in_play(packed, state, count, scratch)
    return count


@jit
def is_known(state: State) -> bool:
    """Return whether `action_points` determines the position's value."""
    node = state.node
    if node == Node.TARGET and state.free:  # it only compares the targets
        return False
    return bool(
        node in (Node.NOMINATE, Node.TARGET, Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE)
        or node in (Node.DISPEL, Node.DISPEL_RESERVE, Node.DISPEL_POOL, Node.IN_PLAY)
    )


@jit(forceinline=False)
def position_value(
    packed: PackedScenario, state: State, phase: int, most_spells: int, scratch: Scratch
) -> float:
    """Return the first army's future points, including resources left for later phases.

    All positions that follow one call to `look_ahead` use the same values in later phases, so their
    values are comparable.

    Args:
        packed: the battle's scenario.
        state: a decision that a duel represents, or a position in a later phase.
        phase: the phase in which `look_ahead` was called.
        most_spells: maximum number of spells in a duel.
        scratch: arrays; `future` is only read, the others are overwritten.
    """
    points = float(points_of_flight_to_come(packed, state))
    if state.phase != phase:
        return points + _value_beyond(packed, state, phase, scratch.future)
    count = action_points(packed, state, most_spells, False, scratch)
    best = -np.inf
    for i in range(count):
        if scratch.points[i] > best:
            best = float(scratch.points[i])
    return points + gain(state.mover, best) if best > -np.inf else points


@jit(forceinline=False)
def _value_beyond(packed: PackedScenario, state: State, phase: int, future: FuturePhases) -> float:
    """Return the first army's points after a phase, from unused resources and spells in play."""
    army = int64(state.active)
    if (state.phase - phase) % 2 == 1:
        army = opponent_of(army)
    unused = value_of_later(packed, state, army, future) - future.baseline[0]
    points = gain(army, unused * fade_of(packed, future))
    for side in range(ARMIES):
        for spell in range(packed.armies[side].n_spells):
            if state.in_play[side] & bit(spell):
                worth = value_in_play(packed, state, side, spell, future.terms.lasting)
                if packed.armies[side].spells[spell].duration == Duration.REMAINS_IN_PLAY:
                    paid = float(state.phase - phase)  # scored since then: must not count twice
                    paid *= worth_per_phase(packed, state, side, spell)
                    worth = max(0.0, worth - paid)
                points += gain(side, worth)
    return float(points)


@jit(forceinline=False)
def _value_nominations(count: int, scratch: Scratch) -> None:
    duel, values, legal = scratch.duel[0], scratch.table.values, scratch.work[0].legal
    here = whole(duel)
    for i in range(count):
        code = int64(legal[i])
        if code == PASS:
            scratch.points[i] = end_value(duel, here)
        elif code >= FIRST_IN_PLAY:
            for k in range(duel.n_kept):
                if duel.kept[k].spell == code - FIRST_IN_PLAY and here.in_play & bit(k):
                    rest = clear_bits(here.in_play, bit(k))
                    ended = DuelState(
                        here.left, rest, here.aid_state, here.power, here.dispel, here.scrolls
                    )
                    scratch.points[i] = value_at(duel, values, ended)
        else:
            slot = slot_of(duel, code - FIRST_CAST)
            if slot >= 0:
                scratch.points[i] = value_of_nomination(duel, scratch.table, slot, here)


@jit(forceinline=False)
def _value_other_spells(
    packed: PackedScenario, state: State, most_spells: int, count: int, scratch: Scratch
) -> None:
    """Value the spells outside the duel; each one replaces the duel's worst spell."""
    duel = scratch.duel[0]
    for i in range(count):
        code = int64(scratch.work[0].legal[i])
        if FIRST_CAST <= code < FIRST_IN_PLAY and np.isnan(scratch.points[i]):
            if _solve(packed, state, most_spells, code - FIRST_CAST, scratch):
                slot = slot_of(duel, code - FIRST_CAST)
                if slot >= 0:
                    scratch.points[i] = value_of_nomination(duel, scratch.table, slot, whole(duel))


@jit(forceinline=False)
def _value_free_targets(packed: PackedScenario, state: State, count: int, scratch: Scratch) -> None:
    army, spell = int64(state.mover), int64(state.free - 1)
    lasting = scratch.future.terms.lasting
    for i in range(count):
        aim = aim_at(packed, army, spell, int64(scratch.work[0].legal[i]) - FIRST_TARGET)
        scratch.points[i] = aim_value(packed, state, army, spell, aim, lasting)


@jit(forceinline=False)
def _value_targets(packed: PackedScenario, state: State, count: int, scratch: Scratch) -> None:
    """Value the targets of the spell being cast; other spells use their best target."""
    duel = scratch.duel[0]
    army, spell, slot = int64(state.active), int64(state.spell - 1), int64(duel.n_spells)
    one, lasting = duel.spells[slot], scratch.future.terms.lasting
    for i in range(count):
        aim = aim_at(packed, army, spell, int64(scratch.work[0].legal[i]) - FIRST_TARGET)
        one.worth = value_of_effect(packed, state, army, spell, aim, lasting)
        if one.kept >= 0:
            one.worth -= duel.kept[one.kept].worth
        one.resistance = resistance_of_aim(packed, state, army, spell, aim)
        best = -np.inf
        for aid in range(NONE, duel.n_aids):
            best = max(best, value_of_cast(duel, scratch.table, slot, whole(duel), aid))
        scratch.points[i] = best


@jit(forceinline=False)
def _value_dice(packed: PackedScenario, state: State, count: int, scratch: Scratch) -> None:
    """Value the items and dice for the spell being cast."""
    duel, legal = scratch.duel[0], scratch.work[0].legal
    slot, here = int64(duel.n_spells), whole(duel)
    cap = dice_cap(packed, state, state.active, duel.spells[slot].wizard)
    declared = int64(NONE)
    if state.cast_item:
        declared = aid_of(duel, int64(state.cast_item) - 1)
        if declared < 0:
            return
    for i in range(count):
        code = int64(legal[i])
        if state.node == Node.ITEM:
            aid = int64(NONE) if code == PASS else aid_of(duel, code - FIRST_ITEM)
            if code == PASS or aid >= 0:
                scratch.points[i] = value_of_cast(duel, scratch.table, slot, here, aid)
            continue
        own, least, most = int64(state.reserve), code - FIRST_DICE, code - FIRST_DICE
        if state.node == Node.RESERVE_DICE:
            own = code - FIRST_DICE
            least = int64(0 if own > 0 else 1)
            most = min(int64(state.power), cap - own)
        if own > 0 and duel.spells[slot].own < 0:
            continue
        best = -np.inf
        for pool in range(least, most + 1):
            extra = int64(duel.aids[declared].extra_dice) if declared >= 0 else int64(0)
            aid_state = spend_dice(duel, here.aid_state, slot, own, declared)
            power = here.power - pool
            after = DuelState(here.left, here.in_play, aid_state, power, here.dispel, here.scrolls)
            rolled = min(DICE, own + pool + extra)
            best = max(best, value_of_roll(duel, scratch.table, slot, after, rolled, declared))
        scratch.points[i] = best


@jit(forceinline=False)
def _value_answers(packed: PackedScenario, state: State, count: int, scratch: Scratch) -> None:
    """Value the dispeller's responses to a spell that has been cast."""
    duel, values, legal = scratch.duel[0], scratch.table.values, scratch.work[0].legal
    slot, mover = int64(duel.n_spells), int64(state.mover)
    lasting = scratch.future.terms.lasting
    lost, won = blocks_after(duel, slot, whole(duel))
    dispel, scrolls, row = duel.dispel, duel.scrolls, duel.scrolls + 1
    worth, added = duel.spells[slot].worth, resistance(packed, state)
    bonus = bonus_to_dispel(packed, state)
    for i in range(count):
        code = int64(legal[i])
        if code == PASS:
            scratch.points[i] = -(worth + values[won + dispel * row + scrolls])
        elif code < FIRST_ITEM:
            thrown = code - FIRST_DICE
            chance = dispel_probability_of(packed, state, min(DICE, thrown + added))
            behind = (dispel - thrown) * row + scrolls
            failed = worth + values[won + behind]
            scratch.points[i] = -(chance * values[lost + behind] + (1.0 - chance) * failed)
        elif code < FIRST_WIZARD:
            entry = packed.armies[mover].items[code - FIRST_ITEM]
            if entry.dispel_use == DispelUse.AUTOMATIC:
                if scrolls > 0:
                    scratch.points[i] = -values[lost + dispel * row + scrolls - 1]
            elif entry.dispel_use_bonus > 0:
                more = int64(state.number) - (bonus - duel.dispel_bonus) - entry.dispel_use_bonus
                answer_block(duel, values, slot, more, lost, won, scratch.table.block)
                value = scratch.table.block[dispel * row + scrolls]
                uses = int64(state.items[mover, code - FIRST_ITEM])
                price = price_of_boost(packed, state, duel.greatest, uses)
                scratch.points[i] = -(value + price)
    for i in range(count):  # scrolls that cost their reader more spells in play than the cheapest
        item = int64(legal[i]) - FIRST_ITEM
        if not (0 <= item < ITEMS and scrolls > 0 and dispels_outright(packed, state, mover, item)):
            continue
        if reader_loses(packed, state, item, lasting) > duel.scroll_reader_loss[1]:
            reduce_readers(packed, state, lasting, item, duel, scratch.dispels[mover])
            solve_duel(duel, scratch.table)
            scratch.points[i] = -values[lost + dispel * row + scrolls - 1]
            reduce_readers(packed, state, lasting, NONE, duel, scratch.dispels[mover])


@jit
def _standing(state: State, duel: Duel) -> float:
    """Return the mover's value of spells in play, after the other side's later dispels."""
    value = float(duel.base_points)
    for k in range(duel.n_kept):
        if duel.in_play & bit(k):
            value += duel.kept[k].worth
    if state.mover == state.active:
        return value
    return -float(value + duel.by_power[0, duel.power])


@jit(forceinline=False)
def _after_own_dispel(state: State, power: int, scratch: Scratch) -> float:
    """Return the mover's value after its dispel leaves `power` shared dice."""
    duel = scratch.duel[0]
    if state.attempt == DispelAttempt.IN_PLAY:
        dispels = scratch.dispels[opponent_of(state.mover)]
        most = float(dispels.most[bit(dispels.count) - 1, min(DICE, power)])
        return _standing(state, duel) + most
    casts = state.after_miscast == AfterMiscast.CAST_AGAIN
    here = whole(duel)
    left = here.left if casts else int64(0)
    after = DuelState(left, here.in_play, here.aid_state, power, here.dispel, here.scrolls)
    return value_at(duel, scratch.table.values, after)


@jit(forceinline=False)
def _value_own_dispels(packed: PackedScenario, state: State, count: int, scratch: Scratch) -> None:
    """Value the dice against a spell in play, or the active army's dice against a free spell."""
    legal, mover = scratch.work[0].legal, int64(state.mover)
    pool, lasting = int64(attempt_pool(state)), scratch.future.terms.lasting
    if state.attempt == DispelAttempt.IN_PLAY:
        owner, target = split_spell(state.target - 1)
        worth = value_in_play(packed, state, owner, target, lasting)
        if owner == mover:
            worth = -worth
    else:
        spell, aim = int64(state.free - 1), int64(state.free_aim) - 1
        worth = value_of_effect(packed, state, opponent_of(mover), spell, aim, lasting)
    added = resistance(packed, state)
    for i in range(count):
        code = int64(legal[i])
        # minimum and maximum number of the wizard's own dice, then of shared dice
        own, most_own, least, most = int64(0), int64(0), int64(0), int64(0)
        if state.node == Node.DISPEL_POOL:
            own = most_own = int64(state.reserve)
            least = most = code - FIRST_DICE
        elif state.node == Node.DISPEL_RESERVE:
            own = most_own = code - FIRST_DICE
            most = pool
        elif code >= FIRST_WIZARD:
            own = int64(1)
            most_own = int64(state.own_dice[code - FIRST_WIZARD])
            most = pool
        elif code >= FIRST_ITEM:
            entry = packed.armies[mover].items[code - FIRST_ITEM]
            if entry.dispel_use == DispelUse.AUTOMATIC:
                price = price_of_scroll(packed, opponent_of(mover), scratch.future)
                scratch.points[i] = _after_own_dispel(state, pool, scratch) - price
            continue
        elif code == PASS:
            scratch.points[i] = _after_own_dispel(state, pool, scratch)
            if state.attempt == DispelAttempt.FREE:
                scratch.points[i] -= worth
            continue
        else:
            least = most = code - FIRST_DICE
        best = -np.inf
        for ours in range(own, most_own + 1):
            for shared in range(least, most + 1):
                dice = min(DICE, ours + shared + added)
                saved = dispel_probability_of(packed, state, dice) * worth
                if state.attempt == DispelAttempt.FREE:
                    saved -= worth
                best = max(best, saved + _after_own_dispel(state, pool - shared, scratch))
        scratch.points[i] = best


@jit(forceinline=False)
def _value_spells_in_play(
    packed: PackedScenario, state: State, count: int, scratch: Scratch
) -> None:
    """Value the spells in play that the mover may try to dispel."""
    mover = int64(state.mover)
    bonus = dispel_bonus(packed, state, mover)
    dispels, lasting = scratch.dispels[opponent_of(mover)], scratch.future.terms.lasting
    dice = most_power(state) if mover == state.active else int64(state.dispel)
    standing = _standing(state, scratch.duel[0])
    for i in range(count):
        code = int64(scratch.work[0].legal[i])
        if code == PASS:
            scratch.points[i] = standing
            continue
        index = code - FIRST_IN_PLAY
        owner = mover if index < SPELLS else opponent_of(mover)
        spell = index % SPELLS
        rest = bit(dispels.count) - 1
        for k in range(dispels.count):
            if owner != mover and dispels.spells[k].spell == spell:
                rest = clear_bits(rest, bit(k))
        worth = value_in_play(packed, state, owner, spell, lasting)
        if owner == mover:
            worth = -worth
        need = dispel_need(number_against(packed, owner * SPELLS + spell), bonus)
        best = -np.inf
        for thrown in range(1, dice + 1):
            gained = DISPEL_CHANCE[scratch.duel[0].double_six, need, thrown] * worth
            best = max(best, gained + dispels.most[rest, dice - thrown])
        scratch.points[i] = standing + best
