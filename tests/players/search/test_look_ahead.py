"""What scrolls, stones and spells in play bring in later phases, against exact values.

Where casualties do not matter, a battle of several phases is played as well as it can be.
"""

from typing import Any

import pytest

from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict
from wfb_gym.seats import SEATS
from wfb_gym.solver import ExactGame

from ...engine.builders import Data, army, lasting, miscast, spell, wizard

HARMLESS = miscast({"kind": "points_lost", "points": 20.0})
BOLT, BEAM = spell("Bolt", 5, 20.0), spell("Beam", 8, 45.0)
READER = wizard(1, name="Reader", items=["Dispel Scroll"])
WARD = lasting("Ward", 7, 0.0, worth_per_phase=12.0)
CURSE = lasting("Curse", 6, 0.0, worth_per_phase=9.0)


def _battle(caster: Data, dispeller: Data, phases: int, **keys: Any) -> Scenario:
    document = {"name": "battle", "phases": phases, "caster": caster, "dispeller": dispeller}
    return scenario_from_dict({**document, **HARMLESS, **keys})


BATTLES = {
    "a scroll": _battle(army(wizard(2, BOLT, BEAM), power_dice=4), army(READER, dispel_dice=2), 5),
    "two stones": _battle(
        army(wizard(2, BOLT, BEAM, items=["Power Stone", "Power Stone"]), power_dice=2),
        army(dispel_dice=3),
        5,
    ),
    "spells in play": _battle(
        army(wizard(2, WARD, BOLT), power_dice=4, dispel_dice=2),
        army(wizard(2, CURSE, BEAM), power_dice=3, dispel_dice=3),
        4,
    ),
    "all of it": _battle(
        army(wizard(2, WARD, BOLT, items=["Power Stone"]), power_dice=3, dispel_dice=2),
        army(wizard(2, CURSE), READER, power_dice=3, dispel_dice=2),
        4,
    ),
    "miscasts that cost phases to come": _battle(
        army(wizard(2, BOLT, spell("Gift", 3, 1.0)), power_dice=6),
        army(dispel_dice=2),
        5,
        **miscast({"kind": "locked", "until": "six"}),
    ),
}


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    ("battle", "least"), [*zip(BATTLES, (99.9, 99.9, 99.9, 94.0, 99.9), strict=True)]
)
def test_what_is_kept_is_worth_what_later_phases_bring(
    battle: str, least: float, seat: str
) -> None:
    game = ExactGame(BATTLES[battle])
    found = game.score(game.probabilities(make_agent("phase-search"), seat), seat)
    assert found.score is not None
    assert found.score > least


@pytest.mark.slow
@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    ("scenario", "phases"), [("long-siege", 4), ("border-skirmish", 2), ("redhorn-pass", 2)]
)
def test_bundled_battles_of_few_phases_are_played_well(
    scenario: str, phases: int, seat: str
) -> None:
    game = ExactGame(load_scenario(scenario).first_phases(phases))
    found = game.score(game.probabilities(make_agent("phase-search"), seat), seat)
    assert found.score is not None
    assert found.score > 99.8
