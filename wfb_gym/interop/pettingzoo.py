"""PettingZoo: both seats of one battle, turn by turn, as an AEC and as a parallel environment.

Imported only on use; needs ``pip install "wfb-gym[pettingzoo]"``. PettingZoo's ids are
``wfb_gym/MagicPhase-v0`` and ``wfb_gym/Battle-v0`` (`wfb_gym._registration`). No rule lives
here: the battle is `wfb_gym.envs.self_play.SelfPlayBatch`, with both armies played from outside.
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
from wfb_gym.engine.generator import Rng
from wfb_gym.envs.driver import validated_points_per_reward
from wfb_gym.envs.kernel import legal_or_lowest
from wfb_gym.envs.scenario_set import ScenarioLike, resolve_scenarios
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.envs.spaces import action_space, observation_space
from wfb_gym.envs.watching import FPS, TERMINAL_RENDER_MODES, BattleWatcher

register_with_pettingzoo(pettingzoo)

ILLEGAL_REWARD = -1.0
"""Reward of an illegal action where `env` and `parallel_env` end the game on it."""

FITTED: Literal["fitted"] = "fitted"
"""Limits of each army's own, as the single environments have them."""
SomeLimits = Limits | tuple[Limits, Limits] | Literal["fitted"] | None
"""Of both armies, or of each; None for the smallest that both can share."""

_PHASE_AGENTS = ("caster_0", "dispeller_0")
_BATTLE_AGENTS = ("army_0", "army_1")


def _one_battle(scenario: ScenarioLike, limits: SomeLimits, history: bool) -> SelfPlayBatch:
    """Return one battle, which stays where it ends."""
    how: dict[str, bool] = {"autoreset": False, "history": history}
    scenarios = resolve_scenarios(scenario)
    pair = (limits, limits) if isinstance(limits, Limits) else limits
    game = SelfPlayBatch(1, scenarios, None if pair == FITTED else pair, **how)
    if limits is None:
        both = union([view.limits for view in game.views])
        game = SelfPlayBatch(1, scenarios, (both, both), **how)
    return game


