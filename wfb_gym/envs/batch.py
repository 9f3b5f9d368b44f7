"""A batch of environments: their arrays, the opponents that are asked from outside, the steps.

Everything that Gymnasium's single and vector environments share. Numbers in, numbers out: the
shapes of spaces and infos are theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.actions import ActionCodec, action_codec
from wfb_gym.encoding.layout import Layout, layout
from wfb_gym.encoding.limits import Limits, check_covers, fit, union
from wfb_gym.encoding.observe import write_static
from wfb_gym.engine.generator import key_of_seed
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.phase import begin
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.work import new_scratch
from wfb_gym.envs import kernel
from wfb_gym.opponents.registry import Opponent, Policy, resolve_pool
from wfb_gym.scenario import Scenario, load_scenario, pack

ScenarioLike = Any
"""A bundled name, a path to a scenario file, or a `Scenario`."""


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
            the environments take in turn.
        seat: the learner's army: 0 casts first, 1 dispels.
        opponent: who plays the other army; see `wfb_gym.opponents.registry.resolve_pool`.
        limits: sizes of the spaces; fitted to the scenarios unless given.
        mode: a `kernel` autoreset mode.
        points_per_reward: points that make a reward of 1.
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
        if num_envs < 1:
            raise ValueError(f"num_envs: expected 1 or more, found {num_envs}")
        if not points_per_reward > 0:
            raise ValueError(f"points_per_reward: expected more than 0, found {points_per_reward}")
        several = isinstance(scenario, Sequence) and not isinstance(scenario, str)
        members: list[Any] = list(scenario) if several else [scenario]
        self.scenarios: tuple[Scenario, ...] = tuple(load_scenario(each) for each in members)
        if not self.scenarios:
            raise ValueError("scenario: expected at least one, found none")
        self.num_envs = num_envs
        self.seat = seat
        self.mode = mode
        self.scale = 1.0 / points_per_reward
        tables = [pack(each) for each in self.scenarios]
        self.tables = np.concatenate(tables).view(np.recarray)
        self.limits = limits or union([fit(table, seat) for table in tables])
        for table in tables:
            check_covers(self.limits, table, seat)
        self.layout: Layout = layout(self.limits)
        self.codec: ActionCodec = action_codec(self.limits)
        self.static = _static_rows(self.tables, seat, self.layout)
        self._scratch = new_scratch()
        self.starts = _starts(self.tables, self._scratch)
        names, self._policies = resolve_pool(opponent)
        self.pool = np.array(names, np.int64)
        self._other = _OtherSeat(self, tables) if self._policies else None
        self.envs = np.zeros(num_envs, kernel.ENVIRONMENT).view(np.recarray)
        self.envs.scenario = np.arange(num_envs) % len(tables)
        self._allowed = np.zeros((num_envs, self.codec.n), np.bool_)
        self._final = np.empty((num_envs, self.layout.size), np.float32)

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Key environments' generators with their own seeds, and count from 0; None leaves one."""
        chosen = [i for i, seed in enumerate(seeds) if seed is not None]
        rngs = self.envs["rng"]
        rngs["key"][chosen] = [key_of_seed(seed) for seed in seeds if seed is not None]
        rngs["dice"][chosen] = 0
        rngs["choices"][chosen] = 0

    def restore(self, environments: bytes) -> None:
        """Put back the bytes of `envs`.

        Raises:
            ValueError: they are of another number or kind of environments.
        """
        if len(environments) != self.envs.nbytes:
            raise ValueError(
                f"state: expected {self.envs.nbytes} bytes for {self.num_envs} environments, "
                f"found {len(environments)}"
            )
        self.envs[:] = np.frombuffer(environments, kernel.ENVIRONMENT)

    def reset(self, chosen: NDArray[np.bool_]) -> None:
        """Begin new episodes in the chosen environments, shape (n,)."""
        waiting = kernel.restart_chosen(
            chosen, self.envs, self.tables, self.starts, self.pool, self.seat, self._scratch
        )
        if waiting:
            self._ask_external(self._new_step())

    def look(self) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Observations and masks of all environments as they stand."""
        observations = np.empty((self.num_envs, self.layout.size), np.float32)
        kernel.show_all(
            np.arange(self.num_envs),
            self.envs,
            self.tables,
            self.seat,
            self.layout.offsets[0],
            self.static,
            self.codec.index_of,
            self._allowed,
            observations,
            self._scratch,
        )
        return observations, self._allowed.copy()

    def check_actions(self, actions: NDArray[np.int64], strict: bool) -> None:
        """Refuse actions outside the space, and illegal ones if `strict`.

        Raises:
            ValueError: names the first environment at fault.
        """
        outside, illegal = kernel.count_illegal(actions, self._allowed)
        if outside >= 0:
            raise ValueError(
                f"action {int(actions[outside])} of environment {outside}: "
                f"expected 0..{self.codec.n - 1}"
            )
        running = illegal >= 0 and self.envs[illegal].status == kernel.RUNNING
        if strict and running:
            legal = np.flatnonzero(self._allowed[illegal]).tolist()
            raise ValueError(
                f"action {int(actions[illegal])} of environment {illegal} is illegal: "
                f"expected one of {legal}"
            )

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Play one action of the learner in every environment.

        Args:
            actions: int64, shape (n,), inside the action space.
        """
        out = self._new_step()
        waiting = kernel.step_range(
            0, self.num_envs, actions, self.mode, self.envs, self.tables, self.starts,
            self.pool, self.seat, self.scale, self.codec.code_of, self.codec.index_of,
            self.layout.offsets[0], self.static, self._allowed, out.observations,
            out.rewards, out.terminations, out.illegal, out.final, self._scratch,
        )  # fmt: skip
        if waiting:
            self._ask_external(out)
        out.masks = self._allowed.copy()
        return out

    def _new_step(self) -> Step:
        count = self.num_envs
        return Step(
            np.empty((count, self.layout.size), np.float32),
            self._allowed,
            np.empty(count),
            np.empty(count, np.bool_),
            np.empty(count, np.bool_),
            self._final,
        )

    def _ask_external(self, out: Step) -> None:
        """Ask external opponents, once a batch, until no environment waits for one."""
        assert self._other is not None
        members = np.flatnonzero(self.envs.status >= kernel.WAITING)
        while len(members):
            codes = self._other.decide(members)
            kernel.resume(
                members, codes, self.mode, self.envs, self.tables, self.starts, self.pool,
                self.seat, self.scale, self.codec.index_of, self.layout.offsets[0], self.static,
                self._allowed, out.observations, out.rewards, out.terminations,
                out.final, self._scratch,
            )  # fmt: skip
            members = members[self.envs.status[members] >= kernel.WAITING]

    @property
    def policies(self) -> dict[int, Policy]:
        """External opponents by their place in the pool."""
        return self._policies


