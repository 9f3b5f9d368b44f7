"""The shapes of a battlefield: positions, legal targets, places of names."""

import re
from itertools import combinations
from math import dist
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.support import builders
from tests.support.builders import Data
from tests.support.packed import scenario as new_scenario
from wfb_gym.engine.actions import FIRST_TARGET
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.packing.records import OUT_OF_REACH
from wfb_gym.render.battlefield import MARGIN, draw_battlefield
from wfb_gym.render.captions import LETTERS
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.shapes import Drawing, Shape, extent_of
from wfb_gym.scenario import bundled_scenarios, load_scenario
from wfb_gym.scenario.battlefield import target_number
from wfb_gym.scenario.scenario import Scenario, explain_targets
from wfb_gym.scenario.sizes import TARGETS, UNITS

SKIRMISH = load_scenario("border-skirmish")
FIELDS = [name for name in bundled_scenarios() if load_scenario(name).battlefield is not None]


def of_role(drawing: Drawing, *roles: str) -> list[Shape]:
    return [shape for shape in drawing.shapes if shape.role in roles and shape.code is not None]


def labels(drawing: Drawing) -> list[Shape]:
    return [shape for shape in drawing.shapes if shape.kind == "label"]


def spell_number(scenario: Scenario, army: int, wizard: str, spell: str) -> int:
    characters, slots = scenario.armies[army].characters, scenario.slots[army].spells
    return [(characters[s.wizard].name, s.spell.name) for s in slots].index((wizard, spell))


def on_field(
    caster: Data, dispeller: Data, terrain: tuple[Data, ...] = (), depth: float = 48
) -> Scenario:
    field = {"width": 72, "depth": depth, "terrain": list(terrain)}
    return new_scenario(caster, dispeller, battlefield=field)


def placed(name: str, x: float, y: float, **keys: Any) -> Data:
    return builders.unit(name, position=[x, y], **keys)


@pytest.mark.parametrize("name", FIELDS)
def test_names_do_not_overlap_and_are_ten_pixels_high_on_a_phone(name: str) -> None:
    scenario = load_scenario(name)
    drawing = draw_battlefield(scenario)
    boxes = [extent_of(shape.parts) for shape in labels(drawing)]
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    assert all(box.cut(drawing.extent) == box for box in boxes)
    wide = drawing.extent.right - drawing.extent.left
    for shape, box in zip(labels(drawing), boxes, strict=True):
        assert (box.top - box.bottom) / len(shape.text) / wide * 390 > 390 / LETTERS
    texts = " ".join(" ".join(shape.text) for shape in labels(drawing))
    for army in scenario.armies:
        named = [unit.name for unit in army.units] + [who.name for who in army.characters]
        assert [name for name in named if name not in texts] == []
    units, names = of_role(drawing, "unit"), of_role(drawing, "name")
    pieces = [extent_of(shape.parts) for shape in units]
    boxes = [extent_of(shape.parts) for shape in names]
    assert not [1 for box in boxes for piece in pieces if box.overlaps(piece)]
    for shape, box in zip(names, boxes, strict=True):  # each nearest to its own piece
        ways = {each.name: dist(*box.way_to(extent_of(each.parts))) for each in units}
        if shape.name in ways:
            assert ways[shape.name] == min(ways.values())


def test_pieces_close_combat_flight_and_the_ground() -> None:
    drawing = draw_battlefield(SKIRMISH)
    units = {(shape.army, shape.name): len(shape.parts) for shape in of_role(drawing, "unit")}
    for side, army in enumerate(SKIRMISH.armies):
        for unit in army.units:
            assert units[side, unit.name] == unit.models
    assert [shape.name for shape in of_role(drawing, "wizard")] == ["Battle Wizard", "Sorcerer"]
    assert [shape.name for shape in of_role(drawing, "character")] == ["Captain", "Champion"]
    assert {shape.name for shape in of_role(drawing, "combat")} == {"Knights", "Marauder Horsemen"}
    (hill,) = (extent_of(shape.parts) for shape in drawing.shapes if shape.role == "terrain")
    assert not any(extent_of(shape.parts).overlaps(hill) for shape in of_role(drawing, "name"))
    drawing = draw_battlefield(load_scenario("tower-of-the-nine-panes"))
    fled = [shape.name for shape in of_role(drawing, "unit") if "fleeing" in shape.states]
    assert fled == ["Warhounds"]


