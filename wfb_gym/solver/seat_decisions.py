"""One seat's decisions in a solved scenario, and the policies that make them.

Exact values require a policy that is a function of the observation or the position: it has no
memory and draws no random numbers of its own. No two positions in a scenario have the same
observation, so one call per decision determines the whole policy. For the value at the start it is
enough to call the policy at the decisions that it can reach. For a deterministic caster there are
few of these.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Records
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.policy_answers import CLOSE, validated_probabilities
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.space_sizes import check_sizes, space_sizes
from wfb_gym.encoding.view import View
from wfb_gym.engine.keys import KeyPlan, unpack_key
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import mix
from wfb_gym.engine.state import State, WorkSpace, new_states, new_work_spaces
from wfb_gym.opponents import dispatch
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.policy_spec import PolicySpec, resolve_policy
from wfb_gym.packing.records import PackedScenario
from wfb_gym.solver.game_graph import GameGraph, Progress
from wfb_gym.solver.graph_arrays import LEAF

PolicyLike = Any
"""A scripted player's name, "NAME:EPSILON", the path of a saved model, an agent, or a function of
observations (k, size) and masks (k, actions) that returns actions (k,) or probabilities
(k, actions). An agent that plays from positions also gets these (`wfb_gym.encoding.positions`)."""

_BATCH = 1 << 15  # number of decisions per call to a policy
_ASKED_TWICE = 1024
"""Number of decisions at which a policy is called again, to check that it has no memory."""
_EXPANDED = 1024  # number of positions expanded per batch
_REORDERED = 0.01
"""Fraction of answers that may change with the order of the rows. The order affects how
floating-point sums are rounded, which can break ties differently."""


class SeatDecisions:
    """One seat's decisions in a solved scenario, as policies see them.

    Args:
        graph: the game graph; it must not merge positions.
        seat: 0 or 1.
        limits: limits of the spaces. Defaults to limits fitted to the scenario.

    Attributes:
        nodes: the decisions' nodes, int64 (n,).
        view: layout and codec of the observations and actions.
    """

    def __init__(self, graph: GameGraph, seat: int, limits: Limits | None = None) -> None:
        self.graph = graph
        self.nodes = np.flatnonzero(graph.kinds == seat)
        self.view = View.fitted(graph.packed, seat, limits)

    def positions(self, nodes: NDArray[np.int64]) -> Positions:
        """Return the positions at the given decisions, as planners see them."""
        states, scenario = self.graph.states(nodes), np.zeros(len(nodes), np.int64)
        return Positions(self.graph.packed, scenario, states, self.view.seat, self.view.codec)

    def observe(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return observations (k, size) and masks (k, actions) at the given decisions."""
        positions = self.positions(nodes)
        return self.view.show(positions.scenario, positions.states)

    def batches(self) -> Iterator[NDArray[np.int64]]:
        """Yield the nodes of all decisions, in batches."""
        for first in range(0, len(self.nodes), _BATCH):
            yield self.nodes[first : first + _BATCH]

    def codes_of(self, policy: int) -> NDArray[np.int64]:
        """Return the code of a scripted player's action at each decision, int64 (n,).

        Raises:
            ValueError: if the player draws random numbers.
        """
        if policy == Scripted.OPTIMAL:
            return self.graph.chosen[self.nodes].astype(np.int64)
        if policy == Scripted.RANDOM or policy == Scripted.EXTERNAL:
            name = Scripted(policy).name
            raise ValueError(f"policy: expected a deterministic scripted player, found {name}")
        chooser = dispatch.new_chooser(policy, no_move_tables())  # all others are deterministic
        actions = [np.zeros(0, np.int64)]
        for nodes in self.batches():
            actions.append(np.empty(len(nodes), np.int64))
            dispatch.choose_actions(chooser, self.positions(nodes).arrays, actions[-1])
        return self.view.codec.code_of[np.concatenate(actions)]

    def write_probabilities(
        self,
        probabilities: NDArray[np.float64],
        policy: PolicyLike,
        start: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write a policy's action probabilities at each decision.

        Args:
            probabilities: output: probabilities of the legal actions at all nodes, in the order of
                `GameGraph.offsets`, float64 (sum of counts,).
            policy: see `PolicyLike`.
            start: if given, call the policy only at decisions that it can reach from this node, and
                write uniform probabilities elsewhere. Ignored for scripted players.
            progress: called with the number of decisions processed so far.

        Raises:
            ValueError: if `policy` is not a policy or has other sizes; or if it returns anything
                but legal actions or probabilities, or different answers for the same observation.
        """
        offsets = self.graph.offsets()
        spec = PolicySpec.find(policy) if isinstance(policy, str) else None
        places, lengths = self._action_indices(self.nodes, offsets)
        uniform = np.repeat(1.0 / lengths, lengths)
        if spec is None or not spec.is_scripted:
            preferred = ("action_probabilities", "act")
            function = resolve_policy(policy, "policy", preferred)
            check_sizes(function, self.view.limits, "policy")
            probabilities[places] = uniform
            self._write_answers(probabilities, offsets, function, start, progress)
            return
        kind, epsilon = dispatch.kind_and_epsilon(dispatch.scripted_number(spec))
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

    def _write_answers(
        self,
        probabilities: NDArray[np.float64],
        offsets: NDArray[np.int64],
        policy: Callable[..., Any],
        start: int | None,
        progress: Progress | None,
    ) -> None:
        """Call a policy at all decisions, or at decisions that it can reach from `start`."""
        reached = self._reached(probabilities, offsets, start) if start is not None else None
        checked, enough = np.zeros(0, np.int64), min(_ASKED_TWICE, _BATCH)
        asked = 0
        for nodes in self.batches() if reached is None else reached:
            observations, masks = self.observe(nodes)
            answers = self._ask(policy, nodes, observations, masks)
            places, _ = self._action_indices(nodes, offsets)
            probabilities[places] = answers[masks]  # both are sorted by row, then by code
            asked += len(nodes)
            if progress is not None:
                progress(asked)
            if len(checked) < enough:
                checked = np.append(checked, nodes)[:enough]
                if len(checked) == enough:
                    self._check_memoryless(policy, checked)
        if 0 < len(checked) < enough:
            self._check_memoryless(policy, checked)

    def _reached(
        self, probabilities: NDArray[np.float64], offsets: NDArray[np.int64], start: int
    ) -> Iterator[NDArray[np.int64]]:
        """Yield the nodes of the reachable decisions in batches, in breadth-first order."""
        graph, seat = self.graph, self.view.seat
        known = np.zeros(graph.size, np.bool_)
        known[start] = True
        wave = np.array([start])
        while len(wave):
            own = wave[graph.kinds[wave] == seat]
            for first in range(0, len(own), _BATCH):
                yield own[first : first + _BATCH]  # the caller writes their probabilities
            after = []
            for first in range(0, len(wave), _EXPANDED):
                nodes = wave[first : first + _EXPANDED]
                steps, counts = graph.successors(graph.states(nodes))
                sources = np.repeat(nodes, counts)
                is_open = steps.node >= 0  # the end of the battle is not a node
                chosen = graph.kinds[sources] == seat
                places = offsets[sources[chosen]] + steps.action[chosen]
                is_open[chosen] &= probabilities[places] > 0.0
                found = np.unique(steps.node[is_open])
                after.append(found[~known[found]])
                known[found] = True
            wave = np.concatenate(after)
            wave = wave[graph.kinds[wave] != LEAF]

    def _ask(
        self,
        policy: Callable[..., Any],
        nodes: NDArray[np.int64],
        observations: NDArray[np.float32],
        masks: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return a policy's action probabilities at the given decisions, float64 (k, actions)."""
        answer = ask_policy(policy, observations, masks, partial(self.positions, nodes))
        return validated_probabilities(answer, masks, "policy")

    def _check_memoryless(self, policy: Callable[..., Any], nodes: NDArray[np.int64]) -> None:
        """Raise if a policy's answers at some decisions depend on more than its observations."""
        order = np.random.default_rng(0).permutation(len(nodes))
        first, again, reordered = (
            self._ask(policy, some, *self.observe(some)) for some in (nodes, nodes, nodes[order])
        )
        moved = (np.abs(first[order] - reordered) > CLOSE).any(axis=1)
        # Repeating a call must give identical answers; permuting its rows, nearly identical ones.
        if not np.array_equal(first, again) or moved.mean() > _REORDERED:
            raise ValueError(
                "policy: expected equal answers to equal observations, found different ones: it "
                "has memory or draws its actions. Exact values require a function of the "
                "observation; a random policy must return probabilities, float (k, actions)"
            )

    def _action_indices(
        self, nodes: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes' legal actions as indices into the array of all, and counts by node."""
        lengths = self.graph.counts[nodes].astype(np.int64)
        starts = offsets[nodes] - np.cumsum(lengths) + lengths
        return np.repeat(starts, lengths) + np.arange(lengths.sum()), lengths


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
    """Write 1 for each decision's chosen action, else 0; `states` and `works` are scratch."""
    state, work = states[0], works[0]
    top = 0
    for row in range(nodes.shape[0]):
        unpack_key(plan[0], keys[nodes[row]], state)
        for k in range(legal_actions(packed[0], state, work)):
            certain[top] = 1.0 if work.legal[k] == codes[row] else 0.0
            top += 1


class TablePolicy:
    """Agent that looks up the action for each observation in a table.

    Observations are looked up by 64-bit hash. The constructor chooses a hash function that gives
    every observation in the scenario a different hash.

    Args:
        decisions: the seat's decisions.
        codes: engine code of the action at each decision, int64 (n,).
    """

    def __init__(self, decisions: SeatDecisions, codes: NDArray[np.int64]) -> None:
        self.size, self.actions = space_sizes(decisions.view.limits)
        self._salt = np.uint64(0)
        while True:
            parts = [self._hash(decisions.observe(nodes)[0]) for nodes in decisions.batches()]
            hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
            order = np.argsort(hashes)
            self._hashes = hashes[order]
            if (self._hashes[1:] != self._hashes[:-1]).all():
                break
            self._salt += np.uint64(1)  # collision: about one in 10**7 tables
        self._actions = decisions.view.codec.index_of[codes[order]]

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Return the actions from the table, int64 (k,).

        Args:
            observations: float32 (k, size).
            action_masks: bool (k, actions); used to recognize battles that have ended.
            positions: unused.

        Raises:
            ValueError: if the shape is wrong, or an observation is not in the table.
        """
        if observations.ndim != 2 or observations.shape[1] != self.size:
            raise ValueError(
                f"observations: expected shape (k, {self.size}), found {observations.shape}"
            )
        hashes = self._hash(observations)
        places = np.searchsorted(self._hashes, hashes)
        places[places == len(self._hashes)] = 0
        known = np.zeros(len(hashes), np.bool_)
        actions = np.zeros(len(hashes), np.int64)
        if len(self._hashes):
            known = self._hashes[places] == hashes
            actions = np.where(known, self._actions[places], 0)
        ended = ~known & (action_masks[:, 1:].sum(axis=1) == 0)  # only pass is legal: no decision
        if not (known | ended).all():
            row = int(np.flatnonzero(~(known | ended))[0])
            raise ValueError(
                f"observations: expected observations of the solved scenario, found another in row "
                f"{row}; the table plays one scenario from one seat, with the limits of its "
                "decisions"
            )
        return actions

    __call__ = act

    def _hash(self, observations: NDArray[np.float32]) -> NDArray[np.uint64]:
        hashes = np.empty(len(observations), np.uint64)
        rows = np.ascontiguousarray(observations, np.float32).view(np.uint32)
        hash_rows(rows, self._salt, hashes)
        return hashes


@jit(nogil=True, forceinline=False)
def hash_rows(rows: NDArray[np.uint32], salt: np.uint64, hashes: NDArray[np.uint64]) -> None:
    """Write a 64-bit hash of each row (k, size); the salt selects the hash function."""
    for row in range(rows.shape[0]):
        hashed = salt
        for column in range(rows.shape[1]):
            hashed = mix(hashed ^ np.uint64(rows[row, column]))
        hashes[row] = hashed
