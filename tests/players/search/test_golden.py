"""The values of the search players at recorded positions equal those in `golden.json`."""

import json
from typing import Any

import pytest

from .golden import FILE, SCENARIOS, values_of

GOLDEN = json.loads(FILE.read_text(encoding="utf-8"))


def test_every_value_is_tested() -> None:
    assert list(GOLDEN) == list(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_values_are_those_of_the_file(name: str) -> None:
    for row, found in zip(GOLDEN[name], values_of(name), strict=True):
        assert found.keys() == row.keys(), row["node"]
        for key, values in row.items():
            assert found[key] == _near(values) or _are_tied(row, found, key), (row["node"], key)


def _are_tied(row: Any, found: Any, key: str) -> bool:
    """Return whether the actions differ, but expectimax gives both the same value.

    The last bits of the values, which depend on the processor, then decide between them.
    """
    if key != "mcts":
        return False
    values = row["expectimax"]
    return bool(values[str(found[key])] == pytest.approx(values[str(row[key])], rel=1e-7, abs=1e-7))


def _near(values: Any) -> Any:
    return values if isinstance(values, str) else pytest.approx(values, rel=1e-7, abs=1e-7)
