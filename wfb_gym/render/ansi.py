"""Text for a terminal: the latest events and both armies' position.

Colours use ANSI codes and carry no extra information; the environment variable NO_COLOR turns them
off.
"""

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario
from wfb_gym.view.armies import FLEES, ArmyView, ItemView, SpellStatus, UnitView
from wfb_gym.view.events import Event, redact_events
from wfb_gym.view.hidden_sets import armies_known, chances_words
from wfb_gym.view.names import (
    ScenarioNames,
    capital,
    dice_phrase,
    format_points,
    plural,
    plural_points,
)
from wfb_gym.view.position import PositionView, view_position

_BOLD, _DIM = "1", "2"
_ARMIES = ("31", "34")  # the armies' ANSI colours: red and blue
_NOT_DIMMED = (SpellStatus.CASTABLE, SpellStatus.PENDING, SpellStatus.IN_PLAY)
_BAR = 10
_DIE = "\N{BLACK SQUARE}"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TERRAIN = {
    "wood": "%", "hill": "^", "water": "~", "rocks": "*", "ruins": ";", "building": "#",
    "wall": "=",
}  # fmt: skip
_LINE = 2.0
"""Depth of the battlefield per line of the map, in inches: letters are twice as high as wide."""
_TOUCHED = 0.35  # fraction of a square that a shape must cover for the square to be marked
_DIRECTIONS = ("up", "up right", "right", "down right", "down", "down left", "left", "up left")


def frame(
    scenario: Scenario,
    battle: Battle,
    events: Sequence[Event],
    *,
    seat: int = 0,
    colour: bool | None = None,
) -> str:
    """Return the latest events and the position as text.

    Args:
        scenario: the scenario.
        battle: the visible position (`wfb_gym.transcripts.NarratedBattle.visible`).
        events: the latest events, in order.
        seat: the viewer's army. Until the end, only its own hidden items are shown.
        colour: whether to use colours. Defaults to True, or False if NO_COLOR is set.

    Returns:
        Lines of text, without a final line break.
    """
    style, names = AnsiStyle(colour), ScenarioNames(scenario)
    visible = redact_events(names, events, armies_known(battle, seat))
    lines = [*event_lines(visible, style), *([""] if events else [])]
    view = view_position(names, battle, seat, with_points=False)
    return "\n".join([*lines, *position_lines(view, style)])


class AnsiStyle:
    """Adds ANSI colours to text; `colour` is on by default unless NO_COLOR is set.

    With `graphics` off, dice and losses are only numbers, without squares and bars.
    """

    def __init__(self, colour: bool | None = None, *, graphics: bool = True) -> None:
        self.on = not os.environ.get("NO_COLOR") if colour is None else colour
        self.graphics = graphics

    def __call__(self, words: str, *codes: str) -> str:
        """Return the words wrapped in these ANSI codes."""
        return f"\x1b[{';'.join(codes)}m{words}\x1b[0m" if self.on and words else words


def event_lines(events: Iterable[Event], style: AnsiStyle) -> Iterator[str]:
    """Yield a line for each event, marked in its army's colour."""
    for event in events:
        mark = ">" if event.kind == "decision" else "*"
        yield f"{style(mark, _ARMIES[event.army], _BOLD)} {event.words}"


def position_lines(view: PositionView, style: AnsiStyle, *, points: bool = False) -> Iterator[str]:
    """Yield the lines that show a position: score, dice, characters, spells, items and units."""
    yield style(f"{view.scenario}, {view.stage}: {view.score}", _BOLD)
    for army in view.armies:
        heading = f"{capital(army.words)}{', you' if army.army == view.viewer else ''}"
        heading += {"": "", "decides": " to decide"}.get(army.activity, f" {army.activity}")
        dice = f"  {_dice(army, style)}" if army.pool_kind else ""
        yield style(heading, _ARMIES[army.army], _BOLD) + dice
        yield from _characters(army, style, view.point if points else "")
        if army.items:
            yield f"  items of the army: {_items(army.items)}"
        if army.hidden:
            yield f"  hidden items: {army.hidden}"
        if army.may_have:
            yield f"  may have: {chances_words(army.may_have)}"
        for unit in army.units:
            yield _unit_row(unit, style)
    if view.pending:
        yield style(f"Pending: {view.pending}", _BOLD)