def test_it_is_cropped_to_the_models_and_terrain_is_cut() -> None:
    drawing = draw_battlefield(SKIRMISH, legend=False)
    models = [part for shape in of_role(drawing, "unit", "wizard") for part in shape.parts]
    for shown, around in zip(drawing.extent, extent_of(models).grown(MARGIN), strict=True):
        assert shown == pytest.approx(around)
    terrain = [shape for shape in drawing.shapes if shape.role == "terrain"]
    assert [shape.name for shape in terrain] == ["Gallows Hill"]  # the copse is outside the picture
    wide = {"name": "Hill", "kind": "hill", "size": [40, 30], "position": [10, 30]}
    scenario = on_field({}, builders.army(units=[placed("Near", 15, 20)]), (wide,))
    (hill,) = [shape for shape in draw_battlefield(scenario).shapes if shape.role == "terrain"]
    extent = draw_battlefield(scenario, legend=False).extent
    assert extent_of(hill.parts).cut(extent) == extent_of(hill.parts)
    assert draw_battlefield(on_field({}, {}, depth=30), legend=False).extent == (0, 0, 72, 30)


@pytest.mark.parametrize(("facing", "way"), [(0, (0, 1)), (90, (1, 0)), (180, (0, -1))])
def test_a_triangle_shows_the_facing_of_a_unit(facing: float, way: tuple[float, float]) -> None:
    units = [placed("Guard", 20, 20, facing=facing), placed("Scouts", 30, 20, skirmish=True)]
    scenario = on_field(builders.army(units=units), {})
    (front,) = of_role(draw_battlefield(scenario), "front")
    assert front.name == "Guard"  # skirmishers look all round
    tip = np.array(front.parts[0]) - [20, 20]
    assert tip[2] @ np.array(way) == pytest.approx(np.hypot(*tip[2]))
    assert tip[:2] @ np.array(way) == pytest.approx(0)


def test_legal_targets_range_and_arc_of_a_spell() -> None:
    scenario, army, wizard, spell = SKIRMISH, 0, "Battle Wizard", "Fire Ball"
    number = spell_number(scenario, army, wizard, spell)
    drawing = draw_battlefield(scenario, spell=(army, number))
    rows = explain_targets(scenario, army, wizard, spell)
    legal = {row.target for row in rows if row.legal}
    assert legal
    marked = [shape for shape in of_role(drawing, "unit", "character") if "legal" in shape.states]
    assert {(shape.army, shape.name) for shape in marked} == {(1 - army, name) for name in legal}
    assert sorted(shape.name for shape in of_role(drawing, "outline")) == sorted([*legal, wizard])
    reasons = {row.target: row.reason for row in rows}
    noted = {shape.name: shape.note for shape in of_role(drawing, "unit") if shape.army != army}
    assert reasons["Marauder Horsemen"] in noted["Marauder Horsemen"]
    reach = scenario.armies[army].wizards[0].spells[0].effect
    assert reach is not None
    assert reach.range_inches is not None
    polygons = scenario.deployment.polygons
    assert polygons is not None
    caster = target_number(army, UNITS)
    circle = next(shape for shape in drawing.shapes if shape.role == "range")
    places = np.concatenate([np.array(part) for part in circle.parts])
    away = polygons.distances_from(places, caster)
    assert (np.abs(away - reach.range_inches) < 0.1).all()
    eye = polygons.middle(caster)
    arc = next(shape for shape in drawing.shapes if shape.role == "arc")
    ends = np.concatenate([np.array(part) for part in arc.parts]) - eye
    assert (np.abs(np.abs(ends[:, 0]) - ends[:, 1]) < 1e-6).all()  # 45 degrees to each side


