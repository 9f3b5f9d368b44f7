"""How the numbers of an observation are written: their scales, and one place of a row."""

from numpy import float32, uint64
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding import layout
from wfb_gym.encoding.layout import LayoutOffsets

Row = NDArray[float32]
"""An observation, shape (size,)."""

# What one of each quantity adds to a number.
DIE = float32(1.0 / layout.DICE.scale)
NUMBER = float32(1.0 / layout.NUMBER.scale)
POINT = 1.0 / layout.POINTS.scale
LEVEL = float32(1.0 / layout.LEVEL.scale)
WOUND = float32(1.0 / layout.WOUNDS.scale)
USE = float32(1.0 / layout.USES.scale)
LOCK = float32(1.0 / layout.LOCK.scale)
BONUS = float32(1.0 / layout.BONUS.scale)
CONTACT = float32(1.0 / layout.CONTACT.scale)
ROW = float32(1.0 / layout.ROW.scale)
PHASE = float32(1.0 / layout.PHASE.scale)
UNIT_WOUND = float32(1.0 / layout.UNIT_WOUNDS.scale)
CODE = float32(1.0 / layout.CODE.scale)
MARK = 1.0 / layout.MARK.scale
MARKER = float32(1.0 / layout.MARKER.scale)
COMET_POINT = float32(1.0 / layout.COMET_POINT.scale)
NATURAL_RESULT = float32(1.0 / 3.0)
ONE = float32(1.0)


@jit
def put(row: Row, field: int, value: float32) -> None:
    """Write one number. An unsigned index is spared the question whether it counts from the end."""
    row[uint64(field)] = value


@jit
def first_spell(at: LayoutOffsets, seat: int, army: int) -> int:
    """Where the spells of an army begin."""
    return int64(at.own.spells if army == seat else at.enemy.spells)
