"""Rendering for environments in which both seats are played from outside.

The drawing itself is `wfb_gym.render`'s and the description `wfb_gym.transcripts`'; both are loaded
when an environment is made with a render mode.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records
from wfb_gym.engine.generator import Rng
from wfb_gym.envs import watching
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario

RENDER_MODES = ("human", *watching.RENDER_MODES)
"""The modes that can be shown: "human" writes to the terminal what "ansi" returns."""


class Watcher:
    """Follows a battle step by step, to show what has happened since the last decision.

    Args:
        mode: one of `RENDER_MODES`.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._narrated: Any = None
        self._events: list[Any] = []

    def begin(
        self, scenario: Scenario, packed: Records[PackedScenario], state: Any, points: float
    ) -> None:
        """Look at the first decision of a battle.

        Args:
            scenario: that is played.
            packed: it, packed, shape (1,).
            state: `engine.state.STATE` record.
            points: won so far, as the first army sees them.
        """
        from wfb_gym.transcripts.narrator import NarratedBattle

        self._narrated, self._events = NarratedBattle(scenario, packed), []
        self._narrated.set_state(state, points)

    def follow(self, code: int, dice: Records[Rng]) -> None:
        """Look on while an action is played, up to the next decision or the end.

        Args:
            code: the engine's.
            dice: a copy of the generator from before, `engine.generator.RNG` (1,); moves on.
        """
        from wfb_gym.transcripts.recording import play_on

        self._events = [self._narrated.act(code)]
        self._events += play_on(self._narrated, dice[0], (None, None))

    def show(self) -> str | NDArray[np.uint8] | None:
        """A frame as the mode has it: words, a picture uint8 (height, width, 3), or None."""
        narrated = self._narrated
        if self.mode == "rgb_array":
            from wfb_gym.render.picture import picture

            drawn: NDArray[np.uint8] = picture(narrated.scenario, narrated.visible, self._events)
            return drawn
        from wfb_gym.render.ansi import frame

        words: str = frame(narrated.scenario, narrated.visible, self._events)
        if self.mode == "ansi":
            return words
        sys.stdout.write(f"{words}\n\n")
        return None
