"""Observation layouts: the offset of each number for given limits."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, new_records
from wfb_gym.encoding.fields import (
    ArmyOffsets,
    ChoiceOffsets,
    Field,
    ItemOffsets,
    LayoutOffsets,
    ObservedNumber,
    SpellOffsets,
    UnitOffsets,
    WizardOffsets,
    numbers_to,
)
from wfb_gym.encoding.limits import SIDES, ArmyLimits, Limits

KINDS = {"wizard": WizardOffsets, "spell": SpellOffsets, "item": ItemOffsets, "unit": UnitOffsets}
"""Kinds of army member, each with the class that declares its numbers."""
FEATURES = ("all", "raw")
"""Values of the `features` argument: observations have all numbers, or expected values are 0."""
_ALMOST_ZERO = float(np.finfo(np.float32).tiny)
"""Upper bound of a number that is always 0. Gymnasium warns if a number's bounds are equal, and its
`RescaleObservation` divides by their difference."""


@dataclass(frozen=True)
class Layout:
    """The names, bounds and offsets of an observation.

    Attributes:
        fields: one entry per number, in order.
        offsets: offset of each block, and of each number within a block, shape (1,).
        zeroed: indices of the numbers that are always 0, int64 (k,): all expected values
            (`Field.is_expectation`) with raw features, none otherwise.
    """

    fields: tuple[Field, ...]
    offsets: Records[LayoutOffsets]
    zeroed: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Length of an observation."""
        return len(self.fields)

    @property
    def low(self) -> NDArray[np.float32]:
        """Lower bounds, shape (size,)."""
        return np.array([field.low for field in self.fields], np.float32)

    @property
    def high(self) -> NDArray[np.float32]:
        """Upper bounds, shape (size,)."""
        return np.array([field.high for field in self.fields], np.float32)

    def set_zeros(self, observations: NDArray[np.float32]) -> None:
        """Set the numbers that are always 0 in observations of shape (k, size), in place."""
        if self.zeroed.size:
            observations[:, self.zeroed] = 0.0

    def named_fields(self, observation: NDArray[np.float32]) -> dict[str, float]:
        """Map field names to the values in an observation of shape (size,).

        Raises:
            ValueError: if the observation has another shape.
        """
        shape = np.shape(observation)
        if shape != (self.size,):
            raise ValueError(f"observation: expected shape ({self.size},), found {shape}")
        return {f.name: float(v) for f, v in zip(self.fields, observation, strict=True)}


def _add_fields(
    record: type, limits: Limits, fields: list[Field], offsets: NDArray[Any], owner: str = ""
) -> None:
    """Append the fields declared by a class, and write their offsets."""
    for name, declared in vars(record).items():
        if isinstance(declared, ObservedNumber):
            added = declared.fields(name, limits)
            offsets[name] = len(fields) if added else -1
            fields += [replace(field, name=owner + field.name) for field in added]


def _add_members(
    record: type, count: int, limits: Limits, fields: list[Field], offsets: Any, owner: str
) -> None:
    """Append the fields of `count` members of the same kind, member by member."""
    members: list[Field] = []
    _add_fields(record, limits, members, offsets)
    offsets["stride"] = len(members)
    fields += [
        replace(field, name=f"{owner} {number} {field.name}")
        for number in numbers_to(count)
        for field in members
    ]


def layout(limits: Limits, features: str = "all") -> Layout:
    """Return the observation layout for these limits.

    Args:
        limits: limits of the spaces.
        features: "all", or "raw" for observations in which expected values are 0.

    Raises:
        ValueError: if `features` has another value.
    """
    if features not in FEATURES:
        raise ValueError(f"features: expected {' or '.join(FEATURES)}, found {features!r}")
    return _layout(limits, features == "raw")


@lru_cache(maxsize=64)
def _layout(limits: Limits, is_raw: bool) -> Layout:
    fields: list[Field] = []
    offsets = new_records(LayoutOffsets, 1)
    _add_fields(LayoutOffsets, limits, fields, np.asarray(offsets))
    for side, army in zip(SIDES, (limits.own, limits.opponent), strict=True):
        for kind, record in KINDS.items():
            offsets[side][f"{kind}s"] = len(fields)
            count = getattr(army, f"{kind}s")
            _add_members(record, count, limits, fields, offsets[f"in_{kind}"], f"{side} {kind}")
        _add_fields(ArmyOffsets, limits, fields, offsets[side], f"{side} ")
    offsets["choices"] = len(fields)
    spells = limits.own.spells
    _add_members(ChoiceOffsets, spells, limits, fields, offsets["in_choice"], "own spell")
    offsets["length"] = len(fields)
    offsets["n_contacts"] = limits.contacts
    offsets["n_units"] = limits.own.units + limits.opponent.units
    zeroed = [k for k, field in enumerate(fields) if is_raw and field.is_expectation]
    for k in zeroed:
        fields[k] = replace(fields[k], low=0.0, high=_ALMOST_ZERO)
    return Layout(tuple(fields), offsets, np.array(zeroed, np.int64))


FIXED_OFFSETS = layout(Limits(ArmyLimits(), ArmyLimits(), dice=1)).offsets
"""Offsets that are the same for all limits, as constants for compiled code. Use only the numbers
before the first optional number of a wizard, spell, item or unit. The others are -1 here or differ
between layouts."""
