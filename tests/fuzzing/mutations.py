"""Documents with one change: one leaf, list or table of nested values, arrays and bytes.

The generators of cases decode a valid input, change it here, and encode it again with its digest.
So the change passes the first checks and reaches the later ones.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.fuzzing.running import Rng

DEEP = "@deep@"
"""A text that `to_json` of the generators replaces by deeply nested lists."""
LONG = 1_000_000
_TEXTS = (
    "", " ", "\x1b[2J\x1b]0;title\x07", "\u202etxt.exe", "two\nlines", "\ud800", "a\x00b", "..",
    "../../x", "x" * 200, "x" * LONG, "caster", "NOMINATE", "0", "nan", "1e999", DEEP,
)  # fmt: skip
_NUMBERS = (
    0, 1, -1, 2, 7, 24, 127, 128, 255, -129, 2**31 - 1, 2**31, -(2**63), 2**63, 10**30, 0.5, -0.0,
    float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, -1e-9,
)  # fmt: skip
_FRACTIONS = (np.nan, np.inf, -np.inf, 1e30, -1e300, -1.0, 0.0, -0.0, 0.5, 1.0, 2.0, 1e-320)
_STOP = 0.15
"""Probability of changing a list or table itself instead of a value in it."""


def pick(rng: Rng, values: Any) -> Any:
    """Return one of some values."""
    return values[int(rng.integers(len(values)))]


def mutated(rng: Rng, value: Any) -> Any:
    """Return a copy of a document with one change; unchanged parts are shared."""
    keys: list[Any] = []
    if isinstance(value, Mapping):
        keys = list(value)
    elif isinstance(value, list | tuple):
        keys = list(range(len(value)))
    if not keys or rng.random() < _STOP:
        return _changed(rng, value)
    key = pick(rng, keys)
    if isinstance(value, tuple):
        return tuple(mutated(rng, each) if at == key else each for at, each in enumerate(value))
    changed = copy.copy(value)
    changed[key] = mutated(rng, value[key])
    return changed


def _changed(rng: Rng, value: Any) -> Any:
    """Return a replacement for a value, mostly of the same type."""
    if rng.random() < 0.1:
        return pick(rng, (None, True, [], {}, "", 0, [[]] * 200_000, {"x": value}, [value] * 2))
    if isinstance(value, np.ndarray):
        return changed_array(rng, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = value + pick(rng, (-2, -1, 1, 2)) if value == value else value
        return near if rng.random() < 0.3 else pick(rng, _NUMBERS)
    if isinstance(value, str):
        return pick(rng, (*_TEXTS, value + "x", value[:-1], value * 2))
    if isinstance(value, bytes):
        return damaged(rng, value)
    if isinstance(value, Mapping):
        return _changed_table(rng, value)
    if isinstance(value, list | tuple):
        return type(value)(_changed_list(rng, list(value)))
    return pick(rng, (None, *_NUMBERS, *_TEXTS))


def _changed_table(rng: Rng, value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    changed = copy.copy(value)
    assert isinstance(changed, dict)
    if not changed or rng.random() < 0.3:
        changed[pick(rng, ("more", "", "\x1b[2J", "a.b", "x" * LONG, "1"))] = pick(rng, _NUMBERS)
        return changed
    key = pick(rng, list(changed))
    kept = changed.pop(key)
    if rng.random() < 0.3:
        changed[f"{key}x"] = kept
    elif rng.random() < 0.3:
        changed |= {f"{key}{k}": kept for k in range(2000)}
    return changed


def _changed_list(rng: Rng, value: list[Any]) -> list[Any]:
    if not value:
        return [pick(rng, (None, 0, "", [], DEEP))] * int(pick(rng, (1, 2, LONG // 10)))
    at = int(rng.integers(len(value)))
    changes = (
        value[:at] + value[at + 1 :],
        value[: at + 1] + value[at:],
        value[:at],
        value[::-1],
        value[:at] + value[at : at + 1] * 2000 + value[at:],
    )
    return changes[int(rng.integers(len(changes)))]


def changed_array(rng: Rng, array: Any) -> Any:
    """Return an array with another element, or of another shape or type."""
    if array.size and rng.random() < 0.75:
        changed = array.copy()
        flat = changed.reshape(-1)
        at = int(rng.integers(flat.size))
        if changed.dtype.names:
            change_leaf(rng, flat[at : at + 1])
        else:
            flat[at] = changed_number(rng, flat[at], flat)
        return changed
    changes = (
        array[:0] if array.ndim else array.reshape(1),
        array[:-1] if array.ndim else array[None, None],
        array[None],
        array.reshape(-1),
        array.T,
        np.concatenate([array, array]) if array.ndim else array,
        array.astype("f8") if not array.dtype.names else array.view(np.uint8),
        array.astype("i1") if array.dtype.kind in "iufb" else array,
        np.array(None, object),
        np.array("x" * 100),
        np.array(0),
        np.zeros(20_000_000, np.int8),
    )
    return changes[int(rng.integers(len(changes)))]


def changed_number(rng: Rng, value: Any, others: Any) -> Any:
    """Return a number of an array's type: near a value, at a bound, or another element."""
    dtype = others.dtype
    if dtype.kind == "f":
        found = pick(rng, (*_FRACTIONS, -float(value), pick(rng, others)))
        with np.errstate(over="ignore", under="ignore"):
            return np.array(found).astype(dtype)
    if dtype.kind == "b":
        return not value
    if dtype.kind not in "iu":
        return np.zeros(1, dtype)[0]
    limits, number = np.iinfo(dtype), int(value)
    candidates = (
        number + pick(rng, (-2, -1, 1, 2)), number ^ (1 << int(rng.integers(limits.bits))),
        int(rng.integers(-2, 30)), int(pick(rng, others)), limits.min, limits.max, 0, 1,
    )  # fmt: skip
    wrapped = pick(rng, candidates) & ((1 << limits.bits) - 1)
    return np.array(wrapped, f"u{dtype.itemsize}").astype(dtype)


def change_leaf(rng: Rng, records: Any, field: str | None = None) -> None:
    """Change one number of structured records in place, in any field unless one is named.

    Half of the changes are of a number that is not 0, if there is one.
    """
    values = records if field is None else records[field]
    while values.dtype.names:
        values = values[pick(rng, values.dtype.names)]
    places = np.argwhere(values)
    if not len(places) or rng.random() < 0.5:
        places = np.argwhere(np.ones(values.shape, np.bool_))
    at = tuple(pick(rng, places))
    values[at] = changed_number(rng, values[at], values.reshape(-1))


def damaged(rng: Rng, content: bytes) -> bytes:
    """Return bytes of which some are cut off, flipped or overwritten."""
    if not content or rng.random() < 0.05:
        return b""
    if rng.random() < 0.3:
        return content[: int(rng.integers(len(content)))]
    changed = bytearray(content)
    if rng.random() < 0.3:
        start = int(rng.integers(len(changed)))
        length = min(int(rng.integers(1, 200)), len(changed) - start)
        changed[start : start + length] = bytes([int(rng.integers(256))]) * length
    for place in rng.integers(0, len(changed), int(rng.integers(1, 20))):
        changed[int(place)] ^= 1 << int(rng.integers(8))
    return bytes(changed)
