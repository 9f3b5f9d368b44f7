"""The pages of docs/ against the code that they describe; scenarios: `test_scenario_docs`."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import MISSING, fields, replace
from inspect import Parameter, signature
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.support.lore_tables import lore_rows, lores
from tests.support.pages import ROOT, blocks, page, place_of, rows_of, sections, tables
from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.fields import Field
from wfb_gym.encoding.layout import layout
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit
from wfb_gym.packing import pack
from wfb_gym.scenario import bundled_scenarios, load_scenario
from wfb_gym.scenario.spells import find_lore_spell
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.view.effects import effect_words

ENVIRONMENTS = page("environments.md")
GENERATED = page("scenarios/generated.md")
BATTLEFIELD = page("battlefield.md")
LORES = page("lores.md")
PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))


# --- all pages -----------------------------------------------------------------------------


def anchor(heading: str) -> str:
    """Return the anchor of a heading on the web."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page(name)):
        if target.startswith("https://"):
            continue
        path, _, place = target.partition("#")
        here = ROOT / "docs" / name
        file = place_of(os.path.relpath(here.parent / path, ROOT)) if path else here
        assert file.exists(), target
        if place:
            assert place in map(anchor, sections(file.read_text(encoding="utf-8"))), target


# --- index.md and install.md ---------------------------------------------------------------


def test_the_python_of_the_front_page_runs() -> None:
    names: dict[str, Any] = {}
    for code in blocks(page("index.md"), "python"):
        exec(code, names)
    assert names["done"]


def test_every_extra_is_explained() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = " ".join(row[0] for row in rows_of(page("install.md"), "Extras"))
    assert set(re.findall(r"`(\w+)`", named)) == set(extras)


# --- lores.md ------------------------------------------------------------------------------


@pytest.mark.parametrize("lore", lores())
def test_tables_of_the_lores_are_those_of_the_data(lore: str) -> None:
    found = rows_of(LORES, lore)
    wanted = lore_rows(lore)
    assert [row[:4] + row[5:] for row in found] == [row[:4] + row[5:] for row in wanted]
    for row, known in zip(found, wanted, strict=True):
        assert row[4].startswith(known[4]), row[0]
        assert row[4], row[0]


def test_all_lores_are_listed() -> None:
    assert list(sections(LORES))[1:] == lores()
    assert sum(len(rows_of(LORES, lore)) for lore in lores()) == 48


def test_words_for_effects_of_a_spell() -> None:
    documented = {
        "Fire Ball": "D6 hits S4, flaming",
        "Rule of Burning Iron": "1 hit S3/4/5 by armour, flaming",
        "Pit of Shades": '1 hit per model under a 3" template S3, touched ones on 4+',
        "Master of Stone": "D6 hits S5; D6 more if the target touches the terrain",
        "Steal Soul": "1 hit, no roll to wound, no armour; the caster gains the wound",
        "Healing Hand": "all lost wounds are restored",
        "Pelt of Midnight": "",
    }
    for name, words in documented.items():
        spell = find_lore_spell(name)
        assert spell is not None
        assert effect_words(spell.effect) == words


# --- battlefield.md ------------------------------------------------------------------------


def test_the_examples_of_targets_print_the_output_of_the_page() -> None:
    examples = list(zip(blocks(BATTLEFIELD, "python"), blocks(BATTLEFIELD, "text"), strict=True))
    assert len(examples) == 2
    for code, documented in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert printed.getvalue() == documented


# --- environments.md -----------------------------------------------------------------------

SHOWN = (
    "archmage-duel caster",
    "archmage-duel dispeller",
    "border-skirmish caster",
    "storm-council caster",
    "storm-council dispeller",
)


def limits_of(name: str, seat: str) -> Limits:
    return fit(pack(load_scenario(name)), seat_number(seat))


def test_the_table_of_ranges() -> None:
    head, *rows = tables(sections(ENVIRONMENTS)["Action Space"])[0]
    assert tuple(head[1:]) == SHOWN
    for column, title in enumerate(head[1:], 1):
        codec = action_codec(limits_of(*title.split()))
        wanted = {"n": str(codec.n)}
        for name, (first, size) in codec.ranges.items():
            last = first + size - 1
            wanted[name] = "–" if not size else str(first) if size == 1 else f"{first}..{last}"  # noqa: RUF001
        assert {row[0]: row[column] for row in rows} == wanted
    meanings = [row[0] for row in rows_of(ENVIRONMENTS, "Action Space", 1)]
    assert meanings == [row[0] for row in rows if row[0] != "n"]


