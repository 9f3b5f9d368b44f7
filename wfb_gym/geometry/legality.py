"""Whom a spell may be cast at: range, sight, close combat, and what the spell itself asks.

The answers hold for the battle as it begins, but for characters in units, who may come to stand
alone. Dice, casting values and what is in play are not asked here. Lost wounds are not either: a
spell that needs a wounded target is legal for everybody.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wfb_gym.geometry.formation import ROUNDING
from wfb_gym.geometry.pieces import Piece
from wfb_gym.geometry.reading import Scenario
from wfb_gym.geometry.results import SIDE, UNITS, Verdict
from wfb_gym.geometry.survey import Survey, survey

if TYPE_CHECKING:
    from wfb_gym.scenario.effects import Effect

FRONT_REACH = 1.0
"""Inches before a front rank that must be free for a wall of fire."""
AREAS = ("enemy_area", "friendly_area")
_NO_TARGET = ("caster", "player", *AREAS)
_MODELS = ("enemy_model", "friendly_model")
_FRIENDLY = ("friendly_unit", "friendly_model", "friendly_character", "friendly_area")


@dataclass(frozen=True)
class Aim:
    """One character with one spell.

    Attributes:
        survey: of the scenario.
        caster: the character.
        effect: of the spell.
        range_inches: of the spell; None for the whole table.
    """

    survey: Survey
    caster: Piece
    effect: "Effect"
    range_inches: float | None

    @property
    def barred(self) -> str:
        """Why he casts it at nobody at all; empty where he may."""
        who = self.caster
        if who.absent:
            return f"{who.name} is {who.absent}"
        if who.fleeing:
            return f"{who.name} is fleeing"
        if self.effect.caster_engaged and not who.engaged:
            return f"{who.name} is not in close combat"
        if self.effect.missile and who.engaged:
            return f"{who.name} is in close combat, which bars magic missiles"
        return ""

    def candidates(self) -> list[Piece]:
        """Pieces that the spell could be meant for, by code."""
        effect = self.effect
        army = self.caster.army if effect.target in _FRIENDLY else 1 - self.caster.army
        characters = effect.target == "friendly_character"
        return [
            piece
            for piece in self.survey.pieces.values()
            if piece.army == army
            and not (characters and piece.unit)
            and not (piece.focal and not (characters and piece is self.caster))
        ]

    def verdict(self, target: Piece) -> Verdict:
        """Whether the spell may be cast at a piece."""
        if barred := self.barred:
            return Verdict(target.code, False, barred, False)
        if target.absent:
            return Verdict(target.code, False, f"is {target.absent}", False)
        if target.host is None:
            reason = self._conditions(target) or self.situation(target)
            return Verdict(target.code, not reason, reason, False)
        host = self.survey.pieces[target.host]
        if self.effect.target == "friendly_character" and target is self.caster:
            reason = "a Daemon may not leave its unit by magic" if target.focal else ""
            reason = reason or self._conditions(target) or self.situation(target)
            return Verdict(target.code, not reason, reason, False)
        alone = not (self._conditions(target) or self.situation(target))
        if self.effect.target not in _MODELS:
            return Verdict(target.code, False, f"stands in {host.name}", alone)
        reason = self._conditions(target) or self.situation(host)
        return Verdict(target.code, not reason, reason, alone and bool(reason))

    def reached(self) -> list[Piece]:
        """What a spell on an area strikes: units and lone characters (S2, DW)."""
        return [
            piece
            for piece in self.candidates()
            if piece.targetable and not (self._conditions(piece) or self.situation(piece))
        ]

    def _conditions(self, target: Piece) -> str:
        """What the spell asks of the model itself; empty where it is so."""
        effect = self.effect
        if effect.only and target.troop not in effect.only:
            wanted = " or ".join(kind.replace("_", " ") for kind in effect.only)
            return f"is {target.troop.replace('_', ' ')}, not {wanted}"
        for trait in effect.not_on:
            if trait in target.traits:
                return f"is {trait.replace('_', ' ')}, on which it does not work"
        if effect.target == "friendly_character" and target is not self.caster:
            if target.troop != "character":
                return "is not on foot"
        if effect.needs == "fleeing" and not target.fleeing:
            return "is not fleeing"
        if effect.needs == "magic_item" and not target.magic_item:
            return "carries no magic item"
        return ""

    def situation(self, target: Piece) -> str:
        """What the spell asks of where a target stands; empty where it is so.

        Args:
            target: a unit or a character; a unit that he stands in is thought away.
        """
        effect = self.effect
        if effect.engaged == "no" and target.engaged:
            return "is in close combat"
        if effect.engaged == "only" and not target.engaged:
            return "is not in close combat"
        gone = () if target.host is None else (target.host,)
        reason = self._too_far(target) or self._no_front(target)
        if not reason and (effect.sight or effect.missile):
            reason = self.survey.unseen(self.caster.code, target.code, gone)
        if not reason and effect.missile:
            reason = self.survey.guarded(self.caster.code, target.code, self.range_inches)
        return reason or self._no_place(target)

    def _too_far(self, target: Piece) -> str:
        ground = self.survey.ground
        if ground is None:
            return ""
        near, reach, origin = self.effect.near, self.range_inches, "away"
        distance = None
        if near is not None:
            distance, reach = ground.to_terrain(target.code, near.terrain), near.within
            origin = f"from {' or '.join(near.terrain)}"
            if distance is None:
                reach, origin = near.otherwise, f"away, and there is no {' or '.join(near.terrain)}"
        if distance is None:
            distance = ground.distance(self.caster.code, target.code)
        if reach is None or distance <= reach + ROUNDING:
            return ""
        return f"is {distance:.1f} inches {origin}: out of range, which is {reach:g}"

    def _no_front(self, target: Piece) -> str:
        if self.effect.needs != "front_rank":
            return ""
        if not target.unit or target.all_round:
            return "has no front rank"
        ground = self.survey.ground
        close = () if ground is None else ground.in_front(target.code, FRONT_REACH)
        if not close:
            return ""
        return f"has {self.survey.pieces[close[0]].name} within 1 inch of its front rank"

    def _no_place(self, target: Piece) -> str:
        """Why no line and no template reaches it; empty where one does, or none is asked."""
        if self.survey.ground is None:
            return ""
        damage = self.effect.damage
        if self.effect.target == "line":
            assert self.range_inches is not None  # every line has a length
            lines = self.survey.lines(self.caster.code, self.range_inches)
            if lines.through(target.code) is None:
                return f"is reached by no line of {self.range_inches:g} inches past close combat"
        if damage is not None and damage.hits == "template" and damage.template is not None:
            placing = self.survey.placing(self.caster.army, target.code, damage.template)
            if placing.centre is None:
                return "leaves no place for the template that spares friends and close combat"
        return ""


def aim(
    scenario: Scenario, army: int, character: int, effect: "Effect", range_inches: float | None
) -> Aim:
    """A character of a scenario with a spell, as `verdicts` takes them."""
    seen = survey(scenario)
    return Aim(seen, seen.pieces[SIDE * army + UNITS + character], effect, range_inches)


def verdicts(
    scenario: Scenario, army: int, character: int, effect: "Effect", range_inches: float | None
) -> list[Verdict]:
    """Whom a character may cast a spell at, as the battle begins.

    Args:
        scenario: its names resolve; on a battlefield all that is on the table has a position.
        army: 0 for the first army, 1 for the other.
        character: his index among the army's characters.
        effect: of the spell.
        range_inches: of the spell; None for the whole table.

    Returns:
        One verdict without a target for spells on the caster, his player or an area; else one
        for each unit and character of the side that it is meant for, by code.
    """
    aimed = aim(scenario, army, character, effect, range_inches)
    if effect.target in _NO_TARGET:
        return [Verdict(None, not aimed.barred, aimed.barred, False)]
    return [aimed.verdict(piece) for piece in aimed.candidates()]
