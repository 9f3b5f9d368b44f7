"""Reduction of a magic phase to a duel that is small enough to solve exactly.

Casualties make a phase large, because every number of surviving models is a separate position. The
reduction leaves units out:

- Each spell gets a fixed value: its expected points now, at its best target. For a lasting spell,
  expected points in later phases are added.
- Only the best spells are kept.
- Wounds and free spells from a miscast count only through their points.
- Re-rolls, items that add to a dispel roll, and spells that a wizard forgets by reading a scroll
  are left out.

`wfb_gym.players.search.phase_duel` solves the duel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.engine.queries import (
    bit,
    can_attempt,
    can_cast_free,
    caster_of,
    clear_bits,
    dice_cap,
    dispel_bonus,
    dispels_outright,
    has_use,
    number_against,
    opponent_of,
    same_attempt,
)
from wfb_gym.engine.spell_values import phases_left
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.engine.targets import aim_record, resistance_of_aim
from wfb_gym.opponents.rules_of_thumb import best_cast_chance
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.players.search.duel import (
    MOST_AIDS,
    MOST_KEPT,
    MOST_OWN,
    MOST_SCROLLS,
    MOST_TO_DISPEL,
    MOST_USES,
    NONE,
    Dispels,
    Duel,
    worth_of,
)
from wfb_gym.players.search.effect_values import (
    Lasting,
    aim_at_once,
    best_aim,
    best_use,
    expected_phases,
    value_in_play,
)
from wfb_gym.players.search.miscasts import write_miscast
from wfb_gym.players.search.phase_duel import most_by_dispels
from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE
from wfb_gym.scenario.sizes import ARMIES, DICE, NO_BEARER, SPELLS, WIZARDS

KEEP = 0.5
"""Value of keeping an item that adds to a dispel roll, as a fraction of the maximum spell value."""
HOPE = 0.05
"""Added to the chance of casting when ranking spells, because a Power Stone may help an unlikely
cast."""


class Terms(NamedTuple):
    """Settings for the reduction, and inputs from later phases."""

    phases_ahead: int  # maximum number of later phases to solve
    later_spells: int  # number of spells to consider in each later phase
    fade: float  # weight of later phases in battles with units
    lasting: Lasting  # see `Lasting`
    # points for each spell if a miscast lets its army cast it for free, (ARMIES, SPELLS); 0 without
    # a target
    free: NDArray[np.float64]
    # points above which each army's enemy reads a scroll against such a free spell, (ARMIES,);
    # infinite without a scroll
    answers: NDArray[np.float64]


@jit
def is_pending(state: State) -> bool:
    """Return whether the active army is casting a spell, or a cast spell may be dispelled."""
    if state.attempt == DispelAttempt.CAST:
        return True
    casts = state.node in (Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE) or (
        state.node == Node.TARGET and state.free == 0
    )
    return bool(casts and state.spell > 0)


@jit(forceinline=False)
def reduce_phase(
    packed: PackedScenario,
    state: State,
    most_spells: int,
    forced: int,
    terms: Terms,
    duel: Duel,
    dispels: Records[Dispels],
) -> None:
    """Reduce a position to a duel.

    Args:
        packed: the battle's scenario.
        state: the position, at a decision.
        most_spells: maximum number of castable spells in the duel; less than `MOST_SPELLS`.
        forced: a spell that is always included, or -1.
        terms: settings for the reduction.
        duel: overwritten, except for `later`. A spell being cast follows the castable ones, at
            index `n_spells`.
        dispels: dispels of each army's spells in play, (ARMIES,); overwritten.
    """
    army = int64(state.active)
    enemy = opponent_of(army)
    duel.n_kept = 0
    duel.n_aids = 0
    duel.n_own = 0
    duel.in_play = 0
    duel.base_points = 0.0
    duel.double_six = int64(packed.dispel_double_six != 0)
    duel.dispel_bonus = dispel_bonus(packed, state, enemy)
    duel.power = min(DICE, int64(state.power))
    duel.dispel = min(DICE, int64(state.dispel))
    for side in range(ARMIES):
        _reduce_spells_in_play(packed, state, side, terms.lasting, duel, dispels[side])
    _choose_spells(packed, state, most_spells, forced, terms.lasting, duel)
    _reduce_miscasts(packed, state, terms, duel)
    _reduce_items(packed, state, duel)
    own_bonus = dispel_bonus(packed, state, army)
    power = most_power(state)
    most_by_dispels(duel, dispels[enemy], own_bonus, power)
    most_by_dispels(duel, dispels[army], duel.dispel_bonus, duel.dispel)
    reduce_readers(packed, state, terms.lasting, NONE, duel, dispels[enemy])
    for kept in range(bit(duel.n_kept)):
        open_to = int64(0)
        for k in range(dispels[army].count):
            own = int64(dispels[army].spells[k].kept)
            if own < 0 or kept & bit(own):
                open_to |= bit(k)
        for dice in range(duel.dispel + 1):
            duel.by_dispel[kept, dice] = dispels[army].most[open_to, dice]


@jit
def most_power(state: State) -> int:
    """Return the active army's maximum dice for a roll: shared dice plus a wizard's own dice."""
    own = int64(0)
    for wizard in range(WIZARDS):
        own = max(own, int64(state.own_dice[wizard]))
    return min(DICE, int64(state.power) + own)


@jit(forceinline=False)
def _reduce_spells_in_play(
    packed: PackedScenario, state: State, army: int, lasting: Lasting, duel: Duel, dispels: Dispels
) -> None:
    """Write the values of an army's spells in play, and which of them may be dispelled."""
    active = army == state.active
    dispels.count = 0
    for s in range(packed.armies[army].n_spells):
        if not state.in_play[army] & bit(s):
            continue
        entry = packed.armies[army].spells[s]
        worth = value_in_play(packed, state, army, s, lasting)
        place = int64(NONE)
        if active and entry.duration == Duration.REMAINS_IN_PLAY and duel.n_kept < MOST_KEPT:
            place = _add_kept(duel, s, worth, entry.wizard)
            duel.in_play |= bit(place)
        else:
            duel.base_points += worth if active else -worth
        tried = int64(state.new_in_play[army])
        if army != state.mover:  # the mover may still try spells that their owner already tried
            tried |= state.attempted[army]
        lasts = entry.duration != Duration.ONE_TURN or packed.dispel_one_turn != 0
        if lasts and worth > 0.0 and not tried & bit(s) and dispels.count < MOST_TO_DISPEL:
            one = dispels.spells[dispels.count]
            one.spell = s
            one.worth = worth
            one.number = number_against(packed, army * SPELLS + s)
            one.kept = place
            dispels.count += 1


