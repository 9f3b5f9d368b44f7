"""Instructions of the processor that Numba has no words for.

Words and values in memory are shared by threads: an address is that of a NumPy array, whose owner
keeps it, and every access to a word is ordered as in the program (sequentially consistent). Without
a compiler there are no such threads, and nothing but `trailing_zeros` may be called.
"""

import platform
from collections.abc import Callable
from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import config, types

intrinsic: Callable[[Any], Callable[..., Any]] = numba.extending.intrinsic

ROOM = 4096
"""Bytes that a stored value may take."""
_WORD = ir.IntType(64)
_ORDER = "seq_cst"
_PAUSES = platform.machine() in ("x86_64", "AMD64")


@intrinsic
def _count_trailing_zeros(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _trailing_zeros_in_python(word: int) -> int:
    return (int(word) & -int(word)).bit_length() - 1


trailing_zeros: Callable[[int], int] = (
    _trailing_zeros_in_python if config.DISABLE_JIT else _count_trailing_zeros  # type: ignore[attr-defined]
)
"""Return the number of the lowest bit that is set in an int64; there must be one."""


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
    """Put a 64-bit integer at an address."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store_atomic(values[1], _pointer(builder, values[0]), _ORDER, 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def add_to_word(typing: Any, address: Any, added: Any) -> Any:
    """Add to the 64-bit integer at an address; returns what it was before."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, values[0]), values[1], _ORDER)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def store_value(typing: Any, address: Any, value: Any) -> Any:
    """Put any value of at most `ROOM` bytes, as a tuple of arrays, at an address.

    The arrays stay whose they are: what is stored does not keep them.
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
    """Return the value at an address that `store_value` put there, of the type of another."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_pointer(builder, values[0], values[1].type))

    return like(types.int64, like), generate


@intrinsic
def pause(typing: Any) -> Any:
    """Tell the processor that this thread waits for another one."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if _PAUSES:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
        return context.get_dummy_value()

    return types.void(), generate
