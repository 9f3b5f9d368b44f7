"""What the legal actions of a decision in a magic phase are worth, by the duel it is reduced to.

One compiled function, `action_points`, for every kind of decision that a duel knows. What its
numbers are used for (a player, advice) does not live here.
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
from wfb_gym.engine.dispelling import bonus_to_dispel
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.odds import DISPEL_CHANCE, dispel_need
from wfb_gym.engine.queries import (
    attempt_pool,
    bit,
    clear_bits,
    dice_cap,
    dispel_bonus,
    dispels_outright,
    number_against,
    opponent_of,
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
from wfb_gym.players.search.future_phases import (
    FuturePhases,
    fade_of,
    new_ahead,
    price_later,
    price_of_scroll,
    value_of_later,
)
from wfb_gym.players.search.phase_duel import (
    NONE,
    Dispels,
    Duel,
    DuelState,
    DuelTable,
    answer_block,
    end_value,
    kept_if_cast,
    new_table,
    place_of,
    solve_duel,
    spend_dice,
    table_size,
    value_at,
    value_of_cast,
    value_of_nomination,
    value_of_roll,
    whole,
)
from wfb_gym.players.search.reduction import (
    Scores,
    Terms,
    aim_value,
    most_power,
    new_scores,
    price_of_boost,
    reader_loses,
    reduce_phase,
    reduce_readers,
    value_in_play,
    value_of_effect,
)
from wfb_gym.scenario.sizes import ARMIES, DICE, ITEMS, SPELLS

_MOST_PLACES = 200_000
"""Places of a duel's table; with more, a spell less is looked at."""


class Scratch(NamedTuple):
    """What one search works with."""

    duel: Records[Duel]  # (1,)
    dispels: Records[Dispels]  # (ARMIES,)
    table: DuelTable
    ahead: FuturePhases
    scores: Scores
    points: NDArray[np.float64]  # (ACTIONS,): of the legal actions, in their order
    work: Records[WorkSpace]  # (1,)


def new_scratch() -> Scratch:
    """Room for a search."""
    return Scratch(
        new_records(Duel, 1), new_records(Dispels, ARMIES), new_table(_MOST_PLACES), new_ahead(),
        new_scores(), np.zeros(ACTIONS), new_work_spaces(),
    )  # fmt: skip


@jit(forceinline=False)
def _solve(
    packed: PackedScenario, state: State, most_spells: int, forced: int, terms: Terms, room: Scratch
) -> bool:
    """Reduce a position to a duel that fits, and solve it; whether one does."""
    duel = room.duel[0]
    for spells in range(most_spells, -1, -1):
        reduce_phase(packed, state, int64(spells), forced, terms, room.scores, duel, room.dispels)
        if table_size(duel) <= room.table.values.shape[0]:
            price_later(packed, state, duel, int64(state.active), terms, room.ahead)
            solve_duel(duel, room.table)
            return True
    return False


@jit(forceinline=False)
def action_points(
    packed: PackedScenario,
    state: State,
    most_spells: int,
    every_spell: bool,
    terms: Terms,
    room: Scratch,
) -> int:
    """Write what the legal actions of a decision are worth to its mover, where a duel tells.

    Args:
        packed: the battle's scenario.
        state: the position.
        most_spells: that are looked at.
        every_spell: whether those that are not are valued too, each in a duel of its own.
        terms: what phases are reduced by.
        room: `look_ahead` has filled its `ahead`. Its `points` are overwritten: those of an action
            that no duel knows are not numbers.

    Returns:
        The number of legal actions.
    """
    work = room.work[0]
    count = int64(legal_actions(packed, state, work))
    room.points[:count] = np.nan
    node = state.node
    if node == Node.NOMINATE:
        if _solve(packed, state, most_spells, int64(NONE), terms, room):
            _value_nominations(count, room)
            if every_spell:
                _value_other_spells(packed, state, most_spells, count, terms, room)
    elif node == Node.TARGET:
        if state.free:
            _value_free_targets(packed, state, count, room)
        elif _solve(packed, state, most_spells - 1, int64(NONE), terms, room):
            _value_targets(packed, state, count, room)
    elif node in (Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE):
        if _solve(packed, state, most_spells - 1, int64(NONE), terms, room):
            _value_dice(packed, state, count, room)
    elif node in (Node.DISPEL, Node.DISPEL_RESERVE, Node.DISPEL_POOL):
        if _solve(packed, state, most_spells - 1, int64(NONE), terms, room):
            if state.attempt == DispelAttempt.CAST:
                _value_answers(packed, state, count, terms, room)
            else:
                _value_own_dispels(packed, state, count, terms, room)
    elif node == Node.IN_PLAY:
        if _solve(packed, state, int64(0), int64(NONE), terms, room):
            _value_spells_in_play(packed, state, count, room)
    return count


