"""A battle as it stands on the table, for those who look at it.

The engine clears what can no longer matter: in the last phase models out of reach are counted down,
spent wizards forget their wounds, and an ended battle is empty. Who looks at it wants to see them.
So every step is taken a second time by the engine's own operations, in a battle that has phases to
come, and what that says of losses, items and knowledge is shown.
"""

from typing import Any

from wfb_gym._records import Records
from wfb_gym.engine import transition as phase
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import resolve_outcome
from wfb_gym.engine.dispelling import act_dispel
from wfb_gym.engine.miscasts import run_effects
from wfb_gym.engine.queries import is_chance
from wfb_gym.engine.state import Node, State, new_states, new_work_spaces

_KEPT = (
    "marks", "known", "unit_wounds", "items", "level", "wounds", "lock", "contacts", "markers",
)  # fmt: skip
_KEPT_AT_THE_END = ("in_play", "aims")
_MORE = 2
"""Phases that are added, so that none of the battle's own is the last of its army."""


class Standing:
    """What is shown of a battle that is played elsewhere.

    Args:
        battle: at its beginning, or at any position from which to count.

    Attributes:
        battle: the position as it is shown; one for readers, not to be played on.
    """

    def __init__(self, battle: Battle) -> None:
        self._long: Any = battle.packed_scenarios.copy()
        self._long["phases"] += _MORE
        self._scratch = new_work_spaces()
        self.battle = battle.copy()

    def begin(self) -> None:
        """Count from the beginning of the scenario."""
        states = new_states(1)
        phase.begin(self._long[0], states[0], self._scratch[0])
        self._take(states, self.battle)

    def follow(self, before: Battle, code: int, after: Battle) -> None:
        """Go a step further; `battle` is another object then.

        Args:
            before: the position as it is played, which `battle` shows.
            code: the action, or the outcome of the roll.
            after: where that led.
        """
        states = self._long_before(before)
        step = phase.act if before.is_decision() else phase.resolve
        step(self._long[0], states[0], code, self._scratch[0])
        if states[0].node == Node.END:  # nobody is left to cast in phases to come
            states = self._long_before(before)
            self._step_alone(states[0], code)
        self._take(states, after)

    def _long_before(self, before: Battle) -> Records[State]:
        """A position of the longer battle, as it is shown."""
        states = new_states(1)
        states[0] = before.state
        for field in _KEPT:
            states[field] = self.battle.state[field]
        return states

    def _step_alone(self, state: Any, code: int) -> None:
        """A step without what follows by itself, of which a battle's end is part."""
        packed = self._long[0]
        if state.node == Node.DISPEL:
            act_dispel(packed, state, code)
        elif is_chance(int(state.node)):
            resolve_outcome(packed, state, code)
        while state.node == Node.MISCAST_EFFECTS:
            run_effects(packed, state)

    def _take(self, states: Records[State], after: Battle) -> None:
        self.battle = after.copy()
        fields = _KEPT + (_KEPT_AT_THE_END if after.is_over else ())
        for field in fields:
            self.battle.state[field] = states[0][field]
