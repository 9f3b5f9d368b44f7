"""Write the expected points of spells by target, and the targets' Magic Resistance."""

from numpy import float32

from wfb_gym._jit import int64, jit
from wfb_gym.encoding.fields import LayoutOffsets
from wfb_gym.encoding.rows import DIE, ONE, POINT, Row, put
from wfb_gym.engine.queries import lowest_bit, opponent_of
from wfb_gym.engine.spell_values import expected_points_at
from wfb_gym.engine.state import Node, State
from wfb_gym.engine.targets import (
    army_of,
    can_aim,
    index_of,
    target_code,
    target_resistance,
    unit_stands,
)
from wfb_gym.packing.records import FIRST_POINT, PackedScenario
from wfb_gym.scenario import sizes
from wfb_gym.scenario.sizes import UNITS, WIZARDS


@jit(forceinline=False)
def write_shared_resistance(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write the Magic Resistance that a character shares with its unit."""
    in_unit, in_wizard = at.in_unit, at.in_wizard
    for army in range(sizes.ARMIES):
        first = at.own if army == seat else at.enemy
        for w in range(packed.armies[army].n_wizards):
            unit = int64(packed.armies[army].wizards[w].unit) - 1
            if unit >= 0 and state.wounds[army, w] > 0 and unit_stands(state, army, unit):
                shared = float32(target_resistance(packed, state, army, unit)) * DIE
                unit_field = first.units + unit * in_unit.stride + in_unit.magic_resistance
                field = first.wizards + w * in_wizard.stride + in_wizard.magic_resistance
                put(row, unit_field, shared)
                put(row, field, shared)


@jit
def spells_to_choose(packed: PackedScenario, state: State, seat: int) -> int:
    """Return a bit mask of the spells that the seat can choose from now, or 0 if there are none."""
    if state.mover != seat:
        return int64(0)
    if state.node == Node.NOMINATE:
        return int64(state.castable)
    if state.node == Node.FREE_SPELL:
        return int64(state.known[seat])
    if state.node == Node.SWAP_SPELL:
        return int64(packed.armies[seat].wizards[state.cursor % WIZARDS].spells)
    return int64(0)


@jit(forceinline=False)
def write_choices(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write the expected points of each spell that can be chosen now, by target."""
    army = int64(seat)
    spells = spells_to_choose(packed, state, army)
    if not spells:
        return
    first, stride = at.choices, at.in_choice.stride
    at_unit, at_wizard = at.in_choice.at_unit, at.in_choice.at_wizard
    left = int64(spells)
    while left:
        s = lowest_bit(left)
        left &= left - 1
        if packed.armies[army].spells[s].landing >= 0:
            continue
        for aim in range(packed.armies[army].spells[s].n_aims):
            code = target_code(packed, army, s, aim)
            if code and can_aim(packed, state, army, s, aim):
                index = index_of(code)
                place = at_unit + index if index < UNITS else at_wizard + index - UNITS
                points = expected_points_at(packed, state, army, s, aim, 0.0)
                put(row, first + s * stride + place, float32(points * POINT))


@jit(forceinline=False)
def write_aims(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write the targets and expected points of the pending spells, or of each legal aim."""
    if state.node == Node.TARGET:
        army = int64(state.mover)
        spell = int64(state.free - 1) if state.free else int64(state.spell - 1)
        for aim in range(packed.armies[army].spells[spell].n_aims):
            if can_aim(packed, state, army, spell, aim):
                _write_expected_points(packed, state, army, spell, aim, seat, at, row)
    for side in range(sizes.ARMIES):
        army = int64(state.active) if side == 0 else opponent_of(state.active)
        spell = int64(state.spell - 1) if side == 0 else int64(state.free - 1)
        aim = int64(state.aim - 1) if side == 0 else int64(state.free_aim - 1)
        if aim >= 0:
            aimed_at = _write_expected_points(packed, state, army, spell, aim, seat, at, row)
            if aimed_at >= 0:
                row[aimed_at] += ONE if side == 0 else float32(0.5)


@jit
def _write_expected_points(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    aim: int,
    seat: int,
    at: LayoutOffsets,
    row: Row,
) -> int:
    """Write an aim's expected points; return the offset of its target's `aimed at`, or -1."""
    code = target_code(packed, army, spell, aim)
    if code == 0 or code >= FIRST_POINT:
        return -1
    first = at.own if army_of(army, code) == seat else at.enemy
    index = index_of(code)
    if index < UNITS:
        field = first.units + index * at.in_unit.stride
        aimed_at, expected = field + at.in_unit.aimed_at, field + at.in_unit.expected_points
    else:
        field = first.wizards + (index - UNITS) * at.in_wizard.stride
        aimed_at, expected = field + at.in_wizard.aimed_at, field + at.in_wizard.expected_points
    points = expected_points_at(packed, state, army, spell, aim, 0.0)
    put(row, expected, float32(points * POINT))
    return int64(aimed_at)
