"""Single Gymnasium environments: `wfb_gym/Caster-v0` and `wfb_gym/Dispeller-v0`."""

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
"""Reset mask of a batch of one environment."""


class MagicPhaseEnv(gym.Env[NDArray[np.float32], np.int64]):
    """One seat in a magic phase; `step` also plays the opponent.

    ## Description

    The magic phase of Warhammer Fantasy Battle, 6th edition (or 7th if the scenario selects it), is
    a two-player, zero-sum dice game. Information is perfect unless items are hidden. The caster
    spends power dice to cast spells, and the dispeller spends dispel dice to stop them. The
    learner plays one seat, and `step` plays the opponent.

    A cast is split into small decisions: first the spell, then its target, then an item, then the
    dice. If only one action is legal, the environment plays it automatically.

    ## Action Space

    `Discrete(n)`, divided into these ranges (see `wfb_gym.encoding.actions`): pass, dice, items,
    re-rolls, wizards, spells, spells in play, targets (or none), and points for a Comet.
    `action_meanings()` describes each action, and `action_masks()` and `info["action_mask"]` give
    the legal actions. An illegal action is replaced by pass if pass is legal, otherwise by the
    lowest legal action, and sets `info["illegal_action"]`.

    ## Observation Space

    `Box(float32)`: a flat vector from the learner's perspective, scaled to finite bounds without
    clipping. `named_fields(observation)` returns its fields by name. The documentation
    lists their meanings and units. Different positions have different observations.
    The last observation of an episode contains only the scenario's constants.

    ## Rewards

    The reward is the change in (enemy points lost - own points lost) since the learner's last
    action, divided by `points_per_reward`. Over an episode, rewards sum to the points won in the
    battle divided by `points_per_reward`, so use gamma = 1.

    ## Starting State

    An episode starts at the learner's first decision. If the learner has no decision to make,
    `reset` returns the final observation, only pass is legal, and the first step ends the episode.

    ## Episode End

    1. Termination: The last magic phase of the scenario ends.
    2. Truncation: Never, because battles always end.

    Stepping after the end has no effect: the reward is 0 and the episode is still terminated.

    ## Information

    | key | meaning |
    |---|---|
    | `action_mask` | int8 (n,), 1 for legal actions |
    | `illegal_action` | True if the last action was illegal and has been replaced |

    ## Arguments

    | parameter | default | meaning |
    |---|---|---|
    | `scenario` | "archmage-duel" | bundled name, path to a scenario file, `Scenario` or its \
    document; or "generated" for a new scenario each episode |
    | `opponent` | "veteran" | name, callable, agent, path to a saved model, or a list of these |
    | `limits` | fitted | sizes of the spaces; set them so that one policy can play several \
    scenarios |
    | `history` | False | whether to include the last cast of each spell and the last response to \
    it |
    | `features` | "all" | "all", or "raw" for observations in which expected values are 0 |
    | `points_per_reward` | 100.0 | number of points that give a reward of 1 |
    | `strict` | False | whether to raise an error for illegal actions |
    | `render_mode` | None | "ansi" or "rgb_array": `render()` describes or draws the position and \
    the events since the learner's last action |

    ## Vectorized environment

    `gym.make_vec(id, num_envs=...)` steps all environments in one compiled call. After
    `reset(seed=s)`, environment i behaves like a single environment after `reset(seed=s + i)`. The
    arguments are the same, plus `autoreset_mode` (SAME_STEP by default); `scenario` may be a list.
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
        features: str = "all",
        points_per_reward: float = 100.0,
        strict: bool = False,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode)
        self.batch = Batch(
            1, scenario, self.seat, opponent, limits, Autoreset.DISABLED, points_per_reward,
            history=history, features=features,
        )  # fmt: skip
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
        """Allocate the arrays that each step writes to."""
        self._out = self.batch.new_step()
        self._play = self.batch.prepare_step(self._action, self._out)
        self._observation = self._out.observations[0]
        self._mask = self.batch.action_mask_int8[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seed for the dice. None keeps the current generator.
            options: ignored.

        Returns:
            The observation, float32 (size,), and info.
        """
        before = self._np_random, self._np_random_seed
        try:
            super().reset(seed=seed)
            if seed is None and not self._seeded:
                known = self.np_random_seed  # drawn now if there is none; -1 if it is unknown
                seed = known if known >= 0 else int(self.np_random.integers(2**63))
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
        """Play one action, then dice and opponent actions until the learner decides again.

        Args:
            action: a member of the action space.

        Returns:
            The observation, reward, terminated, truncated (always False) and info.

        Raises:
            gymnasium.error.ResetNeeded: if `reset` has not been called.
            ValueError: if the action is outside the space or, with `strict`, illegal.
        """
        batch, out, actions = self.batch, self._out, self._action
        if not batch.is_reset:
            raise gym.error.ResetNeeded("Cannot call env.step() before calling env.reset()")
        given: Any = action
        if isinstance(given, _INTEGERS):  # `contains` takes as long as the whole step
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
        """Render the position and the events since the learner's last action.

        Returns:
            A string in "ansi" mode, an image, uint8 (height, width, 3), in "rgb_array" mode, or
            None without a render mode.

        Raises:
            gymnasium.error.ResetNeeded: if `reset` has not been called.
            gymnasium.error.DependencyNotInstalled: if Pillow is not installed.
        """
        if self.render_mode is None:
            gym.logger.warn(
                "render() was called without a render_mode; "
                'make the environment with render_mode="ansi" or "rgb_array"'
            )
            return None
        if not self.batch.is_reset:
            raise gym.error.ResetNeeded("Cannot call env.render() before calling env.reset()")
        return draw_frames(self.batch, self.render_mode)[0]

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool (n,), at least one of which is True."""
        if not self.batch.is_reset:
            raise gym.error.ResetNeeded("Cannot call action_masks() before calling env.reset()")
        mask: NDArray[np.bool_] = self.batch.action_mask[0].copy()
        return mask

    @property
    def scenario(self) -> Scenario:
        """The current episode's scenario."""
        return self.batch.playing(0)

    def action_meanings(self) -> list[str]:
        """Describe each action, using the names in the current scenario."""
        return self.batch.action_meanings(0)

    def named_fields(self, observation: NDArray[np.float32]) -> dict[str, float]:
        """Return an observation's fields by name."""
        return self.batch.layout.named_fields(observation)

    def get_state(self) -> dict[str, Any]:
        """Return the complete state of the environment, for `set_state`."""
        return {**self.batch.get_state(), "seeded": self._seeded}

    def set_state(self, state: dict[str, Any]) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Restore a state returned by `get_state` on an environment with the same arguments.

        Returns:
            The observation and info for that state.

        Raises:
            ValueError: if the state is corrupt or comes from an environment with other arguments.
        """
        seeded = part_of_state(state, "seeded", bool)
        self.batch.set_state(state)
        self._seeded = seeded
        return self._observation_and_info(self.batch.observe())

    def __getstate__(self) -> dict[str, Any]:
        made = ("_out", "_play", "_observation", "_mask")  # created by `_make_step`
        return {key: value for key, value in vars(self).items() if key not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_step()  # uses the arrays of this copy's batch


class CasterEnv(MagicPhaseEnv):
    """The caster's seat in a magic phase; see `MagicPhaseEnv` for spaces, rewards and info.

    ## Description

    The learner plays the scenario's first army. It casts in the first phase. In scenarios with
    several phases, it dispels in the second, casts in the third, and so on.

    ## Version History

    * v0: initial version
    """

    seat = 0


class DispellerEnv(MagicPhaseEnv):
    """The dispeller's seat in a magic phase; see `MagicPhaseEnv` for spaces, rewards and info.

    ## Description

    The learner plays the scenario's second army. It dispels in the first phase. In scenarios with
    several phases, it casts in the second, dispels in the third, and so on.

    ## Version History

    * v0: initial version
    """

    seat = 1
