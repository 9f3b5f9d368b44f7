"""Sweeps over a public tree: reaches on the way down, values on the way up, and what is learned.

Strategies and values are held for each set of items that an army may have been dealt, so that one
sweep serves them all. A value is counterfactual: weighted by the chance that everything but the own
choices leads there, the other army's deals together (Zinkevich et al. 2007). What is learned is
predictive CFR+ with quadratic averages (Farina, Kroer and Sandholm 2021): regrets never fall below
0, and the regrets of the next sweep are taken to be those of the last.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.solver.graph_arrays import CHANCE, LEAF
from wfb_gym.solver.public_tree import TreeArrays

Floats = NDArray[np.float64]


class Sweep(NamedTuple):
    """Room for a sweep of one army over the tree."""

    # (nodes, kinds), by what the other army was dealt: chance to come here but for the own choices
    other_reach: Floats
    own_reach: Floats  # (nodes, kinds), by what the army was dealt: by its own choices alone
    action_values: Floats  # (actions, kinds): points of each action
    values: Floats  # (nodes, kinds): points from each node on


@jit(nogil=True, forceinline=False)
def spread_reaches(tree: TreeArrays, seat: int, strategy: Floats, sweep: Sweep) -> None:
    """Write how likely each node is, by what each army was dealt.

    Args:
        tree: of public histories.
        seat: army whose own choices are set apart.
        strategy: (actions, kinds): probabilities, by what the mover was dealt.
        sweep: its first reaches are given, the others are written.
    """
    other_reach, own_reach = sweep.other_reach, sweep.own_reach
    kinds = strategy.shape[1]
    for node in range(tree.mover.shape[0]):
        mover = tree.mover[node]
        for action in range(tree.first_action[node], tree.first_action[node + 1]):
            for way in range(tree.first_way[action], tree.first_way[action + 1]):
                for kind in range(kinds):
                    other = tree.probability[way] * other_reach[node, kind]
                    own = own_reach[node, kind]
                    if mover == seat:
                        own *= strategy[action, kind]
                    elif mover != CHANCE:
                        other *= strategy[action, kind]
                    other_reach[way + 1, kind] = other
                    own_reach[way + 1, kind] = own


@jit(nogil=True, forceinline=False)
def sum_values(
    tree: TreeArrays, seat: int, answers_best: bool, strategy: Floats, sweep: Sweep
) -> None:
    """Write what the army wins from each node on, by what it was dealt.

    Args:
        tree: of public histories.
        seat: the army.
        answers_best: whether it takes its best action everywhere; else it plays its strategy.
        strategy: (actions, kinds).
        sweep: has the reaches; values are written.
    """
    other_reach, values = sweep.other_reach, sweep.values
    action_values = sweep.action_values
    kinds = strategy.shape[1]
    sign = 1.0 if seat == 0 else -1.0
    for node in range(tree.mover.shape[0] - 1, -1, -1):
        mover = tree.mover[node]
        reach = 0.0
        for kind in range(kinds):
            reach += other_reach[node, kind]
            values[node, kind] = 0.0
        if mover == LEAF:
            for kind in range(kinds):
                values[node, kind] = sign * tree.value[node] * reach
            continue
        first, end = tree.first_action[node], tree.first_action[node + 1]
        for action in range(first, end):
            taken = reach
            if mover == 1 - seat:
                taken = 0.0
                for kind in range(kinds):
                    taken += other_reach[node, kind] * strategy[action, kind]
            for kind in range(kinds):
                action_values[action, kind] = sign * tree.gain[action] * taken
            for way in range(tree.first_way[action], tree.first_way[action + 1]):
                for kind in range(kinds):
                    action_values[action, kind] += values[way + 1, kind]
        for kind in range(kinds):
            if mover != seat:
                for action in range(first, end):
                    values[node, kind] += action_values[action, kind]
            elif answers_best:
                best = -np.inf
                for action in range(first, end):
                    if tree.legal[action, kind]:
                        best = max(best, action_values[action, kind])
                if best > -np.inf:
                    values[node, kind] = best
            else:
                for action in range(first, end):
                    values[node, kind] += strategy[action, kind] * action_values[action, kind]


@jit(nogil=True, forceinline=False)
def learn(
    tree: TreeArrays,
    seat: int,
    weight: float,
    sweep: Sweep,
    regrets: Floats,
    sums: Floats,
    strategy: Floats,
) -> None:
    """Add a sweep to the army's regrets and sums, and write its next strategy.

    Args:
        tree: of public histories.
        seat: the army.
        weight: of this sweep in the average.
        sweep: of the strategy.
        regrets: (actions, kinds): sums above 0, changed.
        sums: (actions, kinds): of strategies by weight and own reach, changed.
        strategy: (actions, kinds): that was played; changed to the next.
    """
    own_reach, values = sweep.own_reach, sweep.values
    action_values = sweep.action_values
    for node in range(tree.mover.shape[0]):
        if tree.mover[node] != seat:
            continue
        first, end = tree.first_action[node], tree.first_action[node + 1]
        for kind in range(strategy.shape[1]):
            played = weight * own_reach[node, kind]
            total = 0.0
            count = 0
            for action in range(first, end):
                if not tree.legal[action, kind]:
                    continue
                count += 1
                sums[action, kind] += played * strategy[action, kind]
                regret = action_values[action, kind] - values[node, kind]
                regrets[action, kind] = max(0.0, regrets[action, kind] + regret)
                strategy[action, kind] = max(0.0, regrets[action, kind] + regret)
                total += strategy[action, kind]
            for action in range(first, end):
                if tree.legal[action, kind]:
                    if total > 0.0:
                        strategy[action, kind] /= total
                    else:
                        strategy[action, kind] = 1.0 / count


@jit(nogil=True, forceinline=False)
def to_probabilities(tree: TreeArrays, sums: Floats, strategy: Floats) -> None:
    """Write each node's sums as probabilities; of what was never reached all are alike.

    Args:
        tree: of public histories.
        sums: (actions, kinds), not negative.
        strategy: (actions, kinds): written, 0 where an action is not legal.
    """
    for node in range(tree.mover.shape[0]):
        if tree.mover[node] >= CHANCE:
            continue
        first, end = tree.first_action[node], tree.first_action[node + 1]
        for kind in range(sums.shape[1]):
            total = 0.0
            count = 0
            for action in range(first, end):
                if tree.legal[action, kind]:
                    total += sums[action, kind]
                    count += 1
            for action in range(first, end):
                strategy[action, kind] = 0.0
                if tree.legal[action, kind]:
                    if total > 0.0:
                        strategy[action, kind] = sums[action, kind] / total
                    else:
                        strategy[action, kind] = 1.0 / count
