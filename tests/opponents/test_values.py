"""Values of spells for scripted players: flight, and wounds that pass no threshold."""

from itertools import islice
from math import comb
from typing import Any

import numpy as np
import pytest

import wfb_gym
from tests.support.builders import Data, Game, aimed, army, known, spell, unit, wizard
from tests.support.builders import game as new_game
from tests.support.playing import play_randomly
from wfb_gym.engine.actions import FIRST_CAST, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.spell_values import expected_points_at
from wfb_gym.engine.state import Node
from wfb_gym.engine.targets import can_aim
from wfb_gym.opponents.values import WOUND_WEIGHT, value_if_cast, value_with_flight
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario

from .test_scripted import greedy, veteran

HAIL = aimed("Hail", 5, damage={"hits": "2D6", "strength": 4})


def fight(*foes: Data, spells: tuple[Data, ...] = (HAIL,), wizards: Any = (), **keys: Any) -> Game:
    """Return a wizard against an army of these units, with wizards in them."""
    foe = army(*wizards, units=list(foes), dispel_dice=keys.pop("dispel", 4))
    mage = army(wizard(4, *spells), power_dice=8)
    return new_game(mage, foe, **{"phases": 4, "rules": {"panic": True}, **keys})


def led(worth: float = 60.0) -> Data:
    """Return a wizard in the Spears whose spell has these points."""
    return wizard(2, spell("Doom", worth=worth), name="Seer", unit="Spears", leadership=5)


def two_units(worth: float = 60.0, **keys: Any) -> Game:
    """Return an enemy whose Guard has more points than the Spears, and a wizard in the Spears."""
    spears = unit("Spears", 16, leadership=5, points=6.0)
    return fight(spears, unit("Guard", 16, points=6.5), wizards=[led(worth)], **keys)


@pytest.mark.parametrize(
    ("keys", "target"),
    [
        ({}, "Spears"), ({"rules": {"panic": False}}, "Guard"), ({"phases": 1}, "Guard"),
        ({"worth": 1.0}, "Guard"),
    ],
)  # fmt: skip
def test_a_spell_is_aimed_at_the_target_whose_flight_pays_most(keys: Data, target: str) -> None:
    battle = two_units(**keys)
    battle.nominate("Hail")
    assert battle.node == Node.TARGET
    assert veteran(battle) == greedy(battle) == battle.code(target)


def test_flight_is_valued_by_its_chance_times_the_lost_magic() -> None:
    """2D6 hits that wound on 3 or more; Leadership 5 fails in 26 of 36, twice."""
    law = np.zeros(13)
    for hits, rolls in zip(range(2, 13), (1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1), strict=True):
        for k in range(hits + 1):
            law[k] += rolls / 36 * comb(hits, k) * (2 / 3) ** k * (1 / 3) ** (hits - k)
    battle = two_units()
    aims = battle.packed.armies[0].aims[:2]
    flight = law[4:].sum() * (26 / 36) ** 2 * 60.0
    estimated = [value_with_flight(battle.packed, battle.state, 0, 0, k) for k in range(2)]
    wanted = [aims[0].expected_points + flight, aims[1].expected_points]
    assert estimated == pytest.approx(wanted, abs=1e-9)
    assert value_if_cast(battle.packed, battle.state, 0, 0) == max(estimated)
    battle.works("Hail", "Spears")
    battle.resolve(4)  # the test is certain: further wounds add nothing
    found = value_with_flight(battle.packed, battle.state, 0, 0, 0)
    assert found == pytest.approx(estimated[0] - flight, 1e-3)


def test_a_comet_makes_no_unit_flee_in_this_phase() -> None:
    foes = unit("Spears", 16, leadership=5), unit("Guard", 16)
    # Hail may strike them in this phase, so flight counts
    battle = fight(*foes, spells=(known("The Comet of Casandora"), HAIL), wizards=[led()])
    for aim in range(2):
        expected = expected_points_at(battle.packed, battle.state, 0, 0, aim, WOUND_WEIGHT)
        assert value_with_flight(battle.packed, battle.state, 0, 0, aim) == expected > 0.0


@pytest.mark.parametrize("panic", [False, True])
def test_veteran_dispels_spells_that_may_make_its_wizards_flee(panic: bool) -> None:
    """A threat below half of the remaining ones is let through, unless it may make wizards flee."""
    dart = aimed("Dart", 4, damage={"hits": "2D6", "strength": 4})
    spears = unit("Spears", 16, leadership=5, points=3.0)
    great = spell("Great", 10, 50.0)
    battle = fight(spears, spells=(dart, great), wizards=[led()], rules={"panic": panic}, dispel=3)
    battle.cast("Dart", 2)
    battle.roll(4, 5)
    assert battle.node == Node.DISPEL
    assert (veteran(battle) != PASS) == panic


TALLY = {"scoring": "victory_points", "panic": False}


def test_wounds_that_pass_no_threshold_are_worth_a_cast() -> None:
    battle = fight(unit("Spears", 40), rules=TALLY)
    value = value_if_cast(battle.packed, battle.state, 0, 0)
    assert value == pytest.approx(WOUND_WEIGHT * 7 * 2 / 3 * 6)
    assert veteran(battle) == greedy(battle) == FIRST_CAST


def test_a_unit_about_to_fall_below_half_is_struck_first() -> None:
    """The Guard has more points, but five of ten Spears are left."""
    battle = fight(unit("Spears", 10), unit("Guard", 20, points=9.0), rules=TALLY)
    battle.state.unit_wounds[1, 0] = 5
    battle.nominate("Hail")
    assert veteran(battle) == greedy(battle) == battle.code("Spears")


def test_fleeing_units_have_no_further_value() -> None:
    battle = fight(unit("Spears", 10, fleeing=True), rules=TALLY)
    assert value_if_cast(battle.packed, battle.state, 0, 0) == 0.0


@pytest.mark.parametrize("name", wfb_gym.bundled_scenarios())
def test_without_panic_and_victory_points_values_are_those_of_the_packed_aims(name: str) -> None:
    """The first legal aim by expected points counts."""
    scenario = load_scenario(name)
    rules = scenario.rules.model_copy(update={"panic": False})
    battle = Battle(pack(scenario.model_copy(update={"rules": rules})))
    for _ in islice(play_randomly(battle, np.random.default_rng(7)), 40):
        for side, own in enumerate(battle.packed.armies):
            for index in range(own.n_spells):
                wanted = plain_worth(battle, side, index)
                if wanted is not None:
                    assert value_if_cast(battle.packed, battle.state, side, index) == wanted


def plain_worth(battle: Battle, side: int, index: int) -> float | None:
    """Return the points of the first legal aim by expected points; None for a Comet."""
    phases = battle.packed.phases - battle.state.phase
    army_of = battle.packed.armies[side]
    entry = army_of.spells[index]
    if not entry.targeted:
        return float(entry.worth + entry.worth_per_phase * phases)
    aims = army_of.aims[entry.first_aim : entry.first_aim + entry.n_aims]
    for row in aims:
        if row.landing >= 0:
            return None
        if can_aim(battle.packed, battle.state, side, index, int(row.ranked)):
            best = aims[row.ranked]
            return float(best.expected_points + best.worth_per_phase * phases)
    return 0.0
