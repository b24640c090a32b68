"""The C file around the body of a function that moves elements between vector registers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hbc.codegen.moves.text import Constant
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.record import record
from hbc.ir.lang.types import DType


@record
class VectorTarget:
    """Registers of `bits` bits, of integers of any width, and what C calls them: `type`, `header`, `zero`,
    loads and stores of whole registers, `aligned` loads (`{place}`, `{value}`). `splat`: all elements alike,
    by the element's type. `flags` for gcc and clang. `head`: C before all else. `predicate`: the type of
    registers of a bit for each byte, where constants are such."""

    name: str
    bits: int
    type: str
    header: str
    load: str
    aligned: str
    store: str
    zero: str
    splat: Mapping[str, str]
    flags: str = ""
    head: str = ""
    predicate: str = ""

    def loaded(self, place: str) -> str:
        return self.load.format(place=place)

    def stored(self, place: str, value: str) -> str:
        return f"{self.store.format(place=place, value=value)};"

    def constant(self, constant: Constant, name: str) -> str:
        """Its declaration as a register, from its table."""
        if constant.is_predicate:
            return f"const {self.predicate} {name} = *(const {self.predicate} *){name}_table;"
        return f"const {self.type} {name} = {self.aligned.format(place=f'{name}_table')};"


INTEGERS = (8, 16, 32, 64)  # bits


def _x86(name: str, bits: int, flags: str) -> VectorTarget:
    m, t = f"_mm{bits}", f"__m{bits}i"
    splat = {
        f"{kind}{n}": f"{m}_set1_epi{n}((int{n}_t){{value}})" for kind in "iu" for n in INTEGERS
    }
    if bits == 256:
        splat |= {of: splat[of].replace("epi64", "epi64x") for of in ("i64", "u64")}
    for of, suffix in (("f32", "ps"), ("f64", "pd")):
        splat[of] = f"{m}_cast{suffix}_si{bits}({m}_set1_{suffix}({{value}}))"
    return VectorTarget(
        name, bits, t, "immintrin.h", f"{m}_loadu_si{bits}((const {t} *)({{place}}))",
        f"{m}_load_si{bits}((const {t} *){{place}})", f"{m}_storeu_si{bits}(({t} *)({{place}}), {{value}})",
        f"{m}_setzero_si{bits}()", splat, flags,
    )  # fmt: skip


AVX512 = _x86("avx512", 512, "-mavx512f -mavx512bw")
AVX2 = _x86("avx2", 256, "-mavx2")
NEON = VectorTarget(
    "neon", 128, "uint8x16_t", "arm_neon.h", "vld1q_u8((const uint8_t *)({place}))",
    "vld1q_u8((const uint8_t *){place})", "vst1q_u8((uint8_t *)({place}), {value})", "vdupq_n_u8(0)",
    {f"{kind}{n}": f"(uint8x16_t)vdupq_n_{name}{n}({{value}})"
     for kind, name, widths in (("i", "s", INTEGERS), ("u", "u", INTEGERS), ("f", "f", (32, 64)))
     for n in widths},
)  # fmt: skip


def _sve(bits: int) -> VectorTarget:
    every, flags = "svptrue_b8()", f"-march=armv8.2-a+sve -msve-vector-bits={bits}"
    fixed = f"__attribute__((arm_sve_vector_bits({bits})))"
    return VectorTarget(
        f"sve{bits}", bits, "sve_bytes", "arm_sve.h", f"svld1_u8({every}, (const uint8_t *)({{place}}))",
        f"svld1_u8({every}, (const uint8_t *){{place}})",
        f"svst1_u8({every}, (uint8_t *)({{place}}), {{value}})", "svdup_n_u8(0)",
        {f"{kind}{n}": f"svreinterpret_u8_{name}{n}(svdup_n_{name}{n}({{value}}))"
         for kind, name, widths in (("i", "s", INTEGERS), ("u", "u", INTEGERS), ("f", "f", (32, 64)))
         for n in widths},
        flags, f"#if __ARM_FEATURE_SVE_BITS != {bits}\n#error \"compile with {flags}\"\n#endif\n"
        f"typedef svuint8_t sve_bytes {fixed};\ntypedef svbool_t sve_bits {fixed};", "sve_bits",
    )  # fmt: skip


SVE256 = _sve(256)


# Calls that are a feature of their own beside those of the target.
FEATURES = {r"var_epi8\(|multishift": "-mavx512vbmi", "gf2p8": "-mgfni"}


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
    constants: Mapping[Constant, str]

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
    text = "\n".join(function.body)
    more = [flag for calls, flag in FEATURES.items() if re.search(calls, text)]
    flags = " ".join([target.flags, *more]).strip()
    for note in [*notes, *([f"Needs {flags}."] if flags else [])]:
        out.comment(note)
    if "INFINITY" in "".join(function.body):
        out.raw("#include <math.h>")
    out.raw(
        f"#include <{target.header}>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>"
    )
    out.blank()
    for text in [*([target.head] if target.head else []), *folds]:
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
        for constant, name in function.constants.items():
            out.line(target.constant(constant, name))
        out.blank()
        out.lines += function.body
    out.blank()


def _parts(out: Writer, target: VectorTarget, body: str) -> None:
    """What loads and stores a part of a register, where it is used."""
    vector, size = target.type, target.bits // 8
    if "load_part(" in body:
        out.function(f"static {vector} load_part", ["const void *from", "size_t bytes"], "")
        with out.braces():
            out.line(f"uint8_t whole[{size}] = {{0}};")
            out.line("memcpy(whole, from, bytes);")
            out.line(f"return {target.loaded('whole')};")
        out.blank()
    if "store_part(" in body:
        out.function("static void store_part", ["void *to", f"{vector} from", "size_t bytes"], "")
        with out.braces():
            out.line(f"uint8_t whole[{size}];")
            out.line(target.stored("whole", "from"))
            out.line("memcpy(to, whole, bytes);")
        out.blank()
