"""Heuristic value of a position, for searches that stop before the end of the phase.

The estimate assumes average dice. The active side continues to cast, and the other side responds:

- Power dice are allotted greedily to the spells where a die adds the most expected points. These
  are the castable spells and the spell being cast.
- The number to match for a dispel is 3.5 per power die, but at least the casting value.
- Scrolls stop the spells with the highest expected points. Dispel dice are allotted like power
  dice.
- Spells in play score until they end by themselves. A free spell that may still be dispelled takes
  effect. A spell's remaining strikes are carried out.

A spell's value is its average damage against the surviving victims, plus its healing. Letting a
spell through, or rolling for a spell that nothing can stop, therefore does not change the estimate
on average. Miscasts, items that help a cast, and Magic Resistance are ignored.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine import queries
from wfb_gym.engine.expected_score import change_by_aim, change_by_rest
from wfb_gym.engine.odds import CAST_CHANCE, DISPEL_CHANCE, dispel_need
from wfb_gym.engine.spell_values import (
    expected_points,
    expected_points_in_play,
    expected_points_of_pending,
    phases_left,
)
from wfb_gym.engine.state import AfterMiscast, DispelAttempt, Node, State, WorkSpace
from wfb_gym.engine.strikes import striking_spell
from wfb_gym.engine.targets import aim_record, can_aim, worth_per_phase
from wfb_gym.engine.victim_points import BY_MODELS
from wfb_gym.opponents.rules_of_thumb import POINTS_PER_DIE, need_of
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.scenario.sizes import ARMIES, DICE, SPELLS

EXPECTED = 0
TO_MATCH = SPELLS
NEED = 2 * SPELLS
MOST_DICE = 3 * SPELLS
ALLOTTED = 4 * SPELLS
"""Column offsets of a plan in the scratch array. Each column has one entry per spell: expected
points, number that a dispel must match, row in the chance table, maximum number of dice, dice
allotted."""


@jit(forceinline=False)
def estimate_phase(packed: PackedScenario, state: State, phase: int, work: WorkSpace) -> float:
    """Estimate the first army's future points, without casts after `phase`.

    Overwrites `work.pmf`.
    """
    points = 0.0
    if state.node == Node.END:
        return points
    for army in range(ARMIES):  # spells in play, if neither side ends them
        for spell in range(packed.armies[army].n_spells):
            if state.in_play[army] & queries.bit(spell):
                points += queries.gain(army, _points_in_play(packed, state, army, spell))
    if state.striking != 0:
        army, _ = striking_spell(state)
        points += queries.gain(army, change_by_rest(packed, state, BY_MODELS))
    if state.phase != phase:
        return float(points)
    if state.free != 0:
        enemy = queries.opponent_of(state.active)
        points += queries.gain(enemy, _worth_of_free_spell(packed, state, enemy))
    if state.after_miscast != AfterMiscast.CAST_AGAIN:
        return float(points)
    plan = work.pmf
    count = _plan_casts(packed, state, plan)
    _plan_dispels(packed, state, plan, count)
    expected = 0.0
    for k in range(count):
        expected += plan[EXPECTED + k]
    return float(points + queries.gain(int64(state.active), expected))


@jit
def _plan_casts(packed: PackedScenario, state: State, plan: NDArray[np.float64]) -> int:
    """Write the active side's castable and pending spells to the plan; return their number."""
    army = int64(state.active)
    dice = int64(state.power)
    for wizard in range(packed.armies[army].n_wizards):
        dice += int64(state.own_dice[wizard])
    already_cast = 0
    if state.attempt == DispelAttempt.CAST:
        pending = int64(state.spell - 1)
        plan[EXPECTED] = _worth_of_effect(packed, state, army, pending, int64(state.aim))
        plan[TO_MATCH] = state.number
        already_cast = 1
    count = already_cast
    for spell in range(packed.armies[army].n_spells):
        worth = _worth_of_cast(packed, state, spell)
        if worth <= 0.0:
            continue
        entry = packed.armies[army].spells[spell]
        wizard = queries.caster_of(packed, army, spell)
        plan[EXPECTED + count] = worth
        plan[TO_MATCH + count] = entry.casting_value
        plan[NEED + count] = need_of(packed, army, spell)
        plan[MOST_DICE + count] = (
            -1.0 if entry.bound else queries.dice_cap(packed, state, army, wizard)
        )
        count += 1
    _allot_dice(CAST_CHANCE, plan, already_cast, count, dice)
    for k in range(already_cast, count):
        n = int64(plan[ALLOTTED + k])
        if plan[MOST_DICE + k] >= 0.0:
            plan[EXPECTED + k] *= CAST_CHANCE[int64(plan[NEED + k]), n]
        plan[TO_MATCH + k] = max(plan[TO_MATCH + k], POINTS_PER_DIE * n)
    return count


@jit
def _worth_of_cast(packed: PackedScenario, state: State, spell: int) -> float:
    """Return the points of a spell that is castable or being cast; 0 for other spells."""
    army = int64(state.active)
    if state.spell - 1 == spell:
        if not _is_being_cast(state):
            return 0.0
        if state.aim or not packed.armies[army].spells[spell].targeted:
            return _worth_of_effect(packed, state, army, spell, int64(state.aim))
        return _worth_of_best_aim(packed, state, army, spell)
    if queries.can_nominate(packed, state, spell):
        return _worth_of_best_aim(packed, state, army, spell)
    return 0.0


