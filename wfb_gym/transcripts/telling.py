"""A battle that tells what happens as it is played."""

from collections.abc import Sequence
from typing import Any

from wfb_gym._records import Records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import outcome_of_roll
from wfb_gym.engine.state import new_work_spaces
from wfb_gym.engine.thrown_dice import is_open, read_dice
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.changes import phase_in_words
from wfb_gym.transcripts.events import Event, told
from wfb_gym.transcripts.standing import Standing
from wfb_gym.transcripts.wording import Names


class Telling:
    """One battle, its dice thrown by the caller; every step gives an `Event`.

    Args:
        scenario: that is played.
        packed: it, packed, record array of shape (1,); packed here unless given.

    Attributes:
        scenario: that is played.
        names: of the scenario.
        battle: the position; play on through this object alone.
    """

    def __init__(self, scenario: Scenario, packed: Records[PackedScenario] | None = None) -> None:
        self.scenario = scenario
        self.names = Names(scenario)
        self.battle = Battle(pack(scenario) if packed is None else packed)
        self._scratch = new_work_spaces()
        self._standing = Standing(self.battle)
        self._standing.begin()

    @property
    def shown(self) -> Battle:
        """The position as it stands on the table, for those who look at it (`standing`)."""
        return self._standing.battle

    @property
    def opening(self) -> str:
        """How the battle begins, in words."""
        return phase_in_words(self.names, self.battle)

    def put(self, state: Any, points: float = 0.0) -> None:
        """Go on from another position of the scenario.

        Args:
            state: `engine.state.STATE` record.
            points: won so far, as the first army sees them.
        """
        self.battle.state.setfield(state, state.dtype)
        self.battle.points = points
        self._standing = Standing(self.battle)

    def act(self, action: int) -> Event:
        """Play an action.

        Raises:
            ValueError: it is not legal here.
        """
        before = self.battle.copy()
        self.battle.act(action)
        return self._tell(before, action, ())

    def roll(self, *faces: int) -> Event:
        """Resolve a chance node with dice, as `Battle.roll` does.

        Raises:
            ValueError: wrong number of dice, or a face outside 1..6.
        """
        before = self.battle.copy()
        self.battle.roll(*faces)
        packed, state, work = before.packed, before.state, self._scratch[0]
        if is_open(state):
            return self._tell(before, read_dice(packed, state, faces).outcome, ())
        work.faces[: len(faces)] = faces
        return self._tell(before, int(outcome_of_roll(packed, state, work)), faces)

    def resolve(self, outcome: int, faces: Sequence[int] = ()) -> Event:
        """Resolve a chance node with one of its outcomes.

        Args:
            outcome: one of `Battle.chance_outcomes`.
            faces: of the dice that brought it, where they are known.
        """
        before = self.battle.copy()
        self.battle.resolve(outcome)
        return self._tell(before, outcome, faces)

    def _tell(self, before: Battle, code: int, faces: Sequence[int]) -> Event:
        earlier = self.shown
        self._standing.follow(before, code, self.battle)
        standing = (earlier, self.shown)
        return told(self.names, before, code, self.battle, faces=faces, standing=standing)
