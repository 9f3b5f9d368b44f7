"""Spells' strikes on their victims, one after the other, and Comets.

Wound probabilities are computed when the scenario is packed; here they are truncated at the
victim's remaining wounds. Enumeration and sampling read the same list (`work.pmf`), so they always
agree.

A Comet of Casandora stays in play from its casting until it lands, even if its caster dies, and can
be dispelled like any spell in play.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.casualties import gain_wound, wound_target
from wfb_gym.engine.queries import bit, split_spell
from wfb_gym.engine.shared_hits import hits_on_victim, next_member, row_of_victim, take_hits
from wfb_gym.engine.spells import end_spells
from wfb_gym.engine.state import Node, ReturnTo, State, WorkSpace
from wfb_gym.engine.targets import (
    aim_record,
    can_strike,
    inches_to_victim,
    models_left,
    victim_of,
    wounds_left,
)
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.scenario.sizes import SPELLS, UNITS

OWN_HITS = -1
"""Passed instead of a number of hits for the spell's own hits, when none are shared."""


@jit
def striking_spell(state: State) -> tuple[int, int]:
    """Return the army and the index of the spell that is striking."""
    return split_spell(state.striking - 1)


@jit
def _current_aim(packed: PackedScenario, state: State) -> int:
    """Return the striking spell's aim."""
    army, spell = striking_spell(state)
    if state.return_to == ReturnTo.COMETS:
        return int64(state.aims[army, spell] - 1)
    return int64(state.aim - 1) if army == state.active else int64(state.free_aim - 1)


@jit
def aim_of_strikes(packed: PackedScenario, state: State) -> tuple[int, int]:
    """Return the current aim's first strike and number of strikes."""
    army, spell = striking_spell(state)
    aim_entry = aim_record(packed, army, spell, _current_aim(packed, state))
    return int64(aim_entry.first_strike), int64(aim_entry.n_strikes)


@jit
def current_strike(packed: PackedScenario, state: State) -> int:
    """Return the current row of `PackedScenario.strikes`: a unit, or a character on its own."""
    first, _ = aim_of_strikes(packed, state)
    return first + int64(state.strike)


@jit
def strike_on_victim(packed: PackedScenario, state: State) -> int:
    """Return the strike row for the current victim, a unit or a character."""
    return row_of_victim(packed, state, current_strike(packed, state))


@jit(forceinline=False)
def next_strike(packed: PackedScenario, state: State) -> bool:
    """Move to the next victim that can be struck; return whether there is one."""
    army, spell = striking_spell(state)
    first, count = aim_of_strikes(packed, state)
    while state.strike < count:
        strike = first + int64(state.strike)
        if reaches(packed, state, strike) and can_strike(packed, state, strike):
            state.mover = army
            state.node = Node.ROLL_STRIKE
            if packed.strikes[strike].n_members:
                state.node = next_member(packed, state, strike)
            return True
        state.strike += 1
    if state.return_to == ReturnTo.COMETS:
        end_spells(packed, state, army, bit(spell))
    state.striking = 0
    state.strike = 0
    state.radius = 0
    return False


@jit(forceinline=False)
def reaches(packed: PackedScenario, state: State, strike: int) -> bool:
    """Return whether a victim is in reach of the striking spell; only a Comet can miss."""
    if state.radius == 0:
        return True
    army, spell = striking_spell(state)
    aim = _current_aim(packed, state)
    return bool(inches_to_victim(packed, army, spell, aim, strike) <= state.radius)


@jit
def most_of_strike(packed: PackedScenario, state: State) -> int:
    """Return the maximum number of wounds that the current victim can take."""
    hits = int64(state.hits) if state.hits > 0 else OWN_HITS
    return most_wounds_of_strike(packed, state, strike_on_victim(packed, state), hits)


@jit
def most_wounds_of_strike(packed: PackedScenario, state: State, row: int, hits: int) -> int:
    """Return the maximum number of wounds that a row's victim can take.

    This is the number of wounds left, or the largest number in its distribution if that is smaller.
    `hits` is the same as in `pmf_of_strike`.
    """
    strike = packed.strikes[row]
    side, index = victim_of(packed, row)
    left = int64(wounds_left(state, side, index))
    if strike.hits >= 0 or hits >= 0:
        return left
    return min(left, int64(strike.pmf_size) - 1)


