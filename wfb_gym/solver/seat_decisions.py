"""The decisions of one seat of a solved scenario, and what a policy does at each of them.

Exact values need a policy that is a function of the observation, or of the position: no memory,
no draws of its own. Then asking it once at every decision says all about it, as no two positions
of a scenario share an observation.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.limits import Limits, check_covers, fit
from wfb_gym.encoding.policy_answers import CLOSE, validated_probabilities
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.view import View
from wfb_gym.engine.generator import new_rngs
from wfb_gym.engine.state import new_states, new_work_spaces
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.scripted import Scripted, find_scripted, kind_and_epsilon
from wfb_gym.solver.decision_kernels import (
    StoredPositions,
    choose_scripted,
    observe_nodes,
    unpack_states,
    write_certain,
)
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
        self._stored = StoredPositions(
            graph.packed, graph.plan, graph.keys, new_states(1), new_work_spaces()
        )

    def observe(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return observations (k, size) and masks (k, actions) of some of the decisions."""
        view = self.view
        observations = np.empty((len(nodes), view.layout.size), np.float32)
        masks = np.empty((len(nodes), view.codec.n), np.bool_)
        observe_nodes(
            self._stored, nodes, view.seat, view.layout.offsets, view.static[0],
            view.codec.index_of, observations, masks,
        )  # fmt: skip
        return observations, masks

    def positions(self, nodes: NDArray[np.int64]) -> Positions:
        """Return some of the decisions as planners see them."""
        states = new_states(len(nodes))
        unpack_states(self._stored, nodes, states)
        scenario = np.zeros(len(nodes), np.int64)
        return Positions(self.graph.packed, scenario, states, self.view.seat, self.view.codec)

    def batches(
        self,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]]:
        """Yield all decisions, batch by batch: nodes, observations and masks."""
        for first in range(0, len(self.nodes), _BATCH):
            nodes = self.nodes[first : first + _BATCH]
            yield nodes, *self.observe(nodes)

    def codes_of(self, policy: Scripted) -> NDArray[np.int64]:
        """Return the codes of the actions that a scripted player takes, int64 (n,).

        Raises:
            ValueError: The player's actions do not follow from the position.
        """
        if policy is Scripted.OPTIMAL:
            return self.graph.chosen[self.nodes].astype(np.int64)
        if policy is Scripted.GREEDY or policy is Scripted.VETERAN:
            codes = np.empty(len(self.nodes), np.int64)
            choose_scripted(policy, self._stored, self.nodes, new_rngs(1), no_move_tables(), codes)
            return codes
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
        number = find_scripted(policy) if isinstance(policy, str) else None
        if number is None:
            self._write_answers(probabilities, _resolve_policy(policy))
            return
        kind, epsilon = kind_and_epsilon(number)
        offsets = self.graph.offsets()
        places, lengths = self._places(self.nodes, offsets)
        uniform = np.repeat(1.0 / lengths, lengths)
        if kind == Scripted.RANDOM:
            probabilities[places] = uniform
            return
        codes = self.codes_of(kind)
        row = write_certain(self._stored, self.nodes, codes, offsets, probabilities)
        assert row < 0, f"{policy} took an illegal action"
        probabilities[places] = (1.0 - epsilon) * probabilities[places] + epsilon * uniform

    def _write_answers(
        self, probabilities: NDArray[np.float64], policy: Callable[..., Any]
    ) -> None:
        offsets = self.graph.offsets()
        for number, (nodes, observations, masks) in enumerate(self.batches()):
            if number == 0:
                self._check_memoryless(
                    policy, nodes[:_ASKED_TWICE], observations[:_ASKED_TWICE], masks[:_ASKED_TWICE]
                )
            answer = ask_policy(policy, observations, masks, partial(self.positions, nodes))
            answered = validated_probabilities(answer, masks, "policy")
            places, _ = self._places(nodes, offsets)
            probabilities[places] = answered[masks]  # both ascend by code, row by row

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
            positions = partial(self.positions, nodes[rows])
            answer = ask_policy(policy, observations[rows], masks[rows], positions)
            return validated_probabilities(answer, masks[rows], "policy")

        rows = np.arange(len(nodes))
        first, again = ask_rows(rows), ask_rows(rows)
        order = np.random.default_rng(0).permutation(len(nodes))
        moved = (np.abs(first[order] - ask_rows(order)) > CLOSE).any(axis=1)
        if not np.array_equal(first, again) or (len(nodes) and moved.mean() > _REORDERED):
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


def _resolve_policy(policy: PolicyLike) -> Callable[..., Any]:
    """Return the function of observations, masks and perhaps positions that a policy is.

    The registry of players stands above the solver, because optimal players use it; so it is
    looked up by name, on use.
    """
    registry = import_module("wfb_gym.players.registry")
    resolved: Callable[..., Any] = registry.resolve_policy(
        policy, "policy", ("action_probabilities", "act")
    )
    return resolved