@jit
def _is_being_cast(state: State) -> bool:
    """Return whether the nominated spell has not been rolled for yet."""
    return bool(
        state.attempt == DispelAttempt.NONE
        and state.striking == 0
        and state.row == 0
        and state.node != Node.ROLL_MISCAST
    )


@jit(forceinline=False)
def _worth_of_best_aim(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return a spell's points with its best legal aim; 0 without a legal aim."""
    entry = packed.armies[army].spells[spell]
    if not entry.targeted:
        return _worth_of_effect(packed, state, army, spell, int64(0))
    if entry.duration == Duration.DELAYED:
        return float(expected_points(packed, state, army, spell, 0.0))
    # Aims are ranked by their points against full units. A strike rarely scores more than that.
    is_ranked = not (packed.victory_points or entry.heals or entry.gains_wound)
    most = -np.inf
    for k in range(entry.n_aims):
        aim = int64(aim_record(packed, army, spell, k).ranked)
        if can_aim(packed, state, army, spell, aim):
            aim_entry = aim_record(packed, army, spell, aim)
            lasting = aim_entry.worth_per_phase * _scoring_phases(packed, state, army, spell)
            if is_ranked and aim_entry.expected_points + lasting <= most:
                break
            most = max(most, _worth_of_effect(packed, state, army, spell, aim + 1))
    return float(most if most > -np.inf else 0.0)


@jit(forceinline=False)
def _worth_of_effect(
    packed: PackedScenario, state: State, army: int, spell: int, aim_plus_one: int
) -> float:
    """Return a spell's points for its owner if it takes effect now; `aim_plus_one`: 0 if none."""
    entry = packed.armies[army].spells[spell]
    if entry.duration == Duration.DELAYED:
        return float(expected_points_of_pending(packed, state, army, spell, aim_plus_one, 0.0))
    phases = _scoring_phases(packed, state, army, spell)
    if aim_plus_one == 0:
        return float(entry.worth + entry.worth_per_phase * phases)
    aim_entry = aim_record(packed, army, spell, aim_plus_one - 1)
    change = change_by_aim(packed, state, army, spell, aim_plus_one - 1, BY_MODELS)
    return float(aim_entry.worth + change + aim_entry.worth_per_phase * phases)


@jit
def _scoring_phases(packed: PackedScenario, state: State, army: int, spell: int) -> int:
    """Return the number of phases in which a spell scores if it takes effect now and lasts."""
    left = phases_left(packed, state)
    if packed.armies[army].spells[spell].duration == Duration.ONE_TURN:
        return min(int64(2 if army == state.active else 1), left)
    return left


@jit
def _points_in_play(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return the future points from a spell in play, if neither side ends it."""
    if packed.armies[army].spells[spell].duration != Duration.ONE_TURN:
        return float(expected_points_in_play(packed, state, army, spell, 0.0))
    phases = _scoring_phases(packed, state, army, spell)
    if state.node == Node.ROLL_PANIC:  # this phase has been scored
        phases -= 1
    elif army == state.active and not state.new_in_play[army] & queries.bit(spell):
        phases = int64(0)  # it ends as this phase begins
    return float(worth_per_phase(packed, state, army, spell) * phases)


@jit(forceinline=False)
def _worth_of_free_spell(packed: PackedScenario, state: State, army: int) -> float:
    """Return the owner's points from a miscast's free spell that has not taken effect yet."""
    spell = int64(state.free - 1)
    if state.attempt == DispelAttempt.FREE:
        return _worth_of_effect(packed, state, army, spell, int64(state.free_aim))
    if state.node == Node.TARGET:
        return _worth_of_best_aim(packed, state, army, spell)
    return 0.0


@jit
def _plan_dispels(
    packed: PackedScenario, state: State, plan: NDArray[np.float64], count: int
) -> None:
    """Reduce the plan's expected points by the other side's scrolls and dispel dice."""
    if count == 0:
        return
    enemy = queries.opponent_of(state.active)
    for item in range(packed.armies[enemy].n_items):
        if queries.dispels_outright(packed, state, enemy, item):
            for _ in range(state.items[enemy, item]):
                plan[EXPECTED + np.argmax(plan[EXPECTED : EXPECTED + count])] = 0.0
    bonus = queries.dispel_bonus(packed, state, enemy)
    for k in range(count):
        plan[NEED + k] = dispel_need(int64(plan[TO_MATCH + k]), bonus)
        plan[MOST_DICE + k] = DICE
    chances = DISPEL_CHANCE[int64(packed.dispel_double_six != 0)]
    _allot_dice(chances, plan, 0, count, int64(state.dispel))
    for k in range(count):
        plan[EXPECTED + k] *= 1.0 - chances[int64(plan[NEED + k]), int64(plan[ALLOTTED + k])]


@jit(forceinline=False)
def _allot_dice(
    chances: NDArray[np.float64], plan: NDArray[np.float64], first: int, count: int, dice: int
) -> None:
    """Allot dice greedily, each time the group of dice with the most points per die."""
    for k in range(first, count):
        plan[ALLOTTED + k] = 0.0
    while dice > 0:
        best = -1
        group = 0
        most = 0.0
        for k in range(first, count):
            need = int64(plan[NEED + k])
            n = int64(plan[ALLOTTED + k])
            for more in range(1, min(dice, int64(plan[MOST_DICE + k]) - n) + 1):
                rate = plan[EXPECTED + k] * (chances[need, n + more] - chances[need, n]) / more
                if rate > most:
                    best = k
                    group = more
                    most = rate
        if best < 0:
            return
        plan[ALLOTTED + best] += group
        dice -= group