SIZE = ArmyLimits(1, 1, 1, 1, 1)
OPTIONS = tuple(field.name for field in fields(Limits) if field.type in (bool, "bool"))
FULL = Limits(SIZE, SIZE, dice=5, contacts=1, **dict.fromkeys(OPTIONS, True))
FIELD_TABLES = ("The position", "Armies")


def general(name: str) -> str:
    """Return a field's name as on the page: without the owner, and with N for a number."""
    numbered = re.match(
        r"(?:own|enemy) ((?:wizard|spell|item|unit|mark|hidden set(?: chance)?) \d(?! at ).*)",
        name,
    )
    return re.sub(r"\b\d+\b", "N", numbered[1] if numbered else name)


def page_fields() -> dict[str, list[str]]:
    rows = [row for heading in FIELD_TABLES for row in rows_of(ENVIRONMENTS, heading)]
    return {row[0].strip("`"): row[1:] for row in rows}


def general_fields(limits: Limits) -> dict[str, Field]:
    return {general(field.name): field for field in layout(limits).fields}


def test_every_field_is_listed_in_order_with_its_bounds() -> None:
    shown = [(name, *cells[:2]) for name, cells in page_fields().items()]
    found = general_fields(FULL).items()
    assert shown == [(name, f"{field.low:g}", f"{field.high:g}") for name, field in found]


@pytest.mark.parametrize(
    "kept", [(), *combinations(OPTIONS, 1), *combinations(OPTIONS, 2)], ids="+".join
)
def test_optional_fields_are_present_as_documented(kept: tuple[str, ...]) -> None:
    options_kept: dict[str, Any] = {option: option in kept for option in OPTIONS}
    there = general_fields(replace(FULL, **options_kept))
    for name, cells in page_fields().items():
        said = cells[3] if len(cells) > 3 else ""
        options = re.findall(r"`(\w+)`", said)
        many = options in (["contacts"], ["units"], ["comet_points"])
        enough = all if " and " in said else any
        wanted = not options or many or enough(option in kept for option in options)
        assert (name in there) == wanted, name


def test_the_page_has_the_number_of_unit_and_contact_fields() -> None:
    none = general_fields(Limits(ArmyLimits(1), ArmyLimits(1), dice=1))
    for name, cells in page_fields().items():
        said = cells[3] if len(cells) > 3 else ""
        if said.startswith(("N ≤ `units`", "N ≤ `contacts`", "N ≤ `comet_points`")):
            assert name not in none


@pytest.mark.parametrize("name", ["archmage-duel", "border-skirmish", "storm-council"])
def test_sizes_of_observations(name: str) -> None:
    found = re.search(rf"`{name}`\s+(?:has\s+)?(\d+)", sections(ENVIRONMENTS)["Observation Space"])
    assert found is not None
    for seat in SEATS:
        assert int(found[1]) == layout(limits_of(name, seat)).size


@pytest.mark.parametrize("text", [ENVIRONMENTS, GENERATED], ids=["environments", "generated"])
def test_the_python_of_the_page_runs(text: str) -> None:
    code = "\n".join(blocks(text, "python"))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


def parameters(function: Any) -> list[str]:
    """Return the parameter names, without those for any keyword."""
    found = signature(function).parameters.values()
    return [each.name for each in found if each.kind is not Parameter.VAR_KEYWORD]


def test_the_tables_of_arguments() -> None:
    from wfb_gym.envs.battles import BattleEnv, BattleVectorEnv
    from wfb_gym.envs.single import MagicPhaseEnv
    from wfb_gym.envs.vector import MagicPhaseVectorEnv

    single, vector, battle = (
        {row[0].strip("`"): row[1].strip("`") for row in rows_of(ENVIRONMENTS, "Arguments", i)}
        for i in range(3)
    )
    assert list(single) == parameters(MagicPhaseEnv)
    assert {*single, *vector} == set(parameters(MagicPhaseVectorEnv))
    assert list(battle) == parameters(BattleEnv)
    assert {"num_envs", *battle} == set(parameters(BattleVectorEnv))
    for table, env in ((single, MagicPhaseEnv), (battle, BattleEnv)):
        for name, parameter in signature(env).parameters.items():
            if name in table and name != "limits":
                default = parameter.default
                said = f'"{default}"' if isinstance(default, str) else repr(default)
                assert table[name] == said, name


def test_the_table_of_limits() -> None:
    rows = {row[0].strip("`"): row[1] for row in rows_of(ENVIRONMENTS, "Limits")}
    wanted = {
        field.name: "required" if field.default is MISSING else str(field.default)
        for field in fields(Limits)
    }
    assert rows == wanted
    sizes = ", ".join(f"{field.name}={field.default}" for field in fields(ArmyLimits))
    assert f"`ArmyLimits({sizes})`" in ENVIRONMENTS


