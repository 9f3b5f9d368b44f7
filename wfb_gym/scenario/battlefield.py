"""A scenario's battlefield, and its conversion to `wfb_gym.geometry` records."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from wfb_gym.geometry import INCH, AimRules, Deployment, NearTerrain, Piece, TerrainPiece
from wfb_gym.scenario import fields
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Character
from wfb_gym.scenario.effects import SpellEffect, TerrainKind
from wfb_gym.scenario.errors import Problem
from wfb_gym.scenario.fields import Flag, Name, Number, Pair, StrictModel
from wfb_gym.scenario.sizes import TARGETS, UNITS
from wfb_gym.scenario.units import SINGLE_MODELS, Unit
from wfb_gym.seats import SEATS

MAX_LENGTH = 240.0
"""Longest side of a battlefield, in inches: four tables of the usual length (house rule C.96)."""
_ABSENT = {"dead": "dead", "off_table": "off the table"}
OPAQUE = ("wood", "hill", "ruins", "building")  # terrain that blocks sight by default


class Terrain(StrictModel):
    """A rectangular terrain feature on the battlefield."""

    name: Name  # unique on the battlefield
    kind: TerrainKind
    position: fields.Position  # centre, in inches
    # width and depth in inches, before rotation
    size: Annotated[tuple[float, float], Pair(0.1, MAX_LENGTH)]
    facing: fields.Facing = 0.0  # rotation in degrees clockwise
    blocks_sight: Flag = False  # whether it blocks lines of sight

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Set the default of `blocks_sight` based on the kind of terrain."""
        return {"blocks_sight": True, **data} if data.get("kind") in OPAQUE else data


class Battlefield(StrictModel):
    """The battlefield's size and terrain."""

    width: Annotated[float, Number(1.0, MAX_LENGTH)]  # inches; x ranges from 0 to width
    depth: Annotated[float, Number(1.0, MAX_LENGTH)]  # inches; y ranges from 0 to depth
    terrain: tuple[Terrain, ...] = ()

    def contains(self, position: tuple[float, float]) -> bool:
        """Whether a position is on the battlefield, including its edges."""
        return 0.0 <= position[0] <= self.width and 0.0 <= position[1] <= self.depth

    @property
    def extent(self) -> str:
        """The ranges of x and y, in words."""
        return f"x from 0 to {self.width:g} and y from 0 to {self.depth:g}"

    def problems(self) -> Iterator[Problem]:
        """Check that names are unique and that every centre is on the battlefield."""
        yield from fields.duplicate_name_problems("terrain", self.terrain)
        for i, feature in enumerate(self.terrain):
            if not self.contains(feature.position):
                expected = f"a centre on the battlefield: {self.extent}"
                yield feature.problem_at("position", expected).below(f"terrain[{i}]")


def deployment_of(armies: Sequence[Army], field: Battlefield | None, edition: str) -> Deployment:
    """Convert all units and characters to `wfb_gym.geometry` pieces.

    Unit names and positions must already have been checked.
    """
    both = [_army_pieces(armies[side], side, key) for side, key in enumerate(SEATS)]
    pieces = dict(sorted((both[0] | both[1]).items()))
    if field is None:
        return Deployment(edition, pieces, None)
    terrain = [
        TerrainPiece(t.name, t.kind, t.position, t.size, t.facing, t.blocks_sight)
        for t in field.terrain
    ]
    return Deployment(edition, pieces, (field.width, field.depth), terrain)


def aim_rules_of(effect: SpellEffect) -> AimRules:
    """Return a spell's targeting rules for `wfb_gym.geometry`."""
    near, damage = effect.near, effect.damage
    return AimRules(
        target=effect.target,
        range_inches=effect.range_inches,
        sight=effect.sight,
        missile=effect.missile,
        engaged=effect.engaged,
        caster_engaged=effect.caster_engaged,
        only=effect.only,
        not_on=effect.not_on,
        needs=effect.needs,
        near=None if near is None else NearTerrain(near.terrain, near.within, near.otherwise),
        hits=None if damage is None else damage.hits,
        template=None if damage is None else damage.template,
        partial=damage is not None and damage.partial is not None,
    )


def target_number(army: int, index: int) -> int:
    """Return a target's code; `index` counts units, then characters starting at `UNITS`."""
    return army * TARGETS + index


def _army_pieces(army: Army, side: int, key: str) -> dict[int, Piece]:
    codes = {unit.name: target_number(side, i) for i, unit in enumerate(army.units)}
    characters = [*enumerate(army.keyed_characters(), target_number(side, UNITS))]
    inside: dict[int, dict[int, Character]] = {code: {} for code in codes.values()}
    for code, (_, who) in characters:
        if who.stands_in is not None and who.status not in _ABSENT:
            inside[codes[who.stands_in]][code] = who
    pieces = {}
    for i, unit in enumerate(army.units):
        code = codes[unit.name]
        pieces[code] = _unit_piece(unit, code, f"{key}.units[{i}]", inside[code])
    hosts = {code: pieces[host] for host, joined in inside.items() for code in joined}
    for code, (below, who) in characters:
        pieces[code] = _character_piece(who, code, f"{key}.{below}", hosts.get(code))
    return pieces


def _is_focal(who: Character) -> bool:
    """Whether a character is the focal model in a unit of Daemons."""
    return who.unit is None and who.stands_in is not None


def _in_inches(base: tuple[float, float]) -> tuple[float, float]:
    return base[0] / INCH, base[1] / INCH


def _unit_piece(unit: Unit, code: int, key: str, inside: Mapping[int, Character]) -> Piece:
    return Piece(
        code=code,
        army=code // TARGETS,
        key=key,
        name=unit.name,
        is_unit=True,
        models=unit.models,
        frontage=unit.frontage,
        base=_in_inches(unit.base),
        points=unit.points,
        position=unit.position,
        facing=unit.facing,
        troop=unit.troop,
        traits=frozenset(unit.traits),
        engaged=unit.in_combat or any(who.in_combat for who in inside.values()),
        fleeing=unit.fleeing,
        all_round=unit.skirmish or unit.troop in SINGLE_MODELS or unit.models == 1,
        magic_item=unit.magic_item or any(who.items for who in inside.values()),
        joined=tuple(code for code, who in inside.items() if not _is_focal(who)),
    )


def _character_piece(who: Character, code: int, key: str, host: Piece | None) -> Piece:
    """Return the piece for a character in the unit `host`, or for a lone character (None)."""
    is_focal = host is not None and _is_focal(who)
    place = who if host is None else host
    return Piece(
        code=code,
        army=code // TARGETS,
        key=key,
        name=who.name,
        is_unit=False,
        models=1,
        frontage=1,
        base=host.base if host is not None and is_focal else _in_inches(who.base),
        points=who.points,
        position=place.position,
        facing=place.facing,
        troop=who.troop,
        traits=frozenset(who.traits),
        engaged=who.in_combat or (host is not None and host.engaged),
        fleeing=who.status == "fleeing" or (host is not None and host.fleeing),
        all_round=host is None,
        magic_item=bool(who.items),
        absent=_ABSENT.get(who.status, ""),
        host=None if host is None else host.code,
        is_focal=is_focal,
    )