def test_terrain_that_a_range_is_measured_from() -> None:
    scenario = load_scenario("the-winds-unbound")
    number = spell_number(scenario, 0, "Jade Wizard", "Master of the Wood")
    drawing = draw_battlefield(scenario, spell=(0, number))
    circle = next(shape for shape in drawing.shapes if shape.role == "range")
    polygons = scenario.deployment.polygons
    assert polygons is not None
    (wood,) = [shape for terrain, shape in polygons.features if terrain.kind == "wood"]
    effect = scenario.slots[0].spells[number].spell.effect
    assert effect is not None
    assert effect.near is not None
    import shapely  # type: ignore[import-untyped]

    places = np.concatenate([np.array(part) for part in circle.parts])
    away = shapely.distance(shapely.points(places), wood)
    assert (np.abs(away - effect.near.within) < 0.1).all()


def test_points_for_comets_are_numbered_at_their_places() -> None:
    scenario = load_scenario("the-shattered-gate")
    number = spell_number(scenario, 1, "Star Mage", "The Comet of Casandora")
    drawing = draw_battlefield(scenario, spell=(1, number))
    points = [shape for shape in of_role(drawing, "point") if shape.kind == "line"]
    army = pack(scenario)[0].armies[1]
    assert [shape.code for shape in points] == list(range(int(army.n_points)))
    numbers = [shape.text for shape in of_role(drawing, "point") if shape.kind == "label"]
    assert numbers == [(str(k + 1),) for k in range(len(points))]
    polygons = scenario.deployment.polygons
    assert polygons is not None
    for shape, inches in zip(points, army.inches, strict=False):
        place = np.array(extent_of(shape.parts).middle)
        for code, away in enumerate(inches):
            if away != OUT_OF_REACH:
                assert away - 1 < polygons.distances_from(place, code) + 1e-6 <= away + 2e-6
    assert not of_role(draw_battlefield(scenario), "point")


def test_a_position_shows_its_casualties_and_who_fled() -> None:
    battle = Battle(pack(SKIRMISH))
    units = {unit.name: index for index, unit in enumerate(SKIRMISH.dispeller.units)}
    battle.state.unit_wounds[1, units["Marauders"]] = 3
    battle.state.unit_wounds[1, units["Chaos Knights"]] = 0
    battle.state.fleeing[1] = 1 << units["Chaos Warriors"]
    drawing = draw_battlefield(SKIRMISH, battle, (0, 0))
    shapes = {(shape.role, shape.name): shape for shape in of_role(drawing, "unit", "lost", "name")}
    whole = draw_battlefield(SKIRMISH)
    (all_of_them,) = [s for s in of_role(whole, "unit") if s.name == "Marauders"]
    assert shapes["unit", "Marauders"].parts == all_of_them.parts[:3]  # the rear falls first
    assert shapes["lost", "Marauders"].parts == all_of_them.parts[3:]
    assert "Marauders 3/25" in shapes["name", "Marauders"].text
    assert ("unit", "Chaos Knights") not in shapes
    assert shapes["name", "Chaos Knights"].text[-1] == "(destroyed)"
    assert "fleeing" in shapes["unit", "Chaos Warriors"].states
    assert "legal" not in shapes["lost", "Chaos Knights"].states


def test_legal_targets_in_a_position_are_the_engines() -> None:
    battle = Battle(pack(SKIRMISH))
    battle.state.unit_wounds[1, 1] = 0
    while not battle.is_decision():
        battle.roll(*[3] * (battle.dice_to_roll or 1))
    battle.act(battle.legal_actions()[1])
    drawing = draw_battlefield(SKIRMISH, battle, (0, int(battle.state.spell) - 1))
    aimed = {FIRST_TARGET + 1 + TARGETS + index: index for index in range(TARGETS)}
    expected = {target_number(1, aimed[code]) for code in battle.legal_actions()}
    marked = of_role(drawing, "unit", "character", "wizard")
    assert {shape.code for shape in marked if "legal" in shape.states} == expected
    assert target_number(1, UNITS) in expected  # the Sorcerer's unit is gone


