"""All the pieces in a battle, with a cache of everything that is measured on the battlefield.

Without a battlefield, there are only pieces and formations, and shapely is never imported.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wfb_gym.geometry.comets import Comets
from wfb_gym.geometry.formation import Bases, bases_of
from wfb_gym.geometry.pieces import Misplacement, Piece, TerrainPiece
from wfb_gym.geometry.straight_lines import Lines
from wfb_gym.geometry.templates import Placing, place_template

if TYPE_CHECKING:
    from wfb_gym.geometry.polygons import Polygons
    from wfb_gym.geometry.sight import LineOfSight


class Deployment:
    """The pieces in a battle, with cached measurements.

    Without a battlefield, there are no polygons, and every target is in range and in sight.

    Args:
        edition: edition of the rules, "6e" or "7e".
        pieces: pieces by code.
        size: width and depth of the battlefield in inches. None without a battlefield.
        terrain: pieces of terrain.

    Raises:
        ValueError: if a piece on the battlefield has no position.
    """

    def __init__(
        self,
        edition: str,
        pieces: Mapping[int, Piece],
        size: tuple[float, float] | None,
        terrain: Sequence[TerrainPiece] = (),
    ) -> None:
        self.edition = edition
        self.pieces = pieces
        self.size = size
        self.polygons: Polygons | None = None
        if size is not None:
            from wfb_gym.geometry import polygons  # imports shapely

            self.polygons = polygons.Polygons(pieces, terrain)
        self._sights: dict[int, LineOfSight] = {}
        self._reasons: dict[tuple[int, int, int | None], str] = {}
        self._lines: dict[tuple[int, float], Lines] = {}
        self._placings: dict[tuple[int, int, float], Placing] = {}
        self._comets: dict[int, Comets] = {}

    def bases(self, code: int) -> Bases:
        """Return a piece's bases; without a battlefield, only their formation is meaningful."""
        if self.polygons is not None:
            return self.polygons.bases[code]
        return bases_of(self.pieces[code], self.pieces)

    def reason_unseen(self, viewer: int, target: int, ignored: int | None = None) -> str:
        """Return why a character cannot see a target, ignoring one unit, or "" if it can."""
        if self.polygons is None:
            return ""
        key = (viewer, target, ignored)
        if key not in self._reasons:
            sight = self._sight(self.polygons, viewer)
            self._reasons[key] = sight.reason_unseen(target, ignored)
        return self._reasons[key]

    def arc(self, viewer: int) -> Any:
        """Return a character's front arc as a polygon, or None if it sees all round."""
        return None if self.polygons is None else self._sight(self.polygons, viewer).arc

    def _sight(self, polygons: "Polygons", viewer: int) -> "LineOfSight":
        if viewer not in self._sights:
            from wfb_gym.geometry.sight import LineOfSight

            self._sights[viewer] = LineOfSight(polygons, self.pieces[viewer])
        return self._sights[viewer]

    def lines(self, caster: int, length: float) -> Lines:
        """Return the lines of this length that a caster can place; requires a battlefield."""
        if self.polygons is None:
            raise ValueError("expected a battlefield, as a line has no direction without one")
        key = (caster, length)
        if key not in self._lines:
            self._lines[key] = Lines(self.pieces, self.polygons.bases, caster, length)
        return self._lines[key]

    def placing(self, army: int, target: int, diameter: float) -> Placing:
        """Return the best place on a target for a template of this diameter, in inches.

        It touches none of the player's pieces and no pieces in close combat (house rule C.56).
        """
        key = (army, target, diameter)
        if key not in self._placings:
            placed = {} if self.polygons is None else self.polygons.bases
            barred = [
                bases
                for code, bases in placed.items()
                if code != target and (self.pieces[code].army == army or self.pieces[code].engaged)
            ]
            self._placings[key] = place_template(self.bases(target), diameter, barred)
        return self._placings[key]

    def comets(self, army: int) -> Comets:
        """Return the points on which an army's Comets may fall; requires a battlefield."""
        if self.polygons is None or self.size is None:
            raise ValueError("expected a battlefield, as there are no points without one")
        if army not in self._comets:
            self._comets[army] = Comets(self.pieces, self.polygons, army, self.size)
        return self._comets[army]

    def misplacements(self) -> list[Misplacement]:
        """Return the pieces that overlap or leave the battlefield, or none without one."""
        if self.polygons is None or self.size is None:
            return []
        return self.polygons.misplacements(self.size)

    def outlines(self) -> dict[str, dict[str, Any]]:
        """Return all pieces and terrain as shapely polygons, for drawing.

        Returns:
            Nested dicts, keyed by "caster", "dispeller" or "terrain" and then by name. Values are a
            MultiPolygon of a piece's bases, with one polygon per model, or a terrain feature's
            polygon. Empty without a battlefield.
        """
        return {} if self.polygons is None else self.polygons.outlines()
