"""One phase of a battle against a fixed policy, as a graph of the responder's decisions.

The policy's decisions are chance nodes, with its action probabilities. Only positions that the
policy can reach are explored, so the graph is much smaller than the phase's game. Leaves are the
positions at the start of the next phase. All points are the responder's.
"""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.own_sizes import limits_of
from wfb_gym._jit import jit
from wfb_gym._records import as_records
from wfb_gym.encoding.policy_answers import validated_probabilities
from wfb_gym.encoding.positions import Positions, ask_policy
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import FIRST_DECISION, LAST_DECISION, STATE, Node, State
from wfb_gym.opponents.policy_spec import resolve_policy
from wfb_gym.packing import pack
from wfb_gym.players.interface import Agent
from wfb_gym.scenario import Scenario
from wfb_gym.solver import TooLarge
from wfb_gym.solver.estimation import refuse_hidden
from wfb_gym.solver.game_graph import GameGraph
from wfb_gym.solver.potential import potentials

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
States = NDArray[Any]
"""Positions as a structured array of dtype `STATE`."""

_BATCH = 512
"""Number of positions expanded at once."""
_RESPONDER = -1.0
"""Marks the responder's actions in `Graph.given`."""


class Graph(NamedTuple):
    """A phase's arrays. Nodes are in topological order; leaves follow, then the battle's end."""

    first_action: Whole  # (nodes + 1,): index of each node's first action; a roll is one action
    first_step: Whole  # (actions + 1,): index of each action's first step
    target: Whole  # (steps,): a node, nodes + a leaf, or nodes + leaves: the end
    chance: Floats  # (steps,)
    gain: Floats  # (steps,): points scored during the step
    given: Floats  # (actions,): probability of the policy's action, 1 for a roll, or _RESPONDER


class _Steps(NamedTuple):
    """Steps from some positions, in the order of their sources and actions."""

    source: Whole  # position that the step starts from
    target: Whole  # a position, -1: the battle's end, or -2 - a leaf
    action: Whole
    chance: Floats
    gain: Floats
    given: Floats  # see `Graph`


@jit(nogil=True)
def _back_up(graph: Graph, values: Floats, action_values: Floats) -> None:
    """Write the values of all actions and nodes, given the values of leaves in `values`."""
    for node in range(graph.first_action.shape[0] - 2, -1, -1):
        mean, best = 0.0, -np.inf
        for action in range(graph.first_action[node], graph.first_action[node + 1]):
            value = 0.0
            for step in range(graph.first_step[action], graph.first_step[action + 1]):
                value += graph.chance[step] * (graph.gain[step] + values[graph.target[step]])
            action_values[action] = value
            if graph.given[action] < 0.0:
                best = max(best, value)
            else:
                mean += graph.given[action] * value
        values[node] = best if best > -np.inf else mean


@jit(nogil=True)
def _spread(graph: Graph, weights: Floats, reached: Floats) -> None:
    """Add up the probabilities of reaching nodes and leaves; `weights` belong to actions."""
    reached[0] = 1.0
    for node in range(graph.first_action.shape[0] - 1):
        for action in range(graph.first_action[node], graph.first_action[node + 1]):
            weight = reached[node] * weights[action]
            for step in range(graph.first_step[action], graph.first_step[action + 1]):
                reached[graph.target[step]] += weight * graph.chance[step]


class PhaseGraph:
    """A phase's graph from one position.

    Attributes:
        leaves: positions at the start of the next phase, (m,).
    """

    def __init__(self, graph: Graph, leaves: States) -> None:
        self.leaves, self._graph = leaves, graph
        self._nodes = len(graph.first_action) - 1
        self._counts = np.diff(graph.first_action)

    def solve(self, leaf_values: Floats) -> tuple[float, Floats]:
        """Return the value of a best response, and the values of all actions.

        Args:
            leaf_values: values of the leaves, (m,).
        """
        values = np.concatenate([np.zeros(self._nodes), leaf_values, [0.0]])
        action_values = np.zeros(len(self._graph.given))
        _back_up(self._graph, values, action_values)
        return float(values[0]), action_values

    def reach(self, action_values: Floats, temperature: float, exploration: float) -> Floats:
        """Return the probabilities of all leaves, then of the battle's end, float64 (m + 1,).

        Args:
            action_values: values of all actions.
            temperature: temperature, in points, of the responder's softmax over its actions.
            exploration: probability of a uniformly random action instead.
        """
        first = self._graph.first_action[:-1]
        best = np.maximum.reduceat(action_values, first)
        soft = np.exp((action_values - np.repeat(best, self._counts)) / temperature)
        soft /= np.repeat(np.add.reduceat(soft, first), self._counts)
        mixed = (1.0 - exploration) * soft + exploration / np.repeat(self._counts, self._counts)
        given = self._graph.given
        reached = np.zeros(self._nodes + len(self.leaves) + 1)
        _spread(self._graph, np.where(given == _RESPONDER, mixed, given), reached)
        return reached[self._nodes :]


