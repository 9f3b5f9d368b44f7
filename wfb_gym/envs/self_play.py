"""Both seats of many battles, played from outside: what self-play stands on.

Where `wfb_gym.envs.batch` plays on until one learner must decide, this stops at every decision of
either army. Each army sees the battle in its own layout and answers in its own action space.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import announce_compiling, int64, jit
from wfb_gym._records import Int64, Record, Records, as_records, dtype_of, new_records
from wfb_gym.encoding.layout import LayoutOffsets
from wfb_gym.encoding.limits import Limits, check_covers, fit, union
from wfb_gym.encoding.observe import observe
from wfb_gym.encoding.view import View
from wfb_gym.engine.chance import sample
from wfb_gym.engine.generator import Rng, key_of_seed, next_choice
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import FIRST_CHANCE, LAST_CHANCE, State, WorkSpace, new_work_spaces
from wfb_gym.engine.transition import act_and_list, resolve_and_list
from wfb_gym.envs.kernel import FirstPosition, prepare, write_mask
from wfb_gym.envs.scenario_set import ScenarioLike, resolve_scenarios
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import ARMIES

BEGIN = 0
PLAY = 1
LOOK = 2
"""What `play_turns` does."""
_ATTEMPTS = 1000
"""Battles begun before giving up on one in which somebody decides something."""


class SelfPlayBattle(Record):
    """One battle in which both seats are played from outside."""

    state: State
    rng: Rng
    scenario: Int64


SELF_PLAY_BATTLE = dtype_of(SelfPlayBattle)


class Decisions(NamedTuple):
    """The decisions that are one army's, in the order of the battles.

    Attributes:
        members: whose battles they are, int64 (k,).
        observations: float32 (k, size).
        masks: bool (k, actions).
    """

    members: NDArray[np.int64]
    observations: NDArray[np.float32]
    masks: NDArray[np.bool_]


@jit(forceinline=False)
def _roll_on(packed: PackedScenario, state: State, rng: Rng, count: int, work: WorkSpace) -> Any:
    """Roll until somebody must decide or the battle ends; points won, and how many actions."""
    points = 0.0
    while count == 0 and FIRST_CHANCE <= state.node <= LAST_CHANCE:
        outcome = sample(packed, state, rng, work)
        gained, count = resolve_and_list(packed, state, outcome, work)
        points += gained
    return points, int64(count)


@jit(forceinline=False)
def _begin(
    battle: SelfPlayBattle,
    packed_scenarios: Records[PackedScenario],
    starts: Records[FirstPosition],
    redraw: bool,
    work: WorkSpace,
) -> tuple[float, int]:
    """Begin the next battle in which there is something to decide."""
    points = 0.0
    for _ in range(_ATTEMPTS):
        if redraw:
            battle.scenario = next_choice(battle.rng, starts.shape[0])
        start = starts[battle.scenario]
        battle.state = start.state
        packed = packed_scenarios[battle.scenario]
        count = int64(start.count)
        if count > 0:
            count = int64(legal_actions(packed, battle.state, work))
        gained, count = _roll_on(packed, battle.state, battle.rng, count, work)
        points = start.points + gained
        if count > 0:
            return points, count
    return points, 0


@jit(nogil=True, forceinline=False)
def play_turns(
    operation: int,
    codes: NDArray[np.int64],
    battles: Records[SelfPlayBattle],
    packed_scenarios: Records[PackedScenario],
    starts: Records[FirstPosition],
    redraw: bool,
    offsets: Records[LayoutOffsets],
    static: tuple[NDArray[np.float32], NDArray[np.float32]],
    indices: NDArray[np.int64],
    members: NDArray[np.int64],
    first: tuple[NDArray[np.float32], NDArray[np.bool_]],
    second: tuple[NDArray[np.float32], NDArray[np.bool_]],
    points: NDArray[np.float64],
    opened: NDArray[np.float64],
    ended: NDArray[np.bool_],
    scratch: Records[WorkSpace],
) -> tuple[int, int]:
    """Play one decision in every battle and show the next; how many are each army's.

    Args:
        operation: BEGIN all battles, PLAY `codes`, or only LOOK.
        codes: engine codes of legal actions, int64 (n,).
        battles: `SELF_PLAY_BATTLE`, shape (n,), changed in place.
        packed_scenarios: packed scenarios.
        starts: their first positions (`START`).
        redraw: whether each battle draws its scenario.
        offsets: of the two layouts, shape (2,).
        static: fixed parts of the observations, by army.
        indices: of the two action spaces by engine code, int64 (2, ACTIONS).
        members: int64 (2, n): the battles in which each army decides now.
        first: observations and masks of the first army, of which as many rows are written.
        second: those of the other.
        points: float64 (n,): won by the first army since the decision, in the same battle.
        opened: float64 (n,): won in a battle that has just begun, before anybody decided.
        ended: bool (n,): the battle is over and a new one has begun.
        scratch: `engine.work.WORK_SPACE`, shape (1,).
    """
    work = scratch[0]
    own = 0
    other = 0
    for i in range(battles.shape[0]):
        battle = battles[i]
        state = battle.state
        packed = packed_scenarios[battle.scenario]
        points[i] = 0.0
        opened[i] = 0.0
        ended[i] = False
        count = 0
        if operation == LOOK:
            count = int64(legal_actions(packed, state, work))
        elif operation == PLAY:
            gained, count = act_and_list(packed, state, codes[i], work)
            rolled, count = _roll_on(packed, state, battle.rng, int64(count), work)
            points[i] = gained + rolled
            ended[i] = count == 0
        if count == 0:
            opened[i], count = _begin(battle, packed_scenarios, starts, redraw, work)
            if count == 0:
                return -1, i
            packed = packed_scenarios[battle.scenario]
        if state.mover == 0:
            members[0, own] = i
            observe(packed, state, 0, offsets[0], static[0][battle.scenario], first[0][own])
            write_mask(own, count, work, indices[0], first[1])
            own += 1
        else:
            members[1, other] = i
            observe(packed, state, 1, offsets[1], static[1][battle.scenario], second[0][other])
            write_mask(other, count, work, indices[1], second[1])
            other += 1
    return own, other


@jit(nogil=True, forceinline=False)
def _prepare_all(
    packed_scenarios: Records[PackedScenario],
    starts: Records[FirstPosition],
    scratch: Records[WorkSpace],
) -> None:
    for k in range(packed_scenarios.shape[0]):
        prepare(packed_scenarios[k], starts[k], scratch[0])


class SelfPlayBatch:
    """Battles side by side in which every decision, of either army, is asked for.

    Battles that end begin anew at once. Those in which nobody decides anything are passed over.

    Args:
        num_envs: how many, 1 or more.
        scenario: as `wfb_gym.envs.batch.Batch` takes it.
        limits: of each army's spaces; fitted to the scenarios unless given.

    Attributes:
        views: how each army sees the battles: layout and codec.
        scenarios: that are played.
        points: float64 (n,): won by the first army since the last `play`, up to the next decision
            or the end of the battle.
        opened: float64 (n,): what it had won when the battle at hand came to its first decision.
        ended: bool (n,): the battle of the last `play` is over, and another has begun.

    Raises:
        ValueError: no battle, or limits that a scenario exceeds.
        ScenarioError: a scenario that there is none of, or that is refused.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike | Sequence[ScenarioLike],
        limits: tuple[Limits, Limits] | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs: expected 1 or more, found {num_envs}")
        self.scenarios, self.packed_scenarios, self.redraw, wanted = resolve_scenarios(scenario)
        packed_scenarios = [
            self.packed_scenarios[k : k + 1] for k in range(len(self.packed_scenarios))
        ]
        if limits is None and wanted is not None:
            limits = (wanted, wanted.swapped(wanted.dice))
        if limits is None:
            first, second = (
                union([fit(packed, seat) for packed in packed_scenarios]) for seat in range(ARMIES)
            )
            limits = (first, second)
        for seat in range(ARMIES):
            for packed in packed_scenarios:
                check_covers(limits[seat], packed, seat)
        self.views = (
            View(self.packed_scenarios, 0, limits[0]),
            View(self.packed_scenarios, 1, limits[1]),
        )
        self.num_envs = num_envs
        offsets = np.concatenate([view.layout.offsets for view in self.views])
        self._offsets = as_records(LayoutOffsets, offsets)
        self._indices = np.stack([view.codec.index_of for view in self.views])
        self._battles = new_records(SelfPlayBattle, num_envs)
        self._battles.scenario = np.arange(num_envs) % len(packed_scenarios)
        self._starts = new_records(FirstPosition, len(packed_scenarios))
        self._scratch = new_work_spaces()
        announce_compiling(play_turns)
        _prepare_all(self.packed_scenarios, self._starts, self._scratch)
        self._codes = np.zeros(num_envs, np.int64)
        self.points = np.zeros(num_envs)
        self.opened = np.zeros(num_envs)
        self.ended = np.zeros(num_envs, np.bool_)

    @property
    def playing(self) -> NDArray[np.int64]:
        """The scenario of each battle, int64 (n,)."""
        return self._battles.scenario.copy()

    def get_state(self) -> dict[str, Any]:
        """Everything that the battles' futures depend on; see `set_state`."""
        return {"battles": self._battles.tobytes()}

    def set_state(self, state: dict[str, Any]) -> tuple[Decisions, Decisions]:
        """Go back to a state that `get_state` of equal battles gave.

        Returns:
            What each army must decide now.

        Raises:
            ValueError: the state is of another number of battles.
        """
        if len(state["battles"]) != self._battles.nbytes:
            raise ValueError(
                f"state: expected {self._battles.nbytes} bytes for {self.num_envs} battles, "
                f"found {len(state['battles'])}"
            )
        self._battles[:] = np.frombuffer(state["battles"], SELF_PLAY_BATTLE)
        return self._run(LOOK)

    def states(self, members: NDArray[np.int64]) -> Records[State]:
        """Copies of the positions of some battles: `engine.state.STATE`, shape (k,)."""
        return as_records(State, np.ascontiguousarray(self._battles["state"][members]))

    def put(
        self, members: NDArray[np.int64], scenario: NDArray[np.int64], states: NDArray[Any]
    ) -> tuple[Decisions, Decisions]:
        """Go on from other positions in some battles; their dice go on as they come.

        Args:
            members: the battles, int64 (k,).
            scenario: that each position belongs to, int64 (k,).
            states: decisions, as `states` gave them.

        Returns:
            What each army must decide now, in all battles.
        """
        self._battles["state"][members] = states
        self._battles["scenario"][members] = scenario
        won = self.points.copy(), self.opened.copy(), self.ended.copy()
        shown = self._run(LOOK)
        self.points[:], self.opened[:], self.ended[:] = won
        return shown

    def reset(self, seed: int) -> tuple[Decisions, Decisions]:
        """Begin all battles; battle i has the dice of `seed` + i.

        Returns:
            What each army must decide now.
        """
        for i in range(self.num_envs):
            self._battles.rng[i] = (key_of_seed(seed + i), 0, 0)
        return self._run(BEGIN)

    def play(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[Decisions, Decisions]:
        """Play a decision in every battle.

        Args:
            first: the first army's actions, int64, one for each of its decisions as they were
                shown; they must be legal.
            second: the other's.

        Returns:
            What each army must decide next.
        """
        for view, shown, actions in zip(self.views, self._shown, (first, second), strict=True):
            self._codes[shown.members] = view.codec.code_of[actions]
        return self._run(PLAY)

    def _run(self, operation: int) -> tuple[Decisions, Decisions]:
        members = np.empty((ARMIES, self.num_envs), np.int64)
        first, second = (
            (
                np.empty((self.num_envs, view.layout.size), np.float32),
                np.empty((self.num_envs, view.codec.n), np.bool_),
            )
            for view in self.views
        )
        own, other = play_turns(
            operation, self._codes, self._battles, self.packed_scenarios, self._starts, self.redraw,
            self._offsets, (self.views[0].static, self.views[1].static), self._indices, members,
            first, second, self.points, self.opened, self.ended, self._scratch,
        )  # fmt: skip
        if own < 0:
            name = self.scenarios[int(self._battles.scenario[other])].name
            raise ValueError(f"{name}: nobody ever has anything to decide in it")
        self._shown = (
            Decisions(members[0, :own], first[0][:own], first[1][:own]),
            Decisions(members[1, :other], second[0][:other], second[1][:other]),
        )
        return self._shown
