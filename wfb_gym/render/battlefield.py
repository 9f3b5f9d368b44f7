"""The battlefield as plain shapes: terrain, units, characters and a spell's targets.

`wfb_gym.render.drawing` writes the shapes as SVG or as an image; `labels` places the names. Range,
line of sight and legal targets come from `wfb_gym.geometry` and the scenario.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wfb_gym.geometry import Aim, Piece
from wfb_gym.render.captions import LETTERS, Captions, Named, write_names
from wfb_gym.render.labels import Label, place_labels
from wfb_gym.render.shapes import Drawing, Extent, Point, Points, Shape, extent_of
from wfb_gym.render.styles import style_of
from wfb_gym.scenario.battlefield import target_number
from wfb_gym.scenario.scenario import Scenario, explain_targets
from wfb_gym.scenario.sizes import TARGETS
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from wfb_gym.engine.battle import Battle

MARGIN = 4.0  # margin around the models, in inches
_SHOWN = ("unit_wounds", "wounds", "fleeing")
"""State fields that a drawing without a spell depends on."""
_LAYERS = ("touch", "lost", "unit", "character", "wizard", "front", "combat", "outline")
"""Roles of piece shapes in drawing order, from back to front; the ground is drawn first."""
_LEAST_WIDTH = 24.0  # minimum width of a picture, in inches
_FRONT = 0.55  # size of the triangle that shows a piece's front, in inches
_THIN = 2.0  # minimum width of terrain that has its name written on it, in inches
_TOUCH = 0.6  # margin around a piece within which it reacts to the pointer, in inches


class _Piece(NamedTuple):
    """A unit or character in a battle position."""

    piece: Piece
    role: str  # see `Shape.role`
    polygons: list[Points]  # one for each model; the last ones are removed first
    left: int  # models left
    fleeing: bool

    @property
    def extent(self) -> Extent:
        return extent_of(self.polygons)


class _Aimed(NamedTuple):
    """A spell to show: its caster, and for each target, whether it is legal and if not, why not."""

    caster: int
    aim: Aim
    verdicts: Mapping[int, tuple[bool, str]]
    title: str


def draw_battlefield(
    scenario: Scenario,
    battle: "Battle | None" = None,
    spell: tuple[int, int] | None = None,
    *,
    legend: bool = True,
) -> Drawing:
    """Return the battlefield as shapes, cropped to the models.

    Args:
        scenario: a scenario with a battlefield.
        battle: the visible position, as for `wfb_gym.render.picture.picture`. If None, the start of
            the battle is drawn.
        spell: an `(army, index)` pair, where `index` is an index into the army's spells in
            `Scenario.slots`. The drawing shows the spell's range, arc of sight and legal targets.
            If None, no spell is drawn.
        legend: whether to add a title and a legend.

    Raises:
        ValueError: if the scenario has no battlefield, or the army has no spell with that index.
    """
    if scenario.battlefield is None:
        raise ValueError(f"scenario: expected one with a battlefield, found {scenario.name}")
    pieces = _pieces(scenario, battle)
    aimed = None if spell is None else _aimed(scenario, battle, *spell)
    shown = [corner for piece in pieces for polygon in piece.polygons for corner in polygon]
    points = _comet_points(scenario, aimed)
    field = scenario.battlefield.width, scenario.battlefield.depth
    extent = _crop([*shown, *points], field)
    shapes = [*_ground(scenario, extent), *_reach(aimed, extent)]
    for piece in pieces:
        shapes += _piece_shapes(piece, _states(piece, aimed), aimed)
    shapes.sort(key=lambda each: _LAYERS.index(each.role) if each.role in _LAYERS else -1)
    font = extent.width / LETTERS
    if points:
        shapes += _point_shapes(None if spell is None else spell[0], points, pieces, font)
    marks = [extent_of(shape.parts) for shape in shapes if shape.role in ("front", "point")]
    ground = [extent_of(shape.parts) for shape in shapes if shape.role == "terrain"]
    named = _named(scenario, pieces, aimed, shapes)
    names, key = write_names(named, marks, ground, extent, font)
    shapes += names
    armies = [army.name or side for side, army in scenario.keyed_armies()]
    title = f"{scenario.name}: {' against '.join(armies)}"
    title += f"; {aimed.title}" if aimed else ""
    captions = Captions(extent, font)
    if key:
        captions.add_key(armies, key)
    if legend:
        captions.add_legend([] if key else armies, shapes)
        captions.add_title(title)
    styled = (each._replace(style=style_of(each)) for each in (*shapes, *captions.shapes))
    return Drawing(captions.extent, tuple(styled), title, font / 10)


# --- pieces and terrain --------------------------------------------------------------------


def standing_pieces(battle: "Battle") -> bytes:
    """Return a key of a position; equal keys have the same drawing, except for spells."""
    return b"".join(battle.state[name].tobytes() for name in _SHOWN)


def _polygons_of(shape: Any) -> list[Points]:
    """Return the corners of each non-empty polygon in a shapely geometry."""
    return [tuple(polygon.exterior.coords[:-1]) for polygon in _parts_of(shape, "Polygon")]


def _parts_of(shape: Any, *kinds: str) -> list[Any]:
    parts = getattr(shape, "geoms", [shape])
    return [part for part in parts if part.geom_type in kinds and not part.is_empty]


def _pieces(scenario: Scenario, battle: "Battle | None") -> list[_Piece]:
    """Return the units and characters that were on the battlefield when the battle started."""
    deployment, outlines = scenario.deployment, scenario.deployment.outlines()
    wizards = [[wizard.name for wizard in army.wizards] for army in scenario.armies]
    found = []
    for code, piece in deployment.pieces.items():
        if piece.absent:
            continue
        left, fleeing = piece.models, piece.fleeing
        if battle is not None:
            from wfb_gym.engine import targets  # compiles code, so import it only if needed

            army, index = divmod(code, TARGETS)
            if piece.is_unit:
                left = int(targets.models_left(battle.packed, battle.state, army, index))
            else:
                left = int(targets.wounds_left(battle.state, army, index) > 0)
            fleeing = bool(targets.flees(battle.state, army, index))
        polygons = _polygons_of(outlines[SEATS[piece.army]][piece.name])
        role = "unit" if piece.is_unit else "character"
        if piece.name in wizards[piece.army] and not piece.is_unit:
            role = "wizard"
        found.append(_Piece(piece, role, polygons, left, fleeing))
    return found


def _crop(places: Collection[Point], size: Point) -> Extent:
    """Return the extent of the picture: all places plus a margin, at least `_LEAST_WIDTH` wide."""
    extent = Extent(0.0, 0.0, *size)
    if places:
        extent = extent_of([tuple(places)]).grown(MARGIN)
    return extent.grown(max(0.0, _LEAST_WIDTH - extent.width) / 2, 0.0)


def _ground(scenario: Scenario, extent: Extent) -> Iterator[Shape]:
    """Yield the battlefield and its terrain, clipped to the extent."""
    assert scenario.battlefield is not None
    field = Extent(0.0, 0.0, scenario.battlefield.width, scenario.battlefield.depth)
    yield Shape("ground", "polygon", (field.cut(extent).corners,), name="the battlefield")
    outlines = scenario.deployment.outlines()["terrain"]
    for terrain in scenario.battlefield.terrain:
        parts = _polygons_of(outlines[terrain.name].intersection(_box(field.cut(extent))))
        if parts:
            sight = "blocks sight" if terrain.blocks_sight else "does not block sight"
            note = f"{terrain.name} ({terrain.kind}): {sight}"
            states = (terrain.kind,)
            yield Shape(
                "terrain", "polygon", tuple(parts), name=terrain.name, states=states, note=note
            )


def _box(extent: Extent) -> Any:
    import shapely  # type: ignore[import-untyped]

    return shapely.box(*extent)


def _states(piece: _Piece, aimed: _Aimed | None) -> tuple[str, ...]:
    states = []
    if piece.fleeing:
        states.append("fleeing")
    if not piece.left:
        states.append("gone")
    if aimed is not None:
        legal = aimed.verdicts.get(piece.piece.code)
        if piece.piece.code == aimed.caster:
            states.append("caster")
        if legal is not None and legal[0]:
            states.append("legal")
        elif piece.piece.code != aimed.caster and aimed.verdicts:
            states.append("illegal")
    return tuple(states)


def _piece_shapes(each: _Piece, states: tuple[str, ...], aimed: _Aimed | None) -> Iterator[Shape]:
    piece = each.piece
    note = _note(each, aimed)
    shape = Shape(each.role, "polygon", (), piece.army, piece.code, piece.name, states, note=note)
    lost, left = each.polygons[each.left :], each.polygons[: each.left]
    if lost:
        yield shape._replace(role="lost", parts=tuple(lost))
    if not left:
        return
    yield shape._replace(parts=tuple(left))
    if "legal" in states or "caster" in states:
        yield shape._replace(role="outline", parts=_outline(left))
    if piece.host is not None:
        return
    yield shape._replace(role="touch", parts=(each.extent.grown(_TOUCH).corners,))
    if not piece.all_round:
        yield shape._replace(role="front", parts=(_front(each),))
    if piece.engaged:
        yield shape._replace(role="combat", kind="line", parts=_cross(each))


def _outline(polygons: Sequence[Points]) -> tuple[Points, ...]:
    """Return the outline of touching polygons."""
    import shapely

    shapes = [shapely.Polygon(polygon).buffer(0.02, join_style="mitre") for polygon in polygons]
    return tuple(_polygons_of(shapely.union_all(shapes)))


def _note(each: _Piece, aimed: _Aimed | None) -> str:
    """Describe a piece: models, flight, close combat, and whether it is a legal target."""
    piece, words = each.piece, []
    if piece.is_unit:
        words.append(f"{each.left} of {piece.models} models")
    if not each.left:
        return f"{piece.name}: destroyed"
    if each.fleeing:
        words.append("fleeing")
    if piece.engaged:
        words.append("in close combat")
    legal = None if aimed is None else aimed.verdicts.get(piece.code)
    if legal is not None:
        words.append("a legal target" if legal[0] else f"no target: {legal[1]}")
    return f"{piece.name}: {'; '.join(words)}" if words else piece.name


def _front(each: _Piece) -> Points:
    """Return a forward-pointing triangle at the middle of a piece's front edge."""
    piece = each.piece
    assert piece.position is not None  # pieces without a host have a position
    turn = np.deg2rad(piece.facing)  # clockwise from the y axis
    forward = np.array([np.sin(turn), np.cos(turn)])
    aside = 0.9 * _FRONT * np.array([np.cos(turn), -np.sin(turn)])
    middle = np.array(piece.position)
    corners = middle - aside, middle + aside, middle + 1.5 * _FRONT * forward
    return tuple((float(x), float(y)) for x, y in corners)


