"""Re-rolls: one die or all, and results that the natural dice decide before them."""

from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, army, game, miscast, spell, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.outcomes import has_faces
from wfb_gym.engine.state import Node

from .facts import check

MAGE = wizard(4, spell("Bolt", 8), spell("Second"))


def reroll(face: int) -> int:
    return actions.FIRST_REROLL + face - 1


def charm(dice: str = "one", *, of: str = "cast", natural: bool = False, **keys: Any) -> Data:
    way = {"of": of, "dice": dice, "changes_natural": natural}
    return {"name": "Charm", "uses": 1, "reroll": way, **keys}


FREE = charm(natural=True)
DISPELS = charm(of="dispel")


def cast(
    *faces: int, item: Data | None = None, charms: int = 1, value: int = 8, **keys: Any
) -> Game:
    mage = wizard(4, spell("Bolt", value), spell("Second"), items=["Charm"] * charms)
    battle = game(army(mage), items=[item or charm()], **{**miscast(), **keys})
    battle.cast_with("Bolt", *faces)
    return battle


def attacked(item: Data, *faces: int, charms: int = 1, **keys: Any) -> Game:
    foe = army(dispel_dice=4, items=["Charm"] * charms)
    battle = game(army(MAGE), foe, items=[item], **keys)
    battle.cast_with("Bolt", *faces)
    return battle


def dispel(*faces: int, item: Data = DISPELS, **keys: Any) -> Game:
    """Return a dispel against 8 with these dice, with the charm declared."""
    battle = attacked(item, 4, 4, **keys)
    battle.use("Charm")
    battle.dispel(*faces)
    return battle


@pytest.mark.parametrize(
    ("item", "action", "dice"), [(charm(), reroll(2), 1), (charm("all"), actions.REROLL_ALL, 2)]
)
def test_one_die_of_the_chosen_face_is_rolled_again_or_all(
    item: Data, action: int, dice: int
) -> None:
    battle = cast(2, 5, item=item)
    assert battle.node == Node.KEEP_CASTING
    assert battle.legal_actions() == ([PASS, reroll(2), reroll(5)] if dice == 1 else [PASS, action])
    battle.act(action)
    assert battle.dice_to_roll == dice
    battle.roll(*(3, 5)[:dice])
    check(battle, node=Node.DISPEL, number=8)


@pytest.mark.parametrize(
    ("faces", "item", "script", "expected"),
    [
        ((4, 5), charm(), [PASS], {"node": Node.DISPEL, "number": 9, "items": [1, 0]}),
        ((2, 3), charm(), [reroll(2), (2,)], {"node": Node.NOMINATE, "power": 4, "items": [0, 0]}),
        ((4, 4), charm(), [reroll(4), (1,)], {"node": Node.NOMINATE}),
        ((6, 6), charm(), [], {"node": Node.NOMINATE, "points": 10}),
        ((6, 3), charm(), [reroll(3), (6,)], {"node": Node.DISPEL, "number": 12}),
        ((1, 4), charm(), [reroll(4), (1,)], {"node": Node.NOMINATE}),
        ((1, 1, 6), charm(), [], {"node": Node.ROLL_MISCAST}),
        ((1, 1, 6), charm("all"), [], {"node": Node.ROLL_MISCAST}),
        ((1, 4), FREE, [reroll(4), (1,)], {"node": Node.ROLL_MISCAST}),
        ((1, 1), FREE, [PASS], {"node": Node.ROLL_MISCAST}),
        ((1, 1, 5), FREE, [reroll(1), (3,)], {"node": Node.DISPEL, "number": 9}),
        ((6, 2), FREE, [reroll(2), (6,)], {"points": 10}),
        ((6, 6), FREE, [reroll(6), (2,)], {"node": Node.DISPEL}),
    ],
    ids=["kept", "spent", "worse", "irresistible", "never to irresistible force",
         "never to a miscast", "a miscast", "a miscast with all", "to a miscast", "a kept miscast",
         "from a miscast", "to irresistible force", "from irresistible force"],
)  # fmt: skip
def test_results_of_re_rolled_casts(
    faces: tuple[int, ...], item: Data, script: list[Any], expected: Data
) -> None:
    """Only an item with this rule changes a result of the natural dice."""
    battle = cast(*faces, item=item)
    battle.play(script)
    check(battle, **expected)


def test_no_die_is_re_rolled_twice_and_one_or_two_fails_by_the_dice_as_they_lie_then() -> None:
    battle = cast(2, 2, charms=3)
    battle.play([reroll(2), (3,)])
    assert battle.node == Node.KEEP_CASTING
    assert battle.legal_actions() == [PASS, reroll(2)]
    battle.play([reroll(2), (2,)])
    check(battle, node=Node.NOMINATE, items=[1, 0])
    battle = cast(2, value=3)
    battle.play([reroll(2), (3,)])
    assert battle.node == Node.DISPEL