@pytest.mark.parametrize("name", ["<b>&\"'</b>", "$\\odd{$ [/red] :smile:", "ßøæ–…"])  # noqa: RUF001
def test_names_are_drawn_unchanged(name: str) -> None:
    terrain = {"name": name, "kind": "wood", "position": [12, 20], "size": [4, 4]}
    caster = builders.army(name=name, heroes=[{"name": name, "position": [10, 10]}])
    scenario = on_field(caster, builders.army(units=[placed(name, 10, 40)]), (terrain,))
    root = ET.fromstring(to_svg(draw_battlefield(scenario)))
    named = {element.get("data-name") for element in root.iter()} - {None}
    assert named == {name, "the battlefield"}
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}g")]
    assert any(name.split(maxsplit=1)[0] in text for text in texts)


@pytest.mark.parametrize("name", ["W" * 100, "x " * 49 + "x"])
def test_names_of_any_length_stay_in_the_picture(name: str) -> None:
    hero = {"profile": "Captain", "name": name, "unit": "Unit 1"}
    heroes = [hero, {**hero, "name": "y" * 100}]
    units = [placed(f"Unit {k}", 10 + 5 * k, 20) for k in range(8)]
    wood = {"kind": "wood", "size": [0.2, 0.2]}
    terrain = [{**wood, "name": f"{k}{name}"[:100], "position": [k / 4, 26]} for k in range(30, 60)]
    caster = builders.army(name=name, units=units, heroes=heroes)
    foes = builders.army(name=name, units=[placed(name, 30, 30)])
    scenario = on_field(caster, foes, tuple(terrain))
    drawing = draw_battlefield(scenario)
    boxes = [extent_of(shape.parts) for shape in labels(drawing)]
    assert all(box.cut(drawing.extent) == box for box in boxes)
    words = [" ".join(shape.text) for shape in labels(drawing)]
    assert len({text for text in words if len(text) < 3}) == 8 + 1 + 30  # tags, each once


def test_svg_elements_name_their_target() -> None:
    svg = to_svg(draw_battlefield(SKIRMISH, spell=(0, 0)))
    found: dict[tuple[str | None, str | None], list[Any]] = {}
    for element in ET.fromstring(svg).iter():
        found.setdefault((element.get("data-army"), element.get("data-code")), []).append(element)
    knights = found["1", str(target_number(1, 2))]
    assert {element.get("data-name") for element in knights} == {"Chaos Knights"}
    classes = [(element.get("class") or "").split() for element in knights]
    assert {each[1] for each in classes} == {"touch", "unit", "front", "outline", "name"}
    assert all("legal" in each for each in classes)
    assert re.search(r"<script|href|url\(", svg) is None  # a lone character


def test_scenarios_and_spells_that_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="expected one with a battlefield, found archmage-duel"):
        draw_battlefield(load_scenario("archmage-duel"))
    with pytest.raises(ValueError, match=r"spell: expected one of 0\.\.1, found 7"):
        draw_battlefield(SKIRMISH, spell=(0, 7))
    fixed = on_field(builders.army(builders.wizard(1, builders.spell("Zap"), position=[5, 5])), {})
    with pytest.raises(ValueError, match="found Zap, whose worth is fixed"):
        draw_battlefield(fixed, spell=(0, 0))


@pytest.mark.needs("PIL")
def test_the_image_has_the_colours_of_the_pieces() -> None:
    from wfb_gym.render import colours
    from wfb_gym.render.drawing import to_image

    drawing = draw_battlefield(SKIRMISH)
    image = to_image(drawing, 900)
    left, bottom, right, top = drawing.extent
    scale = 900 / (right - left)
    assert image.size == (900, round((top - bottom) * scale))
    for name, colour in (
        ("Halberdiers", colours.UNITS[0]),
        ("Chaos Warriors", colours.UNITS[1]),
        ("Battle Wizard", colours.MAGIC),
    ):
        (shape,) = [s for s in of_role(drawing, "unit", "wizard") if s.name == name]
        x, y = extent_of(shape.parts[-1:]).middle
        assert image.getpixel((int((x - left) * scale), int((top - y) * scale))) == colour
