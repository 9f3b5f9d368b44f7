"""Units and characters as pieces on the table: what spells ask about them, without geometry."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wfb_gym.geometry.reading import Army, Character, Scenario, Unit
from wfb_gym.geometry.results import SIDE, UNITS
from wfb_gym.seats import SEATS

INCH = 25.4
"""Millimetres."""
_SINGLE = ("chariot", "monster", "war_machine")
_ABSENT = {"dead": "dead", "off_table": "off the table"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit, or a character.

    Attributes:
        code: army * 16 + index.
        army: 0 or 1.
        key: its place in the scenario.
        name: of its own in the army.
        unit: whether it is a unit.
        models: how many; 1 for a character.
        frontage: models in the front rank.
        base: width and depth of one base, in inches.
        points: per model.
        position: middle of the front edge, in inches; None where it stands nowhere of its own.
        facing: degrees clockwise from growing y.
        troop: type of the models.
        traits: what spells ask about it.
        engaged: it, its unit or a character in it fights in close combat.
        fleeing: it flees, or its unit does.
        all_round: a unit without a front: skirmishers and single models; a lone character.
        magic_item: it carries one, or a character in it does.
        absent: why it is not there, "dead" or "off the table"; empty where it is.
        host: code of the unit that a character stands in; None for one alone, and for units.
        focal: the character is his unit: a focal model of Daemons.
        joined: codes of the characters in the unit, focal models aside.
    """

    code: int
    army: int
    key: str
    name: str
    unit: bool
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
    focal: bool = False
    joined: tuple[int, ...] = ()

    @property
    def targetable(self) -> bool:
        """Whether it counts as a unit of its own: a unit, or a character who stands alone."""
        return not self.absent and self.host is None


def roster(scenario: Scenario) -> dict[int, Piece]:
    """All units and characters of both armies, by code and in its order."""
    pieces: dict[int, Piece] = {}
    for side, (key, army) in enumerate(
        zip(SEATS, (scenario.caster, scenario.dispeller), strict=True)
    ):
        pieces |= _army(army, side, key)
    return dict(sorted(pieces.items()))


def host_name(character: Character) -> str | None:
    """Name of the unit that he stands in, or whose focal model he is; None for one alone."""
    daemons: str | None = getattr(character, "daemon_unit", None)
    return character.unit if daemons is None else daemons


def _army(army: Army, side: int, key: str) -> dict[int, Piece]:
    units = {unit.name: SIDE * side + i for i, unit in enumerate(army.units)}
    inside: dict[int, dict[int, Character]] = {code: {} for code in units.values()}
    pieces = {}
    first = SIDE * side + UNITS
    for code, (below, character) in enumerate(army.keyed_characters(), first):
        name = host_name(character)
        host = None if name is None or character.status in _ABSENT else units[name]
        if host is not None:
            inside[host][code] = character
        home = None if host is None else army.units[host - SIDE * side]
        pieces[code] = _character(character, code, f"{key}.{below}", home, host)
    for i, unit in enumerate(army.units):
        code = SIDE * side + i
        pieces[code] = _unit(unit, code, f"{key}.units[{i}]", inside[code])
    for code, piece in pieces.items():  # what he shares with his unit and those in it
        if piece.host is not None and pieces[piece.host].engaged and not piece.engaged:
            pieces[code] = replace(piece, engaged=True)
    return pieces


def _unit(unit: Unit, code: int, key: str, inside: Mapping[int, Character]) -> Piece:
    joined = [c for c, who in inside.items() if getattr(who, "daemon_unit", None) is None]
    return Piece(
        code=code,
        army=code // SIDE,
        key=key,
        name=unit.name,
        unit=True,
        models=unit.models,
        frontage=unit.frontage,
        base=(unit.base[0] / INCH, unit.base[1] / INCH),
        points=unit.points,
        position=unit.position,
        facing=unit.facing,
        troop=unit.troop,
        traits=frozenset(unit.traits),
        engaged=unit.in_combat or any(who.in_combat for who in inside.values()),
        fleeing=unit.fleeing,
        all_round=unit.skirmish or unit.troop in _SINGLE or unit.models == 1,
        magic_item=unit.magic_item or any(who.items for who in inside.values()),
        joined=tuple(joined),
    )


def _character(who: Character, code: int, key: str, home: Unit | None, host: int | None) -> Piece:
    focal = home is not None and getattr(who, "daemon_unit", None) is not None
    base = home.base if home is not None and focal else who.base
    return Piece(
        code=code,
        army=code // SIDE,
        key=key,
        name=who.name,
        unit=False,
        models=1,
        frontage=1,
        base=(base[0] / INCH, base[1] / INCH),
        points=who.points,
        position=who.position if home is None else home.position,
        facing=who.facing if home is None else home.facing,
        troop=who.troop,
        traits=frozenset(who.traits),
        engaged=who.in_combat or (home is not None and home.in_combat),
        fleeing=who.status == "fleeing" or (home is not None and home.fleeing),
        all_round=home is None,
        magic_item=bool(who.items),
        absent=_ABSENT.get(who.status, ""),
        host=host,
        focal=focal,
    )