@jit(forceinline=False)
def _binomial(
    pmf: NDArray[np.float64], count: int, hits: int, probability: float, each: int, most: int
) -> int:
    """Add `hits` more hits to the first `count` probabilities in `pmf`; return their new number.

    Each hit wounds with this probability and causes `each` wounds. Entry `most` includes all larger
    numbers.
    """
    for _ in range(hits):
        grown = min(most + 1, count + each)
        for k in range(count, grown):
            pmf[k] = 0.0
        for k in range(count - 1, -1, -1):
            moved = pmf[k] * probability
            pmf[k] -= moved
            pmf[min(most, k + each)] += moved
        count = grown
    return count


@jit(forceinline=False)
def strike_pmf(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Write the probabilities of 0, 1, 2 ... wounds to the current victim to `work.pmf`.

    Returns:
        Number of probabilities; the last includes all larger numbers of wounds.
    """
    hits = OWN_HITS
    if state.hits > 0:
        hits = int64(hits_on_victim(packed, state, current_strike(packed, state)))
    return pmf_of_strike(packed, state, strike_on_victim(packed, state), hits, work.pmf)


@jit(forceinline=False)
def pmf_of_strike(
    packed: PackedScenario, state: State, row: int, hits: int, pmf: NDArray[np.float64]
) -> int:
    """Write to `pmf` the probabilities of 0, 1, 2 ... wounds to a victim in its current state.

    Args:
        packed: the scenario.
        state: the position.
        row: strike row, which identifies the victim.
        hits: number of shared hits on the victim, or `OWN_HITS` for the spell's own hits.
        pmf: float64, overwritten from index 0.

    Returns:
        Number of probabilities; the last includes all larger numbers of wounds.
    """
    strike = packed.strikes[row]
    side, index = victim_of(packed, row)
    most = int64(most_wounds_of_strike(packed, state, row, hits))
    each = int64(strike.wounds_per_hit)
    if hits >= 0:
        pmf[0] = 1.0
        return _binomial(pmf, int64(1), hits, float(strike.chance), each, most)
    if strike.hits < 0:
        size = int64(strike.pmf_size)
        count = most + 1
        for k in range(count):
            pmf[k] = packed.pmfs[strike.pmf + k]
        for k in range(count, size):
            pmf[most] += packed.pmfs[strike.pmf + k]
        return count
    left = models_left(packed, state, side, index) if index < UNITS else int64(1)
    pmf[0] = 1.0
    struck = int64(packed.hits[strike.hits + left])
    count = _binomial(pmf, int64(1), struck, float(strike.chance), each, most)
    if strike.touched >= 0:
        struck = int64(packed.hits[strike.touched + left])
        count = _binomial(pmf, count, struck, float(strike.touched_chance), each, most)
    return count


@jit(forceinline=False)
def resolve_strike(packed: PackedScenario, state: State, wounds: int) -> float:
    """Remove this many wounds from the current victim and move to the next."""
    army, spell = striking_spell(state)
    side, index = victim_of(packed, strike_on_victim(packed, state))
    if state.hits == 0 or take_hits(packed, state, current_strike(packed, state)):
        state.strike += 1
    state.node = Node.STRIKES
    points = wound_target(packed, state, side, index, wounds)
    entry = packed.armies[army].spells[spell]
    if wounds > 0 and entry.gains_wound:
        points += gain_wound(packed, state, army, int64(entry.wizard))
    return points


@jit(forceinline=False)
def next_comet(packed: PackedScenario, state: State) -> None:
    """Go to the next Comet in play, or continue the start of the phase."""
    while packed.delayed and state.cursor < 2 * SPELLS:
        army, spell = split_spell(state.cursor)
        delayed = packed.armies[army].spells[spell].duration == Duration.DELAYED
        if delayed and state.in_play[army] & bit(spell):
            state.mover = army
            state.node = Node.ROLL_COMET
            return
        state.cursor += 1
    state.cursor = 0
    state.node = Node.STORED_DICE


@jit
def resolve_comet(packed: PackedScenario, state: State, lands: bool) -> None:
    """Let the Comet land, or add a marker to it."""
    army, spell = split_spell(state.cursor)
    if lands:
        state.node = Node.ROLL_RADIUS
        return
    state.markers[army, packed.armies[army].spells[spell].wizard] += 1
    state.cursor += 1
    state.node = Node.COMETS


@jit
def resolve_radius(packed: PackedScenario, state: State, die: int) -> None:
    """Strike every victim within `die` times the number of markers, in inches."""
    army, spell = split_spell(state.cursor)
    markers = int(state.markers[army, packed.armies[army].spells[spell].wizard])
    state.radius = die * markers
    state.striking = state.cursor + 1
    state.strike = 0
    state.return_to = ReturnTo.COMETS
    state.cursor += 1
    state.node = Node.STRIKES
