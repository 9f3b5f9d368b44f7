"""A batch of battles in which the caller plays both armies, for self-play.

`wfb_gym.envs.batch` plays until a single learner is to move, while `SelfPlayBatch` stops at every
decision of either army. Each army has its own observation layout and its own action space.
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
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.seats import SEATS

_ATTEMPTS = 1000
"""Maximum number of resets to find a battle with a decision, after which `reset` raises."""


class Decisions(NamedTuple):
    """The decisions that one army must make now, in battle order.

    Attributes:
        members: the indices of their battles, int64 (k,).
        observations: float32 (k, size).
        masks: legal actions, bool (k, actions).
    """

    members: NDArray[np.int64]
    observations: NDArray[np.float32]
    masks: NDArray[np.bool_]


class SelfPlayBatch(EpisodeDriver):
    """A batch of battles in which the caller makes every decision for both armies.

    With `autoreset`, the call that ends a battle also starts the next one. Otherwise, ended battles
    stay ended until `reset`. Battles without any decisions are skipped.

    Args:
        num_envs: number of battles, at least 1.
        scenario: a bundled name, a path, a `Scenario`, or a sequence of these.
        limits: limits of each army's spaces. By default, they are fitted to the scenarios.
        autoreset: whether the call that ends a battle also starts the next one.
        history: whether to include the last cast of each spell and the last response to it, even if
            `limits.history` is False.
        features: "all", or "raw" for observations in which expected values are 0.

    Attributes:
        views: each army's layout and codec.
        scenarios: the scenarios to play.
        points: points won by the first army from the last `play` to the next decision or the end of
            the battle, float64 (n,).
        opening_points: points won by the first army before the first decision. Nonzero only in
            battles that have just started, float64 (n,).
        ended: whether the last `play` ended the battle, bool (n,).

    Raises:
        ValueError: if there is no battle or a scenario exceeds the limits.
        ScenarioError: if the scenario does not exist or is invalid.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike | Sequence[ScenarioLike],
        limits: tuple[Limits, Limits] | None = None,
        *,
        autoreset: bool = True,
        history: bool = False,
        features: str = "all",
    ) -> None:
        check_num_envs(num_envs)
        scenarios = resolve_scenarios(scenario)
        options: Any = {"history": history, "features": features}
        self._arguments = (num_envs, scenarios, limits), {"autoreset": autoreset, **options}
        first, second = limits or (scenarios.limits, scenarios.limits)
        self.views = (
            View.fitted(scenarios.packed_scenarios, 0, first, **options),
            View.fitted(scenarios.packed_scenarios, 1, second, **options),
        )
        # The kernel sees the first army as the learner and the second as an external opponent.
        # Points won between two decisions accumulate in `Environment.unpaid`.
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
        """Index of each battle's scenario, int64 (n,)."""
        return self.envs.scenario.copy()

    def get_state(self) -> dict[str, Any]:
        """Return the complete state of all battles, for `set_state`."""
        return {"battles": self.envs.tobytes()}

    def set_state(self, state: dict[str, Any]) -> tuple[Decisions, Decisions]:
        """Restore a state returned by `get_state` on a batch with the same arguments.

        Returns:
            Each army's current decisions.

        Raises:
            ValueError: if the number of battles differs or a battle cannot be resumed.
        """
        self.envs[:] = self.read_state(state)
        self.points[:], self.opening_points[:], self.ended[:] = 0.0, 0.0, False
        return self._decisions()

    def read_state(self, state: dict[str, Any]) -> Records[Environment]:
        """Decode a state from `get_state`; raise a ValueError if it cannot be resumed."""
        battles = part_of_state(state, "battles", bytes)
        return self.read_envs(battles, "battles", None, must_run=self._autoreset)

    def states(self, members: NDArray[np.int64]) -> Records[State]:
        """Copy the positions in some battles, `engine.state.STATE` (k,)."""
        return copy_states(self.envs["state"], members)

    def check_positions(self, scenario: NDArray[np.int64], states: NDArray[Any]) -> None:
        """Raise a ValueError for the first position that cannot be resumed.

        Args:
            scenario: index of each position's scenario, int64 (k,).
            states: the positions, `engine.state.STATE` (k,).
        """
        known = (scenario >= 0) & (scenario < len(self.packed_scenarios))
        if scenario.shape != states.shape or not known.all():
            count = len(self.packed_scenarios)
            raise ValueError(
                f"scenario: expected one of 0..{count - 1} for each position, found {scenario}"
            )
        if len(states):
            check_states("position", self.packed_scenarios, scenario, states)
            check_running("position", states)

    def put(
        self, members: NDArray[np.int64], scenario: NDArray[np.int64], states: NDArray[Any]
    ) -> tuple[Decisions, Decisions]:
        """Set the positions in some battles without changing their random generators.

        Args:
            members: the battles, int64 (k,).
            scenario: index of each position's scenario, int64 (k,).
            states: positions at a decision, from `states`; validate them with `check_positions`.

        Returns:
            Each army's current decisions in all battles.

        Raises:
            ValueError: if observations include history, which positions do not contain.
        """
        if self.game.notes:
            raise ValueError(
                "positions: expected limits without history, found limits with history"
            )
        self.envs["state"][members] = states
        self.envs["scenario"][members] = scenario
        return self._decisions()

    def reset(self, seed: int | None = None) -> tuple[Decisions, Decisions]:
        """Start all battles.

        Args:
            seed: seed for battle 0; battle i uses `seed` + i. None keeps the current generators.

        Returns:
            Each army's current decisions.
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
        """Play one decision in every battle.

        Args:
            first: the first army's actions, int64 (k,), in the order of its `Decisions`.
            second: the second army's actions.

        Returns:
            Each army's next decisions.

        Raises:
            ValueError: if the number of actions is wrong or one is illegal. No battle is changed.
            gymnasium.error.ResetNeeded: if `reset` has not been called.
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
        """Play one army's decision in a batch of one battle; see `play`."""
        actions = [np.zeros(0, np.int64), np.zeros(0, np.int64)]
        actions[seat] = np.array([action], np.int64)
        return self.play(*actions)

    def _begin(self, members: NDArray[np.int64]) -> None:
        """Start battles, and skip those without a decision."""
        pending = members
        for _ in range(_ATTEMPTS):
            self._drive(Operation.RESET.value, pending, self._codes, self._out)
            pending = pending[self._states["node"][pending] == Node.END]
            if not len(pending):
                self.opening_points[members] = self.envs.unpaid[members]
                return
        name = self.scenarios[int(self.envs.scenario[pending[0]])].name
        raise ValueError(f"{name}: expected a decision, found none in {_ATTEMPTS} battles")

    def _decisions(self) -> tuple[Decisions, Decisions]:
        """Return each army's current decisions; battles that are over have none."""
        running = self._states["node"] != Node.END
        first, second = (
            Decisions(members, *self.observe_members(members, view))
            for view in self.views
            for members in [np.flatnonzero(running & (self._states["mover"] == view.seat))]
        )
        self._asked = first, second
        return first, second

    def __getstate__(self) -> dict[str, Any]:
        kept = "_arguments", "envs", "points", "opening_points", "ended"
        return {**{key: vars(self)[key] for key in kept}, "is_reset": self._asked is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arguments, options = state["_arguments"]
        self.__init__(*arguments, **options)  # type: ignore[misc]
        self.envs[:] = state["envs"]
        for key in ("points", "opening_points", "ended"):
            getattr(self, key)[:] = state[key]
        if state["is_reset"]:
            self._decisions()


def _check_legal(seat: str, asked: Decisions, actions: NDArray[np.int64]) -> None:
    """Raise a ValueError for the first illegal action; the kernel does not check them."""
    count, actions_each = asked.masks.shape
    rows = np.arange(0, count * actions_each, actions_each)
    legal = asked.masks.take(rows + actions, mode="clip")
    legal &= (actions >= 0) & (actions < actions_each)
    if not legal.all():
        k = int(np.argmin(legal))
        raise ValueError(
            f"actions of the {seat}: expected a legal action in battle {asked.members[k]}, "
            f"found {actions[k]}"
        )