@jit
def is_known(state: State) -> bool:
    """Whether `action_points` values what follows; of a free spell it only compares the targets."""
    node = state.node
    if node == Node.TARGET and state.free:
        return False
    return bool(
        node in (Node.NOMINATE, Node.TARGET, Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE)
        or node in (Node.DISPEL, Node.DISPEL_RESERVE, Node.DISPEL_POOL, Node.IN_PLAY)
    )


@jit(forceinline=False)
def position_value(
    packed: PackedScenario, state: State, phase: int, most_spells: int, terms: Terms, room: Scratch
) -> float:
    """Points still to come for the first army in a phase, and from what is kept beyond it.

    What is kept counts as `room.ahead` says, which looks ahead from an earlier position of the
    phase; so positions behind that one compare.

    Args:
        packed: the battle's scenario.
        state: a decision that a duel knows, or a decision of a later phase.
        phase: that was looked ahead from.
        most_spells: that are looked at.
        terms: what phases are reduced by.
        room: scratch, but for `ahead`.
    """
    if state.phase != phase:
        return _value_beyond(packed, state, phase, terms, room.ahead)
    count = action_points(packed, state, most_spells, False, terms, room)
    best = -np.inf
    for i in range(count):
        if room.points[i] > best:
            best = float(room.points[i])
    if best == -np.inf:
        return 0.0
    return float(best if state.mover == 0 else -best)


@jit(forceinline=False)
def _value_beyond(
    packed: PackedScenario, state: State, phase: int, terms: Terms, ahead: FuturePhases
) -> float:
    """Points of the first army from what is left when a phase is over."""
    army = int64(state.active)
    if (state.phase - phase) % 2 == 1:
        army = opponent_of(army)
    kept = value_of_later(packed, state, army, ahead) - ahead.nothing[0]
    kept *= fade_of(packed, terms)
    points = kept if army == 0 else -kept
    for side in range(ARMIES):
        for spell in range(packed.armies[side].n_spells):
            if state.in_play[side] & bit(spell):
                worth = value_in_play(packed, state, side, spell, ahead.lasting)
                if packed.armies[side].spells[spell].duration == Duration.REMAINS_IN_PLAY:
                    paid = float(state.phase - phase)  # in the phase that is over
                    paid *= worth_per_phase(packed, state, side, spell)
                    worth = max(0.0, worth - paid) if worth > 0.0 else min(0.0, worth - paid)
                points += worth if side == 0 else -worth
    return float(points)


@jit
def slot_of(duel: Duel, spell: int) -> int:
    """Place of a spell among those that may be cast, or NONE."""
    for slot in range(duel.n_spells):
        if duel.spells[slot].spell == spell:
            return int64(slot)
    return int64(NONE)


@jit
def _aid_of(duel: Duel, item: int) -> int:
    """Place of an item among those that help a cast, or NONE."""
    for aid in range(duel.n_aids):
        if duel.aids[aid].item == item:
            return int64(aid)
    return int64(NONE)


