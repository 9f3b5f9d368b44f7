"""The JSON Schema of scenario files: current, and in agreement with the reader of the files."""

import json
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.pages import PACKAGE, ROOT, blocks, page
from tools import schema
from wfb_gym.cli import main
from wfb_gym.scenario import ScenarioError, scenario_from_dict

FILES = sorted((PACKAGE / "data" / "scenarios").rglob("*.toml"))
PAGES = [path.relative_to(ROOT / "docs").as_posix() for path in schema.PAGES]
EXAMPLES = [
    text
    for name in ("howto/write-a-scenario.md", *PAGES)
    for text in blocks(page(name), "toml")
    if "\n[[dispeller." in text and "name = " in text.split("[", maxsplit=1)[0]
]
CHECKER = jsonschema.Draft7Validator(
    json.loads((PACKAGE / "data" / "scenario.schema.json").read_text(encoding="utf-8"))
)


def tables_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield each table of a document whose keys are fixed."""
    if isinstance(value, list):
        for each in value:
            yield from tables_in(each)
    elif isinstance(value, dict):
        yield value
        for key, each in value.items():
            yield from tables_in([*each.values()] if key == "miscast_tables" else each)


def small(**keys: Any) -> dict[str, Any]:
    """Return a document with one wizard, whose table has these keys too."""
    wizard = {"name": "Wizard", "level": 4, **keys}
    return {"name": "small", "caster": {"wizards": [wizard]}, "dispeller": {}}


def with_unit(**keys: Any) -> dict[str, Any]:
    return small() | {"dispeller": {"units": [keys]}}


def with_row(**keys: Any) -> dict[str, Any]:
    rest = {"roll": [3, 12]}
    return small() | {"miscast_tables": {"mild": {"rows": [{"roll": 2, **keys}, rest]}}}


def with_item(**keys: Any) -> dict[str, Any]:
    return small() | {"items": [{"name": "Wand", **keys}]}


def loads(document: dict[str, Any]) -> bool:
    try:
        scenario_from_dict(document)
    except ScenarioError:
        return False
    return True


def test_the_file_is_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert schema.main(["--check"]) == 0, "python -m tools.schema"
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema.scenario_schema()
    CHECKER.check_schema(CHECKER.schema)
    monkeypatch.setattr(schema, "FILE", tmp_path / "scenario.schema.json")
    assert schema.main(["--check"]) != 0
    assert "is not current" in capsys.readouterr().err


def test_bundled_files_and_examples_of_the_pages_are_valid() -> None:
    assert len(EXAMPLES) > 3
    for text in [*EXAMPLES, *(path.read_text(encoding="utf-8") for path in FILES)]:
        assert [error.message for error in CHECKER.iter_errors(tomllib.loads(text))] == [], text


@pytest.mark.parametrize("path", FILES[:2] + FILES[-2:], ids=lambda path: path.stem)
def test_a_misspelt_key_in_any_table_is_an_error(path: Path) -> None:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    tables = len([*tables_in(document)])
    assert tables > 3
    for number in range(tables):
        changed = deepcopy(document)
        table = [*tables_in(changed)][number]
        table["misspelt"] = 1
        assert not CHECKER.is_valid(changed), table


BOLT = {"name": "Bolt", "casting_value": 8}
HIT = {"target": "enemy_unit", "damage": {"hits": "D6", "strength": 4}}
PROFILE = {"profile": "battle wizard", "level": 1}


@pytest.mark.parametrize(
    "document",
    [
        small(spells=["Fire Ball", "fiery blast"]), small(spells=[{"name": "fire ball"}]),
        small(spells=[{**BOLT, "worth": 40}]),
        small(spells=[{**BOLT, **HIT, "worth": {"points": 3, "share": 0.5}}]),
        small(lore="Lore of Fire"), small(items=["power stone", "Power Stone"]),
        {"name": "x", "caster": {"wizards": [PROFILE]}, "dispeller": {}},
        with_unit(profile="orc boyz", models=3),
        with_unit(name="Orcs", models=3, toughness=4, points=5),
        with_row(effects=["phase_ends", {"kind": "caster_hit", "strength": 6}]),
        with_row(roll=[2, 2]), with_item(bound={"power_level": 3, "spell": "fire ball"}),
        with_item(bound={"power_level": 3, "spell": {"name": "Spark", "worth": 10}}),
    ],
    ids=str,
)  # fmt: skip
def test_short_forms_are_valid(document: dict[str, Any]) -> None:
    assert loads(document)
    assert [error.message for error in CHECKER.iter_errors(document)] == []


@pytest.mark.parametrize(
    "document",
    [
        small(level=5), small(level=2.5), small(spells="Fire Ball"),
        small(spells=[{"lore": "Fire"}]), small(status="asleep"), with_unit(models=3),
        with_unit(name="Orcs", models=3, toughness=4), with_unit(profile="Orc Boyz", models=0),
        with_unit(profile="Orc Boyz", models=3, position=[1.0]),
        with_unit(profile="Orc Boyz", models=3, traits=["brave"]),
        with_row(effects=["caster_hit"]),
        with_row(effects=[{"kind": "phase_ends", "strength": 6}]), with_row(roll=13),
        with_item(bound={"power_level": 3, "spell": {"name": "Spark", "casting_value": 5}}),
        small() | {"name": "two words"}, small() | {"phases": True}, {"name": "x", "caster": {}},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_documents_are_invalid(document: dict[str, Any]) -> None:
    assert not loads(document)
    assert not CHECKER.is_valid(document)


def test_every_key_has_a_description() -> None:
    whole = schema.scenario_schema()
    models = [whole, *whole["definitions"].values()]
    for name in schema.EFFECTS_OF_MISCASTS:
        models.remove(whole["definitions"][name])
    keys = [(key, each) for model in models for key, each in model.get("properties", {}).items()]
    assert len(keys) > 100
    assert [key for key, each in keys if not each.get("description")] == []


def test_words_of_keys_are_listed() -> None:
    """An editor can complete words of the rules, and names of the package."""
    models = schema.scenario_schema()["definitions"]
    for word, listed in (
        ("war_machine", models["Unit"]["properties"]["troop"]),
        ("Orc Boyz", models["Unit"]["properties"]["profile"]["anyOf"][0]),
        ("Dispel Scroll", models["Wizard"]["properties"]["items"]["items"]["anyOf"][0]),
        ("Fire Ball", models["Spell"]["anyOf"][0]),
        ("phase_ends", models["MiscastRow"]["properties"]["effects"]["items"]["anyOf"][0]),
    ):
        assert word in listed["enum"]


def test_tables_of_the_page_are_read() -> None:
    text = "| key | 6e | 7e | meaning |\n|---|---|---|---|\n| `a` | 1 | 2 | see [B](#b) `c` |\n"
    assert schema.read_meanings(text) == [{"a": "See B c; default: 1 in 6e, 2 in 7e."}]