class _OtherSeat:
    """The external opponents' view of a batch."""

    def __init__(self, batch: Batch, tables: Sequence[np.recarray[Any, Any]]) -> None:
        self._batch = batch
        seat = 1 - batch.seat
        dice = max(fit(table, seat).dice for table in tables)
        limits = batch.limits.swapped(dice)
        self.layout = layout(limits)
        self.codec = action_codec(limits)
        self._static = _static_rows(batch.tables, seat, self.layout)

    def decide(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Engine codes that the opponents of these environments choose."""
        batch = self._batch
        codes = np.empty(len(members), np.int64)
        places = batch.envs.opponent[members]
        for place, policy in batch.policies.items():
            mine = np.flatnonzero(places == place)
            if len(mine):
                codes[mine] = self._ask(policy, members[mine])
        return codes

    def _ask(self, policy: Callable[..., Any], members: NDArray[np.int64]) -> NDArray[np.int64]:
        observations = np.empty((len(members), self.layout.size), np.float32)
        masks = np.empty((len(members), self.codec.n), np.bool_)
        batch = self._batch
        kernel.show_all(
            members, batch.envs, batch.tables, 1 - batch.seat, self.layout.offsets[0],
            self._static, self.codec.index_of, masks, observations, new_scratch(),
        )  # fmt: skip
        actions = np.asarray(policy(observations, masks.copy()))
        if actions.shape != (len(members),) or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(
                f"opponent: expected integer actions of shape ({len(members)},), "
                f"found {actions.dtype} of shape {actions.shape}"
            )
        legal = (actions >= 0) & (actions < self.codec.n)
        legal[legal] = masks[np.flatnonzero(legal), actions[legal]]
        if not legal.all():
            first = int(np.flatnonzero(~legal)[0])
            raise ValueError(
                f"opponent: action {int(actions[first])} is illegal, "
                f"expected one of {np.flatnonzero(masks[first]).tolist()}"
            )
        return self.codec.code_of[actions]


def _static_rows(tables: np.recarray[Any, Any], seat: int, shape: Layout) -> NDArray[np.float32]:
    rows = np.empty((len(tables), shape.size), np.float32)
    for table, row in zip(tables, rows, strict=True):
        write_static(table, seat, shape.offsets[0], row)
    return rows


def _starts(tables: np.recarray[Any, Any], scratch: np.recarray[Any, Any]) -> np.recarray[Any, Any]:
    """First positions of the scenarios: copied at each reset, so that set-up costs nothing."""
    starts = np.zeros(len(tables), kernel.START).view(np.recarray)
    for table, start in zip(tables, starts, strict=True):
        start.points = begin(table, start.state, scratch[0])
        if is_decision(start.state.node):
            start.count = legal_actions(table, start.state, scratch[0])
    return starts
