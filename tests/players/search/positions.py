"""Positions of bundled and generated battles that are played at random."""

from collections.abc import Callable, Iterator

import numpy as np

from wfb_gym.engine.battle import Battle
from wfb_gym.generating import KINDS, Generation, generate
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario

GENERATED = KINDS | {
    "siege": Generation(points=2000, units=8, phases=4),
    "storm": Generation(points=2000, units=8, phases=3, lores=("Heavens",), opposition="none"),
    "duel": Generation(duel=True, phases=4),
    "small": Generation(points=500, phases=4),
}


def scenario_of(name: str) -> Scenario:
    """Return a bundled scenario, or a generated one by kind and seed, such as storm:4."""
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
            codes, chances = zip(*battle.chance_outcomes(), strict=True)
            battle.resolve(int(rng.choice(codes, p=np.array(chances) / sum(chances))))
        else:
            battle.act(int(rng.choice(choices(battle))))
