"""PettingZoo: both seats of a single battle as an AEC environment and as a parallel environment.

Needs ``pip install "wfb-gym[pettingzoo]"``. The ids are ``wfb_gym/MagicPhase-v0`` and
``wfb_gym/Battle-v0`` (`wfb_gym._registration`). This module contains no game rules: the battle is a
`wfb_gym.envs.self_play.SelfPlayBatch` of size one.
"""

from typing import Any, Literal

import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray

try:
    import pettingzoo
    from pettingzoo.utils import wrappers
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper
    from pettingzoo.utils.env import AECEnv, ParallelEnv
except ImportError as error:
    raise ImportError(
        'wfb_gym.interop.pettingzoo needs pettingzoo: pip install "wfb-gym[pettingzoo]"'
    ) from error

from wfb_gym._records import as_records
from wfb_gym._registration import register_with_pettingzoo
from wfb_gym.encoding.limits import Limits, union
from wfb_gym.engine.random_numbers import Rng
from wfb_gym.envs.driver import validated_points_per_reward
from wfb_gym.envs.kernel import legal_or_lowest
from wfb_gym.envs.scenario_set import ScenarioLike, resolve_scenarios
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.envs.spaces import action_space, observation_space
from wfb_gym.envs.watching import FPS, TERMINAL_RENDER_MODES, BattleWatcher

register_with_pettingzoo(pettingzoo)

ILLEGAL_REWARD = -1.0
"""Reward for an illegal action in `env` and `parallel_env`, where it ends the game."""

FITTED: Literal["fitted"] = "fitted"
"""Fits the limits to each army separately, as in the single environments."""
SomeLimits = Limits | tuple[Limits, Limits] | Literal["fitted"] | None
"""Limits for both armies, one per army, "fitted", or None for the smallest common limits."""

_PHASE_AGENTS = ("caster_0", "dispeller_0")
_BATTLE_AGENTS = ("army_0", "army_1")


def _one_battle(scenario: ScenarioLike, limits: SomeLimits, **observed: Any) -> SelfPlayBatch:
    """Return a batch of one battle without autoreset."""
    options: Any = {"autoreset": False, **observed}
    scenarios = resolve_scenarios(scenario)
    pair = (limits, limits) if isinstance(limits, Limits) else limits
    game = SelfPlayBatch(1, scenarios, None if pair == FITTED else pair, **options)
    if limits is None:
        both = union([view.limits for view in game.views])
        game = SelfPlayBatch(1, scenarios, (both, both), **options)
    return game


