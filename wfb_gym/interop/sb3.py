"""Stable-Baselines3: the batch as its `VecEnv`; its saved models are `players.sb3_model`'s.

Imported only on use; needs ``pip install "wfb-gym[train]"``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices
except ImportError as error:
    raise ImportError(
        'wfb_gym.interop.sb3 needs stable-baselines3 and sb3-contrib: pip install "wfb-gym[train]"'
    ) from error

from wfb_gym.encoding.limits import Limits
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.envs.scenario_set import ScenarioLike
from wfb_gym.envs.spaces import action_space, observation_space
from wfb_gym.players.interface import Opponent
from wfb_gym.players.sb3_model import load_policy
from wfb_gym.seats import seat_number

__all__ = ["PhaseVecEnv", "load_policy"]

_MASKS = "action_masks"


class PhaseVecEnv(VecEnv):
    """Many magic phases as one Stable-Baselines3 `VecEnv`; masks as MaskablePPO asks for them.

    Ended episodes begin anew in the same step. Environment i of ``seed(s)`` plays what a single
    environment does after ``reset(seed=s + i)``. `reset_infos` stay empty; the legal actions
    come from ``env_method("action_masks")``. Train with ``gamma=1``: battles are undiscounted.

    Args:
        num_envs: how many environments.
        seat: the learner's army: 0 or "caster", 1 or "dispeller".
        scenario: a bundled name, a path, a `Scenario`, or a sequence of these, which the
            environments take in turn.
        opponent: a scripted player's name, a callable over batches, a saved model's path, or a
            list of these, of which one is drawn for each episode.
        limits: sizes of the spaces; fitted to the scenarios unless given.
        history: observations also tell how each spell was last cast and answered.
        points_per_reward: points that make a reward of 1.
    """

    def __init__(
        self,
        num_envs: int,
        seat: int | str = 0,
        *,
        scenario: ScenarioLike | Sequence[ScenarioLike] = "archmage-duel",
        opponent: Opponent | Sequence[Opponent] = "veteran",
        limits: Limits | None = None,
        history: bool = False,
        points_per_reward: float = 100.0,
    ) -> None:
        self.batch = Batch(
            num_envs,
            scenario,
            seat_number(seat),
            opponent,
            limits,
            Autoreset.SAME_STEP,
            points_per_reward,
            history,
        )
        self.limits = self.batch.limits
        self.render_mode = None
        self._attributes: dict[str, list[Any]] = {}
        self._actions: NDArray[np.int64] | None = None
        super().__init__(
            num_envs, observation_space(self.batch.layout), action_space(self.batch.codec)
        )

    def reset(self) -> NDArray[np.float32]:
        """Begin episodes everywhere; seeds given by `seed` apply now, once.

        Returns:
            Observations, float32 (n, size).
        """
        seeds: list[int | None] = self._seeds
        if not self.batch.begun and all(seed is None for seed in seeds):
            fresh = np.random.default_rng().integers(2**63, size=self.num_envs)
            seeds = [int(seed) for seed in fresh]
        out = self.batch.reset(np.ones(self.num_envs, np.bool_), seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._actions = None
        return out.observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions of the next step.

        Args:
            actions: integers, shape (n,), members of the action space.

        Raises:
            RuntimeError: `reset` was not called.
            ValueError: wrong shape or dtype, or an action outside the space.
        """
        if not self.batch.begun:
            raise RuntimeError("call reset() before step()")
        self._actions = self.batch.as_actions(actions)
        self.batch.check_actions(self._actions, strict=False)

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions that `step_async` took.

        Returns:
            Observations, rewards, dones and infos. An ended episode's info has its
            ``terminal_observation`` and ``TimeLimit.truncated``, which is always False; an
            illegal action, which was replaced, sets ``illegal_action``.
        """
        if self._actions is None:
            raise RuntimeError("call step_async() before step_wait()")
        out = self.batch.step(self._actions)
        self._actions = None
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(out.terminations)
        for i, final in zip(ended.tolist(), out.final[ended], strict=True):
            infos[i]["terminal_observation"] = final
            infos[i]["TimeLimit.truncated"] = False
        for i in np.flatnonzero(out.illegal).tolist():
            infos[i]["illegal_action"] = True
        return out.observations, out.rewards.astype(np.float32), out.terminations, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions of each environment, bool (n, actions); at least one in each row."""
        if not self.batch.begun:
            raise RuntimeError("call reset() before action_masks()")
        return self.batch.allowed.copy()

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> Any:
        """Call a method of environments: ``action_masks`` is the one they have.

        Returns:
            The chosen environments' rows of `action_masks`, as one array.

        Raises:
            AttributeError: another method.
        """
        if method_name != _MASKS:
            raise AttributeError(f"the environments have no method {method_name!r}, only {_MASKS}")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def has_attr(self, attr_name: str) -> bool:
        """Whether the environments have an attribute; asks none of them."""
        return attr_name in self._attributes or hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of each chosen environment: its own by `set_attr`, or the shared."""
        chosen = self._get_indices(indices)
        if attr_name in self._attributes:
            values = self._attributes[attr_name]
            return [values[i] for i in chosen]
        shared = getattr(self, attr_name)
        return [shared for _ in chosen]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Attach a value to environments; those not chosen keep theirs, None if they had none.

        Raises:
            AttributeError: all environments share this attribute, so it cannot be set.
        """
        if hasattr(self, attr_name):
            raise AttributeError(f"{attr_name!r} is shared by all environments and cannot be set")
        values = self._attributes.setdefault(attr_name, [None] * self.num_envs)
        for i in self._get_indices(indices):
            values[i] = value

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each chosen environment: there is nothing inside to wrap."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to close."""
