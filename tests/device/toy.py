"""Write the LLVM IR of small functions: python -m tests.device.toy FOLDER."""

import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from wfb_gym._compiler import lower, njit_cached

Numbers = NDArray[np.float64]


def multiply_and_add(member: int, factor: float, added: Numbers, numbers: Numbers) -> bool:
    """Change one number; a negative one is invalid, and 0 is an error."""
    if numbers[member] < 0.0:
        return True
    if numbers[member] == 0.0:
        raise ValueError("numbers: expected no 0")
    numbers[member] = numbers[member] * factor + added[member % added.shape[0]]
    return False


def allocate(member: int, factor: float, added: Numbers, numbers: Numbers) -> bool:
    """Use an allocator."""
    numbers[member] = np.empty(member + 1)[0] * factor + added[0]
    return False


def exponentiate(member: int, factor: float, added: Numbers, numbers: Numbers) -> bool:
    """Call the C library."""
    numbers[member] = factor ** numbers[member] + added[0]
    return False


FUNCTIONS = (multiply_and_add, allocate, exponentiate)


def main(folder: Path) -> None:
    for function in FUNCTIONS:
        options: dict[str, Any] = {"error_model": "numpy", "_nrt": function is allocate}
        compiled = njit_cached(function, **options)
        module, name = lower(compiled, (0, 1.5, np.zeros(1), np.zeros(1)))
        bitcode = llvm.parse_assembly(module).as_bitcode()
        (folder / function.__name__).write_bytes(name.encode() + b"\0" + bitcode)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
