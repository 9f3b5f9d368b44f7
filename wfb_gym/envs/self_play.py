"""Both seats of many battles, asked from outside: what self-play stands on.

Where `wfb_gym.envs.batch` plays on until one learner must decide, this stops at every decision of
either army. Each army sees the battle in its own layout and answers in its own action space.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.positions import copy_states
from wfb_gym.encoding.state_validation import check_states
from wfb_gym.encoding.view import View
from wfb_gym.engine.state import Node, State
from wfb_gym.envs.driver import EpisodeDriver, check_num_envs, check_running, part_of_state
from wfb_gym.envs.kernel import Autoreset, Environment, Operation, Status
from wfb_gym.envs.scenario_set import ScenarioLike, resolve_scenarios
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.scripted import Scripted
from wfb_gym.seats import SEATS

_ATTEMPTS = 1000
"""Battles begun before giving up on one with a decision."""


class Decisions(NamedTuple):
    """The decisions that one army must make now, in the order of the battles.

    Attributes:
        members: the battles that they are in, shape (k,).
        observations: float32, shape (k, size).
        masks: legal actions, bool, shape (k, actions).
    """

    members: NDArray[np.int64]
    observations: NDArray[np.float32]
    masks: NDArray[np.bool_]


class SelfPlayBatch(EpisodeDriver):
    """Battles side by side in which every decision, of either army, is asked for.

    Battles that end begin anew at once, unless `autoreset` is off. Those without any decision are
    skipped. Without `autoreset`, those that have ended stay so until `reset`.

    Args:
        num_envs: how many, 1 or more.
        scenario: a bundled name, a path, a `Scenario`, or a sequence of these.
        limits: of each army's spaces; fitted to the scenarios unless given.
        autoreset: begin the next battle in the call that ends one.
        history: each army sees how spells were last cast and answered, whatever the limits say.

    Attributes:
        views: how each army sees the battles: layout and codec.
        scenarios: that are played.
        points: float64 (n,): won by the first army since the last `play`, up to the next decision
            or the end of the battle.
        opening_points: float64 (n,): what it had won when a battle that has just begun came to its
            first decision; 0 in the others.
        ended: bool (n,): the battle of the last `play` is over.

    Raises:
        ValueError: no battle, or limits that a scenario exceeds.
        ScenarioError: there is no such scenario, or it is refused.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike | Sequence[ScenarioLike],
        limits: tuple[Limits, Limits] | None = None,
        *,
        autoreset: bool = True,
        history: bool = False,
    ) -> None:
        check_num_envs(num_envs)
        scenarios = resolve_scenarios(scenario)
        self._arguments = num_envs, scenarios, limits, autoreset, history
        first, second = limits or (scenarios.limits, scenarios.limits)
        self.views = (
            View.fitted(scenarios.packed_scenarios, 0, first, history=history),
            View.fitted(scenarios.packed_scenarios, 1, second, history=history),
        )
        # The first army's seat is the learner's, the other's an external opponent's, and what is
        # won between two decisions stays in `Environment.unpaid`.
        pool, tables = [int(Scripted.EXTERNAL)], no_move_tables()
        super().__init__(
            num_envs, scenarios, self.views[0], pool, tables, Autoreset.DISABLED, 1.0,
            notes=self.views[1].limits.history,
        )  # fmt: skip
        self._autoreset = autoreset
        self._codes = np.zeros(num_envs, np.int64)
        self._out = self._new_step(np.zeros((num_envs, self.views[0].codec.n), np.bool_))
        self.points = np.zeros(num_envs)
        self.opening_points = np.zeros(num_envs)
        self.ended = np.zeros(num_envs, np.bool_)
        self._asked: tuple[Decisions, Decisions] | None = None

    @property
    def playing(self) -> NDArray[np.int64]:
        """The scenario of each battle, int64 (n,)."""
        return self.envs.scenario.copy()

    def get_state(self) -> dict[str, Any]:
        """Return everything that the battles' futures depend on; see `set_state`."""
        return {"battles": self.envs.tobytes()}

    def set_state(self, state: dict[str, Any]) -> tuple[Decisions, Decisions]:
        """Go back to a state that `get_state` of equal battles gave.

        Returns:
            What each army must decide now.

        Raises:
            ValueError: the state is of another number of battles, or could not be played on.
        """
        self.envs[:] = self.read_state(state)
        self.points[:], self.opening_points[:], self.ended[:] = 0.0, 0.0, False
        return self._decisions()

    def read_state(self, state: dict[str, Any]) -> Records[Environment]:
        """Return the environments of such a state; a ValueError if it could not be played on."""
        battles = part_of_state(state, "battles", bytes)
        return self.read_envs(battles, "battles", None, must_run=self._autoreset)

    def states(self, members: NDArray[np.int64]) -> Records[State]:
        """Copy the positions of some battles: `engine.state.STATE`, shape (k,)."""
        return copy_states(self.envs["state"], members)

    def check_positions(self, scenario: NDArray[np.int64], states: NDArray[Any]) -> None:
        """Raise a ValueError about the first position from elsewhere that cannot be played on.

        Args:
            scenario: that each position belongs to, int64 (k,).
            states: `engine.state.STATE`, (k,).
        """
        known = (scenario >= 0) & (scenario < len(self.packed_scenarios))
        if scenario.shape != states.shape or not known.all():
            count = len(self.packed_scenarios)
            raise ValueError(f"positions: expected one of {count} scenarios for each, found others")
        if len(states):
            check_states("position", self.packed_scenarios, scenario, states)
            check_running("position", states)

    def put(
        self, members: NDArray[np.int64], scenario: NDArray[np.int64], states: NDArray[Any]
    ) -> tuple[Decisions, Decisions]:
        """Go on from other positions in some battles; their generators stay.

        Args:
            members: the battles, int64 (k,).
            scenario: that each position belongs to, int64 (k,).
            states: decisions, as `states` gave them; not checked, `check_positions` does.

        Returns:
            What each army must decide now, in all battles.

        Raises:
            ValueError: observations tell what went before, which positions do not.
        """
        if self.game.notes:
            raise ValueError(
                "positions: expected battles whose observations tell nothing of what went before, "
                "found limits with history"
            )
        self.envs["state"][members] = states
        self.envs["scenario"][members] = scenario
        return self._decisions()

    def reset(self, seed: int | None = None) -> tuple[Decisions, Decisions]:
        """Begin all battles.

        Args:
            seed: battle i gets the dice of `seed` + i; None goes on with the dice as they come.

        Returns:
            What each army must decide now.
        """
        with self.unchanged_on_failure():
            if seed is not None:
                self.seed([seed + i for i in range(self.num_envs)])
            self._begin(self._members)
        self.points[:], self.ended[:] = 0.0, False
        return self._decisions()

    def play(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[Decisions, Decisions]:
        """Play a decision in every battle.

        Args:
            first: the first army's actions, int64, one for each of its decisions in order.
            second: the second army's actions.

        Returns:
            What each army must decide next.

        Raises:
            ValueError: an army has another number of decisions, or an action is illegal. No battle
                has changed then.
            gymnasium.error.ResetNeeded: `reset` was not called.
        """
        if self._asked is None:
            raise gym.error.ResetNeeded("Cannot call play() before calling reset()")
        both = first, second
        for seat, asked, actions in zip(SEATS, self._asked, both, strict=True):
            if np.shape(actions) != asked.members.shape:
                raise ValueError(
                    f"actions of the {seat}: expected shape {asked.members.shape}, "
                    f"found {np.shape(actions)}"
                )
            _check_legal(seat, asked, actions)
        for view, asked, actions in zip(self.views, self._asked, both, strict=True):
            self._codes[asked.members] = view.codec.code_of[actions]
        self.envs.unpaid = 0.0
        self.envs.status = Status.OPPONENT_OPENS.value
        running, codes = self._members, self._codes
        if not self._autoreset:
            running = np.flatnonzero(self.envs["state"]["node"] != Node.END)
            codes = codes[running]
        self._drive(Operation.OPPONENT_STEP.value, running, codes, self._out)
        self.points[:] = self.envs.unpaid
        self.opening_points[:] = 0.0
        self.ended[:] = self._states["node"] == Node.END
        if self._autoreset and self.ended.any():
            self._begin(np.flatnonzero(self.ended))
        return self._decisions()

    def play_one(self, seat: int, action: int) -> tuple[Decisions, Decisions]:
        """Play an army's decision in the only battle; see `play`."""
        actions = [np.zeros(0, np.int64), np.zeros(0, np.int64)]
        actions[seat] = np.array([action], np.int64)
        return self.play(*actions)

    def _begin(self, members: NDArray[np.int64]) -> None:
        """Begin the next battles in which there is a decision."""
        pending = members
        for _ in range(_ATTEMPTS):
            self._drive(Operation.RESET.value, pending, self._codes, self._out)
            pending = pending[self._states["node"][pending] == Node.END]
            if not len(pending):
                self.opening_points[members] = self.envs.unpaid[members]
                return
        name = self.scenarios[int(self.envs.scenario[pending[0]])].name
        raise ValueError(f"{name}: neither army ever has anything to decide in it")

    def _decisions(self) -> tuple[Decisions, Decisions]:
        """Return what each army must decide; nothing in a battle that is over."""
        running = self._states["node"] != Node.END
        first, second = (
            Decisions(members, *self.observe(members, view))
            for view in self.views
            for members in [np.flatnonzero(running & (self._states["mover"] == view.seat))]
        )
        self._asked = first, second
        return first, second

    def __getstate__(self) -> dict[str, Any]:
        kept = "_arguments", "envs", "points", "opening_points", "ended"
        return {**{key: vars(self)[key] for key in kept}, "begun": self._asked is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        num_envs, scenarios, limits, autoreset, history = state["_arguments"]
        self.__init__(  # type: ignore[misc]
            num_envs, scenarios, limits, autoreset=autoreset, history=history
        )
        self.envs[:] = state["envs"]
        for key in ("points", "opening_points", "ended"):
            getattr(self, key)[:] = state[key]
        if state["begun"]:
            self._decisions()


def _check_legal(seat: str, asked: Decisions, actions: NDArray[np.int64]) -> None:
    """Raise a ValueError about the first illegal action; the compiled code checks none."""
    legal = (actions >= 0) & (actions < asked.masks.shape[1])
    legal &= asked.masks[np.arange(len(actions)), np.where(legal, actions, 0)]
    if not legal.all():
        k = int(np.argmin(legal))
        raise ValueError(
            f"actions of the {seat}: expected a legal action in battle {asked.members[k]}, "
            f"found {actions[k]}"
        )
