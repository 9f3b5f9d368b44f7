"""Spells strike their victims one after the other, and Comets come nearer or land.

The probabilities of wounds were computed when the scenario was packed; here they are cut to what
is left of the victim. Enumeration and sampling read the same list (`work.pmf`), so they cannot
disagree.

A Comet of Casandora lies in play from its casting until it lands, whatever becomes of its
caster, and can be dispelled like any spell in play.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.casualties import gain_wound, wound_target
from wfb_gym.engine.queries import bit
from wfb_gym.engine.shared_hits import hits_on_victim, next_member, row_of_victim, take_hits
from wfb_gym.engine.spells import end_spells
from wfb_gym.engine.state import Node, ReturnTo, State, WorkSpace
from wfb_gym.engine.targets import can_strike, inches_to_victim, models_left, wounds_left
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.scenario.sizes import SPELLS, TARGETS, UNITS

OWN_HITS = -1
"""In place of a number of hits: those of the spell, none of which are shared."""


@jit
def _aim_under_way(packed: PackedScenario, state: State) -> int:
    """Which of its aims the spell that is striking was aimed at."""
    army = int64(state.striking - 1) // SPELLS
    if state.return_to == ReturnTo.COMETS:
        return int64(state.aims[army, int64(state.striking - 1) % SPELLS] - 1)
    return int64(state.aim - 1) if army == state.active else int64(state.free_aim - 1)


@jit
def aim_of_strikes(packed: PackedScenario, state: State) -> tuple[int, int]:
    """First strike and number of strikes of the aim under way."""
    army = int64(state.striking - 1) // SPELLS
    entry = packed.armies[army].spells[int64(state.striking - 1) % SPELLS]
    way = packed.armies[army].aims[entry.first_aim + _aim_under_way(packed, state)]
    return int64(way.first_strike), int64(way.n_strikes)


@jit
def current_strike(packed: PackedScenario, state: State) -> int:
    """Row of the table's strikes that is under way: on a unit, or a character by itself."""
    first, _ = aim_of_strikes(packed, state)
    return first + int64(state.strike)


@jit
def strike_on_victim(packed: PackedScenario, state: State) -> int:
    """Row of the strikes with the victim under way: that, or a character that shares its hits."""
    return row_of_victim(packed, state, current_strike(packed, state))


@jit(forceinline=False)
def next_strike(packed: PackedScenario, state: State) -> bool:
    """Move on to the next victim that can be struck; return whether there is one."""
    first, count = aim_of_strikes(packed, state)
    while state.strike < count:
        strike = first + int64(state.strike)
        if reaches(packed, state, strike) and can_strike(packed, state, strike):
            state.mover = int64(state.striking - 1) // SPELLS
            state.node = Node.ROLL_STRIKE
            if packed.strikes[strike].n_members:
                state.node = next_member(packed, state, strike)
            return True
        state.strike += 1
    if state.return_to == ReturnTo.COMETS:
        army = int64(state.striking - 1) // SPELLS
        end_spells(packed, state, army, bit(int64(state.striking - 1) % SPELLS))
    state.striking = 0
    state.strike = 0
    state.radius = 0
    return False


@jit(forceinline=False)
def reaches(packed: PackedScenario, state: State, strike: int) -> bool:
    """Whether a victim is near enough to the spell that is striking; only a Comet's may not be."""
    if state.radius == 0:
        return True
    army = int64(state.striking - 1) // SPELLS
    spell = int64(state.striking - 1) % SPELLS
    aim = _aim_under_way(packed, state)
    return bool(inches_to_victim(packed, army, spell, aim, strike) <= state.radius)


@jit
def most_of_strike(packed: PackedScenario, state: State) -> int:
    """Most wounds that the victim under way can take: those left, and those of its distribution."""
    row = strike_on_victim(packed, state)
    return most_wounds_of_strike(
        packed, state, row, int64(state.hits) if state.hits > 0 else OWN_HITS
    )


@jit
def most_wounds_of_strike(packed: PackedScenario, state: State, row: int, hits: int) -> int:
    """Most wounds that the victim of a row can take; `hits` as `pmf_of_strike` takes them."""
    strike = packed.strikes[row]
    victim = int64(strike.victim)
    left = int64(wounds_left(state, victim // TARGETS, victim % TARGETS))
    if strike.hits >= 0 or hits >= 0:
        return left
    return min(left, int64(strike.pmf_size) - 1)


@jit(forceinline=False)
def _binomial(
    pmf: NDArray[np.float64], count: int, hits: int, probability: float, each: int, most: int
) -> int:
    """Add `hits` more hits to the `count` probabilities in `pmf`; return how many there are.

    Each wounds with this probability and takes `each` wounds; beyond `most` all is one.
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
    """Write the probabilities of 0, 1, 2 ... wounds of the victim under way to `work.pmf`.

    Returns:
        How many there are; the last is that of all wounds that are left, or more.
    """
    hits = OWN_HITS
    if state.hits > 0:
        hits = int64(hits_on_victim(packed, state, current_strike(packed, state)))
    return pmf_of_strike(packed, state, strike_on_victim(packed, state), hits, work.pmf)


@jit(forceinline=False)
def pmf_of_strike(
    packed: PackedScenario, state: State, row: int, hits: int, pmf: NDArray[np.float64]
) -> int:
    """Write the probabilities of 0, 1, 2 ... wounds of a victim as it is to `pmf`.

    Args:
        packed: the scenario.
        state: the position.
        row: of the strikes, with the victim.
        hits: that it has been dealt of those shared out, or `OWN_HITS` where the spell says.
        pmf: overwritten from the front.

    Returns:
        How many there are; the last is that of all wounds that are left, or more.
    """
    strike = packed.strikes[row]
    victim = int64(strike.victim)
    side = victim // TARGETS
    index = victim % TARGETS
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
    """Take so many wounds from the victim under way and go to the next."""
    army = int64(state.striking - 1) // SPELLS
    spell = int64(state.striking - 1) % SPELLS
    victim = int64(packed.strikes[strike_on_victim(packed, state)].victim)
    if state.hits == 0 or take_hits(packed, state, current_strike(packed, state)):
        state.strike += 1
    state.node = Node.STRIKES
    points = wound_target(packed, state, victim, wounds)
    entry = packed.armies[army].spells[spell]
    if wounds > 0 and entry.gains_wound:
        points += gain_wound(packed, state, army, int64(entry.wizard))
    return points


@jit(forceinline=False)
def next_comet(packed: PackedScenario, state: State) -> None:
    """Go to the next Comet in play, or on with the phase's beginning."""
    while packed.delayed and state.cursor < 2 * SPELLS:
        army = int64(state.cursor) // SPELLS
        spell = int64(state.cursor) % SPELLS
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
    """Let the Comet land, or grow its marker."""
    army = int64(state.cursor) // SPELLS
    spell = int64(state.cursor) % SPELLS
    if lands:
        state.node = Node.ROLL_RADIUS
        return
    state.markers[army, packed.armies[army].spells[spell].wizard] += 1
    state.cursor += 1
    state.node = Node.COMETS


@jit
def resolve_radius(packed: PackedScenario, state: State, die: int) -> None:
    """Strike everybody within D6 inches a marker."""
    army = int64(state.cursor) // SPELLS
    spell = int64(state.cursor) % SPELLS
    markers = int(state.markers[army, packed.armies[army].spells[spell].wizard])
    state.radius = die * markers
    state.striking = state.cursor + 1
    state.strike = 0
    state.return_to = ReturnTo.COMETS
    state.cursor += 1
    state.node = Node.STRIKES
