from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.stand_ins import Character, Terrain, Unit, deployment
from wfb_gym.geometry.formation import frame_at

GUARD = Unit("Guard", 5, 5, (36.0, 10.0))
KARL = Character(unit="Guard")  # at x 36, its base from y 9 to 10
ENEMY = 16
BEHIND, OUTSIDE = "is out of sight behind ", "is outside the caster's front arc"


def target(x: float = 36.0, y: float = 30.0, wide: int = 1) -> Unit:
    return Unit("Target", wide, wide, (x, y), 180.0)


def wall(name: str = "Wall", x: float = 36.0, wide: int = 9) -> Unit:
    return Unit(name, wide, wide, (x, 20.0))


def wood(y: float = 20.0, deep: float = 4.0, name: str = "Wood", blocks: bool = True) -> Terrain:
    return Terrain(name, "wood", (36.0, y), (20.0, deep), blocks_sight=blocks)


FAT = Character("Wall", (36.0, 20.0), base=(250.0, 25.0))
STRIP = Terrain("Strip", "wood", (36.0, 20.0), (2.0, 40.0), 90.0, blocks_sight=True)


@pytest.mark.parametrize(("theirs", "terrain", "why"), [
    ((target(),), (), ""),
    # The arc is 45 degrees to each side: from (36, 9.5) its edge runs through (56.5, 30), and
    # the corner of the base is 1 inch wide.
    ((target(57.0 - 0.1),), (), ""),
    ((target(58.0 + 0.1),), (), OUTSIDE),
    ((target(36.0, 1.0),), (), OUTSIDE),
    ((target(60.0, wide=8),), (), ""),  # one base partly in the arc is enough
    ((target(), wall()), (), BEHIND + "Wall"),
    ((target(), FAT), (), ""),  # single characters do not block sight
    ((target(), wall("Left", 31.4), wall("Right", 40.6)), (), ""),  # between 35.9 and 36.1
    ((target(), wall("Left", 31.4), wall("Right", 40.4)), (), BEHIND + "Left and Right"),
    # A wall from x 35.5 to 36.5, its near edge at y 19 and so 9.5 away: at 20.5 away it hides
    # 1.08 inches to each side of x 36, which is wider than a target of one base.
    ((target(), wall(wide=1)), (), BEHIND + "Wall"),
    ((target(36.5), wall(wide=1)), (), BEHIND + "Wall"),
    ((target(36.7), wall(wide=1)), (), ""),
    ((target(),), (wood(),), BEHIND + "Wood"),
    ((target(),), (wood(blocks=False),), ""),
    ((target(y=20.0),), (wood(),), ""),  # in the wood
    ((target(y=21.5),), (wood(),), ""),  # half a base still in it
    ((target(y=22.0),), (wood(),), BEHIND + "Wood"),
    ((target(y=20.0),), (wood(), wood(15.0, 2.0, "Copse")), BEHIND + "Copse"),
    ((target(),), (wood(y=10.0),), ""),  # the wizard in the wood
    ((target(),), (wood(y=12.0),), BEHIND + "Wood"),
    ((target(),), (STRIP,), BEHIND + "Strip"),  # which is turned
])  # fmt: skip
def test_the_reason_that_hides_a_target(
    theirs: tuple[Unit | Character, ...], terrain: tuple[Terrain, ...], why: str
) -> None:
    assert deployment((GUARD, KARL), theirs, terrain).reason_unseen(10, ENEMY) == why


def test_units_of_the_casters_side_block_sight() -> None:
    where = deployment((GUARD, KARL, wall()), (target(),))
    assert where.reason_unseen(10, ENEMY) == BEHIND + "Wall"


@pytest.mark.parametrize(
    "ours", [(replace(GUARD, skirmish=True), KARL), (Character(position=(36.0, 10.0)),)]
)
def test_skirmishers_and_lone_characters_see_all_round(ours: tuple[Unit | Character, ...]) -> None:
    assert deployment(ours, (target(36.0, 1.0),)).reason_unseen(10, ENEMY) == ""


def test_his_own_unit_does_not_block_his_sight() -> None:
    # The second of two characters in a unit of one file is behind the first.
    narrow = Unit("Guard", 3, 1, (36.0, 10.0))
    second = Character("Hans", unit="Guard")
    assert deployment((narrow, KARL, second), (target(),)).reason_unseen(11, ENEMY) == ""


def test_a_target_does_not_hide_itself_nor_the_character_whose_unit_is_gone() -> None:
    crowd = Unit("Target", 10, 1, (36.0, 30.0), 180.0)
    survey = deployment((GUARD, KARL), (crowd, Character("Foe", unit="Target")))
    assert survey.reason_unseen(10, ENEMY) == ""
    assert survey.reason_unseen(10, ENEMY + 10, ENEMY) == ""


@given(st.floats(10.0, 62.0), st.floats(14.0, 40.0), st.floats(0.0, 359.0), st.floats(0.0, 359.0))
def test_sight_does_not_change_when_the_whole_battlefield_is_turned(
    x: float, y: float, facing: float, turn: float
) -> None:
    """Single models, so that sight depends only on the pieces between them."""

    def reason(turn: float) -> str:
        def turned(x: float, y: float) -> tuple[float, float]:
            a, b = frame_at(None, turn).world(np.array([x, y])).tolist()
            return a, b

        karl = Character(position=turned(36.0, 10.0), facing=turn)
        foe = Unit("Target", 1, 1, turned(x, y), facing + turn)
        between = Unit("Wall", 6, 6, turned(38.0, 20.0), 30.0 + turn)
        return deployment((karl,), (foe, between)).reason_unseen(10, ENEMY)

    assert reason(turn) == reason(0.0)
