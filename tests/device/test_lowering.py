"""Small functions become kernels that run on the CPU and as PTX."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray

from wfb_gym.device.emulation import EmulatedKernel
from wfb_gym.device.lowering import (
    GPU_TRIPLE,
    Address,
    Constant,
    KernelError,
    flatten,
    link,
    target_machine,
    to_ptx,
    variables,
)

GPU = GPU_TRIPLE, "sm_90"
CPU = llvm.get_process_triple(), llvm.get_host_cpu_name()
Linked = tuple[Any, Any, dict[str, int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("toy")
    scalar = {"NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
    command = [sys.executable, "-m", "tests.device.toy", str(made)]
    subprocess.run(command, check=True, env={**os.environ, **scalar})
    return made


def linked(folder: Path, function: str, target: tuple[str, str], numbers: NDArray[Any]) -> Linked:
    """Return a module, its target machine and the words to launch it with."""
    name, bitcode = (folder / function).read_bytes().split(b"\0", 1)
    machine = target_machine(*target)
    given = list(flatten((0.1, Constant(np.array([1.0, 2.0])), Address.of(numbers))))
    return link(bitcode, name.decode(), given, (), machine), machine, variables(given)


@pytest.mark.parametrize(("given", "results", "failure"), [
    ([0.3, 0.6, 0.9, 7.0], [0.3 * 0.1 + 1.0, 0.6 * 0.1 + 2.0, 0.9 * 0.1 + 1.0, 7.0], 0),
    # An invalid member, or one with an error, stops no other member.
    ([1.0, -1.0, 1.0], [1.1, -1.0, 1.1], -2), ([1.0, 0.0, 1.0], [1.1, 0.0, 1.1], 2),
])  # fmt: skip
def test_an_emulated_kernel_runs_once_for_each_member_and_reports_a_failure_once(
    folder: Path, given: list[float], results: list[float], failure: int
) -> None:
    numbers = np.array(given)
    module, machine, words = linked(folder, "multiply_and_add", CPU, numbers)
    kernel = EmulatedKernel(module, machine, tuple(words))
    kernel.bind(words, 3)()
    assert numbers.tolist() == results
    assert (kernel.failure(), kernel.failure()) == (failure, 0)


def test_ptx_rounds_after_each_operation(folder: Path) -> None:
    module, machine, _ = linked(folder, "multiply_and_add", GPU, np.zeros(3))
    ptx = to_ptx(module, machine)
    assert "mul.rn.f64" in ptx
    assert "add.rn.f64" in ptx
    assert "fma" not in ptx


@pytest.mark.parametrize("instruction", ["fma.rn.f64", "add.ftz.f32", "sqrt.approx.f32", "mul.f64"])
def test_inexact_instructions_are_rejected(instruction: str) -> None:
    class Machine:
        def emit_assembly(self, _: object) -> str:
            return f"\t{instruction} \t%fd1, %fd2, %fd3;"

    with pytest.raises(
        KernelError, match=r"exact arithmetic, found (fma\.|\.ftz|\.approx|mul\.f64)"
    ):
        to_ptx(None, Machine())


@pytest.mark.parametrize(("function", "missing"), [("allocate", "NRT_"), ("exponentiate", "pow")])
def test_functions_that_a_gpu_lacks_are_rejected(folder: Path, function: str, missing: str) -> None:
    with pytest.raises(KernelError, match=missing):
        to_ptx(*linked(folder, function, GPU, np.zeros(3))[:2])


def test_only_addresses_and_numbers_of_rows_vary() -> None:
    matrix = np.zeros((3, 5), np.float32)
    given = {"a": 7, "b": True, "c": 0.5, "d": matrix}
    scalars = {
        name: list(flatten(Address.of(value) if name == "d" else value, name))
        for name, value in given.items()
    }
    kinds = [[each.kind for each in scalars[name]] for name in given]
    assert kinds[:3] == [["i64"], ["i8"], ["double"]]
    assert kinds[3] == ["ptr", "ptr", "i64", "i64", "ptr", "i64", "i64", "i64", "i64"]
    assert variables(scalars["d"]) == {
        "d.size": 15, "d.address": matrix.ctypes.data, "d.shape0": 3
    }  # fmt: skip
    assert not variables(list(flatten(Constant(matrix), "d")))


def test_other_arguments_are_rejected() -> None:
    with pytest.raises(TypeError, match=r"a\.0: expected a number, an array or a tuple, found 'x'"):
        list(flatten(("x",), "a"))
