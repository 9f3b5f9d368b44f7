"""Values of spells at their targets, as the duels of phase search count them."""

import numpy as np
import pytest

from tests.support.builders import aimed, army, game, known, miscast, spell, unit, wizard
from wfb_gym.players.search.effect_values import RESISTED, aim_at_once, aim_value, best_use
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.scenario.sizes import ARMIES, SPELLS

ONE_PHASE = np.ones((ARMIES, SPELLS))


def test_the_less_resistant_of_two_equal_targets_is_better() -> None:
    foes = army(units=[unit("Blessed", magic_resistance=2), unit("Bare")])
    battle = game(army(wizard(4, known("Fire Ball"))), foes)
    values = [aim_value(battle.packed, battle.state, 0, 0, aim, ONE_PHASE) for aim in range(2)]
    assert values[1] > 0.0
    assert values[0] == pytest.approx((1.0 - 2 * RESISTED) * values[1])
    assert best_use(battle.packed, battle.state, 0, 0, ONE_PHASE) == (1, values[1])


def test_targets_of_a_cast_have_their_own_values() -> None:
    foes = army(units=[unit("Few", 2), unit("Many", 20)], dispel_dice=2)
    battle = game(army(wizard(4, known("Fire Ball"))), foes)
    battle.nominate("Fire Ball")
    values = PhaseSearchAgent().action_values(battle)
    assert 0.0 < values[battle.code("Few")] < values[battle.code("Many")]


def test_targets_of_a_free_spell_have_their_own_values() -> None:
    foe = wizard(2, spell("Other", 5), known("Fire Ball"), name="Foe")
    own = army(wizard(2, spell("Bolt", 8)), units=[unit("Few", 2), unit("Many", 20)])
    battle = game(own, army(foe), **miscast({"kind": "free_spell", "limit": "any"}))
    battle.miscast()
    battle.nominate("Fire Ball")
    values = PhaseSearchAgent().action_values(battle)
    assert values[battle.code("Many")] < values[battle.code("Few")] < 0.0


def test_only_spells_that_heal_give_back_wounds() -> None:
    captain = wizard(1, name="Captain", wounds=3, points=90)
    blessing = aimed("Blessing", target="friendly_unit", worth={"points": 7.0})
    mage = wizard(4, known("Healing Hand"), blessing)
    battle = game(army(mage, captain), army())
    battle.state.wounds[0, 1] = 1
    for name, points in (("Healing Hand", 60.0), ("Blessing", 7.0)):
        index = battle.spell(name)
        aims = range(battle.packed.armies[0].spells[index].n_aims)
        found = [aim_at_once(battle.packed, battle.state, 0, index, aim) for aim in aims]
        assert max(found) == pytest.approx(points)


def test_values_do_not_depend_on_positions_seen_before() -> None:
    """The enemy's wizard, who could cast a free spell after a miscast, dies in between."""
    agent = PhaseSearchAgent()
    free = miscast({"kind": "free_spell", "limit": "any"})
    battle = game(army(wizard(4, spell("Bolt", 8))), army(wizard(4, spell("Hex", 5, 30.0))), **free)
    alive = agent.action_values(battle)
    battle.state.wounds[1, 0] = 0
    dead = agent.action_values(battle)
    assert dead != alive
    assert dead == PhaseSearchAgent().action_values(battle)
