"""Write the victory points in an observation: scored so far, and scored after further losses."""

from numpy import float32

from wfb_gym._jit import int64, jit
from wfb_gym.encoding.fields import ArmyOffsets, LayoutOffsets
from wfb_gym.encoding.rows import POINT, UNIT_WOUND, WOUND, Row, put
from wfb_gym.engine.scoring import (
    points_for_unit,
    points_for_wizard,
    points_of_unit,
    points_of_wizard,
    unit_threshold,
    wizard_threshold,
)
from wfb_gym.engine.state import State
from wfb_gym.packing.records import PackedScenario


@jit(forceinline=False)
def write_static_tally(
    packed: PackedScenario, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    """Write the victory points that the enemy scores for each destroyed unit or character."""
    for w in range(packed.armies[army].n_wizards):
        field = first.wizards + w * at.in_wizard.stride + at.in_wizard.counted_if_lost
        put(row, field, float32(points_of_wizard(packed, army, w, int64(0), False) * POINT))
    if at.n_units:
        for u in range(packed.armies[army].n_units):
            field = first.units + u * at.in_unit.stride + at.in_unit.counted_if_lost
            put(row, field, float32(points_of_unit(packed, army, u, int64(0), False) * POINT))


@jit(forceinline=False)
def write_tally(
    packed: PackedScenario, state: State, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    """Write the enemy's current victory points by unit and character, and wounds until half."""
    in_wizard, in_unit = at.in_wizard, at.in_unit
    for w in range(packed.armies[army].n_wizards):
        field = first.wizards + w * in_wizard.stride
        points = points_for_wizard(packed, state, army, w)
        put(row, field + in_wizard.counted, float32(points * POINT))
        threshold = wizard_threshold(packed, state, army, w)
        if threshold:
            until = float32(int64(state.wounds[army, w]) - threshold)
            put(row, field + in_wizard.wounds_until_half, until * WOUND)
    if at.n_units:
        for u in range(packed.armies[army].n_units):
            field = first.units + u * in_unit.stride
            points = points_for_unit(packed, state, army, u)
            put(row, field + in_unit.counted, float32(points * POINT))
            threshold = unit_threshold(packed, state, army, u)
            if threshold:
                until = float32(int64(state.unit_wounds[army, u]) - threshold)
                put(row, field + in_unit.wounds_until_half, until * UNIT_WOUND)
