"""Translate PTX to C, and run the kernel on the CPU, one thread after the other.

This checks LLVM's back end for GPUs without a GPU. Each PTX instruction becomes one C statement
with the meaning that NVIDIA's PTX manual gives. An access to memory that is not aligned aborts the
process, because GPUs do not allow it. Accesses outside an array are not detected. Only instructions
of this project's kernels are known; others raise an error.

In C, a register is an unsigned integer of the same name, and a variable or parameter is an array of
the same name, with ``$`` replaced by ``_``. PTX and C have the same line numbers.
"""

import ctypes
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from wfb_gym.device.lowering import ENTRY

_PRELUDE = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef uint8_t u8, b8; typedef uint16_t u16, b16; typedef uint32_t u32, b32;
typedef uint64_t u64, b64; typedef int8_t s8; typedef int16_t s16; typedef int32_t s32;
typedef int64_t s64; typedef float f32; typedef double f64; typedef _Bool pred;
u64 instructions;
static u32 thread;
static f32 as_f32(b32 x) { f32 y; memcpy(&y, &x, 4); return y; }
static f64 as_f64(b64 x) { f64 y; memcpy(&y, &x, 8); return y; }
static b32 bits_f32(f32 x) { b32 y; memcpy(&y, &x, 4); return y; }
static b64 bits_f64(f64 x) { b64 y; memcpy(&y, &x, 8); return y; }

#define EXPECT(condition, problem) if (!(condition)) { \
  fprintf(stderr, "PTX line %d: %s\n", __LINE__, problem); abort(); }
#define ALIGNED(at, size) EXPECT(at % size == 0, "misaligned access of " #size " bytes")
#define TO_INTEGER(x, bits) ({ \
  EXPECT(fabs(trunc(x)) < ldexp(1, bits - 1), "float out of range") (s64)x; })

#define EXTRACT(T) static T extract_##T(T x, u32 first, u32 count) { \
  first &= 255; count = (count & 255) < 64 ? count & 255 : 64; \
  x = first < 64 ? x >> first : x < 0 ? -1 : 0; \
  return count ? (T)((u64)x << 64 - count) >> 64 - count : 0; }
EXTRACT(u64) EXTRACT(s64)
static b32 permute(b32 low, b32 high, b32 selectors) {
  b64 bytes = (b64)high << 32 | low;
  b32 result = 0;
  for (int k = 0; k < 4; k++) {
    u32 selector = selectors >> 4 * k & 15;
    s8 byte = bytes >> 8 * (selector & 7);
    result |= (u32)(u8)(selector & 8 ? byte >> 7 : byte) << 8 * k;
  }
  return result;
}
#line 1
"""
_LAUNCH = f"""
void launch(void *words, u64 members, void *failure) {{
  for (thread = 0; thread < members; thread++) {ENTRY}(words, &members, &failure);
}}
"""
_OPTIONS = ("-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-w", "-shared", "-fPIC")
_OPERATIONS = {
    "mov.b mov.u mov.pred": "{0}",
    "cvta.global.u cvta.local.u cvta.to.global.u cvta.to.local.u": "{0}",
    "add.s add.u": "{0} + {1}",
    "sub.s sub.u": "{0} - {1}",
    "mul.lo.s mul.lo.u": "{0} * {1}",
    "mul.hi.s": "(__int128){0} * {1} >> {bits}",
    "mul.wide.s": "(s64){0} * {1}",
    "mul.wide.u": "(u64){0} * {1}",
    "mad.lo.s mad.lo.u": "{0} * {1} + {2}",
    "div.s div.u": "{0} / {1}",
    "rem.s rem.u": "{0} % {1}",
    "min.s min.u": "{0} < {1} ? {0} : {1}",
    "max.s max.u": "{0} > {1} ? {0} : {1}",
    "neg.s": "-{0}",
    "and.b and.pred": "{0} & {1}",
    "or.b or.pred": "{0} | {1}",
    "xor.b xor.pred": "{0} ^ {1}",
    "not.b": "~{0}",
    "not.pred": "!{0}",
    "shl.b": "{1:u32} < {bits} ? {0} << {1:u32} : 0",
    "shr.u": "{1:u32} < {bits} ? {0} >> {1:u32} : 0",
    "shr.s": "{0} >> ({1:u32} < {bits} ? {1:u32} : {bits} - 1)",
    "bfe.u": "extract_u64({0}, {1:u32}, {2:u32})",
    "bfe.s": "extract_s64({0}, {1:u32}, {2:u32})",
    "prmt.b": "permute({0}, {1}, {2})",
    "popc.b": "__builtin_popcountll({0})",
    "selp.b selp.f": "{2:pred} ? {0:b} : {1:b}",
    "add.rn.f": "bits_{kind}({0} + {1})",
    "sub.rn.f": "bits_{kind}({0} - {1})",
    "mul.rn.f": "bits_{kind}({0} * {1})",
    "div.rn.f": "bits_{kind}({0} / {1})",
    "neg.f": "bits_{kind}(-{0})",
    "setp.eq.b setp.eq.f": "{0} == {1}",
    "setp.ne.b setp.neu.f": "{0} != {1}",
    "setp.lt.s setp.lt.u setp.lt.f": "{0} < {1}",
    "setp.le.s setp.le.u setp.le.f": "{0} <= {1}",
    "setp.gt.s setp.gt.u setp.gt.f": "{0} > {1}",
    "setp.ge.s setp.ge.u setp.ge.f": "{0} >= {1}",
    "setp.ltu.f": "!({0} >= {1})",  # also true for NaN
    "setp.leu.f": "!({0} > {1})",
    "setp.gtu.f": "!({0} <= {1})",
    "setp.geu.f": "!({0} < {1})",
}
"""The result in C of each operation and class of types.

