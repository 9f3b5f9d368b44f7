"""Records of compiled code: the typed class and the dtype are one declaration."""

from typing import Annotated, Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from wfb_gym import _records
from wfb_gym._records import (
    Float64,
    Int8,
    Int64,
    Record,
    Records,
    UInt64,
    as_records,
    dtype_of,
    new_records,
)


class Inner(Record):
    small: Int8
    wide: Int64


class Packed(Record, align=False):
    small: Int8
    wide: Int64


class Outer(Record):
    flag: Int8
    one: Inner
    many: Annotated[Records[Inner], 3]
    grid: Annotated[NDArray[np.int16], 2, 4]
    word: UInt64
    share: Float64


def test_a_class_makes_the_dtype_of_its_fields_in_order() -> None:
    inner = np.dtype([("small", "i1"), ("wide", "i8")], align=True)
    fields: list[Any] = [("flag", "i1"), ("one", inner), ("many", inner, (3,))]
    fields += [("grid", "i2", (2, 4)), ("word", "u8"), ("share", "f8")]
    assert dtype_of(Outer) == np.dtype(fields, align=True)
    assert dtype_of(Outer).isalignedstruct
    assert dtype_of(Packed).itemsize == 9 != dtype_of(Inner).itemsize


def test_records_share_the_memory_of_their_array() -> None:
    outer = new_records(Outer, 2)
    outer[1].one.wide = 7
    outer[1].many[2].small = -3
    outer[0].grid[1, 3] = 5
    assert outer["one"]["wide"].tolist() == [0, 7]
    assert outer.many["small"].tolist() == [[0, 0, 0], [0, 0, -3]]
    raw = np.frombuffer(outer.tobytes(), dtype_of(Outer))
    assert as_records(Outer, raw)[0].grid[1, 3] == 5


def test_arrays_may_be_declared_as_numpy_25_spells_them(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = TypeVar("kind", bound=np.generic)
    alias = TypeAliasType("alias", np.ndarray[Any, np.dtype[kind]], type_params=(kind,))
    monkeypatch.setattr(_records, "NDArray", alias)
    later = type("later", (Record,), {"__annotations__": {"grid": Annotated[alias[np.int16], 2]}})
    assert dtype_of(later) == np.dtype([("grid", "i2", (2,))], align=True)


def test_a_field_without_a_size_is_rejected_by_name() -> None:
    for kind in (Any, int, list[str]):
        vague = type("Vague", (Record,), {"__annotations__": {"field": kind}})
        with pytest.raises(TypeError, match=r"Vague\.field: expected a field of a record"):
            dtype_of(vague)