class MagicPhaseAEC(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """A magic phase, or a battle of several phases, with one agent for each army.

    Observations, actions, masks and dice are the same as in the Gymnasium environments: the same
    seed and actions give the same battle. Rewards are zero-sum: the net points gained, divided by
    `points_per_reward`. Over an episode, they sum to the points won in the battle divided by
    `points_per_reward`. The first rewards include points won before the first decision. Episodes
    are never truncated.

    An illegal action is replaced by pass if pass is legal, otherwise by the lowest legal action. It
    sets ``infos[agent]["illegal_action"]`` until the agent acts again.

    The agents are ``caster_0`` and ``dispeller_0`` if the scenario has one phase, otherwise
    ``army_0`` and ``army_1``. ``infos[agent]["action_mask"]`` is int8 (n,). While the other agent
    is to move, it is all zeros or, with `idle_pass`, allows only pass. After the end, only pass is
    legal.

    Args:
        scenario: a bundled name, a path, a `Scenario`, or "generated" for a new scenario each
            episode.
        limits: sizes of the spaces. None uses the smallest common limits, so that both armies have
            equal spaces and one policy can play both. "fitted" uses the limits of the single
            environments. You can also pass `Limits`, either one for both armies or one per army.
        history: whether to include the last cast of each spell and the last response to it.
        features: "all", or "raw" for observations in which expected values are 0.
        points_per_reward: number of points that give a reward of 1.
        strict: whether to raise an error for illegal actions.
        observe_mask: whether observations are dicts with ``observation`` and ``action_mask``.
        idle_pass: whether the waiting agent may pass, for samplers that need a legal action for
            every agent.
        render_mode: "ansi" (`render` returns text), "rgb_array" (`render` returns an image),
            "human" (`reset` and `step` print the text) or None.

    Raises:
        ValueError: if an argument is invalid or a scenario exceeds the limits.
        ScenarioError: if the scenario does not exist or is invalid.
    """

    metadata: dict[str, Any] = {
        "name": "magic_phase_v0",
        "render_modes": list(TERMINAL_RENDER_MODES),
        "render_fps": FPS,
        "is_parallelizable": False,
    }

    def __init__(  # noqa: PLR0913 - PettingZoo passes them by name
        self,
        *,
        scenario: ScenarioLike = "archmage-duel",
        limits: SomeLimits = None,
        history: bool = False,
        features: str = "all",
        points_per_reward: float = 100.0,
        strict: bool = False,
        observe_mask: bool = False,
        idle_pass: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if render_mode not in (None, *TERMINAL_RENDER_MODES):
            expected = ", ".join(TERMINAL_RENDER_MODES)
            raise ValueError(f"render_mode: expected one of {expected}, found {render_mode!r}")
        self._scale = 1.0 / validated_points_per_reward(points_per_reward)
        self.render_mode = render_mode
        self._watcher = None if render_mode is None else BattleWatcher(render_mode)
        self._game = _one_battle(scenario, limits, history=history, features=features)
        self._strict = strict
        self._observe_mask = observe_mask
        self._idle_pass = idle_pass
        one_phase = all(each.phases == 1 for each in self._game.scenarios)
        self.possible_agents = list(_PHASE_AGENTS if one_phase else _BATTLE_AGENTS)
        if not one_phase:
            self.metadata = {**self.metadata, "name": "battle_v0"}
        views = self._game.views
        self._action_spaces = [action_space(view.codec) for view in views]
        boxes: list[spaces.Space[Any]] = [observation_space(view.layout) for view in views]
        self.state_space, self._observation_spaces = boxes[0], boxes
        if observe_mask:
            masks = [spaces.Box(0, 1, (view.codec.n,), np.int8) for view in views]
            self._observation_spaces = [
                spaces.Dict({"observation": box, "action_mask": mask})
                for box, mask in zip(boxes, masks, strict=True)
            ]
        self.agents: list[str] = []
        self._asked: tuple[Decisions, Decisions] | None = None

    # --- spaces ----------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return an agent's observation space, which is a dict space with `observe_mask`."""
        return self._observation_spaces[self.possible_agents.index(agent)]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return an agent's action space."""
        return self._action_spaces[self.possible_agents.index(agent)]

    @property
    def limits(self) -> dict[str, Limits]:
        """The limits of each agent's spaces, for `wfb_gym.solver.normalised_score`."""
        views = zip(self.possible_agents, self._game.views, strict=True)
        return {agent: view.limits for agent, view in views}

    # --- playing ---------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Args:
            seed: seed for the dice. None keeps the current generator.
            options: ignored.
        """
        game = self._game
        if seed is None and self._asked is None:
            seed = int(np.random.default_rng().integers(2**63))
        self._asked = game.reset(seed)
        self._opening_points = float(game.opening_points[0])
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._illegal = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._announce_turn()
        if self._watcher is not None:
            k = int(game.playing[0])
            state = game.states(np.zeros(1, np.int64))[0]
            packed = game.packed_scenarios[k : k + 1]
            self._watcher.begin(game.scenarios[k], packed, state, self._opening_points)
            self._print_frame()

    def step(self, action: Any) -> None:
        """Play an action for `agent_selection`, then roll dice until the next decision.

        Args:
            action: a member of the agent's action space, or None after the end.

        Raises:
            ValueError: if the action is outside the space or, with `strict`, illegal.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert self._asked is not None
        seat = self.possible_agents.index(agent)
        if not self._action_spaces[seat].contains(action):
            raise ValueError(
                f"action: expected a member of {self._action_spaces[seat]}, found {action!r}"
            )
        masks = self._asked[seat].masks
        played = int(legal_or_lowest(0, int(action), masks))
        illegal = played != action
        if illegal and self._strict:
            raise ValueError(
                f"action {action} of {agent} is illegal: "
                f"expected one of {np.flatnonzero(masks[0]).tolist()}"
            )
        self._illegal[agent] = illegal
        game = self._game
        rng = game.envs["rng"].copy()
        self._asked = game.play_one(seat, played)
        if self._watcher is not None:
            code = int(game.views[seat].codec.code_of[played])
            self._watcher.follow(code, as_records(Rng, rng)[0])
        gained = (float(game.points[0]) + self._opening_points) * self._scale
        self._opening_points = 0.0
        first, second = self.possible_agents
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {first: gained, second: 0.0 - gained}
        self._accumulate_rewards()
        if game.ended[0]:
            self.terminations = dict.fromkeys(self.agents, True)
        self._announce_turn()
        self._print_frame()

    def _print_frame(self) -> None:
        """Print the last events and the position in "human" mode."""
        if self.render_mode == "human":
            self.render()

    def _announce_turn(self) -> None:
        """Set `agent_selection` (to the first agent after the end) and `infos`."""
        assert self._asked is not None
        mover = 1 if len(self._asked[1].members) else 0
        self.agent_selection = self.possible_agents[mover]
        self.infos = {
            agent: {"action_mask": self._mask(seat), "illegal_action": self._illegal[agent]}
            for seat, agent in enumerate(self.possible_agents)
        }

    def _mask(self, seat: int) -> NDArray[np.int8]:
        """Return a seat's action mask, int8 (n,)."""
        assert self._asked is not None
        own, other = self._asked[seat], self._asked[1 - seat]
        mask = np.zeros(int(self._action_spaces[seat].n), np.int8)
        if len(own.members):
            mask[:] = own.masks[0]
        elif self._idle_pass or not len(other.members):
            mask[0] = 1
        return mask

    # --- observing -------------------------------------------------------------------------

    def observe(self, agent: str) -> Any:
        """Return an agent's observation, at any time after `reset`."""
        seat = self.possible_agents.index(agent)
        seen = self._observation_of(seat)
        if not self._observe_mask:
            return seen
        return {"observation": seen, "action_mask": self._mask(seat)}

    def state(self) -> NDArray[np.float32]:
        """Return the first army's observation, without the other army's hidden items."""
        return self._observation_of(0)

    def _observation_of(self, seat: int) -> NDArray[np.float32]:
        """Return a seat's observation, float32 (size,)."""
        if self._asked is None:
            raise RuntimeError("call reset() before observe()")
        observations, _ = self._game.observe_members(np.zeros(1, np.int64), self._game.views[seat])
        return observations.reshape(-1)

    def render(self) -> Any:
        """Render the position and the events since the last decision.

        Returns:
            A string in "ansi" mode, or an image, uint8 (height, width, 3), in "rgb_array" mode.
            None without a mode, and in "human" mode, which prints the text again.
        """
        if self._watcher is None:
            logger.warn("render() was called, but the environment has no render_mode")
            return None
        if self._asked is None:
            raise RuntimeError("call reset() before render()")
        return self._watcher.render()

    def close(self) -> None:
        """Do nothing; PettingZoo requires this method."""


def raw_env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """Return the environment without wrappers; see `MagicPhaseAEC` for the arguments."""
    return MagicPhaseAEC(**kwargs)


def env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """Return the environment in PettingZoo's usual wrappers; see `MagicPhaseAEC` for arguments.

    An illegal action ends the game: its agent gets `ILLEGAL_REWARD`, and the other agent gets 0.
    """
    made: AECEnv[str, Any, Any] = raw_env(**kwargs)
    made = wrappers.TerminateIllegalWrapper(made, illegal_reward=ILLEGAL_REWARD)
    made = wrappers.AssertOutOfBoundsWrapper(made)
    return wrappers.OrderEnforcingWrapper(made)


def parallel_env(**kwargs: Any) -> ParallelEnv[str, Any, Any]:
    """Return `env` as a parallel environment in which only the active agent's action is played.

    ``infos[agent]["active_agent"]`` is the next agent to move. The other agent can only pass
    (`idle_pass`).
    """
    return _TurnBasedParallelEnv(env(**{"idle_pass": True, **kwargs}))


class _TurnBasedParallelEnv(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc]
    """PettingZoo's conversion, which omits "active_agent" from the infos returned by `reset`."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observations, infos = super().reset(seed, options)
        for info in infos.values():
            info["active_agent"] = self.aec_env.agent_selection
        return observations, infos
