"""Styles for the shapes on a battlefield."""

from wfb_gym.render import colours
from wfb_gym.render.colours import Colour
from wfb_gym.render.shapes import Shape, Style

_FIXED = {
    "ground": Style(colours.FIELD, colours.LINE, 1.0),
    "reach": Style(colours.SIX, opacity=0.22),
    "range": Style(edge=colours.TURN, width=2.0),
    "arc": Style(edge=colours.TURN, width=2.0, dashes=6.0),
    "touch": Style(),
    "combat": Style(edge=colours.INK, width=2.5),
    "point": Style(edge=colours.INK, width=1.5),
    "scale": Style(edge=colours.INK, width=2.5),
}
"""Styles that depend only on the role."""


def style_of(shape: Shape) -> Style:
    """Return a shape's style."""
    if shape.kind == "label":
        return _style_of_label(shape)
    if shape.role in _FIXED:
        return _FIXED[shape.role]
    army = shape.army or 0
    match shape.role:
        case "terrain":
            return Style(colours.TERRAIN[shape.states[0]], colours.FADED, 0.5)
        case "lost":
            return Style(edge=colours.ARMIES[army], width=0.5, dashes=2.0)
        case "outline":
            edge = colours.TURN if "caster" in shape.states else colours.LEGAL
            return Style(edge=edge, width=3.0)
        case "front":
            return Style(colours.ARMIES[army])
        case "leader":
            return Style(edge=colours.ARMIES[army], width=0.8)
        case "unit" | "character" | "wizard":
            return _style_of_models(shape, army)
        case role:
            raise ValueError(f"role: expected the role of a polygon or line, found {role!r}")


def _style_of_models(shape: Shape, army: int) -> Style:
    fill = colours.UNITS[army]
    if shape.role == "wizard":
        fill = colours.MAGIC
    elif shape.role == "character":
        fill = colours.WHITE
    style = Style(fill, colours.ARMIES[army], 0.7)
    if "fleeing" in shape.states:
        style = style._replace(opacity=0.35, dashes=3.0, width=1.2)
    if "illegal" in shape.states:
        style = style._replace(opacity=style.opacity * 0.4)
    return style


def _ink_of(shape: Shape) -> Colour:
    if "terrain" in shape.states or "illegal" in shape.states or "gone" in shape.states:
        return colours.FADED
    if "legal" in shape.states:
        return colours.LEGAL
    return (
        colours.INK if shape.army is None or shape.role == "point" else colours.ARMIES[shape.army]
    )


def _style_of_label(shape: Shape) -> Style:
    """Return a label's style; names have a background, except names of terrain."""
    is_at_place = shape.role in ("name", "point")
    halo = colours.FIELD if is_at_place and shape.army is not None else None
    return Style(_ink_of(shape), align="middle" if is_at_place else "start", halo=halo)
