"""Error messages of loaders, scenarios and commands."""

from collections.abc import Callable
from typing import Any

import pytest

from wfb_gym.scenario import ScenarioError, scenario_from_dict


def problem_of(data: Any, load: Callable[[Any], object] = scenario_from_dict) -> str:
    """Return the text of the only problem of a scenario, or of other data that `load` reads."""
    with pytest.raises(ScenarioError) as caught:
        load(data)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value)
