"""Loading a scenario by name, from a file or as an object."""

from pathlib import Path
from typing import Any

import pytest

from wfb_gym.scenario import (
    ScenarioError,
    bundled_scenarios,
    hidden_scenarios,
    load_scenario,
    scenario_from_dict,
)
from wfb_gym.scenario.documents import parse_toml


def test_loading_by_name_path_and_object(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('name = "own"\n[caster]\n[dispeller]\n', encoding="utf-8")
    assert load_scenario("archmage-duel").name == "archmage-duel"
    assert load_scenario(file) == load_scenario(str(file))
    assert load_scenario(file).name == "own"
    scenario = load_scenario("archmage-duel")
    assert load_scenario(scenario) is scenario
    assert load_scenario(scenario.model_dump()) == scenario


def test_an_unknown_name_leads_to_the_list_of_bundled_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError) as caught:
        load_scenario("nowhere")
    number = len(bundled_scenarios()) + len(hidden_scenarios())
    assert str(caught.value) == (
        "scenario: expected a path ending in .toml or the name of a bundled scenario "
        f'("python -m wfb_gym scenarios" lists all {number}), found "nowhere"'
    )
    (tmp_path / "nowhere.toml").touch()
    cases: tuple[tuple[Any, str], ...] = (
        ("nowhere", r"ending in .toml \(did you mean nowhere.toml\?\) or"),
        ("x" * 10_000, "expected a path ending in .toml or the name"),
        ("archmage", "did you mean archmage-duel"),
        (3, "expected a bundled name, a path or a Scenario, found 3"),
    )
    for source, message in cases:
        with pytest.raises(ScenarioError, match=message):
            load_scenario(source)


@pytest.mark.parametrize(("line", "message"), [
    ("level = 2, 3", 'in the line "level = 2, 3"'),
    ("position = (3, 4)", 'line "position = (3, 4)" (a list needs square brackets)'),
    ("lore = \u201cFire\u201d", '(use straight quotes: ")'),
    ("[[a.b]]\n[a.b]", 'line "[a.b]" (each entry of a list begins with [[a.b]])'),
    ("[caster]\n[caster]", 'line "[caster]" (the table caster is there twice)'),
    ("spells = [Fire Ball]", "(a text needs quotes)"),
    ("fleeing = Yes", "(true or false, in lower case: fleeing = true)"),
    ("ruleset = 6e", '"ruleset = 6e" (a text needs quotes: ruleset = "6e")'),
    ("models = 2S5", '"models = 2S5" (a number has only digits, such as models = 25)'),
    ("points = 65pts", '"points = 65pts" (only the number: points = 65)'),
    ("unit = 2 Trolls", '(a text needs quotes: unit = "2 Trolls")'),
    ("armour_save = 4+", '"armour_save = 4+" (without the +: armour_save = 4)'),
    ('lore = Fire"', "(the opening quote is missing)"),
    ("points = 45,5", '"points = 45,5" (a decimal point: points = 45.5)'),
    ('lore = "Fire', "(the closing quote is missing)"),
    ("level = 2 // of four", "(# begins a comment)"),
    ("level: 2", '"level: 2" (= is missing between a key and its value)'),
    ("level = 2\nlevel = 3", '"level = 3" (the key level is there twice)'),
    ("position = [20 10]", 'in line 2, "position = [20 10]" (a comma, a quote or a ] is missing)'),
    ("place = [\n20,\n10\n[caster]", 'begins in line 2, "place = [" (a comma, a quote or a ]'),
    ("base = { x = 2 y = 3 }", "(a comma, a quote or a } is missing)"),
])  # fmt: skip
def test_a_line_that_is_not_toml_is_shown(line: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_toml(f'name = "x"\n{line}\n', "x.toml")
    assert message in str(caught.value)
    assert ("needs quotes" in str(caught.value)) == ("needs quotes" in message)


def test_bad_files_are_named(tmp_path: Path) -> None:
    broken, binary, wrong = (tmp_path / name for name in ("broken.toml", "b.toml", "w.toml"))
    broken.write_text('name = "x\n', encoding="utf-8")
    binary.write_bytes(b"name = '\xff'")
    wrong.write_text('name = "w"\nphases = 99\n[caster]\n[dispeller]\n', encoding="utf-8")
    for path, text in (
        (broken, "expected a TOML file, found Illegal character"),
        (binary, "expected text in UTF-8, found another encoding: save it as UTF-8"),
        (tmp_path / "none.toml", "expected a scenario file, found No such file"),
        (Path("archmage-duel"), "expected a scenario file, found No such file"),  # bundled name
        (wrong, "phases: expected a whole number from 1 to 12, found 99"),
    ):
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        assert str(caught.value).startswith(f"{path}: {text}")
    with pytest.raises(ScenarioError, match="line 1"):
        load_scenario(broken)


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "a\n", "-a", "a b", "é", "x" * 65])
def test_names_of_scenarios_are_names_of_files(name: str) -> None:
    with pytest.raises(ScenarioError, match="name: expected a name of up to 64 letters"):
        scenario_from_dict({"name": name, "caster": {}, "dispeller": {}})
    for whole in ("0", "x" * 64, "A.b-c_D"):
        assert scenario_from_dict({"name": whole, "caster": {}, "dispeller": {}}).name == whole


