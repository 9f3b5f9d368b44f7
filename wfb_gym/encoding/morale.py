"""Write the morale numbers in an observation: fleeing, Leadership and losses until a Panic test."""

from numpy import float32

from wfb_gym._jit import int64, jit
from wfb_gym.encoding import fields
from wfb_gym.encoding.fields import ArmyOffsets, LayoutOffsets
from wfb_gym.encoding.rows import ONE, Row, put
from wfb_gym.engine.state import State
from wfb_gym.engine.targets import flees, models_left, unit_stands
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.morale import models_until_test
from wfb_gym.scenario.sizes import UNITS

LEADERSHIP = float32(1.0 / fields.LEADERSHIP.scale)
MODEL = float32(1.0 / fields.MODELS.scale)


@jit(forceinline=False)
def write_morale(
    packed: PackedScenario, state: State, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    """Write an army's fleeing units and characters, Leadership and losses until a Panic test."""
    in_wizard, in_unit = at.in_wizard, at.in_unit
    if state.fleeing[army]:
        for w in range(packed.armies[army].n_wizards):
            if flees(state, army, UNITS + w):
                field = first.wizards + w * in_wizard.stride
                put(row, field + in_wizard.flees, ONE)
                put(row, field + in_wizard.can_cast, float32(0.0))
    if not at.n_units:
        return
    for u in range(packed.armies[army].n_units):
        field = first.units + u * in_unit.stride
        began = int64(state.phase_models[army, u])
        put(row, field + in_unit.flees, float32(flees(state, army, u)))
        if unit_stands(state, army, u):
            best = float32(packed.armies[army].units[u].leadership)
            put(row, field + in_unit.leadership, best * LEADERSHIP)
        if began:
            left = models_left(packed, state, army, u)
            put(row, field + in_unit.models_at_start, float32(began) * MODEL)
            until = float32(models_until_test(began, began - left))
            put(row, field + in_unit.models_until_test, until * MODEL)
    for w in range(packed.armies[army].n_wizards):  # the highest may be a character's
        unit = int64(packed.armies[army].wizards[w].unit) - 1
        if unit >= 0 and state.wounds[army, w] > 0 and unit_stands(state, army, unit):
            field = first.units + unit * in_unit.stride + in_unit.leadership
            own = float32(packed.armies[army].wizards[w].leadership) * LEADERSHIP
            put(row, field, max(row[field], own))
