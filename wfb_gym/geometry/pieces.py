"""Plain records for geometry: pieces, terrain, targeting rules, verdicts and strikes.

`wfb_gym.scenario.battlefield` builds them from a scenario.
"""

from dataclasses import dataclass
from typing import NamedTuple

INCH = 25.4  # millimetres in an inch


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit or a character."""

    code: int  # unique on the battlefield; the first army has the lower codes
    army: int
    key: str  # its key in the scenario document
    name: str  # unique in the army
    is_unit: bool
    models: int  # 1 for a character
    frontage: int  # models in the front rank
    base: tuple[float, float]  # width and depth of one base, in inches
    points: float  # per model
    # middle of its front edge, in inches; None if it is in a unit or off the battlefield
    position: tuple[float, float] | None
    facing: float  # degrees clockwise from the y axis
    troop: str  # troop type of its models
    traits: frozenset[str]  # traits that spells check
    engaged: bool  # whether it, its unit or a character in it is in close combat
    fleeing: bool  # whether it or its unit is fleeing
    all_round: bool  # sees all round: skirmishers, single models and lone characters
    magic_item: bool  # whether it or a character in it carries a magic item
    absent: str = ""  # "dead" or "off the table"; empty if it is on the battlefield
    host: int | None = None  # code of the unit that a character is in, or None
    is_focal: bool = False  # whether the character is its unit: a focal model of Daemons
    joined: tuple[int, ...] = ()  # codes of characters in the unit, excluding focal models

    @property
    def is_targetable(self) -> bool:
        """Whether it can be targeted separately: a unit, or a lone character."""
        return not self.absent and self.host is None


class TerrainPiece(NamedTuple):
    """A rectangular piece of terrain."""

    name: str
    kind: str  # e.g. wood or hill
    position: tuple[float, float]  # centre, in inches
    size: tuple[float, float]  # width and depth in inches, before rotation
    facing: float  # rotation in degrees clockwise
    blocks_sight: bool  # whether it blocks lines of sight


class NearTerrain(NamedTuple):
    """Terrain from which a spell's range is measured."""

    kinds: tuple[str, ...]  # suitable kinds of terrain
    within: float  # distance from such terrain, in inches
    otherwise: float  # distance from the caster if there is no such terrain, in inches


class AimRules(NamedTuple):
    """A spell's targeting rules: conditions on caster and target, and the models that it hits.

    Fields have the same values as in `wfb_gym.scenario.effects.SpellEffect`.
    """

    target: str  # kind of target
    range_inches: float | None  # from the caster; None for the whole battlefield
    sight: bool  # the caster must see the target
    missile: bool  # the spell is a magic missile
    engaged: str  # whether the target must be in close combat: "no", "only" or "either"
    caster_engaged: bool  # the caster must be in close combat
    only: tuple[str, ...]  # legal troop types; empty for all
    not_on: tuple[str, ...]  # traits that make a target illegal
    needs: str | None  # another condition on the target
    near: NearTerrain | None
    hits: str | None  # dice for the number of hits, or which models are hit; None without damage
    template: float | None  # diameter of the template in inches; None without a template
    partial: bool  # whether models that the template only touches may be hit


class Verdict(NamedTuple):
    """Whether a target is legal for a spell."""

    target: int | None  # code; None for spells on the caster, its player or an area
    legal: bool
    reason: str  # why it is not legal, in words; empty if it is
    alone: bool  # for a character in a unit: whether it becomes legal if the unit is destroyed


class Strike(NamedTuple):
    """A unit or character that a spell hits."""

    victim: int  # code of the unit or character
    # at index n: models hit if n models are left; None if the spell determines the number of hits
    hits: tuple[int, ...] | None = None
    # at index n: models that a template only touches; None if these are safe
    partial: tuple[int, ...] | None = None
    touches: bool = False  # whether the victim touches the terrain the range is measured from


class Misplacement(NamedTuple):
    """A piece whose position is not allowed."""

    piece: Piece
    other: Piece | None  # the earlier piece that it overlaps; None if it is off the battlefield
    beyond: float  # number of inches by which it is off the battlefield; 0 for an overlap
