"""Effects of a miscast in a duel, by the rows of its table; probabilities are counted by hand."""

from typing import Any

import pytest

from tests.support.builders import Data, army, miscast, spell, wizard
from wfb_gym._records import new_records
from wfb_gym.players.search.duel import Miscast
from wfb_gym.players.search.miscasts import write_miscast
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.ply_search import PlySearchAgent
from wfb_gym.scenario import Scenario
from wfb_gym.solver import solve

from ...solver.small import scenario, start

BOLT, BEAM = spell("Bolt", 5, 20.0), spell("Beam", 8, 45.0)
WAITING = {0: 0.0, 1: 5 / 6, 2: (5 / 6 + 25 / 36) / 2}
"""Return the share of the phases that a wizard waits for a 6."""


def _miscast(caster: Data, phases: int = 0, **keys: Any) -> Any:
    battle = start(scenario(caster, army(), phases=5, **keys))
    found = new_records(Miscast, 1)
    write_miscast(battle.packed, battle.state, 0, 0, phases, found[0])
    return found[0]


def test_the_printed_rows_have_their_effects() -> None:
    found = _miscast(army(wizard(2, BOLT, BEAM, wounds=2)))
    by_row = (found.locked, found.no_dice, found.ends_in_play, found.free_limited)
    # rows 3, 5 and 6; 7; 8 and 9; 4
    assert by_row == pytest.approx(((2 + 4 + 5) / 36, 6 / 36, (5 + 4) / 36, 3 / 36))
    assert (found.ends, found.succeeds, found.free_any) == (0.0, 0.0, 0.0)


def test_a_lost_last_wound_costs_the_wizards_later_casts() -> None:
    """Strength 10 and 6 wound Toughness 3 on a 2; after Strength 4 the casting ends anyway."""
    found = _miscast(army(wizard(2, BOLT, BEAM, wounds=1, toughness=3)))
    slain = 5 / 6 * (1 + 3 + 2) / 36  # rows 2, 10 and 11
    assert found.locked == pytest.approx((2 + 4 + 5) / 36 + slain)


@pytest.mark.parametrize("phases", WAITING)
@pytest.mark.parametrize("spells", [1, 2, 5])
def test_later_phases_lose_a_share(phases: int, spells: int) -> None:
    """By waiting for a 6 (3), a forgotten spell (10, 11), or also a level (12)."""
    known = [spell(f"Bolt {i}", 5, 20.0) for i in range(spells)]
    found = _miscast(army(wizard(2, *known, wounds=2)), phases)
    share = 2 * WAITING[phases] + 5 / spells + max(0.25, 1 / spells)
    assert found.later == pytest.approx(share / 36)


@pytest.mark.parametrize(
    ("effects", "name", "chance"),
    [
        ([{"kind": "locked", "until": "battle_end"}], "later", 1.0),
        ([{"kind": "level_lost"}], "later", 0.25),
        ([{"kind": "caster_removed"}], "later", 1.0),
        ([{"kind": "caster_removed"}], "locked", 1.0),
        ([{"kind": "caster_removed"}, {"kind": "casting_ends"}], "locked", 0.0),
        ([{"kind": "caster_removed"}, {"kind": "casting_ends"}], "ends", 1.0),
        ([{"kind": "phase_ends"}], "ends", 1.0),
        ([{"kind": "in_play_ends", "whose": "caster"}], "ends_in_play", 0.0),
        ([{"kind": "dice_lost", "whose": "caster"}], "no_dice", 0.0),
        ([{"kind": "free_spell", "limit": "any"}], "free_any", 1.0),
        ([{"kind": "free_spell", "limit": "any"}], "free_limited", 0.0),
        ([{"kind": "spell_succeeds"}], "succeeds", 1.0),
        ([{"kind": "points_lost", "points": 7.0}], "cost", 7.0),
    ],
)
def test_an_effect_leads_to_this(effects: list[Data], name: str, chance: float) -> None:
    found = _miscast(army(wizard(4, BOLT, BEAM)), **miscast(*effects))
    assert getattr(found, name) == pytest.approx(chance)


def _duel(limit: str, casting_value: int, *items: str) -> Scenario:
    """Return Bolt on two dice; miscasts give the enemy a spell of this casting value."""
    caster = army(wizard(2, BOLT, items=list(items)), power_dice=2)
    foe = army(wizard(1, spell("Curse", casting_value, 30.0)), dispel_dice=0)
    return scenario(caster, foe, **miscast({"kind": "free_spell", "limit": limit}))


def _value_of_a_cast(limit: str, casting_value: int, *items: str) -> float:
    battle = start(_duel(limit, casting_value, *items))
    return max(PhaseSearchAgent().action_values(battle).values())


def test_a_free_spell_costs_the_enemys_gain() -> None:
    """With two dice 30 of 36 rolls reach 5, and two 1s are a miscast."""
    dear, free = 20.0 * 30 / 36 - 30.0 / 36, 20.0 * 30 / 36
    assert _value_of_a_cast("any", 9) == pytest.approx(dear)
    assert _value_of_a_cast("miscast_value", 5) == pytest.approx(dear)
    assert _value_of_a_cast("miscast_value", 9) == pytest.approx(free)
    # A scroll answers it; in the last phase the scroll has no other use.
    assert _value_of_a_cast("any", 9, "Dispel Scroll") == pytest.approx(free)


@pytest.mark.parametrize("items", [(), ("Dispel Scroll",)])
def test_search_looks_through_the_targets_of_a_free_spell(items: tuple[str, ...]) -> None:
    duel = _duel("any", 9, *items)
    values = PlySearchAgent().action_values(start(duel))
    assert max(values.values()) == pytest.approx(solve(duel).value)