def test_the_table_of_options_of_generated_battles() -> None:
    from wfb_gym.generating import Generated, Generation

    rows = {
        row[0].strip("`"): row[1].strip("`") for row in rows_of(GENERATED, "Generated scenarios", 1)
    }
    assert rows == {field.name: repr(field.default) for field in fields(Generation)}
    assert f"{Generated().count} scenarios of the chosen split" in GENERATED
    assert Generated.parse("generated") == Generated.parse("generated:train")
    assert set(Generated.parse("generated:test").seeds).isdisjoint(Generated().seeds)


def test_the_battles_of_two_armies_on_a_battlefield_are_named() -> None:
    battles = {
        name
        for name in bundled_scenarios()
        if (scenario := load_scenario(name)).battlefield is not None
        and all(army.units for army in scenario.armies)
    }
    assert len(battles) == 12  # the page and the front page say "twelve"
    (documented,) = re.findall(r"Twelve of the bundled.*?The others", ENVIRONMENTS, re.S)
    assert {name for name in bundled_scenarios() if name in documented} == battles


def test_every_id_is_named() -> None:
    import gymnasium as gym

    import wfb_gym  # noqa: F401 (registers them)

    for name in gym.registry:
        if name.startswith("wfb_gym/"):
            assert f"`{name}`" in ENVIRONMENTS


# --- solver.md -----------------------------------------------------------------------------


def test_the_python_of_the_solvers_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for code in blocks(page("solver.md"), "python"):
        exec(code, names)
    documented = capsys.readouterr().out
    assert documented.startswith("9.679")
    assert f"{names['opening'].value}" in documented
    assert round(names["opening"].states, -3) == 4000  # "4 thousand positions"


# --- hidden-items.md -----------------------------------------------------------------------


def test_the_python_of_the_page_of_hidden_items_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for code in blocks(page("hidden-items.md"), "python"):
        exec(code, names)
    bounds, score, _ = capsys.readouterr().out.splitlines()
    assert [f"{float(bound):.3f}" for bound in bounds.split()] == ["8.685", "8.686"]
    assert score.startswith("96.9")


# --- agents.md -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_python_of_the_agents_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for code in blocks(page("agents.md"), "python"):
        exec(code, names)
    documented = capsys.readouterr().out.splitlines()
    mean, bold, miser = (float(line) for line in documented[:3])
    assert documented[3].startswith("python -m agents.distil --scenarios 18000 ")
    scores = [float(line) for line in documented[4:6]]
    text = " ".join(page("agents.md").split())
    assert "scores 98.9 there as the caster; the network trained on that duel scores 100" in text
    assert scores == pytest.approx([98.9, 100], abs=0.1)
    assert documented[6].startswith("(64,) ")
    assert mean == names["points"].mean()
    assert 0 < miser < bold < 100
    assert names["observations"].shape[0] == 8


def test_the_names_of_agents() -> None:
    from wfb_gym.opponents.policy_spec import NAMES
    from wfb_gym.players.registry import make_agent
    from wfb_gym.players.search.expectimax import DEFAULT_TRANSITIONS
    from wfb_gym.players.search.mcts import DEFAULT_SIMULATIONS

    text = page("agents.md")
    documented = re.findall(r"`([^`]+)`", " ".join(row[0] for row in rows_of(text, "Agents")))
    assert list(dict.fromkeys(name.partition(":")[0] for name in documented))[: len(NAMES)] == list(
        NAMES
    )
    for name in documented:
        if not name.startswith("."):
            make_agent(name)
    assert f"{DEFAULT_SIMULATIONS} by default" in text
    assert f"{DEFAULT_TRANSITIONS:,} transitions" in text


def test_the_fields_of_positions() -> None:
    from wfb_gym.encoding.positions import Positions

    documented = [row[0].strip("`") for row in rows_of(page("agents.md"), "Positions")]
    assert documented == [field.name for field in fields(Positions)]


@pytest.mark.needs("jinja2")
def test_the_example_review_is_current(tmp_path: Path) -> None:
    """Its values are from the current players; `replay --html` writes it again."""
    from wfb_gym.cli import main

    examples, made = ROOT / "docs" / "examples", tmp_path / "review.html"
    assert main(["replay", str(examples / "border-skirmish.jsonl"), "--html", str(made)]) == 0
    assert made.read_bytes() == (examples / "border-skirmish.html").read_bytes()
