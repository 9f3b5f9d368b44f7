"""Saves dice for important spells, and is satisfied with a 60 % chance of success.

- *Cast.* It casts the most valuable spell with a chance of at least 60 %, with the minimum number
  of dice that reaches 60 %. If no spell reaches 60 %, it casts the spell with the highest expected
  points, with the best number of dice. It uses a Power Stone if a cast is below 60 % without the
  stone.
- *Dispel.* It does not dispel a spell worth less than half of the greatest remaining threat, unless
  it has dice for both, at 3.5 points per die. It dispels any other spell with the minimum number of
  dice that succeeds in 60 % of cases.
- *Scroll.* It reads a scroll against a spell worth at least as much as any later threat, if the
  chance of dispelling the spell with dice is below 60 %.
- *Spells in play.* It dispels the enemy's most valuable spell first, by the same rule.
"""

from wfb_gym._jit import jit
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.opponents.rules_of_thumb import rule_based_action
from wfb_gym.packing.records import PackedScenario


@jit
def veteran(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    """Return the code of one of the `count` legal actions in `work.legal`."""
    return int(rule_based_action(packed, state, work, count, True))
