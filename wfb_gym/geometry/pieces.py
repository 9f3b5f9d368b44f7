"""The plain records that geometry works on: pieces, terrain, what a spell asks, what it answers.

`wfb_gym.scenario.battlefield` makes them from a scenario.
"""

from dataclasses import dataclass
from typing import NamedTuple

INCH = 25.4
"""Millimetres."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit, or a character.

    Attributes:
        code: identifies it on the battlefield; codes of the first army are the lower ones.
        army: 0 or 1.
        key: its place in the scenario.
        name: unique in the army.
        is_unit: whether it is a unit.
        models: how many; 1 for a character.
        frontage: models in the front rank.
        base: width and depth of one base, in inches.
        points: per model.
        position: middle of the front edge, in inches; None where it has no place of its own.
        facing: degrees clockwise from growing y.
        troop: type of the models.
        traits: what spells ask about it.
        engaged: it, its unit or a character in it fights in close combat.
        fleeing: it flees, or its unit does.
        all_round: a unit without a front: skirmishers and single models; a lone character.
        magic_item: it carries one, or a character in it does.
        absent: why it is not there, "dead" or "off the table"; empty where it is.
        host: code of the unit that a character stands in; None for one alone, and for units.
        is_focal: the character is its unit: a focal model of Daemons.
        joined: codes of the characters in the unit, focal models aside.
    """

    code: int
    army: int
    key: str
    name: str
    is_unit: bool
    models: int
    frontage: int
    base: tuple[float, float]
    points: float
    position: tuple[float, float] | None
    facing: float
    troop: str
    traits: frozenset[str]
    engaged: bool
    fleeing: bool
    all_round: bool
    magic_item: bool
    absent: str = ""
    host: int | None = None
    is_focal: bool = False
    joined: tuple[int, ...] = ()

    @property
    def is_targetable(self) -> bool:
        """Whether it counts as a unit of its own: a unit, or a character who stands alone."""
        return not self.absent and self.host is None


class TerrainPiece(NamedTuple):
    """A rectangular piece of terrain.

    Attributes:
        name: for people.
        kind: wood, hill and so on.
        position: its centre, in inches.
        size: width and depth in inches, before it is turned.
        facing: how far it is turned, in degrees clockwise.
        blocks_sight: whether no line of sight passes through it.
    """

    name: str
    kind: str
    position: tuple[float, float]
    size: tuple[float, float]
    facing: float
    blocks_sight: bool


class NearTerrain(NamedTuple):
    """Terrain that a spell's range is measured from.

    Attributes:
        kinds: of terrain that will do.
        within: inches from such terrain.
        otherwise: inches from the caster where the battlefield has none of it.
    """

    kinds: tuple[str, ...]
    within: float
    otherwise: float


class AimRules(NamedTuple):
    """What a spell asks of its caster and its target, and which models it strikes.

    Values are as in `wfb_gym.scenario.effects.SpellEffect`.

    Attributes:
        target: what it is cast at, or strikes.
        range_inches: from the caster; None for the whole battlefield.
        sight: the caster must see the target.
        missile: it is a magic missile.
        engaged: whether the target must be in close combat: "no", "only" or "either".
        caster_engaged: the caster must be in close combat.
        only: troop types that it can be cast at; empty for all.
        not_on: traits that keep it off.
        needs: what else the target must be or have.
        near: terrain that its range is measured from.
        hits: dice for the number of hits, or which models are struck; None without damage.
        template: diameter in inches, where models under a template are struck.
        partial: whether models that the template only touches may be struck.
    """

    target: str
    range_inches: float | None
    sight: bool
    missile: bool
    engaged: str
    caster_engaged: bool
    only: tuple[str, ...]
    not_on: tuple[str, ...]
    needs: str | None
    near: NearTerrain | None
    hits: str | None
    template: float | None
    partial: bool


class Verdict(NamedTuple):
    """Whether a spell may be cast at a target.

    Attributes:
        target: its code; None for spells on the caster, its player or an area.
        legal: whether it may be.
        reason: why not, in plain words; empty where it is legal.
        alone: for a character inside a unit: it is legal once that unit is gone.
    """

    target: int | None
    legal: bool
    reason: str
    alone: bool


class Strike(NamedTuple):
    """One unit or character that a spell reaches.

    Attributes:
        victim: its code.
        hits: at index n the models struck for certain while n are left; None where the spell
            brings its own number of hits.
        partial: likewise the models that a template only touches; None where those are safe.
        distance: inches from the point aimed at, for a spell that strikes around a point later.
        touches: it touches the terrain that the spell's range is measured from.
    """

    victim: int
    hits: tuple[int, ...] | None = None
    partial: tuple[int, ...] | None = None
    distance: float = 0.0
    touches: bool = False


class Misplacement(NamedTuple):
    """A piece that stands where it cannot.

    Attributes:
        piece: which one.
        other: the earlier piece that it overlaps; None where it is not all on the battlefield.
        beyond: inches of it that are off the battlefield; 0 where it overlaps another.
    """

    piece: Piece
    other: Piece | None
    beyond: float
