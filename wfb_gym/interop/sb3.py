"""Stable-Baselines3: a `VecEnv` for magic phases; see `players.sb3_model` for saved models.

Needs ``pip install "wfb-gym[train]"``.
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
from wfb_gym.seats import seat_number

_MASKS = "action_masks"


class PhaseVecEnv(VecEnv):
    """A Stable-Baselines3 `VecEnv` for magic phases, with action masks for MaskablePPO.

    Ended episodes restart in the same step. After ``seed(s)``, environment i behaves like a single
    environment after ``reset(seed=s + i)``. `reset_infos` is empty; get the legal actions with
    ``env_method("action_masks")``. Train with ``gamma=1``, because battles are undiscounted.

    Args:
        num_envs: number of environments.
        seat: the learner's army: 0 or "caster", 1 or "dispeller".
        scenario: a bundled name, a path, a `Scenario`, or a sequence of these. Environment i plays
            scenario i modulo the number of scenarios.
        opponent: the name of a scripted player, a callable that acts on batches, the path to a
            saved model, or a list of these. With a list, each episode draws one.
        limits: sizes of the spaces. By default, they are fitted to the scenarios.
        history: whether to include the last cast of each spell and the last response to it.
        features: "all", or "raw" for observations in which expected values are 0.
        points_per_reward: number of points that give a reward of 1.
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
        features: str = "all",
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
            history=history,
            features=features,
        )
        self.limits = self.batch.limits
        self.render_mode = None
        self._attributes: dict[str, list[Any]] = {}
        self._actions: NDArray[np.int64] | None = None
        super().__init__(
            num_envs, observation_space(self.batch.layout), action_space(self.batch.codec)
        )

    def reset(self) -> NDArray[np.float32]:
        """Start episodes in all environments; seeds passed to `seed` are used once.

        Returns:
            Observations, float32 (n, size).
        """
        seeds: list[int | None] = self._seeds
        if not self.batch.is_reset and all(seed is None for seed in seeds):
            fresh = np.random.default_rng().integers(2**63, size=self.num_envs)
            seeds = [int(seed) for seed in fresh]
        out = self.batch.reset(np.ones(self.num_envs, np.bool_), seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._actions = None
        return out.observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions for the next step.

        Args:
            actions: integers from the action space, shape (n,).

        Raises:
            RuntimeError: if `reset` has not been called.
            ValueError: if the shape or dtype is wrong or an action is outside the space.
        """
        if not self.batch.is_reset:
            raise RuntimeError("call reset() before step()")
        self._actions = self.batch.as_actions(actions)
        self.batch.check_actions(self._actions, strict=False)

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions stored by `step_async`.

        Returns:
            Observations, rewards, dones and infos. When an episode ends, its info contains
            ``terminal_observation`` and ``TimeLimit.truncated`` (always False). If an illegal
            action was replaced, the info contains ``illegal_action``.
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
        """Return the legal actions, bool (n, actions), with at least one in each row."""
        if not self.batch.is_reset:
            raise RuntimeError("call reset() before action_masks()")
        return self.batch.action_mask.copy()

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> Any:
        """Call a method of the environments; only ``action_masks`` is available.

        Returns:
            The rows of `action_masks` for the chosen environments, as one array.

        Raises:
            AttributeError: if another method is called.
        """
        if method_name != _MASKS:
            raise AttributeError(f"method_name: expected {_MASKS}, found {method_name!r}")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute for each chosen environment, set by `set_attr` or shared by all."""
        chosen = self._get_indices(indices)
        if attr_name in self._attributes:
            values = self._attributes[attr_name]
            return [values[i] for i in chosen]
        shared = getattr(self, attr_name)
        return [shared for _ in chosen]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set a new attribute for the chosen environments; for others, it is None unless set.

        Raises:
            AttributeError: if the attribute is shared by all environments.
        """
        if hasattr(self, attr_name):
            raise AttributeError(
                f"attr_name: expected a new name, found {attr_name!r}, shared by all environments"
            )
        values = self._attributes.setdefault(attr_name, [None] * self.num_envs)
        for i in self._get_indices(indices):
            values[i] = value

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each chosen environment, since none is a Gymnasium environment."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Do nothing, since there is nothing to close."""
