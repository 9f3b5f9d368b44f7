"""Maximises the next roll and ignores all later rolls.

It casts the spell with the highest expected points. It rolls the number of dice with the highest
chance of success; ties go to fewer dice. It tries to dispel every spell, with the number of dice
that makes success most likely. It reads a scroll whenever it can.
"""

from wfb_gym._jit import jit
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.opponents.rules_of_thumb import rule_based_action
from wfb_gym.packing.records import PackedScenario


@jit
def greedy(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    """Return the code of one of the `count` legal actions in `work.legal`."""
    return int(rule_based_action(packed, state, work, count, False))