@jit
def _add_kept(duel: Duel, spell: int, worth: float, wizard: int) -> int:
    """Add a spell to `Duel.kept`; return its index."""
    place = int64(duel.n_kept)
    kept = duel.kept[place]
    kept.spell = spell
    kept.worth = worth
    kept.wizard = wizard
    duel.n_kept += 1
    return place


@jit(forceinline=False)
def _choose_spells(
    packed: PackedScenario,
    state: State,
    most_spells: int,
    forced: int,
    lasting: Lasting,
    duel: Duel,
) -> None:
    """Write the best castable spells, followed by the spell being cast."""
    army = int64(state.active)
    pending = int64(state.spell - 1) if is_pending(state) else int64(NONE)
    count = int64(packed.armies[army].n_spells)
    worths, aims = duel.scores, duel.score_aims
    for s in range(count):
        worths[s] = 0.0
        aims[s] = NONE
        if s != pending and _may_cast(packed, state, s, duel):
            aims[s], value = best_use(packed, state, army, s, lasting)
            worths[s] = value * (HOPE + best_cast_chance(packed, state, army, s))
            if s == forced:
                worths[s] = np.inf
    duel.n_spells = 0
    while duel.n_spells < most_spells:
        best = int64(NONE)
        for s in range(count):
            if worths[s] > 1e-9 and (best < 0 or worths[s] > worths[best]):
                best = s
        if best < 0:
            break
        worths[best] = 0.0
        _write_spell(packed, state, best, aims[best], lasting, duel)
        duel.n_spells += 1
    for slot in range(duel.n_spells):
        together = same_attempt(packed, army, int64(duel.spells[slot].spell))
        duel.spells[slot].attempt = 0
        for k in range(duel.n_spells):
            if together & bit(duel.spells[k].spell):
                duel.spells[slot].attempt |= bit(k)
    if pending >= 0:
        aim = int64(state.aim) - 1
        if aim < 0 and packed.armies[army].spells[pending].targeted:  # no target chosen yet
            aim = best_aim(packed, state, army, pending, lasting)
        _write_spell(packed, state, pending, aim, lasting, duel)


@jit
def _may_cast(packed: PackedScenario, state: State, spell: int, duel: Duel) -> bool:
    """Return whether a spell may be cast in this phase, possibly after ending others in play."""
    army = int64(state.active)
    barring = packed.armies[army].spells[spell].barred_by & state.in_play[army]
    for k in range(duel.n_kept):
        barring = clear_bits(int64(barring), bit(duel.kept[k].spell))
    return barring == 0 and can_attempt(packed, state, spell)


