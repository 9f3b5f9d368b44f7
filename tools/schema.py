"""Write the JSON Schema of scenario files, wfb_gym/data/scenario.schema.json.

    python -m tools.schema           rewrite the file
    python -m tools.schema --check   only report whether the file is current

Types, ranges and words come from the models in `wfb_gym.scenario`, descriptions from the tables in
docs/scenarios.md and docs/scenarios/. `SHORT_FORMS` adds the forms that validators accept beyond
the fields, such as the name of a spell in place of its table. The dialect is draft 7, which editors
of TOML support.

A schema knows no rules that compare several values, so `load_scenario` rejects more than it does.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.schema")

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, get_args

from experiments.common import FAILED
from tools.documents import ROOT, CheckOptions
from wfb_gym.cli.parser import parse_options
from wfb_gym.files import atomic_write_text
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.effects import EFFECT_KEYS
from wfb_gym.scenario.fields import MAX_NAME, StrictModel
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import Kind, character_profiles, unit_profiles
from wfb_gym.scenario.rulesets import Edition, MiscastEffect, bundled_miscast_tables
from wfb_gym.scenario.spells import lore_names, lore_spells, rolled_lores

Schema: TypeAlias = dict[str, Any]

FILE = ROOT / "wfb_gym" / "data" / "scenario.schema.json"
PAGES = [ROOT / "docs" / "scenarios.md", *sorted((ROOT / "docs" / "scenarios").glob("*.md"))]
EDITIONS = get_args(Edition)
DIALECT = "http://json-schema.org/draft-07/schema#"
FROM_OTHER_KEYS = ("base", "blocks_sight", "engaged", "frontage", "rank", "rules")
"""Keys without a single default, because it depends on other keys or is a table of its own."""
EFFECTS_OF_MISCASTS = tuple(model.__name__ for model in get_args(MiscastEffect))
"""Models that the page describes by their kinds rather than by their keys."""
_PRINTABLE = r"\S"
"""Pattern for text that is not blank. The models' own patterns use Rust's syntax."""
_DROPPED = ("$defs", "discriminator", "title", "description")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the schema if it has changed, and return the exit status.

    With ``--check``, change nothing, and fail if the file is outdated.
    """
    options, _ = parse_options(CheckOptions, arguments, module="tools.schema", description=__doc__)
    text = schema_text()
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == text:
        return 0
    if options.check:
        print(f"schema: {FILE.name} is not current; run python -m tools.schema", file=sys.stderr)
        return FAILED
    atomic_write_text(FILE, text)
    print(f"wrote {FILE.relative_to(ROOT)}")
    return 0


def schema_text() -> str:
    """Return the file's text."""
    return json.dumps(scenario_schema(), indent=1, ensure_ascii=False) + "\n"


def scenario_schema() -> Schema:
    """Return the schema of scenario files in JSON Schema draft 7."""
    raw = Scenario.model_json_schema(ref_template="#/definitions/{model}")
    definitions = {name: _plain(each) for name, each in raw["$defs"].items()}
    root = _plain(raw)
    meanings = read_meanings("\n".join(page.read_text(encoding="utf-8") for page in PAGES))
    for name, each in {"Scenario": root, **definitions}.items():
        _describe(name, each, meanings)
    for name, change in SHORT_FORMS.items():
        definitions[name] = change(definitions[name])
    return {
        "$schema": DIALECT,
        "title": "Scenario of wfb_gym",
        "description": "A battle: rules, two armies, a battlefield, items and miscast tables.",
        **root,
        "definitions": definitions,
    }


# --- from pydantic's schema to draft 7 ------------------------------------------------------


