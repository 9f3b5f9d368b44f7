"""A battle as RLlib's new API stack takes it: two agents, action masks in the observations.

Only what RLlib asks for stands here; battles are `wfb_gym.envs.self_play.SelfPlayBatch`. Needs
Ray, which has
an environment of its own; see README.md beside this file.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.envs.spaces import action_space, observation_space

AGENTS = ("caster_0", "dispeller_0")
"""By seat: the army that casts first, and the other."""
ENV = "wfb_gym_battle"
"""Name under which train.py registers the environment with Ray."""
KEYS = ("scenario", "points_per_reward")
MASK, SEEN = "action_mask", "observations"
"""Keys of an observation; RLlib's action masking wants just these."""
_WORKERS_APART = 1 << 40
"""RLlib seeds its workers by consecutive numbers; so far apart, no two battles share dice."""

Step = tuple[
    dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]


class BattleEnv(MultiAgentEnv):
    """One battle, in which the agent that is to decide is asked and the other waits.

    Observations are a Dict of `observations`, float32 (size,), and `action_mask`, float32 (n,) of 0
    and 1, as RLlib's action masking wants them. The agents' spaces differ: each sees the battle
    from its own seat. An illegal action becomes pass where pass is legal, else the lowest legal
    action, and is told in `infos["__common__"]["illegal_action"]`.

    Rewards go to both agents at every step and sum to zero: the points that changed hands, over
    `points_per_reward`. What was won before the first decision comes with the first step. Use
    gamma 1. Nobody is shown the end of a battle: RLlib repeats the last observation there.

    Args:
        config: `scenario`, as `wfb_gym.envs.self_play.SelfPlayBatch` takes it, "archmage-duel"
        unless given;
            and `points_per_reward`, 100 unless given.

    Raises:
        ValueError: another key, or points that are not above 0.
        ScenarioError: a scenario that there is none of, or that is refused.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        given = dict(config or {})
        for key in given:
            if key not in KEYS:
                raise ValueError(f"env_config: expected {' and '.join(KEYS)}, found {key!r}")
        self._scale = float(given.get("points_per_reward", 100.0))
        if not self._scale > 0.0:
            raise ValueError(f"points_per_reward: expected more than 0, found {self._scale}")
        self._worker = int(getattr(config, "worker_index", 0))
        self.turns = SelfPlayBatch(1, given.get("scenario", "archmage-duel"))
        self.agents = list(AGENTS)
        self.possible_agents = list(AGENTS)
        self.action_spaces = {}
        self.observation_spaces = {}
        for agent, view in zip(AGENTS, self.turns.views, strict=True):
            self.action_spaces[agent] = action_space(view.codec)
            mask = spaces.Box(0.0, 1.0, (view.codec.n,), np.float32)
            self.observation_spaces[agent] = spaces.Dict(
                {MASK: mask, SEEN: observation_space(view.layout)}
            )
        super().__init__()
        self._shown: tuple[Decisions, Decisions] | None = None
        self._carried = 0.0
        self._begun = False  # a battle in which nothing was decided yet

    @property
    def seat(self) -> int:
        """Who decides now: 0 or 1."""
        assert self._shown is not None
        return 0 if len(self._shown[0].members) else 1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a battle.

        Args:
            seed: keys the dice; None goes on with the dice as they come.
            options: ignored.

        Returns:
            What the agent that decides first is shown, and its info.
        """
        super().reset(seed=seed)
        if seed is not None:
            seed += self._worker * _WORKERS_APART
        elif self._shown is None or not self._begun:
            seed = int(self.np_random.integers(2**63))
        if seed is not None:
            self._shown = self.turns.reset(seed)
        self._carried = float(self.turns.opened[0])
        self._begun = True
        shown = self._observed()
        return shown, {agent: {} for agent in shown}

    def step(self, action_dict: dict[str, Any]) -> Step:
        """Play the decision of the agent that was shown the battle.

        Args:
            action_dict: its action.

        Returns:
            Observations, rewards, terminations, truncations (never True) and infos.

        Raises:
            ValueError: the actions are not those of that agent alone, or outside its space.
            RuntimeError: `reset` was not called.
        """
        if self._shown is None:
            raise RuntimeError("step: expected a call of reset before it")
        seat = self.seat
        if set(action_dict) != {AGENTS[seat]}:
            raise ValueError(f"actions: expected {AGENTS[seat]}'s, found {sorted(action_dict)}")
        action = int(action_dict[AGENTS[seat]])
        mask = self._shown[seat].masks[0]
        if not 0 <= action < len(mask):
            raise ValueError(f"action: expected 0 to {len(mask) - 1}, found {action}")
        played = action if mask[action] else int(mask.argmax())
        actions = [np.zeros(0, np.int64), np.zeros(0, np.int64)]
        actions[seat] = np.array([played])
        self._shown = self.turns.play(actions[0], actions[1])
        won = (float(self.turns.points[0]) + self._carried) / self._scale
        ended = bool(self.turns.ended[0])
        self._carried, self._begun = 0.0, ended
        flags = dict.fromkeys((*AGENTS, "__all__"), ended)
        return (
            {} if ended else self._observed(),
            dict(zip(AGENTS, (won, -won), strict=True)),
            flags,
            dict.fromkeys(flags, False),
            {"__common__": {"illegal_action": played != action}},
        )

    def _observed(self) -> dict[str, Any]:
        assert self._shown is not None
        shown = self._shown[self.seat]
        mask = shown.masks[0].astype(np.float32)
        return {AGENTS[self.seat]: {MASK: mask, SEEN: shown.observations[0]}}
