"""A magic phase reduced to a duel of plain worths, which is small enough to solve exactly.

What makes a phase of a battle large are casualties: every number of models left is a position of
its own. The reduction leaves units out. Each spell gets what it promises now, at its best target,
as a plain worth; one that lasts also gets what it can be expected to pay in phases to come. Only
the best spells are looked at. Of a miscast's wounds and free spells only the points count;
re-rolls, items that add to a dispel, and spells forgotten as a scroll is read are left out.

`wfb_gym.players.search.phase_duel` solves the duel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.engine.expected_score import change_by_care
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
)
from wfb_gym.engine.spell_values import phases_left, worth_in_play
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.engine.targets import (
    army_of,
    can_aim,
    index_of,
    resistance_of_aim,
    worth_per_phase,
    wounds_left,
)
from wfb_gym.opponents.rules_of_thumb import best_cast_chance
from wfb_gym.opponents.values import WOUND_WEIGHT, value_with_flight
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.players.search.miscasts import write_miscast
from wfb_gym.players.search.phase_duel import (
    MOST_AIDS,
    MOST_KEPT,
    MOST_OWN,
    MOST_SCROLLS,
    MOST_TO_DISPEL,
    MOST_USES,
    NONE,
    Dispels,
    Duel,
    most_by_dispels,
    worth_of,
)
from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE
from wfb_gym.scenario.sizes import ARMIES, DICE, NO_BEARER, SPELLS, TARGETS, UNITS, WIZARDS

LEFT_OVER = 0.8
"""Share of the points of those struck that a spell can be expected to take at most."""
RESISTED = 0.15
"""Share of a spell's worth that each die of Magic Resistance takes away, where targets compete."""
KEEP = 0.5
"""Share of the greatest worth that keeping an item that adds to a dispel is worth."""
HOPE = 0.05
"""Added to the chance to cast where spells are ranked: a stone may cast what dice hardly can."""


Lasting = NDArray[np.float64]
"""Phases that a spell of any army can be expected to pay for if it is in play as this phase ends,
this one included, (ARMIES, SPELLS)."""


class Terms(NamedTuple):
    """What a phase is reduced by.

    Attributes:
        phases_ahead: phases to come that are looked at, at most.
        later_spells: that are looked at in each phase to come.
        fade: share of later phases that counts in battles with units.
        lasting: what the phases to come say of spells in play.
        free: points of each army's spells as free spells, 0 where it has no target,
            (ARMIES, SPELLS).
        answers: points at which the enemy of each army would rather read a scroll than let such a
            spell take effect, (ARMIES,); infinite where it has none.
    """

    phases_ahead: int
    later_spells: int
    fade: float
    lasting: Lasting
    free: NDArray[np.float64]
    answers: NDArray[np.float64]


class Scores(NamedTuple):
    """What spells are ranked by, and the best aim of each; scratch."""

    scores: NDArray[np.float64]  # (SPELLS,)
    aims: NDArray[np.int64]  # (SPELLS,), NONE where a spell is not aimed


def new_scores() -> Scores:
    """Scratch of a reduction."""
    return Scores(np.zeros(SPELLS), np.zeros(SPELLS, np.int64))


@jit
def surviving_phases(left: int, survival: float) -> float:
    """Phases that a spell in play can be expected to pay for, of so many that are left.

    `survival` is the chance that it outlives a phase.
    """
    phases = 0.0
    chance = 1.0
    for _ in range(left):
        phases += chance
        chance *= survival
    return phases


@jit(forceinline=False)
def expect_survival(
    packed: PackedScenario, state: State, survival: float, later: int, lasting: Lasting
) -> None:
    """Write `lasting` of a phase so much later, by a chance to outlive a phase."""
    for army in range(ARMIES):
        for spell in range(packed.armies[army].n_spells):
            lasting[army, spell] = surviving_phases(phases_left(packed, state) - later, survival)


@jit
def expected_phases(
    packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting
) -> float:
    """Phases that a spell put into play now can be expected to pay for."""
    if packed.armies[army].spells[spell].duration == Duration.ONE_TURN:
        return float(min(2, phases_left(packed, state)))
    return float(lasting[army, spell])


