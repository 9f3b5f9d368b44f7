"""What a position may still bring by a rule of thumb, for searches that end before the phase does.

The active side goes on casting as if the dice gave their means, and the other side answers:

- Power dice go, handful after handful, to where a die adds most expected points: to spells that
  may still be attempted, or are under way.
- A spell that is cast has to be matched: its total is 3.5 a die, its casting value at the least.
- Scrolls stop the spells of most expected points. Dispel dice are handed out as the power dice are.
- What is in play goes on paying to the end of the battle.

Miscasts, items that help a cast and Magic Resistance are left out.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.odds import CAST_CHANCE, DISPEL_CHANCE, cast_need, dispel_need
from wfb_gym.engine.queries import (
    bit,
    can_nominate,
    caster_of,
    dice_cap,
    dispel_bonus,
    dispels_outright,
    gain,
    other,
)
from wfb_gym.engine.state import DispelAttempt, Node, State, WorkSpace
from wfb_gym.engine.targets import worth_of_pending
from wfb_gym.opponents.scripted import POINTS_PER_DIE
from wfb_gym.opponents.worth_and_odds import later_worth, pending_threat, phases_left, value_if_cast
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import ARMIES, DICE, SPELLS

POINTS = 0
NUMBER = SPELLS
NEED = 2 * SPELLS
CAP = 3 * SPELLS
DICE_FOR = 4 * SPELLS
"""Where the columns of the plan begin in the scratch, a row for each spell: points at stake, number
that a dispel has to match, row of the table of chances, most dice, dice handed out."""


@jit(forceinline=False)
def still_paid(packed: PackedScenario, state: State) -> float:
    """Points that the spells in play bring if nobody ends them, as the first army sees them."""
    points = 0.0
    if state.node == Node.END:
        return points
    for army in range(ARMIES):
        for spell in range(packed.armies[army].n_spells):
            if state.in_play[army] & bit(spell):
                worth = later_worth(packed, state, army, spell)
                points += gain(army, worth if army != state.mover else -worth)
    return points


@jit(forceinline=False)
def estimate(packed: PackedScenario, state: State, work: WorkSpace) -> float:
    """Points still to come for the first army; `work.pmf` is overwritten."""
    points = still_paid(packed, state)
    if state.node == Node.END:
        return points
    plan = work.pmf
    count = _cast(packed, state, plan)
    _stop(packed, state, plan, count)
    expected = 0.0
    for k in range(count):
        expected += plan[POINTS + k]
    return float(points + gain(int64(state.active), expected))


@jit(forceinline=False)
def estimate_phase(packed: PackedScenario, state: State, phase: int, work: WorkSpace) -> float:
    """Return the estimated points still to come, without casts in phases other than `phase`."""
    if state.node == Node.END or state.phase != phase:
        return float(still_paid(packed, state))
    return float(estimate(packed, state, work))


@jit
def _cast(packed: PackedScenario, state: State, plan: NDArray[np.float64]) -> int:
    """Write what the active side may still bring about; how many spells."""
    army = int64(state.active)
    dice = int64(state.power)
    for wizard in range(packed.armies[army].n_wizards):
        dice += int64(state.own_dice[wizard])
    sure = 0
    if state.attempt == DispelAttempt.CAST:
        plan[POINTS] = pending_threat(packed, state)
        plan[NUMBER] = state.number
        sure = 1
    count = sure
    for spell in range(packed.armies[army].n_spells):
        worth = _worth(packed, state, spell)
        if worth <= 0.0:
            continue
        entry = packed.armies[army].spells[spell]
        wizard = caster_of(packed, army, spell)
        plan[POINTS + count] = worth
        plan[NUMBER + count] = entry.casting_value
        plan[NEED + count] = cast_need(
            int64(entry.casting_value), int64(packed.armies[army].wizards[wizard].cast_bonus)
        )
        plan[CAP + count] = -1.0 if entry.bound else dice_cap(packed, state, army, wizard)
        count += 1
    _allot_dice(CAST_CHANCE, plan, sure, count, dice)
    for k in range(sure, count):
        n = int64(plan[DICE_FOR + k])
        if plan[CAP + k] >= 0.0:
            plan[POINTS + k] *= CAST_CHANCE[int64(plan[NEED + k]), n]
        plan[NUMBER + k] = max(plan[NUMBER + k], POINTS_PER_DIE * n)
    return count


@jit
def _worth(packed: PackedScenario, state: State, spell: int) -> float:
    """Points of a spell that may be cast now or is being cast; 0 of any other."""
    if state.spell - 1 == spell and state.attempt == DispelAttempt.NONE and state.row == 0:
        return float(
            worth_of_pending(packed, state.active, spell, state.aim, phases_left(packed, state))
        )
    if can_nominate(packed, state, spell):
        return float(value_if_cast(packed, state, state.active, spell))
    return 0.0


@jit
def _stop(packed: PackedScenario, state: State, plan: NDArray[np.float64], count: int) -> None:
    """Take from the plan what the other side stops."""
    enemy = other(state.active)
    for item in range(packed.armies[enemy].n_items):
        if dispels_outright(packed, state, enemy, item):
            for _ in range(state.items[enemy, item]):
                best = 0
                for k in range(1, count):
                    if plan[POINTS + k] > plan[POINTS + best]:
                        best = k
                plan[POINTS + best] = 0.0
    bonus = dispel_bonus(packed, state, enemy)
    for k in range(count):
        plan[NEED + k] = dispel_need(int64(plan[NUMBER + k]), bonus)
        plan[CAP + k] = DICE
    chances = DISPEL_CHANCE[int64(packed.dispel_double_six != 0)]
    _allot_dice(chances, plan, 0, count, int64(state.dispel))
    for k in range(count):
        plan[POINTS + k] *= 1.0 - chances[int64(plan[NEED + k]), int64(plan[DICE_FOR + k])]


@jit(forceinline=False)
def _allot_dice(
    chances: NDArray[np.float64], plan: NDArray[np.float64], first: int, count: int, dice: int
) -> None:
    """Hand out dice one handful after the other, where a die brings most points."""
    for k in range(first, count):
        plan[DICE_FOR + k] = 0.0
    while dice > 0:
        best = -1
        handful = 0
        most = 0.0
        for k in range(first, count):
            need = int64(plan[NEED + k])
            n = int64(plan[DICE_FOR + k])
            for more in range(1, min(dice, int64(plan[CAP + k]) - n) + 1):
                rate = plan[POINTS + k] * (chances[need, n + more] - chances[need, n]) / more
                if rate > most:
                    best = k
                    handful = more
                    most = rate
        if best < 0:
            return
        plan[DICE_FOR + best] += handful
        dice -= handful
