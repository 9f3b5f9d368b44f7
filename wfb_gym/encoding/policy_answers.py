"""Validation of the answers returned by Python policies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

CLOSE = 1e-3
"""Tolerance for probabilities computed in single precision."""


def _as_array(answer: Any, whose: str) -> NDArray[Any]:
    """Return a policy's answer as a NumPy array; a PyTorch tensor may have a gradient."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
    try:
        return np.asarray(answer)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{whose}: expected an array or a tensor, found {type(answer).__name__}: {error}"
        ) from error


def validated_actions(answer: Any, masks: NDArray[np.bool_], whose: str) -> NDArray[np.int64]:
    """Return a policy's answer as actions, int64 (k,).

    Args:
        answer: the policy's return value: legal actions, integers of shape (k,).
        masks: legal actions, bool of shape (k, actions).
        whose: the policy's name in error messages.

    Raises:
        ValueError: if the shape or dtype is wrong or an action is illegal.
    """
    actions = _as_array(answer, whose)
    if actions.shape != masks.shape[:1] or not np.issubdtype(actions.dtype, np.integer):
        hint = "; sample an action from each row" if actions.shape == masks.shape else ""
        raise ValueError(
            f"{whose}: expected integer actions of shape {masks.shape[:1]}, "
            f"found {actions.dtype} of shape {actions.shape}{hint}"
        )
    legal = (actions >= 0) & (actions < masks.shape[1])
    legal[legal] = masks[np.flatnonzero(legal), actions[legal]]
    if not legal.all():
        row = int(np.flatnonzero(~legal)[0])
        raise ValueError(
            f"{whose}: action {int(actions[row])} is illegal, "
            f"expected one of {np.flatnonzero(masks[row]).tolist()}"
        )
    return actions


def validated_probabilities(
    answer: Any, masks: NDArray[np.bool_], whose: str
) -> NDArray[np.float64]:
    """Return a policy's answer as probabilities, float64 (k, actions); each row sums to 1.

    Args:
        answer: the policy's return value: integer actions as in `validated_actions`, or
            probabilities, floats of shape (k, actions), which are 0 for illegal actions.
        masks: legal actions, bool of shape (k, actions).
        whose: the policy's name in error messages.

    Raises:
        ValueError: if the answer is neither.
    """
    array = _as_array(answer, whose)
    if np.issubdtype(array.dtype, np.integer) and array.shape == masks.shape[:1]:
        probabilities = np.zeros(masks.shape)
        probabilities[np.arange(len(masks)), validated_actions(array, masks, whose)] = 1.0
        return probabilities
    if not np.issubdtype(array.dtype, np.floating) or array.shape != masks.shape:
        raise ValueError(
            f"{whose}: expected integer actions of shape {masks.shape[:1]} or probabilities of "
            f"shape {masks.shape}, found {array.dtype} of shape {array.shape}"
        )
    probabilities = array.astype(np.float64)
    valid = (probabilities >= 0.0).all(axis=1)
    valid &= np.abs(probabilities.sum(axis=1) - 1.0) < CLOSE
    valid &= (np.where(masks, 0.0, probabilities) < CLOSE).all(axis=1)
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        are_logits = bool((probabilities[row] < 0.0).any())
        raise ValueError(
            f"{whose}: expected probabilities of legal actions that sum to 1, found "
            f"{probabilities[row].tolist()} where {np.flatnonzero(masks[row]).tolist()} are legal"
            f"{'; convert logits with a softmax over the legal actions' if are_logits else ''}"
        )
    probabilities[~masks] = 0.0
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities
