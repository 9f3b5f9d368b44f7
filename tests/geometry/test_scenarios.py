"""Geometry of scenario files."""

import gc

import pytest

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.targets import has_aim
from wfb_gym.geometry import Verdict
from wfb_gym.packing import pack
from wfb_gym.scenario import (
    Scenario,
    ScenarioError,
    TargetRow,
    bundled_scenarios,
    explain_targets,
    load_scenario,
    scenario_from_dict,
)
from wfb_gym.scenario.scenario import _DEPLOYMENTS


def written(y: float = 30.0) -> dict[str, object]:
    return {
        "name": "old-wood",
        "battlefield": {
            "width": 72.0,
            "depth": 48.0,
            "terrain": [
                {"name": "Old Wood", "kind": "wood", "position": [48.0, 24.0], "size": [12.0, 6.0]}
            ],
        },
        "caster": {
            "wizards": [
                {
                    "name": "Karl",
                    "level": 2,
                    "position": [36.0, 10.0],
                    "spells": [{"name": "Fire Ball"}, {"name": "Burning Head"}],
                },
                {"name": "Fiend", "level": 2, "daemon_unit": "Horrors", "lore": "Shadow"},
            ],
            "units": [
                {
                    "name": "Horrors", "models": 10, "toughness": 3, "points": 15.0,
                    "base": [25.0, 25.0], "position": [20.0, 10.0],
                    "traits": ["daemons"],
                }
            ],
        },
        "dispeller": {
            "heroes": [{"name": "Hans", "unit": "Boyz"}],
            "units": [
                {
                    "name": "Boyz", "models": 25, "toughness": 4, "points": 5.0,
                    "base": [25.0, 25.0], "position": [36.0, y], "facing": 180.0,
                },
                {
                    "name": "Mob", "models": 25, "toughness": 4, "points": 5.0,
                    "base": [25.0, 25.0], "position": [50.0, 30.0], "facing": 180.0,
                },
            ],
        },
    }  # fmt: skip


def scenario(y: float = 30.0) -> Scenario:
    return scenario_from_dict(written(y))


def test_targets_of_a_written_scenario_are_checked() -> None:
    here = scenario()
    effect = here.caster.wizards[0].spells[0].effect
    assert effect is not None
    assert here.aim(0, 0, effect).verdicts() == [
        Verdict(16, True, "", False),
        Verdict(17, False, "is out of sight behind Old Wood", False),
        Verdict(26, False, "is in Boyz", True),
    ]


def test_a_line_of_a_written_scenario_strikes_the_ranks_in_front() -> None:
    here = scenario(20.0)
    effect = here.caster.wizards[0].spells[1].effect
    assert effect is not None
    unit, hero = here.aim(0, 0, effect).strikes(16)
    assert hero.hits == (0, 1)
    assert unit.hits is not None
    # 26 places in ranks of five: through the middle four models and the hero, aslant some more.
    assert 5 <= unit.hits[25] <= 9


def test_a_wizard_who_rolls_his_spells_may_ask_about_all_of_his_lore() -> None:
    rows = explain_targets(scenario(), 0, "Fiend", "Steed of Shadows")
    assert [row.legal for row in rows] == [False, False]
    assert rows[1].reason == "a Daemon may not leave its unit by magic"


def test_units_that_overlap_are_rejected_with_their_keys() -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(9.5)
    (problem,) = refused.value.problems
    assert problem.key == "dispeller.units[0].position"
    assert problem.found == "Boyz over Karl (caster.wizards[0])"


def test_targets_are_explained_for_people() -> None:
    here = scenario()
    assert explain_targets(here, 0, "Karl", "Fire Ball") == [
        TargetRow("Boyz", True, ""),
        TargetRow("Mob", False, "is out of sight behind Old Wood"),
        TargetRow("Hans", False, "is in Boyz; legal after it leaves the unit"),
    ]


def test_a_comet_is_explained_by_the_enemies_that_its_points_reach() -> None:
    document = written()
    document["caster"]["wizards"][0]["spells"] = [  # type: ignore[index]
        {"name": "The Comet of Casandora"}
    ]
    rows = explain_targets(scenario_from_dict(document), 0, "Karl", "The Comet of Casandora")
    assert rows == [
        TargetRow("Boyz", True, "by aiming at a point that reaches it"),
        TargetRow("Mob", True, "by aiming at a point that reaches it"),
        TargetRow("Hans", False, "is in Boyz"),
    ]


