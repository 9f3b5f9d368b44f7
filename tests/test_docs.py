"""The pages of docs/ against the code that they describe; scenarios: `test_scenario_docs`."""

import contextlib
import io
import os
import re
import tomllib
from dataclasses import MISSING, fields
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest

from tests.support.lore_tables import lore_rows, lores
from tests.support.pages import ROOT, blocks, page, place_of, rows_of, run_blocks, sections, tables
from tests.support.scripts import run_python
from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit
from wfb_gym.generating import Generation
from wfb_gym.opponents.policy_spec import NAMES as POLICY_NAMES
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import seat_number

ENVIRONMENTS = page("environments.md")
GENERATED = page("scenarios/generated.md")
_FILES = (*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"))
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in _FILES)


@cache
def anchors(file: Path) -> set[str]:
    headings = sections(file.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def test_links_lead_somewhere() -> None:
    for name in PAGES:
        here = ROOT / name
        for target in re.findall(r"\]\(([^)]+)\)", here.read_text(encoding="utf-8")):
            if target.startswith("https://"):
                continue
            path, _, place = target.partition("#")
            file = place_of(os.path.relpath(here.parent / path, ROOT)) if path else here
            assert file.exists(), f"{name}: {target}"
            assert not place or place in anchors(file), f"{name}: {target}"


def test_the_python_of_the_front_page_runs() -> None:
    assert run_blocks(page("index.md"))["done"]


def test_every_extra_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = " ".join(row[0] for row in rows_of(page("install.md"), "Extras"))
    assert set(re.findall(r"`([\w-]+)`", named)) == set(project["optional-dependencies"])


def test_tables_of_the_lores_are_those_of_the_data() -> None:
    for lore in lores():
        assert rows_of(page("lores.md"), lore) == lore_rows(lore)


@pytest.mark.parametrize("name", ["battlefield.md", "limits.md"])
def test_examples_print_the_output_of_the_page(name: str) -> None:
    text = page(name)
    examples = list(zip(blocks(text, "python"), blocks(text, "text"), strict=True))
    assert len(examples) == 2
    for code, documented in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert printed.getvalue() == documented


def test_the_table_of_ranges() -> None:
    head, *rows = tables(sections(ENVIRONMENTS)["Action Space"])[0]
    assert len(head) == 6
    for column, title in enumerate(head[1:], 1):
        name, seat = title.split()
        codec = action_codec(fit(pack(load_scenario(name)), seat_number(seat)))
        wanted = {"n": str(codec.n)}
        for name, (first, size) in codec.ranges.items():
            last = first + size - 1
            wanted[name] = "–" if not size else str(first) if size == 1 else f"{first}..{last}"  # noqa: RUF001
        assert {row[0]: row[column] for row in rows} == wanted
    meanings = [row[0] for row in rows_of(ENVIRONMENTS, "Action Space", 1)]
    assert meanings == [row[0] for row in rows if row[0] != "n"]


def test_the_python_of_the_pages_of_environments_runs() -> None:
    code = [*blocks(ENVIRONMENTS, "python"), *blocks(GENERATED, "python")]
    done = run_python("-W", "error", "-c", "\n".join(code))
    assert done.status == 0, done.err


def test_the_tables_of_arguments() -> None:
    from wfb_gym.envs.battles import BattleEnv, BattleVectorEnv
    from wfb_gym.envs.single import MagicPhaseEnv
    from wfb_gym.envs.vector import MagicPhaseVectorEnv

    def parameters(function: Any) -> list[str]:
        found = signature(function).parameters.values()
        return [each.name for each in found if each.kind is not Parameter.VAR_KEYWORD]

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
    rows = rows_of(GENERATED, "Generated scenarios", 1)
    documented = {row[0].strip("`"): row[1].strip("`") for row in rows}
    assert documented == {field.name: repr(field.default) for field in fields(Generation)}


def test_the_python_of_the_solvers_pages_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = run_blocks(page("solver.md"))
    documented = capsys.readouterr().out
    assert documented.startswith("9.679")
    assert f"{names['opening'].value}" in documented
    run_blocks(page("hidden-items.md"))
    bounds, score, _ = capsys.readouterr().out.splitlines()
    assert [f"{float(bound):.3f}" for bound in bounds.split()] == ["8.685", "8.686"]
    assert score.startswith("96.9")


@pytest.mark.slow
def test_the_python_of_the_agents_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = run_blocks(page("agents.md"))
    documented = capsys.readouterr().out.splitlines()
    mean, bold, miser = (float(line) for line in documented[:3])
    assert documented[3].startswith("python -m agents.distil --scenarios 18000 ")
    scores = [float(line) for line in documented[4:6]]
    assert scores == pytest.approx([98.9, 100], abs=0.1)
    assert documented[6].startswith("(64,) ")
    assert mean == names["points"].mean()
    assert 0 < miser < bold < 100
    assert names["observations"].shape[0] == 8


def test_documented_agents_can_be_made() -> None:
    cells = " ".join(row[0] for row in rows_of(page("agents.md"), "Agents"))
    names = [name for name in re.findall(r"`([^`]+)`", cells) if not name.startswith(".")]
    assert set(POLICY_NAMES) <= {name.partition(":")[0] for name in names}
    for name in names:
        make_agent(name)


@pytest.mark.slow
@pytest.mark.needs("jinja2")
def test_the_example_review_is_current(tmp_path: Path) -> None:
    """Its values are from the current players; `replay --html` writes it again."""
    from wfb_gym.cli import main

    examples, made = ROOT / "docs" / "examples", tmp_path / "review.html"
    assert main(["replay", str(examples / "border-skirmish.jsonl"), "--html", str(made)]) == 0
    assert made.read_bytes() == (examples / "border-skirmish.html").read_bytes()
