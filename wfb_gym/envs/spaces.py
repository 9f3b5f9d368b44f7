"""Gymnasium spaces from layouts and codecs."""

from gymnasium import spaces
from numpy import float32, int64

from wfb_gym.encoding.actions import ActionCodec
from wfb_gym.encoding.layout import Layout


def observation_space(layout: Layout) -> spaces.Box:
    """One flat float32 vector with finite bounds, shape (size,)."""
    return spaces.Box(layout.low, layout.high, dtype=float32)


def action_space(codec: ActionCodec) -> spaces.Discrete:
    """Flat actions; `wfb_gym.encoding.actions` says what each range means."""
    return spaces.Discrete(codec.n, dtype=int64)
