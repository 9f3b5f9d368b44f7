"""The native Gymnasium vector environment: thousands of phases in one process.

Spaces, infos and autoreset as Gymnasium's documentation has them; the stepping is
`wfb_gym.envs.batch`'s.
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
    """Many magic phases side by side; see `wfb_gym.envs.single` for observations and actions.

    Args:
        num_envs: how many environments.
        scenario: a bundled name, a path, a `Scenario`, or a sequence of these, which the
            environments take in turn.
        opponent: a scripted player's name, a callable over batches, a saved model's path, or
            a list of these, of which one is drawn for each episode.
        limits: sizes of the spaces; fitted to the scenarios unless given.
        history: observations also tell how each spell was last cast and answered, for policies
            without a memory where items are hidden.
        autoreset_mode: when ended episodes begin anew.
        points_per_reward: points that make a reward of 1.
        strict: raise on illegal actions instead of replacing them.
        copy: as of Gymnasium's `SyncVectorEnv`. If False, a step writes observations and action
            masks into the arrays of the step before, which saves memory and, in large batches,
            time: copy what must outlast a step.
        final_infos: whether SAME_STEP steps report how episodes ended, in ``final_obs`` and
            ``final_info``, as Gymnasium does. Episodes are never truncated, so few learners need
            it. Without it steps are faster, and ``illegal_action`` covers ended episodes too.
        render_mode: None, "ansi" or "rgb_array", as of single environments. Every environment is
            described step by step in Python, so this is for a few of them.
        max_episode_steps: None or -1. The argument is here because `gymnasium.make_vec` passes it;
            a limit raises, as this environment has no truncation.

    Attributes:
        autoreset_mode: as given, a member of `AutoresetMode`.
        copy: as given.

    Raises:
        ValueError: an argument is none of these.
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
            points_per_reward, history,
        )  # fmt: skip
        self.num_envs = num_envs
        self.render_mode = render_mode
        if render_mode is not None:
            self.batch.watcher = BatchWatcher(num_envs)
        self.strict = strict
        self.autoreset_mode, self.copy = mode, copy
        self.metadata = {**type(self).metadata, "autoreset_mode": mode}
        self._reports_final = final_infos and mode == AutoresetMode.SAME_STEP
        self._attributes: dict[str, list[Any]] = {}  # by `set_attr`
        self.limits = self.batch.limits
        self.single_observation_space = observation_space(self.batch.layout)
        self.single_action_space = action_space(self.batch.codec)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.batch.share_outputs(not copy)
        self._masks = RecycledArrays(self.batch.allowed.shape, np.int8, is_shared=not copy)
        self._every = np.ones(num_envs, np.bool_)
        self._seeded = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin episodes: all of them, or those of ``options["reset_mask"]``.

        Args:
            seed: environment i gets seed + i and plays what a single environment does under
                that seed; a sequence gives one for each; None goes on with the dice as they
                come.
            options: ``reset_mask``, bool, shape (n,): reset only these, as DISABLED mode needs;
                other keys are ignored. The mapping is not changed.

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
        """Return the environments' seeds, and Gymnasium's generator with its own.

        An environment that is not chosen keeps its dice, but all get some by the first reset.
        """
        generator: tuple[Any, Any] = self._np_random, self._np_random_seed
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            if seed < 0:  # Gymnasium's generator would raise no ValueError, as other seeds here do
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
            seeds = [*generator[0].integers(2**63, size=self.num_envs).tolist()]
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
            actions: integers, shape (n,), members of the action space.

        Returns:
            Observations, float32 (n, size), rewards, float64 (n,), terminations and truncations,
            bool (n,), the latter never True, and infos.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called.
            ValueError: wrong shape or dtype, an action outside the space, or an illegal one
                under `strict`.
        """
        if not self.batch.begun:
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
        """Return a frame of every environment, as `MagicPhaseEnv.render` does; None without a mode.

        Where an episode has ended and the next has begun in the same step, the frame shows both.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called.
            gymnasium.error.DependencyNotInstalled: what draws pictures is missing.
        """
        if self.render_mode is None:
            return None
        if not self.batch.begun:
            raise gym.error.ResetNeeded("Cannot call env.render() before calling env.reset()")
        return draw_frames(self.batch, self.render_mode)

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions of each environment, bool (n, actions); at least one in each row."""
        if not self.batch.begun:
            raise gym.error.ResetNeeded("Cannot call action_masks() before calling env.reset()")
        return self.batch.allowed.copy()

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios that the environments play now, one of each environment."""
        return [self.batch.playing(index) for index in range(self.num_envs)]

    def action_meanings(self, index: int = 0) -> list[str]:
        """Return what each action means in the scenario that an environment plays now, in words."""
        return self.batch.action_meanings(index)

    def _infos(self, illegal: NDArray[np.bool_]) -> dict[str, Any]:
        allowed = self._masks.take()
        allowed[...] = self.batch.allowed_as_int8
        return {
            "action_mask": allowed,
            "_action_mask": self._every.copy(),
            "illegal_action": illegal,
            "_illegal_action": self._every.copy(),
        }

    def _final_infos(self, out: BatchStep) -> dict[str, Any]:
        """Return Gymnasium's entries of the episodes that ended in a SAME_STEP step."""
        ended = out.terminations.copy()
        members = ended.nonzero()[0]
        observations = np.empty(self.num_envs, object)  # of None
        observations[members] = list(out.final[members])
        pass_only = np.zeros(self.batch.allowed.shape, np.int8)
        pass_only[:, 0] = ended
        illegal = out.illegal & ended
        out.illegal[members] = False  # the new episodes' first actions are still to come
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
            name: a public name of the single environment, or one given to `set_attr`.
            args: for the method; they are the same for each environment.
            kwargs: as args.

        Returns:
            What each environment returns.

        Raises:
            AttributeError: environments of a batch have no such name.
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
        """Return an attribute of each environment, as `call` does."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each environment.

        Args:
            name: ``strict``, or a new name for values of the caller.
            values: a list or tuple with one for each environment, or one value for all.

        Raises:
            AttributeError: the attribute is fixed when the batch is made.
            ValueError: not one value for each environment, or different ones for ``strict``.
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
        """Nothing to close; takes what other vector environments take."""

    def get_state(self) -> dict[str, Any]:
        """Everything that the environments' futures depend on; see `set_state`."""
        return {**self.batch.get_state(), "seeded": self._seeded}

    def set_state(self, state: dict[str, Any]) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Go back to a state that `get_state` of an equal environment gave.

        Returns:
            Observations and infos as they were then.

        Raises:
            ValueError: the state is of another number or kind of environments.
        """
        seeded = part_of_state(state, "seeded", bool)
        self.batch.set_state(state)
        self._seeded = seeded
        out = self.batch.look()
        return out.observations, self._infos(np.zeros(self.num_envs, np.bool_))


def _single_spec(spec: EnvSpec | None) -> EnvSpec | None:
    """Return the specification of one environment of a batch that `gymnasium.make_vec` made."""
    if spec is None:
        return None
    kwargs = {key: value for key, value in spec.kwargs.items() if key not in _BATCH_ARGUMENTS}
    return replace(spec, kwargs=kwargs)


_BATCH_ARGUMENTS = (
    "num_envs", "vectorization_mode", "autoreset_mode", "copy", "final_infos", "max_episode_steps",
)  # fmt: skip
"""Arguments of `gymnasium.make_vec` that `gymnasium.make` does not take."""
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
"""Names of the single environment, and how a batch makes one value for each environment."""
_SHARED = {
    "action_space": "single_action_space",
    "limits": "limits",
    "observation_space": "single_observation_space",
    "render_mode": "render_mode",
    "seat": "seat",
    "strict": "strict",
}
"""Names of the single environment whose value all environments share, and the batch's names."""


class CasterVectorEnv(MagicPhaseVectorEnv):
    """The first army's seat: it casts first."""

    seat = 0


class DispellerVectorEnv(MagicPhaseVectorEnv):
    """The other army's seat: it dispels first."""

    seat = 1
