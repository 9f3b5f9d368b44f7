"""The values of the search players at recorded positions equal the files in `golden/`."""

import json
from typing import Any

import pytest

from .golden import FOLDER, SCENARIOS, file_of, values_of


def test_every_file_is_tested() -> None:
    assert {file_of(name) for name in SCENARIOS} == {*FOLDER.iterdir()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_values_are_those_of_the_file(name: str) -> None:
    expected = json.loads(file_of(name).read_text(encoding="utf-8"))
    for row, found in zip(expected, values_of(name), strict=True):
        assert found.keys() == row.keys(), row["node"]
        for key, values in row.items():
            assert found[key] == _near(values), (row["node"], key)


def _near(values: Any) -> Any:
    return values if isinstance(values, str) else pytest.approx(values, rel=1e-7, abs=1e-7)
