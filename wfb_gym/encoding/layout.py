"""Where each number of an observation stands, for limits of one size."""

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
"""What armies consist of, and the numbers of each."""


@dataclass(frozen=True)
class Layout:
    """Names, bounds and offsets of an observation.

    Attributes:
        fields: one entry for each number, in order.
        offsets: where each block and each number in it begins, shape (1,).
    """

    fields: tuple[Field, ...]
    offsets: Records[LayoutOffsets]

    @property
    def size(self) -> int:
        """Length of an observation."""
        return len(self.fields)

    @property
    def low(self) -> NDArray[np.float32]:
        """Least values, shape (size,)."""
        return np.array([field.low for field in self.fields], np.float32)

    @property
    def high(self) -> NDArray[np.float32]:
        """Greatest values, shape (size,)."""
        return np.array([field.high for field in self.fields], np.float32)

    def named_fields(self, observation: NDArray[np.float32]) -> dict[str, float]:
        """Return an observation, shape (size,), as a mapping from field names to values.

        Raises:
            ValueError: the observation has another shape.
        """
        shape = np.shape(observation)
        if shape != (self.size,):
            raise ValueError(f"observation: expected shape ({self.size},), found {shape}")
        return {f.name: float(v) for f, v in zip(self.fields, observation, strict=True)}


def _add_fields(
    record: type, limits: Limits, fields: list[Field], offsets: NDArray[Any], owner: str = ""
) -> None:
    """Append the numbers that a class declares, and write where each of them stands."""
    for name, declared in vars(record).items():
        if isinstance(declared, ObservedNumber):
            added = declared.fields(name, limits)
            offsets[name] = len(fields) if added else -1
            fields += [replace(field, name=owner + field.name) for field in added]


def _add_army(
    side: str, army: ArmyLimits, limits: Limits, fields: list[Field], offsets: Records[Any]
) -> None:
    """Append an army's numbers: its wizards, spells, items, units, and what else it declares."""
    for kind, record in KINDS.items():
        offsets[side][f"{kind}s"] = len(fields)
        count = getattr(army, f"{kind}s")
        _add_members(record, count, limits, fields, offsets[f"in_{kind}"], f"{side} {kind}")
    _add_fields(ArmyOffsets, limits, fields, offsets[side], f"{side} ")


def _add_members(
    record: type, count: int, limits: Limits, fields: list[Field], offsets: Any, owner: str
) -> None:
    """Append the numbers of so many members of a kind, one member after the other."""
    members: list[Field] = []
    _add_fields(record, limits, members, offsets)
    offsets["stride"] = len(members)
    fields += [
        replace(field, name=f"{owner} {number} {field.name}")
        for number in numbers_to(count)
        for field in members
    ]


@lru_cache(maxsize=64)
def layout(limits: Limits) -> Layout:
    """Return the layout of the observations that `limits` size."""
    fields: list[Field] = []
    offsets = new_records(LayoutOffsets, 1)
    _add_fields(LayoutOffsets, limits, fields, np.asarray(offsets))
    for side, army in zip(SIDES, (limits.own, limits.opponent), strict=True):
        _add_army(side, army, limits, fields, offsets)
    offsets["choices"] = len(fields)
    spells = limits.own.spells
    _add_members(ChoiceOffsets, spells, limits, fields, offsets["in_choice"], "own spell")
    offsets["length"] = len(fields)
    offsets["n_contacts"] = limits.contacts
    offsets["n_units"] = limits.own.units + limits.opponent.units
    return Layout(tuple(fields), offsets)


FIXED_OFFSETS = layout(Limits(ArmyLimits(), ArmyLimits(), dice=1)).offsets
"""Offsets that no limits change, as constants for compiled code: the numbers of a wizard, a spell,
an item and a unit before their first optional one. Others are -1 here, or do not hold for every
layout."""
