"""A batch of environments: their arrays, the opponents that are asked from outside, the steps.

Everything that Gymnasium's single and vector environments share. Numbers in, numbers out: the
shapes of spaces and infos are theirs.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import announce_compiling, entry_point
from wfb_gym._records import Records, new_records
from wfb_gym.encoding.limits import Limits, check_covers, fit, union
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, ask_policy, copy_states
from wfb_gym.encoding.view import View
from wfb_gym.engine.generator import key_of_seed
from wfb_gym.engine.state import new_work_spaces
from wfb_gym.envs import kernel
from wfb_gym.envs.scenario_set import ScenarioLike, resolve_scenarios
from wfb_gym.envs.thread_pool import THREAD_POOL, Task
from wfb_gym.opponents.move_tables import MoveTable, no_move_tables
from wfb_gym.opponents.scripted import Scripted, kind_and_epsilon
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Opponent, Policy
from wfb_gym.players.registry import resolve_opponents

if TYPE_CHECKING:
    from wfb_gym.envs.watching import Watch

LEAST_CHUNK = 512
"""Fewest environments that a thread takes at a time; a batch of four such chunks is the smallest
that gains more by a second thread than the hand-over costs (measured)."""
CHUNKS_PER_THREAD = 4
"""Chunks that each thread would take if all were alike: room to even out a busy core."""


@dataclass
class Step:
    """What one step of a batch gives; every array but `final` is new.

    Attributes:
        observations: float32, (n, size).
        masks: bool, (n, actions).
        rewards: float64, (n,), the learner's, in points over `points_per_reward`.
        terminations: bool, (n,).
        illegal: bool, (n,): an illegal action was replaced.
        final: float32, (n, size); rows where `terminations` in SAME_STEP mode, else undefined;
            valid until the next step.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.bool_]
    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    illegal: NDArray[np.bool_]
    final: NDArray[np.float32]