def _plain(schema: Any) -> Any:
    """Return part of pydantic's schema without nulls and titles, in draft 7 terms."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: each for key, each in schema.items() if key not in _DROPPED}
    for key in ("properties", "patternProperties"):  # the keys of these tables are names
        if key in plain:
            plain[key] = {name: _plain(each) for name, each in plain[key].items()}
    plain = {k: v if k.endswith("roperties") else _plain(v) for k, v in plain.items()}
    choices = [each for each in plain.pop("anyOf", []) if each != {"type": "null"}]
    if len(choices) == 1:
        plain = {**choices[0], **plain}
    elif choices:
        plain["anyOf"] = choices
    if r"\p" in plain.get("pattern", ""):
        plain["pattern"] = _PRINTABLE
    if "prefixItems" in plain:  # two numbers of one kind
        plain["items"] = plain.pop("prefixItems")[0]
    if plain.get("default", ...) in (None, []):
        del plain["default"]
    if "patternProperties" in plain:
        (plain["additionalProperties"],) = plain.pop("patternProperties").values()
    return plain


def read_meanings(page: str) -> list[dict[str, str]]:
    """Return the keys in each table of keys, with their meanings as plain text."""
    tables = []
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        head, _, *rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in table.splitlines()
        ]
        if head[0] not in ("key", "kind") or "meaning" not in head:
            continue
        found = {}
        for row in rows:
            named = dict(zip(head, row, strict=True))
            text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", named["meaning"])
            defaults = [
                f"{named[edition]} in {edition}" for edition in EDITIONS if edition in named
            ]
            if defaults:
                text += f"; default: {', '.join(defaults)}"
            found[named[head[0]].strip("`")] = text[0].upper() + text[1:].replace("`", "") + "."
        tables.append(found)
    return tables


def _describe(name: str, schema: Schema, meanings: list[dict[str, str]]) -> None:
    """Add descriptions to the properties of a model's schema, and drop misleading defaults."""
    for key, each in schema["properties"].items():
        if key in FROM_OTHER_KEYS:
            each.pop("default", None)
        if "$ref" in each:  # draft 7 ignores a reference's siblings
            each["allOf"] = [{"$ref": each.pop("$ref")}]
    if name in EFFECTS_OF_MISCASTS:
        _describe_effect(schema["properties"]["kind"], meanings)
        return
    for table in _tables_of(schema["properties"], meanings):
        for key, text in table.items():
            schema["properties"][key] = {"description": text, **schema["properties"][key]}


def _describe_effect(kind: Schema, meanings: list[dict[str, str]]) -> None:
    """Describe the kinds of miscast effects."""
    kinds = [kind["const"]] if "const" in kind else kind["enum"]
    (table,) = (table for table in meanings if set(kinds) <= set(table))
    kind["description"] = "\n".join(f"{each}: {table[each]}" for each in kinds)


