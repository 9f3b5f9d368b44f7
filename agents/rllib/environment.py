"""A battle as an environment for RLlib's new API stack: two agents, masks in the observations."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from wfb_gym.envs.driver import validated_points_per_reward
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.envs.spaces import action_space, observation_space

AGENTS = ("caster_0", "dispeller_0")
"""Agents by seat: the army that casts first, then the other."""
ENV = "wfb_gym_battle"
"""Name under which train.py registers the environment with Ray."""
KEYS = ("scenario", "points_per_reward")
MASK, SEEN = "action_mask", "observations"
"""Observation keys required by RLlib's action masking."""
_WORKER_SPACING = 1 << 40
"""Distance between workers' seeds. RLlib's are consecutive, and battles must not share dice."""

Step = tuple[
    dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]


def first_seed(seed: int, worker: int) -> int:
    """Return the seed for a worker's first battle, from the seed that RLlib gives the worker."""
    return seed + worker * _WORKER_SPACING


class TurnBasedEnv(MultiAgentEnv):
    """A single battle as an environment in which one agent acts at a time.

    Observations are a Dict of `observations`, float32 (size,), and `action_mask`, float32 (n,) of 0
    and 1, as required by RLlib's action masking. The agents' spaces differ because each agent sees
    the battle from its own seat. An illegal action is replaced by pass if pass is legal, otherwise
    by the lowest legal action, and sets `infos["__common__"]["illegal_action"]`. Both agents get a
    reward at every step: the points that changed hands, divided by `points_per_reward`. The two
    rewards sum to zero. Points won before the first decision are added to the first step. Use gamma
    1. The end of a battle has no observation of its own, so RLlib repeats the last one.

    Args:
        config: `scenario`, as in `SelfPlayBatch` (defaults to "archmage-duel"), and
            `points_per_reward` (defaults to 100).

    Raises:
        ValueError: if there is any other key, or `points_per_reward` is out of range.
        ScenarioError: if the scenario is unknown or invalid.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        given = dict(config or {})
        for key in given:
            if key not in KEYS:
                raise ValueError(f"env_config: expected {' and '.join(KEYS)}, found {key!r}")
        self.points_per_reward = validated_points_per_reward(given.get("points_per_reward", 100.0))
        self.scenario = given.get("scenario", "archmage-duel")
        self._worker = int(getattr(config, "worker_index", 0))
        self.battles = SelfPlayBatch(1, self.scenario)
        self.agents = list(AGENTS)
        self.possible_agents = list(AGENTS)
        views = dict(zip(AGENTS, self.battles.views, strict=True))
        self.action_spaces = {agent: action_space(view.codec) for agent, view in views.items()}
        self.observation_spaces = {}
        for agent, view in views.items():
            mask = spaces.Box(0.0, 1.0, (view.codec.n,), np.float32)
            seen = {MASK: mask, SEEN: observation_space(view.layout)}
            self.observation_spaces[agent] = spaces.Dict(seen)
        super().__init__()
        self._decisions: tuple[Decisions, Decisions] | None = None
        self._carried = 0.0
        self._begun = False  # whether the battle has begun and has no decision yet

    @property
    def seat(self) -> int:
        """The seat to act: 0 or 1."""
        assert self._decisions is not None
        return 0 if len(self._decisions[0].members) else 1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a battle. Without a seed, the dice continue from the previous battle.

        Returns:
            The observation and info of the agent that acts first.
        """
        super().reset(seed=seed)
        if seed is not None:
            seed = first_seed(seed, self._worker)
        elif self._decisions is None or not self._begun:
            seed = int(self.np_random.integers(2**63))
        if seed is not None:
            self._decisions = self.battles.reset(seed)
        self._carried = float(self.battles.opening_points[0])
        self._begun = True
        observations = self._observe()
        return observations, {agent: {} for agent in observations}

    def step(self, action_dict: dict[str, Any]) -> Step:
        """Play an action for the agent whose observation was returned last.

        Returns:
            Observations, rewards, terminations, truncations (never True) and infos.

        Raises:
            ValueError: if the action is missing, is outside the action space, or belongs to another
                agent.
            RuntimeError: if `reset` has not been called.
        """
        if self._decisions is None:
            raise RuntimeError("step: expected a call of reset before it")
        seat = self.seat
        if set(action_dict) != {AGENTS[seat]}:
            raise ValueError(f"actions: expected {AGENTS[seat]}'s, found {sorted(action_dict)}")
        action = int(action_dict[AGENTS[seat]])
        mask = self._decisions[seat].masks[0]
        if not 0 <= action < len(mask):
            raise ValueError(f"action: expected 0 to {len(mask) - 1}, found {action}")
        played = action if mask[action] else int(mask.argmax())
        self._decisions = self.battles.play_one(seat, played)
        won = (float(self.battles.points[0]) + self._carried) / self.points_per_reward
        ended = bool(self.battles.ended[0])
        self._carried, self._begun = 0.0, ended
        flags = dict.fromkeys((*AGENTS, "__all__"), ended)
        return (
            {} if ended else self._observe(),
            dict(zip(AGENTS, (won, -won), strict=True)),
            flags,
            dict.fromkeys(flags, False),
            {"__common__": {"illegal_action": played != action}},
        )

    def _observe(self) -> dict[str, Any]:
        assert self._decisions is not None
        decisions = self._decisions[self.seat]
        mask = decisions.masks[0].astype(np.float32)
        return {AGENTS[self.seat]: {MASK: mask, SEEN: decisions.observations[0]}}
