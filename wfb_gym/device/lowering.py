"""Turn compiled functions into kernels for an NVIDIA GPU.

Numba translates Python into LLVM IR, which hardly depends on the processor. llvmlite, a dependency
of Numba, includes LLVM's back end for NVIDIA GPUs. The kernels therefore have the same types,
record layouts and order of arithmetic as the code for the CPU. LLVM does not fuse multiplications
with additions unless it is asked to, and GPUs round float64 as IEEE 754 requires, so the results
are equal to the last bit.

A kernel calls a function ``f(member, *arguments, *scratch)`` once for each member, which in this
package is an environment. The function returns whether its input is invalid. Constant arguments are
part of the kernel: numbers, and arrays marked with `Constant`. The optimiser then removes the rules
and observation blocks that a scenario does not use.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

GPU_TRIPLE = "nvptx64-nvidia-cuda"
ENTRY = "drive"
"""Name of the kernel."""
PROCESSORS = (70, 72, 75, 80, 86, 87, 89, 90)
"""Generations of GPUs that the PTX version has. Newer GPUs run the code of the last one."""
_PTX_VERSION = "80"  # CUDA 12.0, the first version that supports all of sm_90
_INLINING_THRESHOLD = 225  # LLVM's default at -O3
_AVAILABLE = re.compile(r"llvm\.(?!(powi?|(exp|log)(2|10)?|a?(sin|cos|tan)h?|sincos)\.)")
"""Declared functions that become PTX instructions. LLVM aborts at functions of a C library."""
_INEXACT = re.compile(r"\bfma\.|\.ftz|\.approx|\b(?:add|sub|mul|div)\.f(?:32|64)")
"""PTX instructions that round differently from a CPU, or that may be fused to such ones."""


class KernelError(RuntimeError):
    """A function cannot become a kernel, or a kernel failed."""


class Kernel(Protocol):
    """A kernel that can be launched."""

    def bind(self, words: Mapping[str, int], members: int) -> Callable[[], None]:
        """Return a function that launches the kernel.

        Args:
            words: the value of each variable argument, by name; see `variables`.
            members: number of members.
        """

    def failure(self) -> int:
        """Return a failure since the last call, and forget it.

        Returns:
            0 without a failure, 1 + the member if its function raised an error, or -1 - the member
            if its function returned True, for invalid input.
        """


class Constant(NamedTuple):
    """An array whose content is part of the kernel."""

    array: NDArray[Any]


class Address(NamedTuple):
    """An array on a device."""

    address: int
    shape: tuple[int, ...]
    itemsize: int  # bytes

    @classmethod
    def of(cls, array: Any) -> "Address":
        """Return the address of a NumPy array or a PyTorch tensor in C order."""
        address = array.data_ptr() if hasattr(array, "data_ptr") else array.ctypes.data
        return cls(address, tuple(array.shape), int(array.dtype.itemsize))


class Scalar(NamedTuple):
    """A number or pointer that a compiled function takes; one argument may consist of several."""

    name: str
    kind: str  # LLVM type
    value: Any  # a number; the bytes of a constant array; None for a null pointer
    is_constant: bool


def flatten(value: Any, name: str = "") -> Iterator[Scalar]:
    """Yield the scalars that Numba passes for a number, an array or a tuple of these.

    For an array, Numba passes two pointers to its owner, which only reference counting reads, its
    size, the item size, the address, the shape and the strides.

    Args:
        value: the argument. Its arrays are an `Address` or a `Constant`.
        name: prefix for the names of the scalars.
    """
    if isinstance(value, Constant):
        array = np.ascontiguousarray(value.array)
        yield from _flatten_array(Address.of(array), array.tobytes(), name)
    elif isinstance(value, Address):
        yield from _flatten_array(value, None, name)
    elif isinstance(value, tuple):
        fields = getattr(value, "_fields", range(len(value)))
        for field, each in zip(fields, value, strict=True):
            yield from flatten(each, f"{name}.{field}" if name else str(field))
    elif isinstance(value, bool | np.bool_):
        yield Scalar(name, "i8", int(value), True)
    elif isinstance(value, int | np.integer):
        yield Scalar(name, "i64", int(value), True)
    elif isinstance(value, float):
        yield Scalar(name, "double", value, True)
    else:
        raise TypeError(f"{name}: expected a number, an array or a tuple, found {value!r}")


def _flatten_array(array: Address, data: bytes | None, name: str) -> Iterator[Scalar]:
    is_constant = data is not None
    address, shape, itemsize = array
    yield Scalar(f"{name}.owner", "ptr", None, True)
    yield Scalar(f"{name}.parent", "ptr", None, True)
    yield Scalar(f"{name}.size", "i64", int(np.prod(shape)), is_constant)
    yield Scalar(f"{name}.itemsize", "i64", itemsize, True)
    yield Scalar(f"{name}.address", "ptr", data if is_constant else address, is_constant)
    for axis, length in enumerate(shape):  # only the number of rows varies between batches
        yield Scalar(f"{name}.shape{axis}", "i64", int(length), is_constant or axis > 0)
    for axis in range(len(shape)):
        stride = itemsize * int(np.prod(shape[axis + 1 :]))
        yield Scalar(f"{name}.stride{axis}", "i64", stride, True)


def variables(arguments: Sequence[Scalar]) -> dict[str, int]:
    """Return the 64-bit words that a launch passes to the kernel, by name and in order."""
    return {each.name: each.value for each in arguments if not each.is_constant}


def target_machine(triple: str, processor: str) -> Any:
    """Return LLVM's target machine.

    Args:
        triple: `GPU_TRIPLE`, or the triple of this process.
        processor: for example "sm_90", or the name of this CPU.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    is_gpu = triple == GPU_TRIPLE
    features = f"+ptx{_PTX_VERSION}" if is_gpu else llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, opt=3, jit=not is_gpu
    )


