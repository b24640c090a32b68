"""Elements looked up by permutes of whole registers (AVX-512): `vpermw` in 32 of 16 bits, `vpermi2w` in 64,
and so on; with VBMI `vpermb` in 64 bytes, `vpermi2b` in 128. Higher bits of the index choose between pairs.

    16 or 32 bits              looked up as they are, and bytes with VBMI
    up to 32 places of 16 bits looked up by their low bytes; the results are the even bytes
    64 places of 16 bits       taken apart into low and high bytes
    without VBMI               two bytes are an element of 16 bits, of which one is kept
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.types import cast_register, register_bits, resize, side_by_side
from hbc.ir.ground.record import record
from hbc.ir.lang.types import I8, U8, DType
from hbc.ir.vectors.small_table import place_type
from hbc.ir.vectors.take import integer

REGISTER = 64  # bytes that one instruction looks up in; those of two registers are a pair


@record
class _Places:
    """Registers of places: parameters, and lines that make `i` of them, which chooses within a pair of
    registers of elements of `unit` bits; the bits of the lanes of masks; what chooses between pairs, and by
    which bit; and the result, of `{r}`."""

    name: str
    parameters: str
    lines: tuple[str, ...]
    unit: int
    lane: int
    chosen: tuple[tuple[str, int], ...]
    result: str


def _plain(bits: int) -> _Places:
    """Places as wide as the elements."""
    first = (2 * 8 * REGISTER // bits - 1).bit_length()  # behind those that choose within a pair
    chosen = tuple(("i", bit) for bit in range(first, min(first + 3, bits)))
    return _Places("in", "__m512i i", (), bits, bits, chosen, "{r}")


_WIDE = (("i", 7), ("i", 8), ("i", 9))
_EVEN_BYTES = "_mm512_castsi256_si512(_mm512_cvtepi16_epi8({r}))"
_FEW_WORDS = _Places("of_less", "__m512i i", (), 8, 16, _WIDE, _EVEN_BYTES)
_WORDS = _Places(
    "of_64", "__m512i x, __m512i y",
    ("const __m512i even = _mm512_set_epi64({});".format(", ".join(
        f"0x{sum((8 * w + 2 * b) % 128 << 8 * b for b in range(8)):x}" for w in range(14, -1, -2))),
     "const __m512i odd = _mm512_add_epi8(even, _mm512_set1_epi8(1));",
     "const __m512i i = _mm512_permutex2var_epi8(x, even, y);",
     "const __m512i high = _mm512_permutex2var_epi8(x, odd, y);"),
    8, 8, (("i", 7), ("high", 0), ("high", 1)), "{r}",
)  # fmt: skip
_OF_PAIRS = _Places(
    "in_pairs", "__m512i x", ("const __m512i i = _mm512_srli_epi16(x, 1);",),
    16, 16, (("i", 6), ("i", 7), ("i", 8)),
    _EVEN_BYTES.replace("{r}", "_mm512_srlv_epi16({r}, _mm512_slli_epi16(_mm512_and_si512(x, "
                               "_mm512_set1_epi16(1)), 3))"),
)  # fmt: skip


def looked_up_by_permutes(
    table: str, extent: int, places: Sequence[str], t: DType, lanes: int, unit: Unit
) -> str:
    """The lanes of `table` at `places`, all inside, out of a register of 64 bytes."""
    index = place_type(t, extent, unit.target)
    assert index is not None
    how, count = _plain(t.bits), 1
    if index.bits > t.bits:
        whole = lanes == REGISTER
        how = _OF_PAIRS if not unit.target.permutes_bytes else _WORDS if whole else _FEW_WORDS
        count = 2 if whole else 1
    size, each = len(places) // count, lanes // count
    sides = (side_by_side(places[n : n + size], index, each) for n in range(0, len(places), size))
    operands = [resize(x, index, register_bits(index, each), 512) for x in sides]
    body = "".join(f"    {line}\n" for line in [*how.lines, *_lines(extent * t.bytes, t, how)])
    head = f"static inline __m512i {{name}}(const {c_type(t)} *p, {how.parameters})"
    name = f"look_up_{t}_{how.name}_{extent}"
    found = unit.prelude.add(name, f"{head.format(name=name)}\n{{\n{body}}}\n")
    if how.parameters.count(",") + 1 == len(operands):
        text = resize(f"{found}({table}, {', '.join(operands)})", I8, 512, register_bits(t, lanes))
    else:
        halves = [
            resize(f"{found}({table}, {x})", I8, 512, register_bits(t, each)) for x in operands
        ]
        text = side_by_side(halves, U8, lanes)
    return cast_register(text, integer(t.bits), t, lanes)


def _lines(size: int, t: DType, how: _Places) -> list[str]:
    """All registers of a table of so many bytes, the pairs, and what chooses between them."""
    registers = -(-size // REGISTER)
    lines = [f"const __m512i t{k} = {_loaded(k, size, t)};" for k in range(registers)]
    for n, (value, bit) in enumerate(how.chosen[: (-(-registers // 2) - 1).bit_length()]):
        only = f"_mm512_set1_epi{how.lane}({-128 if (bit, how.lane) == (7, 8) else 1 << bit})"
        test = f"_mm512_test_epi{how.lane}_mask({value}, {only})"
        lines.append(f"const __mmask{512 // how.lane} m{n} = {test};")
    permute = f"_mm512_permutex2var_epi{how.unit}"
    values = [f"{permute}(t{k}, i, t{k + 1})" for k in range(0, registers - 1, 2)]
    if registers % 2:
        values.append(f"_mm512_permutexvar_epi{how.unit}(i, t{registers - 1})")

    def choose(n: int, a: str, b: str) -> str:
        return f"_mm512_mask_mov_epi{how.lane}({a}, m{n}, {b})"

    *made, last = halved(values, "__m512i", choose)
    value = last.removeprefix("return ").removesuffix(";")
    return [*lines, *made, f"return {how.result.format(r=value)};"]


def _loaded(k: int, size: int, t: DType) -> str:
    """A register of the table, of which nothing behind its bytes is read."""
    left, at = (size - k * REGISTER) // t.bytes, k * REGISTER // t.bytes
    if left * t.bytes >= REGISTER:
        return f"_mm512_loadu_si512(p + {at})"
    mask = f"{(1 << left) - 1:#x}"
    mask = f"UINT64_C({mask})" if t.bytes == 1 else mask
    return f"_mm512_maskz_loadu_epi{t.bits}({mask}, p + {at})"


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
