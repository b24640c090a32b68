"""Prints a program of registers as C with vector intrinsics: a function of arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.moves.file import AVX2, AVX512, NEON, SVE256, Array, Function, VectorTarget, c_text
from hbc.codegen.moves.text import Constants, instruction_text
from hbc.codegen.text.names import Scope, identifier
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.counted import counted
from hbc.ir.ground.record import record
from hbc.ir.lang.types import DType
from hbc.ir.moves.register_program import RegisterProgram

TARGETS = {"avx512": AVX512, "avx2": AVX2, "neon": NEON, "sve256": SVE256}

# How registers are loaded and stored of which so many bytes are an array's.
PARTS: dict[tuple[str, int], tuple[str, str]] = {
    ("avx512", 32): (
        "_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)({place})))",
        "_mm256_storeu_si256((__m256i *)({place}), _mm512_castsi512_si256({value}));",
    ),
    ("avx512", 16): (
        "_mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)({place})))",
        "_mm_storeu_si128((__m128i *)({place}), _mm512_castsi512_si128({value}));",
    ),
    ("avx512", 8): (
        "_mm512_castsi128_si512(_mm_loadl_epi64((const __m128i *)({place})))",
        "_mm_storel_epi64((__m128i *)({place}), _mm512_castsi512_si128({value}));",
    ),
    ("avx2", 16): (
        "_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)({place})))",
        "_mm_storeu_si128((__m128i *)({place}), _mm256_castsi256_si128({value}));",
    ),
    ("neon", 8): (
        "vcombine_u8(vld1_u8((const uint8_t *)({place})), vdup_n_u8(0))",
        "vst1_u8((uint8_t *)({place}), vget_low_u8({value}));",
    ),
    ("avx2", 8): (
        "_mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)({place})))",
        "_mm_storel_epi64((__m128i *)({place}), _mm256_castsi256_si128({value}));",
    ),
}


@record
class Buffer:
    """An array of the function."""

    name: str
    size: int  # elements


def emit_registers(
    name: str, program: RegisterProgram, read: Sequence[Buffer], made: Sequence[Buffer],
    dtype: DType, target: str, notes: Sequence[str], grain: int = 8,
) -> str:  # fmt: skip
    """The C file: the arrays `read` are loaded, each from a register of its own on, `made` are stored, in
    between are the program's instructions, described for elements of `grain` bits."""
    machine = TARGETS[target]
    scope = Scope()
    scope.reserve(name, "blocks", "block", "load_part", "store_part", "vec")
    given = [Array(scope.fresh(identifier(buffer.name)), buffer.size) for buffer in read]
    results = [Array(scope.fresh(identifier(buffer.name)), buffer.size) for buffer in made]
    constants = Constants(scope)
    out = Writer(depth=1)
    used = {operand for op in program.ops for operand in op.operands} | set(program.outputs)
    values: list[str] = []
    for array, register in _registers(machine, given, dtype):
        values.append(scope.fresh(f"{array.name}_{register}"))
        if len(values) - 1 in used:
            text = _loaded(machine, array.name, register, array.size, dtype)
            out.line(f"const {machine.type} {values[-1]} = {text};")
    assert len(values) == program.sources
    out.blank()
    places = _registers(machine, results, dtype)
    finals = {
        value: f"{array.name}_{register}"
        for value, (array, register) in zip(program.outputs, places, strict=True)
    }
    for op in program.ops:
        text = instruction_text(op.fit, [values[o] for o in op.operands], grain, constants)
        number = len(values)
        values.append(scope.fresh(finals.get(number, "part")))
        out.line(f"const {machine.type} {values[-1]} = {text};")
    out.blank()
    for value, (array, register) in zip(program.outputs, places, strict=True):
        out.line(_stored(machine, array.name, register, values[value], array.size, dtype))
    function = Function(name, dtype, given, results, out.lines, constants.names)
    count = f"{counted(program.cost, 'instruction')} between loads and stores."
    return c_text(function, machine, [*notes, count], [], constants.declarations(machine.bits))


def _registers(
    machine: VectorTarget, arrays: Sequence[Array], dtype: DType
) -> list[tuple[Array, int]]:
    """The registers that the arrays fill, one array after the other."""
    lanes = machine.bits // dtype.bits
    return [(array, r) for array in arrays for r in range(-(-array.size // lanes))]


def _place(
    machine: VectorTarget, array: str, register: int, size: int, dtype: DType
) -> tuple[str, int]:
    """Where a register's elements lie in memory, and how many bytes they are."""
    lanes = machine.bits // dtype.bits
    left = min(lanes, size - register * lanes)
    return (f"{array} + {register * lanes}" if register else array), left * dtype.bytes


def _loaded(machine: VectorTarget, array: str, register: int, size: int, dtype: DType) -> str:
    place, count = _place(machine, array, register, size, dtype)
    if count == machine.bits // 8:
        return machine.loaded(place)
    if (machine.name, count) in PARTS:
        return PARTS[machine.name, count][0].format(place=place)
    if machine is AVX512:
        return f"_mm512_maskz_loadu_epi8({_bytes(count)}, {place})"
    if machine is SVE256:
        return f"svld1_u8({_first(count)}, (const uint8_t *)({place}))"
    if machine is AVX2 and count % 4 == 0:
        return f"_mm256_maskload_epi32((const int *)({place}), {_words(count)})"
    return f"load_part({place}, {count})"


def _stored(
    machine: VectorTarget, array: str, register: int, value: str, size: int, dtype: DType
) -> str:
    place, count = _place(machine, array, register, size, dtype)
    if count == machine.bits // 8:
        return machine.stored(place, value)
    if (machine.name, count) in PARTS:
        return PARTS[machine.name, count][1].format(place=place, value=value)
    if machine is AVX512:
        return f"_mm512_mask_storeu_epi8({place}, {_bytes(count)}, {value});"
    if machine is SVE256:
        return f"svst1_u8({_first(count)}, (uint8_t *)({place}), {value});"
    if machine is AVX2 and count % 4 == 0:
        return f"_mm256_maskstore_epi32((int *)({place}), {_words(count)}, {value});"
    return f"store_part({place}, {value}, {count});"


def _bytes(count: int) -> str:
    """The mask of the first bytes."""
    return f"0x{(1 << count) - 1:x}ull"


def _first(count: int) -> str:
    """The predicate of the first bytes."""
    return f"svwhilelt_b8_u32(0, {count})"


def _words(count: int) -> str:
    """The mask of the first bytes, in words."""
    return f"_mm256_setr_epi32({', '.join('-1' if 4 * w < count else '0' for w in range(8))})"
