"""Watchers, which replay each step of an environment to render its events.

The kernel plays up to the learner's next decision in a single call and records no events. A watcher
therefore copies the environment before the step and plays the same step again
(`wfb_gym.transcripts.recording`). The renderers are imported only if there is a render mode.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, as_records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.random_numbers import Rng
from wfb_gym.engine.state import Node, State
from wfb_gym.envs.kernel import Autoreset, Environment, Status, draw_episode, find_opponent
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario

if TYPE_CHECKING:
    from wfb_gym.envs.batch import Batch
    from wfb_gym.transcripts import Event, NarratedBattle
    from wfb_gym.transcripts.recording import ChooseAction

_RENDERERS = {
    "ansi": ("wfb_gym.render.ansi", "frame"),
    "rgb_array": ("wfb_gym.render.picture", "picture"),
}
RENDER_MODES = tuple(_RENDERERS)
TERMINAL_RENDER_MODES = ("human", *RENDER_MODES)
"""Render modes plus "human", which prints the text of "ansi"."""
FPS = 2
"""Frames per second of recorded videos, slow enough to read."""


def check_render_mode(mode: str | None) -> None:
    """Raise a ValueError if the render mode is unknown."""
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode: expected None, {', '.join(RENDER_MODES)}, found {mode!r}")


def draw_frame(
    mode: str, narrated: "NarratedBattle", events: Sequence["Event"], seat: int = 0
) -> Any:
    """Draw the events and the position in a render mode, with the seat's army first."""
    module, function = _RENDERERS[mode]
    draw = getattr(import_module(module), function)
    return draw(narrated.scenario, narrated.visible, events, seat=seat)


def draw_frames(batch: "Batch", mode: str) -> tuple[Any, ...]:
    """Draw a frame per environment in a render mode; the batch must have a watcher."""
    watcher = batch.watcher
    assert watcher is not None
    return tuple(
        draw_frame(mode, watcher.narrated_battle(batch, member), watcher.events[member], batch.seat)
        for member in range(batch.num_envs)
    )


class BattleWatcher:
    """A renderer for a single battle in which the caller plays both seats."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._narrated: Any = None
        self._events: list[Any] = []

    def begin(
        self, scenario: Scenario, packed: Records[PackedScenario], state: State, points: float
    ) -> None:
        """Start at a battle's first decision; `points` is the first army's score at that point."""
        from wfb_gym.transcripts.narrated_battle import NarratedBattle

        self._narrated, self._events = NarratedBattle(scenario, packed), []
        self._narrated.set_state(state, points)

    def follow(self, code: int, rng: Rng) -> None:
        """Replay an engine action up to the next decision; `rng` is the generator before it."""
        from wfb_gym.transcripts.recording import play_on

        self._events = [self._narrated.act(code)]
        self._events += play_on(self._narrated, rng, (None, None))

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return a string ("ansi"), uint8 (height, width, 3) ("rgb_array") or None ("human")."""
        if self.mode != "human":
            return draw_frame(self.mode, self._narrated, self._events)  # type: ignore[no-any-return]
        sys.stdout.write(f"{draw_frame('ansi', self._narrated, self._events)}\n\n")
        return None


class BatchWatcher:
    """Replay a batch's steps to record their events.

    Attributes:
        events: each environment's events in the last step, in order.
    """

    def __init__(self, num_envs: int) -> None:
        self.events: list[Sequence[Event]] = [()] * num_envs
        self._narrated: list[NarratedBattle | None] = [None] * num_envs

    def begin_step(self, batch: "Batch") -> None:
        """Copy the environments and masks before a step or reset."""
        self._envs = batch.envs.copy()
        self._action_mask = batch.action_mask.copy()
        self._answers: list[list[int]] = [[] for _ in self.events]

    def add_answers(self, members: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        """Record the engine actions chosen by external opponents in these environments."""
        for member, code in zip(members.tolist(), codes.tolist(), strict=True):
            self._answers[member].append(code)

    def follow_reset(self, batch: "Batch", chosen: NDArray[np.bool_]) -> None:
        """Replay the reset of the chosen environments, bool (n,)."""
        for member in np.flatnonzero(chosen).tolist():
            self.events[member] = self._follow_restart(batch, member, self._env_before(member))

    def follow_step(self, batch: "Batch", actions: NDArray[np.int64]) -> None:
        """Replay a step with one action per environment, int64 (n,)."""
        for member, action in enumerate(actions.tolist()):
            self.events[member] = self._follow_action(batch, member, action)

    def narrated_battle(
        self, batch: "Batch", member: int, envs: Records[Environment] | None = None
    ) -> "NarratedBattle":
        """Return an environment's current battle, or its battle in `envs`.

        If `set_state` has changed the position, rebuild the battle and clear its events.
        """
        envs = batch.envs if envs is None else envs
        state = envs["state"][member]
        narrated = self._narrated[member]
        if narrated is None or narrated.battle.key() != state.tobytes():
            narrated = self._new(batch, member, int(envs["scenario"][member]))
            narrated.set_state(state)
            self.events[member] = ()
        return narrated

    def _new(self, batch: "Batch", member: int, scenario: int) -> "NarratedBattle":
        from wfb_gym.transcripts.narrated_battle import NarratedBattle

        packed = batch.packed_scenarios[scenario : scenario + 1]
        narrated = NarratedBattle(batch.scenarios[scenario], packed)
        self._narrated[member] = narrated
        return narrated

    def _env_before(self, member: int) -> Environment:
        """Copy an environment from before the step; replaying advances the copy's generator."""
        return as_records(Environment, self._envs[member : member + 1].copy())[0]

    def _follow_action(self, batch: "Batch", member: int, action: int) -> "list[Event]":
        before = self._env_before(member)
        events: list[Event] = []
        if before.status == Status.DONE:
            if batch.mode == Autoreset.DISABLED:
                return events
            return self._follow_restart(batch, member, before)
        narrated = self.narrated_battle(batch, member, self._envs)
        if before.state.node != Node.END:
            legal = self._action_mask[member]
            index = action if legal[action] else int(legal.argmax())  # kernel.legal_or_lowest
            events.append(narrated.act(int(batch.codec.code_of[index])))
            events += self._follow_on(batch, member, before)
        if narrated.battle.is_over and batch.mode == Autoreset.SAME_STEP:
            events += self._follow_restart(batch, member, before)
        return events

    def _follow_restart(self, batch: "Batch", member: int, env: Environment) -> "list[Event]":
        draw_episode(env, batch.redraw, len(batch.scenarios), len(batch.game.pool))
        self._new(batch, member, int(env.scenario))
        return self._follow_on(batch, member, env)

    def _follow_on(self, batch: "Batch", member: int, env: Environment) -> "list[Event]":
        from wfb_gym.transcripts.recording import play_on, scripted_chooser

        narrated = self._narrated[member]
        assert narrated is not None
        answers = self._answers[member]

        def next_answer(battle: Battle, rng: Rng) -> int:
            return answers.pop(0)  # the rest belong to an episode that starts in this step

        scripted = find_opponent(env, batch.game)
        opponent: ChooseAction = next_answer
        if scripted.number != Scripted.EXTERNAL:
            opponent = scripted_chooser(scripted)
        players = (None, opponent) if batch.seat == 0 else (opponent, None)
        return list(play_on(narrated, env.rng, players))