Braces mark the operands, as numbers of the instruction's type or of the type after the colon.
Registers have the size of the result, so assigning to them drops the bits beyond it.
"""
_EXPRESSIONS = {name: c for names, c in _OPERATIONS.items() for name in names.split()}
_SPACES = r"(?:\.(?:param|global|local))?(?:\.nc)?(?:\.v[24])?"
"""State spaces, read-only loads and vectors, none of which changes an access in C."""
_ARRAY = r"\.align (\d+) \.([bu]\d+) (\w+)\[(\d+)\]"
_REGISTER = r"%(?:[a-z]+\d+|SPL?)"
_SPECIAL = {"%tid.x": "thread", "%ctaid.x": "0", "%ntid.x": "1"}


class _Operand:
    """An operand of an instruction. Formatted, it is a number in C of its own or another type."""

    def __init__(self, text: str, kind: str) -> None:
        self._text, self._kind = text, kind

    def __format__(self, kind: str) -> str:
        return _number(self._text, "b" + self._kind[1:] if kind == "b" else kind or self._kind)


def _number(text: str, kind: str) -> str:
    """Return an operand as a number in C of a PTX type, such as "s64"."""
    is_float = kind.startswith("f")
    if re.fullmatch(_REGISTER, text):
        return f"as_{kind}({text[1:]})" if is_float else f"({kind}){text[1:]}"
    if re.fullmatch("0f[0-9A-F]{8}|0d[0-9A-F]{16}", text):
        bits = f"0x{text[2:]}ULL"
        return f"as_{kind}({bits})" if is_float else f"({kind}){bits}"
    if re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+U", text) and not is_float:
        return f"({kind}){int(text.rstrip('U'), 0) % 2**64:#x}ULL"
    if text in _SPECIAL and kind == "u32":
        return _SPECIAL[text]
    if re.fullmatch(r"[A-Za-z_]\w*", text) and kind in ("b64", "u64"):
        return f"(u64){text}"
    raise ValueError(f"operand: expected a number of type {kind}, found {text!r}")


def _register(text: str) -> str:
    if not re.fullmatch(_REGISTER, text):
        raise ValueError(f"operand: expected a register, found {text!r}")
    return text[1:]


def _compute(name: str, kind: str, result: str, operands: str) -> str:
    """Translate an instruction that assigns an expression to a register."""
    expression = _EXPRESSIONS.get(f"{name}.{kind if kind == 'pred' else kind[0]}")
    if expression is None:
        raise ValueError("expected an instruction of this project's kernels")
    given = [_Operand(each, kind) for each in operands.split(", ")]
    return f"{_register(result)} = {expression.format(*given, kind=kind, bits=kind[1:])};"


def _convert(expression: str, to: str, origin: str, result: str, operand: str) -> str:
    number = _number(operand, origin)
    return f"{_register(result)} = {expression.format(number, to=to, bits=to[1:])};"


def _unpack(bits: str, low: str, high: str, operand: str) -> str:
    """Translate the split of a register into two halves."""
    number = _number(operand, f"b{bits}")
    halves = {low: number, high: f"{number} >> {int(bits) // 2}"}
    return " ".join(f"{_register(each)} = {c};" for each, c in halves.items() if each != "_")


def _pack(bits: str, result: str, low: str, high: str) -> str:
    """Translate the concatenation of two halves."""
    half = int(bits) // 2
    low, high = _number(low, f"b{half}"), _number(high, f"b{half}")
    return f"{_register(result)} = (u64){high} << {half} | {low};"


def _add_pairs(result: str, first: str, second: str) -> str:
    """Translate the addition of two pairs of 16-bit integers."""
    a, b = _number(first, "u32"), _number(second, "u32")
    return f"{_register(result)} = (({a} >> 16) + ({b} >> 16)) << 16 | (u16)({a} + {b});"


def _access(kind: str, names: str, place: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the check of an access to memory, and the operands with their places in C."""
    base, _, offset = place.partition("+")
    items, size = names.strip("{}").split(", "), int(kind[1:]) // 8
    check = f"u64 at = {_number(base, 'u64')} + {int(offset or 0)};"
    places = [f"*({kind} *)(at + {k * size})" for k in range(len(items))]
    return f"{check} ALIGNED(at, {size * len(items)})", list(zip(items, places, strict=True))


