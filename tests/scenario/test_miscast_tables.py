"""Miscast tables: dice, rows, effects, and the table of each wizard."""

from typing import Any

import pytest

from tests.scenario.documents import Data, scenario
from wfb_gym.scenario.rulesets import MiscastTable, bundled_miscast_table, bundled_miscast_tables


def house(*rows: Data, **table: Any) -> MiscastTable:
    tables = {"house": {"rows": list(rows), **table}}
    return scenario(keys={"miscast_tables": tables}).miscast_tables["house"]


def test_a_table_is_rolled_with_two_dice_unless_it_takes_one() -> None:
    table = house({"roll": [2, 12]})
    assert (table.dice, table.totals) == (2, range(2, 13))
    table = house({"roll": [1, 5]}, {"roll": 6}, dice=1)
    assert (table.dice, table.totals) == (1, range(1, 7))


@pytest.mark.parametrize(
    ("written", "more"),
    [
        ({"kind": "caster_hits", "dice": "D6", "strength": 4}, {"armour_save": True}),
        ({"kind": "caster_hits", "dice": "D3", "strength": 4, "armour_save": False}, {}),
        ({"kind": "caster_wounds", "dice": "D3"}, {}),
        ({"kind": "other_wizards_wounds", "dice": "D6"}, {}),
        ({"kind": "locked", "until": "battle_end"}, {"bars_items": False}),
        ({"kind": "spell_forgotten"}, {"whose": "caster"}),
        ({"kind": "spell_forgotten", "whose": "side"}, {}),
    ],
)
def test_effects_are_read(written: Data, more: Data) -> None:
    (row,) = house({"roll": [2, 12], "effects": [written]}).rows
    assert row.effects[0].model_dump() == {**written, **more}


@pytest.mark.parametrize(
    ("wizard", "army", "rules", "expected"),
    [
        ({}, {}, {}, "6e"),
        ({}, {}, {"miscast_table": "7e"}, "7e"),
        ({}, {"miscast_table": "gut-magic"}, {"miscast_table": "7e"}, "gut-magic"),
        (
            {"miscast_table": "daemons"},
            {"miscast_table": "gut-magic"},
            {"miscast_table": "7e"},
            "daemons",
        ),
    ],
)
def test_a_wizards_table_precedes_his_armys_and_the_rulesets(
    wizard: Data, army: Data, rules: Data, expected: str
) -> None:
    other = {"wizards": [{"name": "Otto", "level": 1}]}
    wizards = [{"name": "Anna", "level": 1, **wizard}]
    battle = scenario(other, keys={"rules": rules}, wizards=wizards, **army)
    anna, otto = battle.caster.wizards[0], battle.dispeller.wizards[0]
    of_rules = rules.get("miscast_table", "6e")
    assert battle.miscast_table_of(battle.caster, anna) == expected
    assert battle.miscast_table_of(battle.dispeller, otto) == of_rules
    assert list(battle.miscast_tables_in_use) == list(dict.fromkeys([of_rules, expected]))
    assert battle.miscast_tables_in_use[expected] == bundled_miscast_table(expected)


def test_the_bundled_tables() -> None:
    assert bundled_miscast_tables() == ("6e", "7e", "daemons", "gut-magic")


def test_gut_magic_is_printed_and_takes_one_die() -> None:
    table = bundled_miscast_table("gut-magic")
    assert table.dice == 1
    assert [row.roll for row in table.rows] == [(n, n) for n in range(1, 7)]
    assert {row.source for row in table.rows} == {"printed"}
    assert all(row.text for row in table.rows)


def test_daemons_read_a_three_as_a_two() -> None:
    plain, daemons = bundled_miscast_table("6e").rows, bundled_miscast_table("daemons").rows
    assert daemons[0].roll == (2, 3)
    assert daemons[0].effects == plain[0].effects
    assert [(row.roll, row.effects) for row in daemons[1:]] == [
        (row.roll, row.effects) for row in plain[2:]
    ]
    assert {row.source for row in daemons} == {"ours"}


@pytest.mark.parametrize(
    ("name", "hits"),
    [
        ("6e", [(10, True), (10, True), (4, False), (6, False)]),
        ("7e", [(10, False), (6, False), (6, False), (2, False), (4, False), (8, False)]),
    ],
)
def test_strengths_and_saves_of_the_hits(name: str, hits: list[tuple[int, bool]]) -> None:
    rows = bundled_miscast_table(name).rows
    effects = [effect.model_dump() for row in rows for effect in row.effects]
    found = [(each["strength"], each["armour_save"]) for each in effects if "strength" in each]
    assert found == hits
