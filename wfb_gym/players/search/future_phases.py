"""Looking ahead: what scrolls, items that help a cast and spells in play bring in later phases.

Each phase to come begins as its army's phase would begin now: casualties, moves and what is spent
in between are left out. The last is solved first, and its values are the prices in the one before.
What a position is reduced to is `wfb_gym.players.search.reduction`; decisions do not live here.
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
from wfb_gym.players.search.phase_duel import (
    MOST_LATER,
    MOST_SCROLLS,
    NONE,
    Dispels,
    Duel,
    DuelTable,
    new_table,
    place_of,
    solve_duel,
    table_size,
    uses_in,
    uses_size,
    value_at,
    whole,
)
from wfb_gym.players.search.reduction import (
    Lasting,
    Scores,
    Terms,
    best_aim,
    charge_miscasts,
    expect_survival,
    new_scores,
    reduce_phase,
    write_free_spells,
)
from wfb_gym.scenario.sizes import ARMIES, SPELLS

_MOST_PLACES = 40_000
"""Places of a later duel's table; with more, a spell less is looked at."""
_NEAR = 5
"""Phases to come in which it is worked out what spells in play bring."""
_SURVIVAL = 0.5
"""Chance that a spell in play outlives a phase, where that is not worked out."""
_SCRATCH = ARMIES
"""Where what is not an army's stands."""


class FuturePhases(NamedTuple):
    """What phases to come are worth, and scratch."""

    duels: Records[Duel]  # (ARMIES + 1,): each army's next phase, and scratch
    comes: NDArray[np.bool_]  # (ARMIES,): whether there is one
    # by the uses of aids and the scrolls that are left, points for the army that casts in it
    later: NDArray[np.float64]  # (ARMIES + 1, MOST_LATER, MOST_SCROLLS + 1)
    nothing: NDArray[np.float64]  # (1,): `later` of the active army if nothing is used before
    lasting: Lasting  # which `Terms` have too
    before: Lasting  # the same of the phase before
    table: DuelTable
    dispels: Records[Dispels]  # (ARMIES,)
    scores: Scores
    state: Records[State]  # (1,)


def new_ahead() -> FuturePhases:
    """Room for looking ahead."""
    return FuturePhases(
        new_records(Duel, ARMIES + 1), np.zeros(ARMIES, np.bool_),
        np.zeros((ARMIES + 1, MOST_LATER, MOST_SCROLLS + 1)), np.zeros(1),
        np.zeros((ARMIES, SPELLS)), np.zeros((ARMIES, SPELLS)), new_table(_MOST_PLACES),
        new_records(Dispels, ARMIES), new_scores(), new_states(1),
    )  # fmt: skip


@jit(forceinline=False)
def look_ahead(packed: PackedScenario, state: State, terms: Terms, ahead: FuturePhases) -> None:
    """Write what the phases to come are worth, from the last one back to the next one."""
    steps = min(phases_left(packed, state) - 1, terms.phases_ahead)
    expect_survival(packed, state, _SURVIVAL, steps, ahead.lasting)
    write_free_spells(packed, state, ahead.lasting, terms.free)
    ahead.comes[:] = False
    ahead.later[:] = 0.0
    begun = ahead.state[0]
    for step in range(steps, 0, -1):
        army = int64(state.active) if step % 2 == 0 else opponent_of(state.active)
        ahead.state[0] = state
        _begin_phase(packed, begun, army, int64(step))
        _price_answer(packed, begun, terms, ahead)
        _solve_later(packed, begun, army, army, terms, ahead)
        base = value_at(ahead.duels[army], ahead.table.values, whole(ahead.duels[army]))
        _keep_values(ahead.duels[army], ahead.table, ahead.later[_SCRATCH])
        expect_survival(packed, state, _SURVIVAL, int64(step - 1), ahead.before)
        for owner in range(ARMIES):
            for spell in range(packed.armies[owner].n_spells):
                far = step > _NEAR
                if far or not _may_be_in_play(packed, state, int64(owner), int64(spell)):
                    continue
                aim = _aim_in_play(packed, state, begun, int64(owner), int64(spell), ahead.lasting)
                if aim < 0:
                    continue
                begun.in_play[owner] = bit(spell)
                begun.aims[owner, spell] = aim
                pays = worth_per_phase(packed, begun, owner, spell)
                if pays > 0.0:
                    _solve_later(packed, begun, army, int64(_SCRATCH), terms, ahead)
                    duel = ahead.duels[_SCRATCH]
                    more = value_at(duel, ahead.table.values, whole(duel)) - base
                    more = more if owner == army else -more
                    ahead.before[owner, spell] = 1.0 + more / pays
                begun.in_play[owner] = 0
        _copy(ahead.before, ahead.lasting)
        _copy(ahead.later[_SCRATCH], ahead.later[army])
        ahead.comes[army] = True
    ahead.nothing[0] = value_of_later(packed, state, int64(state.active), ahead)
    _price_answer(packed, state, terms, ahead)


