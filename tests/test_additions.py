"""Steps of an addition that no other test checks.

`CONTRIBUTING.md` has the steps of each addition. The tests read the sources and pages, and compile
nothing.
"""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from tests.support.pages import PACKAGE, ROOT, page
from wfb_gym._records import Record
from wfb_gym.encoding import fields
from wfb_gym.encoding.fields import ObservedNumber
from wfb_gym.scenario import items
from wfb_gym.scenario.effects import Damage, Near, SpellEffect, Worth
from wfb_gym.scenario.items import Item, bundled_items
from wfb_gym.scenario.rulesets import MiscastEffect, bundled_miscast_tables
from wfb_gym.scenario.spells import lore_spells

NOT_PLAYED = {"points", "source", "reason"}
"""Fields for explanations, without an effect in play."""
UNREAD = {
    "PackedArmy.n_points": "an observation is sized by it",
    "PackedScenario.deals": "an observation is sized by it, and planners are shown less",
    "PackedScenario.in_play_recast_side": "an observation shows it; `barred_by` plays it",
    "PackedScenario.n_miscast_rows": "totals name their row",
    "PackedScenario.n_miscast_tables": "wizards name their table",
    "PackedSpell.reserved": "keeps the digests of packed scenarios",
}
"""Packed fields that no rule of the engine reads, with the reason."""
LEARNERS = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "agents").rglob("*.py")
    if not path.name.startswith("test_") and "__main__" in path.read_text(encoding="utf-8")
)
"""Scripts of `agents/`."""
RECORDERS = {"record", "suite"}
"""Scripts that write data sets, and results only on request."""
OFFSETS = [each for name, each in vars(fields).items() if name.endswith("Offsets")]


@cache
def text_of(folder: str) -> str:
    """Return all Python sources of a folder."""
    return "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*.py"))
    )


def has_word(word: str, text: str) -> bool:
    """Return whether a name or a key occurs as a whole word."""
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


@pytest.mark.parametrize("name", bundled_items())
def test_every_item_has_its_rule_in_the_ledger(name: str) -> None:
    assert name in page("rules.md"), f"docs/rules.md: no row names {name}"


@pytest.mark.parametrize("name", bundled_miscast_tables())
def test_every_miscast_table_is_in_the_ledger_and_played_in_a_test(name: str) -> None:
    assert f"`data/miscasts/{name}.toml`" in page("rules-tests.md"), (
        f"docs/rules-tests.md: no row of {name}"
    )
    assert f'"{name}"' in text_of("tests/engine"), f"tests/engine: no test plays {name}"


def test_every_power_of_an_item_is_played_in_a_test() -> None:
    """By its key, or by a bundled item with it."""
    played = text_of("tests/engine")
    models: tuple[type[BaseModel], ...] = (
        Item, items.WhenCasting, items.WhenDispelling, items.RerollPower, items.Stores, items.Bound,
    )  # fmt: skip
    for model in models:
        for key in set(model.model_fields) - NOT_PLAYED:
            default = model.model_fields[key].default
            having = [
                name
                for name, item in bundled_items().items()
                for part in (item, *(getattr(item, field) for field in Item.model_fields))
                if isinstance(part, model) and getattr(part, key) != default
            ]
            assert any(has_word(word, played) for word in (key, *having)), (
                f"tests/engine: no test plays {model.__name__}.{key}"
            )


def test_every_part_of_a_spells_effect_is_played_in_a_test() -> None:
    """By its key, or by a spell of a lore with it."""
    played = text_of("tests/engine") + text_of("tests/geometry")
    for model in (SpellEffect, Damage, Worth, Near):
        for key in set(model.model_fields) - NOT_PLAYED:
            default = model.model_fields[key].default
            having = [
                spell.name
                for spell in lore_spells()
                for part in (spell, spell.damage, spell.worth, spell.near)
                if isinstance(part, model) and getattr(part, key) != default
            ]
            assert any(has_word(word, played) for word in (key, *having)), (
                f"tests/engine: no test plays {model.__name__}.{key}"
            )


def test_every_effect_of_a_miscast_is_played_in_a_test() -> None:
    for model in get_args(MiscastEffect):
        for kind in get_args(model.model_fields["kind"].annotation):
            assert has_word(kind, text_of("tests/engine")), f"tests/engine: no test plays {kind}"


def test_every_rule_of_a_spells_effect_is_in_the_ledger() -> None:
    for model in (SpellEffect, Damage, Worth, Near):
        for key in set(model.model_fields) - NOT_PLAYED:
            assert f"`{key}`" in page("rules.md"), f"docs/rules.md: no row names `{key}`"


@pytest.mark.parametrize("kind", OFFSETS)
def test_every_observed_number_has_a_test_of_its_value(kind: type[Record]) -> None:
    tests = "test_observed_values.py", "test_history.py"
    values = "".join(page(f"../tests/encoding/{name}") for name in tests)
    for attribute, number in vars(kind).items():
        if isinstance(number, ObservedNumber):
            name = number.name or attribute.replace("_", " ")
            assert has_word(name, values), f"{' and '.join(tests)}: no test reads {name!r}"


def test_the_engine_reads_every_packed_field() -> None:
    """A packed field that no rule reads has no effect."""
    records = ast.parse((PACKAGE / "packing/records.py").read_text(encoding="utf-8"))
    packed = {
        f"{record.name}.{line.target.id}"
        for record in records.body
        if isinstance(record, ast.ClassDef)
        for line in record.body
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }
    read = {
        node.attr
        for path in (PACKAGE / "engine").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    unread = {name for name in packed if name.partition(".")[2] not in read}
    assert unread == set(UNREAD), (
        "wfb_gym/engine reads none of these, or reads a field listed in UNREAD"
    )


@pytest.mark.parametrize("script", LEARNERS, ids=str)
def test_every_learner_is_described_and_tested(script: Path) -> None:
    module = ".".join(script.with_suffix("").parts)
    pages = sorted((ROOT / "docs" / "experiments").glob("*.md"))
    described = "".join(path.read_text(encoding="utf-8") for path in pages)
    described += page("data.md") + page("rllib.md")
    assert f"python -m {module}\n" in described or f"python -m {module} " in described, (
        f"docs/experiments/: no `python -m {module}`"
    )
    named = {f"import {script.stem}\n", f"from {module} import", f"{script.stem},", f'"{module}"'}
    tests = text_of("tests/agents") + text_of("agents/rllib")
    assert any(each in tests for each in named), f"tests/agents: no test of {module}"
    text = (ROOT / script).read_text(encoding="utf-8")
    writers = "write_results(", "run_learner(", "run_from_command_line(", "= Experiment("
    writes = any(each in text for each in writers)
    assert writes or script.stem in RECORDERS, f"{script}: writes no results.json"


@pytest.mark.parametrize("script", LEARNERS, ids=str)
def test_every_learner_documents_its_command(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "rllib" in script.parts:
        pytest.importorskip("ray.rllib", exc_type=ImportError)
    main = import_module(".".join(script.with_suffix("").parts)).main
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for flag in ("--quick", "--json", "--seed", "--out"):
        assert flag in shown, f"{script}: no {flag}"


def test_the_tests_that_the_steps_name_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(test_\w+)\b(?!\.py)", text))
    known = set(re.findall(r"def (test_\w+)", text_of("tests"))) | {"test_NAME"}
    assert named - known == set()
    files = set(re.findall(r"\b(test_\w+\.py)", text)) - {"test_NAME.py"}
    assert files <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}
