"""Gymnasium vector environments: thousands of magic phases in a single process.

This module adds Gymnasium's spaces, infos and autoreset modes to `wfb_gym.envs.batch.Batch`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from wfb_gym.encoding.limits import Limits
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.driver import part_of_state
from wfb_gym.envs.kernel import Autoreset, BatchStep
from wfb_gym.envs.recycled_arrays import RecycledArrays
from wfb_gym.envs.scenario_set import ScenarioLike
from wfb_gym.envs.spaces import action_space, observation_space
from wfb_gym.envs.specs import plain_spec
from wfb_gym.envs.watching import FPS, RENDER_MODES, BatchWatcher, check_render_mode, draw_frames
from wfb_gym.players.interface import Opponent
from wfb_gym.scenario import Scenario

_METADATA = {"render_modes": list(RENDER_MODES), "render_fps": FPS}


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        values = ", ".join(each.value for each in AutoresetMode)
        raise ValueError(
            f"autoreset_mode: expected a member of AutoresetMode or one of {values}, found {mode!r}"
        ) from None


def _check_max_episode_steps(steps: Any) -> None:
    if steps not in (None, -1):
        raise ValueError(
            f"max_episode_steps: expected None, as battles end by the rules, found {steps!r}; "
            'vectorization_mode="sync" truncates episodes, as gymnasium.make does'
        )


class MagicPhaseVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """A vector environment for magic phases; see `wfb_gym.envs.single` for the spaces.

    Args:
        num_envs: number of environments.
        scenario: a bundled name, a path, a `Scenario`, or a sequence of these. Environment i plays
            scenario i modulo the number of scenarios.
        opponent: the name of a scripted player, a callable that acts on batches, the path to a
            saved model, or a list of these. With a list, each episode draws one.
        limits: sizes of the spaces. By default, they are fitted to the scenarios.
        history: whether to include the last cast of each spell and the last response to it. This
            helps memoryless policies in scenarios with hidden items.
        features: "all", or "raw" for observations in which expected values are 0.
        autoreset_mode: when to restart ended episodes.
        points_per_reward: number of points that give a reward of 1.
        strict: whether to raise an error for illegal actions instead of replacing them.
        copy: as in Gymnasium's `SyncVectorEnv`. If False, every step overwrites the previous step's
            observations and action masks. This saves memory and, for large batches, time.
        final_infos: whether SAME_STEP steps report ``final_obs`` and ``final_info``, as in
            Gymnasium. Episodes are never truncated, so few learners need them. If False, steps are
            faster, and ``illegal_action`` includes the last actions of ended episodes.
        render_mode: None, "ansi" or "rgb_array", as in single environments. Rendering replays every
            environment in Python, so use it only with a few environments.
        max_episode_steps: None or -1; accepted because `gymnasium.make_vec` passes it. This
            environment does not truncate episodes, so any other value raises a ValueError.

    Attributes:
        autoreset_mode: the mode, a member of `AutoresetMode`.
        copy: the argument of the same name.

    Raises:
        ValueError: if an argument is invalid.
    """

    seat: int = 0
    metadata: dict[str, Any] = {**_METADATA, "autoreset_mode": AutoresetMode.SAME_STEP}
    spec = plain_spec

    def __init__(  # noqa: PLR0913 - Gymnasium passes them by name
        self,
        num_envs: int = 1,
        *,
        scenario: ScenarioLike | Sequence[ScenarioLike] = "archmage-duel",
        opponent: Opponent | Sequence[Opponent] = "veteran",
        limits: Limits | None = None,
        history: bool = False,
        features: str = "all",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        points_per_reward: float = 100.0,
        strict: bool = False,
        copy: bool = True,
        final_infos: bool = True,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        check_render_mode(render_mode)
        _check_max_episode_steps(max_episode_steps)
        mode = _autoreset_mode(autoreset_mode)
        self.batch = Batch(
            num_envs, scenario, self.seat, opponent, limits, Autoreset[mode.name],
            points_per_reward, history=history, features=features,
        )  # fmt: skip
        self.num_envs = num_envs
        self.render_mode = render_mode
        if render_mode is not None:
            self.batch.watcher = BatchWatcher(num_envs)
        self.strict = strict
        self.autoreset_mode, self.copy = mode, copy
        self.metadata = {**type(self).metadata, "autoreset_mode": mode}
        self._reports_final = final_infos and mode == AutoresetMode.SAME_STEP
        self._attributes: dict[str, list[Any]] = {}  # set by `set_attr`
        self.limits = self.batch.limits
        self.single_observation_space = observation_space(self.batch.layout)
        self.single_action_space = action_space(self.batch.codec)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.batch.share_outputs(not copy)
        self._masks = RecycledArrays(self.batch.action_mask.shape, np.int8, is_shared=not copy)
        self._every = np.ones(num_envs, np.bool_)
        self._seeded = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start episodes in all environments, or only in those given by ``options["reset_mask"]``.

        Args:
            seed: if an integer, environment i is seeded with seed + i and then plays like a single
                environment with that seed. A sequence contains one seed per environment. None
                keeps the current generators.
            options: ``reset_mask``, bool (n,), selects the environments to reset in DISABLED mode.
                Other keys are ignored. The mapping is not modified.

        Returns:
            Observations, float32 (n, size), and infos.
        """
        chosen = self._reset_mask(options)
        seeds, generator = self._seeds(seed, chosen)
        out = self.batch.reset(chosen, seeds)
        self._seeded = True
        self._np_random, self._np_random_seed = generator
        return out.observations, self._infos(np.zeros(self.num_envs, np.bool_))

    def _reset_mask(self, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, np.bool_)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,):
            found = f"shape {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
            expected = f"an array of shape ({self.num_envs},)"
            raise ValueError(f"reset_mask: expected {expected}, found {found}")
        if mask.dtype != np.bool_ or not mask.any():
            found = "none" if mask.dtype == np.bool_ else f"dtype {mask.dtype}"
            expected = "dtype bool and at least one True"
            raise ValueError(f"reset_mask: expected {expected}, found {found}")
        return mask.copy()

    def _seeds(
        self, seed: int | Sequence[int | None] | None, chosen: NDArray[np.bool_]
    ) -> tuple[list[int | None], tuple[Any, Any]]:
        """Return the environments' seeds, and Gymnasium's generator with its seed.

        Environments that are not chosen keep their generators. The first reset seeds all of them.
        """
        generator: tuple[Any, Any] = self._np_random, self._np_random_seed
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            if seed < 0:  # Gymnasium would raise something other than a ValueError
                raise ValueError(f"seed: expected a whole number from 0, found {seed}")
            generator = gym.utils.seeding.np_random(int(seed))
            seeds = [int(seed) + i for i in range(self.num_envs)]
        elif seed is not None:
            if not isinstance(seed, Iterable):
                raise ValueError(
                    f"seed: expected a whole number, one for each environment, or None, "
                    f"found {seed!r}"
                )
            seeds = list(seed)
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed: expected {self.num_envs} seeds, found {len(seeds)}")
        elif not self._seeded:
            generator = gym.utils.seeding.np_random(None)
            seeds = [generator[1] + i for i in range(self.num_envs)]
        drawn: list[int | None] = [None] * self.num_envs
        if not self._seeded:
            drawn = np.random.SeedSequence().generate_state(self.num_envs, np.uint64).tolist()
        return [
            given if used and given is not None else other
            for given, used, other in zip(seeds, chosen, drawn, strict=True)
        ], generator

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Play one action in every environment.

        Args:
            actions: integers from the action space, shape (n,).

        Returns:
            Observations, float32 (n, size), rewards, float64 (n,), terminations, bool (n,),
            truncations, bool (n,), which are always False, and infos.

        Raises:
            gymnasium.error.ResetNeeded: if `reset` has not been called.
            ValueError: if the shape or dtype is wrong, or an action is outside the space or, with
                `strict`, illegal.
        """
        if not self.batch.is_reset:
            raise gym.error.ResetNeeded("Cannot call env.step() before calling env.reset()")
        batch = self.batch
        checked = batch.as_actions(actions)
        if self.strict:
            batch.check_actions(checked, strict=True)
        out = batch.step(checked)
        infos = self._infos(out.illegal)
        if self._reports_final and True in out.terminations.tobytes():  # faster than `any`
            infos.update(self._final_infos(out))
        return out.observations, out.rewards, out.terminations, np.zeros(self.num_envs, bool), infos

    def render(self) -> tuple[Any, ...] | None:
        """Return a frame per environment, as `MagicPhaseEnv.render` does, or None without a mode.

        If a step ended an episode and started the next one, the frame shows the events of both.

        Raises:
            gymnasium.error.ResetNeeded: if `reset` has not been called.
            gymnasium.error.DependencyNotInstalled: if Pillow is not installed.
        """
        if self.render_mode is None:
            return None
        if not self.batch.is_reset:
            raise gym.error.ResetNeeded("Cannot call env.render() before calling env.reset()")
        return draw_frames(self.batch, self.render_mode)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool (n, actions), with at least one in each row."""
        if not self.batch.is_reset:
            raise gym.error.ResetNeeded("Cannot call action_masks() before calling env.reset()")
        return self.batch.action_mask.copy()

    @property
    def scenarios(self) -> list[Scenario]:
        """Each environment's current scenario."""
        return [self.batch.playing(index) for index in range(self.num_envs)]

    def action_meanings(self, index: int = 0) -> list[str]:
        """Describe each action, using the names in an environment's current scenario."""
        return self.batch.action_meanings(index)

    def _infos(self, illegal: NDArray[np.bool_]) -> dict[str, Any]:
        action_mask = self._masks.take()
        action_mask[...] = self.batch.action_mask_int8
        return {
            "action_mask": action_mask,
            "_action_mask": self._every.copy(),
            "illegal_action": illegal,
            "_illegal_action": self._every.copy(),
        }

    def _final_infos(self, out: BatchStep) -> dict[str, Any]:
        """Return Gymnasium's final entries for episodes that ended in a SAME_STEP step."""
        ended = out.terminations.copy()
        members = ended.nonzero()[0]
        observations = np.empty(self.num_envs, object)  # filled with None
        observations[members] = list(out.final[members])
        pass_only = np.zeros(self.batch.action_mask.shape, np.int8)
        pass_only[:, 0] = ended
        illegal = out.illegal & ended
        out.illegal[members] = False  # no action has been played in the new episodes yet
        infos = {
            "action_mask": pass_only,
            "_action_mask": ended,
            "illegal_action": illegal,
            "_illegal_action": ended.copy(),
        }
        return {
            "final_obs": observations,
            "_final_obs": ended.copy(),
            "final_info": infos,
            "_final_info": ended.copy(),
        }

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each environment, or return an attribute of each.

        Args:
            name: a public name of the single environment, or a name set with `set_attr`.
            args: arguments to pass to the method, the same for each environment.
            kwargs: keyword arguments to pass to the method.

        Returns:
            One result per environment.

        Raises:
            AttributeError: if the name is unknown.
        """
        if name in self._attributes:
            values = self._attributes[name]
            return tuple(each(*args, **kwargs) if callable(each) else each for each in values)
        if name in _EACH:
            return tuple(_EACH[name](self, *args, **kwargs))
        if name in _SHARED:
            return (getattr(self, _SHARED[name]),) * self.num_envs
        names = ", ".join(sorted({*_EACH, *_SHARED, *self._attributes}))
        raise AttributeError(f"name: expected one of {names}, found {name!r}")

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each environment, like `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each environment.

        Args:
            name: ``strict``, or a new name for a value of your own.
            values: a list or tuple with one value per environment, or one value for all.

        Raises:
            AttributeError: if the attribute cannot be changed after construction.
            ValueError: if the number of values is wrong or the values for ``strict`` differ.
        """
        listed = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(listed) != self.num_envs:
            raise ValueError(f"values: expected {self.num_envs}, found {len(listed)}")
        if name == "strict":
            if len({*map(bool, listed)}) > 1:
                raise ValueError(f"strict: expected one value for all environments, found {listed}")
            self.strict = bool(listed[0])
        elif name in _EACH or hasattr(self, name):
            raise AttributeError(f"name: expected strict or a new name, found {name!r}")
        else:
            self._attributes[name] = listed

    def close_extras(self, **kwargs: Any) -> None:
        """Do nothing, since there is nothing to close."""

    def get_state(self) -> dict[str, Any]:
        """Return the complete state of all environments, for `set_state`."""
        return {**self.batch.get_state(), "seeded": self._seeded}

    def set_state(self, state: dict[str, Any]) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Restore a state returned by `get_state` on an environment with the same arguments.

        Returns:
            Observations and infos for that state.

        Raises:
            ValueError: if the state is corrupt or comes from environments with other arguments.
        """
        seeded = part_of_state(state, "seeded", bool)
        self.batch.set_state(state)
        self._seeded = seeded
        out = self.batch.observe()
        return out.observations, self._infos(np.zeros(self.num_envs, np.bool_))


def _single_spec(spec: EnvSpec | None) -> EnvSpec | None:
    """Return a single environment's spec, given the spec of the vector environment."""
    if spec is None:
        return None
    kwargs = {key: value for key, value in spec.kwargs.items() if key not in _BATCH_ARGUMENTS}
    return replace(spec, kwargs=kwargs)


