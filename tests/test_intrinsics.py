"""What the processor does is what Python does, and rules that Python calls are not compiled."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfb_gym._compiler import entries, njit_cached
from wfb_gym._intrinsics import _trailing_zeros_in_python, trailing_zeros
from wfb_gym._jit import jit
from wfb_gym.engine.queries import lowest
from wfb_gym.rules.pools import dispel_dice_of_level

WORDS = st.integers(-(2**63), 2**63 - 1).filter(bool)


@jit
def compiled(word: int) -> int:
    return trailing_zeros(word)


@settings(deadline=None)  # the first example compiles
@given(WORDS)
def test_the_lowest_bit_is_that_of_the_processor(word: int) -> None:
    expected = next(k for k in range(64) if word >> k & 1)
    assert compiled(word) == lowest(word) == _trailing_zeros_in_python(word) == expected


@pytest.mark.skipif(not hasattr(dispel_dice_of_level, "overloads"), reason="without a compiler")
def test_a_rule_that_python_calls_is_not_compiled() -> None:
    brief = njit_cached(dispel_dice_of_level.py_func, is_brief=True)  # type: ignore[attr-defined]
    assert [brief(level) for level in range(5)] == [0, 1, 1, 2, 2]
    assert entries(brief) == []