class Batch:
    """Environments that step together.

    Args:
        num_envs: how many, 1 or more.
        scenario: what they play: a name, a path, a `Scenario`, or a sequence of these, which
            the environments take in turn; or "generated", "generated:test" or a
            `wfb_gym.generating.Generated`, of which each episode draws one.
        seat: the learner's army: 0 casts first, 1 dispels.
        opponent: who plays the other army; see `wfb_gym.players.registry.resolve_opponents`.
        limits: sizes of the spaces; fitted to the scenarios unless given.
        mode: a `kernel` autoreset mode.
        points_per_reward: points that make a reward of 1.

    Attributes:
        watch: who is told what happens in every step, to show it; None unless somebody looks.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike | Sequence[ScenarioLike],
        seat: int,
        opponent: Opponent | Sequence[Opponent],
        limits: Limits | None,
        mode: int,
        points_per_reward: float,
    ) -> None:
        self._made_of = (
            num_envs, scenario, seat, opponent, limits, mode, points_per_reward,
        )  # fmt: skip
        if num_envs < 1:
            raise ValueError(f"num_envs: expected 1 or more, found {num_envs}")
        if not points_per_reward > 0:
            raise ValueError(f"points_per_reward: expected more than 0, found {points_per_reward}")
        self.scenarios, self.packed_scenarios, self.redraw, wanted = resolve_scenarios(scenario)
        limits = limits or wanted
        self.num_envs = num_envs
        self.seat = seat
        self.mode = mode
        self.scale = 1.0 / points_per_reward
        packed_scenarios = [self.one(k) for k in range(len(self.packed_scenarios))]
        self.limits = limits or union([fit(packed, seat) for packed in packed_scenarios])
        for packed in packed_scenarios:
            check_covers(self.limits, packed, seat)
        self.view = View(self.packed_scenarios, seat, self.limits)
        self.layout, self.codec = self.view.layout, self.view.codec
        self._scratch = new_work_spaces(THREAD_POOL.size)
        self.starts = new_records(kernel.FirstPosition, len(packed_scenarios))
        names, self._policies = resolve_opponents(opponent)
        self.pool = np.array(names, np.int64)
        self.move_tables, self.move_storage = self._load_move_tables(names)
        digest = hashlib.sha256(self.packed_scenarios.tobytes())
        digest.update(f"{seat} {names} {mode} {self.redraw}".encode())
        self._identity = digest.hexdigest()
        # Where the scenarios come with limits, those hold for either seat, whatever the seeds.
        fitted = max(fit(packed, 1 - seat).dice for packed in packed_scenarios)
        dice = fitted if wanted is None else wanted.dice
        self._other = View(self.packed_scenarios, 1 - seat, self.limits.swapped(dice))
        self.envs = new_records(kernel.Environment, num_envs)
        self.envs.scenario = np.arange(num_envs) % len(packed_scenarios)
        self.allowed = np.zeros((num_envs, self.codec.n), np.bool_)
        self._final = np.empty((num_envs, self.layout.size), np.float32)
        self._members = np.arange(num_envs)
        self.watch: Watch | None = None
        self._no_actions = np.zeros(0, np.int64)
        self._no_outputs = (
            np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.bool_), self._final[:0],
        )  # fmt: skip
        announce_compiling(kernel.drive)
        self._kernel: Any = kernel.drive
        self._drive(
            kernel.PREPARE, np.arange(len(packed_scenarios)), self._no_actions, self.new_step()
        )
        self._kernel = entry_point(kernel.drive)
        kernel.first_faults(self._members[:0], self.allowed, self.envs)
        self._first_faults = entry_point(kernel.first_faults)

    def _load_move_tables(self, kinds: list[int]) -> tuple[Records[MoveTable], NDArray[np.uint64]]:
        """Books of moves for an optimal opponent, if there is one.

        Raises:
            ValueError: the scenarios are generated, far too many to solve.
            TooLarge: a scenario has more positions than fit.
        """
        if not any(k >= 0 and kind_and_epsilon(k)[0] == Scripted.OPTIMAL for k in kinds):
            return no_move_tables()
        if self.redraw:
            raise ValueError(
                "opponent: expected one that plays any battle, as the scenarios are generated; "
                "optimal plays scenarios that can be solved ahead"
            )
        from wfb_gym.solver.move_tables import load_move_tables  # solves what is not solved yet

        return load_move_tables(self.scenarios, 1 - self.seat)

    def one(self, index: int) -> Records[PackedScenario]:
        """The table of one scenario, shape (1,)."""
        return self.packed_scenarios[index : index + 1]

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Key environments' generators with their own seeds, and count from 0; None leaves one."""
        chosen = [i for i, seed in enumerate(seeds) if seed is not None]
        rngs = self.envs["rng"]
        rngs["key"][chosen] = [key_of_seed(seed) for seed in seeds if seed is not None]
        rngs["dice"][chosen] = 0
        rngs["choices"][chosen] = 0

    def get_state(self) -> dict[str, Any]:
        """Everything that the environments' futures depend on; see `set_state`."""
        return {"identity": self._identity, "envs": self.envs.tobytes()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state that `get_state` of an equal batch gave.

        Raises:
            ValueError: the state is of another number or kind of environments.
        """
        environments, identity = state["envs"], state["identity"]
        if len(environments) != self.envs.nbytes:
            raise ValueError(
                f"state: expected {self.envs.nbytes} bytes for {self.num_envs} environments, "
                f"found {len(environments)}"
            )
        if identity != self._identity:
            raise ValueError(
                "state: expected one of the same scenarios, seat, opponents and autoreset mode"
            )
        self.envs[:] = np.frombuffer(environments, kernel.ENVIRONMENT)

    def reset(self, chosen: NDArray[np.bool_]) -> Step:
        """Begin new episodes in the chosen environments, shape (n,).

        Returns:
            Observations and masks of all environments; the rest is undefined.
        """
        out = self.new_step()
        before = self._snapshot()
        if self.watch is not None:
            self.watch.begin(self)
        if self._drive(kernel.RESTART, np.flatnonzero(chosen), self._no_actions, out):
            self._ask_external(out, before)
        if self.watch is not None:
            self.watch.tell_reset(self, chosen)
        if not chosen.all():
            self._drive(kernel.LOOK, self._members, self._no_actions, out)
        out.masks = self.allowed.copy()
        return out

    def look(self) -> Step:
        """Observations and masks of all environments as they stand; the rest is undefined."""
        out = self.new_step()
        self._drive(kernel.LOOK, self._members, self._no_actions, out)
        out.masks = self.allowed.copy()
        return out

    def check_actions(self, actions: NDArray[np.int64], strict: bool) -> None:
        """Refuse actions outside the space, and illegal ones if `strict`.

        Raises:
            ValueError: names the first environment at fault.
        """
        outside, illegal = self._first_faults(actions, self.allowed, self.envs)
        if outside >= 0:
            raise ValueError(
                f"action {int(actions[outside])} of environment {outside}: "
                f"expected 0..{self.codec.n - 1}"
            )
        if strict and illegal >= 0:
            legal = np.flatnonzero(self.allowed[illegal]).tolist()
            raise ValueError(
                f"action {int(actions[illegal])} of environment {illegal} is illegal: "
                f"expected one of {legal}"
            )

    def taken(self, actions: Any, strict: bool = False) -> NDArray[np.int64]:
        """Actions as a caller gave them, checked and as `step` takes them.

        Raises:
            ValueError: wrong shape or dtype, and as for `check_actions`.
        """
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or not np.issubdtype(array.dtype, np.integer):
            raise ValueError(
                f"actions: expected integers of shape ({self.num_envs},), "
                f"found {array.dtype} of shape {array.shape}"
            )
        array = np.ascontiguousarray(array, np.int64)
        self.check_actions(array, strict)
        return array

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Play one action of the learner in every environment.

        Args:
            actions: int64, shape (n,), inside the action space.
        """
        out = self.new_step()
        self.step_into(actions, out)
        out.masks = self.allowed.copy()
        return out

    def step_into(self, actions: NDArray[np.int64], out: Step) -> None:
        """`step` into arrays that `new_step` gave; the masks go to `allowed` alone."""
        before = self._snapshot()
        if self.watch is not None:
            self.watch.begin(self)
        if self.num_envs < 4 * LEAST_CHUNK or THREAD_POOL.size == 1:
            waiting = self._drive(kernel.STEP, self._members, actions, out)
        else:
            chunk = max(LEAST_CHUNK, self.num_envs // (CHUNKS_PER_THREAD * THREAD_POOL.size))
            waiting = THREAD_POOL.run(self._chunk_task(actions, out), self.num_envs, chunk)
        if waiting:
            self._ask_external(out, before)
        if self.watch is not None:
            self.watch.tell_step(self, actions)

    def _chunk_task(self, actions: NDArray[np.int64], out: Step) -> Task:
        arguments = self._arguments(kernel.STEP, self._members, actions, out, self.view)
        head, tail = arguments[0], arguments[3:-1]

        def task(low: int, high: int, thread: int) -> int:
            return int(self._kernel(head, low, high, *tail, self._scratch[thread : thread + 1]))

        return task

    def _arguments(
        self,
        operation: int,
        members: NDArray[np.int64],
        actions: NDArray[np.int64],
        out: Step,
        view: View,
    ) -> tuple[Any, ...]:
        """Arguments of `kernel.drive`."""
        masks = self.allowed if view is self.view else out.masks
        return (
            operation, 0, len(members), members, actions, self.mode, self.envs,
            self.packed_scenarios,
            self.starts, self.redraw, self.pool, view.seat, self.scale, view.codec.code_of,
            view.codec.index_of, view.layout.offsets, view.static, masks, out.observations,
            out.rewards, out.terminations, out.illegal, out.final, self.move_tables,
            self.move_storage,
            self._scratch,
        )  # fmt: skip

    def _drive(
        self,
        operation: int,
        members: NDArray[np.int64],
        actions: NDArray[np.int64],
        out: Step,
        view: View | None = None,
    ) -> int:
        """Run the kernel for a seat, the learner's by default; how many environments wait."""
        arguments = self._arguments(operation, members, actions, out, view or self.view)
        return int(self._kernel(*arguments))

    def new_step(self) -> Step:
        """Room for what a step gives."""
        count = self.num_envs
        return Step(
            np.empty((count, self.layout.size), np.float32),
            self.allowed,
            np.empty(count),
            np.empty(count, np.bool_),
            np.empty(count, np.bool_),
            self._final,
        )

    def _snapshot(self) -> tuple[Any, ...]:
        """What to go back to if an external opponent fails."""
        return (self.envs.copy(), self.allowed.copy()) if self._policies else ()

    def _ask_external(self, out: Step, before: tuple[Any, ...]) -> None:
        """Ask external opponents; if one fails, the batch is as it was `before`."""
        try:
            self._ask_until_none_waits(out)
        except BaseException:
            self.envs[:], self.allowed[:] = before
            raise

    def _ask_until_none_waits(self, out: Step) -> None:
        """Ask external opponents, once a batch, until no environment waits for one."""
        members = np.flatnonzero(self.envs.status >= kernel.WAITING)
        while len(members):
            codes = np.empty(len(members), np.int64)
            places = self.envs.opponent[members]
            for place, policy in self._policies.items():
                mine = np.flatnonzero(places == place)
                if len(mine):
                    codes[mine] = self._choices(policy, members[mine])
            if self.watch is not None:
                self.watch.answered(members, codes)
            self._drive(kernel.RESUME, members, codes, out)
            members = members[self.envs.status[members] >= kernel.WAITING]

    def _choices(self, policy: Policy, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Engine codes that an external opponent chooses in these environments."""
        view = self._other
        seen = Step(
            np.empty((len(members), view.layout.size), np.float32),
            np.empty((len(members), view.codec.n), np.bool_),
            *self._no_outputs,
        )
        self._drive(kernel.LOOK, members, self._no_actions, seen, view)
        answer = ask_policy(
            policy, seen.observations, seen.masks, lambda: self._positions(members, view)
        )
        return view.codec.code_of[validated_actions(answer, seen.masks, "opponent")]

    def positions(self, members: NDArray[np.int64] | None = None) -> Positions:
        """What a planner in the learner's seat may see.

        Args:
            members: environments, int64 (k,); all of them unless given.
        """
        return self._positions(self._members if members is None else members, self.view)

    def _positions(self, members: NDArray[np.int64], view: View) -> Positions:
        states = copy_states(self.envs["state"], members)
        return Positions(
            self.packed_scenarios, self.envs.scenario[members], states, view.seat, view.codec
        )

    def __getstate__(self) -> dict[str, Any]:
        return {key: vars(self)[key] for key in ("_made_of", "envs", "allowed", "watch")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["_made_of"])  # type: ignore[misc]
        self.envs[:] = state["envs"]
        self.allowed[:] = state["allowed"]
        self.watch = state["watch"]