_BATCH_ARGUMENTS = (
    "num_envs", "vectorization_mode", "autoreset_mode", "copy", "final_infos", "max_episode_steps",
)  # fmt: skip
"""Arguments to `gymnasium.make_vec` that `gymnasium.make` does not accept."""
_EACH: dict[str, Callable[..., Iterable[Any]]] = {
    "action_masks": MagicPhaseVectorEnv.action_masks,
    "action_meanings": lambda envs: [envs.action_meanings(i) for i in range(envs.num_envs)],
    "metadata": lambda envs, *_, **__: [dict(_METADATA) for _ in range(envs.num_envs)],
    "named_fields": lambda envs, observation: [
        envs.batch.layout.named_fields(observation) for _ in range(envs.num_envs)
    ],
    "render": lambda envs: envs.render() or [None] * envs.num_envs,
    "scenario": lambda envs, *_, **__: envs.scenarios,
    "spec": lambda envs, *_, **__: [_single_spec(envs.spec)] * envs.num_envs,
}
"""Names from the single environment, each with a function returning one value per environment."""
_SHARED = {
    "action_space": "single_action_space",
    "limits": "limits",
    "observation_space": "single_observation_space",
    "render_mode": "render_mode",
    "seat": "seat",
    "strict": "strict",
}
"""Names from the single environment whose value is shared, each with its name in this class."""


class CasterVectorEnv(MagicPhaseVectorEnv):
    """A vector environment in which you play the first army, which casts in the first phase."""

    seat = 0


class DispellerVectorEnv(MagicPhaseVectorEnv):
    """A vector environment in which you play the second army, which dispels in the first phase."""

    seat = 1