def _load(kind: str, registers: str, place: str) -> str:
    check, items = _access(kind, registers, place)
    return " ".join([check, *(f"{_register(each)} = {where};" for each, where in items)])


def _store(kind: str, place: str, operands: str) -> str:
    check, items = _access(kind, operands, place)
    return " ".join([check, *(f"{where} = {_number(each, kind)};" for each, where in items)])


_INSTRUCTIONS: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"bra(?:\.uni)? (\w+)", "goto {};".format),
    (
        r"brx\.idx %(\w+), (\w+)",
        'EXPECT({0} < sizeof {1} / 8, "no such branch") goto *{1}[{0}];'.format,
    ),
    (r"ret", "return;".format),
    (r"call\.uni (\w+), \(([\w, ]+)\)", "{}({});".format),
    (r"call\.uni \((\w+)\), (\w+), \(([\w, ]+)\)", "{1}({0}, {2});".format),
    (r"mov\.b(32|64) \{(\S+), (\S+)\}, (\S+)", _unpack),
    (r"mov\.b(32|64) (\S+), \{(\S+), (\S+)\}", _pack),
    (r"add\.[su]16x2 (\S+), (\S+), (\S+)", _add_pairs),
    (rf"ld{_SPACES}\.([bsu]\d+) (\S+|\{{.+\}}), \[(\S+)\]", _load),
    (rf"st{_SPACES}\.([bsu]\d+) \[(\S+)\], (\S+|\{{.+\}})", _store),
    (r"cvt\.([su]\d+)\.([su]\d+) (\S+), (\S+)", partial(_convert, "({to}){0}")),
    (r"cvt\.rn\.(f\d+)\.([suf]\d+) (\S+), (\S+)", partial(_convert, "bits_{to}(({to}){0})")),
    (r"cvt\.rzi\.(s\d+)\.(f\d+) (\S+), (\S+)", partial(_convert, "TO_INTEGER({0}, {bits})")),
    (r"([\w.]+)\.(pred|[bsuf]\d+) (\S+), ([^{}\[\]]+)", _compute),
)


def _instruction(negated: str | None, guard: str | None, text: str) -> str:
    for pattern, translate in _INSTRUCTIONS:
        if match := re.fullmatch(pattern, text):
            condition = f"if ({'!' if negated else ''}{guard[1:]}) " if guard else ""
            return f"instructions++; {condition}{{ {translate(*match.groups())} }}"
    raise ValueError("expected an instruction of this project's kernels")


def _head(results: str | None, name: str, parameters: str, end: str) -> str:
    """Translate the head of a function. Its parameters are the addresses of variables."""
    names = re.findall(r"(\w+)(?:\[\d+\])?(?:,|$)", ", ".join(filter(None, (results, parameters))))
    return f"static void {name}({', '.join(f'void *{each}' for each in names)}) {end}"