@jit(forceinline=False)
def _value_nominations(count: int, room: Scratch) -> None:
    duel, values, legal = room.duel[0], room.table.values, room.work[0].legal
    here = whole(duel)
    for i in range(count):
        code = int64(legal[i])
        if code == PASS:
            room.points[i] = end_value(duel, here)
        elif code >= FIRST_IN_PLAY:
            for k in range(duel.n_kept):
                if duel.kept[k].spell == code - FIRST_IN_PLAY and here.in_play & bit(k):
                    rest = clear_bits(here.in_play, bit(k))
                    ended = DuelState(
                        here.left, rest, here.aid_state, here.power, here.dispel, here.scrolls
                    )
                    room.points[i] = value_at(duel, values, ended)
        else:
            slot = slot_of(duel, code - FIRST_CAST)
            if slot >= 0:
                room.points[i] = value_of_nomination(duel, room.table, slot, here)


@jit(forceinline=False)
def _value_other_spells(
    packed: PackedScenario, state: State, most_spells: int, count: int, terms: Terms, room: Scratch
) -> None:
    """Value the spells that are not among the best, each in place of the least of these."""
    duel = room.duel[0]
    for i in range(count):
        code = int64(room.work[0].legal[i])
        if FIRST_CAST <= code < FIRST_IN_PLAY and np.isnan(room.points[i]):
            if _solve(packed, state, most_spells, code - FIRST_CAST, terms, room):
                slot = slot_of(duel, code - FIRST_CAST)
                if slot >= 0:
                    room.points[i] = value_of_nomination(duel, room.table, slot, whole(duel))


@jit(forceinline=False)
def _value_free_targets(packed: PackedScenario, state: State, count: int, room: Scratch) -> None:
    army, spell = int64(state.mover), int64(state.free - 1)
    for i in range(count):
        aim = aim_at(packed, army, spell, int64(room.work[0].legal[i]) - FIRST_TARGET)
        room.points[i] = aim_value(packed, state, army, spell, aim, room.ahead.lasting)


@jit(forceinline=False)
def _value_targets(packed: PackedScenario, state: State, count: int, room: Scratch) -> None:
    """Value the targets of the spell that is being cast, the others taken at their best."""
    duel = room.duel[0]
    army, spell, slot = int64(state.active), int64(state.spell - 1), int64(duel.n_spells)
    one = duel.spells[slot]
    for i in range(count):
        aim = aim_at(packed, army, spell, int64(room.work[0].legal[i]) - FIRST_TARGET)
        one.worth = value_of_effect(packed, state, army, spell, aim, room.ahead.lasting)
        if one.kept >= 0:
            one.worth -= duel.kept[one.kept].worth
        one.resistance = resistance_of_aim(packed, state, army, spell, aim)
        best = -np.inf
        for aid in range(NONE, duel.n_aids):
            best = max(best, value_of_cast(duel, room.table, slot, whole(duel), int64(aid)))
        room.points[i] = best


@jit(forceinline=False)
def _value_dice(packed: PackedScenario, state: State, count: int, room: Scratch) -> None:
    """Value the items and the dice for the spell that is being cast."""
    duel, legal = room.duel[0], room.work[0].legal
    slot, here = int64(duel.n_spells), whole(duel)
    cap = dice_cap(packed, state, int64(state.active), int64(duel.spells[slot].wizard))
    declared = int64(NONE)
    if state.cast_item:
        declared = _aid_of(duel, int64(state.cast_item) - 1)
        if declared < 0:
            return
    for i in range(count):
        code = int64(legal[i])
        if state.node == Node.ITEM:
            aid = int64(NONE) if code == PASS else _aid_of(duel, code - FIRST_ITEM)
            if code == PASS or aid >= 0:
                room.points[i] = value_of_cast(duel, room.table, slot, here, aid)
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
            power = int64(here.power - pool)
            after = DuelState(here.left, here.in_play, aid_state, power, here.dispel, here.scrolls)
            rolled = min(int64(DICE), int64(own + pool + extra))
            value = value_of_roll(duel, room.table, slot, after, rolled, declared)
            best = max(best, value)
        room.points[i] = best


