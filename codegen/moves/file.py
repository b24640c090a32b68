"""The C file around the body of a function that moves elements between vector registers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.record import record
from hbc.ir.lang.types import DType


@record
class VectorTarget:
    """Registers of `bits` bits. `prefix` and `type` as intrinsics have them; `flags` for gcc and clang."""

    name: str
    bits: int
    prefix: str
    flags: str

    @property
    def type(self) -> str:
        return f"__m{self.bits}i"


AVX512 = VectorTarget("avx512", 512, "_mm512", "-mavx512f -mavx512bw")
AVX2 = VectorTarget("avx2", 256, "_mm256", "-mavx2")


@record
class Array:
    """An argument and its elements."""

    name: str
    size: int


@record
class Function:
    """`body` uses `constants`, registers of constants that are loaded before it."""

    name: str
    dtype: DType
    inputs: Sequence[Array]
    outputs: Sequence[Array]
    body: Sequence[str]
    constants: Sequence[str]

    @property
    def arrays(self) -> list[Array]:
        return [*self.inputs, *self.outputs]

    @property
    def parameters(self) -> list[str]:
        element = c_type(self.dtype)
        read = [f"const {element} *restrict {array.name}" for array in self.inputs]
        return [*read, *(f"{element} *restrict {array.name}" for array in self.outputs)]


def c_text(
    function: Function, target: VectorTarget, notes: Sequence[str], folds: Sequence[str],
    tables: Sequence[str],
) -> str:  # fmt: skip
    """The file: one function for one block of each array, one for many."""
    out = Writer()
    flags = target.flags + (" -mavx512vbmi" if _permutes_bytes(function.body) else "")
    for note in [*notes, f"Needs {flags}."]:
        out.comment(note)
    if "INFINITY" in "".join(function.body):
        out.raw("#include <math.h>")
    out.raw("#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>")
    out.blank()
    for text in folds:
        out.raw(text)
        out.blank()
    _parts(out, target, "\n".join(function.body))
    for line in tables:
        out.line(line)
    out.blank()
    name, parameters = function.name, function.parameters
    sizes = ", ".join(f"{array.name}[{array.size}]" for array in function.arrays)
    out.comment(f"{sizes}: row-major; outputs overlap nothing.")
    out.function(f"void {name}", parameters, ";")
    out.comment("The same for so many arrays behind each other.")
    out.function(f"void {name}_blocks", ["size_t blocks", *parameters], ";")
    out.blank()
    _block(out, function, target)
    out.function(f"void {name}", parameters, "")
    with out.braces():
        out.line(f"{name}_block({', '.join(array.name for array in function.arrays)});")
    out.blank()
    out.function(f"void {name}_blocks", ["size_t blocks", *parameters], "")
    # Pointers of their own: gcc makes one index of a common counter, and stores through it are slower.
    with out.braces(), out.braces("for (; blocks > 0; blocks--)"):
        out.line(f"{name}_block({', '.join(array.name for array in function.arrays)});")
        for array in function.arrays:
            out.line(f"{array.name} += {array.size};")
    return out.text()


def _block(out: Writer, function: Function, target: VectorTarget) -> None:
    out.function(f"static inline void {function.name}_block", function.parameters, "")
    with out.braces():
        text = "\n".join(function.body)
        for array in function.arrays:
            if not re.search(rf"\b{array.name}\b", text):
                out.line(f"(void){array.name}; // nothing is wanted of it")
        for name in function.constants:
            loaded = f"{target.prefix}_load_si{target.bits}((const {target.type} *){name}_table)"
            out.line(f"const {target.type} {name} = {loaded};")
        out.blank()
        out.lines += function.body
    out.blank()


def _permutes_bytes(body: Sequence[str]) -> bool:
    """Whether general permutes of bytes occur, which are a feature of their own."""
    return any("var_epi8(" in line for line in body)


def _parts(out: Writer, target: VectorTarget, body: str) -> None:
    """What loads and stores a part of a register, where it is used."""
    vector, size = target.type, target.bits // 8
    pointer = f"{target.prefix}_{{}}u_si{target.bits}"
    if "load_part(" in body:
        out.function(f"static {vector} load_part", ["const void *from", "size_t bytes"], "")
        with out.braces():
            out.line(f"uint8_t whole[{size}] = {{0}};")
            out.line("memcpy(whole, from, bytes);")
            out.line(f"return {pointer.format('load')}((const {vector} *)whole);")
        out.blank()
    if "store_part(" in body:
        out.function("static void store_part", ["void *to", f"{vector} from", "size_t bytes"], "")
        with out.braces():
            out.line(f"uint8_t whole[{size}];")
            out.line(f"{pointer.format('store')}(({vector} *)whole, from);")
            out.line("memcpy(to, whole, bytes);")
        out.blank()
