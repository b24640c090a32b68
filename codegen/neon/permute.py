"""Constant swizzles of a short stretch of memory: contiguous loads and a shuffle of NEON.

One instruction without constants where there is one for two registers (UZP, ZIP, TRN, EXT, INS) or one (REV,
DUP), of elements or of pairs of them that stay together, else a table look-up over at most four. No
element outside the stretch is read: where the loads would reach beyond its end, the last one starts
earlier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.codegen.neon.types import kind, lanes_of, literal, register_bits, reinterpret, vector_type
from hbc.codegen.text.registers import Piece
from hbc.codegen.vector.machine import LoadText
from hbc.ir.lang.target import ARM
from hbc.ir.lang.types import U8, DType
from hbc.ir.movement.chain import paired
from hbc.ir.movement.library import known_step

MOST_LOADS = 4  # of a table look-up
WHOLE = 16  # bytes of a register

Order = tuple[int, ...]


def permuted(load: LoadText, t: DType, offsets: Sequence[int]) -> str | None:
    """Lane i is the element at offsets[i] from the base; None when loads and shuffles do not pay."""
    n, low = len(offsets), min(offsets)
    span = max(offsets) - low + 1
    lanes = n
    if span < lanes:
        return _stretched(load, t, offsets) if len(set(offsets)) < n else None
    if register_bits(t, n) != n * t.bits or span > MOST_LOADS * lanes:
        return None
    starts = list(range(0, span - lanes + 1, lanes))
    if starts[-1] + lanes < span:
        starts.append(span - lanes)
    order = [_place(o - low, starts, lanes) for o in offsets]
    return shuffled([load(low + s, lanes) for s in starts], order, t)


def _stretched(load: LoadText, t: DType, offsets: Sequence[int]) -> str:
    """Of fewer elements than lanes: those that several lanes want are loaded once."""
    n, low, size = len(offsets), min(offsets), t.bits // 8
    span = max(offsets) - low + 1
    lanes = 1 << (span.bit_length() - 1)
    starts = [0] if lanes == span else [0, span - lanes]
    loads = [load(low + start, lanes) for start in starts]
    table, bits = [], register_bits(t, lanes)
    for text in loads:
        raw = reinterpret(text, kind(t), "u8", bits)
        table.append(raw if bits == 8 * WHOLE else f"vcombine_u8({raw}, {raw})")
    places = [_place(o - low, starts, lanes) for o in offsets]
    picks = [(p // lanes * WHOLE) + p % lanes * size + k for p in places for k in range(size)]
    return _from_table(table, picks, t, register_bits(t, n))


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


def joined(pieces: Mapping[Piece, str], lanes: Sequence[int], t: DType) -> str | None:
    """A structure of whole registers, one after the other; None when it is not that."""
    if lanes != tuple(range(lanes[0], lanes[0] + len(lanes))) or len(lanes) * t.bits <= 8 * WHOLE:
        return None
    size = 8 * WHOLE // t.bits
    texts = [pieces.get((at, size)) for at in range(lanes[0], lanes[0] + len(lanes), size)]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return None
    return f"(({vector_type(t, len(lanes))}){{{{{', '.join(known)}}}}})"


def shuffled(loads: list[str], order: Sequence[int], t: DType) -> str:
    """Lane i is lane order[i] of the registers taken together."""
    n = len(order)
    used = sorted({o // n for o in order})
    order = tuple(used.index(o // n) * n + o % n for o in order)
    loads = [loads[u] for u in used]
    if len(loads) == 1 and order == tuple(range(n)):
        return loads[0]
    if len(loads) <= 2 and (text := _one(loads, order, t) or _known(loads, order, t)):
        return text
    return _look_up(loads, order, t)


def _one(loads: list[str], order: Order, t: DType) -> str | None:
    """One instruction for the whole, of elements or longer units."""
    bits = register_bits(t, len(order))
    seen, row = kind(t), order
    while len(row) > 1:
        units = [reinterpret(text, kind(t), seen, bits) for text in loads]
        text = _of_units(units, row, seen, bits // len(row))
        if text is not None:
            return reinterpret(text, seen, kind(t), bits)
        pairs = paired(row)
        if pairs is None:
            break
        row, seen = pairs, f"u{bits // len(pairs)}"
    return None


def _of_units(loads: list[str], order: Order, seen: str, unit: int) -> str | None:
    """One instruction on units of so many bits, seen with a suffix."""
    n = len(order)
    wide = "q" if n * unit == 128 else ""
    a, b = loads[0], loads[-1]
    if len(loads) == 1:
        for span in (64, 32, 16):
            if span > unit and order == tuple(i ^ (span // unit - 1) for i in range(n)):
                return f"vrev{span}{wide}_{seen}({a})"
        if len(set(order)) == 1:
            return f"vdup{wide}_lane{wide}_{seen}({a}, {order[0]})"
    for stem, pattern in two_sources(n).items():
        if order == pattern or (len(loads) == 1 and order == tuple(o % n for o in pattern)):
            return f"{stem}{wide}_{seen}({a}, {b})"
    start = order[0]
    wrap = n if len(loads) == 1 else 2 * n
    if 0 < start < n and order == tuple((start + i) % wrap for i in range(n)):
        return f"vext{wide}_{seen}({a}, {b}, {start})"
    for into, text in enumerate(loads):
        strange = [i for i, o in enumerate(order) if o != into * n + i]
        if len(strange) == 1:
            ((to, source),) = ((i, order[i]) for i in strange)
            return (
                f"vcopy{wide}_lane{wide}_{seen}({text}, {to}, {loads[source // n]}, {source % n})"
            )
    return None


def _known(loads: list[str], order: Order, t: DType) -> str | None:
    """An instruction of the library of movements, where some lanes do not matter to that."""
    n = len(order)
    for first in range(len(loads)):
        turned = loads[first:] + loads[:first]
        row = tuple((o // n - first) % len(loads) * n + o % n for o in order)
        text = known_step(t.bits, row, ARM)
        if text is not None and "[" not in text:  # of constants
            raw = [reinterpret(load, kind(t), "u8", 128) for load in turned]
            found = text.replace("{u}", f"({raw[0]})").replace("{v}", f"({raw[-1]})")
            return reinterpret(f"({found})", "u8", kind(t), 128)
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


def widened_bytes(
    pieces: Mapping[Piece, str], picks: Sequence[int], s: DType, t: DType
) -> str | None:
    """The bytes with these numbers, of one or two registers, each in an integer of more bits: TBL makes zeros
    of places behind its registers."""
    times, lanes = t.bits // 8, len(picks)
    used = [p for p in sorted(pieces) if any(p[0] <= pick < p[0] + p[1] for pick in picks)]
    if s != U8 or len(used) > 2 or any(p[1] != WHOLE for p in used) or times * lanes != WHOLE:
        return None
    own = [n * WHOLE + pick - p[0] for pick in picks for n, p in enumerate(used)
           if p[0] <= pick < p[0] + WHOLE]  # fmt: skip
    index = lanes_of(U8, WHOLE, [x for v in own for x in (str(v), *["255"] * (times - 1))])
    table, count = pieces[used[0]], len(used)
    if count > 1:
        table = literal(f"uint8x16x{count}_t", [f"{{{', '.join(pieces[p] for p in used)}}}"])
    return reinterpret(f"vqtbl{count}q_u8({table}, {index})", "u8", kind(t), 8 * WHOLE)


def _look_up(loads: list[str], order: Order, t: DType) -> str:
    """TBL on bytes: of 128-bit registers, or of 64-bit ones joined in pairs."""
    bits = register_bits(t, len(order))
    size = t.bits // 8
    raw = [reinterpret(text, kind(t), "u8", bits) for text in loads]
    if bits == 64:
        raw += [raw[-1]] * (len(raw) % 2)
        raw = [f"vcombine_u8({a}, {b})" for a, b in zip(raw[::2], raw[1::2], strict=True)]
    return _from_table(raw, [o * size + k for o in order for k in range(size)], t, bits)


def _from_table(table: Sequence[str], picks: Sequence[int], t: DType, bits: int) -> str:
    """A register of so many bits of these bytes of 128-bit registers one after the other."""
    count, wide = len(table), bits // 8
    index = lanes_of(U8, wide, [*map(str, picks), *["0"] * (wide - len(picks))])
    text = table[0]
    if count > 1:
        text = literal(f"uint8x16x{count}_t", [f"{{{', '.join(table)}}}"])
    found = f"vqtbl{count}{'q' if bits == 128 else ''}_u8({text}, {index})"
    return reinterpret(found, "u8", kind(t), bits)
