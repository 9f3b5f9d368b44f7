"""Scenarios with hidden items: equilibrium play, and how far a policy is from it.

With a secret the phase is a game of imperfect information: an army's optimal play mixes actions,
and what it does tells the enemy something of what it holds. `solve_hidden` finds a pair of
strategies neither of which can be improved by more than a gap, which is computed exactly: the
upper bound is what the caster's best answer wins from the dispeller's strategy, the lower one what
the dispeller's best answer leaves the caster's. `HiddenGame` grades any policy in the same way.

The tree and its sweeps are in `public_tree` and `regret_matching`.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._progress import shown
from wfb_gym._records import Records
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.policy_answers import validated_probabilities
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.space_sizes import check_sizes
from wfb_gym.encoding.view import View
from wfb_gym.engine.state import State
from wfb_gym.opponents.policy_spec import resolve_policy
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.solver.evaluation import Score
from wfb_gym.solver.game_graph import DEFAULT_BYTES, Progress
from wfb_gym.solver.graph_arrays import LEAF
from wfb_gym.solver.public_tree import (
    PublicExpansion,
    PublicTree,
    TreeHistories,
    build_tree,
)
from wfb_gym.solver.regret_matching import Learned, Sweeper, to_probabilities
from wfb_gym.solver.seat_decisions import PolicyLike

Floats = NDArray[np.float64]

DEFAULT_GAP = 0.01
"""Points between the bounds at which solving ends."""
_REPORTED = 20
"""Sweeps between two computations of the bounds."""


@dataclass(frozen=True)
class SolvingProgress:
    """How far solving has come.

    Attributes:
        sweeps: over the whole tree, for both armies.
        seconds: since solving began.
        lower: points that the caster's average strategy wins at least.
        upper: points that the dispeller's average strategy concedes at most.
    """

    sweeps: int
    seconds: float
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """Points between the bounds; half of it is the mean exploitability of both."""
        return self.upper - self.lower


class HiddenGame:
    """The public tree of a scenario, in which strategies are compared exactly.

    A strategy is float64 (actions, kinds): the probability of each action of the tree, by what its
    mover was dealt.

    Args:
        scenario: a bundled name, a path or a `Scenario`; its items may be hidden.
        max_bytes: memory that the tree may take.
        progress: called with the number of public histories found so far.
        whole: whether the tree goes on where all is known, as grading a policy needs; to find the
            equilibrium alone, what optimal play brings there is enough, and the tree smaller.
        start: position of the scenario to begin with, (1,), with any deal that it fits; that of the
            battle unless given.
        beliefs: how likely each army has each of its sets at the start, (2, kinds); what the deal
            and the items that were shown tell unless given.
        known_bytes: memory of positions in which all is known; `max_bytes` unless given.

    Raises:
        TooLarge: there are more public histories than fit.
        ScenarioError: there is no such scenario, or it is refused.

    Attributes:
        scenario: as loaded.
        tree: of its public histories.
    """

    def __init__(
        self,
        scenario: str | Scenario,
        max_bytes: int = DEFAULT_BYTES,
        progress: Progress | None = None,
        *,
        whole: bool = False,
        start: Records[State] | None = None,
        beliefs: Floats | None = None,
        known_bytes: int | None = None,
    ) -> None:
        self.scenario = load_scenario(scenario)
        expansion = PublicExpansion(self.scenario, max_bytes, whole, start, known_bytes)
        self.packed = expansion.packed
        self.veil = expansion.veil
        self._begins_late = start is not None
        with shown(f"opening {self.scenario.name}", progress, unit="public histories") as show:
            tree = build_tree(expansion, show)
        self.tree: PublicTree = tree._replace(weights=_weights(tree, beliefs))
        self._sweeper = Sweeper(self.tree.arrays, self.tree.weights)

    @cached_property
    def uniform(self) -> Floats:
        """The strategy that draws every action alike."""
        strategy = np.zeros_like(self._sweeper.sweep.action_values)
        to_probabilities(self.tree.arrays, strategy, strategy)
        return strategy

    def points(self, strategy: Floats) -> float:
        """Return the points of the first army on average where both play a strategy.

        Where the tree ends because all is known, play is optimal from there on; so it is for
        `best_answer`.
        """
        return self._sweeper.points(0, False, strategy)

    def best_answer(self, strategy: Floats, seat: int) -> float:
        """Return the points that a seat wins by its best answer to the other's strategy."""
        return self._sweeper.points(seat, True, strategy)

    def reaches(self, strategy: Floats, seat: int) -> Floats:
        """Return how likely each node is, by what a seat was dealt, (nodes, kinds)."""
        self._sweeper.points(seat, False, strategy)
        others: Floats = self._sweeper.sweep.other_reach.sum(1, keepdims=True)
        return others * self._sweeper.sweep.own_reach

    def plays_of(self, strategy: Floats, seat: int) -> Floats:
        """Return how likely a seat's own choices make each of its actions, (actions, kinds).

        Sums of these are those of a player who draws one of several strategies before the battle;
        `strategy_of_plays` turns them into one strategy.
        """
        self._sweeper.points(seat, False, strategy)
        node = self.tree.node_of_action
        own = (self.tree.arrays.mover[node] == seat)[:, None]
        plays: Floats = np.where(own, self._sweeper.sweep.own_reach[node] * strategy, 0.0)
        return plays

    def strategy_of_plays(self, plays: Floats) -> Floats:
        """Return the strategy of sums of what `plays_of` returns."""
        strategy = np.zeros_like(plays)
        to_probabilities(self.tree.arrays, plays, strategy)
        return strategy

    def solve(
        self,
        gap: float = DEFAULT_GAP,
        seconds: float | None = None,
        report: Any = None,
        threads: int | None = None,
    ) -> "Equilibrium":
        """Find strategies between which and the optimum lies no more than a gap.

        Args:
            gap: points between the bounds at which it ends.
            seconds: after which it ends in any case, once the bounds are known.
            report: called with a `SolvingProgress` each time that the bounds are known.
            threads: that share a large tree; as many as the process has cores unless given. What
                is found does not depend on them.

        Raises:
            ValueError: the gap is not above 0, or threads are not from 1 on.
        """
        if not gap > 0.0:
            raise ValueError(f"gap: expected points above 0, found {gap}")
        if threads is not None and threads < 1:
            raise ValueError(f"threads: expected 1 or more, found {threads}")
        what = f"equilibrium of {self.scenario.name}"
        with self._sweeper.shared(threads), shown(what, unit="sweeps") as show:
            return self._solve(gap, seconds, report, show)

    def _solve(
        self, gap: float, seconds: float | None, report: Any, show: Progress
    ) -> "Equilibrium":
        tree = self.tree.arrays
        strategy, average = self.uniform.copy(), self.uniform.copy()
        learned = Learned(np.zeros_like(strategy), np.zeros_like(strategy), np.zeros(1))
        began, sweeps = time.perf_counter(), 0
        reports: list[SolvingProgress] = []
        while True:
            for _ in range(_REPORTED):
                sweeps += 1
                learned.weight[0] = float(sweeps) ** 2
                for seat in (0, 1):
                    self._sweeper.points(seat, False, strategy, learned)
                show(sweeps)
            to_probabilities(tree, learned.sums, average)
            upper, lower = self.best_answer(average, 0), -self.best_answer(average, 1)
            reports.append(SolvingProgress(sweeps, time.perf_counter() - began, lower, upper))
            if report is not None:
                report(reports[-1])
            late = seconds is not None and reports[-1].seconds >= seconds
            if upper - lower <= gap or late:
                return Equilibrium(self, average, tuple(reports))

    def strategy_of(
        self, policy: PolicyLike, seat: int | str, limits: Limits | None = None
    ) -> Floats:
        """Return the strategy of a policy, which is asked at every decision of its seat.

        Args:
            policy: see `PolicyLike`: a function of what the seat observes.
            seat: that it plays: 0 or "caster", 1 or "dispeller".
            limits: sizes of its spaces; fitted to the scenario unless given.

        Raises:
            ValueError: it is no policy, or answers with something else than legal actions or
                probabilities; or the tree is not whole, or does not begin with the battle but
                `limits` tell what went before.
        """
        self.check_whole()
        own = seat_number(seat)
        function = resolve_policy(policy, "policy", ("action_probabilities", "act"))
        view = View.fitted(self.packed, own, limits)
        check_sizes(function, view.limits, "policy")
        strategy = np.zeros_like(self._sweeper.sweep.action_values)
        asked = 0
        with shown(f"asking the {SEATS[own]}", unit="decisions") as show:
            for kind, nodes, dealt in self.decisions(own):
                strategy[:, kind] += self._answers(function, view, nodes, dealt)
                asked += len(nodes)
                show(asked)
        return strategy

    def decisions(self, seat: int) -> Iterator[tuple[int, NDArray[np.int64], Records[State]]]:
        """Yield a seat's decisions, some at a time: what it was dealt, nodes and positions (k,)."""
        for kind in range(self.tree.kinds.shape[2]):
            for nodes, states in self.tree.decisions(seat):
                may_be = self.tree.kinds[nodes, seat, kind]
                if may_be.any():
                    some, dealt = nodes[may_be], states[may_be].copy()
                    self.veil.deal(dealt, seat, np.full(len(some), kind))
                    yield kind, some, dealt

    def check_whole(self) -> None:
        """Raise a ValueError where the tree ends before the battle does."""
        if (self.tree.arrays.mover == LEAF).any():
            raise ValueError(
                f"{self.scenario.name}: expected a whole tree to grade a policy in, found one that "
                "ends where all is known; HiddenGame(..., whole=True) makes it"
            )

    @cached_property
    def histories(self) -> TreeHistories:
        """How spells were cast and answered on the way to each node."""
        if self._begins_late:
            raise ValueError(
                "limits: history: expected a tree that begins with the battle, as a position does "
                "not tell what went before it"
            )
        return TreeHistories(self.packed, self.veil, self.tree)

    def _answers(
        self, policy: Any, view: View, nodes: NDArray[np.int64], states: Records[State]
    ) -> Floats:
        """Return a policy's probabilities of the actions of some nodes; 0 of all others."""
        scenario = np.zeros(len(nodes), np.int64)
        histories = self.histories.at(nodes) if view.limits.history else None
        observations, masks = view.show(scenario, states, histories)

        def positions() -> Positions:
            return Positions(self.packed, scenario, states, view.seat, view.codec, histories)

        answer = ask_policy(policy, observations, masks, positions)
        answers = validated_probabilities(answer, masks, "policy")
        action, row = self.tree.actions_of(nodes)
        index = view.codec.index_of[self.tree.code[action]]
        found = np.zeros(len(self.tree.code))
        found[action] = np.where(masks[row, index], answers[row, index], 0.0)
        return found


