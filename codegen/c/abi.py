"""The face of the generated code: its C names, entry points, error codes and header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from textwrap import wrap as wrap_text

from hbc.codegen.c.codes import (
    AGAIN,
    ALIGN,
    ASSERT,
    BLOCK,
    CUDA,
    EXTENT,
    FEATURE,
    LARGE,
    MEMORY,
    NULL,
    OVERLAP,
    PACKED,
    REQUIRE,
    SIZE,
    STRIDE,
    code_kind,
    code_value,
)
from hbc.codegen.c.probe import missing_text
from hbc.codegen.text.names import Scope
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.printable import printable_line
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.target import TARGETS, Feature
from hbc.ir.lang.types import Kind
from hbc.ir.lang.walk import free_variables, statements


@record
class Code:
    """One way to fail: the enumerator, its value and the text for people."""

    name: str
    value: int
    message: str


@record
class Abi:
    """The C names of a kernel's sizes, scalars and arrays, of the arrays' strides and lengths in bytes, and
    the error codes in order."""

    kernel: Kernel
    names: dict[str, str]
    stride_names: dict[str, list[str]]
    byte_names: dict[str, str]
    codes: tuple[Code, ...]
    packed_names: dict[str, str] = field(default_factory=dict)

    @property
    def by_message(self) -> dict[str, str]:
        """The enumerator for an `Assert` or `Check` message, and for `memory`."""
        kinds = (REQUIRE, ASSERT, MEMORY)
        names = {c.message: c.name for c in self.codes if code_kind(c.value) in kinds}
        return {**names, "memory": f"{self.kernel.name}_MEMORY"}

    def overlapping(self, code: Code) -> tuple[Argument, Argument]:
        """The output and the other array that an OVERLAP code speaks of."""
        number = code.value // AGAIN * BLOCK + code.value % BLOCK
        return overlap_pairs(self.kernel)[number - 1]

    def code(self, suffix: str) -> str:
        return f"{self.kernel.name}_{suffix}"

    def packed(self, a: Argument) -> str:
        """The memory of what is made of a constant input."""
        return self.packed_names[a.name]

    def sizes(self) -> list[str]:
        return [f"int64_t {self.names[s.name]}" for s in self.kernel.sizes]

    def array(self, a: Argument, *, restrict: bool = False) -> str:
        if a.is_scalar:
            return f"{c_type(a.element)} {self.names[a.name]}"
        pointer = "*restrict " if restrict else "*"
        return f"{'' if a.output else 'const '}{c_type(a.element)} {pointer}{self.names[a.name]}"

    def strides(self, a: Argument) -> list[str]:
        return self.stride_names[a.name]

    def bytes(self, a: Argument) -> str:
        """The variable that holds how many bytes of memory the array spans."""
        return self.byte_names[a.name]

    def dense(self) -> list[str]:
        return self.sizes() + [self.array(a) for a in ordered(self.kernel)]

    def strided(self) -> list[str]:
        parameters = self.sizes()
        for a in ordered(self.kernel):
            parameters += [self.array(a), *(f"int64_t {s}" for s in self.strides(a))]
        return parameters


def function_names(k: Kernel) -> list[str]:
    """Those that the kernel's C may have for functions and for its enumeration."""
    suffixes = ["strided", "strerror", "compute", "plain", "status", "packed", "without_gaps"]
    suffixes += [f"{of}_{n}" for n in _constants(k) for of in ("pack", "packed_size")]
    suffixes += ["device", "device_strided", "wait", "cuda_error"]
    return [k.name, *(f"{k.name}_{suffix}" for suffix in suffixes)]


def _constants(k: Kernel) -> list[str]:
    return [a.name for a in k.arguments if a.constant]


def ordered(k: Kernel) -> list[Argument]:
    """Inputs, then outputs, each in the order of declaration."""
    return [a for a in k.arguments if not a.output] + [a for a in k.arguments if a.output]


def make_abi(
    k: Kernel,
    scope: Scope,
    fallback: Kernel | None = None,
    features: Sequence[Feature] = (),
    cuda: bool = False,
    alike: Sequence[Kernel] = (),
) -> Abi:
    """Names everything that appears in the header; later names in `scope` keep clear of them. A
    `fallback` can fail in its own ways; for want of one of the `features`, the kernel itself; with
    `cuda`, whatever it asks of the device. `alike`: kernels for other processors that share their codes
    with this one, itself among them."""
    constants = [] if cuda else _constants(k)
    scope.reserve(*function_names(k), "status", "code")
    bodies = tuple(alike) or ((k,) if fallback is None else (k, fallback))
    codes = tuple(_codes(k, bodies, features, cuda, alike or (k,)))
    if cuda:
        name = f"{k.name}_CUDA"
        codes += (Code(name, CUDA, f"CUDA refused: {k.name}_cuda_error() says what"),)
    scope.reserve(*(c.name for c in codes))
    names = {s.name: scope.declare(s.name, nonnegative=True) for s in k.sizes}
    strides, bytes_ = {}, {}
    for a in ordered(k):
        names[a.name] = declare_scalar(a, scope) if a.is_scalar else scope.fresh(a.name)
        rows = [a.stride_name(d) for d in range(len(a.extents) - 1)]
        strides[a.name] = [scope.declare(row, nonnegative=True) for row in rows]
        bytes_[a.name] = scope.fresh(f"{a.name}_bytes")
    packed = {n: scope.fresh(f"{n}_packed") for n in constants}
    return Abi(k, names, strides, bytes_, codes, packed)


