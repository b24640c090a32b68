"""Constant swizzles of a short stretch of memory: contiguous loads and a few shuffles. So are elements that
several lanes want, each of which is loaded once.

No element is read outside the stretch from the first to the last lane's element: where the loads
would reach beyond its end, the last one starts earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import LoadText
from hbc.codegen.x86.permute_bytes import bytes_of, shuffled_bytes
from hbc.codegen.x86.types import (
    cast_register,
    prefix,
    register_bits,
    register_lanes,
    resize,
    setr,
    suffix,
    vector_type,
)  # fmt: skip
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.types import F32, I8, I32, DType
from hbc.ir.vectors.take import integer, progression

MOST_LOADS = 4  # more than that, and loading lane by lane is as fast


def permuted(load: LoadText, t: DType, offsets: Sequence[int], unit: Unit) -> str | None:
    """Lane i is the element at offsets[i] from the base; None when loads and shuffles do not pay
    or there is no shuffle for these elements."""
    n, low = len(offsets), min(offsets)
    span, whole = max(offsets) - low + 1, register_lanes(t, n)
    lanes = min(n, 1 << (span.bit_length() - 1))
    is_short = lanes * t.bits < 64 or n < whole
    if span > MOST_LOADS * lanes or (is_short and len(set(offsets)) == n) or lanes * t.bits < 16:
        return None
    starts = list(range(0, span - lanes + 1, lanes))
    if starts[-1] + lanes < span:
        starts.append(span - lanes)
    sources = _first_only([source(low + start, lanes, offsets) for start in starts])
    needed = [i for i, picks in enumerate(sources) if max(picks) >= 0]
    loads = [
        resize(load(low + starts[i], lanes), t, register_bits(t, lanes), register_bits(t, n))
        for i in needed
    ]
    rest = [-1] * (whole - n)
    return shuffled(loads, [[*sources[i], *rest] for i in needed], t, unit)


def picked(text: str, lanes: int, picks: Sequence[int], t: DType, unit: Unit) -> str:
    """The vector whose lane i is lane `picks[i]` of a vector of so many lanes."""
    digits = progression(tuple(picks))
    if digits is None:
        return _picked(text, lanes, picks, t, unit)
    moves = "".join(f"_{count}by{step}".replace("-", "m") for count, step in digits)
    name = f"pick_{t}x{lanes}_from{picks[0]}{moves}"
    if name not in unit.prelude.texts:
        result, argument = vector_type(t, len(picks)), vector_type(t, lanes)
        value = _picked("v", lanes, picks, t, unit)
        body = f"static inline {result} {name}({argument} v)\n{{\n    return {value};\n}}\n"
        unit.prelude.add(name, body)
    return f"{name}({text})"


def by_places(text: str, places: str, t: DType, lanes: int, unit: Unit) -> str | None:
    """Lanes by numbers in a register, of elements that there is a permute for."""
    if t.bits == 32 and lanes * t.bits <= 128:  # AVX has it of floats
        moved = f"_mm_permutevar_ps({cast_register(text, t, F32, 4)}, {places})"
        return cast_register(moved, F32, t, 4)
    if t.bits == 32 and lanes * t.bits == 256:
        return f"_mm256_permutevar8x32_{suffix(t)}({text}, {places})"
    if t.bits < 32 or lanes * t.bits < 256 or unit.target.vector_bits < 512:
        return None
    return f"{prefix(t, lanes)}_permutexvar_{suffix(t)}({places}, {text})"


def _picked(text: str, lanes: int, picks: Sequence[int], t: DType, unit: Unit) -> str:
    whole = resize(text, t, register_bits(t, lanes), register_bits(t, len(picks)))
    found = shuffled([whole], [list(picks)], t, unit)
    if found is None:
        raise InternalError(f"codegen: no shuffle of {lanes} lanes of {t} to {len(picks)}")
    return found


def shuffled(loads: list[str], sources: list[list[int]], t: DType, unit: Unit) -> str | None:
    """The vector whose lane i is lane `sources[j][i]` of register j, for the one j where that is not
    -1. None when there is no shuffle for these elements."""
    n, wide = len(sources[0]), unit.target.vector_bits == 512
    if len(loads) == 1 and sources[0] == list(range(n)):
        return loads[0]
    if n * t.bits == 128:
        return _bytes(loads, sources, t)
    if wide and (t.bits >= 16 or unit.target.permutes_bytes):
        return unpacked(loads, sources, t) or _two_sources(loads, sources, t, n)
    if t.bits >= 32 and n * t.bits == 256:
        return unpacked(loads, sources, t) or _words(loads, sources, t)
    if n * t.bits < 256:
        return None

    def words(loads: list[str], sources: list[list[int]]) -> str:
        return (
            _two_sources(loads, sources, I32, len(sources[0]))
            if wide
            else _words(loads, sources, I32)
        )

    return shuffled_bytes(loads, bytes_of(sources, t.bits // 8), words)


def unpacked(loads: list[str], sources: list[list[int]], t: DType) -> str | None:
    """Two registers interleaved inside each 128-bit block, which needs no index: lanes in pairs of
    the low (or high) halves of the blocks. Units of 64 bits too."""
    if len(loads) != 2 or t.bits < 32:
        return None
    n = len(sources[0])
    order = [a if a >= 0 else n + b if b >= 0 else -1 for a, b in zip(*sources, strict=True)]
    for unit in range(64 // t.bits, 0, -1):
        block = 128 // t.bits
        for high in (0, 1):
            for first, second in ((0, n), (n, 0)):
                half = range(high * block // 2, (high + 1) * block // 2, unit)
                expected = [
                    start + side + i + k
                    for start in range(0, n, block)
                    for i in half
                    for side in (first, second)
                    for k in range(unit)
                ]
                if order == expected:
                    a, b = (loads[0], loads[1]) if first == 0 else (loads[1], loads[0])
                    return _unpack(a, b, high, unit, t, n)
    return None


def _unpack(a: str, b: str, high: int, unit: int, t: DType, n: int) -> str:
    size, p, s = unit * t.bits, prefix(t, n), suffix(t)
    side = "hi" if high else "lo"
    if size == t.bits:
        return f"{p}_unpack{side}_{s}({a}, {b})"
    if not t.is_float:
        return f"{p}_unpack{side}_epi64({a}, {b})"
    x, y = (f"{p}_castps_pd({text})" for text in (a, b))
    return f"{p}_castpd_ps({p}_unpack{side}_pd({x}, {y}))"


def source(start: int, lanes: int, offsets: Sequence[int]) -> list[int]:
    """For each lane of the result the lane of the register that begins at `start`, or -1."""
    return [o - start if start <= o < start + lanes else -1 for o in offsets]


def _first_only(sources: list[list[int]]) -> list[list[int]]:
    """Each lane from one load only."""
    seen: set[int] = set()
    result = []
    for source in sources:
        result.append([-1 if i in seen else s for i, s in enumerate(source)])
        seen |= {i for i, s in enumerate(source) if s >= 0}
    return result


def _bytes(loads: list[str], sources: list[list[int]], t: DType) -> str:
    """128 bits: byte shuffles, which clear what they do not fill, and or."""
    size, parts = t.bits // 8, []
    for text, source in zip(loads, sources, strict=True):
        picks = [str(-1 if s < 0 else s * size + k) for s in source for k in range(size)]
        whole = cast_register(text, t, I8, 16 // size)
        parts.append(f"_mm_shuffle_epi8({whole}, {setr(I8, 16, picks)})")
    joined = parts[0]
    for part in parts[1:]:
        joined = f"_mm_or_si128({joined}, {part})"
    return cast_register(joined, I8, t, 16) if t.is_float and t.bits >= 32 else joined


def _two_sources(loads: list[str], sources: list[list[int]], t: DType, n: int) -> str:
    """AVX-512: any lanes of two registers, repeatedly. The index has the elements' width."""
    p, s, index = prefix(t, n), suffix(t), integer(t.bits)
    if len(loads) == 1 and n * t.bits >= 256:
        return f"{p}_permutexvar_{s}({setr(index, n, _texts(sources[0]))}, {loads[0]})"
    result = loads[0]
    held = sources[0]
    for text, source in zip(loads[1:], sources[1:], strict=True):
        picks = [h if h >= 0 else n + max(0, o) for h, o in zip(held, source, strict=True)]
        result = f"{p}_permutex2var_{s}({result}, {setr(index, n, _texts(picks))}, {text})"
        filled = [h >= 0 or o >= 0 for h, o in zip(held, source, strict=True)]
        held = [i if f else -1 for i, f in enumerate(filled)]
    return result


def _texts(picks: Sequence[int]) -> list[str]:
    return [str(max(0, p)) for p in picks]


def _words(loads: list[str], sources: list[list[int]], t: DType) -> str:
    """AVX2, 256 bits: 32-bit words of one register at a time, then blends."""
    times = t.bits // 32
    result, filled = "", 0
    for text, source in zip(loads, sources, strict=True):
        words = [s * times + k if s >= 0 else -1 for s in source for k in range(times)]
        index = setr(I32, 8, _texts(words))
        whole = cast_register(text, t, I32, 256 // t.bits) if t.is_float else text
        moved = f"_mm256_permutevar8x32_epi32({whole}, {index})"
        here = sum(1 << i for i, w in enumerate(words) if w >= 0)
        result = f"_mm256_blend_epi32({result}, {moved}, {here:#x})" if filled else moved
        filled |= here
    return cast_register(result, I32, t, 8) if t.is_float else result
