"""Hidden items: deals, the information in a use, and no other leaks."""

from typing import Any

import numpy as np
import pytest

from tests.support.builders import PASS
from tests.support.hidden import (
    SCROLL,
    deal_randomly,
    hidden_scenario,
    kinds,
    other_deals,
    random_play,
    scenarios,
)
from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import (
    deal_instead,
    deal_likeliest,
    may_be_kind,
    shown_uses,
    uses_at_most,
)
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario

SCENARIOS = scenarios()
ONE_SCROLL = kinds([], [SCROLL])
ROUNDS = 10


def dealt(scenario: Scenario, *sets: int) -> Battle:
    battle = Battle(pack(scenario))
    for kind in sets:
        assert battle.node == Node.DEAL
        battle.resolve(kind)
    assert battle.node != Node.DEAL
    return battle


def cast(battle: Battle, spell: int, *faces: int) -> None:
    """Cast a spell without an item, with as many dice as there are faces."""
    battle.act(actions.FIRST_CAST + spell)
    if battle.node == Node.ITEM:
        battle.act(PASS)
    battle.act(actions.FIRST_DICE + len(faces))
    battle.roll(*faces)


@pytest.mark.parametrize(
    ("weights", "expected"), [([1.0, 3.0], [(0, 0.25), (1, 0.75)]), ([1.0, 0.0], [(0, 1.0)])]
)
def test_each_set_is_dealt_as_often_as_its_weight_says(
    weights: list[float], expected: list[tuple[int, float]]
) -> None:
    battle = Battle(pack(hidden_scenario(dispeller=kinds([], [SCROLL], weights=weights))))
    assert battle.node == Node.DEAL
    assert battle.mover == 1
    assert battle.chance_outcomes() == expected
    with pytest.raises(ValueError, match="expected a roll of dice, found DEAL"):
        battle.roll()


def test_hidden_items_are_listed_with_the_open_ones_and_the_caster_is_dealt_his_first() -> None:
    battle = dealt(SCENARIOS["both"], 1, 0)
    assert list(battle.state.hidden_set) == [2, 1]
    assert (battle.state.items[0, 0], battle.state.items[1, 0]) == (0, 1)
    battle = dealt(SCENARIOS["a scroll that all know of, and more"], 1)
    assert list(battle.state.items[1, :2]) == [1, 1]  # the army's own, and the bearer's
    battle = dealt(hidden_scenario(dispeller=kinds([], [SCROLL]), answers={"items": [SCROLL]}), 1)
    assert list(battle.state.items[1, :2]) == [2, 0]


@pytest.mark.parametrize("kind", [0, 1])
def test_an_army_without_items_is_asked_like_one_with_items_until_all_are_known(kind: int) -> None:
    battle = dealt(hidden_scenario(dispeller=ONE_SCROLL, answers={"dispel_dice": 0}), kind)
    twin = battle.copy()
    cast(battle, 1, 6, 5)
    assert battle.node == Node.DISPEL
    assert battle.legal_actions() == [PASS, actions.FIRST_ITEM][: 1 + kind]
    if kind:
        cast(twin, 0, 6, 5)
        twin.act(actions.FIRST_ITEM)
        assert twin.node == Node.NOMINATE
        twin.act(actions.FIRST_CAST + 1)
        assert twin.node == Node.ROLL_CASTING  # with the last die
        twin.roll(6)
        assert twin.points == 0  # a 6 does not cast it, and no die is left


def test_a_use_reveals_only_the_used_item() -> None:
    battle = dealt(SCENARIOS["scrolls"], 2)
    packed, state = battle.packed, battle.state
    assert uses_at_most(packed, state, 1, 0) == 2
    cast(battle, 0, 6, 5)
    battle.act(actions.FIRST_ITEM)
    assert shown_uses(packed, state, 1, 0) == 1
    assert [may_be_kind(packed, state, 1, kind) for kind in range(3)] == [False, True, True]
    assert uses_at_most(packed, state, 1, 0) == 1
    deal_instead(packed, state, 1, 1)
    assert state.items[1, 0] == 0
    assert shown_uses(packed, state, 1, 0) == 1
    deal_likeliest(packed, state, 1)
    assert state.hidden_set[1] == 2  # the first of equally likely ones


def test_a_miscast_empties_hidden_stones() -> None:
    battle = dealt(SCENARIOS["ruin"], 2, 0)
    battle.act(actions.FIRST_CAST)
    battle.act(PASS)
    battle.act(actions.FIRST_DICE + 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    battle.act(actions.FIRST_CAST + 1)
    assert battle.node == Node.ROLL_CASTING  # with the last die and without a stone
    assert battle.state.items[0, 0] == 2
    assert shown_uses(battle.packed, battle.state, 0, 0) == 0
    assert may_be_kind(battle.packed, battle.state, 0, 0)


@pytest.mark.parametrize("name", SCENARIOS)
def test_hidden_items_do_not_affect_public_information(name: str) -> None:
    rng = np.random.default_rng(5)
    packed = pack(SCENARIOS[name])
    compared = 0
    for _ in range(ROUNDS):
        battle = Battle(packed)
        deal_randomly(battle, rng)
        for _ in random_play(battle, rng):
            for army in range(2):
                for twin in other_deals(battle, army):
                    assert public(twin) == public(battle)
                    if army != battle.mover or battle.is_chance():
                        assert twin.legal_actions() == battle.legal_actions()
                    compared += 1
                    common = sorted({*twin.legal_actions()} & {*battle.legal_actions()})
                    if common:
                        action = int(rng.choice(common))
                        one, two = battle.copy(), twin.copy()
                        assert one.act(action) == two.act(action)
                        assert public(one) == public(two)
    assert compared > ROUNDS


def public(battle: Battle) -> dict[str, Any]:
    """Return the facts that both players may know, with the probabilities of dice."""
    names = [name for name in battle.state.dtype.names if name not in ("hidden_set", "items")]
    found: dict[str, Any] = {name: np.asarray(battle.state[name]).tolist() for name in names}
    found["chances"] = battle.chance_outcomes() if battle.is_chance() else None
    for army in range(2):
        if battle.state.hidden_set[army]:
            for item in range(int(battle.packed.armies[army].n_items)):
                found[f"shown {army} {item}"] = shown_uses(battle.packed, battle.state, army, item)
                found[f"most {army} {item}"] = uses_at_most(battle.packed, battle.state, army, item)
    return found
