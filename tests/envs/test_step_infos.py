"""Infos whose costly entries are made late look like any other dict to whoever reads them."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from wfb_gym.envs.vector import StepInfos

WHOLE = {"there": 1, "late": 2, "later": 3}


def infos() -> StepInfos:
    return StepInfos({"there": 1}, {"late": lambda: 2, "later": lambda: 3})


@pytest.mark.parametrize(
    "read",
    [
        dict,
        lambda d: {**d},
        lambda d: dict(d.items()),
        lambda d: dict(zip(d, d.values(), strict=True)),
        lambda d: {key: d[key] for key in d},
        lambda d: {key: d.get(key) for key in d},
        lambda d: {key: d.setdefault(key, 7) for key in WHOLE},
        lambda d: {key: d.pop(key) for key in WHOLE},
        lambda d: d.copy(),
        copy.copy,
        copy.deepcopy,
        lambda d: pickle.loads(pickle.dumps(d)),
        lambda d: {} | d,
    ],
)
def test_every_way_of_reading_sees_the_entries(read: Callable[[StepInfos], dict[str, Any]]) -> None:
    assert read(infos()) == WHOLE


def test_what_is_printed_is_a_dicts() -> None:
    assert (str(infos()), repr(infos()), f"{infos()}") == (str(WHOLE),) * 3


def test_entries_are_made_once_and_only_when_read() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [0]

    some = StepInfos({"there": 1}, {"late": make})
    assert "late" in some
    assert len(some) == 2
    assert some["there"] == 1
    assert made == []
    first = some["late"]
    assert some["late"] is first
    assert made == [1]


def test_equality_and_missing_keys() -> None:
    assert infos() == WHOLE
    assert infos() != {"there": 1}
    assert infos().get("none", 5) == 5
    assert infos().pop("none", 6) == 6
    with pytest.raises(KeyError):
        infos()["none"]


def test_a_written_entry_replaces_a_late_one() -> None:
    some = infos()
    some["late"] = 9
    assert dict(some) == {**WHOLE, "late": 9}
