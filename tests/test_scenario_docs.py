"""docs/scenarios.md and docs/scenarios/ against the code: keys, defaults, ranges, examples, errors.

The other pages are `test_docs`.
"""

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from tests.support.pages import blocks, page, rows_of
from wfb_gym.packing import pack
from wfb_gym.scenario import ScenarioError, effects, items, load_scenario, profiles, rulesets
from wfb_gym.scenario.army import Army, HiddenItems
from wfb_gym.scenario.battlefield import Battlefield, Terrain
from wfb_gym.scenario.characters import BaseContact, Character, Hero, Runesmith, Wizard
from wfb_gym.scenario.effects import Hits, Need, Target, TerrainKind, Trait, TroopType
from wfb_gym.scenario.fields import Number, Pair, Whole
from wfb_gym.scenario.loading import scenario_from_dict
from wfb_gym.scenario.profiles import ArmyList
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.spells import Spell, SpellVersion
from wfb_gym.scenario.units import Unit

KEYS = (
    "rules", "battlefield", "armies", "wizards-and-spells", "items", "miscast-tables", "army-lists",
    "words", "example", "errors",
)  # fmt: skip
"""The pages below docs/scenarios/ about scenario files."""
SCENARIOS = "\n".join([page("scenarios.md"), *(page(f"scenarios/{name}.md") for name in KEYS)])
MODELS: dict[str, type[BaseModel]] = {
    "Top-level keys": Scenario, "Battlefield": Battlefield, "Terrain": Terrain, "Armies": Army,
    "Units": Unit, "Characters": Character, "Wizards only": Wizard, "Runesmiths only": Runesmith,
    "Base contact": BaseContact, "Spells": SpellVersion, "Several casting values": Spell,
    "Spell effects": effects.SpellEffect, "`damage`": effects.Damage, "`worth`": effects.Worth,
    "`near`": effects.Near, "Worths": effects.WorthOverride, "Army lists": ArmyList,
    "Units of a list": profiles.UnitProfile, "Characters of a list": profiles.CharacterProfile,
    "Items of your own": items.Item, "`when_casting`": items.WhenCasting,
    "`when_dispelling`": items.WhenDispelling, "`reroll`": items.RerollPower,
    "`stores`": items.Stores, "`bound`": items.Bound, "Hidden items": HiddenItems,
    "Miscast tables": rulesets.MiscastTable, "Rows": rulesets.MiscastRow,
}  # fmt: skip
WORDS = {
    "target": Target, "troop type": TroopType, "trait": Trait, "need": Need, "hits": Hits,
    "kind of terrain": TerrainKind,
}  # fmt: skip
COMPUTED = {"base": "by troop type", "blocks_sight": "by kind"}
"""Defaults that follow from other keys, as on the page."""
BASE = """
name = "base"
[[caster.wizards]]
name = "Wizard"
level = 4
spells = [{ name = "Fire Ball" }]
[dispeller]
"""
EXAMPLES = blocks(SCENARIOS, "toml")


def test_examples_load_and_pack() -> None:
    for data in map(tomllib.loads, EXAMPLES):
        whole = {"name", "caster", "dispeller"} <= data.keys()
        assert pack(scenario_from_dict(data if whole else tomllib.loads(BASE) | data)).shape == (1,)


def test_every_model_of_a_scenario_has_its_table() -> None:
    named = {*MODELS.values(), rulesets.Switches, *get_args(rulesets.MiscastEffect)}
    reached: set[type[BaseModel]] = {Scenario, ArmyList}
    while more := {m for model in reached for m in models_in(model)} - reached:
        reached |= more
    assert reached - {Hero} <= named
    assert own_fields(Hero) == {}


def models_in(model: type[BaseModel]) -> set[type[BaseModel]]:
    def inside(annotation: Any) -> set[type[BaseModel]]:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return {annotation}
        return {found for part in get_args(annotation) for found in inside(part)}

    return {found for field in model.model_fields.values() for found in inside(field.annotation)}


def own_fields(model: type[BaseModel]) -> dict[str, Any]:
    is_special = issubclass(model, Character) and model is not Character
    inherited = Character.model_fields if is_special else {}
    inherited = SpellVersion.model_fields if model is Spell else inherited
    return {key: field for key, field in model.model_fields.items() if key not in inherited}


def bounds(annotation: Any, metadata: list[Any]) -> list[Whole | Number | Pair]:
    """Return the ranges of numbers in a field's type."""
    parts = [*metadata, *get_args(annotation)]
    found = [each for each in parts if isinstance(each, Whole | Number | Pair)]
    return found + [each for part in get_args(annotation) for each in bounds(part, [])]


def choices(annotation: Any) -> list[str]:
    """Return the words in a field's type, at any depth."""
    parts = get_args(annotation)
    return [word for part in parts for word in ([part] if isinstance(part, str) else choices(part))]


