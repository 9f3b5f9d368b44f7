"""How dice are drawn: where the pips go, and which dice to highlight."""

from wfb_gym.engine.nodes import CASTING_ROLLS, DISPEL_ROLLS
from wfb_gym.engine.state import Node
from wfb_gym.rules.dice import FACES, double
from wfb_gym.view.events import Event

_LOW, _MID, _HIGH = 6.5 / 24, 0.5, 17.5 / 24
_CORNERS = ((_LOW, _LOW), (_HIGH, _HIGH))
_OTHERS = ((_HIGH, _LOW), (_LOW, _HIGH))
_SIDES = ((_LOW, _MID), (_HIGH, _MID))
_CENTRE = ((_MID, _MID),)
PIPS = {
    1: _CENTRE,
    2: _CORNERS,
    3: _CORNERS + _CENTRE,
    4: _CORNERS + _OTHERS,
    5: _CORNERS + _OTHERS + _CENTRE,
    FACES: _CORNERS + _OTHERS + _SIDES,
}
"""Pip centres for each face of a die of width 1."""


def doubled(event: Event) -> set[int]:
    """Return the faces that form a significant double: 6s in casts and dispels, 1s in casts."""
    node: Node = event.node
    marks = {1, FACES} if node in CASTING_ROLLS else {FACES} if node in DISPEL_ROLLS else set()
    return {face for face in marks if double(event.faces.count(face))}