@pytest.mark.parametrize(
    ("faces", "action", "face", "expected"),
    [
        ((1, 4), reroll(4), 1, {"node": Node.ROLL_MISCAST}),
        ((6, 2), reroll(2), 6, {"node": Node.NOMINATE, "points": 10}),
    ],
)
def test_a_roll_is_kept_with_its_re_rolled_dice_although_another_re_roll_is_left(
    faces: tuple[int, ...], action: int, face: int, expected: Data
) -> None:
    battle = cast(*faces, item=FREE, charms=2)
    battle.play([action, (face,)])
    check(battle, node=Node.KEEP_CASTING)
    battle.act(PASS)
    check(battle, **expected)


def test_in_the_seventh_edition_a_cast_is_re_rolled_whole() -> None:
    rules = {"reroll_all_dice": True, "miscast_table": "6e"}
    assert cast(2, 3, rules=rules).legal_actions() == [PASS, actions.REROLL_ALL]
    # a dispel is still re-rolled one die at a time
    assert dispel(2, 3, rules=rules).legal_actions() == [PASS, reroll(2), reroll(3)]


def test_a_dispel_re_roll_must_be_declared_before_the_dice_and_is_used_or_lost() -> None:
    battle = attacked(DISPELS, 4, 4)
    battle.dispel(2, 3)
    check(battle, points=10, foes_items=[1, 0])
    battle = dispel(5, 3)
    assert battle.node == Node.KEEP_DISPEL
    battle.act(PASS)
    check(battle, points=0, foes_items=[0, 0])


def test_two_like_dispel_re_rolls_roll_two_dice_again() -> None:
    """5 and 2 and 1 become 5 and 2 and 3: 10 of 11; then 5, 3 and 4: 12."""
    battle = attacked(DISPELS, 5, 6, charms=2)
    battle.use("Charm")
    battle.use("Charm")
    battle.dispel(5, 2, 1)
    battle.play([reroll(1), (3,)])
    assert battle.node == Node.KEEP_DISPEL
    assert battle.legal_actions() == [PASS, reroll(2), reroll(5)]
    battle.play([reroll(2), (4,)])
    check(battle, points=0, node=Node.NOMINATE, foes_items=[0, 0])


@pytest.mark.parametrize(
    ("faces", "item", "script", "points"),
    [
        ((5, 2), DISPELS, [reroll(2), (3,)], 0),
        ((1, 1, 6), DISPELS, [], 10),
        ((1, 1, 6), charm(of="dispel", natural=True), [reroll(1), (2,)], 0),
        ((3, 2), DISPELS | {"when_dispelling": {"bonus": 2}}, [reroll(2), (3,)], 0),
    ],
    ids=["dispelled", "two 1s stay", "two 1s undone", "a declared bonus outlasts the re-roll"],
)
def test_results_of_re_rolled_dispels(
    faces: tuple[int, ...], item: Data, script: list[Any], points: int
) -> None:
    battle = dispel(*faces, item=item)
    battle.play(script)
    check(battle, node=Node.NOMINATE, points=points)


def test_faces_stay_apart_where_a_re_roll_may_follow() -> None:
    battle = game(army(MAGE | {"items": ["Charm"]}), items=[charm()])
    battle.cast("Bolt", 2)
    outcomes = battle.outcomes()
    assert sum(outcomes.values()) == pytest.approx(1)
    assert sum(has_faces(outcome) for outcome in outcomes) == 21 - 2


def test_the_luckstone_serves_casts_and_dispels() -> None:
    side = army(MAGE | {"items": ["Luckstone"]})
    battle = game(side, side, phases=2)
    battle.cast_with("Bolt", 2, 3)
    assert battle.node == Node.KEEP_CASTING
    battle.play([reroll(3), (6,)])
    battle.use("Luckstone")
    battle.dispel(3, 4)
    assert battle.node == Node.KEEP_DISPEL


@pytest.mark.parametrize(("of_army", "node"), [(False, Node.NOMINATE), (True, Node.KEEP_CASTING)])
def test_only_the_caster_and_the_army_re_roll_a_cast(of_army: bool, node: Node) -> None:
    items = ["Charm"]
    other = wizard(1, spell("Other"), name="Other", items=[] if of_army else items)
    battle = game(army(MAGE, other, items=items if of_army else []), items=[charm()])
    battle.cast_with("Bolt", 2, 3)
    assert battle.node == node
