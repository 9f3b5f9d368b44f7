"""The table as a whole: what stands wrongly on it, and its outlines for pictures."""

from typing import TYPE_CHECKING, Any

from wfb_gym.geometry.formation import TOLERANCE, blocks_of, rectangles
from wfb_gym.geometry.pieces import Piece
from wfb_gym.geometry.reading import Scenario
from wfb_gym.geometry.survey import survey
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from wfb_gym.geometry.ground import Ground
    from wfb_gym.scenario.errors import Problem


def placement_problems(scenario: Scenario) -> list["Problem"]:
    """Pieces that overlap, or stand off the table in part.

    Touching is no overlap, nor is less than 0.01 inches. A character in a unit stands where the
    unit does and is not looked at.

    Args:
        scenario: its names resolve, and all that is on the table has a position.

    Returns:
        A problem for each piece off the table and each two that overlap; its key is the later
        one's position. Empty without a battlefield.

    Raises:
        ValueError: a piece on the table has no position.
    """
    from wfb_gym.scenario.errors import Problem

    battlefield, ground = scenario.battlefield, survey(scenario).ground
    if battlefield is None or ground is None:
        return []
    pieces = [piece for piece in ground.pieces.values() if piece.targetable]
    problems = []
    for piece in pieces:
        x0, y0, x1, y1 = (float(edge) for edge in ground.footprints[piece.code].bounds)
        beyond = max(-x0, -y0, x1 - battlefield.width, y1 - battlefield.depth)
        if beyond > TOLERANCE:
            found = f"{beyond:.2f} inches of {piece.name} off the table"
            problems.append(Problem(f"{piece.key}.position", "a place on the table", found))
    for piece, other in _overlaps(ground, pieces):
        found = f"{piece.name} over {other.name} ({other.key})"
        problems.append(Problem(f"{piece.key}.position", "a place that is free", found))
    return problems


def _overlaps(ground: "Ground", pieces: list[Piece]) -> list[tuple[Piece, Piece]]:
    """Each two pieces that overlap, the later one first."""
    from wfb_gym.geometry.shapes import shapely

    shapes = []
    for piece in pieces:
        frame = ground.bases[piece.code].frame
        blocks = rectangles(frame, blocks_of(piece), TOLERANCE / 2)
        shapes.append(shapely.multipolygons(shapely.polygons(blocks)))
    return [
        (piece, other)
        for i, piece in enumerate(pieces)
        for other, shape in zip(pieces[:i], shapes, strict=False)
        if shapely.intersects(shapes[i], shape)
    ]


def outlines(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """What stands on the table as shapely polygons, for pictures.

    Args:
        scenario: as for `placement_problems`.

    Returns:
        By "caster", "dispeller" and "terrain", then by name: a MultiPolygon of the bases, one
        polygon a model, or the polygon of a piece of terrain. Empty without a battlefield.
    """
    ground = survey(scenario).ground
    if ground is None:
        return {}
    from wfb_gym.geometry.shapes import shapely

    found: dict[str, dict[str, Any]] = {key: {} for key in (*SEATS, "terrain")}
    for code, bases in ground.bases.items():
        piece = ground.pieces[code]
        shape = shapely.multipolygons(shapely.polygons(bases.corners()))
        found[SEATS[piece.army]][piece.name] = shape
    found["terrain"] = {feature.name: feature.shape for feature in ground.features}
    return found