@jit(forceinline=False)
def _value_answers(
    packed: PackedScenario, state: State, count: int, terms: Terms, room: Scratch
) -> None:
    """Value what the dispeller may do about a spell that has been cast."""
    duel, values, legal = room.duel[0], room.table.values, room.work[0].legal
    slot, mover = int64(duel.n_spells), int64(state.mover)
    here, row = whole(duel), duel.scrolls + 1
    lost = place_of(duel, here.left, here.in_play, here.aid_state, here.power)
    won = place_of(
        duel, here.left, kept_if_cast(duel, slot, here.in_play), here.aid_state, here.power
    )
    dispel, scrolls = here.dispel, here.scrolls
    worth, added = duel.spells[slot].worth, resistance(packed, state)
    bonus = bonus_to_dispel(packed, state)
    for i in range(count):
        code = int64(legal[i])
        if code == PASS:
            room.points[i] = -(worth + values[won + dispel * row + scrolls])
        elif code < FIRST_ITEM:
            thrown = code - FIRST_DICE
            need = dispel_need(int64(state.number), bonus)
            chance = DISPEL_CHANCE[duel.double_six, need, min(DICE, thrown + added)]
            behind = (dispel - thrown) * row + scrolls
            failed = worth + values[won + behind]
            room.points[i] = -(chance * values[lost + behind] + (1.0 - chance) * failed)
        elif code < FIRST_WIZARD:
            entry = packed.armies[mover].items[code - FIRST_ITEM]
            if entry.dispel_use == DispelUse.AUTOMATIC:
                if scrolls > 0:
                    room.points[i] = -values[lost + dispel * row + scrolls - 1]
            elif entry.dispel_use_bonus > 0:
                more = int64(state.number) - (bonus - duel.dispel_bonus) - entry.dispel_use_bonus
                answer_block(duel, values, slot, more, lost, won, room.table.block)
                value = room.table.block[dispel * row + scrolls]
                uses = int64(state.items[mover, code - FIRST_ITEM])
                price = price_of_boost(packed, state, duel.greatest, uses)
                room.points[i] = -(value + price)
    for i in range(count):  # scrolls that end more spells of their readers than the cheapest
        item = int64(legal[i]) - FIRST_ITEM
        if not (0 <= item < ITEMS and scrolls > 0 and dispels_outright(packed, state, mover, item)):
            continue
        if reader_loses(packed, state, item, terms.lasting) > duel.scroll_reader_loss[1]:
            reduce_readers(packed, state, terms.lasting, item, duel, room.dispels[mover])
            solve_duel(duel, room.table)
            room.points[i] = -values[lost + dispel * row + scrolls - 1]
            reduce_readers(packed, state, terms.lasting, int64(NONE), duel, room.dispels[mover])


@jit
def _chance(packed: PackedScenario, state: State, dice: int) -> float:
    """Chance that the pending dispel works with so many dice of the mover's."""
    need = dispel_need(int64(state.number), bonus_to_dispel(packed, state))
    thrown = min(DICE, dice + resistance(packed, state))
    return float(DISPEL_CHANCE[int64(packed.dispel_double_six != 0), need, thrown])


@jit
def _standing(state: State, duel: Duel) -> float:
    """Value to the mover of what is in play, and of the other side's dispels once it has passed."""
    value = float(duel.base)
    for k in range(duel.n_kept):
        if duel.in_play & bit(k):
            value += duel.kept[k].worth
    if state.mover == state.active:
        return value
    return -float(value + duel.by_power[0, duel.power])


@jit(forceinline=False)
def _after_own_dispel(state: State, power: int, room: Scratch) -> float:
    """Value to the mover of what follows a dispel that leaves it so many shared dice.

    The mover tries a spell in play, or, as the active army, answers a free spell.
    """
    duel = room.duel[0]
    if state.attempt == DispelAttempt.IN_PLAY:
        dispels = room.dispels[opponent_of(state.mover)]
        dice = min(DICE, power)
        return _standing(state, duel) + float(dispels.most[bit(dispels.count) - 1, dice])
    casts = state.after_miscast == AfterMiscast.CAST_AGAIN
    here = whole(duel)
    left = here.left if casts else int64(0)
    after = DuelState(left, here.in_play, here.aid_state, power, here.dispel, here.scrolls)
    return value_at(duel, room.table.values, after)