def test_an_area_without_models_in_reach() -> None:
    """A spell that strikes an area needs a model there; one without damage does not."""
    document = written()
    wizards = document["caster"]["wizards"]  # type: ignore[index]
    area = {"casting_value": 5, "target": "enemy_area"}
    wizards[0]["spells"] = [
        {"name": "Storm", **area, "range_inches": 1, "damage": {"hits": "1", "strength": 4}},
        {"name": "Wide Storm", **area, "range_inches": 40, "damage": {"hits": "1", "strength": 4}},
        {"name": "Gloom", **area, "range_inches": 1, "worth": {"points": 3}},
    ]
    here = scenario_from_dict(document)
    found = {each: explain_targets(here, 0, "Karl", each) for each in ("Storm", "Wide Storm")}
    reached = "every enemy in reach"
    assert found == {
        "Storm": [TargetRow(reached, False, "no target in reach")],
        "Wide Storm": [TargetRow(reached, True, "")],
    }
    assert explain_targets(here, 0, "Karl", "Gloom") == [
        TargetRow(reached, True, "may be cast, but hits nothing")
    ]


@pytest.mark.parametrize("name", bundled_scenarios())
def test_the_engine_agrees_which_spells_have_a_target(name: str) -> None:
    here = load_scenario(name)
    battle = Battle(pack(here))
    for army, side in enumerate(here.armies):
        for number, slot in enumerate(here.slots[army].spells):
            who = side.characters[slot.wizard].name
            rows = explain_targets(here, army, who, slot.spell.name)
            expected = bool(has_aim(battle.packed, battle.state, army, number))
            assert any(row.legal for row in rows) == expected, (who, slot.spell.name)


def test_a_spell_for_fleeing_units_lists_units_that_may_flee() -> None:
    document = written()
    wizards = document["caster"]["wizards"]  # type: ignore[index]
    wizards[0]["spells"] = [{"name": "The Oxen Stands"}]
    units = document["caster"]["units"]  # type: ignore[index]
    units.append({**units[0], "name": "Guard", "position": [60.0, 6.0], "traits": []})
    why = "is not fleeing"
    for phases, switch, later in (
        (1, True, ""),
        (3, False, ""),
        (3, True, "; legal once it flees"),
    ):
        rules = {"panic": switch}
        here = scenario_from_dict({**document, "phases": phases, "rules": rules})
        rows = {row.target: row for row in explain_targets(here, 0, "Karl", "The Oxen Stands")}
        assert (
            rows["Horrors"].reason == rows["Karl"].reason == why
        )  # a daemon is no target, with or without a unit
        assert rows["Guard"] == TargetRow("Guard", False, why + later)


def test_a_spell_of_fixed_worth_needs_no_target() -> None:
    document = written()
    wizards = document["caster"]["wizards"]  # type: ignore[index]
    wizards[0]["spells"] = [{"name": "Charm", "casting_value": 5, "worth": 10.0}]
    fixed = TargetRow("no target", True, "its worth is fixed, so it needs no target")
    assert explain_targets(scenario_from_dict(document), 0, "Karl", "Charm") == [fixed]


def test_unknown_names_are_rejected_with_the_known_ones() -> None:
    here = scenario()
    with pytest.raises(ValueError, match="expected one of Karl, Fiend, found Hans"):
        explain_targets(here, 0, "Hans", "Fire Ball")
    with pytest.raises(ValueError, match="Karl: expected one of Fire Ball, Burning Head, found"):
        explain_targets(here, 0, "Karl", "Charm")
    with pytest.raises(ValueError, match="Hans: expected one of no spells, found Fire Ball"):
        explain_targets(here, 1, "Hans", "Fire Ball")


def test_a_scenario_is_measured_once_and_forgotten_with_it() -> None:
    where = scenario()
    key = id(where)
    assert where.deployment is where.deployment
    assert where.deployment is not scenario().deployment
    assert key in _DEPLOYMENTS.cached
    del where
    gc.collect()
    assert key not in _DEPLOYMENTS.cached
