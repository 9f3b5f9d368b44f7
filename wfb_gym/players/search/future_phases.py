"""Values in later phases of scrolls, items that help a cast, and spells in play.

Each later phase starts in the position in which its army's phase would start now. Casualties, moves
and resources spent in between are ignored. Phases are solved backwards, from the last one: the
values of one phase are the prices of resources in the phase before it.
`wfb_gym.players.search.reduction` reduces each phase to a duel.
`wfb_gym.players.search.phase_values` uses the prices to value decisions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records, new_records
from wfb_gym.engine.queries import bit, dispels_outright, opponent_of
from wfb_gym.engine.spell_values import phases_left
from wfb_gym.engine.state import BARS_ITEMS, State, new_states
from wfb_gym.engine.targets import worth_per_phase
from wfb_gym.engine.turn_flow import begin_phase, generate_dice
from wfb_gym.packing.records import DispelUse, Duration, Lock, PackedScenario
from wfb_gym.players.search.duel import (
    MOST_LATER,
    MOST_SCROLLS,
    NONE,
    Dispels,
    Duel,
    DuelTable,
    new_table,
    place_of,
    table_size,
    uses_in,
    uses_size,
    value_at,
    whole,
)
from wfb_gym.players.search.effect_values import Lasting, best_aim, expect_survival
from wfb_gym.players.search.phase_duel import solve_duel
from wfb_gym.players.search.reduction import Terms, charge_miscasts, reduce_phase, write_free_spells
from wfb_gym.scenario.sizes import ARMIES, SPELLS

_MOST_PLACES = 40_000
"""Table size limit for a later phase's duel; spells are left out until the duel fits."""
_NEAR = 5  # number of later phases in which the values of spells in play are computed
_SURVIVAL = 0.5  # otherwise, the assumed probability that a spell stays in play for another phase
_SCRATCH = ARMIES  # index of the scratch entry, after the armies' entries


class FuturePhases(NamedTuple):
    """Values in later phases, and scratch arrays."""

    terms: Terms
    duels: Records[Duel]  # (ARMIES + 1,): each army's next phase, and scratch
    has_next: NDArray[np.bool_]  # (ARMIES,): whether the army has another phase
    # the casting army's points, by remaining uses of aids and scrolls
    later: NDArray[np.float64]  # (ARMIES + 1, MOST_LATER, MOST_SCROLLS + 1)
    baseline: NDArray[np.float64]  # (1,): the active army's `later` if it uses nothing before
    before: Lasting  # `Terms.lasting` in the phase before
    table: DuelTable
    dispels: Records[Dispels]  # (ARMIES,)
    state: Records[State]  # (1,)


def new_future(terms: Terms) -> FuturePhases:
    """Return arrays for `look_ahead`."""
    return FuturePhases(
        terms, new_records(Duel, ARMIES + 1), np.zeros(ARMIES, np.bool_),
        np.zeros((ARMIES + 1, MOST_LATER, MOST_SCROLLS + 1)), np.zeros(1),
        np.zeros((ARMIES, SPELLS)), new_table(_MOST_PLACES), new_records(Dispels, ARMIES),
        new_states(1),
    )  # fmt: skip


@jit(forceinline=False)
def look_ahead(packed: PackedScenario, state: State, future: FuturePhases) -> None:
    """Compute the values in later phases, from the last one back to the next one."""
    terms = future.terms
    steps = min(phases_left(packed, state) - 1, terms.phases_ahead)
    expect_survival(packed, state, _SURVIVAL, steps, terms.lasting)
    write_free_spells(packed, state, terms.lasting, terms.free)
    future.has_next[:] = False
    future.later[:] = 0.0
    phase_start = future.state[0]
    for step in range(steps, 0, -1):
        army = int64(state.active) if step % 2 == 0 else opponent_of(state.active)
        future.state[0] = state
        _begin_phase(packed, phase_start, army, step)
        _price_answer(packed, phase_start, future)
        _solve_later(packed, phase_start, army, army, future)
        base = value_at(future.duels[army], future.table.values, whole(future.duels[army]))
        _keep_values(future.duels[army], future.table, future.later[_SCRATCH])
        expect_survival(packed, state, _SURVIVAL, step - 1, future.before)
        for owner in range(ARMIES):
            for spell in range(packed.armies[owner].n_spells):
                if step > _NEAR or not _may_be_in_play(packed, state, owner, spell):
                    continue
                aim = _aim_in_play(packed, state, phase_start, owner, spell, terms.lasting)
                if aim < 0:
                    continue
                phase_start.in_play[owner] = bit(spell)
                phase_start.aims[owner, spell] = aim
                pays = worth_per_phase(packed, phase_start, owner, spell)
                if pays > 0.0:
                    _solve_later(packed, phase_start, army, _SCRATCH, future)
                    duel = future.duels[_SCRATCH]
                    more = value_at(duel, future.table.values, whole(duel)) - base
                    more = more if owner == army else -more
                    # in phases: this one, plus later gains divided by the points per phase
                    future.before[owner, spell] = 1.0 + more / pays
                phase_start.in_play[owner] = 0
        _copy(future.before, terms.lasting)
        _copy(future.later[_SCRATCH], future.later[army])
        future.has_next[army] = True
    future.baseline[0] = value_of_later(packed, state, int64(state.active), future)
    _price_answer(packed, state, future)


