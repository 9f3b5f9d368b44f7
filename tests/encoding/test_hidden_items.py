"""Observations with hidden items: a seat sees its own items and the public information."""

from typing import Any

import numpy as np
import pytest

from tests.support.batches import states_of
from tests.support.hidden import (
    SCROLL,
    Noted,
    deal_randomly,
    hidden_scenario,
    kinds,
    other_deals,
    random_play,
    scenarios,
)
from wfb_gym.encoding.positions import Positions, position_of
from wfb_gym.encoding.view import View
from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import hidden_scenarios, load_scenario

SCENARIOS = scenarios() | {name: load_scenario(name) for name in hidden_scenarios()}


def seen(view: View, battle: Battle, histories: Any = None) -> tuple[Any, Any]:
    """Return a seat's observation of a battle, and its mask at its own decisions."""
    observations, masks = view.show(np.zeros(1, np.int64), states_of(battle), histories)
    return observations[0], masks[0]


@pytest.mark.parametrize("name", SCENARIOS)
def test_observations_do_not_depend_on_the_enemys_deal(name: str) -> None:
    packed, rng = pack(SCENARIOS[name]), np.random.default_rng(11)
    views = [View.fitted(packed, seat, history=True) for seat in range(2)]
    compared = 0
    for _ in range(10):
        battle = Noted(packed)
        deal_randomly(battle, rng)
        for _ in random_play(battle, rng):
            for seat, view in enumerate(views):
                for twin in other_deals(battle, 1 - seat):
                    both = (seen(view, each, battle.histories) for each in (battle, twin))
                    for one, two in zip(*both, strict=True):
                        np.testing.assert_array_equal(one, two)
                    positions = [
                        Positions(packed, np.zeros(1, np.int64), states_of(each), seat, view.codec)
                        for each in (battle, twin)
                    ]
                    assert positions[0].states.tobytes() == positions[1].states.tobytes()
                    compared += 1
    assert compared > 20


def test_a_seat_sees_its_own_items_and_what_the_enemy_may_have() -> None:
    packed = pack(hidden_scenario(dispeller=kinds([], [SCROLL], [SCROLL] * 2, weights=[1, 2, 1])))
    battle = Battle(packed)
    battle.resolve(1)
    caster, dispeller = (View.fitted(packed, seat) for seat in range(2))
    ours = dispeller.layout.named_fields(seen(dispeller, battle)[0])
    theirs = caster.layout.named_fields(seen(caster, battle)[0])
    assert [ours[f"own hidden set {k}"] for k in range(1, 5)] == [0, 1, 0, 0]
    assert [theirs[f"enemy hidden set {k}"] for k in range(1, 5)] == [1, 1, 1, 0]
    assert [theirs[f"enemy hidden set chance {k}"] for k in range(1, 5)] == [0.25, 0.5, 0.25, 0]
    assert ours["own item 1 uses"] == 0.25
    assert theirs["enemy item 1 uses"] == 0.5
    battle.play([actions.FIRST_CAST, actions.FIRST_DICE + 2, (6, 5), actions.FIRST_ITEM])
    theirs = caster.layout.named_fields(seen(caster, battle)[0])
    assert [theirs[f"enemy hidden set {k}"] for k in range(1, 5)] == [0, 1, 1, 0]
    assert theirs["enemy item 1 uses"] == theirs["enemy item 1 shown"] == 0.25


def test_a_planner_sees_the_likeliest_possible_items() -> None:
    scrolls = kinds([], [SCROLL], [SCROLL] * 2, weights=[2.0, 1.0, 3.0])
    battle = Battle(pack(hidden_scenario(dispeller=scrolls)))
    battle.resolve(0)
    assert position_of(battle).states["hidden_set"][0, 1] == 3
    assert battle.state.hidden_set[1] == 1