class MagicPhaseAEC(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """A magic phase, or a battle of several, in which every decision of either side is asked for.

    Observations, actions, masks and dice are those of ``wfb_gym/Caster-v0`` and its kin: with the
    same seed and the same actions the same battle comes about. Rewards are the points that change
    hands, over `points_per_reward`: what one agent gains, the other loses, and what an agent gets
    in an episode sums to the battle's result. What is won before the first decision comes with
    the rewards of the first step. There is no truncation: the game ends by itself.

    An illegal action becomes pass where pass is legal, else the lowest legal action, and sets
    ``infos[agent]["illegal_action"]`` until the agent acts again.

    Agents are ``caster_0`` and ``dispeller_0`` where the scenario has one phase, else ``army_0``
    and ``army_1``. ``infos[agent]["action_mask"]`` is int8 (n,): while the other one decides zeros
    or, with `idle_pass`, pass alone; pass alone when the game is over.

    Args:
        scenario: a bundled name, a path, a `Scenario`; or "generated", a new one each episode.
        limits: sizes of the spaces: None for the smallest that both armies can share, so that
            their spaces are equal and one policy can play either; "fitted" for those that
            ``wfb_gym/Caster-v0`` and its kin have; or `Limits`, for both or of each.
        history: observations also tell how each spell was last cast and answered.
        points_per_reward: points that make a reward of 1.
        strict: raise on an illegal action.
        observe_mask: observations are dicts of ``observation`` and ``action_mask``.
        idle_pass: whoever waits may pass, for samplers that must find a legal action of everybody.
        render_mode: None; or what `render` returns: "ansi" words, "rgb_array" a picture. "human"
            prints the words after every `reset` and `step`.

    Raises:
        ValueError: an argument that is none of these, or limits that the scenario exceeds.
        ScenarioError: there is no such scenario, or it is refused.
    """

    metadata: dict[str, Any] = {
        "name": "magic_phase_v0",
        "render_modes": list(TERMINAL_RENDER_MODES),
        "render_fps": FPS,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        *,
        scenario: ScenarioLike = "archmage-duel",
        limits: SomeLimits = None,
        history: bool = False,
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
        self._game = _one_battle(scenario, limits, history)
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
        """Flat float32 of the agent's seat; with `observe_mask` a dict with the mask."""
        return self._observation_spaces[self.possible_agents.index(agent)]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the actions of the agent's seat."""
        return self._action_spaces[self.possible_agents.index(agent)]

    @property
    def limits(self) -> dict[str, Limits]:
        """Sizes of each agent's spaces, as `wfb_gym.solver.normalised_score` takes them."""
        views = zip(self.possible_agents, self._game.views, strict=True)
        return {agent: view.limits for agent, view in views}

    # --- playing ---------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: decides the dice; None goes on with the dice as they come.
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
        """Play an action of `agent_selection`, and everything up to the next decision.

        Args:
            action: a member of the agent's action space; None once the agent is done.

        Raises:
            ValueError: the action is outside the space, or illegal under `strict`.
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
        """Print what `step` or `reset` brought, in mode "human"."""
        if self.render_mode == "human":
            self.render()

    def _announce_turn(self) -> None:
        """Set whose turn it is, the first army's once the battle is over, and what is legal."""
        assert self._asked is not None
        mover = 1 if len(self._asked[1].members) else 0
        self.agent_selection = self.possible_agents[mover]
        self.infos = {
            agent: {"action_mask": self._mask(seat), "illegal_action": self._illegal[agent]}
            for seat, agent in enumerate(self.possible_agents)
        }

    def _mask(self, seat: int) -> NDArray[np.int8]:
        """Legal actions of a seat, int8 (n,)."""
        assert self._asked is not None
        own, other = self._asked[seat], self._asked[1 - seat]
        mask = np.zeros(int(self._action_spaces[seat].n), np.int8)
        if len(own.members):
            mask[:] = own.masks[0]
        elif self._idle_pass or not len(other.members):
            mask[0] = 1
        return mask

    # --- looking ---------------------------------------------------------------------------

    def observe(self, agent: str) -> Any:
        """Return what an agent sees, whether or not it is to decide, and after the end too."""
        seat = self.possible_agents.index(agent)
        seen = self._observation_of(seat)
        if not self._observe_mask:
            return seen
        return {"observation": seen, "action_mask": self._mask(seat)}

    def state(self) -> NDArray[np.float32]:
        """Return the whole position, as the first army sees it: not the other's hidden items."""
        return self._observation_of(0)

    def _observation_of(self, seat: int) -> NDArray[np.float32]:
        """Observation of a seat, float32 (size,)."""
        if self._asked is None:
            raise RuntimeError("call reset() before looking")
        observations, _ = self._game.observe(np.zeros(1, np.int64), self._game.views[seat])
        return observations.reshape(-1)

    def render(self) -> Any:
        """Return what happened since the last decision and the position, as the mode says.

        Returns:
            A string in mode "ansi", a picture, uint8 (height, width, 3), in mode "rgb_array"; None
            in mode "human", which prints the words once more, and without a mode.
        """
        if self._watcher is None:
            logger.warn("render() was called, but the environment has no render_mode")
            return None
        if self._asked is None:
            raise RuntimeError("call reset() before render()")
        return self._watcher.render()

    def close(self) -> None:
        """Nothing to close; PettingZoo asks for the method of whatever renders."""


def raw_env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """Return the environment alone; keyword arguments are those of `MagicPhaseAEC`."""
    return MagicPhaseAEC(**kwargs)


def env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """Return the environment in PettingZoo's usual wrappers; arguments as `MagicPhaseAEC`.

    An illegal action ends the game: `ILLEGAL_REWARD` for who took it, 0 for the other one.
    """
    made: AECEnv[str, Any, Any] = raw_env(**kwargs)
    made = wrappers.TerminateIllegalWrapper(made, illegal_reward=ILLEGAL_REWARD)
    made = wrappers.AssertOutOfBoundsWrapper(made)
    return wrappers.OrderEnforcingWrapper(made)


def parallel_env(**kwargs: Any) -> ParallelEnv[str, Any, Any]:
    """`env` as a parallel environment: of the actions given, that of the agent to decide counts.

    ``infos[agent]["active_agent"]`` names the agent to decide next; the other one is shown that it
    may pass (`idle_pass`).
    """
    return _TurnBasedParallelEnv(env(**{"idle_pass": True, **kwargs}))


class _TurnBasedParallelEnv(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc]
    """PettingZoo's conversion, which leaves "active_agent" out of the infos of `reset`."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observations, infos = super().reset(seed, options)
        for info in infos.values():
            info["active_agent"] = self.aec_env.agent_selection
        return observations, infos
