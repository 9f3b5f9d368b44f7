"""Translated PTX instructions have the results that the PTX manual gives; others raise errors."""

import math
import re
import shutil
import signal
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from tests.device.ptx_to_c import TranslatedKernel, translate
from tests.support.scripts import run_python

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

HEAD = """
.version 8.0
.target sm_90
.address_size 64
.global .align 8 .b8 bytes[8] = {1, 2, 255, 4, 0, 0, 0, 128};
.global .align 8 .u64 places$1[2] = {0, generic(bytes)};
.func (.param .b32 func_retval0) difference(
	.param .b64 difference_param_0,
	.param .b32 difference_param_1
)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [difference_param_0]; // its lower half
	ld.param.b32 %r2, [difference_param_1];
	sub.s32 %r3, %r1, %r2;
	st.param.b32 [func_retval0], %r3;
	ret;
}
.visible .entry drive(
	.param .align 8 .b8 drive_param_0[4096],
	.param .u64 drive_param_1,
	.param .u64 .ptr .align 1 drive_param_2
)
{
	.local .align 8 .b8 __local_depot0[16];
	.reg .b64 %SP;
	.reg .pred %p<10>;
	.reg .b16 %rs<10>;
	.reg .b32 %r<10>;
	.reg .b64 %rd<10>;
	mov.b64 %SP, __local_depot0;
	cvta.local.u64 %rd4, %SP;
"""
PREPARED = """
	ld.param.b64 %rd1, [drive_param_0+{first}];
	ld.param.b64 %rd2, [drive_param_0+{second}];
	cvt.u32.u64 %r1, %rd1;
	cvt.u32.u64 %r2, %rd2;
	cvt.u16.u64 %rs1, %rd1;
	cvt.u16.u64 %rs2, %rd2;
	setp.ne.b64 %p1, %rd1, 0;
	setp.ne.b64 %p2, %rd2, 0;
"""
STORED = """
	ld.param.b64 %rd8, [drive_param_0];
	st.global.b64 [%rd8+{place}], %rd9;
"""
WIDENED = {
    "rd": (64, ""),
    "r": (32, "cvt.u64.u32 %rd9, %r9;"),
    "rs": (16, "cvt.u64.u16 %rd9, %rs9;"),
    "p": (1, "selp.b64 %rd9, 1, 0, %p9;"),
}


def bits(number: float) -> int:
    """Return the bits of a float64."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def bits32(number: float | np.float32) -> int:
    """Return the bits of a float32."""
    return int(np.float32(number).view(np.uint32))


class Case(NamedTuple):
    """Instructions on one or two words, which are also in narrower registers, into register 9."""

    code: str
    result: int
    first: int = 0
    second: int = 0

    @property
    def register(self) -> str:
        return str(re.findall(r"%(\w+)9\b", self.code)[-1])


LOW, HIGH = -(2**63), 2**63 - 1
BRANCH = """
	$L_brx_0: .branchtargets
		$L_first,
		$L_second;
	mov.b64 %rd9, 0;
	brx.idx %r1, $L_brx_0;
$L_first:
	add.s64 %rd9, %rd9, 3;
$L_second:
	add.s64 %rd9, %rd9, 4;
"""
CALL = """
	{ // callseq 1, 0
	.param .b64 param0;
	.param .b32 param1;
	.param .b32 retval0;
	st.param.b64 [param0], %rd1;
	st.param.b32 [param1], %r2;
	call.uni (retval0), difference, (param0, param1);
	ld.param.b32 %r9, [retval0];
	} // callseq 1
