from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.stand_ins import (
    Character,
    Terrain,
    Unit,
    deployment,
)
from wfb_gym.geometry.formation import frame_at

GUARD = Unit("Guard", 5, 5, (36.0, 10.0))
KARL = Character(unit="Guard")  # at x 36, its base from y 9 to 10
ENEMY = 16


def unseen(*theirs: Unit | Character, terrain: tuple[Terrain, ...] = (), viewer: Unit = GUARD,
           others: tuple[Unit | Character, ...] = ()) -> str:  # fmt: skip
    return deployment((viewer, KARL, *others), theirs, terrain).reason_unseen(10, ENEMY)


def target(x: float = 36.0, y: float = 30.0, wide: int = 1) -> Unit:
    return Unit("Target", wide, wide, (x, y), 180.0)


def test_a_model_sees_pieces_in_front_of_it() -> None:
    assert unseen(target()) == ""


def test_the_front_arc_is_45_degrees_to_each_side() -> None:
    # From (36, 9.5) the arc's edge runs through (56.5, 30) and the base's corner is 1 inch wide.
    assert unseen(target(57.0 - 0.1)) == ""
    assert unseen(target(58.0 + 0.1)) == "is outside the caster's front arc"
    assert unseen(target(36.0, 1.0)) == "is outside the caster's front arc"


def test_one_base_partly_in_the_arc_is_enough() -> None:
    assert unseen(target(60.0, wide=8)) == ""  # from x 56, the arc's edge at its rear is 57.5


def test_skirmishers_and_lone_characters_see_all_round() -> None:
    behind = target(36.0, 3.0)
    assert unseen(behind) == "is outside the caster's front arc"
    assert unseen(behind, viewer=Unit("Guard", 5, 5, (36.0, 10.0), skirmish=True)) == ""
    lone = Character(position=(36.0, 10.0))
    assert deployment((lone,), (behind,)).reason_unseen(10, ENEMY) == ""


@pytest.mark.parametrize("side", ["friend", "enemy"])
def test_units_of_either_side_block_sight(side: str) -> None:
    wall = Unit("Wall", 9, 9, (36.0, 20.0))
    ours, theirs = ((wall,), ()) if side == "friend" else ((), (wall,))
    assert unseen(target(), *theirs, others=ours) == "is out of sight behind Wall"


def test_single_characters_do_not_block_sight() -> None:
    fat = Character("Wall", (36.0, 20.0), base=(250.0, 25.0))
    assert unseen(target(), fat) == ""


def test_a_gap_between_two_units_lets_sight_through() -> None:
    left, right = (Unit(name, 9, 9, (x, 20.0)) for name, x in (("Left", 31.4), ("Right", 40.6)))
    assert unseen(target(), left, right) == ""  # the gap is from 35.9 to 36.1
    closed = Unit("Right", 9, 9, (40.4, 20.0))
    assert unseen(target(), left, closed) == "is out of sight behind Left and Right"


def test_a_blocking_piece_hides_only_its_shadow() -> None:
    # A wall from x 35.5 to 36.5, its near edge at y 19 and so 9.5 away: at 20.5 away it hides
    # 1.08 inches to each side of x 36, which is wider than a target of one base.
    wall = Unit("Wall", 1, 1, (36.0, 20.0))
    assert unseen(target(), wall) == "is out of sight behind Wall"
    assert unseen(target(36.5), wall) == "is out of sight behind Wall"
    assert unseen(target(36.7), wall) == ""


def wood(y: float = 20.0, deep: float = 4.0, x: float = 36.0) -> Terrain:
    return Terrain("Old Wood", "wood", (x, y), (20.0, deep), blocks_sight=True)


def test_terrain_that_blocks_sight_hides_what_is_behind_it() -> None:
    assert unseen(target(), terrain=(wood(),)) == "is out of sight behind Old Wood"
    water = Terrain("Pond", "water", (36.0, 20.0), (20.0, 4.0))
    assert unseen(target(), terrain=(water,)) == ""


def test_a_target_in_the_wood_is_seen_and_one_behind_is_not() -> None:
    assert unseen(target(36.0, 20.0), terrain=(wood(),)) == ""
    assert unseen(target(36.0, 21.5), terrain=(wood(),)) == ""  # half a base still in it
    assert unseen(target(36.0, 22.0), terrain=(wood(),)) == "is out of sight behind Old Wood"


def test_a_second_wood_hides_a_target_in_the_first() -> None:
    screen = Terrain("Copse", "wood", (36.0, 15.0), (20.0, 2.0), blocks_sight=True)
    hidden = unseen(target(36.0, 20.0), terrain=(wood(), screen))
    assert hidden == "is out of sight behind Copse"


def test_a_wizard_in_the_wood_sees_out_of_it() -> None:
    assert unseen(target(), terrain=(wood(y=10.0),)) == ""
    assert unseen(target(), terrain=(wood(y=12.0),)) == "is out of sight behind Old Wood"


def test_a_turned_wood_blocks_where_it_lies() -> None:
    strip = Terrain("Strip", "wood", (36.0, 20.0), (2.0, 40.0), 90.0, blocks_sight=True)
    assert unseen(target(), terrain=(strip,)) == "is out of sight behind Strip"


def test_his_own_unit_does_not_block_his_sight() -> None:
    # The second of two characters in a unit of one file is behind the first.
    narrow = Unit("Guard", 3, 1, (36.0, 10.0))
    second = Character("Hans", unit="Guard")
    survey = deployment((narrow, KARL, second), (target(),))
    assert survey.reason_unseen(11, ENEMY) == ""


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
    frame = frame_at(None, turn)

    def turned(place: tuple[float, float]) -> tuple[float, float]:
        a, b = frame.world(np.array(place)).tolist()
        return a, b

    def same(place: tuple[float, float]) -> tuple[float, float]:
        return place

    moves: tuple[tuple[Callable[[tuple[float, float]], tuple[float, float]], float], ...]
    moves = ((same, 0.0), (turned, turn))
    answers = []
    for move, extra in moves:
        karl = Character(position=move((36.0, 10.0)), facing=extra)
        foe = Unit("Target", 1, 1, move((x, y)), facing + extra)
        wall = Unit("Wall", 6, 6, move((38.0, 20.0)), 30.0 + extra)
        answers.append(deployment((karl,), (foe, wall)).reason_unseen(10, ENEMY))
    assert answers[0] == answers[1]
