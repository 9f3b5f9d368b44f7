"""All that is known of one scenario's battlefield, measured once and kept as long as the scenario.

Without a battlefield there are the pieces and their formations, and shapely is never imported.
"""

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING

from wfb_gym.geometry.formation import ROUNDING, Bases, bases_of
from wfb_gym.geometry.lines import Lines
from wfb_gym.geometry.pieces import Piece, roster
from wfb_gym.geometry.reading import Battlefield, Scenario
from wfb_gym.geometry.templates import Placing, place

if TYPE_CHECKING:
    from wfb_gym.geometry.ground import Ground
    from wfb_gym.geometry.sight import Sight

BIG_UNIT = 5
"""Models of a unit near which a lone character is no free target."""
NEAR_UNIT = 5.0
"""Inches that he may be from it."""


class Survey:
    """One scenario's pieces, and what was measured of them so far.

    Attributes:
        edition: of the rules.
        pieces: by code.
        ground: the table; None without a battlefield.
    """

    def __init__(self, scenario: Scenario) -> None:
        """Places the pieces.

        Args:
            scenario: its names are known to resolve, and its pieces to have positions.

        Raises:
            ValueError: a piece on the table has no position.
        """
        self.edition = scenario.ruleset
        self.pieces = roster(scenario)
        table = scenario.battlefield
        self.ground = None if table is None else _ground(table, self.pieces)
        self._sights: dict[int, Sight] = {}
        self._objections: dict[tuple[int, int, tuple[int, ...]], str] = {}
        self._lines: dict[tuple[int, float], Lines] = {}
        self._placings: dict[tuple[int, int, float], Placing] = {}

    def bases(self, code: int) -> Bases:
        """The bases of a piece; without a battlefield only their formation means something."""
        if self.ground is not None:
            return self.ground.bases[code]
        return bases_of(self.pieces[code], self.pieces)

    def unseen(self, viewer: int, target: int, gone: tuple[int, ...] = ()) -> str:
        """Why a character does not see a target, units of `gone` thought away; empty if he does."""
        if self.ground is None:
            return ""
        key = (viewer, target, gone)
        if key not in self._objections:
            if viewer not in self._sights:
                from wfb_gym.geometry.sight import Sight

                self._sights[viewer] = Sight(self.ground, self.pieces[viewer])
            self._objections[key] = self._sights[viewer].objection(target, gone)
        return self._objections[key]

    def lines(self, caster: int, length: float) -> Lines:
        """The lines that a character can send; only on a battlefield."""
        if self.ground is None:
            raise ValueError("without a battlefield a line has no direction")
        key = (caster, length)
        if key not in self._lines:
            self._lines[key] = Lines(self.pieces, self.ground.bases, caster, length)
        return self._lines[key]

    def placing(self, army: int, target: int, diameter: float) -> Placing:
        """Where a player places a template on a target.

        It touches no friend of his and nobody in close combat (ours).

        Args:
            army: his.
            target: a code.
            diameter: of the template, in inches.
        """
        key = (army, target, diameter)
        if key not in self._placings:
            barred = []
            if self.ground is not None:
                barred = [
                    bases
                    for code, bases in self.ground.bases.items()
                    if code != target and (self.pieces[code].army == army or self.engaged(code))
                ]
            self._placings[key] = place(self.bases(target), diameter, barred)
        return self._placings[key]

    def engaged(self, code: int) -> bool:
        """Whether a piece is in close combat."""
        return self.pieces[code].engaged

    def guarded(self, caster: int, target: int, range_inches: float | None) -> str:
        """Why a lone character is no target of shooting in 6e; empty where he is.

        Within 5 inches of a friendly unit of 5 or more models he must be the nearest legal target
        (errata of the 6th edition); of equally near ones he may be picked (ours).

        Args:
            caster: who picks him.
            target: his code; a unit that he stands in is thought away.
            range_inches: of the missile.
        """
        ground, piece = self.ground, self.pieces[target]
        if ground is None or piece.unit or self.edition != "6e":
            return ""
        gone = () if piece.host is None else (piece.host,)
        others = [
            other
            for other in self.pieces.values()
            if other.army == piece.army and other.targetable and other.code not in (target, *gone)
        ]
        guards = [
            other.name
            for other in others
            if other.unit
            and other.models >= BIG_UNIT
            and ground.distance(target, other.code) <= NEAR_UNIT
        ]
        if not guards:
            return ""
        far = ground.distance(caster, target)
        for other in others:
            distance = ground.distance(caster, other.code)
            reached = range_inches is None or distance <= range_inches + ROUNDING
            nearer = distance < far - ROUNDING and reached and not other.engaged
            if nearer and not self.unseen(caster, other.code, gone):
                return f"stands alone within 5 inches of {guards[0]}, and {other.name} is nearer"
        return ""


def _ground(battlefield: Battlefield, pieces: Mapping[int, Piece]) -> "Ground":
    from wfb_gym.geometry.ground import Ground

    return Ground(battlefield, pieces)


_surveys: dict[int, tuple[weakref.ref[Scenario], Survey]] = {}


def survey(scenario: Scenario) -> Survey:
    """The survey of a scenario, made when first asked for."""
    kept = _surveys.get(id(scenario))
    if kept is not None and kept[0]() is scenario:
        return kept[1]
    made = Survey(scenario)
    key = id(scenario)
    _surveys[key] = (weakref.ref(scenario, lambda _: _surveys.pop(key, None)), made)
    return made