def battlefield_lines(scenario: Scenario, battle: Battle) -> Iterator[str]:
    """Yield a map of the battlefield and its key; a line is 2 inches deep, a letter 1 inch wide."""
    field = scenario.battlefield
    if field is None:
        yield "There is no battlefield: every target is in range and in sight."
        return
    shapes, letters = scenario.deployment.outlines(), iter(_LETTERS)
    squares = np.full((math.ceil(field.depth / _LINE), math.ceil(field.width)), " ")
    keys = []
    for terrain in field.terrain:
        _draw(squares, shapes["terrain"][terrain.name], _TERRAIN[terrain.kind])
        keys.append(f"{_TERRAIN[terrain.kind]} {terrain.name}")
    view = view_position(ScenarioNames(scenario), battle, with_points=False)
    for army, (side, standing) in zip(view.armies, scenario.keyed_armies(), strict=True):
        keys += ["", capital(army.words)]
        for name, shape in shapes[side].items():
            index = standing.unit_index(name)
            if index is None:
                who = next(each for each in army.characters if each.name == name)
                if not who.wounds or who.place:
                    continue
                description = "character"
                facing = next(each.facing for each in standing.characters if each.name == name)
            else:
                unit, facing = army.units[index], standing.units[index].facing
                if not unit.models:
                    continue
                description = plural(unit.models, "model")
                description += f", {unit.condition}" if unit.condition else ""
                within = [each.name for each in standing.companions(standing.units[index])]
                description += f", with {', '.join(within)}" if within else ""
            letter = next(letters, "?")
            _draw(squares, shape, letter)
            looks = _DIRECTIONS[round(facing / 45.0) % len(_DIRECTIONS)]
            keys.append(f"{letter} {name}: {description}, looks {looks}")
    edge = f"+{'-' * squares.shape[1]}+"
    yield from [edge, *(f"|{''.join(row)}|" for row in squares[::-1]), edge]
    yield f'{field.width:g}" by {field.depth:g}"; up is away from {view.armies[0].words}'
    yield from keys


def _draw(squares: NDArray[np.str_], shape: Any, letter: str) -> None:
    """Mark the squares that a shape covers, and always the square at its centre."""
    from shapely import area, box, intersection  # type: ignore[import-untyped]

    shape = shape.convex_hull  # fills the gaps between bases
    y, x = np.indices(squares.shape)
    covered = area(intersection(box(x, _LINE * y, x + 1, _LINE * (y + 1)), shape))
    holds_middle = (x == int(shape.centroid.x)) & (y == int(shape.centroid.y / _LINE))
    squares[holds_middle | (covered > _TOUCHED * _LINE)] = letter


def _dice(army: ArmyView, style: AnsiStyle) -> str:
    own = sum(who.dice for who in army.characters)
    pools = [(army.pool, army.pool_kind)] + [(own, "own")] * (own > 0)
    die = _DIE if style.graphics else ""
    return " and ".join(f"{die * dice} {dice_phrase(dice, kind)}".lstrip() for dice, kind in pools)


def _characters(army: ArmyView, style: AnsiStyle, point: str) -> Iterator[str]:
    """Yield the characters, each followed by its spells and items.

    Castable spells have their expected points in the unit `point`, unless it is "".
    """
    for who in army.characters:
        parts = [f"level {who.level}"] if who.level else []
        parts.append(f"{who.wounds} of {who.full_wounds} wounds" if who.wounds else "dead")
        if who.dice:
            parts.append(f"{who.dice} own dice")
        if who.condition and who.wounds:
            parts.append(who.condition)
        yield f"  {who.name}: {', '.join(parts)}"
        unknown = sum(spell.status == SpellStatus.UNKNOWN for spell in who.spells)
        if unknown:
            spells = f"{plural(unknown, 'spell')} of its lore"
            yield style(f"{'':8}{spells:<28} {SpellStatus.UNKNOWN.value}", _DIM)
        for spell in who.spells:
            if spell.status != SpellStatus.UNKNOWN:
                name = f"{spell.name} ({spell.item})" if spell.item else spell.name
                row = f"   {spell.value:>4} {name:<28} {spell.words}".rstrip()
                if point and spell.status == SpellStatus.CASTABLE and spell.points is not None:
                    row += f", {plural_points(spell.points, point)}"
                yield row if spell.status in _NOT_DIMMED else style(row, _DIM)
        if who.items:
            yield f"{'':8}items: {_items(who.items)}"


def _items(items: Sequence[ItemView]) -> str:
    """Describe items, with the number of uses left."""
    numbers: dict[tuple[str, str], int] = defaultdict(int)  # equal items may have several entries
    for item in items:
        numbers[item.name, item.spent] += item.number
    return ", ".join(
        f"{name}{f' x{number}' if number > 1 else ''}{f' ({spent})' if spent else ''}"
        for (name, spent), number in numbers.items()
    )


def _unit_row(unit: UnitView, style: AnsiStyle) -> str:
    full = round(_BAR * unit.models / unit.full_models)
    bar = "#" * full + "." * (_BAR - full)
    cost = f"  -{format_points(unit.points_lost)} points" if unit.points_lost else ""
    row = f"  {unit.name:<28} {bar} {unit.models:>3} of {unit.full_models}{cost}"
    if not style.graphics:
        row = f"  {unit.name}: {unit.models} of {unit.full_models} models{cost}"
    fled = unit.condition == FLEES
    row += f"  {FLEES}" if fled else ""
    return style(row, _DIM) if unit.models == 0 or fled else row
