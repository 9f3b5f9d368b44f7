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
from wfb_gym.engine import queries
from wfb_gym.engine.odds import CAST_CHANCE, DISPEL_CHANCE, dispel_need
from wfb_gym.engine.promises import worth_in_play, worth_now, worth_of_pending
from wfb_gym.engine.state import DispelAttempt, Node, State, WorkSpace
from wfb_gym.opponents.scripted import POINTS_PER_DIE, need_of
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import ARMIES, DICE, SPELLS

EXPECTED = 0
TO_MATCH = SPELLS
NEED = 2 * SPELLS
MOST_DICE = 3 * SPELLS
ALLOTTED = 4 * SPELLS
"""Where the columns of a plan begin in the scratch, a row for each spell: expected points, number
that a dispel has to match, row of the table of chances, most dice, dice handed out."""


@jit(forceinline=False)
def estimate_phase(packed: PackedScenario, state: State, phase: int, work: WorkSpace) -> float:
    """Points still to come for the first army, without casts in phases other than `phase`.

    `work.pmf` is overwritten.
    """
    points = 0.0
    if state.node == Node.END:
        return points
    for army in range(ARMIES):  # what is in play, if nobody ends it
        for spell in range(packed.armies[army].n_spells):
            if state.in_play[army] & queries.bit(spell):
                worth = worth_in_play(packed, state, army, spell, 0.0)
                points += queries.gain(army, worth)
    if state.phase != phase:
        return points
    plan = work.pmf
    count = _plan_casts(packed, state, plan)
    _plan_dispels(packed, state, plan, count)
    expected = 0.0
    for k in range(count):
        expected += plan[EXPECTED + k]
    return float(points + queries.gain(int64(state.active), expected))


@jit
def _plan_casts(packed: PackedScenario, state: State, plan: NDArray[np.float64]) -> int:
    """Write what the active side may still bring about; how many spells."""
    army = int64(state.active)
    dice = int64(state.power)
    for wizard in range(packed.armies[army].n_wizards):
        dice += int64(state.own_dice[wizard])
    already_cast = 0
    if state.attempt == DispelAttempt.CAST:
        pending = int64(state.spell - 1)
        plan[EXPECTED] = worth_of_pending(packed, state, army, pending, int64(state.aim), 0.0)
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
    """Points of a spell that may be cast now or is being cast; 0 of any other."""
    army = int64(state.active)
    if state.spell - 1 == spell and state.attempt == DispelAttempt.NONE and state.row == 0:
        if state.aim or not packed.armies[army].spells[spell].targeted:
            return worth_of_pending(packed, state, army, spell, int64(state.aim), 0.0)
        return worth_now(packed, state, army, spell, 0.0)
    if queries.can_nominate(packed, state, spell):
        return worth_now(packed, state, army, spell, 0.0)
    return 0.0


@jit
def _plan_dispels(
    packed: PackedScenario, state: State, plan: NDArray[np.float64], count: int
) -> None:
    """Take from the plan what the other side stops."""
    if count == 0:
        return
    enemy = queries.other(state.active)
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
    """Hand out dice one handful after the other, where a die brings most points."""
    for k in range(first, count):
        plan[ALLOTTED + k] = 0.0
    while dice > 0:
        best = -1
        handful = 0
        most = 0.0
        for k in range(first, count):
            need = int64(plan[NEED + k])
            n = int64(plan[ALLOTTED + k])
            for more in range(1, min(dice, int64(plan[MOST_DICE + k]) - n) + 1):
                rate = plan[EXPECTED + k] * (chances[need, n + more] - chances[need, n]) / more
                if rate > most:
                    best = k
                    handful = more
                    most = rate
        if best < 0:
            return
        plan[ALLOTTED + best] += handful
        dice -= handful