def link(
    bitcode: bytes,
    function: str,
    arguments: Sequence[Scalar],
    scratch: Sequence[int],
    machine: Any,
) -> Any:
    """Return an optimised LLVM module with the kernel and everything that it calls.

    Args:
        bitcode: LLVM IR of the function and its callees.
        function: the function's name in this module.
        arguments: the function's flattened arguments between the member and the scratch space.
        scratch: sizes in bytes of the records that each thread passes as last arguments.
        machine: a result of `target_machine`.

    Raises:
        KernelError: if the code calls a function that GPUs lack, such as an allocator.
    """
    layout = str(machine.target_data)
    linked = llvm.parse_bitcode(bitcode)
    linked.triple, linked.data_layout = machine.triple, layout
    wrapper = _wrapper(function, arguments, scratch, is_gpu=machine.triple == GPU_TRIPLE)
    head = f'target triple = "{machine.triple}"\ntarget datalayout = "{layout}"\n'
    linked.link_in(llvm.parse_assembly(head + wrapper))
    for each in [*linked.functions, *linked.global_variables]:
        if not each.is_declaration and each.name != ENTRY:
            each.linkage = "internal"  # lets the optimiser propagate constants and delete code
    linked.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = False  # GPUs have no vector registers
    tuning.inlining_threshold = _INLINING_THRESHOLD
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(linked, builder)
    missing = sorted(
        each.name
        for each in linked.functions
        if each.is_declaration and not _AVAILABLE.match(each.name)
    )
    if missing:
        raise KernelError(f"kernel: expected only functions of wfb_gym, found {', '.join(missing)}")
    return linked


def to_ptx(module: Any, machine: Any) -> str:
    """Return the PTX of a module.

    Raises:
        KernelError: if an instruction would round differently from the CPU.
    """
    ptx: str = machine.emit_assembly(module)
    if found := _INEXACT.search(ptx):
        raise KernelError(f"kernel: expected only exact arithmetic, found {found.group()}")
    return ptx