@jit(forceinline=False)
def _price_answer(packed: PackedScenario, state: State, terms: Terms, ahead: FuturePhases) -> None:
    """Write what it costs the active army to answer a free spell with a scroll."""
    army = int64(state.active)
    enemy = opponent_of(army)
    terms.answers[enemy] = np.inf
    for item in range(packed.armies[army].n_items):
        if dispels_outright(packed, state, army, item):
            terms.answers[enemy] = price_of_scroll(packed, enemy, terms, ahead)


@jit
def has_units(packed: PackedScenario) -> bool:
    """Whether there are units: then duels leave casualties and moves out."""
    return bool(packed.armies[0].n_units + packed.armies[1].n_units > 0)


@jit
def fade_of(packed: PackedScenario, terms: Terms) -> float:
    """Share of later phases that counts: all of it if nobody can be slain."""
    return terms.fade if has_units(packed) else 1.0


@jit(forceinline=False)
def _copy(source: NDArray[np.float64], target: NDArray[np.float64]) -> None:
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[i, k] = source[i, k]


@jit(forceinline=False)
def _begin_phase(packed: PackedScenario, state: State, army: int, later: int) -> None:
    """Go to an army's phase so much later, with nothing in play and all else as it is."""
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
    packed: PackedScenario, begun: State, army: int, place: int, terms: Terms, ahead: FuturePhases
) -> None:
    """Reduce the beginning of a phase to the duel at that place, and solve it."""
    duel = ahead.duels[place]
    for spells in range(terms.later_spells, -1, -1):
        reduce_phase(
            packed, begun, int64(spells), int64(NONE), terms, ahead.scores, duel, ahead.dispels
        )
        if table_size(duel) <= ahead.table.values.shape[0]:
            break
    fade, later = fade_of(packed, terms), ahead.later[army]
    charge_miscasts(packed, begun, fade * later[uses_size(duel) - 1, duel.scrolls], duel)
    for left in range(uses_size(duel)):
        for scrolls in range(duel.scrolls + 1):
            duel.later[left, scrolls] = fade * later[left, scrolls]
    solve_duel(duel, ahead.table)


@jit(forceinline=False)
def _keep_values(duel: Duel, table: DuelTable, later: NDArray[np.float64]) -> None:
    """Write the values of a phase by the uses and the scrolls that it begins with."""
    start = whole(duel)
    least = start.aid_state - (uses_size(duel) - 1)
    for left in range(uses_size(duel)):
        place = place_of(duel, start.left, start.in_play, int64(least + left), start.power)
        place += start.dispel * (duel.scrolls + 1)
        for scrolls in range(duel.scrolls + 1):
            later[left, scrolls] = table.values[place + scrolls]


@jit(forceinline=False)
def _may_be_in_play(packed: PackedScenario, state: State, army: int, spell: int) -> bool:
    """Whether a spell is in play, or may be put into play in this phase."""
    if packed.armies[army].spells[spell].duration != Duration.REMAINS_IN_PLAY:
        return False
    if state.in_play[army] & bit(spell):
        return True
    here = state.castable | (bit(state.spell - 1) if state.spell > 0 else 0)
    return bool(army == state.active and here & bit(spell))


