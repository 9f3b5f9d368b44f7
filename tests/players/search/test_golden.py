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
            assert found[key] == _near(values), (row["node"], key)


def _near(values: Any) -> Any:
    return values if isinstance(values, str) else pytest.approx(values, rel=1e-7, abs=1e-7)
