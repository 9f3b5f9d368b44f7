import gc
import subprocess
import sys

import pytest

from tests.geometry.stand_ins import (
    Army,
    Character,
    Scenario,
    SpellOf,
    Table,
    Terrain,
    Unit,
    effect,
    missile,
    scenario,
)
from wfb_gym.geometry import Row, explain, outlines, placement_problems
from wfb_gym.geometry.survey import _surveys, survey


def problems(*ours: Unit | Character) -> list[tuple[str, str]]:
    return [(key, found) for key, _, found in placement_problems(scenario(ours))]


def test_units_that_touch_do_not_overlap() -> None:
    left, right = Unit("A", 5, 5, (30.0, 20.0)), Unit("B", 5, 5, (35.0, 20.0))
    assert problems(left, right) == []
    assert problems(left, Unit("B", 5, 5, (34.991, 20.0))) == []
    found = [("caster.units[1].position", "B over A (caster.units[0])")]
    assert problems(left, Unit("B", 5, 5, (34.98, 20.0))) == found


def test_engaged_enemies_may_touch_front_to_front() -> None:
    ours = Unit("A", 10, 5, (30.0, 20.0), in_combat=True)
    theirs = Unit("B", 10, 5, (31.0, 20.0), 180.0, in_combat=True)
    assert placement_problems(scenario((ours,), (theirs,))) == []
    over = Unit("B", 10, 5, (31.0, 19.9), 180.0, in_combat=True)
    (problem,) = placement_problems(scenario((ours,), (over,)))
    assert problem == (
        "dispeller.units[0].position", "a place that is free", "B over A (caster.units[0])"
    )  # fmt: skip


def test_the_notch_of_a_short_last_rank_is_free() -> None:
    short = Unit("A", 6, 5, (30.0, 20.0))  # its last model at x 29.5 to 30.5, y 18 to 19
    assert problems(short, Character(position=(31.0, 19.0))) == []
    (problem,) = problems(short, Character(position=(30.4, 19.0)))
    assert problem == ("caster.wizards[0].position", "Karl over A (caster.units[0])")


def test_a_character_in_a_unit_overlaps_nobody_but_his_unit_is_larger() -> None:
    unit = Unit("A", 5, 5, (30.0, 20.0))
    behind = Unit("B", 1, 1, (29.5, 19.0))
    assert problems(unit, behind) == []
    assert len(problems(unit, behind, Character(unit="A"))) == 1


def test_who_is_off_the_table_or_dead_is_in_nobodys_way() -> None:
    unit = Unit("A", 5, 5, (30.0, 20.0))
    off = Character(status="off_table"), Character("B", (30.0, 20.0), status="dead")
    assert problems(unit, *off) == []


@pytest.mark.parametrize(
    ("x", "y", "beyond"),
    [(2.4, 20.0, "0.10"), (36.0, 0.5, "0.50"), (69.6, 20.0, "0.10"), (36.0, 48.02, "0.02")],
)
def test_every_base_stands_on_the_table(x: float, y: float, beyond: str) -> None:
    found = f"{beyond} inches of A off the table"
    assert problems(Unit("A", 5, 5, (x, y))) == [("caster.units[0].position", found)]


def test_a_unit_may_stand_at_the_edge_of_the_table() -> None:
    assert problems(Unit("A", 5, 5, (2.5, 1.0)), Unit("B", 5, 5, (69.5, 48.0))) == []


def test_without_a_battlefield_nothing_stands_wrongly() -> None:
    where = scenario((Unit(), Unit("B")), table=False)
    assert placement_problems(where) == []
    assert outlines(where) == {}


def test_outlines_have_a_polygon_for_each_base_by_name() -> None:
    wood = Terrain("Old Wood", "wood", (10.0, 10.0), (4.0, 2.0), 90.0)
    theirs = (Unit("B", 7, 5, (36.0, 20.0)), Character("Foe", unit="B"))
    shapes = outlines(scenario((Character(position=(36.0, 10.0)),), theirs, (wood,)))
    assert {side: list(named) for side, named in shapes.items()} == {
        "caster": ["Karl"], "dispeller": ["B", "Foe"], "terrain": ["Old Wood"]
    }  # fmt: skip
    assert len(shapes["dispeller"]["B"].geoms) == 7
    assert shapes["dispeller"]["B"].area == pytest.approx(7.0)
    assert shapes["caster"]["Karl"].bounds == pytest.approx((35.5, 9.0, 36.5, 10.0))
    assert shapes["terrain"]["Old Wood"].bounds == pytest.approx((9.0, 8.0, 11.0, 12.0))


def known(*spells: SpellOf) -> Scenario:
    karl = Character(position=(36.0, 10.0), candidate_spells=spells)
    theirs = (Unit("Foe", 5, 5, (36.0, 20.0), 180.0), Unit("Far", 5, 5, (36.0, 40.0), 180.0))
    hidden = Character("Hans", unit="Foe")
    return Scenario(Army((), (karl,)), Army(theirs, (hidden,)), Table())


def test_a_table_for_people_says_why_a_target_is_none() -> None:
    where = known(SpellOf("Bolt", missile()), SpellOf("Storm", effect("enemy_area", 12)))
    assert explain(where, 0, "Karl", "Bolt") == [
        Row("Foe", True, ""),
        Row("Far", False, "is 30.0 inches away: out of range, which is 24"),
        Row("Hans", False, "stands in Foe; once he stands alone it may be cast at him"),
    ]
    assert explain(where, 0, "Karl", "Storm") == [Row("every enemy in reach", True, "")]


def test_a_spell_of_fixed_worth_needs_no_target() -> None:
    where = known(SpellOf("Charm", None))
    fixed = Row("nobody", True, "its worth is fixed, so that it needs no target")
    assert explain(where, 0, "Karl", "Charm") == [fixed]


def test_unknown_names_are_refused_with_those_there_are() -> None:
    where = known(SpellOf("Bolt", missile()), SpellOf("Storm", missile()))
    with pytest.raises(ValueError, match="expected one of Karl, found Hans"):
        explain(where, 0, "Hans", "Bolt")
    with pytest.raises(ValueError, match="Karl: expected one of Bolt, Storm, found Charm"):
        explain(where, 0, "Karl", "Charm")
    with pytest.raises(ValueError, match="Hans: expected one of no spells, found Bolt"):
        explain(where, 1, "Hans", "Bolt")


def test_a_scenario_is_surveyed_once_and_forgotten_with_it() -> None:
    where = scenario((Unit(position=(30.0, 20.0)),))
    key = id(where)
    assert survey(where) is survey(where)
    assert survey(where) is not survey(scenario((Unit(position=(30.0, 20.0)),)))
    assert key in _surveys
    del where
    gc.collect()
    assert key not in _surveys


def test_shapely_is_imported_only_for_a_battlefield() -> None:
    script = (
        "import sys\n"
        "import wfb_gym, wfb_gym.geometry\n"
        "from tests.geometry.stand_ins import *\n"
        "from wfb_gym.geometry import placement_problems, strikes, verdicts\n"
        "for table in (False, True):\n"
        "    karl = Character(position=(36.0, 5.0))\n"
        "    here = scenario((karl,), (Unit(position=(36.0, 20.0)),), table=table)\n"
        "    verdicts(here, 0, 0, missile(), 24)\n"
        "    strikes(here, 0, 0, template(), None, 16)\n"
        "    placement_problems(here)\n"
        "    print('shapely' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
