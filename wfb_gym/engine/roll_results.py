"""Read a casting or dispel roll, and keep or re-roll its dice.

Natural dice before any re-roll decide miscast, irresistible force and their like; only an item
that says so has them read again (S4).
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import actions as _actions
from wfb_gym.engine.casting import apply_cast_outcome, final_cast_outcome, natural_result_of_cast
from wfb_gym.engine.dispelling import (
    apply_dispel_outcome,
    final_dispel_outcome,
    natural_result_of_dispel,
)
from wfb_gym.engine.outcomes import (
    HANDFUL,
    handful_of,
    hold_handful,
    is_handful,
    keep_handful,
    rollable,
)
from wfb_gym.engine.queries import bit, can_reroll, reroll_item, without
from wfb_gym.engine.spells import use_item
from wfb_gym.engine.state import DispelAttempt, NaturalResult, Node, State
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.dice import FACES

PASS = _actions.PASS
FIRST_REROLL = _actions.FIRST_REROLL
REROLL_ALL = _actions.REROLL_ALL


@jit
def is_first_roll(state: State) -> bool:
    """Whether the pending dice have not been rolled yet."""
    return bool(state.node == Node.ROLL_CASTING or state.node == Node.ROLL_DISPEL)


@jit
def natural_result_after(
    packed: PackedScenario, state: State, ones: int, sixes: int, natural: int, handful: int
) -> int:
    """Nature of the pending roll once its dice read so, all of them taken together."""
    if not is_first_roll(state) and state.natural_result != NaturalResult.OPEN:
        return int64(state.natural_result)
    if state.attempt == DispelAttempt.NONE:
        return int(natural_result_of_cast(packed, state, ones, sixes, natural, handful))
    return int(natural_result_of_dispel(packed, ones, sixes))


@jit
def may_reroll_after(packed: PackedScenario, state: State, natural_result: int) -> bool:
    """Whether the roller may choose to re-roll once the pending dice lie."""
    if not is_first_roll(state) and rollable(state) == 0:
        return False
    return bool(can_reroll(packed, state, natural_result))


@jit
def final_outcome(packed: PackedScenario, state: State, natural_result: int, natural: int) -> int:
    """Outcome of the pending roll, if it stands."""
    if state.attempt == DispelAttempt.NONE:
        return int(final_cast_outcome(packed, state, natural_result, natural))
    return int(final_dispel_outcome(packed, state, natural_result, natural))


@jit
def read_roll(
    packed: PackedScenario, state: State, ones: int, sixes: int, natural: int, handful: int
) -> int:
    """Outcome of the pending roll.

    Args:
        packed: the scenario.
        state: at a node where casting or dispel dice are rolled.
        ones: 1s among the dice now rolled.
        sixes: 6s among them.
        natural: their total.
        handful: their faces; looked at only where a re-roll may follow or any double counts.
    """
    if not is_first_roll(state):
        ones += int(state.faces[0]) + int(state.held[0])
        sixes += int(state.faces[5]) + int(state.held[5])
        for face in range(FACES):
            natural += (face + 1) * (int(state.faces[face]) + int(state.held[face]))
    whole = handful if is_first_roll(state) else handful + handful_of(state)
    natural_result = natural_result_after(packed, state, ones, sixes, natural, whole)
    if may_reroll_after(packed, state, natural_result):
        return HANDFUL | handful
    return int(final_outcome(packed, state, natural_result, natural))


@jit
def resolve_roll(packed: PackedScenario, state: State, outcome: int) -> float:
    """Go on from a casting or dispel roll."""
    if is_handful(outcome):
        first = is_first_roll(state)
        if first:
            keep_handful(state, outcome)
        else:
            hold_handful(state, outcome)
        ones = int(state.faces[0]) + int(state.held[0])
        sixes = int(state.faces[5]) + int(state.held[5])
        state.natural_result = natural_result_after(
            packed, state, ones, sixes, _natural(state), handful_of(state)
        )
        state.dice = 0
        _to_keep(state)
        return 0.0
    if state.attempt == DispelAttempt.NONE:
        return float(apply_cast_outcome(packed, state, outcome))
    return float(apply_dispel_outcome(packed, state, outcome))


@jit
def _to_keep(state: State) -> None:
    if state.attempt == DispelAttempt.NONE:
        state.mover = state.active
        state.node = Node.KEEP_CASTING
    else:
        state.node = Node.KEEP_DISPEL


@jit
def _natural(state: State) -> int:
    natural = 0
    for face in range(FACES):
        natural += (face + 1) * (int(state.faces[face]) + int(state.held[face]))
    return natural


@jit(forceinline=False)
def act_keep(packed: PackedScenario, state: State, action: int) -> float:
    """Keep the roll, or roll one die or all of them again."""
    if action == PASS:
        outcome = final_outcome(packed, state, int64(state.natural_result), _natural(state))
        if state.attempt == DispelAttempt.NONE:
            return float(apply_cast_outcome(packed, state, outcome))
        return float(apply_dispel_outcome(packed, state, outcome))
    all_dice = 1 if action == REROLL_ALL else 0
    item = reroll_item(packed, state, all_dice, int64(state.natural_result))
    casting = state.attempt == DispelAttempt.NONE
    if packed.armies[state.mover].items[item].changes_natural:
        state.natural_result = NaturalResult.OPEN
    if casting:
        use_item(packed, state, state.mover, item)
    else:  # spent when it was declared; what it adds to the roll stays
        state.number -= packed.armies[state.mover].items[item].dispel_use_bonus
        state.declared = without(state.declared, bit(item))
    if all_dice:
        state.dice = rollable(state)
        for face in range(FACES):
            state.faces[face] = 0
    else:
        state.dice = 1
        state.faces[action - FIRST_REROLL] -= 1
    state.node = Node.REROLL_CASTING if casting else Node.REROLL_DISPEL
    return 0.0