@jit(forceinline=False)
def _write_spell(
    packed: PackedScenario, state: State, spell: int, aim: int, lasting: Lasting, duel: Duel
) -> None:
    """Append a spell to the duel's `n_spells` spells, with this aim if it has a target."""
    army = int64(state.active)
    entry = packed.armies[army].spells[spell]
    one = duel.spells[duel.n_spells]
    wizard = caster_of(packed, army, spell)
    one.spell = spell
    one.wizard = wizard
    one.casting_value = int64(entry.casting_value)
    one.bonus = int64(packed.armies[army].wizards[wizard].cast_bonus)
    one.cap = dice_cap(packed, state, army, wizard)
    one.bound = int64(entry.bound != 0)
    one.resistance = 0
    one.kept = NONE
    one.attempt = 0
    now = float(entry.worth)
    per_phase = float(entry.worth_per_phase)
    if entry.targeted:
        now = aim_at_once(packed, state, army, spell, aim)
        per_phase = float(aim_record(packed, army, spell, aim).worth_per_phase)
        one.resistance = resistance_of_aim(packed, state, army, spell, aim)
    later = per_phase * expected_phases(packed, state, army, spell, lasting)
    one.barred = 0
    for k in range(duel.n_kept):
        if duel.in_play & bit(k) and entry.barred_by & bit(duel.kept[k].spell):
            one.barred |= bit(k)
    if entry.duration == Duration.REMAINS_IN_PLAY and duel.n_kept < MOST_KEPT:
        one.kept = _add_kept(duel, spell, later, wizard)
        later = 0.0
    one.worth = now + later
    one.own = NONE
    if one.bound or state.own_dice[wizard] == 0:
        return
    for k in range(duel.n_own):
        if duel.own_wizard[k] == wizard:
            one.own = k
    if one.own < 0 and duel.n_own < MOST_OWN:
        one.own = duel.n_own
        duel.own_wizard[duel.n_own] = wizard
        duel.own_dice[duel.n_own] = int64(state.own_dice[wizard])
        duel.n_own += 1


@jit(forceinline=False)
def write_free_spells(
    packed: PackedScenario, state: State, lasting: Lasting, free: NDArray[np.float64]
) -> None:
    """Write `Terms.free`: each spell's points when cast for free after an enemy miscast."""
    for army in range(ARMIES):
        for s in range(packed.armies[army].n_spells):
            free[army, s] = 0.0
            if can_cast_free(packed, state, army, s, HIGHEST_CASTING_VALUE):
                _, value = best_use(packed, state, army, s, lasting)
                free[army, s] = max(0.0, value)


@jit(forceinline=False)
def _reduce_miscasts(packed: PackedScenario, state: State, terms: Terms, duel: Duel) -> None:
    """Write the miscasts for the duel's spells; `charge_miscasts` adds the cost of `later`."""
    army = int64(state.active)
    enemy = opponent_of(army)
    written = int64(0)
    for slot in range(duel.n_spells + is_pending(state)):
        one = duel.spells[slot]
        wizard = int64(one.wizard)
        if one.bound:
            continue
        miscast = duel.miscasts[wizard]
        if not written & bit(wizard):
            phases = _own_phases_to_come(packed, state)
            write_miscast(packed, state, army, wizard, phases, miscast)
            written |= bit(wizard)
        one.miscast_cost = miscast.cost
        if miscast.free_any + miscast.free_limited > 0.0:
            best = 0.0
            limited = 0.0
            for s in range(packed.armies[enemy].n_spells):
                points = min(terms.free[enemy, s], terms.answers[enemy])
                best = max(best, points)
                if packed.armies[enemy].spells[s].casting_value <= one.casting_value:
                    limited = max(limited, points)
            one.miscast_cost += miscast.free_any * best + miscast.free_limited * limited


@jit(forceinline=False)
def charge_miscasts(packed: PackedScenario, state: State, points: float, duel: Duel) -> None:
    """Add the expected loss of points in later phases to the cost of miscasts.

    `points` are the army's points in later phases. They are divided among its wizards by level.
    """
    army = int64(state.active)
    levels = int64(0)
    for wizard in range(packed.armies[army].n_wizards):
        if state.wounds[army, wizard] > 0:
            levels += state.level[army, wizard]
    for slot in range(duel.n_spells + is_pending(state)):
        one = duel.spells[slot]
        if not one.bound and levels > 0:
            fraction = state.level[army, one.wizard] / levels
            one.miscast_cost += duel.miscasts[one.wizard].later * fraction * points


