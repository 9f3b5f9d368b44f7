"""Write the Comets in an observation: markers, points and expected points."""

from numpy import float32

from wfb_gym._intrinsics import stack_floats
from wfb_gym._jit import int64, jit
from wfb_gym.encoding.fields import ArmyOffsets, LayoutOffsets
from wfb_gym.encoding.rows import COMET_POINT, MARKER, POINT, Row, put
from wfb_gym.encoding.spell_values import spells_to_choose
from wfb_gym.engine.queries import bit
from wfb_gym.engine.spell_values import (
    expected_points,
    expected_points_at,
    expected_points_at_comet_points,
    expected_points_in_play,
)
from wfb_gym.engine.state import Node, State
from wfb_gym.engine.targets import can_aim, target_code
from wfb_gym.packing.records import FIRST_POINT, Duration, PackedScenario
from wfb_gym.scenario.sizes import POINTS


@jit(forceinline=False)
def write_comets(
    packed: PackedScenario, state: State, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    """Write the markers, target points and expected points of an army's Comets."""
    for w in range(packed.armies[army].n_wizards):
        field = first.wizards + w * at.in_wizard.stride + at.in_wizard.markers
        put(row, field, float32(state.markers[army, w]) * MARKER)
    for s in range(packed.armies[army].n_spells):
        if packed.armies[army].spells[s].duration == Duration.DELAYED:
            aim = _aim_of(state, army, s)
            if state.in_play[army] & bit(s):
                points = expected_points_in_play(packed, state, army, s, 0.0)
            elif aim >= 0:
                points = expected_points_at(packed, state, army, s, aim, 0.0)
            else:
                points = expected_points(packed, state, army, s, 0.0)
            field = first.spells + s * at.in_spell.stride + at.in_spell.worth
            put(row, field, float32(points * POINT))
            if aim >= 0 and at.in_wizard.comet_point >= 0:
                code = target_code(packed, army, s, aim)
                if code >= FIRST_POINT:
                    wizard = int64(packed.armies[army].spells[s].wizard)
                    field = first.wizards + wizard * at.in_wizard.stride
                    number = float32(code - FIRST_POINT + 1) * COMET_POINT
                    put(row, field + at.in_wizard.comet_point, number)


@jit
def _aim_of(state: State, army: int, spell: int) -> int:
    """Return the aim of a Comet that is in play or being cast, or -1 if there is none."""
    if state.aims[army, spell]:
        return int64(state.aims[army, spell] - 1)
    if army == state.active:
        return int64(state.aim - 1) if state.spell == spell + 1 else int64(-1)
    return int64(state.free_aim - 1) if state.free == spell + 1 else int64(-1)


@jit(forceinline=False)
def write_points(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write the expected points of the seat's next Comet to aim or choose, by target point."""
    army = int64(seat)
    spells = spells_to_choose(packed, state, army)
    if state.node == Node.TARGET and state.mover == seat:
        spells = bit(int64(state.free - 1) if state.free else int64(state.spell - 1))
    values = stack_floats(POINTS)
    for s in range(packed.armies[army].n_spells):
        if spells & bit(s) and packed.armies[army].spells[s].landing >= 0:
            if can_aim(packed, state, army, s, int64(0)):
                count = expected_points_at_comet_points(packed, state, army, s, 0.0, values)
                for aim in range(count):
                    number = target_code(packed, army, s, aim) - FIRST_POINT
                    put(row, at.comet_at_point + number, float32(values[aim] * POINT))
            return
