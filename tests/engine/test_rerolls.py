"""Re-rolls: one die or all, and results that the natural dice decide before them."""

from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, army, game, miscast, spell, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.outcomes import has_faces
from wfb_gym.engine.state import Node

REROLL_ALL = actions.REROLL_ALL


def reroll(face: int) -> int:
    """Return the action that re-rolls one die of that face."""
    return actions.FIRST_REROLL + face - 1


def charm(dice: str = "one", *, of: str = "cast", natural: bool = False, **keys: Any) -> Data:
    """Return an item that re-rolls."""
    way = {"of": of, "dice": dice, "changes_natural": natural}
    return {"name": "Charm", "uses": 1, "reroll": way, **keys}


def cast(*faces: int, item: Data, charms: int = 1, value: int = 8, **keys: Any) -> Game:
    """Return a cast with these dice by a wizard with charms."""
    mage = wizard(4, spell("Bolt", value), spell("Second"), items=["Charm"] * charms)
    keys = {**miscast(), **keys}
    battle = game(army(mage), items=[item], **keys)
    battle.cast("Bolt", len(faces))
    battle.roll(*faces)
    return battle


def dispel(*faces: int, item: Data, **keys: Any) -> Game:
    """Return a dispel against 8 with these dice, with the charm declared."""
    battle = game(
        army(wizard(4, spell("Bolt", 8), spell("Second"))),
        army(dispel_dice=4, items=["Charm"]),
        items=[item],
        **keys,
    )
    battle.cast("Bolt", 2)
    battle.roll(4, 4)
    battle.use("Charm")
    battle.dispel(*faces)
    return battle


def test_one_die_of_the_chosen_face_is_rolled_again() -> None:
    battle = cast(2, 5, item=charm())
    assert battle.node == Node.KEEP_CASTING
    assert battle.legal_actions() == [PASS, reroll(2), reroll(5)]
    battle.act(reroll(2))
    assert battle.dice_to_roll == 1
    battle.roll(3)
    assert battle.node == Node.DISPEL
    assert battle.state.number == 8


def test_a_roll_may_be_kept_and_the_item_with_it() -> None:
    battle = cast(4, 5, item=charm())
    battle.act(PASS)
    assert battle.node == Node.DISPEL
    assert battle.state.number == 9
    assert battle.state.items[0, 0] == 1


def test_all_dice_are_rolled_again() -> None:
    battle = cast(2, 3, 2, item=charm("all"))
    assert battle.legal_actions() == [PASS, REROLL_ALL]
    battle.act(REROLL_ALL)
    assert battle.dice_to_roll == 3
    battle.roll(3, 3, 2)
    assert battle.state.number == 8


def test_a_re_roll_is_spent_and_no_power_dice_with_it() -> None:
    battle = cast(2, 3, item=charm())
    power = int(battle.state.power)
    battle.act(reroll(2))
    battle.roll(2)
    assert battle.node == Node.NOMINATE
    assert battle.state.power == power
    assert battle.state.items[0, 0] == 0


def test_the_second_result_counts() -> None:
    battle = cast(4, 4, item=charm())
    battle.act(reroll(4))
    battle.roll(1)
    assert battle.node == Node.NOMINATE


def test_no_die_is_re_rolled_twice() -> None:
    battle = cast(2, 2, item=charm(), charms=3)
    battle.act(reroll(2))
    battle.roll(3)
    assert battle.node == Node.KEEP_CASTING
    assert battle.legal_actions() == [PASS, reroll(2)]
    battle.act(reroll(2))
    battle.roll(2)
    assert battle.node == Node.NOMINATE
    assert battle.state.items[0, 0] == 1


def test_a_re_roll_cannot_prevent_a_miscast() -> None:
    assert cast(1, 1, 6, item=charm()).node == Node.ROLL_MISCAST
    assert cast(1, 1, 6, item=charm("all")).node == Node.ROLL_MISCAST


def test_a_re_roll_cannot_make_a_spell_irresistible() -> None:
    battle = cast(6, 3, item=charm())
    battle.act(reroll(3))
    battle.roll(6)
    assert battle.node == Node.DISPEL
    assert battle.state.number == 12


def test_a_re_roll_cannot_cause_a_miscast() -> None:
    battle = cast(1, 4, item=charm())
    battle.act(reroll(4))
    battle.roll(1)
    assert battle.node == Node.NOMINATE


def test_an_irresistible_roll_is_not_re_rolled() -> None:
    assert cast(6, 6, item=charm()).node == Node.NOMINATE


def test_one_or_two_fails_by_the_dice_as_they_lie_after_re_rolls() -> None:
    battle = cast(2, item=charm(), value=3)
    battle.act(reroll(2))
    battle.roll(3)
    assert battle.node == Node.DISPEL


def test_an_item_that_says_so_can_prevent_a_miscast() -> None:
    battle = cast(1, 1, 5, item=charm(natural=True))
    assert battle.node == Node.KEEP_CASTING
    battle.act(reroll(1))
    battle.roll(3)
    assert battle.node == Node.DISPEL
    assert battle.state.number == 9


def test_an_item_that_says_so_can_cause_a_miscast() -> None:
    battle = cast(1, 4, item=charm(natural=True))
    battle.act(reroll(4))
    battle.roll(1)
    assert battle.node == Node.ROLL_MISCAST