@jit(forceinline=False)
def _reduce_items(packed: PackedScenario, state: State, duel: Duel) -> None:
    """Write the maximum spell value, scrolls, and items that help a cast."""
    army = int64(state.active)
    enemy = opponent_of(army)
    duel.greatest = 0.0
    for slot in range(duel.n_spells + is_pending(state)):
        duel.greatest = max(duel.greatest, worth_of(duel, slot))
    duel.scrolls = 0
    for item in range(packed.armies[enemy].n_items):
        if dispels_outright(packed, state, enemy, item):
            duel.scrolls += int64(state.items[enemy, item])
    duel.scrolls = min(MOST_SCROLLS, duel.scrolls)
    for item in range(packed.armies[army].n_items):
        entry = packed.armies[army].items[item]
        if not entry.cast_use or not has_use(packed, state, army, item):
            continue
        if duel.n_aids < MOST_AIDS:
            aid = duel.aids[duel.n_aids]
            duel.uses[duel.n_aids] = min(MOST_USES, int64(state.items[army, item]))
            aid.item_index = item
            aid.wizard = int64(entry.bearer)
            aid.extra_dice = int64(entry.cast_extra_dice)
            aid.bonus = int64(entry.cast_use_bonus)
            aid.irresistible = int64(entry.cast_not_irresistible == 0)
            duel.n_aids += 1


@jit(forceinline=False)
def reader_loses(packed: PackedScenario, state: State, item: int, lasting: Lasting) -> float:
    """Return the points from the dispeller's own spells that end if it reads this scroll."""
    army = opponent_of(state.active)
    entry = packed.armies[army].items[item]
    if not entry.ends_own_spells or entry.bearer == NO_BEARER:
        return 0.0
    points = 0.0
    for s in range(packed.armies[army].n_spells):
        if state.in_play[army] & bit(s) and _ends_with(packed, army, s, int64(entry.bearer)):
            points += value_in_play(packed, state, army, s, lasting)
    return points


@jit
def _ends_with(packed: PackedScenario, army: int, spell: int, wizard: int) -> bool:
    """Return whether a spell in play ends if its wizard casts or reads a scroll."""
    entry = packed.armies[army].spells[spell]
    return bool(entry.wizard == wizard and entry.duration == Duration.REMAINS_IN_PLAY)


@jit(forceinline=False)
def reduce_readers(
    packed: PackedScenario, state: State, lasting: Lasting, first: int, duel: Duel, dispels: Dispels
) -> None:
    """Write the loss of the dispeller's own spells from reading scrolls, cheapest scroll first.

    If `first` is an item, it is read before the others.
    """
    army = opponent_of(state.active)
    power = most_power(state)
    readers = int64(0)  # bit set of wizards that have read a scroll
    lost = 0.0
    left = bit(dispels.count) - 1
    for read in range(duel.scrolls + 1):
        duel.scroll_reader_loss[read] = lost
        for dice in range(power + 1):
            duel.by_power[read, dice] = dispels.most[left, dice]
        free = int64(0)
        reader = int64(NONE)
        least = np.inf
        for item in range(packed.armies[army].n_items):
            if not dispels_outright(packed, state, army, item):
                continue
            loss = reader_loses(packed, state, item, lasting)
            bearer = int64(packed.armies[army].items[item].bearer)
            if loss == 0.0 or (bearer >= 0 and readers & bit(bearer)):
                free += int64(state.items[army, item])
            elif loss < least:
                least = loss
                reader = bearer
        if read == 0 and first >= 0:
            least = reader_loses(packed, state, first, lasting)
            reader = int64(packed.armies[army].items[first].bearer)
            free = int64(0)
        if read >= free and reader >= 0:
            readers |= bit(reader)
            lost += least
            for k in range(dispels.count):
                if _ends_with(packed, army, dispels.spells[k].spell, reader):
                    left = clear_bits(left, bit(k))


@jit
def price_of_boost(packed: PackedScenario, state: State, greatest: float, uses: int) -> float:
    """Return the value of keeping one of `uses` uses of an item that adds to a dispel roll.

    The value is not computed: it is a fixed fraction of the maximum spell value. It is lower if the
    active army has fewer later phases than there are uses.
    """
    future = _own_phases_to_come(packed, state)
    return float(KEEP * greatest * min(1.0, future / max(1, uses)))


@jit
def _own_phases_to_come(packed: PackedScenario, state: State) -> int:
    """Return how many later phases the active army has."""
    return int64((phases_left(packed, state) - 1) // 2)