def _cross(each: _Piece) -> tuple[Points, ...]:
    """Return two crossing lines through the middle of a piece."""
    extent = each.extent
    x, y = extent.middle
    reach = min(1.0, extent.width / 2, extent.height / 2)
    return (
        ((x - reach, y - reach), (x + reach, y + reach)),
        ((x - reach, y + reach), (x + reach, y - reach)),
    )


# --- a spell -------------------------------------------------------------------------------


def _aimed(scenario: Scenario, battle: "Battle | None", army: int, number: int) -> _Aimed:
    slots = scenario.slots[army].spells
    if not 0 <= number < len(slots):
        raise ValueError(f"spell: expected one of 0..{len(slots) - 1}, found {number}")
    slot = slots[number]
    caster, effect = scenario.armies[army].characters[slot.wizard], slot.spell.effect
    if effect is None:
        raise ValueError(
            f"spell: expected a spell with targets, found {slot.spell.name}, whose worth is fixed"
        )
    aim = scenario.aim(army, slot.wizard, effect)
    title = f"{slot.spell.name} of {caster.name}"
    verdicts: dict[int, tuple[bool, str]] = {}
    if aim.falls_on_point:  # the drawing shows the points instead of targets
        return _Aimed(aim.caster.code, aim, verdicts, title)
    rows = explain_targets(scenario, army, caster.name, slot.title)
    now = None if battle is None else _open_now(battle, army, number)
    for verdict, row in zip(aim.verdicts(), rows, strict=True):
        if verdict.target is None:  # hits everything within reach, or the caster
            strikes = aim.strikes(None) if row.legal else []
            verdicts |= {strike.victim: (True, "") for strike in strikes}
        elif now is None:
            verdicts[verdict.target] = row.legal, row.reason
        else:
            reason = row.reason or "is no legal target any more"
            verdicts[verdict.target] = verdict.target in now, reason
    return _Aimed(aim.caster.code, aim, verdicts, title)