class FixedPolicy:
    """A policy that plays one seat of a scenario; the responder plays the other seat.

    Args:
        scenario: scenario without hidden items.
        agent: the policy. Its actions must depend on its observations only.
        seat: the policy's seat.
        most_positions: maximum number of positions in a phase's graph.
    """

    def __init__(self, scenario: Scenario, agent: Agent, seat: int, most_positions: int) -> None:
        refuse_hidden(scenario)
        self._name, self._seat, self._most = scenario.name, seat, most_positions
        self._packed = pack(scenario)
        self._sign = -1.0 if seat == 0 else 1.0
        self._view = View.fitted(self._packed, seat, limits_of(agent, scenario, seat))
        self._policy = resolve_policy(agent, "policy", ("action_probabilities", "act"))
        self._expander = cache(partial(GameGraph, self._packed, 0))

    def start(self) -> tuple[States, float]:
        """Return the position at the start, (1,), and the responder's points by then."""
        battle, states = Battle(self._packed), np.zeros(1, STATE)
        states[0] = battle.state
        return states, self._sign * battle.points

    def explore_phase(self, state: States) -> PhaseGraph:
        """Explore the phase of a position, (1,), from there.

        Raises:
            TooLarge: if it has more than `most_positions` positions.
        """
        phase, parts, nodes = int(state["phase"][0]), [], [state]
        numbers: dict[bytes, int] = {state.tobytes(): 0}
        leaf_numbers: dict[bytes, int] = {}
        expanded, waiting = 0, state
        while len(waiting):
            known = len(numbers)
            for first in range(0, len(waiting), _BATCH):
                states = np.ascontiguousarray(waiting[first : first + _BATCH])
                steps, after = self._steps_from(states, phase + 1)
                over = after["node"] == Node.END
                keys = after.view(f"V{STATE.itemsize}").tolist()
                for k, ends, beyond in zip(
                    range(len(keys)), over.tolist(), (after["phase"] > phase).tolist(), strict=True
                ):
                    if ends:
                        steps.target[k] = -1
                    elif beyond:
                        steps.target[k] = -2 - leaf_numbers.setdefault(keys[k], len(leaf_numbers))
                    else:
                        steps.target[k] = numbers.setdefault(keys[k], len(numbers))
                parts.append(steps._replace(source=steps.source + expanded))
                expanded += len(states)
                if len(numbers) > self._most:
                    raise TooLarge(
                        f"{self._name}: expected at most {self._most:,} positions in phase "
                        f"{phase + 1} against the policy, found more"
                    )
            waiting = _states_of(list(numbers)[known:])
            nodes.append(waiting)
        joined = _Steps._make(map(np.concatenate, zip(*parts, strict=True)))
        return self._in_order(joined, np.concatenate(nodes), _states_of(list(leaf_numbers)))

    def _steps_from(self, states: States, horizon: int) -> tuple[_Steps, States]:
        """Return the steps from some positions without targets, and the positions after them."""
        found, counts = self._expander(horizon=horizon).successors(as_records(State, states))
        steps = np.asarray(found)
        source = np.repeat(np.arange(len(states)), counts)
        decides = (states["node"] >= FIRST_DECISION) & (states["node"] <= LAST_DECISION)
        given = np.where(decides, _RESPONDER, 1.0)[source]
        own = decides & (states["mover"] == self._seat)
        if own.any():
            chosen = own[source]
            row = (np.cumsum(own) - 1)[source[chosen]]
            given[chosen] = self._probabilities(states[own])[row, steps["code"][chosen]]
        kept = given != 0.0
        steps, source, given = steps[kept], source[kept], given[kept]
        target, gain = np.zeros(len(steps), np.int64), self._sign * steps["gain"]
        some = _Steps(source, target, steps["action"], steps["probability"], gain, given)
        return some, np.ascontiguousarray(steps["state"])

    def _probabilities(self, states: States) -> Floats:
        """Return the policy's probabilities by engine code, (k, codes)."""
        view, scenario = self._view, np.zeros(len(states), np.int64)
        records = as_records(State, np.ascontiguousarray(states))
        seen, masks = view.show(scenario, records)
        positions = partial(Positions, self._packed, scenario, records, self._seat, view.codec)
        answers = ask_policy(self._policy, seen, masks, positions)
        return validated_probabilities(answers, masks, "policy")[:, view.codec.index_of]

    def _in_order(self, steps: _Steps, nodes: States, leaves: States) -> PhaseGraph:
        """Return the graph with its nodes in topological order."""
        order = np.argsort(-potentials(self._packed, nodes), kind="stable")
        rank = np.empty(len(nodes), np.int64)
        rank[order] = np.arange(len(nodes))
        end = len(nodes) + len(leaves)
        beyond = np.where(steps.target == -1, end, len(nodes) - 2 - steps.target)
        target = np.where(steps.target >= 0, rank[np.maximum(steps.target, 0)], beyond)
        by = np.argsort(rank[steps.source], kind="stable")
        steps = _Steps._make(column[by] for column in steps._replace(target=target))
        is_first = np.diff(steps.source, prepend=-1) != 0
        begins = is_first | (np.diff(steps.action, prepend=-2) != 0)
        first_step = np.append(np.flatnonzero(begins), len(by))
        first_action = np.append(np.flatnonzero(is_first[begins]), len(first_step) - 1)
        given = steps.given[begins]
        graph = Graph(first_action, first_step, steps.target, steps.chance, steps.gain, given)
        return PhaseGraph(graph, leaves)


def _states_of(keys: list[bytes]) -> States:
    return np.frombuffer(b"".join(keys), STATE)
