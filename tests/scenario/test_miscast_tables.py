"""Miscast tables: dice, rows, effects, and the table of each wizard."""

from typing import Any

import pytest

from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict
from wfb_gym.scenario.rulesets import MiscastTable, bundled_miscast_table, bundled_miscast_tables

SIX = [{"roll": [1, 6]}]


def document(*rows: dict[str, Any], **table: Any) -> dict[str, Any]:
    tables = {"house": {"rows": list(rows), **table}}
    return {"name": "test", "caster": {}, "dispeller": {}, "miscast_tables": tables}


def house(*rows: dict[str, Any], **table: Any) -> MiscastTable:
    read = scenario_from_dict(document(*rows, **table))
    assert scenario_from_dict(read.model_dump()) == read
    return read.miscast_tables["house"]


def refused(*rows: dict[str, Any], **table: Any) -> str:
    """Return the error for a table with one fault."""
    with pytest.raises(ScenarioError) as caught:
        scenario_from_dict(document(*rows, **table))
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value).removeprefix("scenario: miscast_tables.house.")


def effect(**keys: Any) -> dict[str, Any]:
    """Return one effect of a table after reading."""
    return house({"roll": [2, 12], "effects": [keys]}).rows[0].effects[0].model_dump()


def refused_effect(**keys: Any) -> str:
    return refused({"roll": [2, 12], "effects": [keys]}).removeprefix("rows[0].effects[0].")


def test_a_table_is_rolled_with_two_dice() -> None:
    table = house({"roll": [2, 12]})
    assert (table.dice, table.totals) == (2, range(2, 13))


def test_a_table_may_be_rolled_with_one_die() -> None:
    table = house({"roll": [1, 5]}, {"roll": 6}, dice=1)
    assert (table.dice, table.totals) == (1, range(1, 7))


@pytest.mark.parametrize(
    ("rows", "table", "message"),
    [
        (SIX, {"dice": 3}, "dice: expected a whole number from 1 to 2, found 3"),
        (
            [{"roll": [1, 5]}],
            {"dice": 1},
            "rows: expected each total from 1 to 6 in exactly one row, found no row for 6",
        ),
        (
            [{"roll": [1, 12]}],
            {},
            "rows[0].roll: expected totals from 2 to 12, found [1, 12]",
        ),
        (
            [{"roll": [1, 7]}],
            {"dice": 1},
            "rows[0].roll: expected totals from 1 to 6, found [1, 7]",
        ),
        (
            [{"roll": [0, 6]}],
            {"dice": 1},
            (
                "rows[0].roll: expected a total of 2D6 or D6, or two as an inclusive range such as "
                "[3, 4], found [0, 6]"
            ),
        ),
        (
            [*SIX, {"roll": 6}],
            {"dice": 1},
            "rows: expected each total from 1 to 6 in exactly one row, found several rows for 6",
        ),
    ],
)
def test_rows_cover_the_totals_of_the_dice(
    rows: list[dict[str, Any]], table: dict[str, Any], message: str
) -> None:
    assert refused(*rows, **table) == message


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
def test_effects_are_read(written: dict[str, Any], more: dict[str, Any]) -> None:
    assert effect(**written) == {**written, **more}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"kind": "caster_hits", "dice": "2D6", "strength": 4}, 'dice: expected "D3" or "D6", f'),
        ({"kind": "caster_hits", "dice": "D6"}, "strength: expected a value, as the key is requ"),
        ({"kind": "caster_wounds"}, "dice: expected a value, as the key is required, found no s"),
        (
            {"kind": "caster_wounds", "dice": "D3", "strength": 4},
            "strength: expected a known key (kind, dice), found unknown key",
        ),
        (
            {"kind": "spell_forgotten", "whose": "all"},
            'whose: expected "caster" or "side", found "all"',
        ),
    ],
)
def test_wrong_effects_give_an_error(written: dict[str, Any], message: str) -> None:
    assert refused_effect(**written).startswith(message)


# --- whose table ---------------------------------------------------------------------------


