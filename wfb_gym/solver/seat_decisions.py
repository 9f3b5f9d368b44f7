"""The decisions of one seat of a solved scenario, and what a policy does at each of them.

Exact values need a policy that is a function of the observation, or of the position: no memory,
no draws of its own. Then asking it once at every decision says all about it, as no two positions
of a scenario share an observation.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from wfb_gym import _policies
from wfb_gym._jit import jit
from wfb_gym._records import Records
from wfb_gym.encoding.limits import Limits, check_covers, fit
from wfb_gym.encoding.policy_answers import CLOSE, validated_probabilities
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.view import View
from wfb_gym.engine.keys import KeyPlan, unpack_key
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import State, WorkSpace, new_states, new_work_spaces
from wfb_gym.opponents import scripted
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.scripted import Scripted
from wfb_gym.packing.records import PackedScenario
from wfb_gym.solver.game_graph import GameGraph

PolicyLike = Any
"""A scripted player's name, "NAME:EPSILON", a saved model's path, an agent, or a function of
observations (k, size) and masks (k, actions) that returns actions (k,) or probabilities
(k, actions). An agent that sees positions gets these too (`wfb_gym.encoding.positions`)."""

_BATCH = 1 << 15
"""Decisions in one call of a policy."""
_ASKED_TWICE = 1024
_REORDERED = 0.01
"""Share of the answers that may change with the order of the rows: floating-point sums in another
order differ slightly, and ties fall otherwise."""


class SeatDecisions:
    """The decisions of one seat of a solved scenario, as policies see them.

    Args:
        graph: the game graph, not merging.
        seat: 0 or 1.
        limits: sizes of the spaces; fitted to the scenario unless given.

    Attributes:
        nodes: of the decisions, int64 (n,).
        view: layout and codec of the observations and actions.
    """

    def __init__(self, graph: GameGraph, seat: int, limits: Limits | None = None) -> None:
        self.graph = graph
        self.nodes = np.flatnonzero(graph.kinds == seat)
        if limits is not None:
            check_covers(limits, graph.packed, seat)
        self.view = View(graph.packed, seat, limits or fit(graph.packed, seat))

    def positions(self, nodes: NDArray[np.int64]) -> Positions:
        """Return some of the decisions as planners see them."""
        states = new_states(len(nodes))
        _unpack_states(self.graph.plan, self.graph.keys, nodes, states)
        scenario = np.zeros(len(nodes), np.int64)
        return Positions(self.graph.packed, scenario, states, self.view.seat, self.view.codec)

    def observe(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return observations (k, size) and masks (k, actions) of some of the decisions."""
        positions = self.positions(nodes)
        return self.view.show(positions.scenario, positions.states)

    def batches(self) -> Iterator[NDArray[np.int64]]:
        """Yield the nodes of all decisions, as many at a time as are looked at at once."""
        for first in range(0, len(self.nodes), _BATCH):
            yield self.nodes[first : first + _BATCH]

    def codes_of(self, policy: Scripted) -> NDArray[np.int64]:
        """Return the codes of the actions that a scripted player takes, int64 (n,).

        Raises:
            ValueError: The player's actions do not follow from the position.
        """
        if policy is Scripted.OPTIMAL:
            return self.graph.chosen[self.nodes].astype(np.int64)
        if policy is Scripted.GREEDY or policy is Scripted.VETERAN:
            chooser = scripted.new_chooser(policy, no_move_tables())
            actions = [np.zeros(0, np.int64)]
            for nodes in self.batches():
                actions.append(np.empty(len(nodes), np.int64))
                scripted.choose_actions(chooser, self.positions(nodes).arrays, actions[-1])
            return self.view.codec.code_of[np.concatenate(actions)]
        if policy is Scripted.RANDOM or policy is Scripted.EXTERNAL:
            raise ValueError(f"policy: expected one that draws nothing, found {policy.name}")
        assert_never(policy)

    def write_probabilities(self, probabilities: NDArray[np.float64], policy: PolicyLike) -> None:
        """Write a policy's probabilities of the legal actions at each decision.

        Args:
            probabilities: float64, all nodes' legal actions behind one another, overwritten at
                those of the decisions; see `GameGraph.sweep`.
            policy: see `PolicyLike`.

        Raises:
            ValueError: It is no policy, answers with something else than legal actions or
                probabilities, or answers one observation in two ways.
        """
        offsets = self.graph.offsets()
        number = scripted.find_scripted(policy) if isinstance(policy, str) else None
        if number is None:
            preferred = ("action_probabilities", "act")
            function = _policies.resolve_policy(policy, "policy", preferred)
            for batch, nodes in enumerate(self.batches()):
                observations, masks = self.observe(nodes)
                if batch == 0:
                    self._check_memoryless(function, nodes, observations, masks)
                answered = self._ask(function, nodes, observations, masks)
                places, _ = self._places(nodes, offsets)
                probabilities[places] = answered[masks]  # both ascend by code, row by row
            return
        kind, epsilon = scripted.kind_and_epsilon(number)
        places, lengths = self._places(self.nodes, offsets)
        uniform = np.repeat(1.0 / lengths, lengths)
        if kind == Scripted.RANDOM:
            probabilities[places] = uniform
            return
        certain = np.empty(len(places))
        graph, codes = self.graph, self.codes_of(kind)
        _write_certain(
            graph.packed, graph.plan, graph.keys, self.nodes, codes, new_states(1),
            new_work_spaces(), certain,
        )  # fmt: skip
        assert certain.sum() == len(self.nodes), f"{policy} took an illegal action"
        probabilities[places] = (1.0 - epsilon) * certain + epsilon * uniform

    def _ask(
        self,
        policy: Callable[..., Any],
        nodes: NDArray[np.int64],
        observations: NDArray[np.float32],
        masks: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return a policy's probabilities of the actions at some decisions, (k, actions)."""
        answer = ask_policy(policy, observations, masks, partial(self.positions, nodes))
        return validated_probabilities(answer, masks, "policy")

    def _check_memoryless(
        self,
        policy: Callable[..., Any],
        nodes: NDArray[np.int64],
        observations: NDArray[np.float32],
        masks: NDArray[np.bool_],
    ) -> None:
        """Raise if a policy's answers depend on more than what it observes.

        Asked the same again it must answer the same; in another order, nearly.
        """

        def ask_rows(rows: NDArray[np.int64]) -> NDArray[np.float64]:
            return self._ask(policy, nodes[rows], observations[rows], masks[rows])

        rows = np.arange(min(len(nodes), _ASKED_TWICE))
        first, again = ask_rows(rows), ask_rows(rows)
        order = np.random.default_rng(0).permutation(len(rows))
        moved = (np.abs(first[order] - ask_rows(order)) > CLOSE).any(axis=1)
        if not np.array_equal(first, again) or moved.mean() > _REORDERED:
            raise ValueError(
                "policy: it answered the same observations differently when asked again: it has "
                "memory or draws its actions. Exact values need a function of the observation; a "
                "policy that plays at random must return its probabilities, float (k, actions)"
            )

    def _places(
        self, nodes: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the nodes' legal actions stand among those of all, and how many each has."""
        lengths = self.graph.counts[nodes].astype(np.int64)
        starts = offsets[nodes] - np.cumsum(lengths) + lengths
        return np.repeat(starts, lengths) + np.arange(lengths.sum()), lengths


@jit(nogil=True, forceinline=False)
def _unpack_states(
    plan: Records[KeyPlan],
    keys: NDArray[np.uint64],
    nodes: NDArray[np.int64],
    states: Records[State],
) -> None:
    for row in range(nodes.shape[0]):
        unpack_key(plan[0], keys[nodes[row]], states[row])


@jit(nogil=True, forceinline=False)
def _write_certain(
    packed: Records[PackedScenario],
    plan: Records[KeyPlan],
    keys: NDArray[np.uint64],
    nodes: NDArray[np.int64],
    codes: NDArray[np.int64],
    states: Records[State],
    works: Records[WorkSpace],
    certain: NDArray[np.float64],
) -> None:
    """Write 1 for one action of each decision and 0 for its others; two records are scratch."""
    state, work = states[0], works[0]
    top = 0
    for row in range(nodes.shape[0]):
        unpack_key(plan[0], keys[nodes[row]], state)
        for k in range(legal_actions(packed[0], state, work)):
            certain[top] = 1.0 if work.legal[k] == codes[row] else 0.0
            top += 1
