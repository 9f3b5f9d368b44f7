"""Environments' arguments as plain values, which Gymnasium's specs write to JSON and read back.

Environments take these values in place of what they stand for: the path of a file as text, the
document of a scenario, the fields of limits and of generated scenarios, the value of an
enumeration's member. Callables, agents and models in memory have no such value.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec

from wfb_gym.encoding.limits import ArmyLimits, Limits
from wfb_gym.scenario import Scenario

_SPEC = "_spec"


def plain_value(argument: Any) -> Any:
    """Return an environment's argument as JSON has it; unchanged if there is no such value."""
    if argument is None or isinstance(argument, str | int | float):
        return argument
    if isinstance(argument, list | tuple):
        return [plain_value(each) for each in argument]
    if isinstance(argument, Mapping):
        return {key: plain_value(each) for key, each in argument.items()}
    if isinstance(argument, Scenario):
        return argument.model_dump(mode="json")
    if isinstance(argument, os.PathLike):
        path = Path(argument)
        in_here = path.name == str(path)  # as a text it could be a name
        return f"{os.curdir}{os.sep}{path}" if in_here else str(path)
    if isinstance(argument, Enum):
        return argument.value
    if isinstance(argument, np.generic):
        return argument.item()
    from wfb_gym.generating import Generated  # brings the army lists

    return plain_value(asdict(argument)) if isinstance(argument, Limits | Generated) else argument


def as_limits(limits: Limits | Mapping[str, Any] | None) -> Limits | None:
    """Return limits, also from their plain value.

    Raises:
        ValueError: a mapping has other keys than the fields of limits.
    """
    if not isinstance(limits, Mapping):
        return limits
    try:
        sizes: dict[str, Any] = {
            name: ArmyLimits(**value) if isinstance(value, Mapping) else value
            for name, value in limits.items()
        }
        return Limits(**sizes)
    except TypeError:
        raise ValueError(f"limits: expected the fields of Limits, found {limits!r}") from None


def _get_spec(env: Any) -> EnvSpec | None:
    spec: EnvSpec | None = vars(env).get(_SPEC)
    return spec


def _set_spec(env: Any, spec: EnvSpec | None) -> None:
    vars(env)[_SPEC] = spec and replace(spec, kwargs=plain_value(spec.kwargs))


plain_spec: Any = property(_get_spec, _set_spec)
"""An environment's attribute `spec`: Gymnasium sets it, with the arguments as they were given."""
