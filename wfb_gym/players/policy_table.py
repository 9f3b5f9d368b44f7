"""Tabular policies for one duel: action probabilities by observation, in a .table.npz file.

The file format does not depend on the library that computed the policy.
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
    certain,
    check_row_sizes,
    draw_actions,
)

MOST_ROWS = 2**15  # maximum number of rows (observations) in a table
MOST_BYTES = 2**26  # maximum unpacked size of a table, in bytes
_CLOSE = 1e-6  # tolerance for the sum of a row's probabilities


class TableAgent:
    """A policy with one row for every observation of a seat in one scenario.

    Args:
        path: path of the file.
        deterministic: whether to take the most likely action instead of sampling.
        seed: seed for sampling actions. If None, the seed is random.

    Attributes:
        about: metadata from the file: scenario, seat, command, scores.

    Raises:
        FileNotFoundError: if the file does not exist.
        DamagedFileError: if the file does not contain a table; a subclass of ValueError.
    """

    def __init__(
        self, path: str | Path, *, deterministic: bool = False, seed: int | None = None
    ) -> None:
        self.name = str(path)
        observations, self._probabilities, self.about = load_table(path)
        if deterministic:
            self._probabilities = certain(self._probabilities.argmax(axis=1), self._probabilities)
        self.size, self.actions = observations.shape[1], self._probabilities.shape[1]
        self._rows = {row.tobytes(): place for place, row in enumerate(observations)}
        self._rng = np.random.default_rng(seed)

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Sample an action for each row; see `Agent`."""
        chances = self.action_probabilities(observations, action_masks)
        return draw_actions(chances, self._rng)

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return the table's probabilities, float64 (k, actions).

        An observation may be missing from the table only if pass is the only legal action.

        Raises:
            ValueError: if an observation is not in the table, or the sizes are wrong.
        """
        found = np.zeros(action_masks.shape)
        check_row_sizes(self.name, (self.size, self.actions), observations, action_masks)
        for row, observation in enumerate(np.ascontiguousarray(observations, np.float32)):
            place = self._rows.get((observation + 0.0).tobytes())  # + 0.0: no negative zero
            if place is not None:
                found[row] = self._probabilities[place]
            elif action_masks[row, 1:].any():
                raise ValueError(
                    f"{self.name}: expected observations of the table, found another in row {row}"
                )
            else:
                found[row, 0] = 1.0
        return found


def save_table(
    path: Path, observations: Observations, probabilities: Probabilities, about: dict[str, Any]
) -> None:
    """Save a table and its metadata to a file. The file contains no code.

    Args:
        path: path of the file, ending in `TABLE_ENDING`; replaced atomically.
        observations: unique observations, float32 (n, size).
        probabilities: action probabilities, (n, actions).
        about: metadata, written as JSON: seat, scenario, command, scores.

    Raises:
        ValueError: if `path` has the wrong ending, or there are more than `MOST_ROWS` rows.
    """
    if len(observations) > MOST_ROWS:
        raise ValueError(
            f"{path}: expected at most {MOST_ROWS:,} rows, found {len(observations):,}"
        )
    if not path.name.endswith(TABLE_ENDING):
        raise ValueError(f"{path}: expected a name that ends in {TABLE_ENDING}, found {path.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        np.savez_compressed(
            draft,
            about=np.array(json.dumps(about)),
            observations=observations.astype(np.float32) + np.float32(0.0),
            probabilities=probabilities.astype(np.float64),
        )


def load_table(path: str | Path) -> tuple[NDArray[np.float32], NDArray[np.float64], dict[str, Any]]:
    """Load the observations, probabilities and metadata from a file; see `save_table`.

    Raises:
        FileNotFoundError: if the file does not exist.
        DamagedFileError: if the file does not contain a table; a subclass of ValueError.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a saved table, found no file")
    names = "about", "observations", "probabilities"
    with wrap_read_errors(path, "a saved table"), open_archive(path, MOST_BYTES) as archive:
        archive.require([f"{name}.npy" for name in names])
        seen, played = archive.layout("observations"), archive.layout("probabilities")
        if seen.dtype != np.float32 or played.dtype != np.float64:
            raise ValueError(
                "expected float32 observations and float64 probabilities, "
                f"found {seen.dtype} and {played.dtype}"
            )
        if len(seen.shape) != 2 or len(played.shape) != 2:
            raise ValueError(f"expected 2 dimensions, found shapes {seen.shape} and {played.shape}")
        if seen.shape[0] != played.shape[0]:
            raise ValueError(
                f"expected probabilities of {seen.shape[0]} rows, found {played.shape[0]}"
            )
        if seen.shape[0] > MOST_ROWS:
            raise ValueError(f"expected at most {MOST_ROWS:,} rows, found {seen.shape[0]:,}")
        about = dict(json.loads(archive.read_string("about")))
        probabilities = archive.read_array("probabilities")
        sums = probabilities.sum(axis=1)
        if not ((probabilities >= 0.0).all() and (np.abs(sums - 1.0) <= _CLOSE).all()):
            raise ValueError("expected probabilities that sum to 1 in each row, found others")
        observations = archive.read_array("observations")
        if not np.isfinite(observations).all():
            raise ValueError("expected observations of finite numbers, found NaN or infinity")
        observations += np.float32(0.0)  # + 0.0: no negative zero
        if len({row.tobytes() for row in observations}) < len(observations):
            raise ValueError("expected unique observations, found duplicates")
    return observations, probabilities, about