def _open_now(battle: "Battle", army: int, number: int) -> set[int]:
    """Return the codes of a spell's legal targets in the given position."""
    from wfb_gym.engine import targets

    found = set()
    for aim in range(int(battle.packed.armies[army].spells[number].n_aims)):
        target = int(targets.target_code(battle.packed, army, number, aim))
        if 0 < target <= 2 * TARGETS and targets.can_aim(
            battle.packed, battle.state, army, number, aim
        ):
            side, index = targets.army_of(army, target), targets.index_of(target)
            found.add(target_number(int(side), int(index)))
    return found


def _reach(aimed: _Aimed | None, extent: Extent) -> Iterator[Shape]:
    """Yield a spell's range and arc of sight, clipped to the edge of the picture."""
    if aimed is None:
        return
    box, near, seen = _box(extent), aimed.aim.ground_in_range(), aimed.aim.ground_in_arc()
    both = box
    for ground in (near, seen):
        both = both if ground is None else both.intersection(ground)
    if near is not None or seen is not None:
        yield Shape("reach", "polygon", tuple(_polygons_of(both)))
    for role, ground in (("range", near), ("arc", seen)):
        if ground is not None:
            lines = _parts_of(ground.boundary.intersection(box), "LineString", "LinearRing")
            yield Shape(role, "line", tuple(tuple(line.coords) for line in lines))


