"""A battle in which every step returns an event described in words (`wfb_gym.view.events`).

The rules are in the engine.
"""

from collections.abc import Sequence
from typing import Any

from wfb_gym._records import Records
from wfb_gym.encoding.history import History, new_histories, note
from wfb_gym.engine import transition
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import outcome_of_roll, resolve_outcome
from wfb_gym.engine.dispelling import act_dispel
from wfb_gym.engine.hidden_items import deal_instead
from wfb_gym.engine.miscasts import run_effects
from wfb_gym.engine.open_rolls import is_open_roll, read_open_roll
from wfb_gym.engine.state import Node, State, new_states, new_work_spaces
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario
from wfb_gym.view.changes import describe_phase
from wfb_gym.view.events import Event, describe
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.position import PositionView, view_position

VISIBLE_FIELDS = (
    "marks", "known", "unit_wounds", "fleeing", "items", "level", "wounds", "lock", "contacts",
    "markers",
)  # fmt: skip
"""State fields of `visible` that are taken from the battle with extra phases."""
_FIELDS_AT_END = ("in_play", "aims", "hidden_set", "emptied")
"""Further fields taken from it, but only after the end of the battle."""
_EXTRA_PHASES = 4
"""Number of extra phases, enough that no step reaches an army's last phase.

Armies that cannot cast are skipped, so one step may advance by two phases.
"""


class NarratedBattle:
    """A battle in which the caller throws the dice and every step returns an `Event`.

    Args:
        scenario: the scenario to play.
        packed: the packed scenario, a record array of shape (1,). If None, the scenario is packed
            here.

    Attributes:
        scenario: the scenario.
        names: display names used in the scenario.
        battle: the current position. Change it only through this class's methods.
        visible: the position, including fields that the engine has cleared. It is for display only,
            and is replaced after every step.
        histories: each spell's last cast and the response to it, a record array of shape (1,).
    """

    def __init__(self, scenario: Scenario, packed: Records[PackedScenario] | None = None) -> None:
        self.scenario = scenario
        self.names = ScenarioNames(scenario)
        self.battle = Battle(pack(scenario) if packed is None else packed)
        self.histories = new_histories(1)
        self._scratch = new_work_spaces()
        self._extended: Any = self.battle.packed_scenarios.copy()
        self._extended["phases"] += _EXTRA_PHASES
        states = new_states(1)
        transition.begin(self._extended[0], states[0], self._scratch[0])
        self._show(states)

    @property
    def opening(self) -> str:
        """Describes how the battle starts."""
        return describe_phase(self.names, self.battle)

    def view(self, viewer: int | None = None) -> PositionView:
        """Return the position as an army (0 or 1) or a spectator (None) sees it."""
        return view_position(self.names, self.visible, viewer)

    def set_state(
        self,
        state: Any,
        points: float = 0.0,
        visible: Battle | None = None,
        histories: Records[History] | None = None,
    ) -> None:
        """Continue from another position in the scenario.

        Args:
            state: an `engine.state.STATE` record.
            points: points so far, from the first army's perspective.
            visible: the value of `visible` at that position, if known.
            histories: the value of `histories` at that position. Defaults to no casts.
        """
        self.battle.state.setfield(state, state.dtype)
        self.battle.points = points
        self.visible = self.battle.copy() if visible is None else visible
        self.histories = new_histories(1) if histories is None else histories.copy()

    def act(self, action: int) -> Event:
        """Play an action.

        Raises:
            ValueError: if the action is illegal.
        """
        before = self.battle.copy()
        self.battle.act(action)
        return self._event(before, action, ())

    def roll(self, *faces: int) -> Event:
        """Resolve a chance node with the dice thrown, as `Battle.roll` does.

        Raises:
            ValueError: if the number of dice is wrong or a face is outside 1..6.
        """
        before = self.battle.copy()
        self.battle.roll(*faces)
        packed, state, work = before.packed, before.state, self._scratch[0]
        if is_open_roll(state):
            return self._event(before, read_open_roll(packed, state, faces).outcome, ())
        work.faces[: len(faces)] = faces
        return self._event(before, int(outcome_of_roll(packed, state, work)), faces)

    def resolve(self, outcome: int, faces: Sequence[int] = ()) -> Event:
        """Resolve a chance node with one of its outcomes.

        Args:
            outcome: one of `Battle.chance_outcomes`.
            faces: the dice that were thrown, if known.
        """
        before = self.battle.copy()
        self.battle.resolve(outcome)
        return self._event(before, outcome, faces)

    def deal_instead(self, army: int, kind: int) -> None:
        """Replace an army's dealt set; the new one must fit its shown items (`may_be_kind`)."""
        deal_instead(self.battle.packed, self.battle.state, army, kind)
        deal_instead(self.visible.packed, self.visible.state, army, kind)

    def _event(self, before: Battle, code: int, faces: Sequence[int]) -> Event:
        """Describe the step from `before` to the current position."""
        note(before.packed, self.histories[0], before.state, code)
        shown_before = self.visible
        self._follow(before, code)
        positions, visible = (before, self.battle), (shown_before, self.visible)
        return describe(self.names, int(code), tuple(map(int, faces)), positions, visible)

    def _follow(self, before: Battle, code: int) -> None:
        """Update the visible position after an action or an outcome in the position `before`.

        The engine clears fields that no longer affect the game. In the last phase, it clears models
        out of reach and the wounds of spent wizards; when the battle ends, it clears everything.
        Viewers still need these fields. Every step is therefore repeated in a copy of the battle
        that has extra phases, and losses, items and known information are copied from there.
        """
        packed, states = self._extended[0], self._extended_state(before)
        step = transition.act if before.is_decision() else transition.resolve
        step(packed, states[0], code, self._scratch[0])
        if states[0].node == Node.END:  # no wizard is left to cast in later phases
            # Repeat the step without its automatic consequences, which include the end.
            states = self._extended_state(before)
            if before.node == Node.DISPEL:
                act_dispel(packed, states[0], code)
            elif before.is_chance():
                resolve_outcome(packed, states[0], code)
            while states[0].node == Node.MISCAST_EFFECTS:
                run_effects(packed, states[0])
        self._show(states)

    def _extended_state(self, before: Battle) -> Records[State]:
        """Return the visible position as a state in the battle with extra phases."""
        states = new_states(1)
        states[0] = before.state
        for field in VISIBLE_FIELDS:
            states[field] = self.visible.state[field]
        return states

    def _show(self, states: Records[State]) -> None:
        """Set `visible` to the position, with some fields from the battle with extra phases."""
        self.visible = self.battle.copy()
        for field in VISIBLE_FIELDS + (_FIELDS_AT_END if self.battle.is_over else ()):
            self.visible.state[field] = states[0][field]
