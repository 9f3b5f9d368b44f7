"""Records of compiled code, declared as typed classes.

A class lists the fields of a record. `dtype_of` makes its NumPy dtype, and type checkers treat the
class as the type of the record. The classes have no instances: compiled code reads and writes
`np.record`s of these dtypes, and `Records[State]` is the type of a record array.
"""

from collections.abc import Iterator
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import numpy as np
from numpy.typing import NDArray

R = TypeVar("R", bound="Record")

Int8 = Annotated[int, np.int8]
Int16 = Annotated[int, np.int16]
Int32 = Annotated[int, np.int32]
Int64 = Annotated[int, np.int64]
UInt64 = Annotated[np.uint64, np.uint64]
Float64 = Annotated[float, np.float64]


class Record:
    """Base of the record classes, with the methods of `np.record`."""

    aligned: ClassVar[bool] = True  # whether fields have the padding of a C compiler

    def __init_subclass__(cls, align: bool = True) -> None:
        cls.aligned = align

    if TYPE_CHECKING:

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...
        def tobytes(self) -> bytes: ...
        def setfield(self, value: Any, dtype: Any, offset: int) -> None: ...
        @property
        def data(self) -> memoryview: ...
        @property
        def dtype(self) -> np.dtype[Any]: ...


class Records(Generic[R]):
    """Type of a record array (`np.recarray`) with records `R`; only for annotations.

    An integer index returns a record that shares the array's memory, a field name returns a column.
    """

    if TYPE_CHECKING:
        shape: tuple[int, ...]
        size: int
        dtype: np.dtype[Any]
        data: memoryview

        @overload
        def __getitem__(self, index: int | np.integer[Any]) -> R: ...
        @overload
        def __getitem__(self, index: str) -> NDArray[Any]: ...
        @overload
        def __getitem__(self, index: slice | NDArray[Any] | list[int]) -> "Records[R]": ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[R]: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
        def __getattr__(self, column: str) -> NDArray[Any]: ...
        def __setattr__(self, column: str, value: Any) -> None: ...
        def copy(self) -> "Records[R]": ...
        def tobytes(self) -> bytes: ...


_DTYPES: dict[type, np.dtype[Any]] = {}
_RECORD_DTYPES: dict[type, np.dtype[Any]] = {}


def dtype_of(record: type[Record]) -> np.dtype[Any]:
    """Return the dtype of a record class.

    Args:
        record: a class whose annotations are number types of this module, `Annotated[NDArray[T], n,
            m]` for an array of shape (n, m), a record class, or `Annotated[Records[C], n]` for n
            records.

    Raises:
        TypeError: if an annotation is none of these, or a name is an attribute of `np.record`,
            which would hide the field from code that is not compiled.
    """
    if record not in _DTYPES:  # reading annotations is slow
        fields = get_type_hints(record, include_extras=True)
        fields.pop("aligned")
        dtypes = [(name, *_field(record, name, kind)) for name, kind in fields.items()]
        _DTYPES[record] = np.dtype(dtypes, align=record.aligned)
    return _DTYPES[record]


def _field(record: type[Record], name: str, kind: Any) -> tuple[Any, ...]:
    """Return the dtype of a field and, for an array, its shape."""
    if hasattr(np.record, name):
        raise TypeError(f"{record.__name__}.{name}: expected another name than np.record.{name}")
    if isinstance(kind, type) and issubclass(kind, Record):
        return (dtype_of(kind),)
    if get_origin(kind) is Annotated:
        inner, *rest = get_args(kind)
        origin = get_origin(inner)
        if origin is Records:
            return dtype_of(get_args(inner)[0]), tuple(rest)
        if origin is np.ndarray:  # NDArray[T] is an alias up to NumPy 2.4
            return get_args(get_args(inner)[1])[0], tuple(rest)
        if origin is NDArray:
            return get_args(inner)[0], tuple(rest)
        if rest and isinstance(rest[0], type):
            return (rest[0],)
    raise TypeError(f"{record.__name__}.{name}: expected a field of a record, found {kind!r}")


def new_records(record: type[R], count: int) -> Records[R]:
    """Return a record array of zeros, shape (count,)."""
    if record not in _RECORD_DTYPES:  # otherwise NumPy would build the dtype for each array
        _RECORD_DTYPES[record] = np.dtype((np.record, dtype_of(record)))
    return cast("Records[R]", np.zeros(count, _RECORD_DTYPES[record]).view(np.recarray))


def as_records(record: type[R], array: Any) -> Records[R]:
    """View an array of `dtype_of(record)` as records that share its memory."""
    return cast("Records[R]", array.view(np.recarray))
