"""Expected change in points by the end of the phase if a spell takes effect in a position.

`strikes.pmf_of_strike` computes the distribution of a victim's wounds. For each number of wounds
left, a unit concedes its points at the end of the phase. If it fails a Panic test, it concedes the
points for a fleeing unit and the characters in it instead. Two effects are ignored: the unit may
rally before the battle ends, and shared hits may also wound the characters in a fleeing unit.

With points for models, flight scores nothing. In this case, the same sums roughly measure the magic
lost to flight: the best spell of each character in the unit, if the unit does not rally before its
next phase. Dice and items are ignored.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._intrinsics import stack_floats
from wfb_gym._jit import int64, jit
from wfb_gym.engine.scoring import points_for, points_for_wizard, points_of, points_of_wizard
from wfb_gym.engine.shared_hits import hits_on_victim, lives, shares_hits
from wfb_gym.engine.state import MAX_PMF, OddHit, State
from wfb_gym.engine.strikes import (
    OWN_HITS,
    aim_of_strikes,
    most_wounds_of_strike,
    pmf_of_strike,
    reaches,
    striking_spell,
)
from wfb_gym.engine.targets import (
    aim_record,
    army_of,
    can_strike,
    flees,
    healed_wounds,
    inches_to_victim,
    index_of,
    models_left,
    victim_of,
    wounds_left,
)
from wfb_gym.engine.victim_points import Counts, cost_of_company, counts_of, mean_change
from wfb_gym.packing.records import OUT_OF_REACH, PackedScenario
from wfb_gym.rules.comets import landing_chances, reach_chances
from wfb_gym.rules.dice import FACES
from wfb_gym.rules.sharing import hits_each, odd_hits
from wfb_gym.scenario.sizes import ARMIES, PHASES, UNITS

LANDS_NOW = -1
"""Passed instead of a number of phase starts if the Comet lands now."""


def _reach_chances() -> NDArray[np.float64]:
    inches = np.arange(FACES * PHASES + 1)
    chances = np.zeros((PHASES + 2, PHASES + 1, len(inches)))
    for markers in range(1, PHASES + 1):
        by_start = [reach_chances(inches, markers + k) for k in range(PHASES)]
        chances[0, markers] = by_start[0]
        for k, lands in enumerate(landing_chances(PHASES)):
            chances[k + 2, markers] = chances[k + 1, markers] + lands * by_start[k]
    return chances


_REACH_CHANCES = _reach_chances()
"""Probability that a Comet reaches a victim.

Indexed by phase starts minus `LANDS_NOW`, markers at the first of these starts, and inches.
"""


@jit(forceinline=False)
def change_by_aim(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, wound_weight: float
) -> float:
    """Return an army's expected points if its spell takes effect now.

    Args:
        packed: the scenario, with victory points unless `wound_weight` is `BY_MODELS`.
        state: the position.
        army: the spell's owner.
        spell: one of its spells, not a Comet.
        aim: one of the spell's aims.
        wound_weight: minimum fraction of a wound's points that each wound lost scores. If
            `BY_MODELS`, points are scored for models if the scenario does so.
    """
    entry = packed.armies[army].spells[spell]
    aim_entry = aim_record(packed, army, spell, aim)
    points = 0.0
    if aim_entry.target and (entry.heals or entry.rallies):
        side, index = army_of(army, int64(aim_entry.target)), index_of(int64(aim_entry.target))
        rallies = bool(entry.rallies and packed.panic)
        points += change_by_care(packed, state, side, index, entry.heals != 0, rallies)
    for k in range(aim_entry.n_strikes):
        strike = int64(aim_entry.first_strike + k)
        if can_strike(packed, state, strike):
            points += _gain_by_strike(packed, state, army, spell, strike, wound_weight)
    return points


@jit(forceinline=False)
def change_by_rest(packed: PackedScenario, state: State, wound_weight: float) -> float:
    """Return the points that a striking spell's owner can expect from the rest of the spell.

    Args:
        packed: the scenario.
        state: a position in which a victim is about to be struck.
        wound_weight: as in `change_by_aim`.
    """
    army, spell = striking_spell(state)
    first, count = aim_of_strikes(packed, state)
    points = 0.0
    begun = int64(state.strike)
    if state.hits > 0:  # the hits on a small unit are being allocated
        strike = first + begun
        lost = _change_with_members(packed, state, strike, wound_weight, True, True)
        points += _gain_by_loss(packed, army, strike, lost)
        begun += 1
    for k in range(begun, count):
        strike = first + k
        if reaches(packed, state, strike) and can_strike(packed, state, strike):
            points += _gain_by_strike(packed, state, army, spell, strike, wound_weight)
    return points


@jit
def _gain_by_loss(packed: PackedScenario, army: int, strike: int, lost: float) -> float:
    """Return an army's points if its strike costs the victim's owner `lost` points."""
    side, _ = victim_of(packed, strike)
    return lost if side != army else -lost


@jit(forceinline=False)
def _gain_by_strike(
    packed: PackedScenario, state: State, army: int, spell: int, strike: int, wound_weight: float
) -> float:
    """Return an army's expected points from one strike of its spell."""
    entry = packed.armies[army].spells[spell]
    lost = _change_by_strike(packed, state, strike, wound_weight, True)
    points = _gain_by_loss(packed, army, strike, lost)
    if entry.gains_wound:
        points += _change_by_gain(packed, state, army, int64(entry.wizard), strike)
    return float(points)


