"""Gymnasium spaces for layouts and codecs."""

from typing import Any

from gymnasium import Space, spaces
from numpy import float32
from numpy.typing import NDArray

from wfb_gym.encoding.actions import ActionCodec
from wfb_gym.encoding.layout import Layout


def observation_space(layout: Layout) -> Space[NDArray[float32]]:
    """Return the observation space: float32, shape (size,), with finite bounds."""
    box: Space[Any] = spaces.Box(layout.low, layout.high, dtype=float32)
    return box


def action_space(codec: ActionCodec) -> spaces.Discrete:
    """Return the action space; see `wfb_gym.encoding.actions` for its ranges."""
    return spaces.Discrete(codec.n)
