"""Processor instructions give Python's results, and rules called from Python are not compiled."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfb_gym import _intrinsics
from wfb_gym._compiler import entries, njit_cached
from wfb_gym._jit import jit
from wfb_gym.engine.queries import lowest_bit
from wfb_gym.rules.pools import dispel_dice_of_level

WORDS = st.integers(-(2**63), 2**63 - 1).filter(bool)


@jit
def compiled(word: int) -> int:
    return _intrinsics.trailing_zeros(word)


@given(WORDS)
def test_the_lowest_bit_matches_the_processors(word: int) -> None:
    expected = next(k for k in range(64) if word >> k & 1)
    found = compiled(word), lowest_bit(word), _intrinsics._trailing_zeros_in_python(word)
    assert found == (expected,) * 3


@pytest.mark.skipif(not hasattr(dispel_dice_of_level, "overloads"), reason="without a compiler")
def test_rules_called_from_python_are_not_compiled() -> None:
    brief = njit_cached(dispel_dice_of_level.py_func, is_brief=True)  # type: ignore[attr-defined]
    assert [brief(level) for level in range(5)] == [0, 1, 1, 2, 2]
    assert entries(brief) == []


@jit
def change_items(items: Any, found: Any) -> None:
    found[0] = _intrinsics.load_item(items, 1)
    _intrinsics.store_item(items, 1, 7)
    found[1] = _intrinsics.add_to_item(items, 2, -5)
    found[2] = _intrinsics.replace_item(items, 3, 3, 9)
    found[3] = _intrinsics.replace_item(items, 4, 3, 9)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_atomic_operations_match_python(dtype: Any) -> None:
    items, found = np.arange(6, dtype=dtype), np.zeros(4, np.int64)
    change_items(items, found)
    assert found.tolist() == [1, 2, 1, 0]
    assert items.tolist() == [0, 7, -3, 9, 4, 5]
    items = np.arange(6, dtype=dtype)
    assert _intrinsics._load_item_in_python(items, 1) == 1
    _intrinsics._store_item_in_python(items, 1, 7)
    assert _intrinsics._add_to_item_in_python(items, 2, -5) == 2
    assert _intrinsics._replace_item_in_python(items, 3, 3, 9)
    assert not _intrinsics._replace_item_in_python(items, 4, 3, 9)
    assert items.tolist() == [0, 7, -3, 9, 4, 5]


@jit(nogil=True, forceinline=False)
def count_up(items: Any, times: int) -> None:
    for _ in range(times):
        _intrinsics.add_to_item(items, 0, 1)
        before = _intrinsics.load_item(items, 1)
        while not _intrinsics.replace_item(items, 1, before, before + 1):
            before = _intrinsics.load_item(items, 1)


@pytest.mark.skipif(not hasattr(count_up, "overloads"), reason="without a compiler")
def test_atomic_additions_of_threads_all_count() -> None:
    items = np.zeros(2, np.int64)
    count_up(items, 0)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: count_up(items, 200_000), range(4)))
    assert items.tolist() == [800_000, 800_000]
