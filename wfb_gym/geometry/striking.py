"""What a spell strikes when it takes effect, and how many models of it.

Dice are rolled elsewhere: here are the models on a line, under a template and in the front rank,
and the distances that a comet asks for.
"""

from math import inf
from typing import TYPE_CHECKING

from wfb_gym.geometry.formation import TOLERANCE
from wfb_gym.geometry.legality import AREAS, Aim, aim
from wfb_gym.geometry.pieces import Piece
from wfb_gym.geometry.reading import Scenario
from wfb_gym.geometry.results import Strike
from wfb_gym.geometry.templates import counted, covered

if TYPE_CHECKING:
    from wfb_gym.scenario.effects import Effect


def strikes(
    scenario: Scenario,
    army: int,
    character: int,
    effect: "Effect",
    range_inches: float | None,
    target: int | None,
) -> list[Strike]:
    """Whom a spell strikes.

    Args:
        scenario: as for `verdicts`.
        army: the caster's.
        character: his index among the army's characters.
        effect: of the spell.
        range_inches: of the spell; None for the whole table.
        target: a target that `verdicts` allows, or allows once he stands alone; None where the
            verdict names none.

    Returns:
        A strike for each victim, by code: the caster for a spell on himself, nobody for one on
        his player, or for a caster who cannot cast.

    Raises:
        ValueError: the spell needs a target.
    """
    aimed = aim(scenario, army, character, effect, range_inches)
    kind = effect.target
    if aimed.barred or kind == "player":
        return []
    if kind == "caster":
        return [_plain(aimed, aimed.caster)]
    if kind in AREAS:
        return [_plain(aimed, piece) for piece in aimed.reached()]
    if target is None:
        raise ValueError(f"a spell with target {kind} needs one")
    piece = aimed.survey.pieces[target]
    if kind == "point":
        return _around(aimed, piece)
    if kind == "line":
        return _line(aimed, piece)
    damage = effect.damage
    if damage is not None and damage.hits == "template" and damage.template is not None:
        return _template(aimed, piece, damage.template, damage.partial is not None)
    if damage is not None and damage.hits == "front_rank":
        return _front_rank(aimed, piece)
    return [_plain(aimed, piece)]


def _front_rank(aimed: Aim, target: Piece) -> list[Strike]:
    """Every model in the front rank, the characters who stand in it included."""
    places = max(0, target.frontage - len(target.joined))
    hits = tuple(min(n, places) for n in range(target.models + 1))
    found = [_plain(aimed, target)._replace(hits=hits)]
    for code in target.joined:
        found.append(_plain(aimed, aimed.survey.pieces[code])._replace(hits=(0, 1)))
    return found


def _plain(aimed: Aim, piece: Piece) -> Strike:
    """A strike with the spell's own number of hits."""
    return Strike(piece.code, None, None, 0.0, _touches(aimed, piece))


def _touches(aimed: Aim, piece: Piece) -> bool:
    ground, near = aimed.survey.ground, aimed.effect.near
    if ground is None or near is None:
        return False
    distance = ground.to_terrain(piece.code, near.terrain)
    return distance is not None and distance <= TOLERANCE


def _around(aimed: Aim, target: Piece) -> list[Strike]:
    """All units and lone characters of both sides, with their distance from a target's middle."""
    ground, pieces = aimed.survey.ground, aimed.survey.pieces
    found = []
    for code, piece in pieces.items():
        if code == target.code or piece.targetable:
            distance = 0.0 if piece is target else inf
            if ground is not None and piece is not target:
                distance = ground.from_point(ground.middle(target.code), code)
            found.append(_plain(aimed, piece)._replace(distance=distance))
    return found


def _line(aimed: Aim, target: Piece) -> list[Strike]:
    """All models on the best line through a target; without a battlefield one of each rank."""
    if aimed.survey.ground is None:
        hits = tuple(-(-n // target.frontage) for n in range(target.models + 1))
        return [_plain(aimed, target)._replace(hits=hits)]
    assert aimed.range_inches is not None  # every line has a length
    line = aimed.survey.lines(aimed.caster.code, aimed.range_inches).through(target.code)
    if line is None:
        return []
    return [
        Strike(code, counted(mask), None, 0.0, False) for code, mask in sorted(line.struck.items())
    ]


def _template(aimed: Aim, target: Piece, diameter: float, partial: bool) -> list[Strike]:
    """All models under a template at its best place on a target."""
    placing = aimed.survey.placing(aimed.caster.army, target.code, diameter)
    own = Strike(target.code, placing.hits, placing.partial if partial else None, 0.0, False)
    ground = aimed.survey.ground
    if ground is None or placing.centre is None:
        return [own]
    found = [own]
    for code, bases in ground.bases.items():
        piece = aimed.survey.pieces[code]
        if code == target.code or piece.focal or piece.army == aimed.caster.army:
            continue
        wholly, partly = (mask[0] for mask in covered(placing.centre[None], diameter / 2, bases))
        if wholly.any() or (partial and partly.any()):
            some = counted(partly) if partial else None
            found.append(Strike(code, counted(wholly), some, 0.0, False))
    return sorted(found, key=lambda strike: strike.victim)
