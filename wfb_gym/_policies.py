"""Where rooms below the players find one: the package hands their registry's function in."""

from collections.abc import Callable
from typing import Any

resolve_policy: Callable[..., Any]
"""`wfb_gym.players.registry.resolve_policy`, whose package is imported when it is first called."""
