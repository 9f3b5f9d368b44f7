"""A spell's legal targets, and the units and characters that it hits.

Checks range, sight, close combat and the spell's conditions at the start of the battle. Characters
in units are also checked as lone models, in case their unit is destroyed. Dice, casting values,
spells in play and lost wounds are ignored, so a spell that requires a wounded target is legal
against any target here. `wfb_gym.rules.damage` computes the damage.
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.comets import Worth
from wfb_gym.geometry.deployment import Deployment
from wfb_gym.geometry.formation import ROUNDING, TOLERANCE, Floats
from wfb_gym.geometry.pieces import INCH, AimRules, Piece, Strike, Verdict
from wfb_gym.geometry.templates import count_each, cover_masks

if TYPE_CHECKING:
    from wfb_gym.geometry.polygons import Polygons

FRONT_REACH = 1.0
"""Distance in front of a front rank that must be free for a wall of fire, in inches."""
BIG_UNIT = 5  # minimum number of models in a unit that protects a lone character near it
NEAR_UNIT = 5.0  # distance within which such a unit protects a lone character, in inches
LARGE_BASE = 40.0 / INCH
"""Minimum shorter side of the base of a model that is larger than a rider, in inches (FAQ)."""
_AREAS = ("enemy_area", "friendly_area")
_NO_TARGET = ("caster", "player", *_AREAS)
_MODELS = ("enemy_model", "friendly_model")
_PICKED = (*_MODELS, "enemy_unit", "friendly_unit", "friendly_character")
_FRIENDLY = ("friendly_unit", "friendly_model", "friendly_character", "friendly_area")


def _is_large(piece: Piece) -> bool:
    """Whether the piece's models are at least as large as Ogres.

    Machines and swarms never are, even on large bases (house rule C.112).
    """
    if piece.troop in ("war_machine", "swarm"):
        return False
    return piece.troop in ("chariot", "monster") or min(piece.base) >= LARGE_BASE - ROUNDING


def _stands_out(character: Piece, around: list[Piece]) -> bool:
    """Whether a character can be singled out among these units (RE rulebook/characters_shooting).

    True if it is mounted and they are all infantry, or if it is much larger than all of them.
    """
    if character.troop == "cavalry" and all(unit.troop == "infantry" for unit in around):
        return True
    return _is_large(character) and not any(_is_large(unit) for unit in around)


@dataclass(frozen=True)
class Aim:
    """The targets of a character's spell.

    Attributes:
        deployment: the positions of all pieces.
        caster: the character.
        rules: the spell's targeting rules.
        flight_moves: whether units may start or stop fleeing during the battle. If so, the checks
            ignore whether the caster or a picked target is fleeing.
    """

    deployment: Deployment
    caster: Piece
    rules: AimRules
    flight_moves: bool = False

    def verdicts(self) -> list[Verdict]:
        """Return whether each possible target is legal at the start of the battle.

        Returns:
            A single verdict without a target for spells on the caster, its player or an area.
            Otherwise, one for each unit and character on the targeted side, in code order.
        """
        if self.rules.target in _NO_TARGET:
            reason, legal = self._reason_not_cast, not self._reason_not_cast
            if legal and self.rules.target in _AREAS and not self.strikes(None):
                legal = self.rules.hits is None
                reason = "may be cast, but hits nothing" if legal else "no target in reach"
            return [Verdict(None, legal, reason, False)]
        found = []
        for target in self._candidates():
            reason, alone = self._judge(target)
            found.append(Verdict(target.code, not reason, reason, alone))
        return found

    def _judge(self, target: Piece) -> tuple[str, bool]:
        """Return why a piece is not a legal target, and whether it becomes one as a lone model."""
        reason = self._reason_not_cast or (f"is {target.absent}" if target.absent else "")
        if reason:
            return reason, False
        if target.host is None:
            return self._reason_against(target, target), False
        if self.rules.target == "friendly_character" and target is self.caster:
            reason = "a Daemon may not leave its unit by magic" if target.is_focal else ""
            return reason or self._reason_against(target, target), False
        alone = not self._reason_against(target, target)
        host = self.deployment.pieces[target.host]
        if self.rules.target not in _MODELS:
            return f"is in {host.name}", alone
        reason = self._reason_against(target, host)
        return reason, alone and bool(reason)

    @property
    def falls_on_point(self) -> bool:
        """Whether the spell is a Comet aimed at a point on the battlefield."""
        return self.rules.target == "point" and self.deployment.polygons is not None

    def points(self, worth: Worth) -> NDArray[np.int64]:
        """Return the points on the battlefield at which a Comet may be aimed.

        Args:
            worth: a Comet's expected points, given the place where it falls.

        Returns:
            Indices into `Deployment.comets` of the points selected by `Comets.choose` for the legal
            targets in `verdicts`, shape (n,).
        """
        polygons, most = self.deployment.polygons, self.rules.range_inches

        def beyond(places: Floats) -> Floats:
            if polygons is None or most is None:
                return np.full(len(places), -np.inf)
            return polygons.distances_from(places, self.caster.code) - most

        near = [verdict.target for verdict in self.verdicts() if verdict.legal]
        comets = self.deployment.comets(self.caster.army)
        return comets.choose(worth, beyond, [target for target in near if target is not None])

    def strikes(self, target: int | None) -> list[Strike]:
        """Return the units and characters that the spell hits.

        Args:
            target: code of a target that is legal in `verdicts`, either now or as a lone model.
                None if the verdict has no target, or for a Comet aimed at a point.

        Returns:
            A strike per victim, in code order. A spell on the caster strikes the caster. A Comet
            has a strike for each piece that it can reach. Empty for a spell on the player, or if
            the caster cannot cast.

        Raises:
            ValueError: if the spell needs a target.
        """
        rules = self.rules
        if self._reason_not_cast or rules.target == "player":
            return []
        if rules.target == "caster":
            return [self._strike(self.caster)]
        if rules.target in _AREAS:
            return [  # units and lone characters (S2, DW)
                self._strike(piece)
                for piece in self._candidates()
                if piece.is_targetable and not self._reason_against(piece, piece)
            ]
        if self.falls_on_point:
            around = self.deployment.comets(self.caster.army).codes
            return [self._strike(self.deployment.pieces[code]) for code in around]
        if target is None:
            raise ValueError(f"expected a target for a spell at {rules.target}, found none")
        piece = self.deployment.pieces[target]
        if rules.target == "line":
            return self._strikes_on_line(piece)
        if rules.hits == "template":
            return self._strikes_under_template(piece)
        if rules.hits in ("front_rank", "every_model"):
            return self._strikes_on_each(piece)
        return [self._strike(piece)]

    @property
    def _reason_not_cast(self) -> str:
        """Return why the character cannot cast the spell at any target, or "" if it can."""
        who = self.caster
        if who.absent:
            return f"{who.name} is {who.absent}"
        if who.fleeing and not self.flight_moves:
            return f"{who.name} is fleeing"
        if self.rules.caster_engaged and not who.engaged:
            return f"{who.name} is not in close combat"
        if self.rules.missile and who.engaged:
            return f"{who.name} is in close combat, which bars magic missiles"
        return ""

    def _candidates(self) -> list[Piece]:
        """Return the pieces of the kind and army targeted by the spell, in code order."""
        target = self.rules.target
        army = self.caster.army if target in _FRIENDLY else 1 - self.caster.army
        characters = target == "friendly_character"
        return [
            piece
            for piece in self.deployment.pieces.values()
            if piece.army == army
            and not (characters and piece.is_unit)
            and not (piece.is_focal and not (characters and piece is self.caster))
        ]

    def _reason_against(self, target: Piece, place: Piece) -> str:
        """Return why a target at the position of `place` is not legal, or "" if it is."""
        return self._reason_by_kind(target) or self._reason_by_place(place)

    def _reason_by_kind(self, target: Piece) -> str:
        """Return the condition of the spell that the target fails, or "" if it meets them all."""
        rules = self.rules
        if rules.only and target.troop not in rules.only:
            wanted = " or ".join(kind.replace("_", " ") for kind in rules.only)
            return f"is {target.troop.replace('_', ' ')}, not {wanted}"
        for trait in rules.not_on:
            if trait in target.traits:
                return f"is {trait.replace('_', ' ')}, so the spell has no effect"
        if rules.target == "friendly_character" and target is not self.caster:
            if target.troop != "character":
                return "is not on foot"
        if rules.needs == "fleeing" and not target.fleeing:
            if not (self.flight_moves and rules.target in _PICKED):
                return "is not fleeing"
        if rules.needs == "magic_item" and not target.magic_item:
            return "carries no magic item"
        return ""

    def _reason_by_place(self, target: Piece) -> str:
        """Return why a piece's position is not legal, or "" if it is."""
        rules = self.rules
        if rules.engaged == "no" and target.engaged:
            return "is in close combat"
        if rules.engaged == "only" and not target.engaged:
            return "is not in close combat"
        reason = self._reason_by_range(target) or self._reason_by_front(target)
        if not reason and (rules.sight or rules.missile):
            reason = self.deployment.reason_unseen(self.caster.code, target.code, target.host)
        if not reason and rules.missile:
            reason = self._reason_by_guards(target)
        return reason or self._reason_by_shape(target)

    def _reason_by_range(self, target: Piece) -> str:
        polygons, near = self.deployment.polygons, self.rules.near
        if polygons is None:
            return ""
        reach, kinds = self._range_and_origin(polygons)
        if kinds:
            distance, origin = polygons.distance_to_terrain(target.code, kinds), "from "
            origin += " or ".join(kinds)
        else:
            distance, origin = polygons.distance(self.caster.code, target.code), "away"
            if near is not None:
                origin += f", and there is no {' or '.join(near.kinds)}"
        if reach is None or distance <= reach + ROUNDING:
            return ""
        return f"is {distance:.1f} inches {origin}: out of range ({reach:g} inches)"

    def _range_and_origin(self, polygons: "Polygons") -> tuple[float | None, tuple[str, ...]]:
        """Return the range and the kinds of terrain it is measured from; if none, the caster."""
        near = self.rules.near
        if near is None:
            return self.rules.range_inches, ()
        if any(terrain.kind in near.kinds for terrain, _ in polygons.features):
            return near.within, near.kinds
        return near.otherwise, ()

    def ground_in_range(self) -> Any:
        """Return the area in range as a shapely polygon, or None if there is no limit or map."""
        polygons = self.deployment.polygons
        if polygons is None or self.caster.absent:
            return None
        reach, kinds = self._range_and_origin(polygons)
        return None if reach is None else polygons.ground_within(reach, self.caster.code, kinds)

    def ground_in_arc(self) -> Any:
        """Return the caster's arc of sight as a shapely polygon, or None if not required."""
        if self.caster.absent or not (self.rules.sight or self.rules.missile):
            return None
        return self.deployment.arc(self.caster.code)

    def _reason_by_front(self, target: Piece) -> str:
        """Return why a wall of fire has no free front rank, or "" if it has one or needs none."""
        if self.rules.needs != "front_rank":
            return ""
        if not target.is_unit or target.all_round:
            return "has no front rank"
        polygons = self.deployment.polygons
        near = None if polygons is None else polygons.piece_in_front(target.code, FRONT_REACH)
        if near is None:
            return ""
        return f"has {self.deployment.pieces[near].name} within 1 inch of its front rank"

    def _reason_by_guards(self, target: Piece) -> str:
        """Return why a lone character is not a legal shooting target in 6e, or "" if it is.

        If it is within 5 inches of a friendly unit of 5 or more models, it must be the nearest
        legal target (errata for the 6th edition); ties are legal (house rule C.53). A character
        that can be singled out among all units within 5 inches is always legal. Its own unit is
        ignored.
        """
        polygons = self.deployment.polygons
        if polygons is None or target.is_unit or self.deployment.edition != "6e":
            return ""
        others = [
            other
            for other in self.deployment.pieces.values()
            if other.army == target.army
            and other.is_targetable
            and other.code not in (target.code, target.host)
        ]
        around = [
            other
            for other in others
            if other.is_unit and polygons.distance(target.code, other.code) <= NEAR_UNIT
        ]
        guards = [other.name for other in around if other.models >= BIG_UNIT]
        if not guards or _stands_out(target, around):
            return ""
        reach = inf if self.rules.range_inches is None else self.rules.range_inches
        caster = self.caster.code
        far = polygons.distance(caster, target.code)
        for other in others:
            distance = polygons.distance(caster, other.code)
            if distance < far - ROUNDING and distance <= reach + ROUNDING and not other.engaged:
                if not self.deployment.reason_unseen(caster, other.code, target.host):
                    near = f"{guards[0]}, and {other.name} is nearer"
                    return f"is a lone character within 5 inches of {near}"
        return ""

    def _reason_by_shape(self, target: Piece) -> str:
        """Return why no line or template reaches the target, or "" if one does or is not needed."""
        rules, deployment = self.rules, self.deployment
        if deployment.polygons is None:
            return ""
        if rules.target == "line":
            assert rules.range_inches is not None  # every line has a length
            if not deployment.lines(self.caster.code, rules.range_inches).through(target.code):
                return f"has no line of {rules.range_inches:g} inches that avoids close combat"
        if rules.template is not None:
            if deployment.placing(self.caster.army, target.code, rules.template).centre is None:
                return "has no place for a template that avoids friends and close combat"
        return ""

    def _strike(self, piece: Piece) -> Strike:
        """Return a strike whose number of hits is determined by the spell."""
        polygons, near = self.deployment.polygons, self.rules.near
        if polygons is None or near is None:
            return Strike(piece.code)
        distance = polygons.distance_to_terrain(piece.code, near.kinds)
        return Strike(piece.code, touches=distance <= TOLERANCE)

    def _strikes_on_each(self, target: Piece) -> list[Strike]:
        """Return strikes on the models and characters in the front rank, or in the whole unit."""
        places = target.models
        if self.rules.hits == "front_rank":
            places = max(0, target.frontage - len(target.joined))
        hits = tuple(min(n, places) for n in range(target.models + 1))
        found = [self._strike(target)._replace(hits=hits)]
        for code in target.joined:
            found.append(self._strike(self.deployment.pieces[code])._replace(hits=(0, 1)))
        return found

    def _strikes_on_line(self, target: Piece) -> list[Strike]:
        """Return strikes along the best line; without a battlefield, on one model per rank."""
        if self.deployment.polygons is None:
            hits = tuple(-(-n // target.frontage) for n in range(target.models + 1))
            return [self._strike(target)._replace(hits=hits)]
        assert self.rules.range_inches is not None  # every line has a length
        lines = self.deployment.lines(self.caster.code, self.rules.range_inches)
        struck = sorted(lines.through(target.code).items())
        return [Strike(code, count_each(mask)) for code, mask in struck]

    def _strikes_under_template(self, target: Piece) -> list[Strike]:
        """Return strikes on all models under a template in its best place on a target."""
        diameter, partial = self.rules.template, self.rules.partial
        assert diameter is not None  # every template has a size
        placing = self.deployment.placing(self.caster.army, target.code, diameter)
        found = [Strike(target.code, placing.hits, placing.partial if partial else None)]
        polygons = self.deployment.polygons
        if polygons is None or placing.centre is None:
            return found
        for code, bases in polygons.bases.items():
            piece = self.deployment.pieces[code]
            if piece is target or piece.is_focal or piece.army == self.caster.army:
                continue
            masks = cover_masks(placing.centre[None], diameter / 2, bases)
            wholly, partly = (mask[0] for mask in masks)
            if wholly.any() or (partial and partly.any()):
                some = count_each(partly) if partial else None
                found.append(Strike(code, count_each(wholly), some))
        return sorted(found, key=lambda strike: strike.victim)
