"""docs/environments.md and docs/scenarios.md against the code that they describe."""

import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.layout import Field, layout
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit
from wfb_gym.scenario import ScenarioError, load_scenario, pack, scenario_from_dict
from wfb_gym.scenario.army import Army, BaseContact, Character, Runesmith, Unit, Wizard
from wfb_gym.scenario.fields import Number, Whole
from wfb_gym.scenario.items import Item, Reroll, WhenCasting, WhenDispelling, bundled_items
from wfb_gym.scenario.miscasts import (
    Effect,
    MiscastRow,
    MiscastTable,
    bundled_miscast_table,
    bundled_miscast_tables,
)
from wfb_gym.scenario.models import Scenario
from wfb_gym.scenario.ruleset import Switches, bundled_ruleset
from wfb_gym.scenario.spells import Spell

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
SCENARIOS = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")


def sections(page: str) -> dict[str, str]:
    """Text below each heading, up to the next one; headings in code do not count."""
    outside = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    parts = re.split(r"^#+ (.+)$", outside, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def tables(text: str) -> list[list[list[str]]]:
    """Cells of each table of a text, its head first and the ruler left out."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [
        [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in table.splitlines()
            if not re.fullmatch(r"[|-]+", line)
        ]
        for table in found
    ]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def rows_of(page: str, heading: str, table: int = 0) -> list[list[str]]:
    return tables(sections(page)[heading] + "\n")[table][1:]


# --- both pages ----------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["environments.md", "scenarios.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / "docs" / target).exists(), target


# --- scenarios.md --------------------------------------------------------------------------

MODELS: dict[str, type[BaseModel]] = {
    "The file": Scenario,
    "Armies": Army,
    "Wizards and Runesmiths": Character,
    "Wizards only": Wizard,
    "Runesmiths only": Runesmith,
    "Base contact": BaseContact,
    "Spells": Spell,
    "Units": Unit,
    "Items of your own": Item,
    "`when_casting`": WhenCasting,
    "`when_dispelling`": WhenDispelling,
    "`reroll`": Reroll,
    "Miscast tables": MiscastRow,
}
BASE = """
name = "base"
[[caster.wizards]]
name = "Wizard"
level = 4
spells = [{ name = "Fire Ball", worth = 20 }]
[dispeller]
"""
EXAMPLES = blocks(SCENARIOS, "toml")


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_load_and_pack(example: str) -> None:
    data = tomllib.loads(example)
    whole = {"name", "caster", "dispeller"} <= data.keys()
    scenario = scenario_from_dict(data if whole else tomllib.loads(BASE) | data)
    assert pack(scenario).shape == (1,)


def test_two_examples_are_complete() -> None:
    complete = [example for example in EXAMPLES if example.startswith("name = ")]
    assert len(complete) == 2


def own_fields(model: type[BaseModel]) -> dict[str, Any]:
    inherited = Character.model_fields if model in (Wizard, Runesmith) else {}
    return {key: field for key, field in model.model_fields.items() if key not in inherited}


def bounds(annotation: Any, metadata: list[Any]) -> list[Whole | Number]:
    """Ranges of numbers that a field's type mentions."""
    found = [each for each in metadata if isinstance(each, Whole | Number)]
    for part in get_args(annotation):
        if isinstance(part, Whole | Number):
            found.append(part)
        else:
            found += bounds(part, [])
    return found


def choices(annotation: Any) -> list[str]:
    """Words that a field's type lists."""
    return [word for word in get_args(annotation) if isinstance(word, str)]


def written(field: Any) -> str:
    """A default as the page writes it."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "`[]`"
    if isinstance(value, dict | Switches):
        return "`{}`"
    return f"{value:g}"


@pytest.mark.parametrize("heading", MODELS)
def test_every_key_stands_there_with_its_default_and_range(heading: str) -> None:
    fields = own_fields(MODELS[heading])
    rows = rows_of(SCENARIOS, heading)
    assert [row[0].strip("`") for row in rows] == list(fields)
    for row, field in zip(rows, fields.values(), strict=True):
        key, kind, default, meaning = row
        assert default == written(field), key
        assert meaning
        for bound in bounds(field.annotation, field.metadata):
            assert kind.endswith(f"{bound.low:g} to {bound.high:g}"), key
        for word in choices(field.annotation):
            assert f'"{word}"' in kind, key


def test_a_miscast_table_has_rows_alone() -> None:
    assert list(MiscastTable.model_fields) == ["rows"]
    assert "one key is `rows`" in SCENARIOS


def test_every_switch_stands_there_with_both_rulesets() -> None:
    rows = rows_of(SCENARIOS, "Rules")
    assert [row[0].strip("`") for row in rows] == list(Switches.model_fields)
    for key, _, sixth, seventh, _ in rows:
        for cell, ruleset in ((sixth, bundled_ruleset("6e")), (seventh, bundled_ruleset("7e"))):
            value = getattr(ruleset, key.strip("`"))
            assert cell == (f'"{value}"' if isinstance(value, str) else str(value).lower())


def test_every_bundled_item_stands_there_with_its_points() -> None:
    found = {name: float(points) for name, points, _ in rows_of(SCENARIOS, "Items")}
    assert found == {name: item.points for name, item in bundled_items().items()}


def test_every_effect_stands_there_with_its_parameters() -> None:
    rows = {row[0].strip("`"): row[1] for row in rows_of(SCENARIOS, "Effects")}
    wanted: dict[str, dict[str, Any]] = {}
    for model in get_args(Effect):
        for kind in get_args(model.model_fields["kind"].annotation):
            fields = dict(model.model_fields)
            del fields["kind"]
            wanted[kind] = fields
    assert rows.keys() == wanted.keys()
    for kind, cell in rows.items():
        assert re.findall(r"`(\w+)`", cell) == list(wanted[kind])
        for field in wanted[kind].values():
            for bound in bounds(field.annotation, field.metadata):
                assert f"({bound.low:g} to {bound.high:g})" in cell
            for word in choices(field.annotation):
                assert f'"{word}"' in cell


def test_every_row_of_the_bundled_miscast_tables_stands_there() -> None:
    found = [tuple(row[:3]) for row in rows_of(SCENARIOS, "The bundled tables")]
    wanted = []
    for table in bundled_miscast_tables():
        for row in bundled_miscast_table(table).rows:
            low, high = row.roll
            wanted.append((table, str(low) if low == high else f"{low}-{high}", row.source))
    assert found == wanted


HOUSE = "[dispeller]\n[[miscast_tables.house.rows]]\nroll = [2, 7]\n"
MISTAKES = [
    ("level = 1", "level = 5"),
    ("level = 1", "lvl = 1"),
    ("Fire Ball", "Fireball"),
    (", worth = 20", ""),
    ("worth = 20", 'worth = 20, lore = "Fire", casting_value = 6'),
    ("worth = 20", "worth = 20, in_play = true"),
    ("[dispeller]", '[dispeller]\nitems = ["Dispel Scrol"]'),
    ("[dispeller]", '[dispeller]\nitems = ["Wizard\'s Staff"]'),
    ("[dispeller]", '[dispeller]\n[rules]\nmiscast_table = "house"'),
    ("[dispeller]", f"{HOUSE}[[miscast_tables.house.rows]]\nroll = [7, 11]"),
    ('name = "first-lesson"', "name = "),
]


def test_errors_are_printed_as_the_page_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = set()
    for right, wrong in MISTAKES:
        assert right in EXAMPLES[0]
        Path("lesson.toml").write_text(EXAMPLES[0].replace(right, wrong, 1), encoding="utf-8")
        with pytest.raises(ScenarioError) as caught:
            load_scenario("lesson.toml")
        printed |= set(str(caught.value).splitlines())
    (page,) = blocks(SCENARIOS, "text")
    assert set(page.splitlines()) == printed


# --- environments.md -----------------------------------------------------------------------

SEATS = {"caster": 0, "dispeller": 1}


def limits_of(name: str, seat: str) -> Limits:
    return fit(pack(load_scenario(name)), SEATS[seat])


def test_the_table_of_ranges() -> None:
    head, *rows = tables(sections(ENVIRONMENTS)["Action Space"])[0]
    assert head[1:] == [f"{n} {s}" for n in ("archmage-duel", "storm-council") for s in SEATS]
    for column, title in enumerate(head[1:], 1):
        codec = action_codec(limits_of(*title.split()))
        wanted = {"n": str(codec.n)}
        for name, (first, size) in codec.ranges.items():
            last = first + size - 1
            wanted[name] = "–" if not size else str(first) if size == 1 else f"{first}..{last}"  # noqa: RUF001
        assert {row[0]: row[column] for row in rows} == wanted
    meanings = [row[0] for row in rows_of(ENVIRONMENTS, "Action Space", 1)]
    assert meanings == [row[0] for row in rows if row[0] != "n"]


FULL = Limits(
    own=ArmyLimits(1, 1, 1),
    opponent=ArmyLimits(1, 1, 1),
    dice=5,
    contacts=1,
    own_dice=True,
    rerolls=True,
    in_play=True,
    free_spells=True,
    battle=True,
)
FIELD_TABLES = ("The position", "Optional blocks", "Armies")
OPTIONS = ("own_dice", "rerolls", "in_play", "free_spells", "battle")


def general(name: str) -> str:
    """A field's name as the page has it: no owner, and N for a number."""
    if name.startswith(("own wizard", "own spell", "own item", "enemy ")) and "pool" not in name:
        name = name.split(" ", 1)[1]
    return re.sub(r"\b\d+\b", "N", name)


def page_fields() -> dict[str, list[str]]:
    rows = [row for heading in FIELD_TABLES for row in rows_of(ENVIRONMENTS, heading)]
    return {row[0].strip("`"): row[1:] for row in rows}


def general_fields(limits: Limits) -> dict[str, Field]:
    return {general(field.name): field for field in layout(limits).fields}


def test_every_field_stands_there_in_order_with_its_bounds() -> None:
    fields = general_fields(FULL)
    page = page_fields()
    order = list(dict.fromkeys(re.sub("held", "faces", name) for name in fields))
    assert list(dict.fromkeys(re.sub("held", "faces", name) for name in page)) == order
    for name, field in fields.items():
        low, high, unit = page[name][:3]
        assert (float(low), float(high)) == pytest.approx((field.low, field.high)), name
        assert unit
        scale = re.search(r"/ (\d+)$", field.meaning)
        assert scale is None or f"/ {scale[1]}" in unit, name


@pytest.mark.parametrize("kept", [(), *[(option,) for option in OPTIONS]])
def test_optional_fields_are_present_where_the_page_says(kept: tuple[str, ...]) -> None:
    options_kept: dict[str, Any] = {option: option in kept for option in OPTIONS}
    there = general_fields(replace(FULL, **options_kept))
    for name, cells in page_fields().items():
        options = re.findall(r"`(\w+)`", cells[3]) if len(cells) > 3 else []
        wanted = not options or options == ["contacts"] or any(o in kept for o in options)
        assert (name in there) == wanted, name


@pytest.mark.parametrize("name", ["archmage-duel", "storm-council"])
def test_sizes_of_observations(name: str) -> None:
    found = re.search(rf"`{name}`\s+(?:has\s+)?(\d+)", sections(ENVIRONMENTS)["Observation Space"])
    assert found is not None
    for seat in SEATS:
        assert int(found[1]) == layout(limits_of(name, seat)).size


def test_the_python_of_the_page_runs() -> None:
    code = "\n".join(blocks(ENVIRONMENTS, "python"))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


def test_the_table_of_arguments() -> None:
    from inspect import signature

    from wfb_gym.envs.single import MagicPhaseEnv
    from wfb_gym.envs.vector import MagicPhaseVectorEnv

    single = [row[0].strip("`") for row in rows_of(ENVIRONMENTS, "Arguments")]
    vector = [row[0].strip("`") for row in rows_of(ENVIRONMENTS, "Arguments", 1)]
    assert single == list(signature(MagicPhaseEnv).parameters)
    assert {*single, *vector} == set(signature(MagicPhaseVectorEnv).parameters)