"""
CASES = (
    Case("add.s64 %rd9, %rd1, %rd2;", LOW + 1, HIGH, 2),
    Case("sub.s16 %rs9, %rs1, %rs2;", -30000 - 10000, -30000, 10000),
    Case("mul.lo.s64 %rd9, %rd1, -7;", 21, -3),
    Case("mul.hi.s16 %rs9, %rs1, 21846;", -4, -10),
    Case("mul.hi.s64 %rd9, %rd1, %rd2;", -2, LOW, 4),
    Case("mul.wide.s32 %rd9, %r1, 8;", -(2**34), -(2**31)),
    Case("mul.wide.u32 %rd9, %r1, 8;", 2**34, -(2**31)),
    Case("mul.wide.s16 %r9, %rs1, 30000;", -300000000, -10000),
    Case("mad.lo.s64 %rd9, %rd1, %rd2, -5;", -41, -9, 4),
    Case("div.s64 %rd9, %rd1, %rd2;", -3, -7, 2),
    Case("rem.s32 %r9, %r1, %r2;", -1, -7, 2),
    Case("div.u32 %r9, %r1, %r2;", 2**31 - 4, -7, 2),
    Case("min.s64 %rd9, %rd1, 3;", -1, -1),
    Case("min.u64 %rd9, %rd1, 3;", 3, -1),
    Case("max.s16 %rs9, %rs1, %rs2;", 2, -1, 2),
    Case("neg.s64 %rd9, %rd1;", LOW, LOW),
    Case("not.b16 %rs9, %rs1;", -6, 5),
    Case("and.b32 %r9, %r1, -4;", 8, 11),
    Case("popc.b64 %r9, %rd1;", 64, -1),
    # shifts; beyond the width they give 0 or the sign
    Case("shl.b64 %rd9, %rd1, 63;", LOW, 1),
    Case("shl.b64 %rd9, %rd1, %r2;", 0, 1, 64),
    Case("shl.b32 %r9, %r1, %r2;", 0, 1, 33),
    Case("shl.b16 %rs9, %rs1, 8;", 0x3400, 0x1234),
    Case("shr.u64 %rd9, %rd1, %r2;", 1, -1, 63),
    Case("shr.u64 %rd9, %rd1, %r2;", 0, -1, 2**32 - 1),
    Case("shr.s64 %rd9, %rd1, %r2;", -1, -5, 100),
    Case("shr.s16 %rs9, %rs1, 1;", -3, -5),
    Case("shr.s32 %r9, %r1, 40;", 0, 5),
    Case("bfe.u64 %rd9, %rd1, 5, 5;", 0b10110, 0b1_10110_01010),
    Case("bfe.u64 %rd9, %rd1, 60, 8;", 15, -1),
    Case("bfe.u32 %r9, %r1, 3, 0;", 0, -1),
    Case("bfe.u32 %r9, %r1, 30, 8;", 2, -(2**31)),
    Case("bfe.s32 %r9, %r1, 30, 8;", -2, -(2**31)),
    Case("bfe.s64 %rd9, %rd1, 16, 8;", -2, 0x11FE2222),
    Case("bfe.s64 %rd9, %rd1, 70, 8;", -1, LOW),
    Case("prmt.b32 %r9, %r1, 0, 0x7770U;", 0x34, 0x1234),
    Case("prmt.b32 %r9, %r1, %r2, 0x8F51U;", 0x00FFBB33, 0x11223344, 0x80AABBCC),
    # conversions
    Case("cvt.s64.s8 %rd9, %rs1;", -128, 0x1280),
    Case("cvt.u64.u16 %rd9, %rs1;", 0xFFFE, -2),
    Case("cvt.s32.s8 %r9, %r1;", -1, 0xFF),
    Case("cvt.s64.s16 %rd9, %rd1;", -2, 0xFFFE),
    Case("cvt.u16.u64 %rs9, %rd1;", 0x5678, 0x12345678),
    Case("cvt.rn.f64.s64 %rd9, %rd1;", bits(-3.0), -3),
    Case("cvt.rn.f64.u64 %rd9, %rd1;", bits(2.0**64), -1),
    Case("cvt.rn.f32.s64 %r9, %rd1;", bits32(2.0**24), 2**24 + 1),
    Case("cvt.rn.f32.s16 %r9, %rs1;", bits32(-5.0), -5),
    Case("cvt.rn.f32.f64 %r9, %rd1;", bits32(0.1), bits(0.1)),
    Case("cvt.rzi.s64.f64 %rd9, %rd1;", -2, bits(-2.75)),
    Case("cvt.rzi.s32.f64 %r9, %rd1;", 2**31 - 1, bits(2.0**31 - 0.5)),
    # floats
    Case("add.rn.f64 %rd9, %rd1, 0d3FC999999999999A;", bits(0.1 + 0.2), bits(0.1)),
    Case("sub.rn.f64 %rd9, %rd1, %rd2;", bits(0.1 - 0.3), bits(0.1), bits(0.3)),
    Case("mul.rn.f32 %r9, %r1, 0f3DCCCCCD;", bits32(np.float32(0.1) * 0.3), bits32(0.3)),
    Case("div.rn.f64 %rd9, %rd1, %rd2;", bits(-1.0 / 3.0), bits(-1.0), bits(3.0)),
    Case("neg.f64 %rd9, %rd1;", bits(-0.0), bits(0.0)),
    Case("selp.f64 %rd9, %rd1, 0d3FE0000000000000, %p2;", bits(0.5), bits(0.1), 0),
    # predicates
    Case("setp.lt.s64 %p9, %rd1, %rd2;", 1, -1, 1),
    Case("setp.lt.u64 %p9, %rd1, %rd2;", 0, -1, 1),
    Case("setp.eq.b16 %p9, %rs1, -1;", 1, 0xFFFF),
    Case("setp.gt.f64 %p9, %rd1, %rd2;", 0, bits(1.0), bits(math.nan)),
    Case("setp.leu.f64 %p9, %rd1, %rd2;", 1, bits(1.0), bits(math.nan)),
    Case("setp.geu.f64 %p9, %rd1, %rd2;", 0, bits(1.0), bits(2.0)),
    Case("mov.pred %p9, -1;", 1),
    Case("not.pred %p9, %p1;", 0, 2),
    Case("and.pred %p9, %p1, %p2;", 1, 2, 4),
    Case("xor.pred %p9, %p1, %p2;", 0, 2, 4),
    Case("selp.b64 %rd9, %rd1, -3, %p2;", -3, 5, 0),
    Case("mov.b64 %rd9, 7; @%p1 bra $L_1; mov.b64 %rd9, 8; $L_1:".replace("; ", ";\n"), 7, 1),
    Case("mov.b64 %rd9, 7;\n@!%p1 mov.b64 %rd9, 8;", 7, 1),
    # memory
    Case("st.b64 [%rd4], %rd1;\nld.s8 %rd9, [%rd4+1];", -127, 0x8100),
    Case("st.b64 [%rd4], %rd1;\nld.b8 %rs9, [%rd4+1];", 0x81, 0x8100),
    Case("st.local.b64 [%SP+8], %rd1;\nld.local.s16 %r9, [%rd4+10];", -2, 0xFFFE0000),
    Case("st.v2.b8 [%rd4+6], {1, %rs1};\nld.b16 %rs9, [%rd4+6];", 0x3401, 0x1234),
    Case("st.b64 [%rd4], %rd1;\nld.v2.b32 {%r5, %r9}, [%rd4];", -1, LOW >> 31 << 32 | 5 | -(2**32)),
    Case("mov.b32 {%rs5, %rs9}, %r1;", 0x1234, 0x12345678),
    Case("mov.b64 {_, %r9}, %rd1;", 0x1234, 0x1234_0000_0005),
    Case("mov.b32 %r9, {%rs1, %rs2};", 0xFFFE8001 - 2**32, 0x8001, -2),
    Case("add.s16x2 %r9, %r1, %r2;", 0x00020001, 0x0003FFFF, 0xFFFF0002 - 2**32),
    Case("prmt.b32 %r9, %r1, 0, 0xaaa2U;", 0xFFFFFFB4 - 2**32, 0x00B45678),
    Case("mov.b64 %rd5, bytes;\nadd.s64 %rd5, %rd5, 3;\nld.global.nc.s8 %rd9, [%rd5+-1];", -1),
    Case("ld.global.b64 %rd5, [places$1+8];\nld.global.nc.b64 %rd9, [%rd5];", 0x8000000004FF0201),
    # control flow
    Case(BRANCH, 7, 0),
    Case(BRANCH.replace("$L_", "$L_a"), 4, 1),
    Case(CALL, -8, 2**32 - 5, 3),
    Case("mov.u32 %r9, %tid.x;", 0),
)  # fmt: skip


def kernel_of(cases: Sequence[Case]) -> str:
    """Return the PTX of a kernel that runs the cases in order and stores their results."""
    parts = [HEAD]
    for k, case in enumerate(cases):
        parts += [PREPARED.format(first=8 + 16 * k, second=16 + 16 * k), case.code]
        parts += [WIDENED[case.register][1], STORED.format(place=8 * k)]
    return "\n".join([*parts, "\tret;", "}", ""])


def run(cases: Sequence[Case]) -> list[int]:
    """Return the results of the cases as unsigned numbers."""
    results = np.zeros(len(cases), np.uint64)
    words = [each for case in cases for each in (case.first, case.second)]
    given = {str(k): each for k, each in enumerate([results.ctypes.data, *words])}
    kernel = TranslatedKernel(kernel_of(cases))
    kernel.bind(given, 1)()
    assert kernel.failure() == 0
    return [int(each) for each in results]


@needs_gcc
def test_results() -> None:
    found = [case._replace(result=each) for case, each in zip(CASES, run(CASES), strict=True)]
    sizes = [2 ** WIDENED[case.register][0] for case in CASES]
    assert found == [
        case._replace(result=case.result % size) for case, size in zip(CASES, sizes, strict=True)
    ]


def line_of(code: str) -> int:
    """Return the line number of a case in a kernel without others."""
    ptx = kernel_of([Case(code, 0)])
    return ptx[: ptx.index(code)].count("\n") + 1


@needs_gcc
@pytest.mark.parametrize(("code", "problem"), [
    ("st.b16 [%rd4+5], %rs1;\nmov.b64 %rd9, 0;", "misaligned access of 2 bytes"),
    ("ld.v2.b64 {%rd5, %rd9}, [%rd4];", "misaligned access of 16 bytes"),
    ("cvt.rzi.s64.f64 %rd9, 0d43E0000000000000;", "float out of range"),
])  # fmt: skip
def test_misaligned_accesses_and_overflow_abort(code: str, problem: str) -> None:
    module = "from tests.device.test_ptx_to_c import Case, run"
    done = run_python("-c", f"{module}; run([Case({code!r}, 0)])")
    assert done.status == -signal.SIGABRT, done
    assert done.err == f"PTX line {line_of(code)}: {problem}\n"


@pytest.mark.parametrize("code", [
    "fma.rn.f64 %rd9, %rd1, %rd2, %rd1;", "add.rz.f64 %rd9, %rd1, %rd2;",
    "add.f64 %rd9, %rd1, %rd2;", "cvt.rni.s64.f64 %rd9, %rd1;", "ld.shared.b64 %rd9, [%rd4];",
    "ld.b64 %rd9, [%rd4], 0;", "ld.v2.b32 {_, %r9}, [%rd4];",
    "setp.lt.and.s64 %p9, %rd1, %rd2, %p1;", "mov.u32 %r9, %laneid;", "mov.b64 %rd9, 1.5;",
    ".shared .align 8 .b8 %rd9[8];",
])  # fmt: skip
def test_other_instructions_raise(code: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        translate(kernel_of([Case(code, 0)]))
    assert str(caught.value).startswith(f"PTX line {line_of(code)}: {code}: ")
