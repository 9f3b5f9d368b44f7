"""The battlefield of a scenario, and the positions on it."""

from typing import Any

import pytest

from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict

FIELD = {"width": 72.0, "depth": 48}
WOOD = {"name": "Old Wood", "kind": "wood", "position": [20, 24], "size": [8, 6]}
BOYZ = {"name": "Boyz", "models": 20, "toughness": 4, "points": 5}
EXTENT = "expected a place on the battlefield: x from 0 to 72 and y from 0 to 48"
EITHER = EXTENT.replace("a place", "its unit, or a place")


def scenario(field: dict[str, Any] | None = FIELD, **caster: Any) -> Scenario:
    data = {"name": "test", "caster": caster, "dispeller": {}}
    if field is not None:
        data["battlefield"] = field
    read = scenario_from_dict(data)
    assert scenario_from_dict(read.model_dump()) == read
    return read


def refused(field: dict[str, Any] | None = FIELD, **caster: Any) -> str:
    """Return the error for a scenario with one fault."""
    with pytest.raises(ScenarioError) as caught:
        scenario(field, **caster)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value)


def unit(**changes: Any) -> dict[str, Any]:
    return {**BOYZ, **changes}


def wizard(**changes: Any) -> dict[str, Any]:
    return {"name": "Anna", "level": 2, **changes}


def test_a_scenario_needs_no_battlefield() -> None:
    assert scenario(None, units=[BOYZ]).battlefield is None


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [
        ("wood", True),
        ("hill", True),
        ("ruins", True),
        ("building", True),
        ("water", False),
        ("wall", False),
        ("rocks", False),
    ],
)
def test_blocking_of_sight_follows_from_the_kind(kind: str, blocks: bool) -> None:
    field = scenario({**FIELD, "terrain": [{**WOOD, "kind": kind}]}).battlefield
    assert field is not None
    assert field.terrain[0].blocks_sight is blocks


def test_a_feature_may_set_whether_it_blocks_sight() -> None:
    field = scenario({**FIELD, "terrain": [{**WOOD, "blocks_sight": False}]}).battlefield
    assert field is not None
    assert not field.terrain[0].blocks_sight


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"width": 72}, "depth: expected a value, as the key is required, found no such key"),
        ({"width": 0, "depth": 48}, "width: expected a number from 1 to 240, found 0"),
        (
            {**FIELD, "terrain": [WOOD, WOOD]},
            'terrain[1].name: expected each name once, found "Old Wood"',
        ),
        (
            {**FIELD, "terrain": [{**WOOD, "size": [8, 0]}]},
            "terrain[0].size: expected two numbers from 0.1 to 240, found [8, 0]",
        ),
        (
            {**FIELD, "terrain": [{**WOOD, "kind": "swamp"}]},
            (
                'terrain[0].kind: expected "wood", "hill", "water", "rocks", "ruins", "building" '
                'or "wall", found "swamp"'
            ),
        ),
        (
            {**FIELD, "terrain": [{**WOOD, "position": [90, 24]}]},
            (
                "terrain[0].position: expected a centre on the battlefield: x from 0 to 72 and "
                "y from 0 to 48, found [90.0, 24.0]"
            ),
        ),
        ({**FIELD, "height": 3}, None),
    ],
)
def test_a_wrong_battlefield_gives_an_error(field: dict[str, Any], message: str | None) -> None:
    said = refused(field)
    if message is None:
        assert said.endswith('found unknown key "height"')
    else:
        assert said == f"scenario: battlefield.{message}"


def test_without_a_battlefield_no_piece_has_a_position() -> None:
    expected = "expected no value without a battlefield, found [1.0, 2.0]"
    assert refused(None, units=[unit(position=[1, 2])]) == (
        f"scenario: caster.units[0].position: {expected}"
    )
    assert refused(None, wizards=[wizard(position=[1, 2])]) == (
        f"scenario: caster.wizards[0].position: {expected}"
    )


def test_on_a_battlefield_every_unit_has_a_position() -> None:
    assert scenario(units=[unit(position=[30, 20.5])]).caster.units[0].position == (30.0, 20.5)
    assert refused(units=[BOYZ]) == (
        f"scenario: caster.units[0].position: {EXTENT}, found no such key"
    )


def test_a_lone_character_has_a_position() -> None:
    assert scenario(wizards=[wizard(position=[30, 20])]).caster.wizards[0].position == (30, 20)
    assert refused(wizards=[wizard()]) == (
        f"scenario: caster.wizards[0].position: {EITHER}, found no such key"
    )


def test_a_position_is_on_the_battlefield() -> None:
    assert refused(units=[unit(position=[30, 48.5])]) == (
        f"scenario: caster.units[0].position: {EXTENT}, found [30.0, 48.5]"
    )


def test_the_whole_unit_is_on_the_battlefield() -> None:
    assert scenario(units=[unit(position=[2, 20])]).caster.units[0].position == (2.0, 20.0)
    # Five bases of 20 mm are 3.94 inches wide, 1.97 to either side of the middle.
    assert refused(units=[unit(position=[1, 20])]) == (
        "scenario: caster.units[0].position: expected a place on the battlefield, "
        "found 0.97 inches of Boyz off the battlefield"
    )


def test_units_do_not_overlap() -> None:
    first, second = unit(position=[30, 20]), unit(name="More", position=[32, 20])
    assert refused(units=[first, second]) == (
        "scenario: caster.units[1].position: expected a free place, "
        "found More over Boyz (caster.units[0])"
    )
    beside = scenario(units=[first, {**second, "position": [36, 20]}])
    assert beside.caster.units[1].position == (36.0, 20.0)


@pytest.mark.parametrize(("key", "value"), [("position", [30.0, 20.0]), ("facing", 90.0)])
def test_characters_in_a_unit_have_its_position(key: str, value: object) -> None:
    boyz, found = unit(position=[30, 20]), "[30.0, 20.0]" if key == "position" else "90.0"
    assert refused(units=[boyz], wizards=[wizard(unit="Boyz", **{key: value})]) == (
        f"scenario: caster.wizards[0].{key}: expected no value, as it is placed with its unit, "
        f"found {found}"
    )
    joined = scenario(units=[boyz], wizards=[wizard(unit="Boyz")])
    assert joined.caster.wizards[0].position is None


@pytest.mark.parametrize(("status", "words"), [("dead", "dead"), ("off_table", "off_table")])
def test_pieces_off_the_table_have_no_position(status: str, words: str) -> None:
    assert scenario(wizards=[wizard(status=status)]).caster.wizards[0].position is None
    assert refused(wizards=[wizard(status=status, position=[1, 1])]) == (
        f"scenario: caster.wizards[0].position: expected no value, as it is {words}, "
        "found [1.0, 1.0]"
    )