@jit(forceinline=False)
def aim_at_once(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> float:
    """Points of an aim when it takes effect, no more than what is left of the enemies struck."""
    entry = packed.armies[army].spells[spell]
    way = packed.armies[army].aims[entry.first_aim + aim]
    later = way.worth_per_phase * phases_left(packed, state)
    points = value_with_flight(packed, state, army, spell, aim) - later
    if entry.heals and way.target and not packed.victory_points:  # which no promise counts
        code = int64(way.target)
        points += change_by_care(packed, state, army_of(army, code), index_of(code), True, False)
    if packed.victory_points or way.n_strikes == 0:
        return float(points)
    return float(way.worth + _of_survivors(packed, state, army, spell, aim, points - way.worth))


@jit(forceinline=False)
def _of_survivors(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, points: float
) -> float:
    """Reduce the points of casualties of whole units to what is left of the enemies struck.

    A Comet lists both sides as its victims: own models are no part of what it can win.
    """
    entry = packed.armies[army].spells[spell]
    way = packed.armies[army].aims[entry.first_aim + aim]
    left = 0.0
    whole = 0.0
    for k in range(way.n_strikes):
        victim = int64(packed.strikes[way.first_strike + k].victim)
        side = victim // TARGETS
        index = victim % TARGETS
        if side == army:
            continue
        wounds = float(wounds_left(state, side, index))
        if index < UNITS:
            unit = packed.armies[side].units[index]
            left += wounds * unit.points / max(1, int64(unit.wounds))
            whole += float(unit.models) * unit.points
        else:
            wizard = packed.armies[side].wizards[index - UNITS]
            left += wounds * wizard.points_per_wound
            whole += float(wizard.wounds) * wizard.points_per_wound
    if way.n_strikes > 1 and whole > 0.0:
        points *= left / whole
    return min(points, LEFT_OVER * left)


@jit(forceinline=False)
def value_of_effect(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, lasting: Lasting
) -> float:
    """Points that a spell can be expected to bring if it takes effect at this aim, or NONE."""
    entry = packed.armies[army].spells[spell]
    phases = expected_phases(packed, state, army, spell, lasting)
    if aim < 0:
        return float(entry.worth + entry.worth_per_phase * phases)
    way = packed.armies[army].aims[entry.first_aim + aim]
    now = aim_at_once(packed, state, army, spell, aim)
    return float(now + way.worth_per_phase * phases)


@jit(forceinline=False)
def aim_value(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, lasting: Lasting
) -> float:
    """Points that an aim can be expected to bring, if the spell is cast."""
    value = value_of_effect(packed, state, army, spell, aim, lasting)
    return float(value * (1.0 - RESISTED * resistance_of_aim(packed, state, army, spell, aim)))


@jit(forceinline=False)
def best_aim(packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting) -> int:
    """Return the number of the open aim that can be expected to bring most, or -1."""
    best = -1
    most = 0.0
    for aim in range(packed.armies[army].spells[spell].n_aims):
        if can_aim(packed, state, army, spell, aim):
            value = aim_value(packed, state, army, spell, aim, lasting)
            if best < 0 or value > most:
                best = aim
                most = value
    return int64(best)


@jit
def is_pending(state: State) -> bool:
    """Whether the active army is casting a spell, or has cast it and it may be dispelled."""
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
    scores: Scores,
    duel: Duel,
    dispels: Records[Dispels],
) -> None:
    """Reduce a position to a duel.

    Args:
        packed: the battle's scenario.
        state: the position, at a decision.
        most_spells: spells that may still be cast in the duel, at most; below `MOST_SPELLS`.
        forced: a spell that is one of them in any case, or -1.
        terms: what to reduce by.
        scores: scratch.
        duel: overwritten but for `later`. A spell that is being cast stands behind those that may
            be.
        dispels: of the first and the second army's spells in play, (ARMIES,); overwritten.
    """
    army = int64(state.active)
    enemy = opponent_of(army)
    duel.n_kept = 0
    duel.n_aids = 0
    duel.n_own = 0
    duel.in_play = 0
    duel.base = 0.0
    duel.double_six = int64(packed.dispel_double_six != 0)
    duel.dispel_bonus = dispel_bonus(packed, state, enemy)
    duel.power = min(DICE, int64(state.power))
    duel.dispel = min(DICE, int64(state.dispel))
    for side in range(ARMIES):
        _reduce_spells_in_play(packed, state, side, terms.lasting, duel, dispels[side])
    _choose_spells(packed, state, most_spells, forced, terms.lasting, scores, duel)
    _reduce_miscasts(packed, state, terms, duel)
    _reduce_items(packed, state, duel)
    own_bonus = dispel_bonus(packed, state, army)
    power = most_power(state)
    most_by_dispels(duel, dispels[enemy], own_bonus, power)
    most_by_dispels(duel, dispels[army], int64(duel.dispel_bonus), int64(duel.dispel))
    reduce_readers(packed, state, terms.lasting, int64(NONE), duel, dispels[enemy])
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
    """Most dice of the active army for one roll: the shared ones and a wizard's own."""
    own = int64(0)
    for wizard in range(WIZARDS):
        own = max(own, int64(state.own_dice[wizard]))
    return min(int64(DICE), int64(state.power) + own)


