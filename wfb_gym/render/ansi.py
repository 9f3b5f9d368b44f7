"""A battle in text for a terminal: what has just happened, and where both armies stand.

The standard library alone. Colours are plain ANSI and say nothing that the words do not; the
environment variable NO_COLOR turns them off.
"""

import math
import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.scoring import points_for_unit
from wfb_gym.engine.state import Node
from wfb_gym.engine.targets import flees, models_left
from wfb_gym.scenario import Scenario
from wfb_gym.view.events import Event, all_as_told
from wfb_gym.view.hidden_sets import (
    armies_known,
    chances_words,
    veiled,
)
from wfb_gym.view.names import (
    ScenarioNames,
    capital,
    dice_phrase,
    format_points,
    plural,
    points_phrase,
)
from wfb_gym.view.nodes import BEFORE_THE_BATTLE
from wfb_gym.view.position import (
    FLEES,
    ArmyView,
    ItemView,
    SpellStatus,
    SpellView,
    is_beyond_dispel,
    view_army,
)

_BOLD, _DIM = "1", "2"
_ARMIES = ("31", "34")
"""Colours of the armies: red and blue."""
_LIVELY = (SpellStatus.OPEN, SpellStatus.PENDING, SpellStatus.IN_PLAY)
"""Statuses of spells that are not dimmed."""
_BAR = 10
_DIE = "\N{BLACK SQUARE}"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TERRAIN = {
    "wood": "%", "hill": "^", "water": "~", "rocks": "*", "ruins": ";", "building": "#",
    "wall": "=",
}  # fmt: skip
_LINE = 2.0
"""Inches of depth that a line of the plan has: letters are twice as high as wide."""
_TOUCHED = 0.35
"""Share of a square from which it belongs to who stands there."""
_DIRECTIONS = ("up", "up right", "right", "down right", "down", "down left", "left", "up left")


def frame(
    scenario: Scenario,
    battle: Battle,
    events: Sequence[Event],
    *,
    seat: int = 0,
    colour: bool | None = None,
    known: Collection[int] | None = None,
) -> str:
    """Return what has happened and where both armies stand, as text.

    Args:
        scenario: that is played.
        battle: the visible position (`wfb_gym.transcripts.NarratedBattle.visible`).
        events: what has just happened, in order.
        seat: the viewer's army.
        colour: whether to colour; unless given, where NO_COLOR does not forbid it.
        known: armies whose hidden items are shown; unless given the viewer's, and all when the
            battle is over.

    Returns:
        Lines, the last without a line break.
    """
    style = AnsiStyle(colour)
    known = armies_known(battle, seat) if known is None else known
    told = list(all_as_told(ScenarioNames(scenario), events, known))
    lines = [*event_lines(told, style), *([""] if told else [])]
    return "\n".join(
        [*lines, *position_lines(scenario, battle, seat=seat, style=style, known=known)]
    )


class AnsiStyle:
    """Colours words, or leaves them as they are; by default as NO_COLOR says."""

    def __init__(self, colour: bool | None = None) -> None:
        self.on = not os.environ.get("NO_COLOR") if colour is None else colour

    def __call__(self, words: str, *codes: str) -> str:
        """Return the words in the colours of these codes."""
        return f"\x1b[{';'.join(codes)}m{words}\x1b[0m" if self.on and words else words


def event_lines(events: Sequence[Event], style: AnsiStyle) -> Iterator[str]:
    """Yield a line for each event, marked with its army's colour."""
    for event in events:
        mark = ">" if event.kind == "decision" else "*"
        yield f"{style(mark, _ARMIES[event.army], _BOLD)} {event.words}"


def position_lines(
    scenario: Scenario,
    battle: Battle,
    *,
    seat: int = 0,
    style: AnsiStyle,
    known: Collection[int] | None = None,
) -> Iterator[str]:
    """Yield lines on where both armies stand: dice, wizards, spells, items, units, points.

    Hidden items are shown of the armies `known`, as `frame` has it.
    """
    known = armies_known(battle, seat) if known is None else known
    battle = veiled(battle, known)
    names, state = ScenarioNames(scenario), battle.state
    phase = f"phase {int(state.phase) + 1} of {int(battle.packed.phases)}"
    selecting = battle.node in BEFORE_THE_BATTLE
    if selecting:
        phase = "before the battle"
    score = points_phrase(names, battle.points)
    yield style(f"{scenario.name}, {'over' if battle.is_over else phase}: {score}", _BOLD)
    for army, name in enumerate(names.armies):
        heading, dice = f"{capital(name)}{', you' if army == seat else ''}", ""
        if not battle.is_over:
            dice = "" if selecting else f"  {_dice(battle, army)}"
            if battle.mover == army and battle.node != Node.DEAL:
                heading += " to decide" if battle.is_decision() else " rolls"
        yield style(heading, _ARMIES[army], _BOLD) + dice
        facts = view_army(names, battle, army, army in known)
        yield from _characters(facts, style)
        if facts.items:
            yield f"  items of the army: {_items(facts.items)}"
        yield from _hidden(facts)
        yield from _units(scenario, battle, army, style)
    if not battle.is_over and state.spell and (pending := names.pending(battle)):
        at, number = names.at_pending_target(battle), int(state.number)
        match = f", {number} to match" if number else ""
        if is_beyond_dispel(battle):
            match = ", beyond what dispel dice can match"
        yield style(f"Pending: {names.spell(*pending)}{at}{match}", _BOLD)