@jit(forceinline=False)
def _price_answer(packed: PackedScenario, state: State, future: FuturePhases) -> None:
    """Write `Terms.answers`: the active army's cost of a scroll against a free spell."""
    army = int64(state.active)
    enemy = opponent_of(army)
    future.terms.answers[enemy] = np.inf
    for item in range(packed.armies[army].n_items):
        if dispels_outright(packed, state, army, item):
            future.terms.answers[enemy] = price_of_scroll(packed, enemy, future)


@jit
def has_units(packed: PackedScenario) -> bool:
    """Return whether the battle has units, whose casualties and moves duels ignore."""
    return bool(packed.armies[0].n_units + packed.armies[1].n_units > 0)


@jit
def fade_of(packed: PackedScenario, future: FuturePhases) -> float:
    """Return the weight of later phases: 1 without units, otherwise `Terms.fade`."""
    return future.terms.fade if has_units(packed) else 1.0


@jit(forceinline=False)
def _copy(source: NDArray[np.float64], target: NDArray[np.float64]) -> None:
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[i, k] = source[i, k]


@jit(forceinline=False)
def _begin_phase(packed: PackedScenario, state: State, army: int, later: int) -> None:
    """Skip `later` phases ahead to the start of an army's phase, without spells in play."""
    state.phase += later
    state.active = army
    for side in range(ARMIES):
        state.in_play[side] = 0
        state.new_in_play[side] = 0
        state.attempted[side] = 0
        for wizard in range(packed.armies[side].n_wizards):
            if state.lock[side, wizard] % BARS_ITEMS in (Lock.PHASE_END, Lock.OWN_NEXT_PHASE):
                state.lock[side, wizard] = Lock.NONE
    begin_phase(packed, state)
    generate_dice(packed, state)


@jit(forceinline=False)
def _solve_later(
    packed: PackedScenario, phase_start: State, army: int, place: int, future: FuturePhases
) -> None:
    """Reduce the start of a phase to `duels[place]`, and solve this duel."""
    duel = future.duels[place]
    for spells in range(future.terms.later_spells, -1, -1):
        reduce_phase(packed, phase_start, spells, NONE, future.terms, duel, future.dispels)
        if table_size(duel) <= future.table.values.shape[0]:
            break
    fade, later = fade_of(packed, future), future.later[army]
    charge_miscasts(packed, phase_start, fade * later[uses_size(duel) - 1, duel.scrolls], duel)
    for left in range(uses_size(duel)):
        for scrolls in range(duel.scrolls + 1):
            duel.later[left, scrolls] = fade * later[left, scrolls]
    solve_duel(duel, future.table)


@jit(forceinline=False)
def _keep_values(duel: Duel, table: DuelTable, later: NDArray[np.float64]) -> None:
    """Save a phase's values, by the uses of aids and the scrolls at its start."""
    start = whole(duel)
    least = start.aid_state - (uses_size(duel) - 1)
    for left in range(uses_size(duel)):
        place = place_of(duel, start.left, start.in_play, least + left, start.power)
        place += start.dispel * (duel.scrolls + 1)
        for scrolls in range(duel.scrolls + 1):
            later[left, scrolls] = table.values[place + scrolls]