@jit(forceinline=False)
def _aim_in_play(
    packed: PackedScenario, state: State, begun: State, army: int, spell: int, lasting: Lasting
) -> int:
    """1 + the aim that a spell would have in play, 0 where it has none; -1 if it has no target."""
    entry = packed.armies[army].spells[spell]
    if state.in_play[army] & bit(spell):
        return int64(state.aims[army, spell])
    if not entry.targeted:
        return int64(0)
    if army == state.active and state.spell - 1 == spell and state.aim > 0:
        return int64(state.aim)
    aim = best_aim(packed, begun, army, spell, lasting)
    return int64(aim + 1) if aim >= 0 else int64(-1)


@jit(forceinline=False)
def price_later(
    packed: PackedScenario, state: State, duel: Duel, army: int, terms: Terms, ahead: FuturePhases
) -> None:
    """Write what a duel of this army's phase leaves for its next one, none where there is none.

    What miscasts cost there is added to their cost. The rest is by how much more it is than if
    nothing were used from the position that was looked ahead from; the duel may be of a later
    position of the same phase.
    """
    duel.later[:] = 0.0
    if not ahead.comes[army]:
        return
    then, fade = ahead.duels[army], fade_of(packed, terms)
    charge_miscasts(packed, state, fade * value_of_later(packed, state, army, ahead), duel)
    more = _scrolls_of(packed, state, opponent_of(army)) - duel.scrolls  # that cannot be read now
    for left in range(uses_size(duel)):
        ours = _uses_of(state, duel, int64(left), army, then)
        for scrolls in range(duel.scrolls + 1):
            kept = min(int64(scrolls + more), int64(then.scrolls))
            duel.later[left, scrolls] = fade * (ahead.later[army, ours, kept] - ahead.nothing[0])


@jit
def value_of_later(packed: PackedScenario, state: State, army: int, ahead: FuturePhases) -> float:
    """Points of an army's phases to come if no more is used before."""
    if not ahead.comes[army]:
        return 0.0
    then = ahead.duels[army]
    scrolls = min(_scrolls_of(packed, state, opponent_of(army)), int64(then.scrolls))
    uses = int64(0)
    stride = int64(1)
    for k in range(then.n_aids):
        uses += min(int64(then.uses[k]), int64(state.items[army, then.aids[k].item])) * stride
        stride *= then.uses[k] + 1
    return float(ahead.later[army, uses, scrolls])


@jit
def _scrolls_of(packed: PackedScenario, state: State, army: int) -> int:
    """Return the uses of an army's items that dispel outright, though not all may be used now."""
    scrolls = int64(0)
    for item in range(packed.armies[army].n_items):
        if packed.armies[army].items[item].dispel_use == DispelUse.AUTOMATIC:
            scrolls += int64(state.items[army, item])
    return scrolls


@jit
def price_of_scroll(packed: PackedScenario, army: int, terms: Terms, ahead: FuturePhases) -> float:
    """Points that the enemy of an army loses, over that army's next phases, with one scroll."""
    then = ahead.duels[army]
    if not ahead.comes[army] or then.scrolls == 0:
        return 0.0
    full = uses_size(then) - 1
    more = ahead.later[army, full, then.scrolls - 1] - ahead.later[army, full, then.scrolls]
    return float(fade_of(packed, terms) * more)


@jit
def _uses_of(state: State, duel: Duel, left: int, army: int, then: Duel) -> int:
    """Return the uses left of a duel's aids as a later duel of the army counts them.

    Of aids that the duel lacks nothing is used in it.
    """
    found = int64(0)
    stride = int64(1)
    for k in range(then.n_aids):
        uses = min(int64(then.uses[k]), int64(state.items[army, then.aids[k].item]))
        for own in range(duel.n_aids):
            if duel.aids[own].item == then.aids[k].item:
                uses = min(int64(then.uses[k]), uses_in(duel, left, int64(own)))
        found += uses * stride
        stride *= then.uses[k] + 1
    return int64(found)
