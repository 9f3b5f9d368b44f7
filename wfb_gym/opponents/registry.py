"""Who may sit opposite the learner: names, callables, saved models, and pools of these."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.opponents.policies import Scripted

Policy = Callable[[NDArray[np.float32], NDArray[np.bool_]], NDArray[np.int64]]
"""Batched policy: observations (k, size) and masks (k, actions) to legal actions (k,)."""
Opponent = str | Path | Policy
"""A scripted player's name, the path of a saved model, or a policy."""

SCRIPTED = {kind.name.lower(): kind for kind in Scripted if kind != Scripted.EXTERNAL}
"""Scripted players by name."""


def resolve_pool(
    opponent: Opponent | Sequence[Opponent],
) -> tuple[list[int], dict[int, Policy]]:
    """Turn what a user asked for into what the batch plays.

    Args:
        opponent: one of `Opponent`, or several: one of them is drawn for each episode.

    Returns:
        A member of `Scripted` for each place in the pool, and the policies behind those that
        are EXTERNAL, by place.

    Raises:
        ValueError: an unknown name, or an empty pool.
        FileNotFoundError: a saved model that is not there.
    """
    several = isinstance(opponent, Sequence) and not isinstance(opponent, str)
    members: list[Any] = list(opponent) if several else [opponent]  # type: ignore[arg-type]
    if not members:
        raise ValueError("opponent: expected at least one, found an empty pool")
    kinds: list[int] = []
    policies: dict[int, Policy] = {}
    for place, member in enumerate(members):
        if isinstance(member, str) and member in SCRIPTED:
            kinds.append(int(SCRIPTED[member]))
            continue
        kinds.append(int(Scripted.EXTERNAL))
        policies[place] = _external(member)
    return kinds, policies


def _external(member: Any) -> Policy:
    if callable(member):
        policy: Policy = member
        return policy
    if isinstance(member, str | Path):
        path = Path(member)
        if path.suffix == ".zip":
            from wfb_gym.interop.sb3 import load_policy

            return load_policy(path)
    names = ", ".join(SCRIPTED)
    close = get_close_matches(str(member), SCRIPTED, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise ValueError(
        f"opponent: expected one of {names}, a saved model's path ending in .zip, a callable "
        f"or a list of these, found {member!r}{hint}"
    )