@jit
def value_in_play(
    packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting
) -> float:
    """Points that a spell in play can be expected to bring its owner."""
    duration = int64(packed.armies[army].spells[spell].duration)
    phases = expected_phases(packed, state, army, spell, lasting)
    if duration == Duration.ONE_TURN and not state.new_in_play[army] & bit(spell):
        phases = 1.0
    per_phase = worth_per_phase(packed, state, army, spell)
    value = per_phase * phases
    if duration == Duration.DELAYED:
        landing = worth_in_play(packed, state, army, spell, WOUND_WEIGHT)
        landing -= per_phase * phases_left(packed, state)
        if not packed.victory_points:
            aim = int64(state.aims[army, spell] - 1)
            landing = _of_survivors(packed, state, army, spell, aim, landing)
        value += landing
    return float(value)


@jit(forceinline=False)
def _reduce_spells_in_play(
    packed: PackedScenario, state: State, army: int, lasting: Lasting, duel: Duel, dispels: Dispels
) -> None:
    """Write what an army's spells in play are worth, and which of them may be dispelled."""
    active = army == state.active
    dispels.count = 0
    for s in range(packed.armies[army].n_spells):
        if not state.in_play[army] & bit(s):
            continue
        entry = packed.armies[army].spells[s]
        worth = value_in_play(packed, state, army, s, lasting)
        place = int64(NONE)
        if active and entry.duration == Duration.REMAINS_IN_PLAY and duel.n_kept < MOST_KEPT:
            place = int64(duel.n_kept)
            duel.kept[place].spell = s
            duel.kept[place].worth = worth
            duel.kept[place].wizard = entry.wizard
            duel.in_play |= bit(place)
            duel.n_kept += 1
        else:
            duel.base += worth if active else -worth
        tried = int64(state.new_in_play[army])
        if army != state.mover:  # what the owner tried itself is still open to its enemy
            tried |= state.attempted[army]
        lasts = entry.duration != Duration.ONE_TURN or packed.dispel_one_turn != 0
        if lasts and worth > 0.0 and not tried & bit(s) and dispels.count < MOST_TO_DISPEL:
            one = dispels.spells[dispels.count]
            one.spell = s
            one.worth = worth
            one.number = number_against(packed, army * SPELLS + s)
            one.kept = place
            dispels.count += 1


@jit(forceinline=False)
def _choose_spells(
    packed: PackedScenario,
    state: State,
    most_spells: int,
    forced: int,
    lasting: Lasting,
    scores: Scores,
    duel: Duel,
) -> None:
    """Write the best spells that are open, and behind them the one that is being cast."""
    army = int64(state.active)
    pending = int64(state.spell - 1) if is_pending(state) else int64(NONE)
    count = int64(packed.armies[army].n_spells)
    worths, aims = scores
    for s in range(count):
        worths[s] = 0.0
        aims[s] = NONE
        if s != pending and _may_cast(packed, state, s, duel):
            aims[s], value = _best_use(packed, state, army, int64(s), lasting)
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
        _write_spell(packed, state, best, int64(aims[best]), lasting, duel, int64(duel.n_spells))
        duel.n_spells += 1
    if pending >= 0:
        aim = int64(state.aim) - 1
        if aim < 0 and packed.armies[army].spells[pending].targeted:  # it is being aimed
            aim = best_aim(packed, state, army, pending, lasting)
        _write_spell(packed, state, pending, aim, lasting, duel, int64(duel.n_spells))


