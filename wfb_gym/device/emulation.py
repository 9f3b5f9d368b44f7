"""Run a kernel on the CPU, one member after the other.

Only LLVM's back end differs from a kernel on a GPU, so this checks everything else without one.
"""

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import llvmlite.binding as llvm

from wfb_gym.device.lowering import ENTRY


class EmulatedKernel:
    """A kernel on the CPU.

    Args:
        module: a result of `wfb_gym.device.lowering.link` for this CPU.
        machine: its target machine.
        names: names of the words to pass at a launch, in order.
    """

    def __init__(self, module: Any, machine: Any, names: tuple[str, ...]) -> None:
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        address = self._engine.get_function_address(ENTRY)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
        self._function, self._names = kind(address), names
        self._failure = ctypes.c_int64()

    def bind(self, words: Mapping[str, int], members: int) -> Callable[[], None]:
        """Return a function that launches the kernel; see `wfb_gym.device.lowering.Kernel`."""
        given = (ctypes.c_int64 * max(1, len(self._names)))(*(words[name] for name in self._names))
        return lambda: self._function(given, members, ctypes.byref(self._failure))

    def failure(self) -> int:
        """Return a failure since the last call; see `wfb_gym.device.lowering.Kernel`."""
        found, self._failure.value = self._failure.value, 0
        return found
