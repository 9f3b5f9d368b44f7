"""Write what observations tell of panic: who flees, and what is left until a unit may."""

from numpy import float32
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding import layout
from wfb_gym.encoding.layout import ArmyOffsets, LayoutOffsets
from wfb_gym.engine.morale import leadership
from wfb_gym.engine.state import State
from wfb_gym.engine.targets import flees, models_left
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.morale import models_until_test
from wfb_gym.scenario.sizes import UNITS

LEADERSHIP = float32(1.0 / layout.LEADERSHIP.scale)
MODEL = float32(1.0 / layout.MODELS.scale)


@jit(forceinline=False)
def write_morale(
    packed: PackedScenario,
    state: State,
    army: int,
    at: LayoutOffsets,
    first: ArmyOffsets,
    row: NDArray[float32],
) -> None:
    """Write who of an army flees, and of its units Leadership and losses until a Panic test."""
    for w in range(packed.armies[army].n_wizards):
        if flees(state, army, UNITS + w):
            field = first.wizards + w * at.in_wizard.stride
            row[field + at.in_wizard.flees] = float32(1.0)
            row[field + at.in_wizard.can_cast] = float32(0.0)
    if not at.n_units:
        return
    for u in range(packed.armies[army].n_units):
        field = first.units + u * at.in_unit.stride
        left = models_left(packed, state, army, u)
        began = int64(state.phase_models[army, u])
        row[field + at.in_unit.flees] = float32(flees(state, army, u))
        if left:
            best = float32(leadership(packed, state, army, u))
            row[field + at.in_unit.leadership] = best * LEADERSHIP
        if began:
            row[field + at.in_unit.models_at_start] = float32(began) * MODEL
            until = float32(models_until_test(began, began - left))
            row[field + at.in_unit.models_until_test] = until * MODEL
