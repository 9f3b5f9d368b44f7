"""Create the registered vector environments, on the CPU or on a device.

Gymnasium imports this module by name. No other module does, since it depends on packages of all
layers.
"""

from importlib import import_module
from typing import Any

from gymnasium.error import DependencyNotInstalled


def caster_vector_env(num_envs: int = 1, **kwargs: Any) -> Any:
    """Return ``wfb_gym/Caster-v0`` as a vector environment, on the CPU or a device."""
    return _vector_env("wfb_gym.envs.vector:CasterVectorEnv", num_envs, **kwargs)


def dispeller_vector_env(num_envs: int = 1, **kwargs: Any) -> Any:
    """Return ``wfb_gym/Dispeller-v0`` as a vector environment, on the CPU or a device."""
    return _vector_env("wfb_gym.envs.vector:DispellerVectorEnv", num_envs, **kwargs)


def battle_vector_env(num_envs: int = 1, **kwargs: Any) -> Any:
    """Return ``wfb_gym/Battle-v0`` as a vector environment, on the CPU or a device."""
    return _vector_env("wfb_gym.envs.battles:BattleVectorEnv", num_envs, **kwargs)


def _vector_env(entry: str, num_envs: int, *, device: str | None = None, **kwargs: Any) -> Any:
    """Return a vector environment; without `device`, it uses NumPy arrays and the CPU.

    Raises:
        gymnasium.error.DependencyNotInstalled: if there is a `device` but no PyTorch.
    """
    module, name = entry.split(":")
    env_class = getattr(import_module(module), name)
    if device is None:
        return env_class(num_envs, **kwargs)
    try:
        from wfb_gym.device.vector import DeviceVectorEnv  # slow import: PyTorch
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
        raise DependencyNotInstalled(
            "device: expected PyTorch, which is not installed; run `pip install 'wfb_gym[train]'`"
        ) from None
    return DeviceVectorEnv(env_class, num_envs, str(device), **kwargs)
