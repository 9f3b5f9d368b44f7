"""Scales for the numbers in an observation, and functions that write into its row."""

from numpy import float32, uint64
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding import fields
from wfb_gym.encoding.fields import LayoutOffsets

Row = NDArray[float32]
"""An observation, shape (size,)."""

# Factors that convert a quantity's unit to the observation's scale.
DIE = float32(1.0 / fields.DICE.scale)
NUMBER = float32(1.0 / fields.NUMBER.scale)
POINT = 1.0 / fields.POINTS.scale
LEVEL = float32(1.0 / fields.LEVEL.scale)
WOUND = float32(1.0 / fields.WOUNDS.scale)
USE = float32(1.0 / fields.USES.scale)
LOCK = float32(1.0 / fields.LOCK.scale)
BONUS = float32(1.0 / fields.BONUS.scale)
CONTACT = float32(1.0 / fields.CONTACT.scale)
ROW = float32(1.0 / fields.ROW.scale)
PHASE = float32(1.0 / fields.PHASE.scale)
UNIT_WOUND = float32(1.0 / fields.UNIT_WOUNDS.scale)
CODE = float32(1.0 / fields.CODE.scale)
MARK = 1.0 / fields.MARK.scale
MARKER = float32(1.0 / fields.MARKER.scale)
COMET_POINT = float32(1.0 / fields.COMET_POINT.scale)
NATURAL_RESULT = float32(1.0 / 3.0)
ONE = float32(1.0)


@jit
def put(row: Row, field: int, value: float32) -> None:
    """Write one number."""
    # Numba checks signed indices for negative values; unsigned ones need no check.
    row[uint64(field)] = value


@jit
def first_spell(at: LayoutOffsets, seat: int, army: int) -> int:
    """Return the offset of an army's first spell."""
    return int64(at.own.spells if army == seat else at.enemy.spells)
