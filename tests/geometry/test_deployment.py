import pytest

from tests.geometry.stand_ins import Character, Terrain, Unit, deployment
from tests.support.scripts import run_python

Pieces = tuple[Unit | Character, ...]

A = Unit("A", 5, 5, (30.0, 20.0))
SHORT = Unit("A", 6, 5, (30.0, 20.0))  # its last model at x 29.5 to 30.5, y 18 to 19
FIGHTER = Unit("A", 10, 5, (30.0, 20.0), in_combat=True)
BEHIND = Unit("B", 1, 1, (29.5, 19.0))


def facing(y: float) -> Unit:
    """Return an engaged unit whose front edge is there."""
    return Unit("B", 10, 5, (31.0, y), 180.0, in_combat=True)


@pytest.mark.parametrize(("ours", "theirs", "keys"), [
    ((A, Unit("B", 5, 5, (34.991, 20.0))), (), None),
    ((A, Unit("B", 5, 5, (34.98, 20.0))), (), ("caster.units[1]", "caster.units[0]")),
    ((FIGHTER,), (facing(20.0),), None),
    ((FIGHTER,), (facing(19.9),), ("dispeller.units[0]", "caster.units[0]")),
    # The notch of a short last rank is free.
    ((SHORT, Character(position=(31.0, 19.0))), (), None),
    ((SHORT, Character(position=(30.4, 19.0))), (), ("caster.wizards[0]", "caster.units[0]")),
    # A character in a unit enlarges it.
    ((A, BEHIND), (), None),
    ((A, BEHIND, Character(unit="A")), (), ("caster.units[1]", "caster.units[0]")),
    # Characters off the battlefield, or dead.
    ((A, Character(status="off_table")), (), None),
    ((A, Character("B", (30.0, 20.0), status="dead")), (), None),
    # Both at an edge of the battlefield.
    ((Unit("A", 5, 5, (2.5, 1.0)), Unit("B", 5, 5, (69.5, 48.0))), (), None),
])  # fmt: skip
def test_pieces_that_overlap_are_found(
    ours: Pieces, theirs: Pieces, keys: tuple[str, str] | None
) -> None:
    found = deployment(ours, theirs).misplacements()
    overlaps = [(p.key, None if q is None else q.key) for p, q, _ in found]
    assert overlaps == ([] if keys is None else [keys])


def test_outlines_have_a_polygon_for_each_base_by_name() -> None:
    wood = Terrain("Old Wood", "wood", (10.0, 10.0), (4.0, 2.0), 90.0)
    theirs = (Unit("B", 7, 5, (36.0, 20.0)), Character("Foe", unit="B"))
    shapes = deployment((Character(position=(36.0, 10.0)),), theirs, (wood,)).outlines()
    assert {side: list(named) for side, named in shapes.items()} == {
        "caster": ["Karl"], "dispeller": ["B", "Foe"], "terrain": ["Old Wood"]
    }  # fmt: skip
    assert len(shapes["dispeller"]["B"].geoms) == 7
    assert shapes["dispeller"]["B"].area == pytest.approx(7.0)
    assert shapes["caster"]["Karl"].bounds == pytest.approx((35.5, 9.0, 36.5, 10.0))
    assert shapes["terrain"]["Old Wood"].bounds == pytest.approx((9.0, 8.0, 11.0, 12.0))
    without = deployment((Unit(), Unit("B")), battlefield=False)
    assert (without.misplacements(), without.outlines()) == ([], {})


def test_shapely_is_imported_only_for_a_battlefield() -> None:
    script = (
        "import sys\n"
        "import wfb_gym, wfb_gym.geometry\n"
        "from tests.geometry.stand_ins import *\n"
        "for battlefield in (False, True):\n"
        "    here = deployment((KARL,), (foe(),), battlefield=battlefield)\n"
        "    verdicts(here, 0, 0, missile())\n"
        "    strikes(here, 0, 0, template(), 16)\n"
        "    here.misplacements()\n"
        "    print('shapely' in sys.modules)\n"
    )
    assert run_python("-c", script).out.split() == ["False", "True"]
