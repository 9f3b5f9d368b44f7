"""Positions of hand-made, bundled and generated battles that are played at random."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.support.builders import Data, army, lasting, miscast, spell, wizard
from tests.support.playing import drawn_outcome
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import KINDS, Generation, generate
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario

from ...solver.small import scenario

GENERATED = KINDS | {
    "siege": Generation(points=2000, units=8, phases=4),
    "storm": Generation(points=2000, units=8, phases=3, lores=("Heavens",), opposition="none"),
    "duel": Generation(duel=True, phases=4),
    "small": Generation(points=500, phases=4),
}

HARMLESS = miscast({"kind": "points_lost", "points": 20.0})
BOLT, BEAM = spell("Bolt", 5, 20.0), spell("Beam", 8, 45.0)
READER = wizard(1, name="Reader", items=["Dispel Scroll"])
WARD = lasting("Ward", 7, 0.0, worth_per_phase=12.0)
CURSE = lasting("Curse", 6, 0.0, worth_per_phase=9.0)


def battle_of(caster: Data, dispeller: Data, phases: int = 1, **keys: Any) -> Scenario:
    return scenario(caster, dispeller, phases=phases, **{**HARMLESS, **keys})


BATTLES = {
    "a scroll": battle_of(
        army(wizard(2, BOLT, BEAM), power_dice=4), army(READER, dispel_dice=2), phases=5
    ),
    "two stones": battle_of(
        army(wizard(2, BOLT, BEAM, items=["Power Stone"] * 2), power_dice=2),
        army(dispel_dice=3),
        phases=5,
    ),
    "own dice and a stone": battle_of(
        army(wizard(2, BOLT, BEAM, items=["Jewel of the Dusk", "Power Stone"]), power_dice=2),
        army(dispel_dice=3),
        phases=4,
    ),
    "spells in play": battle_of(
        army(wizard(2, WARD, BOLT), power_dice=4, dispel_dice=2),
        army(wizard(2, CURSE, BEAM), power_dice=3, dispel_dice=3),
        phases=4,
    ),
    "all of it": battle_of(
        army(wizard(2, WARD, BOLT, items=["Power Stone"]), power_dice=3, dispel_dice=2),
        army(wizard(2, CURSE), READER, power_dice=3, dispel_dice=2),
        phases=4,
    ),
    "miscasts that cost phases to come": battle_of(
        army(wizard(2, BOLT, spell("Gift", 3, 1.0)), power_dice=6),
        army(dispel_dice=2),
        phases=5,
        **miscast({"kind": "locked", "until": "six"}),
    ),
}
"""Battles in which casualties have no later effect."""


def scenario_of(name: str) -> Scenario:
    """Return one of `BATTLES`, a bundled scenario, or a generated one, such as storm:4."""
    if name in BATTLES:
        return BATTLES[name]
    kind, _, seed = name.partition(":")
    return generate(int(seed), GENERATED[kind]) if seed else load_scenario(name)


def positions(
    scenario: Scenario,
    rng: np.random.Generator,
    choices: Callable[[Battle], list[int]] = Battle.legal_actions,
) -> Iterator[Battle]:
    """Yield every position of a battle; at each decision one of the choices is taken at random."""
    battle = Battle(pack(scenario))
    while not battle.is_over:
        yield battle
        if battle.is_chance():
            battle.resolve(drawn_outcome(battle, rng))
        else:
            battle.act(int(rng.choice(choices(battle))))
