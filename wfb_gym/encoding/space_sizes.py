"""Sizes of a seat's spaces, either from limits or as declared by a policy."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.layout import layout
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.positions import sees_positions


class SpaceSizes(NamedTuple):
    """The length of an observation, and the number of actions."""

    size: int
    actions: int

    def __str__(self) -> str:
        return f"observations of size {self.size} and {self.actions} actions"


def space_sizes(limits: Limits) -> SpaceSizes:
    """Return the sizes of the spaces for these limits."""
    return SpaceSizes(layout(limits).size, action_codec(limits).n)


def declared_sizes(policy: Any) -> SpaceSizes | None:
    """Return the sizes declared by a policy or by the object it is a method of.

    None if neither declares sizes, or if the policy plays from positions, which have no size.
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


@runtime_checkable
class TorchModule(Protocol):
    """A `torch.nn.Module`. It reads tensors, and policies read arrays."""

    forward: Any
    state_dict: Any


def refuse_module(policy: Any, who: str) -> None:
    """Raise a ValueError if a policy is a PyTorch module, which must be wrapped in a function."""
    if isinstance(policy, TorchModule):
        raise ValueError(
            f"{who}: expected a function of observations and masks, found the PyTorch module "
            f'{type(policy).__name__}; wrap it in a function as in "A PyTorch network" in '
            "docs/howto/grade-a-policy.md, or a PolicyNetwork in "
            "wfb_gym.players.learned.NetworkAgent"
        )


def check_sizes(policy: Any, limits: Limits, who: str) -> None:
    """Raise a ValueError if the sizes that a policy declares differ from those for the limits.

    Raises:
        ValueError: if the sizes differ, with both in the message, or if the policy is a PyTorch
            module.
    """
    refuse_module(policy, who)
    expected, found = space_sizes(limits), declared_sizes(policy)
    if found not in (None, expected):
        owner = getattr(policy, "__self__", policy)
        name = getattr(owner, "name", who)
        raise ValueError(
            f"{name}: expected a policy for {expected}, found one for {found}; use the scenario "
            "and seat of its training, or pass limits=... to use the policy's own sizes"
        )
