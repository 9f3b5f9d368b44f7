"""Maximises the next roll and ignores the ones after it.

It nominates the spell with the most expected points and rolls the dice that make it likeliest (the
fewest such dice). It dispels everything with the dice that make that likeliest, and reads a scroll
whenever it may.
"""

from wfb_gym._jit import jit
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.opponents.rules_of_thumb import rule_based_action
from wfb_gym.packing.records import PackedScenario


@jit
def choose(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    """Return the code of one of the `count` legal actions in `work.legal`."""
    return int(rule_based_action(packed, state, work, count, False))
