"""Constant swizzles of a short stretch of memory: contiguous loads and a shuffle of NEON.

One instruction where there is one for two registers (UZP, ZIP, TRN, EXT) or one (REV), else a table
look-up over at most four. No element outside the stretch is read: where the loads would reach beyond
its end, the last one starts earlier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.codegen.neon.types import kind, lanes_of, literal, name, q, register_bits, reinterpret
from hbc.codegen.text.registers import Piece
from hbc.codegen.vector.machine import LoadText
from hbc.ir.lang.types import U8, DType

MOST_LOADS = 4  # of a table look-up

Order = tuple[int, ...]


def permuted(load: LoadText, t: DType, offsets: Sequence[int]) -> str | None:
    """Lane i is the element at offsets[i] from the base; None when loads and shuffles do not pay."""
    n, low = len(offsets), min(offsets)
    span = max(offsets) - low + 1
    lanes = n
    if register_bits(t, n) != n * t.bits or span < lanes or span > MOST_LOADS * lanes:
        return None
    starts = list(range(0, span - lanes + 1, lanes))
    if starts[-1] + lanes < span:
        starts.append(span - lanes)
    order = [_place(o - low, starts, lanes) for o in offsets]
    return shuffled([load(low + s, lanes) for s in starts], order, t)


def _place(offset: int, starts: Sequence[int], lanes: int) -> int:
    """The lane among all loads together that holds the element."""
    return next(i * lanes + offset - s for i, s in enumerate(starts) if s <= offset < s + lanes)


def picked(pieces: Mapping[Piece, str], lanes: Sequence[int], t: DType) -> str | None:
    """Lanes of several registers, each as long as the result; None when they are not."""
    n = len(lanes)
    used = [p for p in sorted(pieces) if any(p[0] <= i < p[0] + p[1] for i in lanes)]
    if not lanes or any(p[1] != n for p in used) or len(used) > MOST_LOADS:
        return None
    order = [
        next((k * n + i - p[0] for k, p in enumerate(used) if p[0] <= i < p[0] + n), -1)
        for i in lanes
    ]
    if -1 in order or register_bits(t, n) != n * t.bits:
        return None
    return shuffled([pieces[p] for p in used], order, t)


def shuffled(loads: list[str], order: Sequence[int], t: DType) -> str:
    """Lane i is lane order[i] of the registers taken together."""
    n = len(order)
    used = sorted({o // n for o in order})
    order = tuple(used.index(o // n) * n + o % n for o in order)
    loads = [loads[u] for u in used]
    if len(loads) == 1 and order == tuple(range(n)):
        return loads[0]
    if len(loads) <= 2 and (text := _one(loads, order, t)):
        return text
    return _look_up(loads, order, t)


def _one(loads: list[str], order: Order, t: DType) -> str | None:
    """One instruction for the whole."""
    n = len(order)
    a, b = loads[0], loads[-1]
    if len(loads) == 1:
        last = 64 // t.bits - 1
        if last and order == tuple(i ^ last for i in range(n)):
            return f"{name('vrev64', t, n)}({a})"
        if len(set(order)) == 1:
            lane = f"_lane{q(t, n)}_"
            return f"{name('vdup', t, n).replace('_', lane)}({a}, {order[0]})"
    for stem, pattern in two_sources(n).items():
        if order == pattern or (len(loads) == 1 and order == tuple(o % n for o in pattern)):
            return f"{name(stem, t, n)}({a}, {b})"
    start = order[0]
    wrap = n if len(loads) == 1 else 2 * n
    if 0 < start < n and order == tuple((start + i) % wrap for i in range(n)):
        return f"{name('vext', t, n)}({a}, {b}, {start})"
    return None


def two_sources(n: int) -> dict[str, Order]:
    """What each shuffle of two registers of n lanes gives, as lanes of both together."""
    return {
        "vuzp1": tuple(2 * i for i in range(n)),
        "vuzp2": tuple(2 * i + 1 for i in range(n)),
        "vzip1": tuple(i // 2 + n * (i % 2) for i in range(n)),
        "vzip2": tuple(n // 2 + i // 2 + n * (i % 2) for i in range(n)),
        "vtrn1": tuple(i - i % 2 + n * (i % 2) for i in range(n)),
        "vtrn2": tuple(i - i % 2 + 1 + n * (i % 2) for i in range(n)),
    }


def _look_up(loads: list[str], order: Order, t: DType) -> str:
    """TBL on bytes: of 128-bit registers, or of 64-bit ones joined in pairs."""
    bits = register_bits(t, len(order))
    size, wide = t.bits // 8, bits // 8
    raw = [reinterpret(text, kind(t), "u8", bits) for text in loads]
    if bits == 64:
        raw += [raw[-1]] * (len(raw) % 2)
        raw = [f"vcombine_u8({a}, {b})" for a, b in zip(raw[::2], raw[1::2], strict=True)]
    picks = [str(o * size + k) for o in order for k in range(size)]
    index = lanes_of(U8, wide, picks)
    count = len(raw)
    table = raw[0]
    if count > 1:
        table = literal(f"uint8x16x{count}_t", [f"{{{', '.join(raw)}}}"])
    found = f"vqtbl{count}{'q' if bits == 128 else ''}_u8({table}, {index})"
    return reinterpret(found, "u8", kind(t), bits)