def declare_scalar(a: Argument, scope: Scope) -> str:
    """The name of a scalar, with what is known of its value."""
    t = a.element
    nonnegative = t.kind in (Kind.UINT, Kind.BOOL)
    return scope.declare(a.name, nonnegative=nonnegative, bits=t.bits + (t.kind is Kind.UINT))


def _codes(
    k: Kernel,
    bodies: Sequence[Kernel],
    features: Sequence[Feature],
    cuda: bool,
    checked: Sequence[Kernel],
) -> list[Code]:
    wide = ", or device memory not as CUDA allocates it" if cuda else ""
    codes = [Code(f"{k.name}_OK", 0, "no error")]

    taken: set[str] = set()

    def add(suffix: str, kind: int, number: int, message: str) -> None:
        name, count = f"{k.name}_{suffix}", 1
        while name in taken:  # `a` over `b_c`, and `a_b` over `c`
            count += 1
            name = f"{k.name}_{suffix}_{count}"
        taken.add(name)
        codes.append(Code(name, code_value(kind, number), message))

    for i, size in enumerate(k.sizes, 1):
        what = f"must be {size.fixed}" if size.fixed is not None else "is negative or above 2^40"
        add(f"SIZE_{size.name}", SIZE, i, f"size `{size.name}` {what}")
    arrays = ordered(k)
    for base, suffix, what in (
        (NULL, "NULL", "is null"),
        (ALIGN, "ALIGN", f"is not aligned to its elements{wide}"),
        (EXTENT, "EXTENT", "has a negative extent"),
        (STRIDE, "STRIDE", "has a stride smaller than the rows it steps over"),
        (LARGE, "LARGE", "has more bytes than 64-bit offsets can reach"),
    ):
        for i, a in enumerate(arrays, 1):
            if not a.is_scalar and (
                base != STRIDE or len(a.extents) > 1
            ):  # a row has no stride to choose
                add(f"{suffix}_{a.name}", base, i, f"array `{a.name}` {what}")
    for i, (a, b) in enumerate(overlap_pairs(k), 1):
        text = f"output `{a.name}` overlaps `{b.name}`"
        add(f"OVERLAP_{a.name}_{b.name}", OVERLAP, i, text)
    required = dict.fromkeys(c.message for one in checked for c in one.checks)
    for i, message in enumerate(required, 1):
        add(f"REQUIRE_{i}", REQUIRE, i, message)
    asserted = dict.fromkeys(
        n.message for one in bodies for n in statements(one.body) if isinstance(n, ir.Assert)
    )
    for i, message in enumerate((m for m in asserted if m not in required), 1):
        add(f"ASSERT_{i}", ASSERT, i, message)
    for i, a in enumerate((a for a in arrays if a.constant and not cuda), 1):
        text = f"`{a.name}` was not packed by this kernel for these sizes, in memory aligned to 64 bytes"
        add(f"PACKED_{a.name}", PACKED, i, text)
    add("MEMORY", MEMORY, 0, "out of memory")
    for i, f in enumerate(features, 1):
        add(f"FEATURE_{f.name}", FEATURE, i, missing_text(f))
    return codes


def overlap_pairs(k: Kernel) -> list[tuple[Argument, Argument]]:
    arrays = [a for a in ordered(k) if not a.is_scalar]
    return [(a, b) for i, a in enumerate(arrays) if a.output for b in arrays[:i]]


def header(abi: Abi, about: str, cuda: bool = False, packed: Sequence[str] = ()) -> str:
    """The text of the `.h` file of one kernel; see `header_part`."""
    return header_of(abi.kernel.name, [header_part(abi, cuda, packed)], about)


def header_of(name: str, parts: Sequence[Writer], about: str) -> str:
    """The text of NAME.h, which declares what the parts do."""
    out, guard = Writer(), f"HBC_{name.upper()}_H"
    out.raw(f"/* {about} */\n#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n")
    out.raw('#ifdef __cplusplus\nextern "C" {\n#endif\n')
    for part in parts:
        out.blank()
        out.lines += part.lines
    out.blank()
    out.raw(f"#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */")
    return out.text()


