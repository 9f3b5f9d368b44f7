"""The battlefield as a scenario describes it, and as plain records for `wfb_gym.geometry`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import model_validator

from wfb_gym.geometry import INCH, AimRules, Deployment, NearTerrain, Piece, TerrainPiece
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Character
from wfb_gym.scenario.effects import SpellEffect, TerrainKind
from wfb_gym.scenario.errors import Problem, format_value, raise_problems
from wfb_gym.scenario.fields import (
    Facing,
    Flag,
    Name,
    Number,
    Pair,
    Position,
    StrictModel,
    duplicate_name_problems,
)
from wfb_gym.scenario.sizes import TARGETS, UNITS
from wfb_gym.scenario.units import SINGLE_MODELS, Unit
from wfb_gym.seats import SEATS

MAX_LENGTH = 240.0
"""Longest side of a battlefield in inches (ours: four tables of the usual length)."""
_ABSENT = {"dead": "dead", "off_table": "off the table"}
OPAQUE = ("wood", "hill", "ruins", "building")
"""Terrain that blocks sight unless its entry says otherwise."""


class Terrain(StrictModel):
    """A rectangular feature of the battlefield.

    Attributes:
        name: unique on the battlefield.
        kind: of terrain.
        position: its centre, in inches.
        size: width and depth in inches, before it is turned.
        facing: by how much it is turned, in degrees clockwise.
        blocks_sight: no line of sight passes through it.
    """

    name: Name
    kind: TerrainKind
    position: Position
    size: Annotated[tuple[float, float], Pair(0.1, MAX_LENGTH)]
    facing: Facing = 0.0
    blocks_sight: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _set_blocks_sight(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("kind") in OPAQUE:
            return {"blocks_sight": True, **data}
        return data


class Battlefield(StrictModel):
    """The size of the battlefield and its terrain.

    Attributes:
        width: inches; x runs from 0 to it.
        depth: inches; y runs from 0 to it.
        terrain: its features.
    """

    width: Annotated[float, Number(1.0, MAX_LENGTH)]
    depth: Annotated[float, Number(1.0, MAX_LENGTH)]
    terrain: tuple[Terrain, ...] = ()

    def contains(self, position: tuple[float, float]) -> bool:
        """Whether a place lies on the battlefield, its edges included."""
        return 0.0 <= position[0] <= self.width and 0.0 <= position[1] <= self.depth

    @property
    def extent(self) -> str:
        """The places on it, in words."""
        return f"x from 0 to {self.width:g} and y from 0 to {self.depth:g}"

    @model_validator(mode="after")
    def _terrain_is_consistent(self) -> Self:
        names = [feature.name for feature in self.terrain]
        problems = duplicate_name_problems("terrain", names)
        for i, feature in enumerate(self.terrain):
            if not self.contains(feature.position):
                key, found = f"terrain[{i}].position", format_value(feature.position)
                problems.append(Problem(key, f"a centre on the battlefield: {self.extent}", found))
        raise_problems(problems)
        return self


def deployment_of(armies: Sequence[Army], field: Battlefield | None, edition: str) -> Deployment:
    """All units and characters as pieces, for `wfb_gym.geometry`.

    Args:
        armies: both; the names of units resolve, and all that is on the battlefield has a position.
        field: None without a battlefield.
        edition: of the rules.
    """
    pieces: dict[int, Piece] = {}
    for army, key in zip((0, 1), SEATS, strict=True):
        pieces |= _army_pieces(armies[army], army, key)
    pieces = dict(sorted(pieces.items()))
    if field is None:
        return Deployment(edition, pieces, None)
    terrain = [
        TerrainPiece(t.name, t.kind, t.position, t.size, t.facing, t.blocks_sight)
        for t in field.terrain
    ]
    return Deployment(edition, pieces, (field.width, field.depth), terrain)


def aim_rules_of(effect: SpellEffect) -> AimRules:
    """Return what a spell asks of its target, for `wfb_gym.geometry`."""
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


def target_code(army: int, index: int) -> int:
    """Code of a target: a unit by its index, a character by its index behind all `UNITS`."""
    return army * TARGETS + index


def _army_pieces(army: Army, side: int, key: str) -> dict[int, Piece]:
    codes = {unit.name: target_code(side, i) for i, unit in enumerate(army.units)}
    inside: dict[int, dict[int, Character]] = {code: {} for code in codes.values()}
    pieces = {}
    first = target_code(side, UNITS)
    for code, (below, character) in enumerate(army.keyed_characters(), first):
        name = character.stands_in
        host = None if name is None or character.status in _ABSENT else codes[name]
        if host is not None:
            inside[host][code] = character
        unit = None if host is None else army.units[host - side * TARGETS]
        piece = _character_piece(character, code, f"{key}.{below}", unit)
        pieces[code] = replace(piece, host=host)
    for i, unit in enumerate(army.units):
        code = codes[unit.name]
        pieces[code] = _unit_piece(unit, code, f"{key}.units[{i}]", inside[code])
    for code, piece in pieces.items():  # a unit's close combat is that of all characters in it
        if piece.host is not None and pieces[piece.host].engaged and not piece.engaged:
            pieces[code] = replace(piece, engaged=True)
    return pieces


def _is_focal(who: Character) -> bool:
    """Whether a character is the focal model of a unit of Daemons."""
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


def _character_piece(who: Character, code: int, key: str, unit: Unit | None) -> Piece:
    """Return the piece of a character that stands in `unit`, or alone."""
    is_focal = unit is not None and _is_focal(who)
    place = who if unit is None else unit
    return Piece(
        code=code,
        army=code // TARGETS,
        key=key,
        name=who.name,
        is_unit=False,
        models=1,
        frontage=1,
        base=_in_inches(unit.base if unit is not None and is_focal else who.base),
        points=who.points,
        position=place.position,
        facing=place.facing,
        troop=who.troop,
        traits=frozenset(who.traits),
        engaged=who.in_combat or (unit is not None and unit.in_combat),
        fleeing=who.status == "fleeing" or (unit is not None and unit.fleeing),
        all_round=unit is None,
        magic_item=bool(who.items),
        absent=_ABSENT.get(who.status, ""),
        is_focal=is_focal,
    )
