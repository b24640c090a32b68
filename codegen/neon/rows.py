"""NEON loads from several rows of memory, such as the interleaved operands of dot products.

B.i8x16[ramp(ramp(b, s, 4), x4(1), 4)]   ->   4 loads of 4 bytes, side by side, and a table look-up
"""

from __future__ import annotations

from math import gcd

from hbc.codegen.neon.permute import shuffled
from hbc.codegen.neon.types import kind, register_bits, reinterpret, type_of_kind
from hbc.codegen.neon.words import first_word, live_count, word
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.vectors.lane_rows import Row, lane_rows

_ROWS = """\
/* Adjacent elements from each place, sorted into lanes. */
static inline {v} NAME({parameters})
{{
    const {words} rows = {{{loads}}};
    return {result};
}}
"""


def load_rows(e: ir.Load, unit: Unit) -> str | None:
    """The C text of the load; None when the rows are too short, or have gaps, or when other lanes
    than the first ones of a row are live."""
    t, n = e.type.element, e.type.lanes
    rows = lane_rows(e.index)
    if t == BOOL or rows is None or n * t.bits != register_bits(t, n):
        return None
    runs = [run for row in rows for run in _runs(row)]
    lengths = [len(lanes) for _, _, lanes in runs]
    width = gcd(*lengths, 64 // t.bits)
    if sum(lengths) != n or width == 1 or width * t.bits < 16:
        return None
    pieces = [
        (simplify(add(base, start + i)), lanes[i : i + width])
        for base, start, lanes in runs
        for i in range(0, len(lanes), width)
    ]
    name, arguments = unit.buffers[e.buffer].text, []
    for at, lanes in pieces:
        live = None if e.mask is None else live_count(e.mask, lanes)
        if e.mask is not None and live is None:
            return None
        dead = live is not None and const_value(live) == 0  # there may be no such place
        arguments.append(name if dead or const_value(at) == 0 else f"&{name}[{scalar(at, unit)}]")
        if live is not None:
            arguments.append(str(scalar(live, unit)))
    loader = _loader([lanes for _, lanes in pieces], t, e.mask is not None, unit)
    return f"{loader}({', '.join(arguments)})"


def _runs(row: Row) -> list[tuple[ir.Expr, int, tuple[int, ...]]]:
    """Maximal stretches of adjacent elements: base, offset of the first, their lanes. An element
    that several lanes want counts once."""
    place = dict(zip(row.offsets, row.lanes, strict=True))
    runs: list[tuple[ir.Expr, int, tuple[int, ...]]] = []
    for offset in sorted(place):
        if runs and runs[-1][1] + len(runs[-1][2]) == offset:
            base, start, lanes = runs.pop()
            runs.append((base, start, (*lanes, place[offset])))
        else:
            runs.append((row.base, offset, (place[offset],)))
    return runs


def _loader(pieces: list[tuple[int, ...]], t: DType, masked: bool, unit: Unit) -> str:
    """The function that loads pieces, one from each pointer (`masked`: and so many elements of each),
    and sorts their elements into lanes."""
    width, count = len(pieces[0]), len(pieces)
    bits, held = width * t.bits, f"u{width * t.bits}"
    load = first_word(t, width, unit) if masked else word(t, width, unit)
    parameter, call = ("const {t} *p{i}", "{load}(p{i})")
    if masked:
        parameter, call = ("const {t} *p{i}, int64_t n{i}", "{load}(p{i}, n{i})")
    whole = bits * count
    order = [lane for lanes in pieces for lane in lanes]
    rows = reinterpret("rows", held, kind(t), whole)
    text = _ROWS.format(
        v=type_of_kind(kind(t), whole), words=type_of_kind(held, whole),
        parameters=", ".join(parameter.format(t=c_type(t), i=i) for i in range(count)),
        loads=", ".join(call.format(load=load, i=i) for i in range(count)),
        result=shuffled([rows], [order.index(i) for i in range(len(order))], t),
    )  # fmt: skip
    name = f"load_{'first_' if masked else ''}rows_{t}x{len(order)}"
    return unit.prelude.add_variant(name, text)
