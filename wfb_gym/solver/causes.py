"""What makes a scenario's game large, in its own words: where its positions differ most."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.scenario import Scenario
from wfb_gym.scenario.slots import item_slots

States = NDArray[Any]
Floats = NDArray[np.float64]

_CAST = (
    "number", "node", "mover", "spell", "aim", "cast_item", "reserve", "dice", "attempt",
    "declared", "joined", "target", "natural_result", "row", "cursor", "group", "after_miscast",
    "free", "free_aim", "striking", "strike", "radius", "return_to", "faces", "held",
)  # fmt: skip
_MOST_CAUSES = 4
_LEAST_BITS = 0.3
"""Bits below which a cause is not named."""
_DOMINATES = 0.6
"""Share of the units' bits from which one of them is named alone."""


def causes_of(scenario: Scenario, states: States, weights: Floats) -> tuple[str, ...]:
    """Return in words what sampled positions differ in, the most bits first; at most four.

    Args:
        scenario: whose they are.
        states: some positions of it.
        weights: for how many each of these stands.
    """
    share = weights / weights.sum()
    found: list[tuple[float, str]] = []

    def bits(*fields: str) -> float:
        return sum(_entropy(column, share) for name in fields for column in _columns(states, name))

    def bits_together(*fields: str) -> float:
        """Where one field tells much about another."""
        whole = np.concatenate([_columns(states, name).astype(np.uint64) for name in fields])
        rows = np.ascontiguousarray(whole.T)
        return _entropy(rows.view(f"V{8 * len(whole)}").ravel(), share)

    masks = [states["open"]] + [states["known"][:, army] for army in range(2)]
    spells = [
        (bit, _entropy(masks[0] >> bit & 1, share)) for bit in range(8 * masks[0].dtype.itemsize)
    ]
    varying = sum(each > 0 for _, each in spells)
    found.append((sum(each for _, each in spells), f"the {_spells(varying)} open or not"))

    names = [[unit.name for unit in army.units] for army in scenario.armies]
    units = [
        (_entropy(states["unit_wounds"][:, army, unit], share), name)
        for army in range(2)
        for unit, name in enumerate(names[army])
    ]
    wounds = sum(each for each, _ in units)
    hurt = sorted(pair for pair in units if pair[0] > 0)
    if hurt:
        alone = hurt[-1][0] > _DOMINATES * wounds
        words = hurt[-1][1] if alone else f"{len(hurt)} units"
        found.append((wounds, f"the wounds left of {words}"))

    characters = [
        (each, character.name)
        for army in range(2)
        for index, character in enumerate(scenario.armies[army].characters)
        if (
            each := sum(
                _entropy(states[name][:, army, index], share)
                for name in ("level", "wounds", "lock")
            )
        )
        > 0
    ]
    if characters:
        whom = characters[0][1] if len(characters) == 1 else f"{len(characters)} characters"
        found.append((sum(each for each, _ in characters), f"wounds and levels of {whom}"))

    items = [
        (each, slot.item.name)
        for army in range(2)
        for index, slot in enumerate(item_slots(scenario.armies[army], scenario.catalogue))
        if (each := _entropy(states["items"][:, army, index], share)) > 0
    ]
    if items:
        kinds = dict.fromkeys(name for _, name in items)
        what = f"the {next(iter(kinds))}" if len(kinds) == 1 else f"{len(items)} items"
        found.append((sum(each for each, _ in items), f"uses left of {what}"))

    found += [
        (bits("power", "dispel", "own_dice"), "dice left in the pools"),
        (
            bits_together("in_play", "new_in_play", "attempted", "aims", "markers"),
            "spells in play",
        ),
        (bits("marks"), "marks that spells left on their targets"),
        (bits("contacts"), "models left around the wizards"),
        (bits_together(*_CAST), "the steps of a cast"),
        (bits("phase", "active"), f"the {scenario.phases} phases"),
        (sum(_entropy(mask, share) for mask in masks[1:]), "spells drawn or forgotten"),
    ]
    found = sorted((each for each in found if each[0] > _LEAST_BITS), reverse=True)
    return tuple(words for _, words in found[:_MOST_CAUSES])


def _spells(count: int) -> str:
    return f"{count} spells" if count > 1 else "spell"


def _columns(states: States, name: str) -> NDArray[Any]:
    columns: NDArray[Any] = states[name].reshape(len(states), -1).T
    return columns


def _entropy(values: NDArray[Any], share: Floats) -> float:
    """Return the entropy of the values in bits."""
    _, which = np.unique(values, return_inverse=True)
    probabilities = np.bincount(which, share)
    probabilities = probabilities[probabilities > 0]
    entropy = -(probabilities @ np.log2(probabilities))
    return float(entropy) if len(probabilities) > 1 else 0.0