def written(key: str, field: Any) -> str:
    """Return a default as the page writes it."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if key in COMPUTED:
        return COMPUTED[key]
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if value == ():
        return "`[]`"
    if isinstance(value, dict | rulesets.Switches):
        return "`{}`"
    return f"{value:g}"


@pytest.mark.parametrize("heading", MODELS)
def test_every_key_is_listed_with_its_default_and_range(heading: str) -> None:
    fields = own_fields(MODELS[heading])
    rows = rows_of(SCENARIOS, heading)
    assert [row[0].strip("`") for row in rows] == list(fields)
    for row, field in zip(rows, fields.values(), strict=True):
        key, kind, default, meaning = row
        assert default == written(key.strip("`"), field), key
        assert meaning
        for bound in bounds(field.annotation, field.metadata):
            assert kind.endswith(f"{bound.low:g} to {bound.high:g}"), key
        words = choices(field.annotation)
        if "(words.md)" in kind:
            (listed,) = [WORDS[name] for name in WORDS if name in kind]
            assert set(words) == {w for w in get_args(listed) if f'not "{w}"' not in kind}, key
        else:
            for word in words:
                assert f'"{word}"' in kind, key


def test_every_word_of_a_list_is_listed() -> None:
    rows = {row[0]: re.findall(r'"([^"]+)"', row[1]) for row in rows_of(SCENARIOS, "Words")}
    assert rows == {name: list(get_args(words)) for name, words in WORDS.items()}


def test_every_switch_is_listed_with_both_rulesets() -> None:
    rows = rows_of(SCENARIOS, "Rules")
    assert [row[0].strip("`") for row in rows] == list(rulesets.Switches.model_fields)
    for key, _, sixth, seventh, _ in rows:
        for cell, ruleset in ((sixth, "6e"), (seventh, "7e")):
            value = getattr(rulesets.bundled_ruleset(ruleset), key.strip("`"))
            assert cell == (f'"{value}"' if isinstance(value, str) else str(value).lower())


def test_every_bundled_item_is_listed_with_its_points() -> None:
    found = {name: float(points) for name, points, _ in rows_of(SCENARIOS, "Items")}
    assert found == {name: item.points for name, item in items.bundled_items().items()}


def test_every_effect_is_listed_with_its_parameters() -> None:
    rows = {row[0].strip("`"): row[1] for row in rows_of(SCENARIOS, "Effects")}
    wanted = {
        kind: {key: field for key, field in model.model_fields.items() if key != "kind"}
        for model in get_args(rulesets.MiscastEffect)
        for kind in get_args(model.model_fields["kind"].annotation)
    }
    assert rows.keys() == wanted.keys()
    for kind, cell in rows.items():
        assert re.findall(r"`(\w+)`", cell) == list(wanted[kind])
        for field in wanted[kind].values():
            for bound in bounds(field.annotation, field.metadata):
                assert f"({bound.low:g} to {bound.high:g})" in cell
            for word in choices(field.annotation):
                assert f'"{word}"' in cell


def test_every_row_of_the_bundled_miscast_tables_is_listed() -> None:
    found = [tuple(row[:3]) for row in rows_of(SCENARIOS, "The bundled tables")]
    assert found == [
        (table, "-".join(map(str, dict.fromkeys(row.roll))), row.source)
        for table in rulesets.bundled_miscast_tables()
        for row in rulesets.bundled_miscast_table(table).rows
    ]


HOUSE = "[[miscast_tables.house.rows]]\nroll = [2, 7]\n"
UNITS = "[[dispeller.units]]"
FIELD = "[battlefield]\nwidth = 72\ndepth = 48\n"
MISTAKES = [
    ("level = 1", "level = 5"), ("level = 1", "lvl = 1"), ("Fire Ball", "Fire Bell"),
    ('[{ name = "Fire Ball" }]', '"Fire Ball"'),
    ('spells = [{ name = "Fire Ball" }]', 'lore = "Wire"'),
    ('"Fire Ball"', '"Fire Ball", lore = "Fire", casting_value = 6'),
    ('"Fire Ball"', '"Fire Ball", worth = 20, in_play = true'),
    ('"Fire Ball"', '"Fire Ball", range_inches = 12'), ('"Fire Ball"', '"Bolt", casting_value = 8'),
    ('"Fire Ball"', '"Bolt", casting_value = 8, target = "enemy_unit", worth = 20'),
    ('"Fire Ball"', '"Pelt of Midnight", in_play = true'),
    ("level = 1", 'level = 1\nunit = "Boyz"'),
    ("level = 1", 'profile = "Wizard Lord"\nlevel = 1'),
    ("level = 1", "level = 1\nposition = [10, 10]"), ('name = "Orc Boyz"', 'profile = "Orc Boys"'),
    ('name = "Orc Boyz"', 'name = "Orc Boyz"\nfrontage = 30'),
    ('name = "Orc Boyz"', 'name = "Orc Boyz"\ntroop = "foot"'),
    (UNITS, f"{FIELD}{UNITS}"), ('name = "Orc Boyz"', 'name = "Orc Boyz"\nx = 30\ny = 14'),
    (UNITS, f'[[worths]]\nspell = "Fire Bell"\npoints = 1\n{UNITS}'),
    (UNITS, f'[dispeller]\nitems = ["Dispel Scrol"]\n{UNITS}'),
    (UNITS, f'[dispeller]\nitems = ["Wizard\'s Staff"]\n{UNITS}'),
    (UNITS, f'[rules]\nmiscast_table = "house"\n{UNITS}'),
    (UNITS, f"{HOUSE}[[miscast_tables.house.rows]]\nroll = [7, 11]\n{UNITS}"),
    ('name = "first-lesson"', "name = "),
]  # fmt: skip


def test_errors_are_printed_as_the_page_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed: dict[str, None] = {}
    for right, wrong in MISTAKES:
        assert right in EXAMPLES[0]
        Path("lesson.toml").write_text(EXAMPLES[0].replace(right, wrong, 1), encoding="utf-8")
        with pytest.raises(ScenarioError) as caught:
            load_scenario("lesson.toml")
        printed |= dict.fromkeys(str(caught.value).splitlines())
    (documented,) = blocks(SCENARIOS, "text")
    assert documented.splitlines() == list(printed)
