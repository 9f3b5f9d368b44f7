"""Keeps dice for the spells that are worth most.

- *Cast*: the most valuable spell that it can cast with a chance of 60 % or more, with the fewest
  dice that reach 60 %. If no spell is that likely: the spell with the most expected points, with
  its best dice. A Power Stone goes to a cast that is below 60 % without it.
- *Dispel*: a spell worth less than half of the greatest threat still to come is let through,
  unless there are dice for both (3.5 points a die). Any other spell is met with the fewest dice
  that dispel it in 60 % of cases. A scroll is read against a spell worth at least as much as
  anything to come, if dice would fail more often than that.
- *Spells in play*: the enemy's most valuable spell first, with the same 60 % rule.
"""

from wfb_gym._jit import jit
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.opponents.rules_of_thumb import rule_based_action
from wfb_gym.packing.records import PackedScenario


@jit
def choose(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    """Return the code of one of the `count` legal actions in `work.legal`."""
    return int(rule_based_action(packed, state, work, count, True))
