"""The Gymnasium environments of one battle: `wfb_gym/Caster-v0` and `wfb_gym/Dispeller-v0`."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.limits import Limits
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.driver import part_of_state
from wfb_gym.envs.kernel import Autoreset, BatchStep
from wfb_gym.envs.scenario_set import ScenarioLike
from wfb_gym.envs.spaces import action_space, observation_space
from wfb_gym.envs.specs import plain_spec
from wfb_gym.envs.watching import FPS, RENDER_MODES, BatchWatcher, check_render_mode, draw_frames
from wfb_gym.players.interface import Opponent
from wfb_gym.scenario import Scenario

_INTEGERS = (int, np.integer)
_THIS = np.ones(1, np.bool_)
"""The only environment of its batch."""


class MagicPhaseEnv(gym.Env[NDArray[np.float32], np.int64]):
    """One seat of a magic phase, the opponent's play inside `step`.

    ## Description

    The magic phase of Warhammer Fantasy Battle, 6th edition, or 7th where the scenario says so:
    a two-player, zero-sum game of dice with perfect information. The caster commits power dice
    to spells, the dispeller commits dispel dice against them, and every die spent is gone. One
    seat is the learner's; the opponent plays inside `step`.

    Decisions are small: first the spell, then its target, then an item, then the dice. Where only
    one action is legal it is played for the learner.

    ## Action Space

    `Discrete(n)`: micro-actions whose ranges `wfb_gym.encoding.actions` lists: pass, dice,
    items, re-rolls, wizards, spells, spells in play, targets or none, points (of a Comet).
    `action_meanings()` puts them in words; `action_masks()` and `info["action_mask"]` say which
    are legal. An illegal action becomes pass where pass is legal, else the lowest legal action,
    and sets `info["illegal_action"]`.

    ## Observation Space

    `Box(float32)`, one flat vector scaled into finite bounds and never clipped, from the
    learner's seat. `named_fields(observation)` names its fields; `wfb_gym.encoding.fields`
    documents units and scales. Different positions never share an observation. The last one of an
    episode shows only what the scenario fixes.

    ## Rewards

    The change of (enemy points lost - own points lost) since the learner's last action, over
    `points_per_reward`. The sum over an episode is the battle's result; use gamma 1.

    ## Starting State

    The scenario's, played on to the learner's first decision. If none comes, the observation
    is the last one, only pass is legal, and the first step ends the episode.

    ## Episode End

    1. Termination: the last magic phase of the scenario ends.
    2. Truncation: never; the game ends by itself.

    An environment that is stepped after its end stays there: reward 0, terminated.

    ## Information

    | key | meaning |
    |---|---|
    | `action_mask` | int8 (n,), 1 for legal actions |
    | `illegal_action` | True if the action just taken was illegal and was replaced |

    ## Arguments

    | parameter | default | meaning |
    |---|---|---|
    | `scenario` | "archmage-duel" | bundled name, path of a scenario file, `Scenario` or its \
    document; or "generated": a new one each episode |
    | `opponent` | "veteran" | name, callable, agent, path of a saved model, or a list of these |
    | `limits` | fitted | sizes of the spaces, to let one policy play several scenarios |
    | `history` | False | observations also tell how each spell was last cast and answered |
    | `points_per_reward` | 100.0 | points that make a reward of 1 |
    | `strict` | False | raise on an illegal action |
    | `render_mode` | None | "ansi" or "rgb_array": `render()` describes or draws what has \
    happened since the learner's last action, and where both sides stand |

    ## Vectorized environment

    `gym.make_vec(id, num_envs=...)` steps all environments in one compiled call; environment i of
    `reset(seed=s)` plays what a single one plays after `reset(seed=s + i)`. It takes the same
    arguments, `scenario` also as a list, and `autoreset_mode`, by default SAME_STEP.
    """

    seat: int = 0
    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}
    spec = plain_spec

    def __init__(
        self,
        *,
        scenario: ScenarioLike = "archmage-duel",
        opponent: Opponent | Sequence[Opponent] = "veteran",
        limits: Limits | None = None,
        history: bool = False,
        points_per_reward: float = 100.0,
        strict: bool = False,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode)
        self.batch = Batch(
            1, scenario, self.seat, opponent, limits, Autoreset.DISABLED, points_per_reward, history
        )
        self.render_mode = render_mode
        if render_mode is not None:
            self.batch.watcher = BatchWatcher(1)
        self.strict = strict
        self.limits = self.batch.limits
        self.observation_space = observation_space(self.batch.layout)
        self.action_space = action_space(self.batch.codec)
        self._actions_n = self.batch.codec.n
        self._action = np.zeros(1, np.int64)
        self._seeded = False
        self._make_step()

    def _make_step(self) -> None:
        """Make what every step writes to, and the parts of it that callers get copies of."""
        self._out = self.batch.new_step()
        self._play = self.batch.prepare_step(self._action, self._out)
        self._observation = self._out.observations[0]
        self._mask = self.batch.allowed_as_int8[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: decides the dice; None goes on with the dice as they come.
            options: ignored.

        Returns:
            Observation, float32 (size,), and info.
        """
        before = self._np_random, self._np_random_seed
        try:
            super().reset(seed=seed)
            if seed is None and not self._seeded:
                seed = int(self.np_random.integers(2**63))
            out = self.batch.reset(_THIS, [seed])
        except BaseException:
            self._np_random, self._np_random_seed = before
            raise
        self._seeded = True
        return self._observation_and_info(out)

    def _observation_and_info(self, out: BatchStep) -> tuple[NDArray[np.float32], dict[str, Any]]:
        return out.observations[0], {"action_mask": self._mask.copy(), "illegal_action": False}

    def step(
        self, action: np.int64 | int
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play one action, and everything that follows up to the learner's next decision.

        Args:
            action: a member of the action space.

        Returns:
            Observation, reward, terminated, truncated (never True) and info.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called.
            ValueError: the action is outside the space, or illegal under `strict`.
        """
        batch, out, actions = self.batch, self._out, self._action
        if not batch.begun:
            raise gym.error.ResetNeeded("Cannot call env.step() before calling env.reset()")
        given: Any = action
        if isinstance(given, _INTEGERS):  # asking the space takes as long as the step
            member = 0 <= given < self._actions_n
        else:
            member = self.action_space.contains(given)
        if not member:
            raise ValueError(f"action: expected a member of {self.action_space}, found {given!r}")
        actions[0] = given
        if self.strict:
            batch.check_actions(actions, strict=True)
        self._play()
        return (
            self._observation.copy(),
            out.rewards.item(),
            out.terminations.item(),
            False,
            {"action_mask": self._mask.copy(), "illegal_action": out.illegal.item()},
        )

    def render(self) -> Any:
        """Return what happened since the learner's last action and the position, as the mode says.

        Returns:
            A string in mode "ansi"; a picture, uint8 (height, width, 3), in mode "rgb_array";
            None without a mode.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called.
            gymnasium.error.DependencyNotInstalled: what draws pictures is missing.
        """
        if self.render_mode is None:
            gym.logger.warn(
                "render() was called without a render_mode; "
                'make the environment with render_mode="ansi" or "rgb_array"'
            )
            return None
        if not self.batch.begun:
            raise gym.error.ResetNeeded("Cannot call env.render() before calling env.reset()")
        return draw_frames(self.batch, self.render_mode)[0]

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions, bool (n,); at least one."""
        if not self.batch.begun:
            raise gym.error.ResetNeeded("Cannot call action_masks() before calling env.reset()")
        mask: NDArray[np.bool_] = self.batch.allowed[0].copy()
        return mask

    @property
    def scenario(self) -> Scenario:
        """The scenario that is played now, such as the one that this episode drew."""
        return self.batch.playing(0)

    def action_meanings(self) -> list[str]:
        """Return what each action means in this scenario, in words."""
        return self.batch.action_meanings(0)

    def named_fields(self, observation: NDArray[np.float32]) -> dict[str, float]:
        """Return an observation with its fields' names."""
        return self.batch.layout.named_fields(observation)

    def get_state(self) -> dict[str, Any]:
        """Everything that the environment's future depends on; see `set_state`."""
        return {**self.batch.get_state(), "seeded": self._seeded}

    def set_state(self, state: dict[str, Any]) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Go back to a state that `get_state` of an equal environment gave.

        Returns:
            Observation and info as they were then.

        Raises:
            ValueError: the state is of another kind of environment.
        """
        seeded = part_of_state(state, "seeded", bool)
        self.batch.set_state(state)
        self._seeded = seeded
        return self._observation_and_info(self.batch.look())

    def __getstate__(self) -> dict[str, Any]:
        made = ("_out", "_play", "_observation", "_mask")  # by `_make_step`
        return {key: value for key, value in vars(self).items() if key not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_step()  # a step writes to the masks of its own batch


class CasterEnv(MagicPhaseEnv):
    """The caster's seat of a magic phase; see `MagicPhaseEnv` for spaces, rewards and info.

    ## Description

    The learner is the first army of the scenario. It casts in the first phase, and in scenarios
    of several phases dispels in the second, and so on in turn.

    ## Version History

    * v0: initial version
    """

    seat = 0


class DispellerEnv(MagicPhaseEnv):
    """The dispeller's seat of a magic phase; see `MagicPhaseEnv` for spaces, rewards and info.

    ## Description

    The learner is the second army of the scenario. It dispels in the first phase, and in
    scenarios of several phases casts in the second, and so on in turn.

    ## Version History

    * v0: initial version
    """

    seat = 1