def _comet_points(scenario: Scenario, aimed: _Aimed | None) -> Points:
    """Return the points at which a Comet may be aimed; empty for other spells or no spell."""
    if aimed is None or not aimed.aim.falls_on_point:
        return ()
    from wfb_gym.packing.aims import comet_points

    places = comet_points(scenario)[aimed.aim.caster.army]
    return tuple((float(x), float(y)) for x, y in places)


def _point_shapes(
    army: int | None, points: Points, pieces: Sequence[_Piece], font: float
) -> Iterator[Shape]:
    """Yield a cross and a number for each point."""
    reach = 0.18 * font
    anchors = [Extent(x, y, x, y).grown(reach) for x, y in points]
    labels = [Label((str(number),), anchor) for number, anchor in enumerate(anchors, 1)]
    obstacles = [*anchors, *(each.extent for each in pieces)]
    placed = place_labels(labels, obstacles, extent_of([points]).grown(MARGIN), 0.6 * font)
    for code, ((x, y), place) in enumerate(zip(points, placed, strict=True)):
        lines = ((x - reach, y), (x + reach, y)), ((x, y - reach), (x, y + reach))
        cross = Shape("point", "line", lines, army, code, f"point {code + 1}")
        yield cross
        yield cross._replace(kind="label", parts=(place.box.corners,), text=place.lines)


# --- names ---------------------------------------------------------------------------------


def _named(
    scenario: Scenario, pieces: Sequence[_Piece], aimed: _Aimed | None, shapes: Sequence[Shape]
) -> list[Named]:
    """Return everything with a name: units, characters outside units, and terrain."""
    left = {each.piece.code for each in pieces if each.left}
    found = []
    for each in pieces:
        piece = each.piece
        if piece.host not in left:  # otherwise the unit's label includes it
            states, note = _states(each, aimed), _note(each, aimed)
            who = Shape("name", "label", (), piece.army, piece.code, piece.name, states, note=note)
            found.append(Named(_words(scenario, each), each.extent, who))
    for shape in shapes:
        if shape.role == "terrain":
            anchor = extent_of(shape.parts)
            if min(anchor.width, anchor.height) > _THIN:
                anchor = Extent(*anchor.middle, *anchor.middle)  # write the name on it
            who = shape._replace(role="name", states=("terrain", *shape.states))
            found.append(Named((shape.name,), anchor, who))
    return found


def _words(scenario: Scenario, each: _Piece) -> tuple[str, ...]:
    """Return the lines on a piece's label."""
    piece, army = each.piece, scenario.armies[each.piece.army]
    words = [piece.name]
    if piece.is_unit and 0 < each.left < piece.models:
        words[0] += f" {each.left}/{piece.models}"
    if piece.is_unit and each.left:
        companions = army.companions(army.units[piece.code % TARGETS])
        with_it = [who.name for who in companions if who.name != piece.name]
        if with_it:
            words.append(f"with {', '.join(with_it)}")
    if not each.left:
        words.append("(destroyed)")
    elif each.fleeing:
        words.append("(flees)")
    return tuple(words)
