"""Who may sit opposite the learner: names, callables, agents, saved models, pools of these."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfb_gym.opponents.policies import SCRIPTED, Scripted, scripted_policy

Policy = Callable[..., NDArray[np.int64]]
"""Batched policy: observations (k, size) and masks (k, actions) to legal actions (k,).

One with a true attribute `sees_positions`, or a method of an object that has it, gets the
battles' `encoding.positions.Positions` as its third argument."""


class Player(Protocol):
    """An agent: an object whose method `act` is a policy."""

    @property
    def act(self) -> Policy:
        """What it does."""


Opponent = str | Path | Policy | Player
"""A scripted player's name, the path of a saved model, a policy, or an agent."""


def resolve_pool(
    opponent: Opponent | Sequence[Opponent],
) -> tuple[list[int], dict[int, Policy]]:
    """Turn what a user asked for into what the batch plays.

    Args:
        opponent: one of `Opponent`, or several: one of them is drawn for each episode.

    Returns:
        The number of the player in each place of the pool, as `opponents.policies.choose` takes
        it, and the policies behind those that are EXTERNAL, by place.

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
        number = scripted_policy(member) if isinstance(member, str) else None
        if number is not None:
            kinds.append(number)
            continue
        kinds.append(int(Scripted.EXTERNAL))
        policies[place] = _external(member)
    return kinds, policies


def _external(member: Any) -> Policy:
    policy = getattr(member, "act", member)
    if callable(policy):
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
        f"opponent: expected one of {names}, NAME:EPSILON, a saved model's path ending in .zip, "
        f"a callable, an agent or a list of these, found {member!r}{hint}"
    )
