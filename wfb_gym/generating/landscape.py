"""The terrain of a generated table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from wfb_gym.generating.deploying import Standing
from wfb_gym.generating.drafts import Troop
from wfb_gym.generating.draws import Draws
from wfb_gym.generating.places import DEPTH, WIDTH, Place, place_around

_MOST = 6
_TRIES = 30
_BETWEEN = 1.0
"""Inches between two features."""
_CLEAR = 0.25
"""Inches from a feature that nobody may stand in to those who stand beside it."""
_TURNS = (0, 0, 0, 15, -15, 30, -30, 45, 60, 90)


class _Kind(NamedTuple):
    """A kind of terrain.

    Attributes:
        name: as a scenario has it.
        weight: how often it comes.
        widths: least and greatest, in inches.
        depths: likewise.
        names: for people.
    """

    name: str
    weight: int
    widths: tuple[float, float]
    depths: tuple[float, float]
    names: tuple[str, ...]


_KINDS = (
    _Kind(
        "wood",
        28,
        (6, 12),
        (4, 8),
        ("Old Wood", "Birch Copse", "Dark Pines", "Oak Grove", "Thorn Brake", "Ash Spinney"),
    ),
    _Kind(
        "hill",
        20,
        (8, 14),
        (5, 7),
        ("Long Hill", "Bald Knoll", "Green Rise", "Gallows Hill", "Barrow", "Windy Down"),
    ),
    _Kind(
        "water",
        12,
        (5, 9),
        (3, 5),
        ("Still Pond", "Black Mere", "Marsh", "Ford", "Reed Pool", "Mill Pond"),
    ),
    _Kind(
        "rocks",
        14,
        (4, 7),
        (3, 5),
        ("Boulders", "Grey Stones", "Scree", "Broken Crag", "Fallen Menhirs", "Flint Field"),
    ),
    _Kind(
        "ruins",
        10,
        (4, 6),
        (4, 5),
        (
            "Ruined Tower",
            "Burnt Farm",
            "Old Shrine",
            "Fallen Keep",
            "Roofless Barn",
            "Old Gatehouse",
        ),
    ),
    _Kind(
        "building", 8, (3, 5), (3, 5), ("Mill", "Farmhouse", "Inn", "Chapel", "Granary", "Smithy")
    ),
    _Kind(
        "wall",
        8,
        (6, 10),
        (0.5, 0.5),
        ("Dry Wall", "Field Wall", "Low Wall", "Boundary", "Sheepfold", "Vineyard Wall"),
    ),
)
"""As many names of a kind as a table has features (all of it ours)."""


def landscape(standing: Sequence[Standing], draws: Draws) -> list[dict[str, Any]]:
    """Terrain around those who stand on the table.

    Woods may lie over units that stand loosely, hills over everybody who does not fight; all else
    is clear of all (ours).

    Args:
        standing: who stands where.
        draws: the choices.

    Returns:
        Tables as a scenario has them, at most six; a feature that finds no place is left out.
    """
    features: list[dict[str, Any]] = []
    taken: list[Place] = []
    for i in range(draws.between(3, _MOST)):
        kind = draws.weighted([(kind, kind.weight) for kind in _KINDS])
        size = draws.inches(*kind.widths), draws.inches(*kind.depths)
        for _ in range(_TRIES):
            facing = draws.pick(_TURNS)
            x = draws.inches(6.0, WIDTH - 6.0)
            # One lies between the lines, if it finds a place there.
            y = draws.inches(20.0, 28.0) if i == 0 else draws.inches(4.0, DEPTH - 4.0)
            place = place_around((x, y), size, facing)
            free = all(place.apart(other, _BETWEEN) for other in taken)
            if free and place.on_table(0.0) and _suits(kind.name, place, standing):
                used = [feature["name"] for feature in features]
                name = draws.pick([name for name in kind.names if name not in used])
                taken.append(place)
                features.append(
                    {
                        "name": name,
                        "kind": kind.name,
                        "position": (x, y),
                        "size": size,
                        "facing": float(facing),
                    }
                )
                break
    return features


def _suits(kind: str, place: Place, standing: Sequence[Standing]) -> bool:
    """Whether nobody stands where he should not."""
    for _, ground, piece in standing:
        if isinstance(piece, Troop):
            hill = kind == "hill" and not piece.engaged
            if hill or (kind == "wood" and piece.skirmish and not piece.engaged):
                continue
        if not place.apart(ground, _CLEAR):
            return False
    return True
