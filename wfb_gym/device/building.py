"""Compile the kernels of a batch, and cache them.

The LLVM IR of the step depends only on the sources, so it is made once. This takes a process of its
own, because it discards the code that the process has compiled for the CPU. PTX also depends on the
scenario, the seat, the opponents and the GPU's generation. Both are cached in the folder of
compiled code.

    python -m wfb_gym.device.building FILE    (in that process; writes the LLVM IR as bitcode)
"""

import contextlib
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
from numba.core import config

from wfb_gym._compiler import lower
from wfb_gym._jit import CACHE_FOLDER
from wfb_gym.device import lowering
from wfb_gym.device.emulation import EmulatedKernel
from wfb_gym.device.lowering import (
    GPU_TRIPLE,
    KernelError,
    Scalar,
    link,
    target_machine,
    to_ptx,
    variables,
)
from wfb_gym.envs.device_thread import SCRATCH_BYTES, drive_thread, thread_arguments
from wfb_gym.files import atomic_write

_OLDEST_LLVM = (20, 0, 0)
"""The first version of LLVM that supports everything used here; Numba 0.62 or newer has it."""
_SECONDS = 900
_CHECKSUM_BYTES = 32


class StepCode(NamedTuple):
    """LLVM IR of `drive_thread` with everything that it calls."""

    bitcode: bytes
    function: str  # name of `drive_thread`


@cache
def step_code() -> StepCode:
    """Return the LLVM IR of the step, from the cache if possible. Making it takes a minute.

    Raises:
        KernelError: if Numba's version of LLVM is too old, compilation is disabled or the other
            process fails.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise KernelError("device: expected compilation, found NUMBA_DISABLE_JIT=1")
    if llvm.llvm_version_info < _OLDEST_LLVM:
        found = ".".join(map(str, llvm.llvm_version_info))
        raise KernelError(f"device: expected LLVM 20 or newer (numba>=0.62), found LLVM {found}")
    path = CACHE_FOLDER / "device" / f"step-{_own_digest()}.bc"
    if (kept := _read_kept(path)) is not None:
        return _as_step(kept)
    _report("compiling the environments for a device, which takes about a minute")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "step.bc")
        # Numba would otherwise form vectors for this CPU.
        scalar = {"NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0", "NUMBA_OPT": "3"}
        path_now = os.pathsep.join(each for each in sys.path if each)
        try:
            run = subprocess.run(
                [sys.executable, "-m", "wfb_gym.device.building", str(made)],
                env={**os.environ, **scalar, "PYTHONPATH": path_now},
                capture_output=True, text=True, timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise KernelError(f"device: compiling took more than {_SECONDS} s") from None
        if run.returncode:
            raise KernelError(f"device: the compiling process failed:\n{run.stderr[-2000:]}")
        data = made.read_bytes()
    _keep(path, data)
    return _as_step(data)


def _as_step(data: bytes) -> StepCode:
    """Split a file into the function's name and the bitcode."""
    name, bitcode = data.split(b"\0", 1)
    return StepCode(bitcode, name.decode())


def ptx_of(arguments: Sequence[Scalar], processor: str) -> str:
    """Return the PTX of a kernel, from the cache if possible. Making it takes half a minute.

    Args:
        arguments: the flattened arguments of `drive_thread` that are equal for all threads.
        processor: generation of the GPU, for example "sm_90".
    """
    step = step_code()
    digest = hashlib.sha256(step.bitcode + processor.encode() + _own_digest().encode())
    digest.update(repr(llvm.llvm_version_info).encode())
    for each in arguments:
        digest.update(repr((each.name, each.kind, each.is_constant and each.value)).encode())
    path = CACHE_FOLDER / "device" / f"{digest.hexdigest()[:32]}.ptx"
    if (kept := _read_kept(path)) is not None:
        return kept.decode()
    _report(f"compiling a kernel for {processor}, which takes about half a minute")
    machine = target_machine(GPU_TRIPLE, processor)
    linked = link(step.bitcode, step.function, arguments, SCRATCH_BYTES, machine)
    ptx = to_ptx(linked, machine)
    _keep(path, ptx.encode())
    return ptx


def emulated(arguments: Sequence[Scalar]) -> EmulatedKernel:
    """Return a kernel for this CPU."""
    step = step_code()
    machine = target_machine(llvm.get_process_triple(), llvm.get_host_cpu_name())
    linked = link(step.bitcode, step.function, arguments, SCRATCH_BYTES, machine)
    return EmulatedKernel(linked, machine, tuple(variables(arguments)))


@cache
def _own_digest() -> str:
    """Return a hash of the files that turn the step into a kernel, and of this kind of CPU."""
    digest = hashlib.sha256(platform.machine().encode())
    for path in (Path(__file__), Path(lowering.__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _keep(path: Path, data: bytes) -> None:
    """Write a file to the cache, after its checksum."""
    with contextlib.suppress(OSError):  # the folder is full or read-only
        path.parent.mkdir(exist_ok=True)
        with atomic_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)


def _read_kept(path: Path) -> bytes | None:
    """Return the content of a file in the cache, or None if it is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = content[_CHECKSUM_BYTES:]
    return data if hashlib.sha256(data).digest() == content[:_CHECKSUM_BYTES] else None


def _report(text: str) -> None:
    sys.stderr.write(f"wfb_gym: {text}\n")
    sys.stderr.flush()


def _write_step(path: Path) -> None:
    """Write the LLVM IR of the step."""
    module, name = lower(drive_thread, thread_arguments())
    path.write_bytes(name.encode() + b"\0" + llvm.parse_assembly(module).as_bitcode())


if __name__ == "__main__":
    _write_step(Path(sys.argv[1]))