def _wrapper(
    function: str, arguments: Sequence[Scalar], scratch: Sequence[int], *, is_gpu: bool
) -> str:
    """Return LLVM IR that calls the function for each member.

    For a GPU it is a kernel with one thread per member. For a CPU it is a loop over the members,
    with the same parameters: the words from `variables`, the number of members and the address of
    the failure (see `Kernel.failure`).
    """
    constants: list[str] = []
    loads: list[str] = []
    passed: list[str] = []
    count = 0
    for k, each in enumerate(arguments):
        if not each.is_constant:
            loads.append(f"  %p{k} = getelementptr inbounds i64, ptr %given, i64 {count}")
            loads.append(f"  %a{k} = load {each.kind}, ptr %p{k}, align 8")
            passed.append(f"{each.kind} %a{k}")
            count += 1
        elif each.kind != "ptr":
            passed.append(f"{each.kind} {_number(each)}")
        elif each.value is None:
            passed.append("ptr null")
        else:
            content = "".join(f"\\{byte:02X}" for byte in each.value)
            kind = f"[{len(each.value)} x i8]"
            constants.append(f'@constant{k} = internal constant {kind} c"{content}", align 16')
            passed.append(f"ptr @constant{k}")
    for k, size in enumerate(scratch):
        loads.append(f"  %s{k} = alloca [{size} x i8], align 16")
        passed.append(f"ptr %s{k}")
    kinds = ", ".join(["ptr", "ptr", "i64", *(each.split()[0] for each in passed)])
    call = f'call i32 @"{function}"(ptr %result, ptr %raised, i64 %member, {", ".join(passed)})'
    template = _GPU_WRAPPER if is_gpu else _CPU_WRAPPER
    return template.format(
        constants="\n".join(constants), declaration=f'declare i32 @"{function}"({kinds})',
        entry=ENTRY, words=max(1, count), loads="\n".join(loads),
        checked_call=_CHECKED_CALL.format(call=call, end="done" if is_gpu else "next"),
    )  # fmt: skip


def _number(argument: Scalar) -> str:
    """Return a number as LLVM IR, which has float64 constants as hexadecimal bits."""
    if argument.kind == "double":
        return f"0x{np.float64(argument.value).view(np.uint64):016X}"
    return str(argument.value)


_CHECKED_CALL = """  %status = {call}
  %number = add i64 %member, 1
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %fail, label %returned
returned:
  %value = load i8, ptr %result
  %is_invalid = icmp ne i8 %value, 0
  br i1 %is_invalid, label %fail, label %{end}
fail:
  %negative = sub i64 0, %number
  %code = select i1 %failed, i64 %number, i64 %negative
  store i64 %code, ptr %failure
  br label %{end}"""
"""Calls the function and stores a failure."""
_GPU_WRAPPER = """
{constants}
{declaration}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

define ptx_kernel void @{entry}(
    ptr byval([{words} x i64]) align 8 %given, i64 %members, ptr %failure) {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %block, %threads
  %index = add i32 %first, %thread
  %member = zext i32 %index to i64
  %is_member = icmp ult i64 %member, %members
  br i1 %is_member, label %work, label %done
work:
  %result = alloca i64
  %raised = alloca ptr
{loads}
{checked_call}
done:
  ret void
}}
"""
_CPU_WRAPPER = """
{constants}
{declaration}

define void @{entry}(ptr %given, i64 %members, ptr %failure) {{
start:
  %result = alloca i64
  %raised = alloca ptr
{loads}
  br label %loop
loop:
  %member = phi i64 [0, %start], [%number, %next]
  %is_member = icmp ult i64 %member, %members
  br i1 %is_member, label %work, label %done
work:
{checked_call}
next:
  br label %loop
done:
  ret void
}}
"""
