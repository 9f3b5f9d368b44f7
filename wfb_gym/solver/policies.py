"""What a policy does at every decision of a scenario, as chances of the legal actions.

Exact values need a policy that is a function of the observation, or of the position: no memory,
no draws of its own. Then asking it once at every decision says all about it, as no two positions
of a scenario share an observation.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.limits import Limits, check_covers, fit
from wfb_gym.encoding.policy_answers import validated_probabilities
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.view import View
from wfb_gym.engine.generator import new_rngs
from wfb_gym.engine.state import new_states, new_work_spaces
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.scripted import Scripted, find_scripted, kind_and_epsilon
from wfb_gym.solver import decision_kernels
from wfb_gym.solver.game_graph import GameGraph

PolicyLike = Any
"""A scripted player's name, "NAME:EPSILON", a saved model's path, an agent, or a function of
observations (k, size) and masks (k, actions) that gives actions (k,) or chances (k, actions).
An agent that sees positions gets these too (`wfb_gym.encoding.positions`)."""

_ROWS = 1 << 15
"""Decisions that a policy is asked about at once."""
_ASKED_TWICE = 1024
_LOOSE = 0.01
"""Share of answers that may change with the order of the rows: sums of numbers in another order
are other numbers, and ties fall otherwise."""
_CLOSE = 1e-3
"""Error of chances that single precision may bring."""


class SeatDecisions:
    """The decisions of one seat of a solved scenario, as policies see them.

    Args:
        graph: whose positions are not merged.
        seat: 0 or 1.
        limits: sizes of the spaces; fitted to the scenario unless given.

    Attributes:
        nodes: of the decisions, int64 (n,).
        view: layout and codec of the observations and actions.
    """

    def __init__(self, graph: GameGraph, seat: int, limits: Limits | None = None) -> None:
        self.graph = graph
        self.nodes = np.flatnonzero(graph.kinds[: graph.size] == seat)
        if limits is not None:
            check_covers(limits, graph.packed, seat)
        self.view = View(graph.packed, seat, limits or fit(graph.packed, seat))
        self._states, self._scratch = new_states(1), new_work_spaces()

    def shown(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Observations (k, size) and masks (k, actions) of some of them."""
        view = self.view
        observations = np.empty((len(nodes), view.layout.size), np.float32)
        masks = np.empty((len(nodes), view.codec.n), np.bool_)
        decision_kernels.show(
            self.graph.packed, self.graph.plan, self.graph.keys, nodes, view.seat,
            view.layout.offsets, view.static[0], view.codec.index_of, self._states,
            self._scratch, observations, masks,
        )  # fmt: skip
        return observations, masks

    def positions(self, nodes: NDArray[np.int64]) -> Positions:
        """Some of them, as planners see them."""
        states = new_states(len(nodes))
        decision_kernels.unpack(self.graph.plan, self.graph.keys, nodes, states)
        which = np.zeros(len(nodes), np.int64)
        return Positions(self.graph.packed, which, states, self.view.seat, self.view.codec)

    def batches(
        self,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]]:
        """All of them in turn: nodes, observations and masks."""
        for first in range(0, len(self.nodes), _ROWS):
            nodes = self.nodes[first : first + _ROWS]
            yield nodes, *self.shown(nodes)

    def codes_of(self, policy: int) -> NDArray[np.int64]:
        """Codes of the actions that a scripted player without chances takes, int64 (n,)."""
        if policy == Scripted.OPTIMAL:
            return self.graph.chosen[self.nodes].astype(np.int64)
        codes = np.empty(len(self.nodes), np.int64)
        move_tables, move_storage = no_move_tables()
        decision_kernels.scripted(
            policy, self.graph.packed, self.graph.plan, self.graph.keys, self.nodes, self._states,
            new_rngs(1), move_tables, move_storage, self._scratch, codes,
        )  # fmt: skip
        return codes

    def give(self, weights: NDArray[np.float64], policy: PolicyLike) -> None:
        """Write a policy's chances of the legal actions at each decision.

        Args:
            weights: float64, all nodes' legal actions behind one another; see `GameGraph.sweep`.
            policy: see `PolicyLike`.

        Raises:
            ValueError: it is no policy, answers with something else than legal actions or
                chances, or answers one observation in two ways.
        """
        number = find_scripted(policy) if isinstance(policy, str) else None
        if number is None:
            self._give_asked(weights, _resolve_policy(policy))
            return
        kind, epsilon = kind_and_epsilon(number)
        offsets = self.graph.offsets()
        places, lengths = _places(offsets, self.graph.counts, self.nodes)
        uniform = np.repeat(1.0 / lengths, lengths)
        if kind == Scripted.RANDOM:
            weights[places] = uniform
            return
        row = decision_kernels.mark(
            self.graph.packed, self.graph.plan, self.graph.keys, self.nodes,
            self.codes_of(kind), offsets, self._states, self._scratch, weights,
        )  # fmt: skip
        assert row < 0, f"{policy} took an illegal action"
        weights[places] = (1.0 - epsilon) * weights[places] + epsilon * uniform

    def _give_asked(self, weights: NDArray[np.float64], policy: Callable[..., Any]) -> None:
        offsets = self.graph.offsets()
        for number, (nodes, observations, masks) in enumerate(self.batches()):
            positions = partial(self.positions, nodes)
            if number == 0:
                self._check_memoryless(
                    policy, nodes[:_ASKED_TWICE], observations[:_ASKED_TWICE], masks[:_ASKED_TWICE]
                )
            chances = validated_probabilities(
                ask_policy(policy, observations, masks.copy(), positions), masks, "policy"
            )
            places, _ = _places(offsets, self.graph.counts, nodes)
            weights[places] = chances[masks]  # both ascend by code, row by row

    def _check_memoryless(
        self,
        policy: Callable[..., Any],
        nodes: NDArray[np.int64],
        observations: NDArray[np.float32],
        masks: NDArray[np.bool_],
    ) -> None:
        """Refuse a policy whose answers depend on more than what it is shown.

        Asked the same again it must answer the same; in another order, nearly.
        """

        def asked(rows: NDArray[np.int64]) -> NDArray[np.float64]:
            positions = partial(self.positions, nodes[rows])
            answer = ask_policy(policy, observations[rows], masks[rows], positions)
            return validated_probabilities(answer, masks[rows], "policy")

        rows = np.arange(len(nodes))
        first, again = asked(rows), asked(rows)
        order = np.random.default_rng(0).permutation(len(nodes))
        moved = (np.abs(first[order] - asked(order)) > _CLOSE).any(axis=1)
        if not np.array_equal(first, again) or (len(nodes) and moved.mean() > _LOOSE):
            raise ValueError(
                "policy: it answered the same observations differently when it was asked again: it "
                "has memory or draws chances of its own. Exact values need a function of the "
                "observation; one that plays at random must give its chances, float (k, actions)"
            )


def _places(
    offsets: NDArray[np.int64], counts: NDArray[np.int16], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the nodes' legal actions stand among those of all, and how many each has."""
    lengths = counts[nodes].astype(np.int64)
    ends = np.cumsum(lengths)
    return np.repeat(offsets[nodes] - ends + lengths, lengths) + np.arange(lengths.sum()), lengths


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