def test_an_item_that_says_so_can_make_and_unmake_irresistible_force() -> None:
    battle = cast(6, 2, item=charm(natural=True))
    battle.act(reroll(2))
    assert battle.roll(6) == 10
    battle = cast(6, 6, item=charm(natural=True))
    battle.act(reroll(6))
    battle.roll(2)
    assert battle.node == Node.DISPEL


def test_a_miscast_that_is_kept_is_a_miscast() -> None:
    battle = cast(1, 1, item=charm(natural=True))
    battle.act(PASS)
    assert battle.node == Node.ROLL_MISCAST


def test_in_the_seventh_edition_a_cast_is_re_rolled_whole() -> None:
    battle = cast(2, 3, item=charm(), rules={"reroll_all_dice": True, "miscast_table": "6e"})
    assert battle.legal_actions() == [PASS, REROLL_ALL]
    battle.act(REROLL_ALL)
    assert battle.dice_to_roll == 2


def test_a_dispel_is_re_rolled_one_die_at_a_time_in_both_editions() -> None:
    battle = dispel(2, 3, item=charm(of="dispel"), rules={"reroll_all_dice": True})
    assert battle.legal_actions() == [PASS, reroll(2), reroll(3)]


def test_a_dispel_re_roll_must_be_declared_before_the_dice() -> None:
    battle = game(
        army(wizard(4, spell("Bolt", 8), spell("Second"))),
        army(dispel_dice=4, items=["Charm"]),
        items=[charm(of="dispel")],
    )
    battle.cast("Bolt", 2)
    battle.roll(4, 4)
    battle.dispel(2, 3)
    assert battle.points == 10
    assert battle.state.items[1, 0] == 1


def test_a_declared_dispel_re_roll_is_used_or_lost() -> None:
    battle = dispel(5, 3, item=charm(of="dispel"))
    assert battle.node == Node.KEEP_DISPEL
    battle.act(PASS)
    assert battle.points == 0
    assert battle.state.items[1, 0] == 0


def test_two_like_dispel_re_rolls_roll_two_dice_again() -> None:
    """5 and 2 and 1 become 5 and 2 and 3: 10 of 11; then 5, 3 and 4: 12."""
    battle = game(
        army(wizard(4, spell("Bolt", 8), spell("Second"))),
        army(dispel_dice=4, items=["Charm", "Charm"]),
        items=[charm(of="dispel")],
    )
    battle.cast("Bolt", 2)
    battle.roll(5, 6)
    battle.use("Charm")
    battle.use("Charm")
    battle.dispel(5, 2, 1)
    battle.act(reroll(1))
    battle.roll(3)
    assert battle.node == Node.KEEP_DISPEL
    assert battle.legal_actions() == [PASS, reroll(2), reroll(5)]
    battle.act(reroll(2))
    battle.roll(4)
    assert battle.points == 0
    assert battle.node == Node.NOMINATE
    assert battle.state.items[1, 0] == 0


def test_a_dispel_re_roll_can_dispel() -> None:
    battle = dispel(5, 2, item=charm(of="dispel"))
    battle.act(reroll(2))
    battle.roll(3)
    assert battle.points == 0


def test_two_ones_of_a_dispel_cannot_be_re_rolled() -> None:
    battle = dispel(1, 1, 6, item=charm(of="dispel"))
    assert battle.node == Node.NOMINATE
    assert battle.points == 10


def test_an_item_that_says_so_undoes_two_ones_of_a_dispel() -> None:
    battle = dispel(1, 1, 6, item=charm(of="dispel", natural=True))
    battle.act(reroll(1))
    battle.roll(2)
    assert battle.points == 0


def test_a_bonus_declared_with_a_re_roll_outlasts_it() -> None:
    item = charm(of="dispel", when_dispelling={"bonus": 2})
    battle = dispel(3, 2, item=item)
    battle.act(reroll(2))
    battle.roll(3)
    assert battle.points == 0


def test_faces_stay_apart_where_a_re_roll_may_follow() -> None:
    mage = wizard(4, spell("Bolt", 8), spell("Second"), items=["Charm"])
    battle = game(army(mage), items=[charm()])
    battle.cast("Bolt", 2)
    outcomes = battle.outcomes()
    assert sum(outcomes.values()) == pytest.approx(1)
    assert sum(has_faces(outcome) for outcome in outcomes) == 21 - 2


def test_the_luckstone_serves_casts_and_dispels() -> None:
    side = army(wizard(4, spell("Bolt", 8), spell("Second"), items=["Luckstone"]))
    battle = game(side, side, phases=2)
    battle.cast("Bolt", 2)
    battle.roll(2, 3)
    assert battle.node == Node.KEEP_CASTING
    battle.act(reroll(3))
    battle.roll(6)
    battle.use("Luckstone")
    battle.dispel(3, 4)
    assert battle.node == Node.KEEP_DISPEL


def test_only_the_caster_and_the_army_re_roll_a_cast() -> None:
    other = wizard(1, spell("Other"), name="Other", items=["Charm"])
    mage = wizard(4, spell("Bolt", 8), name="Mage")
    battle = game(army(mage, other), items=[charm()])
    battle.cast("Bolt", 2)
    battle.roll(2, 3)
    assert battle.node == Node.NOMINATE
    battle = game(army(mage, wizard(1, spell("Other"), name="B"), items=["Charm"]), items=[charm()])
    battle.cast("Bolt", 2)
    battle.roll(2, 3)
    assert battle.node == Node.KEEP_CASTING