def header_part(abi: Abi, cuda: bool = False, packed: Sequence[str] = ()) -> Writer:
    """The declarations of a kernel; with `cuda`, entry points on device memory too. `packed`: the lines of
    those for constant inputs."""
    k, out = abi.kernel, Writer()
    out.raw(f"/* What {k.name} and {k.name}_strided return. */")
    with out.braces(f"enum {k.name}_status"):
        for c in abi.codes:
            _enumerator(c, out)
    out.lines[-1] += ";"
    out.blank()
    _describe(k, out)
    out.function(f"int {k.name}", abi.dense(), ";")
    out.blank()
    out.raw(
        "/* The same for arrays whose rows lie apart: strides in elements, the last one being 1. */"
    )
    out.function(f"int {k.name}_strided", abi.strided(), ";")
    if cuda:
        _device_header(abi, out)
    out.lines += packed
    out.blank()
    out.raw("/* What an error code means, in English; never NULL. */")
    out.function(f"const char *{k.name}_strerror", ["int code"], ";")
    return out


def _device_header(abi: Abi, out: Writer) -> None:
    out.blank()
    out.raw(
        "/* The same for arrays in device memory, in the order of a stream (a cudaStream_t; NULL for\n"
        "   the default one). Returns once the work is launched. */"
    )
    for suffix, parameters in (("device", abi.dense()), ("device_strided", abi.strided())):
        out.function(f"int {abi.kernel.name}_{suffix}", [*parameters, "void *stream"], ";")
    out.blank()
    out.raw("/* Waits until the stream is done: whether all went well, kernels included. */")
    out.function(f"int {abi.kernel.name}_wait", ["void *stream"], ";")
    out.blank()
    out.raw("/* The last CUDA error of this thread, in English; never NULL. */")
    out.function(f"const char *{abi.kernel.name}_cuda_error", [], ";")


def _enumerator(c: Code, out: Writer) -> None:
    """With its message behind it, or above where that is long."""
    text = _comment(c.message)
    line = f"{c.name} = {c.value},"
    if len(line) + len(text) <= 88:
        out.line(f"{line} /* {text} */")
        return
    for i, part in enumerate(parts := wrap_text(text, 80)):
        start, end = "/*" if i == 0 else "  ", " */" if i + 1 == len(parts) else ""
        out.raw(f"    {start} {part}{end}")
    out.line(line)


def _describe(k: Kernel, out: Writer) -> None:
    out.raw("/* Arrays are dense and row-major:")
    for a in ordered(k):
        out.raw(f"     {role(a)} {shape(a)}")
    out.raw(
        "   Arguments are checked before anything is written. Returns 0, or what went wrong. */"
    )


def role(a: Argument) -> str:
    """Whether it is read or written, in words."""
    if a.aliases:
        return f"input `{a.aliases}`, and in its place output"
    return "output" if a.output else "input"


def _comment(text: str) -> str:
    """One line that no comment ends with, and that shows what is there."""
    return printable_line(" ".join(text.replace("*/", "* /").replace("/*", "/ *").split()))


def shape(a: Argument) -> str:
    """`A: f32[M, K]`, extents spelled in C; `W: i4[M, K], two in a byte: u8[M, (K + 1) / 2]`."""
    if a.is_scalar:
        return f"{a.name}: {a.element}"
    held = f"{a.element}[{', '.join(extent_texts(a))}]"
    if a.packed is None:
        return f"{a.name}: {held}"
    said = replace(a, element=a.packed.element, extents=(*a.extents[:-1], a.packed.extent))
    return f"{a.name}: {a.packed.element}[{', '.join(extent_texts(said))}], two in a byte: {held}"


def extent_texts(a: Argument) -> list[str]:
    unit = Unit(TARGETS["c"])
    for name in sorted(frozenset().union(*(free_variables(e) for e in a.extents))):
        unit.scope.declare(name, nonnegative=True)
    return [str(scalar(e, unit)) for e in a.extents]


def strerror(abi: Abi, out: Writer) -> None:
    out.function(f"const char *{abi.kernel.name}_strerror", ["int code"], "")
    with out.braces():
        with out.braces("switch (code)"):
            for c in abi.codes:
                out.line(f"case {c.name}:")
                out.depth += 1
                out.line(f'return "{_quoted(c.message)}";')
                out.depth -= 1
        out.line('return "unknown error code";')


def _quoted(text: str) -> str:
    """Safe inside a C string: bytes outside ASCII in octal, no trigraphs."""
    escaped = "".join(
        c if " " <= c < "\x7f" and c not in '"\\' else "".join(f"\\{b:03o}" for b in c.encode())
        for c in text
    )
    return escaped.replace("??", "?\\?")