HIDDEN = ("\0", "\r", "\x1b[31m", "\x7f", "\x9b", "\u200b", "\u2028", "\u202e", "\ufeff")


@pytest.mark.parametrize("hidden", [*HIDDEN, "\n", "\ud800"])
def test_names_hold_no_control_characters(hidden: str) -> None:
    bad = f"A{hidden}B"
    mage = {"name": "A", "level": 1}
    spell = {"name": bad, "casting_value": 5, "worth": 1}
    wood = {"name": bad, "kind": "wood", "position": [10, 10], "size": [2, 2]}
    field = {"width": 48, "depth": 48, "terrain": [wood]}
    armies: dict[str, Any] = {
        "name": {"name": bad},
        "items[0]": {"items": [bad]},
        "miscast_table": {"miscast_table": bad},
        "units[0].name": {"units": [{"name": bad, "models": 1, "toughness": 3, "points": 1}]},
        "heroes[0].name": {"heroes": [{"name": bad}]},
        "heroes[0].unit": {"heroes": [{"name": "A", "unit": bad}]},
        "wizards[0].lore": {"wizards": [{**mage, "lore": bad}]},
        "wizards[0].profile": {"wizards": [{"profile": bad, "level": 1}]},
        "wizards[0].spells[0].name": {"wizards": [{**mage, "spells": [spell]}]},
    }
    documents: dict[str, Any] = {f"caster.{key}": {"caster": army} for key, army in armies.items()}
    documents |= {
        "items[0].name": {"items": [{"name": bad}]},
        "worths[0].spell": {"worths": [{"spell": bad, "points": 1}]},
        "miscast_tables": {"miscast_tables": {bad: {"rows": [{"roll": [2, 12]}]}}},
        "rules.miscast_table": {"rules": {"miscast_table": bad}},
        "battlefield.terrain[0].name": {"battlefield": field},
    }
    for key, changes in documents.items():
        with pytest.raises(ScenarioError) as caught:
            scenario_from_dict({"name": "x", "caster": {}, "dispeller": {}, **changes})
        assert [problem.key for problem in caught.value.problems] == [key]
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("hidden", HIDDEN)
def test_descriptions_hold_lines_and_no_other_control_characters(hidden: str) -> None:
    document = {"name": "x", "caster": {}, "dispeller": {}}
    assert scenario_from_dict({**document, "description": "one\n\ttwo"}).description
    with pytest.raises(ScenarioError, match="description: expected a text of up to 2000"):
        scenario_from_dict({**document, "description": f"one{hidden}two"})
