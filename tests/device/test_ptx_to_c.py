"""The translated instructions have the results that the PTX manual gives."""

import shutil
import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from tests.device.ptx_to_c import TranslatedKernel, translate
from tests.support.scripts import run_python

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


class Case(NamedTuple):
    """Instructions that compute %rd0 from %rd1 and %rd2."""

    code: str
    result: int
    first: int = 0
    second: int = 0


def bits(number: float) -> int:
    """Return the bits of a float64."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def single(number: float) -> int:
    """Return the bits of a float32."""
    return int(np.float32(number).view(np.uint32))
