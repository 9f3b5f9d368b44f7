"""A batch of environments with one learner: resets, steps, and calls to external opponents.

The single and vector environments share this code. It takes and returns plain arrays; the
environments add Gymnasium's spaces and infos.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import entry_point
from wfb_gym.encoding.actions import action_meanings, army_names
from wfb_gym.encoding.limits import Limits, fit
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.view import View
from wfb_gym.envs import kernel
from wfb_gym.envs.driver import (
    MIN_SHARED,
    EpisodeDriver,
    check_num_envs,
    part_of_state,
    validated_points_per_reward,
)
from wfb_gym.envs.kernel import Autoreset, BatchStep, Operation, Status
from wfb_gym.envs.scenario_set import ScenarioLike, ScenarioSet, resolve_scenarios
from wfb_gym.envs.specs import as_limits
from wfb_gym.envs.thread_pool import ALONE
from wfb_gym.opponents.dispatch import Scripted, kind_and_epsilon
from wfb_gym.opponents.move_tables import MoveTables, no_move_tables
from wfb_gym.players.interface import Opponent, Policy
from wfb_gym.players.registry import resolve_opponents
from wfb_gym.scenario import Scenario

if TYPE_CHECKING:
    from wfb_gym.envs.watching import BatchWatcher

_NO_ACTIONS = np.zeros(0, np.int64)
_INT64 = np.dtype(np.int64)
_STEP = Operation.STEP.value


class Batch(EpisodeDriver):
    """Environments that step together; see `MagicPhaseVectorEnv` for the arguments.

    `observed` contains its arguments `history` and `features`.

    Attributes:
        action_mask: the learner's currently legal actions, bool (n, actions).
        is_reset: whether `reset` or `set_state` has been called.
        watcher: records every step for rendering. None if there is no render mode.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike | Sequence[ScenarioLike],
        seat: int,
        opponent: Opponent | Sequence[Opponent],
        limits: Limits | None,
        mode: Autoreset,
        points_per_reward: float,
        **observed: Any,
    ) -> None:
        check_num_envs(num_envs)
        scale = 1.0 / validated_points_per_reward(points_per_reward)
        scenarios, opponents = resolve_scenarios(scenario), resolve_opponents(opponent)
        arguments = num_envs, scenarios, seat, opponents, limits, mode, points_per_reward
        self._arguments = arguments, observed
        packed_scenarios = scenarios.packed_scenarios
        limits = scenarios.limits if limits is None else as_limits(limits)
        view = View.fitted(packed_scenarios, seat, limits, **observed)
        self.seat, self.limits = seat, view.limits
        numbers, self._policies = opponents
        move_tables = _load_move_tables(numbers, scenarios, 1 - seat)
        super().__init__(num_envs, scenarios, view, numbers, move_tables, mode, scale)
        self.layout, self.codec = view.layout, view.codec
        digest = hashlib.sha256(packed_scenarios.tobytes())
        suffix = " history" if view.limits.history else ""
        digest.update(f"{seat} {numbers} {int(mode)} {self.redraw}{suffix}".encode())
        self._identity = digest.hexdigest()
        dice = (scenarios.limits or fit(packed_scenarios, 1 - seat)).dice
        self._other = View(packed_scenarios, 1 - seat, self.limits.from_other_seat(dice))
        self.action_mask: NDArray[np.bool_] = np.zeros((num_envs, self.codec.n), np.bool_)
        self.action_mask_int8 = self.action_mask.view(np.int8)  # same memory; infos use int8
        self.is_reset = False
        self.watcher: BatchWatcher | None = None
        kernel.first_invalid(self._members[:0], self.action_mask, self.envs)
        self._first_invalid = entry_point(kernel.first_invalid)

    def get_state(self) -> dict[str, Any]:
        """Return the complete state of all environments, for `set_state`."""
        return {"identity": self._identity, "envs": self.envs.tobytes()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `get_state` on a batch with the same arguments.

        Raises:
            ValueError: if the state is corrupt or comes from a batch with other arguments.
        """
        envs, identity = part_of_state(state, "envs", bytes), part_of_state(state, "identity", str)
        if len(envs) == self.envs.nbytes and identity != self._identity:
            raise ValueError(
                "state: expected one of the same scenarios, seat, opponents, autoreset mode and "
                "history"
            )
        self.envs[:] = self.read_envs(envs, "environments", self.seat)
        self.is_reset = True

    def reset(self, chosen: NDArray[np.bool_], seeds: Sequence[int | None] = ()) -> BatchStep:
        """Start new episodes in the chosen environments.

        If the call raises, the batch is left unchanged.

        Args:
            chosen: the environments to reset, bool (n,).
            seeds: see `seed`.

        Returns:
            Observations and masks of all environments, as `observe` returns them.
        """
        out, members = self.new_step(), chosen.nonzero()[0]
        with self.unchanged_on_failure():
            self.seed(seeds)
            if self.watcher is not None:
                self.watcher.begin_step(self)
            if self._drive(Operation.RESET.value, members, _NO_ACTIONS, out):
                self._ask_opponents(out)
            if self.watcher is not None:
                self.watcher.follow_reset(self, chosen)
        self.is_reset = True
        return out if len(members) == self.num_envs else self.observe()

    @contextmanager
    def unchanged_on_failure(self) -> Iterator[None]:
        """Restore the environments and their masks if the block raises."""
        action_mask = self.action_mask.copy()
        try:
            with super().unchanged_on_failure():
                yield
        except BaseException:
            self.action_mask[:] = action_mask
            raise

    def observe(self) -> BatchStep:
        """Return the current observations and masks of all environments; other fields are unset."""
        out = self.new_step()
        self._drive(Operation.OBSERVE.value, self._members, _NO_ACTIONS, out)
        return out

    def playing(self, index: int) -> Scenario:
        """Return an environment's current scenario."""
        return self.scenarios[int(self.envs.scenario[index])]

    def action_meanings(self, index: int) -> list[str]:
        """Describe each action, using the names in the current scenario."""
        names = [army_names(self.playing(index), seat) for seat in (self.seat, 1 - self.seat)]
        return action_meanings(self.limits, *names)

    def check_actions(self, actions: NDArray[np.int64], strict: bool) -> None:
        """Raise a ValueError if an action is outside the space or, with `strict`, illegal."""
        outside, illegal = self._first_invalid(actions, self.action_mask, self.envs)
        if outside >= 0:
            raise ValueError(self._outside(int(actions[outside]), outside))
        if strict and illegal >= 0:
            legal = np.flatnonzero(self.action_mask[illegal]).tolist()
            raise ValueError(
                f"action {int(actions[illegal])} of environment {illegal} is illegal: "
                f"expected one of {legal}"
            )

    def _outside(self, action: int, i: int) -> str:
        """Return the error message for an action outside the space."""
        return f"action {action} of environment {i}: expected 0..{self.codec.n - 1}"

    def as_actions(self, actions: Any) -> NDArray[np.int64]:
        """Convert actions to a contiguous int64 array (n,) for `step`.

        Raises:
            ValueError: if the shape is wrong, or a value is not an integer or does not fit int64.
        """
        if type(actions) is np.ndarray and actions.dtype is _INT64:  # fast path
            if actions.shape == self._members.shape and actions.flags.c_contiguous:
                return actions
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or not np.issubdtype(array.dtype, np.integer):
            raise ValueError(
                f"actions: expected integers of shape ({self.num_envs},), "
                f"found {array.dtype} of shape {array.shape}"
            )
        whole = np.ascontiguousarray(array, np.int64)
        if array.dtype == np.uint64 and (whole < 0).any():  # wrapped around
            i = int(np.argmax(whole < 0))
            raise ValueError(self._outside(int(array[i]), i))
        return whole

    def step(self, actions: NDArray[np.int64]) -> BatchStep:
        """Play one learner action in every environment.

        Raises:
            ValueError: if an action is outside the action space.
        """
        out = self.new_step()
        self.step_into(actions, out)
        return out

    def step_into(self, actions: NDArray[np.int64], out: BatchStep) -> None:
        """Do a step like `step`, and write the results into arrays from `new_step`."""
        if not self._policies and self.watcher is None:  # nothing else can fail, so copy nothing
            if self._step(actions, out) < 0:
                self.check_actions(actions, strict=False)
            return
        self.check_actions(actions, strict=False)
        with self.unchanged_on_failure():
            if self.watcher is not None:
                self.watcher.begin_step(self)
            if self._step(actions, out):
                self._ask_opponents(out)
            if self.watcher is not None:
                self.watcher.follow_step(self, actions)

    def prepare_step(self, actions: NDArray[np.int64], out: BatchStep) -> Callable[[], object]:
        """Return a function that does the same as `step_into` with these arrays.

        Actions must be in the action space. For small batches, the Python calls around the kernel
        take as long as the kernel itself. The returned function skips them if nothing else runs
        in Python.
        """
        calls_python = self._policies or self.watcher is not None or self._has_zeros
        if calls_python or self.num_envs >= MIN_SHARED:
            return partial(self.step_into, actions, out)
        moves = self._members, actions
        return partial(
            self._kernel, _STEP, moves, self.game, self._arrays, out, self._scratch, ALONE, 0
        )

    def new_step(self) -> BatchStep:
        """Allocate arrays for the results of a step."""
        return self._new_step(self.action_mask)

    def _ask_opponents(self, out: BatchStep) -> None:
        """Call each external opponent once per round until no environment is waiting for one."""
        members = np.flatnonzero(self.envs.status >= Status.OPPONENT_DECIDES)
        while len(members):
            codes = np.empty(len(members), np.int64)
            opponents = self.envs.opponent[members]
            for index, policy in self._policies.items():
                own = np.flatnonzero(opponents == index)
                if len(own):
                    codes[own] = self._ask_opponent(policy, members[own])
            if self.watcher is not None:
                self.watcher.add_answers(members, codes)
            self._drive(Operation.OPPONENT_STEP.value, members, codes, out)
            members = members[self.envs.status[members] >= Status.OPPONENT_DECIDES]

    def _ask_opponent(self, policy: Policy, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an external opponent's actions in these environments, as engine actions."""
        view = self._other
        observations, masks = self.observe_members(members, view)
        answer = ask_policy(policy, observations, masks, lambda: self.positions_of(members, view))
        return view.codec.code_of[validated_actions(answer, masks, "opponent")]

    def positions(self, members: NDArray[np.int64] | None = None) -> Positions:
        """Return the positions as the learner's seat sees them; defaults to all environments."""
        return self.positions_of(self._members if members is None else members, self.view)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_arguments", "is_reset", "envs", "action_mask", "watcher", "outputs_shared")
        return {key: vars(self)[key] for key in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arguments, observed = state["_arguments"]
        self.__init__(*arguments, **observed)  # type: ignore[misc]
        self.share_outputs(state["outputs_shared"])
        self.envs[:] = state["envs"]
        self.action_mask[:] = state["action_mask"]
        self.is_reset, self.watcher = state["is_reset"], state["watcher"]


def _load_move_tables(numbers: list[int], scenarios: ScenarioSet, seat: int) -> MoveTables:
    """Load an optimal opponent's move tables, if there is one and the scenarios allow it."""
    if all(kind_and_epsilon(number)[0] != Scripted.OPTIMAL for number in numbers):
        return no_move_tables()
    if scenarios.redraw:
        raise ValueError(
            "opponent: expected a player of generated scenarios, such as veteran, found optimal, "
            "which plays only scenarios that can be solved"
        )
    from wfb_gym.solver import TooLarge, move_tables  # slow import

    try:
        return move_tables.load_move_tables(scenarios.scenarios, seat)
    except TooLarge as error:
        raise TooLarge(
            f"opponent: {error}; optimal plays only scenarios that can be solved; veteran, greedy "
            "and phase-search play all"
        ) from None
