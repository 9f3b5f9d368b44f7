"""Geometry of scenario files."""

import gc
from typing import Any

import pytest

from tests.support.builders import Data, aimed, army, unit, wizard
from tests.support.builders import spell as plain_spell
from tests.support.packed import scenario
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.targets import has_aim
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, TargetRow, explain_targets, load_scenario
from wfb_gym.scenario.scenario import _DEPLOYMENTS

FIRE_BALL, BURNING_HEAD = {"name": "Fire Ball"}, {"name": "Burning Head"}
WOOD = {"name": "Old Wood", "kind": "wood", "position": [48.0, 24.0], "size": [12.0, 6.0]}
BASE = [25.0, 25.0]
HORRORS = unit("Horrors", points=15.0, base=BASE, position=[20.0, 10.0], traits=["daemons"])


def written(*spells: Data, y: float = 30.0, units: tuple[Data, ...] = (), **keys: Any) -> Scenario:
    """Return a wizard with these spells, and Daemons, against two units and a hero."""
    karl = wizard(2, *spells or (FIRE_BALL, BURNING_HEAD), name="Karl", position=[36.0, 10.0])
    fiend = wizard(2, name="Fiend", daemon_unit="Horrors", lore="Shadow")
    boyz = unit("Boyz", 25, toughness=4, points=5.0, base=BASE, position=[36.0, y], facing=180.0)
    mob = {**boyz, "name": "Mob", "position": [50.0, 30.0]}
    return scenario(
        army(karl, fiend, units=[HORRORS, *units]),
        army(heroes=[{"name": "Hans", "unit": "Boyz"}], units=[boyz, mob]),
        battlefield={"width": 72.0, "depth": 48.0, "terrain": [WOOD]},
        **keys,
    )


def explained(spell: Data, **keys: Any) -> list[TargetRow]:
    """Return the targets of Karl's only spell, for people."""
    return explain_targets(written(spell, **keys), 0, "Karl", spell["name"])


def test_a_wizard_who_rolls_his_spells_may_ask_about_all_of_his_lore() -> None:
    rows = explain_targets(written(), 0, "Fiend", "Steed of Shadows")
    assert [row.legal for row in rows] == [False, False]
    assert rows[1].reason == "a Daemon may not leave its unit by magic"


REACHED = "every enemy in reach"
STORM: Data = {"target": "enemy_area", "damage": {"hits": "1", "strength": 4}}
GLOOM: Data = {"target": "enemy_area", "worth": {"points": 3}}
BY_POINT = "by aiming at a point that reaches it"


@pytest.mark.parametrize(("spell", "rows"), [
    (FIRE_BALL,
     [("Boyz", True, ""), ("Mob", False, "is out of sight behind Old Wood"),
      ("Hans", False, "is in Boyz; legal after it leaves the unit")]),
    ({"name": "The Comet of Casandora"},
     [("Boyz", True, BY_POINT), ("Mob", True, BY_POINT), ("Hans", False, "is in Boyz")]),
    # A spell that strikes an area needs a model there; one without damage does not.
    (aimed(range_inches=1, **STORM), [(REACHED, False, "no target in reach")]),
    (aimed(range_inches=40, **STORM), [(REACHED, True, "")]),
    (aimed(range_inches=1, **GLOOM), [(REACHED, True, "may be cast, but hits nothing")]),
    (plain_spell("Charm"), [("no target", True, "its worth is fixed, so it needs no target")]),
])  # fmt: skip
def test_targets_are_explained_for_people(spell: Data, rows: list[tuple[str, bool, str]]) -> None:
    assert explained(spell) == [TargetRow(*row) for row in rows]


@pytest.mark.parametrize(
    "name", ["border-skirmish", "dawn-at-grimmwald", "march-of-the-pale-count"]
)
def test_the_engine_agrees_which_spells_have_a_target(name: str) -> None:
    here = load_scenario(name)
    battle = Battle(pack(here))
    for seat, side in enumerate(here.armies):
        for number, slot in enumerate(here.slots[seat].spells):
            who = side.characters[slot.wizard].name
            rows = explain_targets(here, seat, who, slot.spell.name)
            expected = bool(has_aim(battle.packed, battle.state, seat, number))
            assert any(row.legal for row in rows) == expected, (who, slot.spell.name)


@pytest.mark.parametrize(("phases", "panic", "later"), [
    (1, True, ""), (3, False, ""), (3, True, "; legal once it flees"),
])  # fmt: skip
def test_a_spell_for_fleeing_units_lists_units_that_may_flee(
    phases: int, panic: bool, later: str
) -> None:
    guard = unit("Guard", position=[60.0, 6.0])
    keys = {"units": (guard,), "phases": phases, "rules": {"panic": panic}}
    rows = {row.target: row.reason for row in explained({"name": "The Oxen Stands"}, **keys)}
    why = "is not fleeing"
    assert rows["Horrors"] == rows["Karl"] == why  # a Daemon never flees, a lone wizard neither
    assert rows["Guard"] == why + later


@pytest.mark.parametrize(("seat", "who", "spell", "message"), [
    (0, "Hans", "Fire Ball", "expected one of Karl, Fiend, found Hans"),
    (1, "Hans", "Fire Ball", "Hans: expected one of no spells, found Fire Ball"),
])  # fmt: skip
def test_unknown_names_are_rejected_with_the_known_ones(
    seat: int, who: str, spell: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        explain_targets(written(), seat, who, spell)


def test_a_scenario_is_measured_once_and_forgotten_with_it() -> None:
    where = written()
    key = id(where)
    assert where.deployment is where.deployment
    assert where.deployment is not written().deployment
    assert key in _DEPLOYMENTS.cached
    del where
    gc.collect(1)  # a full collection would visit the objects of all tests
    assert key not in _DEPLOYMENTS.cached
