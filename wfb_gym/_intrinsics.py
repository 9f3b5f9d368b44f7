"""Processor instructions that Numba does not provide.

Threads share the words and values in memory. Addresses point into NumPy arrays that the caller must
keep alive. All accesses to words and array items are atomic and sequentially consistent. Under
``NUMBA_DISABLE_JIT=1`` there are no such threads. In that case only `trailing_zeros` and the
functions for array items work, and the latter are plain Python.
"""

import platform
from collections.abc import Callable
from typing import Any

import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, errors, types
from numba.np.arrayobj import populate_array

intrinsic: Callable[[Any], Callable[..., Any]] = numba.extending.intrinsic

ROOM = 4096
"""Maximum size of a stored value, in bytes."""
_WORD = ir.IntType(64)
_ORDER = "seq_cst"
_PAUSES = platform.machine() in ("x86_64", "AMD64")
_IS_PLAIN = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]


@intrinsic
def _count_trailing_zeros(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _trailing_zeros_in_python(word: int) -> int:
    return (int(word) & -int(word)).bit_length() - 1


trailing_zeros: Callable[[int], int] = (
    _trailing_zeros_in_python if _IS_PLAIN else _count_trailing_zeros
)
"""Return the index of the lowest set bit in an int64, which must not be 0."""


@intrinsic
def _stack_floats(typing: Any, size: Any) -> Any:
    if not isinstance(size, types.IntegerLiteral):
        raise errors.RequireLiteralValue("size: expected a constant")
    kind, items = types.Array(types.float64, 1, "C"), size.literal_value

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), items))
        array = context.make_array(kind)(context, builder)
        populate_array(
            array, data=builder.bitcast(data, ir.DoubleType().as_pointer()),
            shape=[context.get_constant(types.intp, items)],
            strides=[context.get_constant(types.intp, 8)],
            itemsize=context.get_constant(types.intp, 8), meminfo=None,
        )  # fmt: skip
        return array._getvalue()  # noqa: SLF001 - as in Numba's own functions

    return kind(size), generate


stack_floats: Callable[[int], Any] = np.empty if _IS_PLAIN else _stack_floats
"""Return an uninitialised float64 array, (size,), on the stack of the calling function.

The size must be a constant. Nothing is allocated, so the array must not be returned.
"""


