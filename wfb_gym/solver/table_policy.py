"""A policy in a table: the action at every observation of one seat of a solved scenario."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.encoding.positions import Positions
from wfb_gym.engine.generator import mix
from wfb_gym.solver.seat_decisions import SeatDecisions


class TablePolicy:
    """Answers observations with the actions of a table; an agent for experiments and opponents.

    Observations are looked up by 64-bit hashes. Making the table checks that no two of its
    observations share one, so that every observation that can come about finds its own action.

    Args:
        decisions: of the seat.
        codes: engine code of the action at each of them, int64 (n,).
    """

    def __init__(self, decisions: SeatDecisions, codes: NDArray[np.int64]) -> None:
        self.size = decisions.view.layout.size
        self._salt = np.uint64(0)
        while True:
            parts = [self._hash(decisions.observe(nodes)[0]) for nodes in decisions.batches()]
            hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
            order = np.argsort(hashes)
            self._hashes = hashes[order]
            if (self._hashes[1:] != self._hashes[:-1]).all():
                break
            self._salt += np.uint64(1)  # about once in 10**7 tables
        self._actions = decisions.view.codec.index_of[codes[order]]

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Return the table's actions, int64 (k,).

        Args:
            observations: float32 (k, size).
            action_masks: bool (k, actions); tells the end of the battle.
            positions: unused.

        Raises:
            ValueError: An observation that the scenario's play never shows.
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
                f"observations: row {row} is none that the solved scenario shows; the table plays "
                "one scenario from one seat, with limits fitted to it"
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
    """Write a 64-bit hash of each row (k, size) to look it up by, another for another salt."""
    for row in range(rows.shape[0]):
        hashed = salt
        for column in range(rows.shape[1]):
            hashed = mix(hashed ^ np.uint64(rows[row, column]))
        hashes[row] = hashed
