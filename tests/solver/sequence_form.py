"""An oracle for scenarios with hidden items: the value as a linear program over sequences.

Koller, Megiddo and von Stengel 1996: one variable for each sequence of own actions with each hidden
set. Points are linear in the variables. It uses the solver's public tree, but none of its sweeps.
"""

from collections import defaultdict

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import bmat, coo_matrix

from wfb_gym.solver.graph_arrays import CHANCE, LEAF
from wfb_gym.solver.public_tree import PublicTree


class _Sequences:
    """Numbers of the sequences of one army, and their constraints."""

    def __init__(self, kinds: int) -> None:
        self.count = kinds  # the empty sequence of each set comes first
        self.rows: list[tuple[int, int, float]] = []
        self.right: list[float] = []
        for kind in range(kinds):
            self.rows.append((kind, kind, 1.0))
            self.right.append(1.0)

    def add(self, parent: int, children: int) -> list[int]:
        """Split the probability of a parent among children; returns their numbers."""
        row = len(self.right)
        self.right.append(0.0)
        found = list(range(self.count, self.count + children))
        self.count += children
        self.rows += [(row, child, 1.0) for child in found]
        self.rows.append((row, parent, -1.0))
        return found

    def matrix(self) -> coo_matrix:
        row, column, entry = zip(*self.rows, strict=True)
        return coo_matrix((entry, (row, column)), (len(self.right), self.count))


def value_of(tree: PublicTree) -> float:
    """Return the first army's points in equilibrium."""
    arrays, kinds = tree.arrays, tree.kinds.shape[2]
    own = [_Sequences(kinds) for _ in range(2)]
    # of each node: its probability by dice, and the last sequence of each army by hidden set
    chance = np.zeros(len(arrays.mover))
    last: list[dict[tuple[int, int], int]] = [{} for _ in arrays.mover]
    chance[0] = 1.0
    last[0] = {(army, kind): kind for army in range(2) for kind in range(kinds)}
    won: dict[tuple[int, int], float] = defaultdict(float)

    def pay(points: float, sequences: dict[tuple[int, int], int]) -> None:
        for kind in range(kinds):
            for other in range(kinds):
                if (0, kind) in sequences and (1, other) in sequences:
                    weight = tree.weights[0, kind] * tree.weights[1, other]
                    won[sequences[0, kind], sequences[1, other]] += weight * points

    for node, mover in enumerate(arrays.mover):
        if mover == LEAF:
            pay(chance[node] * arrays.value[node], last[node])
            continue
        actions = range(arrays.first_action[node], arrays.first_action[node + 1])
        after = {action: dict(last[node]) for action in actions}
        if mover < CHANCE:
            for kind in range(kinds):
                parent = last[node].get((mover, kind))
                legal = [action for action in actions if arrays.legal[action, kind]]
                for action in actions:
                    after[action].pop((mover, kind), None)
                if parent is not None and legal:
                    numbers = own[mover].add(parent, len(legal))
                    for action, number in zip(legal, numbers, strict=True):
                        after[action][mover, kind] = number
        for action in actions:
            pay(chance[node] * arrays.gain[action], after[action])
            for way in range(arrays.first_transition[action], arrays.first_transition[action + 1]):
                chance[way + 1] = chance[node] * arrays.probability[way]
                last[way + 1] = after[action]

    row, column = np.array([*won]).reshape(-1, 2).T
    payoff = coo_matrix(([*won.values()], (row, column)), (own[0].count, own[1].count))
    ours, theirs = (each.matrix() for each in own)
    # The other army's best response is the dual: the maximum of f'q with F'q at most the points of
    # each of its sequences, over our sequences x.
    answers = len(own[1].right)
    most = linprog(
        np.concatenate([np.zeros(own[0].count), -np.array(own[1].right)]),
        A_ub=bmat([[-payoff.T, theirs.T]]),
        b_ub=np.zeros(own[1].count),
        A_eq=bmat([[ours, coo_matrix((len(own[0].right), answers))]]),
        b_eq=own[0].right,
        bounds=[(0, None)] * own[0].count + [(None, None)] * answers,
        method="highs",
    )
    assert most.status == 0, most.message
    return float(-most.fun)