def battlefield_lines(scenario: Scenario, battle: Battle) -> Iterator[str]:
    """Yield a plan of the battlefield, two inches deep a line and one wide a letter, and its key.

    Args:
        scenario: that is played.
        battle: the visible position.
    """
    field = scenario.battlefield
    if field is None:
        yield "There is no battlefield: every target is in range and in sight."
        return
    shapes, letters = scenario.deployment.outlines(), iter(_LETTERS)
    rows = [[" "] * math.ceil(field.width) for _ in range(math.ceil(field.depth / _LINE))]
    keys = []
    for terrain in field.terrain:
        _draw(rows, shapes["terrain"][terrain.name], _TERRAIN[terrain.kind])
        keys.append(f"{_TERRAIN[terrain.kind]} {terrain.name}")
    for army, (side, standing) in enumerate(scenario.keyed_armies()):
        names = ScenarioNames(scenario).armies[army]
        keys += ["", capital(names)]
        for name, shape in shapes[side].items():
            index = standing.unit_index(name)
            if index is None:
                who = next(each for each in standing.characters if each.name == name)
                wounds = int(battle.state.wounds[army, standing.characters.index(who)])
                if not wounds or standing.unit_of(who) is not None:
                    continue
                told, facing = "character", who.facing
            else:
                models = int(models_left(battle.packed, battle.state, army, index))
                if not models:
                    continue
                unit = standing.units[index]
                told, facing = plural(models, "model"), unit.facing
                told += ", in combat" if unit.in_combat else ""
                told += f", {FLEES}" if flees(battle.state, army, index) else ""
                within = [each.name for each in standing.companions(unit)]
                told += f", with {', '.join(within)}" if within else ""
            letter = next(letters, "?")
            _draw(rows, shape, letter)
            keys.append(f"{letter} {name}: {told}, looks {_compass(facing)}")
    edge = "+" + "-" * len(rows[0]) + "+"
    yield from [edge, *(f"|{''.join(row)}|" for row in reversed(rows)), edge]
    near = ScenarioNames(scenario).armies[0]
    yield f'{field.width:g}" by {field.depth:g}"; up is away from {near}'
    yield from keys


def _draw(rows: list[list[str]], shape: Any, letter: str) -> None:
    """Mark the squares that a shape touches, at least the one of its middle."""
    from shapely import box  # type: ignore[import-untyped]

    shape = shape.convex_hull  # without the gaps between bases
    left, low, right, high = shape.bounds
    middle = shape.centroid
    for y, row in enumerate(rows):
        for x in range(len(row)):
            if x + 1 < left or x > right or _LINE * (y + 1) < low or _LINE * y > high:
                continue
            square = box(x, _LINE * y, x + 1, _LINE * (y + 1))
            holds_middle = int(middle.x) == x and int(middle.y / _LINE) == y
            if holds_middle or square.intersection(shape).area > _TOUCHED * square.area:
                row[x] = letter


def _compass(facing: float) -> str:
    """Return where who faces so many degrees looks on the plan."""
    return _DIRECTIONS[round(facing / 45.0) % len(_DIRECTIONS)]


def _dice(battle: Battle, army: int) -> str:
    state, own = battle.state, int(battle.state.own_dice.sum())
    pools = [(int(state.power), "power")] + [(own, "own")] * (own > 0)
    if army != int(state.active):
        pools = [(int(state.dispel), "dispel")]
    return " and ".join(f"{_DIE * dice} {dice_phrase(dice, kind)}".lstrip() for dice, kind in pools)


def _characters(army: ArmyView, style: AnsiStyle) -> Iterator[str]:
    """Yield the characters, and under each its spells and items."""
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
            what = f"{plural(unknown, 'spell')} of its lore"
            yield style(f"{'':8}{what:<28} {SpellStatus.UNKNOWN.value}", _DIM)
        for spell in who.spells:
            if spell.status != SpellStatus.UNKNOWN:
                row = _spell_row(spell)
                yield row if spell.status in _LIVELY else style(row, _DIM)
        if who.items:
            yield f"{'':8}items: {_items(who.items)}"


def _spell_row(spell: SpellView) -> str:
    """Return a spell with its casting value; of one bound in an item its power level, and where."""
    name = f"{spell.name} ({spell.item})" if spell.item else spell.name
    return f"   {spell.value:>4} {name:<28} {spell.words}".rstrip()


def _items(items: Sequence[ItemView]) -> str:
    """Return items in words, with the number of uses that are left."""
    numbers: dict[tuple[str, str], int] = defaultdict(int)  # equal ones may be in several entries
    for item in items:
        numbers[item.name, item.spent] += item.number
    return ", ".join(
        f"{name}{f' x{number}' if number > 1 else ''}{f' ({spent})' if spent else ''}"
        for (name, spent), number in numbers.items()
    )


def _hidden(army: ArmyView) -> Iterator[str]:
    """Yield the hidden items of an army, or what they may be."""
    if army.hidden:
        yield f"  hidden items: {army.hidden}"
    if army.may_have:
        yield f"  may have: {chances_words(army.may_have)}"


def _units(scenario: Scenario, battle: Battle, army: int, style: AnsiStyle) -> Iterator[str]:
    for index, unit in enumerate(scenario.armies[army].units):
        left = int(models_left(battle.packed, battle.state, army, index))
        full = round(_BAR * left / unit.models)
        bar = "#" * full + "." * (_BAR - full)
        points = float(points_for_unit(battle.packed, battle.state, army, index))
        cost = f"  -{format_points(points)} points" if points else ""
        fled = flees(battle.state, army, index)
        row = f"  {unit.name:<28} {bar} {left:>3} of {unit.models}{cost}"
        row += f"  {FLEES}" if fled else ""
        yield style(row, _DIM) if left == 0 or fled else row