@jit
def _may_cast(packed: PackedScenario, state: State, spell: int, duel: Duel) -> bool:
    """Whether a spell may be cast in this phase, if need be once others in play are ended."""
    army = int64(state.active)
    barring = packed.armies[army].spells[spell].barred_by & state.in_play[army]
    for k in range(duel.n_kept):
        barring = clear_bits(int64(barring), bit(int64(duel.kept[k].spell)))
    return barring == 0 and can_attempt(packed, state, spell)


@jit(forceinline=False)
def _best_use(
    packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting
) -> tuple[int, float]:
    """Return the best aim of a spell, NONE if it is not aimed, and what it brings if it is cast."""
    if packed.armies[army].spells[spell].targeted:
        aim = best_aim(packed, state, army, spell, lasting)
        return aim, aim_value(packed, state, army, spell, aim, lasting)
    return int64(NONE), value_of_effect(packed, state, army, spell, int64(NONE), lasting)


@jit(forceinline=False)
def _write_spell(
    packed: PackedScenario,
    state: State,
    spell: int,
    aim: int,
    lasting: Lasting,
    duel: Duel,
    slot: int,
) -> None:
    """Write a spell to a slot of the duel, at this aim if it is aimed."""
    army = int64(state.active)
    entry = packed.armies[army].spells[spell]
    one = duel.spells[slot]
    wizard = caster_of(packed, army, spell)
    one.spell = spell
    one.wizard = wizard
    one.casting_value = int64(entry.casting_value)
    one.bonus = int64(packed.armies[army].wizards[wizard].cast_bonus)
    one.cap = dice_cap(packed, state, army, wizard)
    one.bound = int64(entry.bound != 0)
    one.resistance = 0
    one.kept = NONE
    now = float(entry.worth)
    per_phase = float(entry.worth_per_phase)
    if entry.targeted:
        now = aim_at_once(packed, state, army, spell, aim)
        per_phase = float(packed.armies[army].aims[entry.first_aim + aim].worth_per_phase)
        one.resistance = resistance_of_aim(packed, state, army, spell, aim)
    later = per_phase * expected_phases(packed, state, army, spell, lasting)
    one.barred = 0
    for k in range(duel.n_kept):
        if duel.in_play & bit(k) and entry.barred_by & bit(int64(duel.kept[k].spell)):
            one.barred |= bit(k)
    if entry.duration == Duration.REMAINS_IN_PLAY and duel.n_kept < MOST_KEPT:
        one.kept = duel.n_kept
        duel.kept[duel.n_kept].spell = spell
        duel.kept[duel.n_kept].worth = later
        duel.kept[duel.n_kept].wizard = wizard
        duel.n_kept += 1
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
    """Write what spells bring that a miscast of the enemy's lets an army cast."""
    for army in range(ARMIES):
        for s in range(packed.armies[army].n_spells):
            free[army, s] = 0.0
            if not can_cast_free(packed, state, army, int64(s), HIGHEST_CASTING_VALUE):
                continue
            _, value = _best_use(packed, state, army, int64(s), lasting)
            free[army, s] = max(0.0, value)


@jit(forceinline=False)
def _reduce_miscasts(packed: PackedScenario, state: State, terms: Terms, duel: Duel) -> None:
    """Write what miscasts of the duel's spells lead to, but for `Miscast.later`."""
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
                brings = min(terms.free[enemy, s], terms.answers[enemy])
                best = max(best, brings)
                if packed.armies[enemy].spells[s].casting_value <= one.casting_value:
                    limited = max(limited, brings)
            one.miscast_cost += miscast.free_any * best + miscast.free_limited * limited