@jit(forceinline=False)
def _value_own_dispels(
    packed: PackedScenario, state: State, count: int, terms: Terms, room: Scratch
) -> None:
    """Value the dice against a spell in play, or the active army's against a free spell."""
    legal, mover = room.work[0].legal, int64(state.mover)
    pool = attempt_pool(state)
    if state.attempt == DispelAttempt.IN_PLAY:
        target = int64(state.target - 1)
        owner = target // SPELLS
        worth = value_in_play(packed, state, owner, target % SPELLS, room.ahead.lasting)
        if owner == mover:
            worth = -worth
    else:
        spell, aim = int64(state.free - 1), int64(state.free_aim) - 1
        worth = value_of_effect(packed, state, opponent_of(mover), spell, aim, terms.lasting)
    for i in range(count):
        code = int64(legal[i])
        own = int64(0)  # least and most of the dice of each kind
        most_own = int64(0)
        least = int64(0)
        most = int64(0)
        if state.node == Node.DISPEL_POOL:
            own = most_own = int64(state.reserve)
            least = most = code - FIRST_DICE
        elif state.node == Node.DISPEL_RESERVE:
            own = most_own = code - FIRST_DICE
            most = int64(pool)
        elif code >= FIRST_WIZARD:
            own = int64(1)
            most_own = int64(state.own_dice[code - FIRST_WIZARD])
            most = int64(pool)
        elif code >= FIRST_ITEM:
            entry = packed.armies[mover].items[code - FIRST_ITEM]
            if entry.dispel_use == DispelUse.AUTOMATIC:
                price = price_of_scroll(packed, opponent_of(mover), terms, room.ahead)
                room.points[i] = _after_own_dispel(state, pool, room) - price
            continue
        elif code == PASS:
            room.points[i] = _after_own_dispel(state, pool, room)
            if state.attempt == DispelAttempt.FREE:
                room.points[i] -= worth
            continue
        else:
            least = most = code - FIRST_DICE
        best = -np.inf
        for ours in range(own, most_own + 1):
            for shared in range(least, most + 1):
                chance = _chance(packed, state, ours + shared)
                saved = chance * worth
                if state.attempt == DispelAttempt.FREE:
                    saved -= worth
                left = int64(pool - shared)
                best = max(best, saved + _after_own_dispel(state, left, room))
        room.points[i] = best


@jit(forceinline=False)
def _value_spells_in_play(packed: PackedScenario, state: State, count: int, room: Scratch) -> None:
    """Value the spells in play that the mover may try to dispel."""
    bonus = dispel_bonus(packed, state, int64(state.mover))
    mover = int64(state.mover)
    dispels = room.dispels[opponent_of(mover)]
    dice = int64(attempt_pool(state))
    if mover == state.active:
        dice = most_power(state)
    standing = _standing(state, room.duel[0])
    for i in range(count):
        code = int64(room.work[0].legal[i])
        if code == PASS:
            room.points[i] = standing
            continue
        index = code - FIRST_IN_PLAY
        owner = mover if index < SPELLS else opponent_of(mover)
        spell = index % SPELLS
        rest = bit(dispels.count) - 1
        for k in range(dispels.count):
            if owner != mover and dispels.spells[k].spell == spell:
                rest = clear_bits(rest, bit(k))
        worth = value_in_play(packed, state, owner, spell, room.ahead.lasting)
        if owner == mover:
            worth = -worth
        need = dispel_need(number_against(packed, owner * SPELLS + spell), bonus)
        best = -np.inf
        for thrown in range(1, dice + 1):
            gained = DISPEL_CHANCE[room.duel[0].double_six, need, thrown] * worth
            best = max(best, gained + dispels.most[rest, dice - thrown])
        room.points[i] = standing + best