@jit(forceinline=False)
def changes_by_victim(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    aim: int,
    wound_weight: float,
    changes: NDArray[np.float64],
) -> None:
    """Write to `changes` the victory points that a Comet's owner can expect from each victim.

    Victims are assumed to stay as they are now. Panic tests are ignored, because the Comet lands in
    another phase.

    Args:
        packed: the scenario, with victory points.
        state: the position.
        army: the Comet's owner.
        spell: the Comet.
        aim: one of its aims.
        wound_weight: as in `change_by_aim`.
        changes: float64; one entry for each of the aim's strikes is overwritten.
    """
    aim_entry = aim_record(packed, army, spell, aim)
    for k in range(aim_entry.n_strikes):
        strike = int64(aim_entry.first_strike + k)
        changes[k] = 0.0
        if can_strike(packed, state, strike):
            lost = _change_by_strike(packed, state, strike, wound_weight, False)
            changes[k] = _gain_by_loss(packed, army, strike, lost)


@jit(forceinline=False)
def change_by_landing(
    packed: PackedScenario,
    army: int,
    spell: int,
    aim: int,
    markers: int,
    starts: int,
    changes: NDArray[np.float64],
) -> float:
    """Return the expected victory points from a Comet within the next `starts` phase starts.

    Args:
        packed: the scenario, with victory points.
        army: the Comet's owner.
        spell: the Comet.
        aim: one of its aims.
        markers: markers on the Comet at the first of these starts.
        starts: number of phase starts, or `LANDS_NOW` if it lands with these markers.
        changes: as written by `changes_by_victim`.
    """
    aim_entry = aim_record(packed, army, spell, aim)
    points = 0.0
    for k in range(aim_entry.n_strikes):
        if changes[k] != 0.0:
            strike = int64(aim_entry.first_strike + k)
            inches = inches_to_victim(packed, army, spell, aim, strike)
            if inches != OUT_OF_REACH:
                points += _REACH_CHANCES[starts - LANDS_NOW, markers, inches] * changes[k]
    return points


@jit
def flight_may_pay(packed: PackedScenario, state: State) -> bool:
    """Return whether flight can cost magic, because some unit may still take a Panic test.

    Returns False with victory points, which score flight directly.
    """
    if not packed.panic or packed.victory_points:
        return False
    for army in range(ARMIES):
        for unit in range(packed.armies[army].n_units):
            if state.phase_models[army, unit]:
                return True
    return False