@jit(forceinline=False)
def charge_miscasts(packed: PackedScenario, state: State, points: float, duel: Duel) -> None:
    """Add to the cost of miscasts what is lost of so many points in phases to come.

    Each wizard is taken to bring a share of them by its level.
    """
    army = int64(state.active)
    levels = int64(0)
    for wizard in range(packed.armies[army].n_wizards):
        if state.wounds[army, wizard] > 0:
            levels += state.level[army, wizard]
    for slot in range(duel.n_spells + is_pending(state)):
        one = duel.spells[slot]
        if not one.bound and levels > 0:
            share = state.level[army, one.wizard] / levels
            one.miscast_cost += duel.miscasts[one.wizard].later * share * points


@jit(forceinline=False)
def _reduce_items(packed: PackedScenario, state: State, duel: Duel) -> None:
    """Write scrolls, and items that help a cast."""
    army = int64(state.active)
    enemy = opponent_of(army)
    slots = int64(duel.n_spells) + is_pending(state)
    most = 0.0
    for slot in range(slots):
        most = max(most, worth_of(duel, int64(slot)))
    duel.greatest = most
    duel.scrolls = 0
    for item in range(packed.armies[enemy].n_items):
        if dispels_outright(packed, state, enemy, item):
            duel.scrolls += int64(state.items[enemy, item])
    duel.scrolls = min(MOST_SCROLLS, int64(duel.scrolls))
    for item in range(packed.armies[army].n_items):
        entry = packed.armies[army].items[item]
        if not entry.cast_use or not has_use(packed, state, army, item):
            continue
        if duel.n_aids < MOST_AIDS:
            aid = duel.aids[duel.n_aids]
            uses = min(int64(MOST_USES), int64(state.items[army, item]))
            duel.uses[duel.n_aids] = uses
            aid.item = item
            aid.wizard = int64(entry.bearer)
            aid.extra_dice = int64(entry.cast_extra_dice)
            aid.bonus = int64(entry.cast_use_bonus)
            aid.irresistible = int64(entry.cast_not_irresistible == 0)
            duel.n_aids += 1


@jit(forceinline=False)
def reader_loses(packed: PackedScenario, state: State, item: int, lasting: Lasting) -> float:
    """Points of own spells in play that reading one of the dispeller's scrolls ends."""
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
    """Whether a spell in play ends if its wizard casts or reads a scroll."""
    entry = packed.armies[army].spells[spell]
    return bool(entry.wizard == wizard and entry.duration == Duration.REMAINS_IN_PLAY)


@jit(forceinline=False)
def reduce_readers(
    packed: PackedScenario, state: State, lasting: Lasting, first: int, duel: Duel, dispels: Dispels
) -> None:
    """Write what reading scrolls costs the dispeller's own spells, the cheapest read first.

    With `first`, an item, that one is read before them.
    """
    army = opponent_of(state.active)
    power = most_power(state)
    gone = int64(0)  # bits of wizards that have read one
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
            loss = reader_loses(packed, state, int64(item), lasting)
            bearer = int64(packed.armies[army].items[item].bearer)
            if loss == 0.0 or (bearer >= 0 and gone & bit(bearer)):
                free += int64(state.items[army, item])
            elif loss < least:
                least = loss
                reader = bearer
        if read == 0 and first >= 0:
            least = reader_loses(packed, state, first, lasting)
            reader = int64(packed.armies[army].items[first].bearer)
            free = int64(0)
        if read >= free and reader >= 0:
            gone |= bit(reader)
            lost += least
            for k in range(dispels.count):
                if _ends_with(packed, army, int64(dispels.spells[k].spell), reader):
                    left = clear_bits(left, bit(k))


@jit
def price_of_boost(packed: PackedScenario, state: State, greatest: float, uses: int) -> float:
    """Points that each of so many uses of an item that adds to a dispel is worth if it is kept.

    That is a share of the greatest worth, unless fewer phases of the active army are to come than
    there are uses: what these items bring later is not worked out.
    """
    future = _own_phases_to_come(packed, state)
    return float(KEEP * greatest * min(1.0, future / max(1, uses)))


@jit
def _own_phases_to_come(packed: PackedScenario, state: State) -> int:
    """Return the phases of the active army behind this one."""
    return int64((phases_left(packed, state) - 1) // 2)
