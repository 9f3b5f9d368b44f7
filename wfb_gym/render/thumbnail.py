"""A small drawing of a battlefield for lists of scenarios: terrain, and a block for each unit."""

from wfb_gym.render.battlefield import draw_battlefield
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.shapes import Shape, extent_of
from wfb_gym.scenario import Scenario

_BLOCKS = ("unit", "character", "wizard")
_KEPT = ("ground", "terrain", *_BLOCKS)


def draw_thumbnail(scenario: Scenario) -> str:
    """Return the start of a battle as a small SVG without names, about 3 kB."""
    drawing = draw_battlefield(scenario, legend=False)
    kept = [shape for shape in drawing.shapes if shape.role in _KEPT and shape.kind != "label"]
    (ground,) = (extent_of(shape.parts) for shape in kept if shape.role == "ground")
    return to_svg(drawing._replace(extent=ground, shapes=tuple(map(_as_block, kept))))


def _as_block(shape: Shape) -> Shape:
    """Replace the models of a unit by one block; keep everything else."""
    if shape.role not in _BLOCKS or not shape.parts:
        return shape
    return shape._replace(parts=(extent_of(shape.parts).corners,), note="", name="", code=None)
