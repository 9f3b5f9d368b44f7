"""Run kernels on a GPU, through NVIDIA's driver and on PyTorch's stream.

The driver's library, `libcuda.so.1`, is installed on every Linux machine with an NVIDIA GPU. The
driver turns PTX into machine code and caches it in `~/.nv/ComputeCache`.
"""

import contextlib
import ctypes
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch

from wfb_gym.device.lowering import ENTRY, PROCESSORS, KernelError

_LOCAL_BYTES, _REGISTERS = 3, 4  # CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES and _NUM_REGS
_JIT_OPTIONS = 0, 5, 6  # CU_JIT_MAX_REGISTERS, CU_JIT_ERROR_LOG_BUFFER and its _SIZE_BYTES
_LOG_BYTES = 4096
_MAX_THREADS, _MAX_REGISTERS = 1024, 255


def processor_of(device: torch.device) -> str:
    """Return the generation to compile for, for example "sm_90"."""
    major, minor = torch.cuda.get_device_capability(device)
    usable = [each for each in PROCESSORS if each <= 10 * major + minor]
    if not usable:
        raise KernelError(
            f"device: expected a GPU of compute capability 7.0 or more, found {major}.{minor}"
        )
    return f"sm_{usable[-1]}"


class _Driver:
    """NVIDIA's driver."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise KernelError(f"device: expected NVIDIA's driver, found none ({error})") from None

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver.

        Raises:
            KernelError: if it fails.
        """
        code = getattr(self._library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(code, ctypes.byref(text))
            message = (text.value or b"unknown error").decode()
            raise KernelError(f"device: {name} failed: {message} ({code}); driver 525 or newer?")


def _unload(driver: _Driver, device: torch.device, module: ctypes.c_void_p) -> None:
    with contextlib.suppress(KernelError, RuntimeError), torch.cuda.device(device):
        driver.call("cuModuleUnload", module)


class CudaKernel:
    """A kernel on a GPU.

    Args:
        ptx: a result of `wfb_gym.device.building.ptx_of`.
        names: names of the words to pass at a launch, in order.
        device: the GPU.
        threads: number of threads in a block.
        registers: maximum number of registers of a thread. With fewer, more threads run at once,
            but more variables are kept in memory.

    Raises:
        ValueError: if the number of threads or registers is impossible.
        KernelError: if the driver does not accept the kernel.
    """

    def __init__(
        self,
        ptx: str,
        names: tuple[str, ...],
        device: torch.device,
        *,
        threads: int = 128,
        registers: int = 128,
    ) -> None:
        if not 1 <= threads <= _MAX_THREADS:
            raise ValueError(f"threads: expected 1 to {_MAX_THREADS}, found {threads}")
        if not 1 <= registers <= _MAX_REGISTERS:
            raise ValueError(f"registers: expected 1 to {_MAX_REGISTERS}, found {registers}")
        self._driver, self._names, self._device = _Driver(), names, device
        self.threads = threads
        self._failure = torch.zeros(1, dtype=torch.int64, device=device)
        module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (ctypes.c_int * 3)(*_JIT_OPTIONS)
        values = (ctypes.c_void_p * 3)(registers, ctypes.addressof(log), _LOG_BYTES)
        image = ctypes.c_char_p(ptx.encode())
        with torch.cuda.device(device):  # makes PyTorch's context current
            try:
                self._driver.call(
                    "cuModuleLoadDataEx", ctypes.byref(module), image, ctypes.c_uint(3), options,
                    values,
                )  # fmt: skip
            except KernelError as error:
                raise KernelError(f"{error}\n{log.value.decode(errors='replace')}") from None
            weakref.finalize(self, _unload, self._driver, device, module).atexit = False
            self._driver.call(
                "cuModuleGetFunction", ctypes.byref(self._function), module, ENTRY.encode()
            )

    @property
    def registers(self) -> int:
        """Number of registers of a thread."""
        return self._attribute(_REGISTERS)

    @property
    def local_bytes(self) -> int:
        """Local memory of a thread, in bytes."""
        return self._attribute(_LOCAL_BYTES)

    @property
    def blocks_per_multiprocessor(self) -> int:
        """Number of blocks that a multiprocessor runs at once."""
        found = ctypes.c_int()
        with torch.cuda.device(self._device):
            self._driver.call(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(found),
                self._function, ctypes.c_int(self.threads), ctypes.c_size_t(0),
            )  # fmt: skip
        return found.value

    def _attribute(self, which: int) -> int:
        found = ctypes.c_int()
        with torch.cuda.device(self._device):
            self._driver.call("cuFuncGetAttribute", ctypes.byref(found), which, self._function)
        return found.value

    def bind(self, words: Mapping[str, int], members: int) -> Callable[[], None]:
        """Return a function that launches the kernel; see `wfb_gym.device.lowering.Kernel`.

        A launch copies nothing and waits for nothing, so a CUDA graph can record it. The function
        and the graph need this kernel's tensors, so keep their owner.
        """
        given = (ctypes.c_int64 * max(1, len(self._names)))(*(words[name] for name in self._names))
        count, failure = ctypes.c_int64(members), ctypes.c_void_p(self._failure.data_ptr())
        parameters = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (given, count, failure)))
        blocks = -(-members // self.threads)

        def launch(_kept: Any = (given, count, failure)) -> None:
            stream = torch.cuda.current_stream(self._device).cuda_stream
            with torch.cuda.device(self._device):  # the default stream belongs to a context
                self._driver.call(
                    "cuLaunchKernel", self._function, blocks, 1, 1, self.threads, 1, 1, 0,
                    ctypes.c_void_p(stream), parameters, None,
                )  # fmt: skip

        return launch

    def failure(self) -> int:
        """Return a failure since the last call; see `wfb_gym.device.lowering.Kernel`.

        Waits for the current stream.
        """
        found = int(self._failure.item())
        if found:
            self._failure.zero_()
        return found
