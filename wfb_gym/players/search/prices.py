"""Shares of what is kept for later phases that count: of scrolls, items, wizards, spells in play.

`wfb_gym.players.search.look_ahead` works out what these bring in the phases to come if nothing but
them changes; casualties and moves in between are left out. A share for each kind makes up for that:
one for all, or those that `agents.prices` has learned from battles.
"""

import json
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wfb_gym.scenario.sizes import PHASES

LEARNED = Path(__file__).with_suffix(".json")
"""The learned shares that come with the package."""
MOST_PHASES = PHASES // 2
"""Phases of one army that are told apart; of more, the last share counts."""


class Kept(IntEnum):
    """What is kept."""

    SCROLL = 0  # and other items that dispel outright
    AID = 1  # an item that helps a cast
    WIZARD = 2  # that a miscast may take
    IN_PLAY = 3  # a spell


Prices = NDArray[np.float64]
"""Shares that count of what the next phase with its use is worked out to bring, float64 (kinds,
`MOST_PHASES`): by the kind, and by the phases to come with that use less 1. The value of what is
left after that next phase has its own share, of one phase less, in it already."""


def plain_prices(fade: float) -> Prices:
    """Return one share for all but spells in play, which count in full."""
    prices = np.full((len(Kept), MOST_PHASES), fade)
    prices[Kept.IN_PLAY] = 1.0
    return prices


def load_prices(path: str | Path = LEARNED) -> Prices:
    """Load shares that `agents.prices` has written.

    Raises:
        OSError: the file cannot be read.
        ValueError: it does not hold shares of all kinds.
    """
    try:
        shares = json.loads(Path(path).read_text(encoding="utf-8"))["shares"]
        prices = np.array([shares[kind.name.lower()] for kind in Kept], np.float64)
        if prices.shape != (len(Kept), MOST_PHASES) or not np.isfinite(prices).all():
            raise ValueError("not a number for each")
    except (ValueError, KeyError, TypeError) as error:
        kinds = ", ".join(kind.name.lower() for kind in Kept)
        raise ValueError(f"{path}: expected {MOST_PHASES} shares of each of {kinds}") from error
    return prices
