"""The plain records that geometry works on: pieces, terrain, what a spell asks, what it answers.

`wfb_gym.scenario.battlefield` makes them from a scenario.
"""

from dataclasses import dataclass
from typing import NamedTuple

INCH = 25.4
"""Millimetres."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit, or a character."""

    code: int  # identifies it on the battlefield; codes of the first army are the lower ones
    army: int
    key: str  # its place in the scenario
    name: str  # unique in the army
    is_unit: bool
    models: int  # 1 for a character
    frontage: int  # models in the front rank
    base: tuple[float, float]  # width and depth of one base, in inches
    points: float  # per model
    # Middle of its front edge, in inches; None where it has no place of its own.
    position: tuple[float, float] | None
    facing: float  # degrees clockwise from growing y
    troop: str  # type of the models
    traits: frozenset[str]  # what spells ask about it
    engaged: bool  # it, its unit or a character in it fights in close combat
    fleeing: bool  # it flees, or its unit does
    all_round: bool  # a unit without a front: skirmishers and single models; a lone character
    magic_item: bool  # it carries one, or a character in it does
    absent: str = ""  # why it is not there, "dead" or "off the table"; empty where it is
    host: int | None = None  # code of the unit that a character stands in; None for one alone
    is_focal: bool = False  # the character is its unit: a focal model of Daemons
    joined: tuple[int, ...] = ()  # codes of the characters in the unit, focal models aside

    @property
    def is_targetable(self) -> bool:
        """Whether it counts as a unit of its own: a unit, or a character who stands alone."""
        return not self.absent and self.host is None


class TerrainPiece(NamedTuple):
    """A rectangular piece of terrain."""

    name: str
    kind: str  # wood, hill and so on
    position: tuple[float, float]  # its centre, in inches
    size: tuple[float, float]  # width and depth in inches, before it is turned
    facing: float  # how far it is turned, in degrees clockwise
    blocks_sight: bool  # whether no line of sight passes through it


class NearTerrain(NamedTuple):
    """Terrain that a spell's range is measured from."""

    kinds: tuple[str, ...]  # of terrain that will do
    within: float  # inches from such terrain
    otherwise: float  # inches from the caster where the battlefield has none of it


class AimRules(NamedTuple):
    """What a spell asks of its caster and its target, and which models it strikes.

    Values are as in `wfb_gym.scenario.effects.SpellEffect`.
    """

    target: str  # what it is cast at, or strikes
    range_inches: float | None  # from the caster; None for the whole battlefield
    sight: bool  # the caster must see the target
    missile: bool  # it is a magic missile
    engaged: str  # whether the target must be in close combat: "no", "only" or "either"
    caster_engaged: bool  # the caster must be in close combat
    only: tuple[str, ...]  # troop types that it can be cast at; empty for all
    not_on: tuple[str, ...]  # traits that keep it off
    needs: str | None  # what else the target must be or have
    near: NearTerrain | None
    hits: str | None  # dice for the number of hits, or which models are struck; None without damage
    template: float | None  # diameter in inches, where models under a template are struck
    partial: bool  # whether models that the template only touches may be struck


class Verdict(NamedTuple):
    """Whether a spell may be cast at a target."""

    target: int | None  # its code; None for spells on the caster, its player or an area
    legal: bool
    reason: str  # why not, in plain words; empty where it is legal
    alone: bool  # for a character inside a unit: it is legal once that unit is gone


class Strike(NamedTuple):
    """One unit or character that a spell reaches."""

    victim: int  # its code
    # At index n the models struck for certain while n are left; None where the spell brings its own
    # number of hits. Likewise the models that a template only touches; None where those are safe.
    hits: tuple[int, ...] | None = None
    partial: tuple[int, ...] | None = None
    touches: bool = False  # it touches the terrain that the spell's range is measured from


class Misplacement(NamedTuple):
    """A piece that stands where it cannot."""

    piece: Piece
    other: Piece | None  # the earlier piece that it overlaps; None where it is off the battlefield
    beyond: float  # inches of it that are off the battlefield; 0 where it overlaps another
