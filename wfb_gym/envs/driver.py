"""The arrays of a batch and the calls to the compiled kernel, for one learner or for both seats."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import entry_point
from wfb_gym._records import Records, as_records, new_records
from wfb_gym.encoding.history import History
from wfb_gym.encoding.positions import Positions, copy_states
from wfb_gym.encoding.state_validation import Fields, check_histories, check_states
from wfb_gym.encoding.view import View
from wfb_gym.engine.random_numbers import key_of_seed
from wfb_gym.engine.state import Node, new_work_spaces
from wfb_gym.envs import kernel
from wfb_gym.envs.kernel import Autoreset, BatchStep, Operation, Status
from wfb_gym.envs.recycled_arrays import RecycledArrays
from wfb_gym.envs.scenario_set import ScenarioSet
from wfb_gym.envs.thread_pool import ALONE, THREAD_POOL
from wfb_gym.opponents.move_tables import MoveTables

MIN_SHARED = 128
"""Minimum number of environments for a multithreaded step. Below this, threads cost more than they
save."""
CHUNKS_PER_THREAD, MAX_CHUNK = 8, 256
"""Chunks per thread if all take equally long, and the maximum number of environments in a chunk.
Small chunks balance the load when a core is busy."""
_NO_ACTIONS = np.zeros(0, np.int64)
LEAST_POINTS_PER_REWARD, MOST_POINTS_PER_REWARD = 1e-9, 1e9
"""Bounds that keep rewards finite and nonzero in float32."""
_Part = TypeVar("_Part")
_STEP = Operation.STEP.value  # looking up the enum member would take 5% of a step
_JOIN_TEAM = Operation.JOIN_TEAM.value


def validated_points_per_reward(points_per_reward: Any) -> float:
    """Return the number of points that give a reward of 1.

    Raises:
        ValueError: if the value is not a number or is out of bounds.
    """
    known = isinstance(points_per_reward, Real) and not isinstance(points_per_reward, bool)
    try:
        points = float(points_per_reward) if known else math.nan
    except OverflowError:
        points = math.inf
    if not LEAST_POINTS_PER_REWARD <= points <= MOST_POINTS_PER_REWARD:
        raise ValueError(
            f"points_per_reward: expected a number from {LEAST_POINTS_PER_REWARD:g} to "
            f"{MOST_POINTS_PER_REWARD:g}, found {points_per_reward!r}"
        )
    return points


def check_num_envs(num_envs: Any) -> None:
    """Raise a ValueError unless the value is an integer of at least 1."""
    known = isinstance(num_envs, int | np.integer) and not isinstance(num_envs, bool)
    if not known or num_envs < 1:
        kind = "" if known else ", a whole number"
        raise ValueError(f"num_envs: expected 1 or more{kind}, found {num_envs!r}")


def part_of_state(state: Any, key: str, kind: type[_Part]) -> _Part:
    """Return one entry of a state returned by `get_state`.

    Raises:
        ValueError: if the entry is missing or has the wrong type.
    """
    part = state.get(key) if isinstance(state, Mapping) else None
    if not isinstance(part, kind):
        held = f"{key!r} as {type(part).__name__}" if isinstance(state, Mapping) else repr(state)
        raise ValueError(
            f"state: expected a result of get_state, with {key!r} as {kind.__name__}, found {held}"
        )
    return part


def check_running(what: str, states: NDArray[Any]) -> None:
    """Raise a ValueError for the first of k states whose battle is already over."""
    Fields(what, states).check(states["node"] != Node.END, "node", "a decision")


class EpisodeDriver:
    """A batch of environments stepped by a single compiled call.

    Args:
        num_envs: number of environments, at least 1.
        scenarios: the scenarios to play.
        view: the learner's view.
        pool: opponents by number (see `wfb_gym.opponents.dispatch`).
        move_tables: move tables for optimal opponents.
        mode: when to restart ended episodes.
        scale: reward per point.
        notes: whether to record histories even if the learner's view does not include them.

    Raises:
        ValueError: if there are more scenarios than environments.
    """

    def __init__(
        self,
        num_envs: int,
        scenarios: ScenarioSet,
        view: View,
        pool: Sequence[int],
        move_tables: MoveTables,
        mode: Autoreset,
        scale: float,
        *,
        notes: bool = False,
    ) -> None:
        self.num_envs, self.mode, self.view, self.scale = num_envs, mode, view, scale
        self.scenarios, self.packed_scenarios, self.redraw, *_ = scenarios
        count = len(self.packed_scenarios)
        if count > num_envs and not self.redraw:  # the last ones would never be played
            raise ValueError(
                f"scenario: expected at most one for each environment, found {count} for "
                f"{num_envs}; use gym.make_vec with num_envs={count} or more"
            )
        self.envs = new_records(kernel.Environment, num_envs)
        self.envs.scenario = np.arange(num_envs) % count
        # Use views of plain arrays: copying and indexing record arrays takes ten times as long.
        plain = np.asarray(self.envs)
        self._bytes, self._rngs, self._states = plain.view(np.uint8), plain["rng"], plain["state"]
        self.game = kernel.BatchGame(
            self.envs, self.packed_scenarios, new_records(kernel.FirstPosition, count),
            bool(self.redraw), np.array(pool, np.int64), move_tables, int(mode),
            notes or view.limits.history, float(scale), count == 1,
        )  # fmt: skip
        self._scratch = new_work_spaces()
        self._members = np.arange(num_envs)
        even = num_envs // (CHUNKS_PER_THREAD * THREAD_POOL.size)
        self._chunk = min(MAX_CHUNK, max(MIN_SHARED // 4, even))
        self.share_outputs(False)
        rows = num_envs if mode == Autoreset.SAME_STEP else 0
        self._final = np.empty((rows, view.layout.size), np.float32)  # reused by every step
        self._arrays = view.arrays
        self._has_zeros = bool(view.layout.zeroed.size)
        out = self._new_step(np.zeros((0, view.codec.n), np.bool_))
        self._kernel: Any = kernel.drive
        self._drive(Operation.PREPARE.value, np.arange(count), _NO_ACTIONS, out)
        self._kernel = entry_point(kernel.drive)

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Seed each environment's generator; None leaves a generator unchanged.

        Raises:
            ValueError: if a seed is negative or not an integer.
        """
        chosen = [i for i, seed in enumerate(seeds) if seed is not None]
        given: Sequence[Any] = seeds
        for i, seed in enumerate(given):
            if seed is not None and (not isinstance(seed, int | np.integer) or seed < 0):
                raise ValueError(
                    f"seed of environment {i}: expected a whole number from 0, found {seed!r}"
                )
        if chosen:
            self._rngs["key"][chosen] = [key_of_seed(given[i]) for i in chosen]
            self._rngs["dice"][chosen] = 0
            self._rngs["choices"][chosen] = 0

    @contextmanager
    def unchanged_on_failure(self) -> Iterator[None]:
        """Restore the environments if the block raises."""
        before = self._bytes.copy()
        try:
            yield
        except BaseException:
            self._bytes[:] = before
            raise

    def share_outputs(self, is_shared: bool) -> None:
        """Set whether every step overwrites the previous step's observations."""
        self.outputs_shared = is_shared
        shape = self.num_envs, self.view.layout.size
        self._observations = RecycledArrays(shape, np.float32, is_shared=is_shared)

    def _new_step(self, masks: NDArray[np.bool_]) -> BatchStep:
        """Allocate arrays for the results of a step, with these masks."""
        count = self.num_envs
        observations = self._observations.take()
        return BatchStep(
            observations, masks, np.empty(count), np.empty(count, np.bool_),
            np.empty(count, np.bool_), self._final,
        )  # fmt: skip

    def _drive(
        self, operation: int, members: NDArray[np.int64], actions: NDArray[np.int64], out: BatchStep
    ) -> int:
        """Run an operation; return the number of environments waiting for an external opponent."""
        waiting: int = self._kernel(
            operation, (members, actions), self.game, self._arrays, out, self._scratch, ALONE, 0
        )  # fmt: skip
        if self._has_zeros:
            self._set_zeros(out)
        return waiting

    def _set_zeros(self, out: BatchStep) -> None:
        """Set the numbers that are always 0 in all observations of a step."""
        self.view.layout.set_zeros(out.observations)
        self.view.layout.set_zeros(out.final)

    def _step(self, actions: NDArray[np.int64], out: BatchStep) -> int:
        """Play the learner's actions, multithreaded for large batches; see `kernel.drive`."""
        if self.num_envs < MIN_SHARED:
            return self._drive(_STEP, self._members, actions, out)
        kernel, moves, scratch = self._kernel, (self._members, actions), self._scratch
        task = moves, self.game, self._arrays, out
        waiting = THREAD_POOL.run(
            lambda team: kernel(_STEP, *task, scratch, team, self._chunk),
            lambda: self._helper(task),
        )
        if self._has_zeros:
            self._set_zeros(out)
        return waiting

    def _helper(self, task: tuple[Any, ...]) -> Callable[[int], None]:
        """Return the function for helper threads to run; it holds no reference to this batch."""
        kernel, nothing = self._kernel, _without_rows(task)
        return lambda team: kernel(_JOIN_TEAM, *nothing, new_work_spaces(), team, 0)

    def observe_members(
        self, members: NDArray[np.int64], view: View
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return a seat's observations and masks.

        Returns:
            Observations, float32 (k, size), and masks, bool (k, actions). Only pass is legal while
            the other seat is to move.
        """
        observations = np.empty((len(members), view.layout.size), np.float32)
        masks = np.empty((len(members), view.codec.n), np.bool_)
        none = np.zeros(0, np.bool_)
        out = BatchStep(observations, masks, np.zeros(0), none, none, observations[:0])
        self._kernel(
            Operation.OBSERVE.value, (members, _NO_ACTIONS), self.game, view.arrays, out,
            self._scratch, ALONE, 0,
        )  # fmt: skip
        view.layout.set_zeros(observations)
        return observations, masks

    def positions_of(self, members: NDArray[np.int64], view: View) -> Positions:
        """Return the positions of some environments as a seat sees them."""
        scenario, states = self.envs.scenario[members], copy_states(self.envs["state"], members)
        histories = None
        if self.game.notes:
            histories = as_records(History, np.ascontiguousarray(self.envs["history"][members]))
        return Positions(self.packed_scenarios, scenario, states, view.seat, view.codec, histories)

    def read_envs(
        self, state: bytes, what: str, seat: int | None, *, must_run: bool = False
    ) -> Records[kernel.Environment]:
        """Decode and validate environments from untrusted bytes.

        Args:
            state: the bytes of `num_envs` environments.
            what: "environments" or "battles", for error messages.
            seat: the learner's seat. None if the caller plays both seats.
            must_run: whether to reject battles that are over.

        Raises:
            ValueError: if the number of environments is wrong or one cannot be resumed.
        """
        if len(state) != self.envs.nbytes:
            raise ValueError(
                f"state: expected {self.envs.nbytes} bytes for {self.num_envs} {what}, "
                f"found {len(state)}"
            )
        found = as_records(kernel.Environment, np.frombuffer(state, kernel.ENVIRONMENT))
        one = what.removesuffix("s")
        self._check(found, one, seat)
        if must_run:
            check_running(one, found["state"])
        return found

    def _check(self, envs: Records[kernel.Environment], what: str, seat: int | None) -> None:
        """Raise a ValueError for the first environment that cannot be resumed."""
        # Generators need no check: every bit pattern is a valid key and counter.
        fields = Fields(what, np.asarray(envs))
        fields.check_range("scenario", 0, len(self.packed_scenarios) - 1)
        fields.check_range("opponent", 0, len(self.game.pool) - 1)
        fields.check(np.isfinite(fields["unpaid"]), "unpaid", "a finite number")
        check_histories(what, fields["history"])
        states = fields["state"]
        check_states(what, self.packed_scenarios, fields["scenario"], states)
        over, status = states["node"] == Node.END, fields["status"]
        stays_over = over & (self.mode != Autoreset.SAME_STEP)
        good = (status == Status.LEARNER_DECIDES) | ((status == Status.DONE) & stays_over)
        if seat is None:
            good = (status == Status.LEARNER_DECIDES) | (status == Status.OPPONENT_OPENS)
        fields.check(good, "status", "the status of a battle between two steps")
        turn = np.ones(len(envs), np.bool_) if seat is None else over | (states["mover"] == seat)
        fields.check(turn, "state", f"a decision of seat {seat}")


def _without_rows(value: Any) -> Any:
    """Return arguments of the same types with empty arrays."""
    if isinstance(value, tuple):
        parts = map(_without_rows, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value[:0].copy() if isinstance(value, np.ndarray) else value
