"""The engine's shared functions, compiled once for all compiled code that calls them.

A compiled caller that bypasses this module compiles its own copy of the whole engine. This module
contains no rules.
"""

from typing import Any

from wfb_gym._jit import jit
from wfb_gym._records import new_records
from wfb_gym.engine.chance import resolve_outcome
from wfb_gym.engine.legal import list_actions
from wfb_gym.engine.state import State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.transition import advance_to_choice, play_action
from wfb_gym.engine.turn_flow import begin_battle
from wfb_gym.packing.records import PackedScenario


@jit(forceinline=False)
def core(packed: PackedScenario, state: State, work: WorkSpace, code: int) -> float:
    """Call every shared function so that each is compiled; this function itself is never called."""
    begin_battle(packed, state)
    points, _ = advance_to_choice(packed, state, work)
    list_actions(packed, state, work)
    points += play_action(packed, state, code)
    return points + resolve_outcome(packed, state, code)


def example_arguments() -> tuple[Any, ...]:
    """Return arguments with the types that `core` is compiled for."""
    return new_records(PackedScenario, 1)[0], new_states(1)[0], new_work_spaces()[0], 0
