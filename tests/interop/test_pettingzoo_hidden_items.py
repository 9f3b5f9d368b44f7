"""PettingZoo with hidden items: observations do not depend on the enemy's deal."""

from typing import Any

import numpy as np
import pytest

from tests.support.hidden import other_deals, scenarios
from wfb_gym.engine.battle import Battle

pytest.importorskip("pettingzoo")

from wfb_gym.interop import pettingzoo as interop

SCENARIOS = scenarios()
EPISODES = 12


def put(env: Any, battle: Battle) -> None:
    """Change an environment's position."""
    states = np.array([battle.state], battle.state.dtype)
    env._asked = env._game.put(np.zeros(1, np.int64), np.zeros(1, np.int64), states)
    env._announce_turn()


def same_for(agent: str, one: Any, two: Any) -> bool:
    """Return whether an agent has the same observation, mask and rewards in both environments."""
    for name in ("agent_selection", "rewards", "terminations"):
        assert getattr(one, name) == getattr(two, name)
    seen, other = ((env.infos[agent]["action_mask"], env.observe(agent)) for env in (one, two))
    return all(map(np.array_equal, seen, other))


@pytest.mark.parametrize("name", ["both", "luck", "ruin", "in play", "three spells"])
def test_the_enemys_deal_is_not_observed(name: str) -> None:
    rng, compared, differ = np.random.default_rng(7), 0, 0
    env, twin = (interop.raw_env(scenario=SCENARIOS[name]) for _ in range(2))
    for episode in range(EPISODES):
        env.reset(seed=episode)
        twin.reset(seed=episode)
        battle = Battle(env._game.packed_scenarios)  # a copy of its position
        battle.state.setfield(env._game.states(np.zeros(1, np.int64))[0], battle.state.dtype)
        army = int(rng.choice([i for i in range(2) if battle.state.hidden_set[i]]))
        others = other_deals(battle, army)
        if not others:
            continue
        put(twin, others[rng.integers(len(others))])
        agents = env.possible_agents
        owner, enemy = agents[army], agents[1 - army]
        while True:
            assert same_for(enemy, env, twin)
            differ += not same_for(owner, env, twin)
            compared += 1
            if all(env.terminations.values()):
                break
            mover = env.agent_selection
            masks = [each.infos[mover]["action_mask"] for each in (env, twin)]
            both = np.flatnonzero(masks[0] & masks[1])
            if not len(both):
                break
            action = int(rng.choice(both))
            env.step(action)
            twin.step(action)
    assert compared > EPISODES
    assert differ
