"""Vector loads of several rows of memory, such as the interleaved operands of dot products.

    B.i8x64[ramp(ramp(b, s, 4), x4(1), 16)]   ->   4 loads of 16 bytes, put into one register, shuffled

Nothing outside the rows is read: a row is loaded in pieces of one length, which divides all rows'.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.load import address
from hbc.codegen.x86.access import load_text
from hbc.codegen.x86.apart import masked_words_apart, words_apart
from hbc.codegen.x86.permute import shuffled
from hbc.codegen.x86.types import cast_register, setr, width_prefix
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, I8, DType
from hbc.ir.lang.walk import free_variables, nodes
from hbc.ir.vectors.lane_masks import possible_lanes
from hbc.ir.vectors.lane_rows import Row, lane_rows
from hbc.ir.vectors.take import Take, integer


@record
class _Run:
    """Adjacent elements from `base + start` on; for each the lane of the result that it is."""

    base: ir.Expr
    start: int
    lanes: tuple[int, ...]


def load_rows(e: ir.Load, unit: Unit) -> str | None:
    """The C text of the load; None when the rows are too short or too many, or have gaps."""
    t, n = e.type.element, e.type.lanes
    rows = lane_rows(e.index)
    if t == BOOL or rows is None or n * t.bits not in (128, 256, 512) or not is_divisible(e.mask):
        return None
    runs = [run for row in rows for part in _distinct(row) for run in _runs(part)]
    width = gcd(n, *(len(run.lanes) for run in runs))
    if sum(len(run.lanes) for run in runs) != n or width * t.bits < 32 or width == 1:
        return None
    pieces = [
        _from_live(_Run(run.base, run.start + i, run.lanes[i : i + width]), e.mask)
        for run in runs
        for i in range(0, len(run.lanes), width)
    ]
    return _joined(pieces, e, unit)


def repeated_group(e: ir.Load, offsets: tuple[int, ...]) -> ir.Broadcast | None:
    """The load as copies of a shorter one, of adjacent elements."""
    n = next((i for i in range(1, len(offsets)) if offsets[i] != offsets[0] + i), len(offsets))
    if n in (1, len(offsets)) or offsets != offsets[:n] * (len(offsets) // n):
        return None
    if not is_divisible(e.mask):
        return None
    first = tuple(range(n))
    live = None if e.mask is None else Take()(e.mask, first)
    if e.mask is not None and any(
        Take()(e.mask, tuple(i + start for i in first)) != live
        for start in range(n, len(offsets), n)
    ):
        return None
    return ir.Broadcast(
        ir.Load(e.buffer, Take()(e.index, first), e.type.with_lanes(n), live), len(offsets) // n
    )


def is_divisible(mask: ir.Expr | None) -> bool:
    """Whether lanes of a mask can be taken: not those of a variable, which are in a register."""
    if mask is None:
        return True
    free = free_variables(mask)
    return not any(
        isinstance(n, ir.Var) and n.type.lanes > 1 and n.name in free for n in nodes(mask)
    )


def _distinct(row: Row) -> list[Row]:
    """The row as rows in which no element is wanted twice: those of the lanes that are alike modulo a
    small number, as the windows of a convolution are."""
    for count in (1, 2, 4, 8, 16):
        parts: list[Row] = []
        for k in range(count):
            own = [i for i, lane in enumerate(row.lanes) if lane % count == k]
            offsets = tuple(row.offsets[i] for i in own)
            parts.append(Row(row.base, tuple(row.lanes[i] for i in own), offsets))
        if all(len(set(p.offsets)) == len(p.offsets) for p in parts):
            return [p for p in parts if p.lanes]
    return [row]


def _runs(row: Row) -> list[_Run]:
    """Maximal stretches of a row; elements that several lanes want are in none."""
    place = dict(zip(row.offsets, row.lanes, strict=True))
    runs: list[_Run] = []
    for offset in sorted(place):
        if runs and runs[-1].start + len(runs[-1].lanes) == offset:
            last = runs.pop()
            runs.append(_Run(last.base, last.start, (*last.lanes, place[offset])))
        else:
            runs.append(_Run(row.base, offset, (place[offset],)))
    return runs


def _from_live(piece: _Run, mask: ir.Expr | None) -> _Run:
    """The piece from its first element that may be live on, those before it at the end: their place may
    lie before the array."""
    if mask is None:
        return piece
    live = possible_lanes(_mask_of(mask, piece.lanes))
    first = live.index(True) if True in live else 0
    lanes = (*piece.lanes[first:], *piece.lanes[:first])
    return _Run(piece.base, piece.start + first, lanes)


def _joined(pieces: list[_Run], e: ir.Load, unit: Unit) -> str | None:
    """All pieces side by side, as many as there are lanes, and the shuffle that sorts them."""
    t, n = e.type.element, e.type.lanes
    order = [lane for piece in pieces for lane in piece.lanes]
    source = [order.index(lane) for lane in range(n)]
    text = _register(pieces, e, unit)
    if source == list(range(n)):
        return text
    return shuffled([text], [source], t, unit)


def _register(pieces: list[_Run], e: ir.Load, unit: Unit) -> str:
    """One register of pieces."""
    t, n = e.type.element, e.type.lanes
    bits = n * t.bits // len(pieces)
    if len(pieces) == 1:
        return _piece(pieces[0], e, unit)
    if bits <= 64:
        text = _words(pieces, integer(bits), e, unit)
    else:
        texts = [cast_register(_piece(p, e, unit), t, I8, bits // t.bits) for p in pieces]
        text = f"{_joiner(bits, len(pieces), unit)}({', '.join(texts)})"
    return cast_register(text, I8, t, n * t.bits // 8)


def _words(pieces: list[_Run], size: DType, e: ir.Load, unit: Unit) -> str:
    """Short pieces side by side, by one call where they lie evenly apart."""
    t = e.type.element
    places = [simplify(add(piece.base, piece.start)) for piece in pieces]
    text: str | None = None
    if e.mask is None:
        text = words_apart(e.buffer, places, t, size, _loader(t, size, unit), unit)
    elif len({live := _mask_of(e.mask, piece.lanes) for piece in pieces}) == 1:
        text = masked_words_apart(e.buffer, places, t, size, live, unit)
    return text or setr(size, len(pieces), [_word(piece, size, e, unit) for piece in pieces])


def _piece(piece: _Run, e: ir.Load, unit: Unit) -> str:
    """A piece of at least 128 bits, or one under a mask."""
    t, width = e.type.element, len(piece.lanes)
    at = simplify(add(piece.base, piece.start))
    if e.mask is None:
        return load_text(e.buffer, at, t, width, unit)
    live = _mask_of(e.mask, piece.lanes)
    return unit.printers.load(
        ir.Load(e.buffer, ir.Ramp(at, ir.const_index(1), width), t(width), live), unit
    )


@lru_cache
def _mask_of(whole: ir.Expr, lanes: tuple[int, ...]) -> ir.Expr:
    """Those lanes of a mask, which is that of many loads."""
    return simplify(Take()(whole, lanes))


def _word(piece: _Run, size: DType, e: ir.Load, unit: Unit) -> str:
    """A short piece, as an integer."""
    t = e.type.element
    if e.mask is not None and not any(possible_lanes(_mask_of(e.mask, piece.lanes))):
        return "0"
    if e.mask is not None:
        text = cast_register(_piece(piece, e, unit), t, I8, 128 // t.bits)
        return f"_mm_cvtsi128_si{size.bits}({text})"
    at = simplify(add(piece.base, piece.start))
    return f"{_loader(t, size, unit)}({address(e.buffer, at, unit)})"


def _loader(t: DType, size: DType, unit: Unit) -> str:
    """The function that loads adjacent elements as an integer."""
    name = f"word_{t}x{size.bits // t.bits}"
    text = (
        f"static inline {c_type(size)} {name}(const {c_type(t)} *p)\n{{\n"
        f"    {c_type(size)} bits;\n    memcpy(&bits, p, sizeof bits);\n    return bits;\n}}\n"
    )
    return unit.prelude.add(name, text)


def _joiner(bits: int, count: int, unit: Unit) -> str:
    """The function that puts registers of so many bits side by side."""
    to = bits * count
    part, whole, name = f"__m{bits}i", f"__m{to}i", f"join_{count}x{bits}"
    insert = {
        (128, 256): "_mm256_inserti128_si256", (128, 512): "_mm512_inserti32x4",
        (256, 512): "_mm512_inserti64x4",
    }[bits, to]  # fmt: skip
    lines = [f"    {whole} x = {width_prefix(to)}_castsi{bits}_si{to}(x0);"]
    lines += [f"    x = {insert}(x, x{i}, {i});" for i in range(1, count)]
    parameters = ", ".join(f"{part} x{i}" for i in range(count))
    text = "\n".join(
        [f"static inline {whole} {name}({parameters})", "{", *lines, "    return x;", "}", ""]
    )
    return unit.prelude.add(name, text)
