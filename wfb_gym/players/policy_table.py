"""Players whose policy is a table of what they observe in one duel, from a .table.npz file.

What tabular learners find is kept so, whatever library they are of.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import Positions
from wfb_gym.files import atomic_write, open_archive, wrap_read_errors
from wfb_gym.opponents.policy_spec import TABLE_ENDING
from wfb_gym.players.interface import (
    Actions,
    Masks,
    Observations,
    Probabilities,
    draw_actions,
)

MOST_ROWS = 2**15
"""Observations of a table."""
MOST_BYTES = 2**26
"""Of a table, unpacked."""
_CLOSE = 1e-6
"""By which the sum of a row's probabilities may differ from 1."""


class TableAgent:
    """A policy with an entry for every observation of a seat in one scenario.

    Args:
        path: of the file.
        seed: of its draws; None draws differently each time.

    Attributes:
        about: what the file says: scenario, seat, command, scores.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedFileError: the file holds no table; a ValueError.
    """

    def __init__(self, path: str | Path, seed: int | None = None) -> None:
        self.name = str(path)
        observations, self._probabilities, self.about = load_table(path)
        self.size, self.actions = observations.shape[1], self._probabilities.shape[1]
        self._rows = {row.tobytes(): place for place, row in enumerate(observations)}
        self._rng = np.random.default_rng(seed)

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Draw an action for each row; see `Agent`."""
        chances = self.action_probabilities(observations, action_masks)
        return draw_actions(chances, self._rng)

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return what stands in the table, float64 (k, actions); pass where only that is legal.

        Raises:
            ValueError: an observation that the table lacks.
        """
        found = np.zeros(action_masks.shape)
        sizes = self.size, self._probabilities.shape[1]
        shown = observations.shape[1], action_masks.shape[1]
        if sizes != shown:
            raise ValueError(
                f"{self.name}: it is of observations of size {sizes[0]} and {sizes[1]} actions, "
                f"found {shown[0]} and {shown[1]}"
            )
        for row, observation in enumerate(np.ascontiguousarray(observations, np.float32)):
            place = self._rows.get((observation + 0.0).tobytes())  # no minus before a zero
            if place is not None:
                found[row] = self._probabilities[place]
            elif action_masks[row, 1:].any():
                raise ValueError(f"{self.name}: observation {row} is not in the table")
            else:
                found[row, 0] = 1.0
        return found


def save_table(
    path: Path, observations: Observations, probabilities: Probabilities, about: dict[str, Any]
) -> None:
    """Write a table to a file whose name ends in `TABLE_ENDING`; no code is in it.

    Args:
        path: of the file; replaced as a whole.
        observations: float32 (n, size), each once.
        probabilities: of the actions there, (n, actions).
        about: what the file says about it, as JSON: seat, scenario, command, scores.

    Raises:
        ValueError: another name, or more rows than a table may have.
    """
    if len(observations) > MOST_ROWS:
        raise ValueError(
            f"{path}: expected at most {MOST_ROWS:,} rows, found {len(observations):,}"
        )
    if not path.name.endswith(TABLE_ENDING):
        raise ValueError(f"{path}: expected a name that ends in {TABLE_ENDING}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        np.savez_compressed(
            draft,
            about=np.array(json.dumps(about)),
            observations=observations.astype(np.float32) + np.float32(0.0),
            probabilities=probabilities.astype(np.float64),
        )


def load_table(
    path: str | Path,
) -> tuple[NDArray[np.float32], NDArray[np.float64], dict[str, Any]]:
    """Return observations, probabilities, and what a file says about them; see `save_table`.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedFileError: the file holds no table; a ValueError.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a saved table, found no file")
    names = "about", "observations", "probabilities"
    with wrap_read_errors(path, "a saved table"), open_archive(path, MOST_BYTES) as archive:
        archive.require([f"{name}.npy" for name in names])
        seen, played = archive.layout("observations"), archive.layout("probabilities")
        if seen.dtype != np.float32 or played.dtype != np.float64:
            raise ValueError("expected float32 observations and float64 probabilities")
        if len(seen.shape) != 2 or len(played.shape) != 2:
            raise ValueError("expected a row for each observation")
        if seen.shape[0] != played.shape[0]:
            raise ValueError(f"found {seen.shape[0]} rows and {played.shape[0]}")
        if seen.shape[0] > MOST_ROWS:
            raise ValueError(f"expected at most {MOST_ROWS:,} rows, found {seen.shape[0]:,}")
        about = dict(json.loads(archive.read_string("about")))
        probabilities = archive.read_array("probabilities")
        sums = probabilities.sum(axis=1)
        if not ((probabilities >= 0.0).all() and (np.abs(sums - 1.0) <= _CLOSE).all()):
            raise ValueError("expected probabilities that sum to 1")
        observations = archive.read_array("observations")
        if not np.isfinite(observations).all():
            raise ValueError("expected observations of finite numbers")
        observations += np.float32(0.0)  # no minus before a zero
        if len({row.tobytes() for row in observations}) < len(observations):
            raise ValueError("expected each observation once")
    return observations, probabilities, about