def _tables_of(keys: Iterable[str], meanings: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the page's tables that together have exactly these keys, or none if there are none.

    A wizard has all characters' keys and its own, in two tables.
    """
    wanted = set(keys)
    for table in meanings:
        if set(table) == wanted:
            return [table]
    parts = [table for table in meanings if set(table) < wanted]
    for first in parts:
        for second in parts:
            if set(first) | set(second) == wanted and not set(first) & set(second):
                return [first, second]
    return []


# --- forms that validators accept beyond the fields --------------------------------------------


def _names(known: Iterable[str]) -> Schema:
    """Return a schema for names that suggests the known ones. A file may spell them differently."""
    return {"anyOf": [{"enum": [*known]}, {"type": "string", "maxLength": MAX_NAME}]}


def _suggest(schema: Schema, key: str, known: Iterable[str]) -> None:
    """Suggest known names for the value of a key, or for the entries of its list."""
    given = schema["properties"][key]
    if given["type"] == "array":
        given["items"] = _names(known)
    else:
        described = {word: text for word, text in given.items() if word == "description"}
        schema["properties"][key] = described | _names(known)


def _without_required(schema: Schema, supplied: Sequence[str]) -> Schema:
    """Require keys only in tables without a profile, which would supply them."""
    needed = [key for key in schema["required"] if key in supplied]
    schema["required"] = [key for key in schema["required"] if key not in supplied]
    schema["anyOf"] = [{"required": ["profile"]}, {"required": needed}]
    return schema


def _unit(schema: Schema) -> Schema:
    _suggest(schema, "profile", unit_profiles())
    return _without_required(schema, ("name", "toughness", "points"))


def _character(*kinds: Kind) -> Callable[[Schema], Schema]:
    def change(schema: Schema) -> Schema:
        profiles = [name for name, each in character_profiles().items() if each.kind in kinds]
        _suggest(schema, "profile", profiles)
        _suggest(schema, "items", bundled_items())
        return _without_required(schema, ("name",))

    return change


def _wizard(schema: Schema) -> Schema:
    _suggest(schema, "lore", rolled_lores())
    _suggest(schema, "miscast_table", bundled_miscast_tables())
    return _character("wizard")(schema)


def _army(schema: Schema) -> Schema:
    _suggest(schema, "items", bundled_items())
    _suggest(schema, "miscast_table", bundled_miscast_tables())
    return schema


def _hidden_items(schema: Schema) -> Schema:
    hidden = [name for name, item in bundled_items().items() if item.can_be_hidden]
    _suggest(schema, "items", hidden)
    return schema


def _switches(schema: Schema) -> Schema:
    _suggest(schema, "miscast_table", bundled_miscast_tables())
    return schema


def _spell(schema: Schema) -> Schema:
    """Allow a name in place of the table, and the effect's keys in the table."""
    spells = [spell.name for spell in lore_spells()]
    _suggest(schema, "name", spells)
    _suggest(schema, "lore", lore_names())
    effect = "#/definitions/SpellEffect/properties"
    keys = schema["properties"]
    keys |= {key: {"allOf": [{"$ref": f"{effect}/{key}"}]} for key in EFFECT_KEYS if key != "worth"}
    worth = keys["worth"]
    keys["worth"] = {
        "description": worth.pop("description"),
        "anyOf": [worth, {"$ref": "#/definitions/Worth"}],
    }
    schema["required"] = ["name"]  # a lore supplies the casting value
    return {"anyOf": [*_names(spells)["anyOf"], schema]}


def _alternative(schema: Schema) -> Schema:
    """Require only the casting value; the spell supplies the other keys."""
    table = _spell(schema)["anyOf"][-1]
    return {"anyOf": [{**table, "required": ["casting_value"]}]}


def _bound(schema: Schema) -> Schema:
    # A bound spell has its power level in place of a casting value.
    keys = schema["properties"]
    for key in (keys["spell"], keys["spells"]["items"]):
        key.setdefault("allOf", [{"$ref": key.pop("$ref")}] if "$ref" in key else [])
        key["allOf"].append({"properties": {"casting_value": False}})
    return schema


def _miscast_row(schema: Schema) -> Schema:
    """Allow a single total in place of a range, and an effect's kind in place of its table."""
    totals = schema["properties"]["roll"]
    described = {"description": totals.pop("description")}
    total = totals["items"] = {"type": "integer", "minimum": 1, "maximum": 12}
    schema["properties"]["roll"] = described | {"anyOf": [total, totals]}
    effects = schema["properties"]["effects"]["items"]
    effects["anyOf"] = [{"enum": _kinds_without_keys()}, *effects.pop("oneOf")]
    return schema


def _kinds_without_keys() -> list[str]:
    """Return the kinds of miscast effects that need no other key."""
    found: list[str] = []
    for model in get_args(MiscastEffect):
        assert issubclass(model, StrictModel)
        required = [key for key, field in model.model_fields.items() if field.is_required()]
        if required == ["kind"]:
            found += get_args(model.model_fields["kind"].annotation)
    return found


def _worth_override(schema: Schema) -> Schema:
    _suggest(schema, "spell", [spell.name for spell in lore_spells()])
    schema["anyOf"] = [
        {"required": [part]} for part in schema["properties"] if part not in ("spell", "target")
    ]
    return schema


SHORT_FORMS: dict[str, Callable[[Schema], Schema]] = {
    "Army": _army,
    "Bound": _bound,
    "Hero": _character("hero"),
    "HiddenItems": _hidden_items,
    "MiscastRow": _miscast_row,
    "Runesmith": _character("runesmith", "runelord"),
    "Spell": _spell,
    "SpellVersion": _alternative,
    "Switches": _switches,
    "Unit": _unit,
    "Wizard": _wizard,
    "WorthOverride": _worth_override,
}
"""Changes that add short forms to the models' schemas, by model name."""