def _variable(space: str, align: str, kind: str, name: str, count: str, content: str = "") -> str:
    """Translate an array.

    C might align it to more than PTX asks for, which would hide misaligned accesses. Therefore,
    its address is not a multiple of twice the alignment.
    """
    at = 8 * int(align) // int(kind[1:])
    content = re.sub(r"generic\((\w+)\)", r"(u64)(\1_all + \1_at)", content)
    return (
        f"enum {{ {name}_at = {at} }}; {'static ' if space == 'global' else ''}"
        f"{kind} {name}_all[{int(count) + at}] __attribute__((aligned({2 * int(align)})))"
        f"{f' = {{[{at}] = {content}}}' if content else ''}, *const {name} = {name}_all + {at};"
    )


def _registers(kind: str, name: str, count: str | None) -> str:
    names = [f"{name}{k}" for k in range(1, int(count))] if count else [name]
    return f"{kind.replace('f', 'b')} {', '.join(names)};"


_STATEMENTS: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"([{}])", "{}".format),
    (r"(\w+:)", "{};".format),
    (r"(?:@(!)?(%p\d+) )?([a-z][^;]*);", _instruction),
    (r"(?:\.visible )?\.(?:func|entry) (?:\(([^)]*)\) )?(\w+) ?\( ?([^)]*?) ?\) ([;{])", _head),
    (rf"\.(local) {_ARRAY};", _variable),
    (rf"\.(global) {_ARRAY} = \{{([\w ,()-]*)\}};", _variable),
    (r"\.param \.(b\d+) (\w+);", "{} {}[1];".format),
    (r"\.reg \.(pred|[bsuf]\d+) %(\w+)(?:<(\d+)>)?;", _registers),
    (
        r"(\w+): \.branchtargets ([^;]*);",
        lambda name, labels: f"void *{name}[] = {{&&{labels.replace(', ', ', &&')}}};",
    ),
    (r'\.pragma "nounroll";', "".format),
)


def _statements(ptx: str) -> Iterator[tuple[int, str]]:
    """Yield the statements and the numbers of their first lines."""
    first, text = 0, ""
    for number, line in enumerate(ptx.replace("$", "_").split("\n"), 1):
        words = line.partition("//")[0].split()
        if not words or words[0] in (".version", ".target", ".address_size"):
            continue
        first = first if text else number
        text = " ".join([text, *words] if text else words)
        if text.endswith((";", "{", "}", ":")):
            yield first, text
            text = ""


def translate(ptx: str) -> str:
    """Return a C program with a function ``launch(words, members, failure)``.

    Raises:
        ValueError: if an instruction is not known.
    """
    lines = [""] * (ptx.count("\n") + 2)
    for number, text in _statements(ptx):
        try:
            lines[number] += _statement(text)
        except ValueError as error:
            raise ValueError(f"PTX line {number}: {text}: {error}") from None
    return _PRELUDE + "\n".join([*lines[1:], _LAUNCH])


def _statement(text: str) -> str:
    for pattern, translate_match in _STATEMENTS:
        if match := re.fullmatch(pattern, text):
            return translate_match(*match.groups())
    raise ValueError("expected a statement of this project's kernels")


class TranslatedKernel:
    """A kernel that runs PTX on the CPU; see `wfb_gym.device.lowering.Kernel`.

    Args:
        ptx: a result of `wfb_gym.device.lowering.to_ptx`.
    """

    def __init__(self, ptx: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "kernel.c"), Path(folder, "kernel.so")
            source.write_text(translate(ptx))
            subprocess.run(["gcc", *_OPTIONS, source, "-o", library, "-lm"], check=True)
            self._library = ctypes.CDLL(str(library))
        self._failure = ctypes.c_int64()

    @property
    def instructions(self) -> int:
        """Number of PTX instructions that all threads have executed."""
        return ctypes.c_uint64.in_dll(self._library, "instructions").value

    def bind(self, words: Mapping[str, int], members: int) -> Callable[[], None]:
        given = (ctypes.c_int64 * max(1, len(words)))(*words.values())
        count, failure = ctypes.c_uint64(members), ctypes.byref(self._failure)
        return lambda: self._library.launch(given, count, failure)

    def failure(self) -> int:
        found, self._failure.value = self._failure.value, 0
        return found