@jit(forceinline=False)
def _may_be_in_play(packed: PackedScenario, state: State, army: int, spell: int) -> bool:
    """Return whether a spell is in play, or may come into play in this phase."""
    if packed.armies[army].spells[spell].duration != Duration.REMAINS_IN_PLAY:
        return False
    if state.in_play[army] & bit(spell):
        return True
    here = state.castable | (bit(state.spell - 1) if state.spell > 0 else 0)
    return bool(army == state.active and here & bit(spell))


@jit(forceinline=False)
def _aim_in_play(
    packed: PackedScenario,
    state: State,
    phase_start: State,
    army: int,
    spell: int,
    lasting: Lasting,
) -> int:
    """Return 1 + the spell's aim in play, 0 if it takes no target, -1 if no target is legal."""
    entry = packed.armies[army].spells[spell]
    if state.in_play[army] & bit(spell):
        return int64(state.aims[army, spell])
    if not entry.targeted:
        return int64(0)
    if army == state.active and state.spell - 1 == spell and state.aim > 0:
        return int64(state.aim)
    aim = best_aim(packed, phase_start, army, spell, lasting)
    return int64(aim + 1) if aim >= 0 else int64(-1)


@jit(forceinline=False)
def price_later(packed: PackedScenario, state: State, duel: Duel, future: FuturePhases) -> None:
    """Write `Duel.later`: the value of the resources that a duel leaves for its army's next phase.

    It is 0 without a next phase. Values are relative to using nothing after the position in which
    `look_ahead` was called; the duel may belong to a later position in the same phase. The expected
    loss from miscasts in later phases is added to `DuelSpell.miscast_cost`.
    """
    army = int64(state.active)
    duel.later[:] = 0.0
    if not future.has_next[army]:
        return
    next_duel, fade = future.duels[army], fade_of(packed, future)
    charge_miscasts(packed, state, fade * value_of_later(packed, state, army, future), duel)
    more = _scrolls_of(packed, state, opponent_of(army)) - duel.scrolls  # not readable now
    for left in range(uses_size(duel)):
        ours = _uses_of(state, duel, left, army, next_duel)
        for scrolls in range(duel.scrolls + 1):
            later = future.later[army, ours, min(scrolls + more, next_duel.scrolls)]
            duel.later[left, scrolls] = fade * (later - future.baseline[0])


@jit
def value_of_later(packed: PackedScenario, state: State, army: int, future: FuturePhases) -> float:
    """Return an army's points in later phases if it uses no more resources before them."""
    if not future.has_next[army]:
        return 0.0
    next_duel = future.duels[army]
    scrolls = min(_scrolls_of(packed, state, opponent_of(army)), next_duel.scrolls)
    uses = int64(0)
    stride = int64(1)
    for k in range(next_duel.n_aids):
        left = int64(state.items[army, next_duel.aids[k].item_index])
        uses += min(next_duel.uses[k], left) * stride
        stride *= next_duel.uses[k] + 1
    return float(future.later[army, uses, scrolls])


@jit
def _scrolls_of(packed: PackedScenario, state: State, army: int) -> int:
    """Return an army's scrolls, whether or not they may be read now."""
    scrolls = int64(0)
    for item in range(packed.armies[army].n_items):
        if packed.armies[army].items[item].dispel_use == DispelUse.AUTOMATIC:
            scrolls += int64(state.items[army, item])
    return scrolls


@jit
def price_of_scroll(packed: PackedScenario, army: int, future: FuturePhases) -> float:
    """Return the cost of a scroll for the army's enemy, in points in later phases."""
    next_duel = future.duels[army]
    if not future.has_next[army] or next_duel.scrolls == 0:
        return 0.0
    points = future.later[army, uses_size(next_duel) - 1]  # by scrolls
    more = points[next_duel.scrolls - 1] - points[next_duel.scrolls]
    return float(fade_of(packed, future) * more)


@jit
def _uses_of(state: State, duel: Duel, left: int, army: int, next_duel: Duel) -> int:
    """Return the index, in the later duel, of the uses of aids that a duel leaves."""
    found = int64(0)
    stride = int64(1)
    for k in range(next_duel.n_aids):
        uses = min(next_duel.uses[k], int64(state.items[army, next_duel.aids[k].item_index]))
        for own in range(duel.n_aids):  # other aids keep all their uses
            if duel.aids[own].item_index == next_duel.aids[k].item_index:
                uses = min(next_duel.uses[k], uses_in(duel, left, own))
        found += uses * stride
        stride *= next_duel.uses[k] + 1
    return int64(found)
