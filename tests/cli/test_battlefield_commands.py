"""Commands about a battlefield: what can be cast at, and a picture of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wfb_gym.cli import draw, main
from wfb_gym.packing import pack
from wfb_gym.packing.records import OUT_OF_REACH
from wfb_gym.scenario import load_scenario, scenario_from_dict

Capture = pytest.CaptureFixture[str]
SKIRMISH = "border-skirmish"


def output(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def error_of(capsys: Capture, *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    captured = capsys.readouterr()
    assert (end.value.code, captured.out) == (2, "")
    return captured.err


def targets(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output(capsys, "targets", *arguments, "--json"))
    return found


def test_targets_of_every_spell_of_both_sides(capsys: Capture) -> None:
    found = targets(capsys, SKIRMISH)
    assert {(each["side"], each["spell"]) for each in found} == {
        ("caster", "Fire Ball"),
        ("caster", "Fiery Blast"),
        ("dispeller", "Dark Hand of Death"),
        ("dispeller", "Wind of Death"),
    }


def test_a_reason_stands_where_a_target_is_illegal(capsys: Capture) -> None:
    (spell,) = targets(capsys, SKIRMISH, "--spell", "Fire Ball")
    rows = {row["target"]: row for row in spell["targets"]}
    assert rows["Chaos Warriors"]["legal"]
    assert rows["Chaos Warriors"]["reason"] == ""
    assert not rows["Marauder Horsemen"]["legal"]
    assert "close combat" in rows["Marauder Horsemen"]["reason"]


def test_one_side_and_one_wizard_alone(capsys: Capture) -> None:
    assert {each["side"] for each in targets(capsys, SKIRMISH, "--side", "dispeller")} == {
        "dispeller"
    }
    assert {each["wizard"] for each in targets(capsys, SKIRMISH, "--wizard", "Battle Wizard")} == {
        "Battle Wizard"
    }


def test_targets_in_words(capsys: Capture) -> None:
    lines = output(capsys, "targets", SKIRMISH, "--spell", "Fire Ball").splitlines()
    assert lines[0] == "Fire Ball, Battle Wizard (caster)"
    assert any(line.split()[-1] == "yes" for line in lines[1:])
    assert any("no: is in close combat" in line for line in lines[1:])


def test_an_unknown_spell(capsys: Capture) -> None:
    message = error_of(capsys, "targets", SKIRMISH, "--spell", "Fireball")
    assert "expected an aimed spell of a wizard of the scenario" in message


def test_an_unknown_scenario(capsys: Capture) -> None:
    assert "the name of a bundled one" in error_of(capsys, "targets", "nowhere")
    assert "the name of a bundled one" in error_of(capsys, "draw", "nowhere")


@pytest.mark.needs("matplotlib")
def test_a_picture_of_the_battlefield(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "field.png"
    assert output(capsys, "draw", SKIRMISH, "--out", str(path)) == f"{path}\n"
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.needs("matplotlib")
def test_every_unit_and_piece_of_terrain_is_named_in_the_picture() -> None:
    scenario = load_scenario("the-winds-unbound")
    (axes,) = draw.draw_battlefield(scenario).axes
    texts = "\n".join(text.get_text() for text in axes.texts)
    assert scenario.battlefield is not None
    named = [terrain.name for terrain in scenario.battlefield.terrain]
    for army in scenario.armies:
        named += [unit.name for unit in army.units]
        named += [each.name for each in army.characters]
    assert [name for name in named if name not in texts] == []


@pytest.mark.needs("matplotlib")
def test_the_points_that_comets_may_be_aimed_at_are_numbered_where_they_lie() -> None:
    scenario = load_scenario("the-shattered-gate")
    (axes,) = draw.draw_battlefield(scenario).axes
    numbers = [text.get_text() for text in axes.texts if text.get_text().isdigit()]
    packed = pack(scenario)[0]
    army = packed.armies[1]
    assert packed.armies[0].n_points == 0
    assert numbers == [str(k + 1) for k in range(int(army.n_points))]
    polygons = scenario.deployment.polygons
    assert polygons is not None
    for line, inches in zip(axes.lines, army.inches, strict=False):
        place = np.asarray(line.get_xydata(), np.float64)[0]
        for code, away in enumerate(inches):
            if away != OUT_OF_REACH:
                assert away - 1 < polygons.distances_from(place, code) + 1e-6 <= away + 2e-6
    (axes,) = draw.draw_battlefield(load_scenario(SKIRMISH)).axes
    assert not axes.lines
    assert "Comets" not in axes.get_title()


ODD = "$\\odd{$ [/red] :smile:"


@pytest.mark.needs("matplotlib")
def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    unit = {"name": ODD, "models": 5, "toughness": 3, "points": 5, "position": [10, 40]}
    terrain = {"name": ODD, "kind": "wood", "position": [30, 20], "size": [4, 4]}
    army = {"name": ODD, "heroes": [{"name": ODD, "position": [10, 10]}]}
    field = {"width": 48, "depth": 48, "terrain": [terrain]}
    scenario = scenario_from_dict(
        {"name": "odd", "battlefield": field, "caster": army, "dispeller": {"units": [unit]}}
    )
    figure = draw.draw_battlefield(scenario)
    figure.savefig(tmp_path / "odd.png")
    assert [text.get_text() for text in figure.axes[0].texts] == [ODD] * 3


@pytest.mark.needs("matplotlib")
def test_every_model_has_its_place_in_the_picture() -> None:
    scenario = load_scenario(SKIRMISH)
    (axes,) = draw.draw_battlefield(scenario).axes
    models = sum(unit.models for army in scenario.armies for unit in army.units)
    characters = sum(len(army.characters) for army in scenario.armies)
    assert scenario.battlefield is not None
    assert len(axes.patches) == models + characters + len(scenario.battlefield.terrain)


def test_no_picture_without_a_battlefield(capsys: Capture) -> None:
    message = error_of(capsys, "draw", "archmage-duel")
    assert "expected one with a battlefield, found archmage-duel" in message


@pytest.mark.needs("matplotlib")
def test_no_picture_where_none_can_be_written(capsys: Capture, tmp_path: Path) -> None:
    assert "--out" in error_of(capsys, "draw", SKIRMISH, "--out", str(tmp_path / "no" / "f.png"))
