"""Miscast tables: rows of the bundled ones, and the table of each wizard."""

import pytest

from tests.scenario.documents import scenario
from wfb_gym.scenario.rulesets import bundled_miscast_table, bundled_miscast_tables


@pytest.mark.parametrize(("of_wizard", "of_army", "of_rules", "expected"), [
    (None, None, None, "6e"), (None, None, "7e", "7e"),
    (None, "gut-magic", "7e", "gut-magic"), ("daemons", "gut-magic", "7e", "daemons"),
])  # fmt: skip
def test_a_wizards_table_precedes_his_armys_and_the_rulesets(
    of_wizard: str | None, of_army: str | None, of_rules: str | None, expected: str
) -> None:
    other = {"wizards": [{"name": "Otto", "level": 1}]}
    wizards = [{"name": "Anna", "level": 1, "miscast_table": of_wizard}]
    keys = {"rules": {"miscast_table": of_rules}}
    battle = scenario(other, keys=keys, wizards=wizards, miscast_table=of_army)
    anna, otto = battle.caster.wizards[0], battle.dispeller.wizards[0]
    of_otto = of_rules or "6e"
    assert battle.miscast_table_of(battle.caster, anna) == expected
    assert battle.miscast_table_of(battle.dispeller, otto) == of_otto
    assert list(battle.miscast_tables_in_use) == list(dict.fromkeys([of_otto, expected]))
    assert battle.miscast_tables_in_use[expected] == bundled_miscast_table(expected)


def test_the_bundled_tables() -> None:
    assert bundled_miscast_tables() == ("6e", "7e", "daemons", "gut-magic")


def test_daemons_read_a_three_as_a_two() -> None:
    plain, daemons = bundled_miscast_table("6e").rows, bundled_miscast_table("daemons").rows
    assert daemons[0].roll == (2, 3)
    assert daemons[0].effects == plain[0].effects
    assert [(row.roll, row.effects) for row in daemons[1:]] == [
        (row.roll, row.effects) for row in plain[2:]
    ]
    assert {row.source for row in daemons} == {"ours"}


@pytest.mark.parametrize(("name", "hits"), [
    ("6e", [(10, True), (10, True), (4, False), (6, False)]),
    ("7e", [(10, False), (6, False), (6, False), (2, False), (4, False), (8, False)]),
])  # fmt: skip
def test_strengths_and_saves_of_the_hits(name: str, hits: list[tuple[int, bool]]) -> None:
    rows = bundled_miscast_table(name).rows
    effects = [effect.model_dump() for row in rows for effect in row.effects]
    found = [(each["strength"], each["armour_save"]) for each in effects if "strength" in each]
    assert found == hits
