"""Invariants of every position, checked by compiled code that plays random battles.

Each check has a number; `BROKEN` describes it.
"""

from typing import Any

import numpy as np

from wfb_gym._jit import int64, jit
from wfb_gym.engine.chance import sample
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import bit, is_chance, is_decision
from wfb_gym.engine.random_numbers import next_choice
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.engine.targets import army_of, flees, index_of, models_left, wounds_left
from wfb_gym.engine.transition import act_and_list, begin, resolve_and_list
from wfb_gym.packing.records import Duration, Lock
from wfb_gym.scenario.sizes import DICE, SPELLS, UNITS

BROKEN = {
    1: "a position that is neither a decision nor a chance node nor the end",
    2: "a decision with less than two actions, or actions out of order",
    3: "an impossible phase or active army",
    4: "a pool below 0 or above its most",
    5: "a character with more wounds, levels or locks than it can have",
    6: "a dead character with dice, spells or items left",
    7: "a unit with fewer than 0 or more than all wounds",
    8: "an item with more uses or dice than it can hold",
    9: "impossible sets of castable, known, fresh or tried spells",
    10: "an instant in play, or a spell in play without its aim",
    11: "a spell in play on a removed target",
    12: "markers without a Comet, or a Comet without markers",
    13: "an operation in progress at a node without one",
    14: "points that no casualty explains",
    15: "a battle that does not end",
    16: "flight of a removed piece, of a character without its unit, or without panic in the rules",
    17: "castable spells of a fleeing wizard",
    18: "impossible models at the start of a phase, or models of a unit without a test",
}
MOST_STEPS = 20_000
"""Arrays of one battle."""


@jit(forceinline=False)
def broken(packed: Any, state: Any, count: int, work: Any) -> int:
    """Return the number of a check that the position fails; 0 for none."""
    if not (is_decision(state.node) or is_chance(state.node)):
        return 1
    if is_decision(state.node):
        if count < 2 or count != legal_actions(packed, state, work):
            return 2
        for k in range(1, count):
            if work.legal[k] <= work.legal[k - 1]:
                return 2
    if not 0 <= state.phase < packed.phases or state.mover not in (0, 1):
        return 3
    drawing = state.node == Node.ROLL_SPELLS or state.node == Node.SWAP_SPELL
    if state.active != state.phase % 2 and not drawing:
        return 3
    if not (0 <= state.power <= DICE and 0 <= state.dispel <= DICE and 0 <= state.dice <= DICE):
        return 4
    for army in range(2):
        failed = _army_broken(packed, state, army)
        if not failed:
            failed = _morale_broken(packed, state, army)
        if failed:
            return failed
    between = state.node == Node.NOMINATE or state.node == Node.IN_PLAY
    pending = state.striking | state.attempt | state.dice | state.number | state.declared
    pending |= state.hits | state.member | state.odd_hit
    if between and (pending or state.spell or state.free or state.aim or state.free_aim):
        return 13
    return 0


@jit(forceinline=False)
def _army_broken(packed: Any, state: Any, army: int) -> int:
    side = packed.armies[army]
    spells = bit(side.n_spells) - 1
    for w in range(side.n_wizards):
        wizard = side.wizards[w]
        lock = state.lock[army, w] % BARS_ITEMS
        gained = 20 if _gains(packed, army, w) else int64(wizard.wounds)
        if not 0 <= state.wounds[army, w] <= gained or not 0 <= lock <= Lock.BATTLE_END:
            return 5
        if not 0 <= state.level[army, w] <= wizard.level:
            return 5
        if not 0 <= state.own_dice[w] <= DICE:
            return 4
        if state.wounds[army, w] == 0:
            left = state.own_dice[w] if army == state.active else 0
            if state.level[army, w] or state.lock[army, w] or left:
                return 6
            if army == state.active and state.castable & (wizard.spells | wizard.bound):
                return 6
            kept = state.in_play[army] & (wizard.spells | wizard.bound)
            for s in range(side.n_spells):
                lasting = side.spells[s].duration == Duration.REMAINS_IN_PLAY
                if kept & bit(s) and lasting and not side.spells[s].survives_caster:
                    return 6
        comet = 0
        for s in range(side.n_spells):
            delayed = side.spells[s].duration == Duration.DELAYED
            if delayed and side.spells[s].wizard == w and state.in_play[army] & bit(s):
                comet = 1
        if (state.markers[army, w] > 0) != (comet == 1):
            return 12
    for u in range(side.n_units):
        whole = int64(side.units[u].models) * int64(side.units[u].wounds)
        if not 0 <= state.unit_wounds[army, u] <= whole:
            return 7
    for i in range(side.n_items):
        most = max(int64(side.items[i].count), int64(side.items[i].stores))
        if not 0 <= state.items[army, i] <= most:
            return 8
    known, in_play = state.known[army], state.in_play[army]
    if (known | in_play) & ~spells or (state.new_in_play[army] | state.attempted[army]) & ~in_play:
        return 9
    if army == state.active and state.castable & ~spells:
        return 9
    for s in range(SPELLS):
        aim = state.aims[army, s]
        if not in_play & bit(s):
            if aim:
                return 10
            continue
        entry = side.spells[s]
        if entry.duration == Duration.INSTANT or (aim > 0) != (entry.targeted != 0):
            return 10
        if aim and entry.duration != Duration.DELAYED:
            code = int64(side.aims[entry.first_aim + aim - 1].target)
            if code and wounds_left(state, army_of(army, code), index_of(code)) == 0:
                return 11
    return 0


