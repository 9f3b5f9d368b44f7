"""A Gymnasium vector environment with tensors on a GPU."""

from collections.abc import Sequence
from typing import Any

import torch
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv

from wfb_gym.device.batch import DeviceBatch, DeviceStep
from wfb_gym.envs.specs import plain_spec
from wfb_gym.envs.vector import MagicPhaseVectorEnv

_ON_CPU = {"strict": False, "render_mode": None}
"""Arguments of the environment on the CPU that a device does not have, with their defaults."""
_ALWAYS = {"copy": False, "final_infos": False}
"""Arguments of the environment on the CPU that a device always has."""


class DeviceVectorEnv(VectorEnv[torch.Tensor, torch.Tensor, torch.Tensor]):
    """A vector environment whose observations, rewards and infos are tensors on a device.

    It has the same spaces and values as the environment on the CPU with ``copy=False`` and
    ``final_infos=False``: every step overwrites the tensors of the previous one, and
    ``illegal_action`` includes the last actions of ended episodes. Steps do not wait for the GPU,
    so only the next call of `check`, `reset` or `get_state` reports an action outside the space.

    Args:
        env_class: class of the environment on the CPU.
        num_envs: number of environments.
        device: see `wfb_gym.device.batch.DeviceBatch`.
        **kwargs: arguments of the environment on the CPU.

    Raises:
        ValueError: if an argument is invalid, or not available on a device.
        KernelError: if there is no such GPU.
    """

    spec = plain_spec

    def __init__(
        self, env_class: type[MagicPhaseVectorEnv], num_envs: int, device: str, **kwargs: Any
    ) -> None:
        for name, default in _ON_CPU.items():
            if kwargs.get(name, default) != default:
                raise ValueError(f"{name}: expected no value with device=, found {kwargs[name]!r}")
        for name, value in _ALWAYS.items():
            if kwargs.setdefault(name, value) != value:
                raise ValueError(f"{name}: expected {value} with device=, found {kwargs[name]!r}")
        self._env = env = env_class(num_envs, **kwargs)
        self.batch = DeviceBatch.of(env.batch, device)
        self.num_envs, self.limits, self.seat = num_envs, env.limits, env.seat
        self.metadata, self.autoreset_mode = env.metadata, env.autoreset_mode
        self.single_observation_space = env.single_observation_space
        self.single_action_space = env.single_action_space
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self._truncations = torch.zeros(num_envs, dtype=torch.bool, device=self.batch.device)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Start episodes; see `MagicPhaseVectorEnv.reset`. ``reset_mask`` may be a tensor.

        Returns:
            Observations, float32 (n, size), and infos with ``action_mask``, bool (n, actions), and
            ``illegal_action``, bool (n,).
        """
        if self.batch.host.is_reset:
            self.batch.download()
        mask = (options or {}).get("reset_mask")
        if isinstance(mask, torch.Tensor):
            options = {"reset_mask": mask.cpu().numpy()}
        self._env.reset(seed=seed, options=options)
        out = self.batch.upload()
        return out.observations, self._infos(out)

    def step(
        self, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Play one action in every environment.

        Args:
            actions: integers from the action space, (n,), on the device.

        Returns:
            Observations, float32 (n, size), rewards, float64 (n,), terminations, bool (n,),
            truncations, bool (n,), which are always False, and infos. In SAME_STEP mode,
            ``final_obs``, float32 (n, size), contains the last observations of the episodes in
            ``_final_obs``, bool (n,); its other rows are undefined.

        Raises:
            gymnasium.error.ResetNeeded: if `reset` has not been called.
            ValueError: if the shape or dtype is wrong.
        """
        if not self.batch.host.is_reset:
            raise ResetNeeded("Cannot call env.step() before calling env.reset()")
        out = self.batch.step(actions)
        infos = self._infos(out)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            infos.update(final_obs=out.final, _final_obs=out.terminations)
        return out.observations, out.rewards, out.terminations, self._truncations, infos

    def _infos(self, out: DeviceStep) -> dict[str, Any]:
        return {"action_mask": out.action_mask, "illegal_action": out.illegal}

    def check(self) -> None:
        """Wait for the device, and raise an error if a step failed; see `DeviceBatch.check`."""
        self.batch.check()

    def action_masks(self) -> torch.Tensor:
        """Return the legal actions, bool (n, actions), with at least one in each row."""
        return self.batch.step_results.action_mask.clone()

    def action_meanings(self, index: int = 0) -> list[str]:
        """Describe each action, using the names in an environment's current scenario."""
        self.batch.download()
        return self._env.action_meanings(index)

    def get_state(self) -> dict[str, Any]:
        """Return the complete state, which the environment on the CPU accepts, too."""
        self.batch.download()
        return self._env.get_state()

    def set_state(self, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Restore a state of an environment with the same arguments, on a device or the CPU.

        Returns:
            Observations and infos for that state.

        Raises:
            ValueError: if the state is corrupt or comes from environments with other arguments.
        """
        self._env.set_state(state)
        out = self.batch.upload()
        return out.observations, self._infos(out)

    def close_extras(self, **kwargs: Any) -> None:
        """Do nothing, since there is nothing to close."""
