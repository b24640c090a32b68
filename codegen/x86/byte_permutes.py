"""Bytes looked up in a table of up to 1024 by VBMI: `vpermb` in 64 of them, `vpermi2b` in 128, of which the
higher bits of the index choose.

    bytes                      looked up as they are
    up to 32 places of 16 bits looked up by their low bytes; the results are the even bytes
    64 places of 16 bits       taken apart into low and high bytes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.types import register_bits, resize, side_by_side
from hbc.ir.ground.record import record
from hbc.ir.lang.types import I8, U8, U16, DType
from hbc.ir.vectors.byte_table import place_type

REGISTER, PAIR = 64, 128  # bytes that one instruction looks up in, and those of two registers


@record
class _Places:
    """Registers of places: parameters, and lines that make `i` of them, whose bytes choose within a pair; the
    bits of the lanes of masks; what chooses between pairs, and by which bit; and the result, of `{r}`."""

    parameters: str
    lines: tuple[str, ...]
    lane: int
    chosen: tuple[tuple[str, int], ...]
    result: str


_WIDE = (("i", 7), ("i", 8), ("i", 9))
_BYTES = _Places("__m512i i", (), 8, _WIDE[:1], "{r}")
_FEW_WORDS = _Places(
    "__m512i i", (), 16, _WIDE, "_mm512_castsi256_si512(_mm512_cvtepi16_epi8({r}))"
)
_WORDS = _Places(
    "__m512i x, __m512i y",
    ("const __m512i even = _mm512_set_epi64({});".format(", ".join(
        f"0x{sum((8 * w + 2 * b) % 128 << 8 * b for b in range(8)):x}" for w in range(14, -1, -2))),
     "const __m512i odd = _mm512_add_epi8(even, _mm512_set1_epi8(1));",
     "const __m512i i = _mm512_permutex2var_epi8(x, even, y);",
     "const __m512i high = _mm512_permutex2var_epi8(x, odd, y);"),
    8, (("i", 7), ("high", 0), ("high", 1)), "{r}",
)  # fmt: skip


def looked_up_by_permutes(
    table: str, extent: int, places: Sequence[str], t: DType, lanes: int, unit: Unit
) -> str:
    """The lanes of `table` at `places`, all inside, out of a register of 64 bytes."""
    wide = place_type(extent, unit.target) == U16
    how = (_WORDS if lanes == REGISTER else _FEW_WORDS) if wide else _BYTES
    count = 2 if how is _WORDS else 1
    size, each = len(places) // count, lanes // count
    index = U16 if wide else U8
    whole = (side_by_side(places[n : n + size], index, each) for n in range(0, len(places), size))
    operands = [resize(x, index, register_bits(index, each), 512) for x in whole]
    name = f"look_up_{t}_{'of_64' if how is _WORDS else 'of_less' if wide else 'in'}_{extent}"
    body = "".join(f"    {line}\n" for line in [*how.lines, *_lines(extent, how)])
    head = f"static inline __m512i {name}(const {c_type(t)} *p, {how.parameters})"
    found = unit.prelude.add(name, f"{head}\n{{\n{body}}}\n")
    return resize(f"{found}({table}, {', '.join(operands)})", I8, 512, register_bits(U8, lanes))


def _lines(extent: int, how: _Places) -> list[str]:
    """All registers of the table, the pairs, and what chooses between them."""
    registers, pairs = -(-extent // REGISTER), -(-extent // PAIR)
    lines = [f"const __m512i t{k} = {_loaded(k, extent)};" for k in range(registers)]
    for n, (value, bit) in enumerate(how.chosen[: (pairs - 1).bit_length()]):
        only = f"_mm512_set1_epi{how.lane}({-128 if (bit, how.lane) == (7, 8) else 1 << bit})"
        test = f"_mm512_test_epi{how.lane}_mask({value}, {only})"
        lines.append(f"const __mmask{512 // how.lane} m{n} = {test};")
    values = [f"_mm512_permutex2var_epi8(t{k}, i, t{k + 1})" for k in range(0, registers - 1, 2)]
    if registers % 2:
        values.append(f"_mm512_permutexvar_epi8(i, t{registers - 1})")

    def choose(n: int, a: str, b: str) -> str:
        return f"_mm512_mask_mov_epi{how.lane}({a}, m{n}, {b})"

    *made, last = halved(values, "__m512i", choose)
    value = last.removeprefix("return ").removesuffix(";")
    return [*lines, *made, f"return {how.result.format(r=value)};"]


def _loaded(k: int, extent: int) -> str:
    left = extent - k * REGISTER
    if left >= REGISTER:
        return f"_mm512_loadu_si512(p + {k * REGISTER})"
    return f"_mm512_maskz_loadu_epi8(UINT64_C({(1 << left) - 1:#x}), p + {k * REGISTER})"


def halved(values: Sequence[str], v: str, choose: Callable[[int, str, str], str]) -> list[str]:
    """Lines of C that return one of the values: neighbours become one by a first choice, of those again
    neighbours by the next one, and so on."""
    lines, n = [], 0
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        made = [choose(n, a, b) for a, b in pairs]
        names = [f"r{n}_{k}" for k in range(len(made))]
        lines += [f"const {v} {name} = {text};" for name, text in zip(names, made, strict=True)]
        values, n = [*names, *values[2 * len(made) :]], n + 1
    return [*lines, f"return {values[0]};"]