@jit(forceinline=False)
def _morale_broken(packed: Any, state: Any, army: int) -> int:
    side = packed.armies[army]
    for w in range(side.n_wizards):
        wizard = side.wizards[w]
        fled = flees(state, army, UNITS + w)
        unit = int64(wizard.unit - 1)
        if state.wounds[army, w] == 0:
            if fled:
                return 16
        elif unit >= 0 and state.unit_wounds[army, unit] > 0:
            if fled != flees(state, army, unit):
                return 16
        elif not packed.panic and fled != (wizard.fleeing != 0):
            return 16
        if fled and army == state.active and state.castable & (wizard.spells | wizard.bound):
            return 17
    for u in range(side.n_units):
        entry = side.units[u]
        fled = flees(state, army, u)
        began = state.phase_models[army, u]
        if state.unit_wounds[army, u] == 0:
            if fled or began:
                return 16 if fled else 18
        elif not packed.panic and fled != (entry.fleeing != 0):
            return 16
        if began and (fled or not packed.panic or not entry.panics or entry.engaged):
            return 18
        if began and not models_left(packed, state, army, u) <= began <= entry.models:
            return 18
    return 0


@jit(forceinline=False)
def _gains(packed: Any, army: int, wizard: int) -> bool:
    for s in range(packed.armies[army].n_spells):
        spell = packed.armies[army].spells[s]
        if spell.wizard == wizard and spell.gains_wound:
            return True
    return False


@jit(forceinline=False)
def _conceded(points: float, left: int, whole: int, flees: bool) -> float:
    if left == 0 or flees:
        return points
    return np.ceil(points / 2 - 1e-9) if left < whole - left else 0.0


@jit(forceinline=False)
def tally(packed: Any, state: Any) -> float:
    """Return the victory points of a position from the first army's side."""
    points = 0.0
    for army in range(2):
        side = packed.armies[army]
        lost = 0.0
        for u in range(side.n_units):
            whole, left = int64(side.units[u].models), models_left(packed, state, army, u)
            if whole == 1:
                whole, left = int64(side.units[u].wounds), int64(state.unit_wounds[army, u])
            fled = (state.fleeing[army] & bit(u)) != 0
            lost += _conceded(side.units[u].models * side.units[u].points, left, whole, fled)
        for w in range(side.n_wizards):
            own, left = int64(side.wizards[w].wounds), int64(state.wounds[army, w])
            fled = (state.fleeing[army] & bit(UNITS + w)) != 0
            if not side.wizards[w].daemons:
                lost += _conceded(own * side.wizards[w].points_per_wound, left, own, fled)
            if side.wizards[w].general and (left == 0 or fled):
                lost += 100.0
        points += lost if army == 1 else -lost
    return points


@jit(forceinline=False)
def casualties(packed: Any, state: Any) -> float:
    """Return the points of all casualties or counted losses, from the first army's side.

    Differences count: models in contact of no unit are counted while they live.
    """
    if packed.victory_points:
        return tally(packed, state)
    points = 0.0
    for army in range(2):
        side = packed.armies[army]
        lost = 0.0
        for u in range(side.n_units):
            gone = int64(side.units[u].models) - models_left(packed, state, army, u)
            lost += gone * side.units[u].points
        for w in range(side.n_wizards):
            own = int64(side.wizards[w].wounds)
            if not side.wizards[w].daemons and side.wizards[w].alive:
                gone = own - min(own, int64(state.wounds[army, w]))
                lost += gone * side.wizards[w].points_per_wound
        for group in range(packed.n_contacts):
            contact = packed.contacts[group]
            if contact.unit == 0 and contact.owner == army:
                lost -= int64(state.contacts[group]) * contact.points
        points += lost if army == 1 else -lost
    return points


@jit(forceinline=False)
def play_on(
    packed: Any, state: Any, rng: Any, work: Any, steps: int, counts_casualties: bool
) -> tuple[int, int, int]:
    """Play battles of random choices for this many steps.

    Args:
        packed: the scenario.
        state: overwritten.
        rng: generator of dice and choices.
        work: scratch arrays.
        steps: least total of actions and rolls.
        counts_casualties: points must equal the casualties, before the last phase.

    Returns:
        Number of the first check that failed, or 0; steps taken; battles ended.
    """
    taken = 0
    battles = 0
    while taken < steps:
        points = begin(packed, state, work)
        begun = casualties(packed, state) - points
        alone = 0
        while state.node != Node.END:
            count = legal_actions(packed, state, work) if is_decision(state.node) else int64(0)
            failed = broken(packed, state, count, work)
            last = state.phase + 1 >= packed.phases
            if not failed and counts_casualties and not last:
                if abs(points + begun - casualties(packed, state)) > 1e-6:
                    failed = 14
            if failed == 0 and alone > MOST_STEPS:
                failed = 15
            if failed:
                return failed, taken, battles
            if count > 0:
                action = int64(work.legal[next_choice(rng, count)])
                gained, _ = act_and_list(packed, state, action, work)
            else:
                outcome = sample(packed, state, rng, work)
                gained, _ = resolve_and_list(packed, state, outcome, work)
            points += gained
            taken += 1
            alone += 1
        battles += 1
        taken += 1  # a battle without casters ends before any decision
    return 0, taken, battles