@jit(forceinline=False)
def flight_by_aim(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> float:
    """Return the expected value of the magic that the enemy loses if the struck units flee.

    Args:
        packed: the scenario, with points for models.
        state: the position.
        army: the spell's owner.
        spell: one of its spells.
        aim: one of the spell's aims.
    """
    aim_entry = aim_record(packed, army, spell, aim)
    if aim_entry.landing >= 0:
        return 0.0
    points = 0.0
    for k in range(aim_entry.n_strikes):
        strike = int64(aim_entry.first_strike + k)
        side, index = victim_of(packed, strike)
        if index < UNITS and state.phase_models[side, index]:
            if can_strike(packed, state, strike):
                lost = _change_by_strike(packed, state, strike, 0.0, True)
                points += _gain_by_loss(packed, army, strike, lost)
    return points


# --- one victim ----------------------------------------------------------------------------


@jit(forceinline=False)
def _change_by_strike(
    packed: PackedScenario, state: State, strike: int, wound_weight: float, panic: bool
) -> float:
    """Return the expected points that a strike costs its victim and characters sharing its hits."""
    if packed.strikes[strike].n_members and shares_hits(packed, state, strike):
        return _change_with_members(packed, state, strike, wound_weight, panic, False)
    most = int64(most_wounds_of_strike(packed, state, strike, OWN_HITS))
    counts = counts_of(packed, state, strike, most, wound_weight, panic)
    if not counts.matters:
        return 0.0
    if packed.strikes[strike].hits < 0:
        first, size = int64(packed.strikes[strike].pmf), int64(packed.strikes[strike].pmf_size)
        return mean_change(counts, packed.pmfs, first, size)
    return _change_by_models(packed, state, strike, counts)


@jit(forceinline=False)
def _change_by_models(packed: PackedScenario, state: State, strike: int, counts: Counts) -> float:
    """Return the expected points from a strike whose number of hits depends on the models left."""
    pmf = stack_floats(MAX_PMF)
    count = pmf_of_strike(packed, state, strike, OWN_HITS, pmf)
    return mean_change(counts, pmf, int64(0), count)


@jit(forceinline=False)
def _change_with_members(
    packed: PackedScenario,
    state: State,
    unit: int,
    wound_weight: float,
    panic: bool,
    is_begun: bool,
) -> float:
    """Return the expected points that a strike costs a small unit and the characters in it.

    Hits are allocated member by member, as in the game.
    """
    hits, pmf = stack_floats(MAX_PMF), stack_floats(MAX_PMF)
    dealt = stack_floats(MAX_PMF)  # to one character
    row = packed.strikes[unit]
    first = packed.strikes[row.first_member]
    size = int64(first.pmf_size)
    for k in range(size):
        hits[k] = packed.pmfs[first.pmf + k]
    next_one = int64(0)
    if is_begun:  # the hits have been rolled, and some may have been allocated
        next_one = int64(state.member)
        for k in range(size):
            hits[k] = 0.0
        hits[state.hits] = 1.0
    side, index = victim_of(packed, unit)
    members = int64(models_left(packed, state, side, index))
    for member in range(next_one, row.n_members):
        members += lives(packed, state, unit, member)
    points = 0.0
    for member in range(next_one, row.n_members):
        if lives(packed, state, unit, member):
            _allocate_hits(hits, dealt, size, members)
            if is_begun and member == state.member and state.odd_hit != OddHit.UNDECIDED:
                _allocate_known_hits(packed, state, unit, size, hits, dealt)
            members -= 1
            strike = int64(row.first_member) + member
            points += _mean_of_hits(packed, state, strike, dealt, size, wound_weight, panic, pmf)
    return points + _mean_of_hits(packed, state, unit, hits, size, wound_weight, panic, pmf)


@jit(forceinline=False)
def _allocate_hits(
    hits: NDArray[np.float64], dealt: NDArray[np.float64], size: int, members: int
) -> None:
    """Move one of `members` members' hits from the distribution `hits` to `dealt`."""
    for k in range(size):
        dealt[k] = 0.0
    for number in range(size):
        chance = hits[number]
        hits[number] = 0.0
        each = hits_each(number, members)
        struck = chance * odd_hits(number, members) / members  # this member takes an odd hit
        dealt[each] += chance - struck
        hits[number - each] += chance - struck
        if struck > 0.0:
            dealt[each + 1] += struck
            hits[number - each - 1] += struck


@jit(forceinline=False)
def _allocate_known_hits(
    packed: PackedScenario,
    state: State,
    unit: int,
    size: int,
    hits: NDArray[np.float64],
    dealt: NDArray[np.float64],
) -> None:
    """Allocate hits like `_allocate_hits`, for a character whose odd hit is already rolled."""
    hits_of_one = int64(hits_on_victim(packed, state, unit))
    for k in range(size):
        dealt[k] = hits[k] = 0.0
    dealt[hits_of_one] = 1.0
    hits[state.hits - hits_of_one] = 1.0


@jit(forceinline=False)
def _mean_of_hits(
    packed: PackedScenario,
    state: State,
    row: int,
    dealt: NDArray[np.float64],
    size: int,
    wound_weight: float,
    panic: bool,
    pmf: NDArray[np.float64],
) -> float:
    """Return the expected points that strike `row`'s victim loses to the hits dealt to it."""
    most = int64(most_wounds_of_strike(packed, state, row, size))
    counts = counts_of(packed, state, row, most, wound_weight, panic)
    points = 0.0
    if counts.matters:
        for hits in range(1, size):
            if dealt[hits] > 0.0:
                count = pmf_of_strike(packed, state, row, hits, pmf)
                points += dealt[hits] * mean_change(counts, pmf, int64(0), count)
    return points


# --- points regained ---------------------------------------------------------------------


@jit(forceinline=False)
def change_by_care(
    packed: PackedScenario, state: State, side: int, index: int, heals: bool, rallies: bool
) -> float:
    """Return the points that the enemy no longer scores for a target that is healed or rallies."""
    left = int64(wounds_left(state, side, index))
    if heals:
        left = int64(healed_wounds(packed, state, side, index))
    fled = bool(flees(state, side, index))
    points = points_for(packed, state, side, index)
    points -= points_of(packed, side, index, left, fled and not rallies)
    if index < UNITS and fled and rallies:
        points += cost_of_company(packed, state, side, index)
    return float(points)


@jit(forceinline=False)
def _change_by_gain(
    packed: PackedScenario, state: State, army: int, wizard: int, strike: int
) -> float:
    """Return the points that the enemy no longer scores if a strike gives its caster a wound."""
    left = int64(state.wounds[army, wizard])
    fled = bool(flees(state, army, UNITS + wizard))
    gained = points_for_wizard(packed, state, army, wizard)
    gained -= points_of_wizard(packed, army, wizard, left + 1, fled)
    if left == 0 or gained == 0.0:
        return 0.0
    pmf = stack_floats(MAX_PMF)
    pmf_of_strike(packed, state, strike, OWN_HITS, pmf)
    return float((1.0 - pmf[0]) * gained)
