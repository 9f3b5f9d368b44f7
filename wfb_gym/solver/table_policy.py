"""A policy in a table: the action at every observation of one seat of a solved scenario."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import Positions
from wfb_gym.solver import decision_kernels
from wfb_gym.solver.policies import SeatDecisions


class TablePolicy:
    """Answers observations with the actions of a table; an agent for experiments and opponents.

    Rows are looked up by 64-bit marks. Making the table checks that no two of its observations
    share one, so that every observation that can come about finds its own action.

    Args:
        decisions: of the seat.
        codes: engine code of the action at each of them, int64 (n,).
    """

    def __init__(self, decisions: SeatDecisions, codes: NDArray[np.int64]) -> None:
        self.size = decisions.view.layout.size
        self._salt = np.uint64(0)
        marks = self._all_marks(decisions)
        order = np.argsort(marks)
        while (marks[order][1:] == marks[order][:-1]).any():  # about once in 10**7 tables
            self._salt += np.uint64(1)
            marks = self._all_marks(decisions)
            order = np.argsort(marks)
        self._marks = marks[order]
        self._actions = decisions.view.codec.index_of[codes[order]]

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """The table's actions, int64 (k,).

        Args:
            observations: float32 (k, size).
            action_masks: bool (k, actions), which the table knows itself.
            positions: are not looked at.

        Raises:
            ValueError: an observation that the scenario's play never shows.
        """
        if observations.ndim != 2 or observations.shape[1] != self.size:
            raise ValueError(
                f"observations: expected shape (k, {self.size}), found {observations.shape}"
            )
        marks = self._marked(observations)
        places = np.searchsorted(self._marks, marks)
        places[places == len(self._marks)] = 0
        known = self._marks[places] == marks if len(self._marks) else np.zeros(len(marks), bool)
        ended = ~known & (action_masks[:, 1:].sum(axis=1) == 0)  # only pass is legal: no decision
        if not (known | ended).all():
            row = int(np.flatnonzero(~(known | ended))[0])
            raise ValueError(
                f"observations: row {row} is none that the solved scenario shows; the table plays "
                "one scenario from one seat, with limits fitted to it"
            )
        return np.where(known, self._actions[places] if len(self._marks) else 0, 0)

    __call__ = act

    def _all_marks(self, decisions: SeatDecisions) -> NDArray[np.uint64]:
        found = [self._marked(observations) for _, observations, _ in decisions.batches()]
        return np.concatenate([np.zeros(0, np.uint64), *found])

    def _marked(self, observations: NDArray[np.float32]) -> NDArray[np.uint64]:
        marks = np.empty(len(observations), np.uint64)
        rows = np.ascontiguousarray(observations, np.float32).view(np.uint32)
        decision_kernels.fingerprints(rows, self._salt, marks)
        return marks
