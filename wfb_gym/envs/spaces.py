"""Gymnasium spaces from layouts and codecs."""

from typing import Any

from gymnasium import Space, spaces
from numpy import float32
from numpy.typing import NDArray

from wfb_gym.encoding.actions import ActionCodec
from wfb_gym.encoding.layout import Layout


def observation_space(layout: Layout) -> Space[NDArray[float32]]:
    """One flat float32 vector with finite bounds, shape (size,)."""
    box: Space[Any] = spaces.Box(layout.low, layout.high, dtype=float32)
    return box


def action_space(codec: ActionCodec) -> spaces.Discrete:
    """Flat actions; `wfb_gym.encoding.actions` says what each range means."""
    return spaces.Discrete(codec.n)
