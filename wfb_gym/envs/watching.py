"""Environments with a render mode: what happens in each step, described and drawn.

The kernel plays to the learner's next decision at once. Who looks plays the same again, with a copy
of the generator from before the step (`wfb_gym.transcripts.recording`). Nothing of this is imported
unless an environment is made with a render mode.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import as_records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.generator import Rng, next_choice
from wfb_gym.engine.state import Node
from wfb_gym.envs import kernel
from wfb_gym.opponents.scripted import Scripted, ScriptedPlayer

if TYPE_CHECKING:
    from wfb_gym.envs.batch import Batch
    from wfb_gym.transcripts import Event, NarratedBattle
    from wfb_gym.transcripts.recording import ChooseAction

_DRAWN_BY = {
    "ansi": ("wfb_gym.render.ansi", "frame"),
    "rgb_array": ("wfb_gym.render.picture", "picture"),
}
RENDER_MODES = tuple(_DRAWN_BY)
FPS = 2
"""Frames a second of a film: a reader needs his time."""


def check_render_mode(mode: str | None) -> None:
    """Refuse a mode that there is none of.

    Raises:
        ValueError: it is neither None nor one of `RENDER_MODES`.
    """
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode: expected None, {', '.join(RENDER_MODES)}, found {mode!r}")


def watch(batch: "Batch") -> None:
    """Look at a batch from now on."""
    batch.watch = Watch(batch.num_envs)


def frames(batch: "Batch", mode: str) -> tuple[Any, ...]:
    """What there is to see of each environment of a batch that is watched.

    Args:
        batch: that `watch` was called for.
        mode: of `RENDER_MODES`.

    Returns:
        Strings, or pictures, uint8 (height, width, 3).
    """
    assert batch.watch is not None
    module, function = _DRAWN_BY[mode]
    draw = getattr(import_module(module), function)
    shown = []
    for member in range(batch.num_envs):
        narrated = batch.watch.narrated(batch, member)
        events = batch.watch.events[member]
        shown.append(draw(narrated.scenario, narrated.visible, events, seat=batch.seat))
    return tuple(shown)


class Watch:
    """Tells what happens in the environments of a batch.

    Attributes:
        events: of each environment's last step, in order.
    """

    def __init__(self, num_envs: int) -> None:
        self.events: list[Sequence[Event]] = [()] * num_envs
        self._narrated: list[NarratedBattle | None] = [None] * num_envs

    def begin(self, batch: "Batch") -> None:
        """A step or a reset is about to happen."""
        self._envs = batch.envs.copy()
        self._allowed = batch.allowed.copy()
        self._answers: list[list[int]] = [[] for _ in self.events]

    def answered(self, members: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        """External opponents have chosen these engine codes in these environments."""
        for member, code in zip(members.tolist(), codes.tolist(), strict=True):
            self._answers[member].append(code)

    def tell_reset(self, batch: "Batch", chosen: NDArray[np.bool_]) -> None:
        """The chosen environments, bool (n,), have been reset."""
        for member in np.flatnonzero(chosen).tolist():
            self.events[member] = self._restarted(batch, member, self._rng(member))

    def tell_step(self, batch: "Batch", actions: NDArray[np.int64]) -> None:
        """Every environment has played an action, int64 (n,)."""
        for member, action in enumerate(actions.tolist()):
            self.events[member] = self._stepped(batch, member, action)

    def narrated(self, batch: "Batch", member: int) -> "NarratedBattle":
        """The battle of an environment as it stands in the batch."""
        return self._at(batch, member, batch.envs)

    def _at(self, batch: "Batch", member: int, envs: Any) -> "NarratedBattle":
        """The battle of an environment; a new one where it was set to another state."""
        state = envs["state"][member]
        narrated = self._narrated[member]
        if narrated is None or narrated.battle.key() != state.tobytes():
            narrated = self._new(batch, member, int(envs["scenario"][member]))
            narrated.set_state(state)
            self.events[member] = ()
        return narrated

    def _new(self, batch: "Batch", member: int, scenario: int) -> "NarratedBattle":
        from wfb_gym.transcripts.narrator import NarratedBattle

        narrated = NarratedBattle(batch.scenarios[scenario], batch.one(scenario))
        self._narrated[member] = narrated
        return narrated

    def _rng(self, member: int) -> Any:
        """The generator as it was before the step."""
        return as_records(Rng, self._envs["rng"][member : member + 1].copy())[0]

    def _stepped(self, batch: "Batch", member: int, action: int) -> "list[Event]":
        before = self._envs[member]
        rng = self._rng(member)
        events: list[Event] = []
        if before.status == kernel.DONE:
            return events if batch.mode == kernel.DISABLED else self._restarted(batch, member, rng)
        narrated = self._at(batch, member, self._envs)
        if before.state.node != Node.END:
            legal = self._allowed[member]
            index = action if legal[action] else int(legal.argmax())  # kernel.admitted
            events.append(narrated.act(int(batch.codec.code_of[index])))
            events += self._play_on(batch, narrated, rng, member, self._envs)
        if narrated.battle.is_over and batch.mode == kernel.SAME_STEP:
            events += self._restarted(batch, member, rng)
        return events

    def _restarted(self, batch: "Batch", member: int, rng: Any) -> "list[Event]":
        """The next episode has begun; the kernel drew scenario and opponent first."""
        if batch.redraw:
            next_choice(rng, len(batch.scenarios))
        if len(batch.pool) > 1:
            next_choice(rng, len(batch.pool))
        narrated = self._new(batch, member, int(batch.envs["scenario"][member]))
        return self._play_on(batch, narrated, rng, member, batch.envs)

    def _play_on(
        self, batch: "Batch", narrated: "NarratedBattle", rng: Any, member: int, envs: Any
    ) -> "list[Event]":
        from wfb_gym.transcripts.recording import play_on, scripted_chooser

        kind = int(batch.pool[envs["opponent"][member]])
        answers = self._answers[member]

        def play_answer(battle: Battle, rng: Rng) -> int:
            return answers.pop(0)  # others may be left for an episode that begins in this step

        opponent: ChooseAction = play_answer
        if kind != Scripted.EXTERNAL:
            tables = batch.move_tables
            move_table = tables[int(envs["scenario"][member]) % len(tables)]
            scripted = ScriptedPlayer(kind, move_table, batch.move_storage)
            opponent = scripted_chooser(scripted)
        players = (None, opponent) if batch.seat == 0 else (opponent, None)
        return list(play_on(narrated, rng, players))
