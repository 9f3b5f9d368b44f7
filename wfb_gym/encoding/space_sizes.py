"""Sizes of a seat's spaces: those of limits, and those that a policy is made for."""

from typing import Any, NamedTuple

from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.layout import layout
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.positions import sees_positions


class SpaceSizes(NamedTuple):
    """Lengths of a row of observations and of masks."""

    size: int
    actions: int

    def __str__(self) -> str:
        return f"observations of size {self.size} and {self.actions} actions"


def space_sizes(limits: Limits) -> SpaceSizes:
    """Return the sizes of the spaces that limits make."""
    return SpaceSizes(layout(limits).size, action_codec(limits).n)


def declared_sizes(policy: Any) -> SpaceSizes | None:
    """Return the sizes that a policy, or the object whose method it is, declares.

    None if it declares none, or plays from positions, which have no size.
    """
    if sees_positions(policy):
        return None
    for each in (policy, getattr(policy, "__self__", None)):
        limits = getattr(each, "limits", None)
        if isinstance(limits, Limits):
            return space_sizes(limits)
        sizes = getattr(each, "size", None), getattr(each, "actions", None)
        if all(isinstance(size, int) for size in sizes):
            return SpaceSizes(*sizes)  # type: ignore[arg-type]
    return None


def check_sizes(policy: Any, limits: Limits, who: str) -> None:
    """Raise if a policy declares other sizes than those of the limits.

    Raises:
        ValueError: names the sizes that were expected and found.
    """
    expected, found = space_sizes(limits), declared_sizes(policy)
    if found not in (None, expected):
        owner = getattr(policy, "__self__", policy)
        name = getattr(owner, "name", who)
        raise ValueError(
            f"{name}: expected a policy for {expected}, found one for {found}; "
            "limits=... grades it in its own sizes"
        )