def _weights(tree: PublicTree, beliefs: Floats | None) -> Floats:
    """Return how likely each army has each of its sets at the root, (2, kinds)."""
    may_be = tree.kinds[0]
    by_deal = np.where(may_be, tree.weights, 0.0)
    weights = by_deal if beliefs is None else np.where(may_be, beliefs, 0.0)
    some: NDArray[np.bool_] = weights.sum(1, keepdims=True) > 0.0  # nobody believed what is shown
    weights = np.where(some, weights, by_deal)
    shares: Floats = weights / weights.sum(1, keepdims=True)
    return shares


class Equilibrium:
    """Strategies of both armies, and bounds of what the scenario is worth.

    Attributes:
        game: of the scenario.
        strategy: of both armies, float64 (actions, kinds).
        reports: the bounds as they closed in.
    """

    def __init__(
        self, game: HiddenGame, strategy: Floats, reports: tuple[SolvingProgress, ...]
    ) -> None:
        self.game = game
        self.strategy = strategy
        self.reports = reports

    @property
    def lower(self) -> float:
        """Points that the caster's strategy wins at least."""
        return self.reports[-1].lower

    @property
    def upper(self) -> float:
        """Points that the dispeller's strategy concedes at most."""
        return self.reports[-1].upper

    @property
    def value(self) -> float:
        """Points that the first army wins on average, half of the gap away at most."""
        return (self.lower + self.upper) / 2.0

    def score(self, strategy: Floats, seat: int | str) -> Score:
        """Return how good a strategy of a seat is, between random play, 0, and equilibrium, 100.

        Raises:
            ValueError: the tree is not whole.
        """
        self.game.check_whole()
        own = seat_number(seat)
        sign = 1.0 if own == 0 else -1.0
        guaranteed, random = (
            -self.game.best_answer(each, 1 - own) for each in (strategy, self.game.uniform)
        )
        return Score(sign * self.value, guaranteed, random)


def solve_hidden(
    scenario: str | Scenario,
    *,
    gap: float = DEFAULT_GAP,
    seconds: float | None = None,
    max_bytes: int = DEFAULT_BYTES,
    progress: Progress | None = None,
    report: Any = None,
    threads: int | None = None,
) -> Equilibrium:
    """Return equilibrium play of a scenario whose items may be hidden.

    Args:
        scenario: a bundled name, a path or a `Scenario`.
        gap: points between the bounds of the value at which solving ends.
        seconds: of solving after which it ends in any case.
        max_bytes: memory that the public histories may take.
        progress: called with the number of public histories found so far.
        report: called with a `SolvingProgress` each time that the bounds are known.
        threads: that share a large tree; as many as the process has cores unless given.

    Raises:
        TooLarge: there are more public histories than fit.
        ScenarioError: there is no such scenario, or it is refused.
        ValueError: the gap is not above 0, or threads are not from 1 on.
    """
    return HiddenGame(scenario, max_bytes, progress).solve(gap, seconds, report, threads)
