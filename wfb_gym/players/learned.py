"""Agents that play with a network from `wfb_gym.players.network`, loaded from a .npz file."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise ImportError('a network needs PyTorch: pip install "wfb-gym[train]"') from error

from wfb_gym._records import Records
from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.layout import layout
from wfb_gym.encoding.limits import check_covers
from wfb_gym.encoding.positions import PositionArrays, Positions
from wfb_gym.encoding.view import View
from wfb_gym.files import DamagedFileError
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import (
    Actions,
    Masks,
    Observations,
    Probabilities,
    certain,
    check_row_sizes,
    draw_actions,
)
from wfb_gym.players.network import PolicyNetwork, load_network
from wfb_gym.scenario.errors import printable, shortened

EITHER = "either"  # seat in the file of a network that plays both seats
_BATCH = 1 << 12  # number of decisions per forward pass
_MAX_SHOWN = 60  # maximum length, in characters, of text from a file in an error message


class NetworkAgent:
    """Plays with a network: takes its most likely legal action, or samples its actions.

    A network for one scenario takes that scenario's observations. A general network, for many
    scenarios, receives positions and encodes them with its own limits. It plays in any environment
    whose scenarios are within these limits.

    Args:
        path: path of the .npz file, or the network itself.
        seat: seat of a network passed as `path`; None for both seats.
        general: whether a network passed as `path` is a general network.
        deterministic: whether to take the most likely action instead of sampling.
        seed: seed for sampling actions. If None, the seed is random.

    Attributes:
        about: metadata from the file: seat, scenario, command, scores.
        limits: sizes of the network's observations and actions.
        seat: 0 or 1, or None if it plays both seats.
        sees_positions: whether it is a general network, which encodes positions itself.

    Raises:
        FileNotFoundError: if the file does not exist.
        DamagedFileError: if the file does not contain a network; a subclass of ValueError.
    """

    def __init__(
        self,
        path: str | Path | PolicyNetwork,
        seat: int | None = 0,
        *,
        general: bool = False,
        deterministic: bool = True,
        seed: int | None = None,
    ) -> None:
        self._deterministic, self._rng = deterministic, np.random.default_rng(seed)
        if isinstance(path, PolicyNetwork):
            self.name, self.network = "network", path
            self.about: dict[str, Any] = {"seat": EITHER if seat is None else seat}
            self.about["general"] = general
        else:
            self.name = str(path)
            self.network, self.about = load_network(path)
            if self.about.get("seat") not in (0, 1, EITHER):
                found = shortened(repr(self.about.get("seat")), _MAX_SHOWN)
                expected = f'a network of seat 0 or 1, or of "{EITHER}"'
                raise DamagedFileError(f"{path}: expected {expected}, found {found}")
        self.limits = self.network.limits
        seat = self.about["seat"]
        self.seat = None if seat == EITHER else int(seat)
        self.sees_positions = bool(self.about.get("general", False))
        self._views: dict[int, View] = {}

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Return a legal action for each row; see `Agent`."""
        if not self._deterministic:
            found = self.action_probabilities(observations, action_masks, positions)
            return draw_actions(found, self._rng)
        shown, legal, index_of = self._shown(observations, action_masks, positions)
        own = likeliest_actions(self._logits, shown, legal)
        return own if index_of is None else index_of[own]

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return the distribution from which `act` samples, float64 (k, actions)."""
        if self._deterministic:
            return certain(self.act(observations, action_masks, positions), action_masks)
        shown, legal, index_of = self._shown(observations, action_masks, positions)
        own = np.empty(legal.shape)
        for batch, logits in _legal_logits(self._logits, shown, legal):
            own[batch] = logits.double().softmax(1).numpy()
        if index_of is None:
            return own
        found = np.zeros(action_masks.shape)
        there = np.flatnonzero(index_of >= 0)
        found[:, index_of[there]] = own[:, there]
        return found

    def _logits(self, observations: Tensor, masks: Tensor) -> Tensor:
        found: Tensor = self.network(observations, masks)[0]
        return found

    def _shown(
        self, observations: Observations, action_masks: Masks, positions: Positions | None
    ) -> tuple[Observations, Masks, NDArray[np.int64] | None]:
        """Return the network's observations and masks, and the caller's index of each action.

        The indices are -1 for actions that the caller lacks, and None if they are the same.
        """
        if not self.sees_positions:
            self._check_sizes(observations, action_masks)
            return observations, action_masks, None
        if positions is None:
            raise ValueError(
                f"{self.name}: expected positions, which a network for many scenarios encodes "
                "itself, found none"
            )
        if self.seat not in (None, positions.seat):
            raise ValueError(
                f"{self.name}: expected positions of seat {self.seat}, found seat {positions.seat}"
            )
        view = self._view_of(positions.packed_scenarios, positions.seat)
        shown, legal = view.show(positions.scenario, positions.states, positions.histories)
        return shown, legal, positions.codec.index_of[view.codec.code_of]

    def chances_at(
        self, positions: PositionArrays, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return engine codes (a,), ascending, and their probabilities in the given rows, (k, a).

        Illegal actions have the value -1.

        Raises:
            ValueError: if a scenario exceeds the network's limits.
        """
        view = self._view_of(positions.packed_scenarios, positions.seat)
        chances = np.empty((len(rows), view.codec.n), np.float32)
        for first in range(0, len(rows), _BATCH):
            some = rows[first : first + _BATCH]
            observations, masks = view.show(positions.scenario[some], positions.states[some])
            with torch.no_grad():
                found = self.network(torch.from_numpy(observations), torch.from_numpy(masks))[0]
            chances[first : first + _BATCH] = np.where(masks, found.exp().numpy(), -1.0)
        return view.codec.code_of, chances

    def _view_of(self, packed_scenarios: Records[PackedScenario], seat: int) -> View:
        """Return a seat's view of these scenarios, with the network's limits."""
        view = self._views.get(seat)
        if view is None or view.packed_scenarios is not packed_scenarios:
            try:
                check_covers(self.limits, packed_scenarios, seat)
            except ValueError as error:
                raise ValueError(
                    f"{self.name}: expected scenarios within the network's limits; {error}"
                ) from error
            view = self._views[seat] = View(packed_scenarios, seat, self.limits)
        return view

    def _check_sizes(self, observations: Observations, masks: Masks) -> None:
        sizes = layout(self.limits).size, action_codec(self.limits).n
        learned = shortened(printable(str(self.about.get("scenario", "unknown"))), _MAX_SHOWN)
        hint = f"; play it in the scenario and seat of its training ({learned})"
        hint += ", with history=True" if self.limits.history else ""
        check_row_sizes(self.name, sizes, observations, masks, hint)


def likeliest_actions(
    logits_of: Callable[[Tensor, Tensor], Tensor], observations: Observations, masks: Masks
) -> Actions:
    """Return the legal action with the largest logit in each row, in batches of `_BATCH` rows.

    A NaN logit, from weights that overflow, is treated as the smallest number.
    """
    chosen = np.empty(len(observations), np.int64)
    for batch, logits in _legal_logits(logits_of, observations, masks):
        chosen[batch] = logits.argmax(1).numpy()
    return chosen


def _legal_logits(
    logits_of: Callable[[Tensor, Tensor], Tensor], observations: Observations, masks: Masks
) -> Iterator[tuple[slice, Tensor]]:
    """Yield the logits of batches of rows, -inf for illegal actions."""
    for first in range(0, len(observations), _BATCH):
        batch = slice(first, first + _BATCH)
        legal = torch.from_numpy(np.ascontiguousarray(masks[batch]))
        shown = torch.from_numpy(np.ascontiguousarray(observations[batch]))
        with torch.no_grad():
            logits = logits_of(shown, legal)
        lowest = torch.finfo(logits.dtype).min
        logits = logits.nan_to_num(lowest, neginf=lowest).masked_fill(~legal, -torch.inf)
        yield batch, logits