def battle(wizard: str | None = None, army: str | None = None, **rules: str) -> Scenario:
    """Return one wizard in either army; the first has these tables."""
    own = {} if wizard is None else {"miscast_table": wizard}
    side = {} if army is None else {"miscast_table": army}
    caster = {"wizards": [{"name": "Anna", "level": 1, **own}], **side}
    dispeller = {"wizards": [{"name": "Otto", "level": 1}]}
    data = {"name": "test", "caster": caster, "dispeller": dispeller, "rules": rules}
    read = scenario_from_dict(data)
    assert scenario_from_dict(read.model_dump()) == read
    return read


@pytest.mark.parametrize(
    ("wizard", "army", "rules", "expected"),
    [
        (None, None, {}, "6e"),
        (None, None, {"miscast_table": "7e"}, "7e"),
        (None, "gut-magic", {"miscast_table": "7e"}, "gut-magic"),
        ("daemons", "gut-magic", {"miscast_table": "7e"}, "daemons"),
    ],
)
def test_a_wizards_table_precedes_his_armys_and_the_rulesets(
    wizard: str | None, army: str | None, rules: dict[str, str], expected: str
) -> None:
    scenario = battle(wizard, army, **rules)
    anna, otto = scenario.caster.wizards[0], scenario.dispeller.wizards[0]
    assert scenario.miscast_table_of(scenario.caster, anna) == expected
    assert scenario.miscast_table_of(scenario.dispeller, otto) == rules.get("miscast_table", "6e")


def test_the_rulesets_table_comes_first_among_those_in_use() -> None:
    tables = battle("daemons", "gut-magic").miscast_tables_in_use
    assert list(tables) == ["6e", "daemons"]
    assert tables["daemons"] == bundled_miscast_table("daemons")


@pytest.mark.parametrize(
    ("wizard", "army", "key"),
    [("gut", None, "caster.wizards[0].miscast_table"), (None, "gut", "caster.miscast_table")],
)
def test_an_unknown_table_is_rejected(wizard: str | None, army: str | None, key: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        battle(wizard, army)
    assert str(caught.value) == (
        f"scenario: {key}: expected a miscast table of this file or bundled (did you mean "
        'gut-magic?), found "gut"'
    )


# --- the bundled tables --------------------------------------------------------------------


def test_the_bundled_tables() -> None:
    assert bundled_miscast_tables() == ("6e", "7e", "daemons", "gut-magic")


def test_gut_magic_is_printed_and_takes_one_die() -> None:
    table = bundled_miscast_table("gut-magic")
    assert table.dice == 1
    assert [row.roll for row in table.rows] == [(n, n) for n in range(1, 7)]
    assert {row.source for row in table.rows} == {"printed"}
    assert all(row.text for row in table.rows)


def test_gut_magic_effects() -> None:
    rows = bundled_miscast_table("gut-magic").rows
    assert [[effect.model_dump() for effect in row.effects] for row in rows] == [
        [
            {"kind": "caster_removed"},
            {"kind": "base_contact_hit", "strength": 4, "armour_save": True},
            {"kind": "other_wizards_wounds", "dice": "D3"},
        ],
        [
            {"kind": "caster_hits", "dice": "D6", "strength": 4, "armour_save": True},
            {"kind": "locked", "until": "battle_end", "bars_items": False},
        ],
        [{"kind": "caster_wounds", "dice": "D3"}],
        [{"kind": "spell_forgotten", "whose": "side"}],
        [{"kind": "base_contact_hit", "strength": 2, "armour_save": False}],
        [],
    ]


def test_daemons_read_a_three_as_a_two() -> None:
    plain, daemons = bundled_miscast_table("6e").rows, bundled_miscast_table("daemons").rows
    assert daemons[0].roll == (2, 3)
    assert daemons[0].effects == plain[0].effects
    assert [(row.roll, row.effects) for row in daemons[1:]] == [
        (row.roll, row.effects) for row in plain[2:]
    ]
    assert {row.source for row in daemons} == {"ours"}
