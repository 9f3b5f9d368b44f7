"""Equilibrium play and exact evaluation in scenarios with hidden items.

With hidden items the phase is a game of imperfect information: optimal play mixes actions, and
actions reveal information about the items. `solve_hidden` returns a pair of strategies and exact
bounds on the value. The upper bound is the value of the caster's best response to the dispeller's
strategy. The lower bound is the value of the caster's strategy against the dispeller's best
response. Solving stops once the gap between the bounds is small enough. `HiddenGame` evaluates
other policies in the same way.

The tree is defined in `public_tree`, the algorithm in `regret_matching`.
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
from wfb_gym.solver.public_tree import PublicExpansion, PublicTree, TreeHistories, build_tree
from wfb_gym.solver.regret_matching import Learned, Sweeper, to_probabilities
from wfb_gym.solver.seat_decisions import PolicyLike

Floats = NDArray[np.float64]

DEFAULT_GAP = 0.01  # solving stops when the gap between the bounds reaches this value, in points
_REPORTED = 20  # number of sweeps between computations of the bounds


@dataclass(frozen=True)
class SolvingProgress:
    """Progress of the solver.

    Attributes:
        sweeps: number of sweeps over the tree for both armies.
        seconds: time since solving started, in seconds.
        lower: lower bound on the value: points that the caster's average strategy guarantees.
        upper: upper bound on the value: maximum points that the dispeller's average strategy
            concedes.
    """

    sweeps: int
    seconds: float
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """Gap between the bounds, in points: twice the mean exploitability of both strategies."""
        return self.upper - self.lower


class HiddenGame:
    """A scenario's public tree, in which strategies are evaluated exactly.

    A strategy is float64 (actions, kinds): the probability of each action in the tree, for each set
    of hidden items ("kind") of the army to move.

    Args:
        scenario: the name of a bundled scenario, a path or a `Scenario`, with or without hidden
            items.
        max_bytes: maximum memory for the tree, in bytes.
        progress: called with the number of public histories found so far.
        whole: whether to expand positions in which both armies' hidden items are known. This is
            required to evaluate policies. To find an equilibrium, the exact values of these
            positions are enough, and the tree is smaller.
        start: position to start from, (1,), with any deal that is possible there. Defaults to the
            start of the battle.
        beliefs: probabilities of each army's sets at the start, float64 (2, kinds). Defaults to the
            weights of the deal, conditioned on the items revealed so far.
        known_bytes: maximum memory for positions in which all items are known, in bytes. Defaults
            to `max_bytes`.

    Raises:
        TooLarge: if the public histories do not fit in memory.
        ScenarioError: if the scenario does not exist or is invalid.

    Attributes:
        scenario: the loaded scenario.
        tree: tree of the scenario's public histories.
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
        self.redactor = expansion.redactor
        self._has_given_start = start is not None
        with shown(f"opening {self.scenario.name}", progress, unit="public histories") as show:
            tree = build_tree(expansion, show)
        self.tree: PublicTree = tree._replace(weights=_weights(tree, beliefs))
        self._sweeper = Sweeper(self.tree.arrays, self.tree.weights)

    @cached_property
    def uniform(self) -> Floats:
        """The strategy that plays every legal action with the same probability."""
        return self.strategy_of_plays(np.zeros_like(self._sweeper.sweep.action_values))

    def points(self, strategy: Floats) -> float:
        """Return the first army's expected points if both armies play a strategy.

        If the tree is not whole, both armies play optimally after its leaves. This also applies to
        `best_answer`.
        """
        return self._sweeper.points(0, False, strategy)

    def best_answer(self, strategy: Floats, seat: int) -> float:
        """Return the value of a seat's best response to the enemy, in the seat's points."""
        return self._sweeper.points(seat, True, strategy)

    def reaches(self, strategy: Floats, seat: int) -> Floats:
        """Return each node's reach probability for each set of the seat, float64 (nodes, kinds)."""
        self._sweeper.points(seat, False, strategy)
        others: Floats = self._sweeper.sweep.other_reach.sum(1, keepdims=True)
        return others * self._sweeper.sweep.own_reach

    def plays_of(self, strategy: Floats, seat: int) -> Floats:
        """Return the realization plan of a seat's strategy, float64 (actions, kinds).

        An action's entry is the product of the seat's own probabilities along the path to it. A
        weighted sum of realization plans is the plan of a player who draws one of the strategies
        before the battle. `strategy_of_plays` converts it back to a strategy.
        """
        self._sweeper.points(seat, False, strategy)
        node = self.tree.node_of_action
        own = (self.tree.arrays.mover[node] == seat)[:, None]
        plays: Floats = np.where(own, self._sweeper.sweep.own_reach[node] * strategy, 0.0)
        return plays

    def strategy_of_plays(self, plays: Floats) -> Floats:
        """Return the strategy for a realization plan, or for a weighted sum of plans."""
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
        """Find equilibrium strategies to within a gap.

        Args:
            gap: stop when the gap between the bounds reaches this value, in points.
            seconds: time limit in seconds, checked whenever the bounds are computed.
            report: called with a `SolvingProgress` whenever the bounds are computed.
            threads: number of threads for a large tree. Defaults to the number of cores. The result
                does not depend on it.

        Raises:
            ValueError: if `gap` is not positive, or `threads` is less than 1.
        """
        if not gap > 0.0:
            raise ValueError(f"gap: expected points above 0, found {gap}")
        if threads is not None and threads < 1:
            raise ValueError(f"threads: expected 1 or more, found {threads}")
        task = f"equilibrium of {self.scenario.name}"
        with self._sweeper.shared(threads), shown(task, unit="sweeps") as show:
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
            is_timeout = seconds is not None and reports[-1].seconds >= seconds
            if upper - lower <= gap or is_timeout:
                return Equilibrium(self, average, tuple(reports))

    def strategy_of(
        self, policy: PolicyLike, seat: int | str, limits: Limits | None = None
    ) -> Floats:
        """Return a policy's strategy; the policy is called at every decision of its seat.

        Args:
            policy: see `PolicyLike`; a function of the seat's observations.
            seat: the policy's seat: 0 or "caster", 1 or "dispeller".
            limits: limits of the policy's spaces. Defaults to limits fitted to the scenario.

        Raises:
            ValueError: if `policy` is not a policy; if it returns anything but legal actions or
                probabilities; if the tree is not whole; or if `limits` includes histories and the
                tree does not start at the beginning of the battle.
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
        """Yield a seat's decisions in batches: set of hidden items, nodes and positions (k,)."""
        for kind in range(self.tree.kinds.shape[2]):
            for nodes, states in self.tree.decisions(seat):
                may_be = self.tree.kinds[nodes, seat, kind]
                if may_be.any():
                    some, dealt = nodes[may_be], states[may_be].copy()
                    self.redactor.deal(dealt, seat, np.full(len(some), kind))
                    yield kind, some, dealt

    def check_whole(self) -> None:
        """Raise a ValueError if the tree stops before the end of the battle."""
        if (self.tree.arrays.mover == LEAF).any():
            raise ValueError(
                f"{self.scenario.name}: expected a whole tree to evaluate a policy, found a tree "
                "with leaves where all items are known; use HiddenGame(..., whole=True)"
            )

    @cached_property
    def histories(self) -> TreeHistories:
        """Histories of the spells cast and answered before each node."""
        if self._has_given_start:
            raise ValueError(
                "limits: history: expected a tree from the start of the battle, found one from a "
                "given position, which does not contain its history"
            )
        return TreeHistories(self.packed, self.redactor, self.tree)

    def _answers(
        self, policy: Any, view: View, nodes: NDArray[np.int64], states: Records[State]
    ) -> Floats:
        """Return a policy's action probabilities at some nodes; 0 for all other actions."""
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
    """Return the probabilities of each army's sets at the root, float64 (2, kinds)."""
    may_be = tree.kinds[0]
    by_deal = np.where(may_be, tree.weights, 0.0)
    weights = by_deal if beliefs is None else np.where(may_be, beliefs, 0.0)
    # If the beliefs rule out the items revealed so far, use the weights of the deal.
    some: NDArray[np.bool_] = weights.sum(1, keepdims=True) > 0.0
    weights = np.where(some, weights, by_deal)
    normalized: Floats = weights / weights.sum(1, keepdims=True)
    return normalized


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Strategies for both armies, and bounds on the scenario's value.

    Attributes:
        game: the scenario's game.
        strategy: both armies' strategies, float64 (actions, kinds).
        reports: progress reports with the bounds, in chronological order.
    """

    game: HiddenGame
    strategy: Floats
    reports: tuple[SolvingProgress, ...]

    @property
    def lower(self) -> float:
        """Lower bound on the value: points that the caster's strategy guarantees."""
        return self.reports[-1].lower

    @property
    def upper(self) -> float:
        """Upper bound on the value: maximum points that the dispeller's strategy concedes."""
        return self.reports[-1].upper

    @property
    def value(self) -> float:
        """The first army's expected points in equilibrium, to within gap / 2."""
        return (self.lower + self.upper) / 2.0

    def score(self, strategy: Floats, seat: int | str) -> Score:
        """Return the score of a seat's strategy: 0 for random play, 100 for equilibrium play.

        Raises:
            ValueError: if the tree is not whole, or `strategy` is not an array of its size.
        """
        self.game.check_whole()
        expected, found = self.game.uniform.shape, np.shape(strategy)
        if found != expected:
            raise ValueError(
                f"strategy: expected an array of shape {expected} from HiddenGame.strategy_of, "
                f"found {type(strategy).__name__} of shape {found}"
            )
        own = seat_number(seat)
        guaranteed, random = (
            0.0 - self.game.best_answer(each, 1 - own)  # never -0.0
            for each in (strategy, self.game.uniform)
        )
        return Score(self.value if own == 0 else 0.0 - self.value, guaranteed, random)


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
    """Find equilibrium strategies for a scenario with hidden items.

    Args:
        scenario: the name of a bundled scenario, a path or a `Scenario`.
        gap: stop when the gap between the bounds on the value reaches this, in points.
        seconds: time limit in seconds, checked whenever the bounds are computed.
        max_bytes: maximum memory for the public histories, in bytes.
        progress: called with the number of public histories found so far.
        report: called with a `SolvingProgress` whenever the bounds are computed.
        threads: number of threads for a large tree. Defaults to the number of cores.

    Raises:
        TooLarge: if the public histories do not fit in memory.
        ScenarioError: if the scenario does not exist or is invalid.
        ValueError: if `gap` is not positive, or `threads` is less than 1.
    """
    return HiddenGame(scenario, max_bytes, progress).solve(gap, seconds, report, threads)
