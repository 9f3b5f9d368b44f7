"""Convert environment arguments to plain values so that Gymnasium specs can be written as JSON.

Environments also accept these plain values: a path as a string, a scenario's document, the fields
of `Limits` or `Generated`, and the value of an enum member. Callables, agents and models in memory
have no plain value.
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
    """Return an argument as a JSON value, or unchanged if it has none."""
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
        in_here = path.name == str(path)  # without "./", it could be the name of a scenario
        return f"{os.curdir}{os.sep}{path}" if in_here else str(path)
    if isinstance(argument, Enum):
        return argument.value
    if isinstance(argument, np.generic):
        return argument.item()
    from wfb_gym.generating import Generated  # slow import: it loads the army lists

    return plain_value(asdict(argument)) if isinstance(argument, Limits | Generated) else argument


def as_limits(limits: Limits | Mapping[str, Any] | None) -> Limits | None:
    """Return limits given as a `Limits` or as its plain value.

    Raises:
        ValueError: if a mapping's keys are not the fields of `Limits`.
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
"""The `spec` attribute of environments, which stores the arguments as plain values."""