@intrinsic
def _copy_record(typing: Any, target: Any, source: Any) -> Any:
    if target.size % 8 or not target.aligned or target != source:
        raise errors.TypingError("copy_record: expected two aligned records of the same type")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        words = ir.ArrayType(_WORD, target.size // 8).as_pointer()
        to, origin = (builder.bitcast(value, words) for value in values)
        for k in range(target.size // 8):
            at = [ir.Constant(ir.IntType(32), 0), ir.Constant(ir.IntType(32), k)]
            word = builder.load(builder.gep(origin, at, inbounds=True), align=8)
            builder.store(word, builder.gep(to, at, inbounds=True), align=8)
        return context.get_dummy_value()

    return types.void(target, source), generate


def _copy_record_in_python(target: Any, source: Any) -> None:
    for name in target.dtype.names:
        target[name] = source[name]


copy_record: Callable[[Any, Any], None] = _copy_record_in_python if _IS_PLAIN else _copy_record
"""Copy a record to another one of the same type, word by word.

An assignment assumes no alignment, so a GPU would copy byte by byte.
"""


@intrinsic
def load_record_word(typing: Any, record: Any, index: Any) -> Any:
    """Return a 64-bit word of a record. Not available under ``NUMBA_DISABLE_JIT=1``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        words = builder.bitcast(values[0], _WORD.as_pointer())
        return builder.load(builder.gep(words, [values[1]]), align=8)

    return types.int64(record, types.int64), generate


@intrinsic
def store_record_word(typing: Any, record: Any, index: Any, word: Any) -> Any:
    """Write a 64-bit word of a record. Not available under ``NUMBA_DISABLE_JIT=1``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        words = builder.bitcast(values[0], _WORD.as_pointer())
        builder.store(values[2], builder.gep(words, [values[1]]), align=8)
        return context.get_dummy_value()

    return types.void(record, types.int64, types.int64), generate


def _pointer(builder: Any, address: Any, kind: Any = _WORD) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def load_word(typing: Any, address: Any) -> Any:
    """Return the 64-bit integer at an address."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(_pointer(builder, values[0]), _ORDER, 8)

    return types.int64(types.int64), generate


@intrinsic
def store_word(typing: Any, address: Any, word: Any) -> Any:
    """Write a 64-bit integer to an address."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store_atomic(values[1], _pointer(builder, values[0]), _ORDER, 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def add_to_word(typing: Any, address: Any, added: Any) -> Any:
    """Add to the 64-bit integer at an address and return its old value."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, values[0]), values[1], _ORDER)

    return types.int64(types.int64, types.int64), generate


def _item(context: Any, builder: Any, signature: Any, values: Any) -> tuple[Any, int]:
    """Return a pointer to an array item and its size in bytes; `values` are array and index."""
    kind = signature.args[0]
    data = context.make_array(kind)(context, builder, values[0]).data
    return builder.gep(data, [values[1]]), kind.dtype.bitwidth // 8


@intrinsic
def _load_item(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer, size = _item(context, builder, signature, values)
        return builder.load_atomic(pointer, _ORDER, size)

    return array.dtype(array, types.int64), generate


@intrinsic
def _store_item(typing: Any, array: Any, index: Any, item: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer, size = _item(context, builder, signature, values)
        builder.store_atomic(values[2], pointer, _ORDER, size)
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


@intrinsic
def _add_to_item(typing: Any, array: Any, index: Any, added: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer, _ = _item(context, builder, signature, values)
        return builder.atomic_rmw("add", pointer, values[2], _ORDER)

    return array.dtype(array, types.int64, array.dtype), generate


@intrinsic
def _replace_item(typing: Any, array: Any, index: Any, old: Any, new: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer, _ = _item(context, builder, signature, values)
        found = builder.cmpxchg(pointer, values[2], values[3], _ORDER, _ORDER)
        return builder.extract_value(found, 1)

    return types.boolean(array, types.int64, array.dtype, array.dtype), generate


def _load_item_in_python(array: Any, index: int) -> int:
    return int(array[index])


def _store_item_in_python(array: Any, index: int, item: int) -> None:
    array[index] = item


def _add_to_item_in_python(array: Any, index: int, added: int) -> int:
    before = int(array[index])
    array[index] += added
    return before


def _replace_item_in_python(array: Any, index: int, old: int, new: int) -> bool:
    is_old = bool(array[index] == old)
    if is_old:
        array[index] = new
    return is_old


load_item: Callable[[Any, int], int] = _load_item_in_python if _IS_PLAIN else _load_item
"""Return an item from a flat array of integers."""
store_item: Callable[[Any, int, int], None] = _store_item_in_python if _IS_PLAIN else _store_item
"""Write an item to a flat array of integers."""
add_to_item: Callable[[Any, int, int], int] = _add_to_item_in_python if _IS_PLAIN else _add_to_item
"""Add to an item in a flat array of integers and return its old value."""
replace_item: Callable[[Any, int, int, int], bool] = (
    _replace_item_in_python if _IS_PLAIN else _replace_item
)
"""Write an item to a flat array of integers if its value is `old` (compare-and-swap).

Returns whether it was written.
"""


@intrinsic
def store_value(typing: Any, address: Any, value: Any) -> Any:
    """Write any value of at most `ROOM` bytes, such as a tuple of arrays, to an address.

    The stored value holds no references, so the caller must keep its arrays alive.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        needed = context.get_abi_sizeof(values[1].type)
        if needed > ROOM:
            raise ValueError(f"value: expected at most {ROOM} bytes, found {needed}")
        builder.store(values[1], _pointer(builder, values[0], values[1].type))
        return context.get_dummy_value()

    return types.void(types.int64, value), generate


@intrinsic
def load_value(typing: Any, address: Any, like: Any) -> Any:
    """Return the value that `store_value` wrote to an address, with the type of `like`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_pointer(builder, values[0], values[1].type))

    return like(types.int64, like), generate


@intrinsic
def pause(typing: Any) -> Any:
    """Hint to the processor that this thread is in a spin loop (x86 ``pause``)."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if _PAUSES:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
        return context.get_dummy_value()

    return types.void(), generate
