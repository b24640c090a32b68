"""Short stretches of memory as integers of 16, 32 or 64 bits: whole ones, or the first n elements."""

from __future__ import annotations

from hbc.codegen.text.spelling import c_type, unsigned_type
from hbc.codegen.text.unit import Unit
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import minimum, select
from hbc.ir.lang.types import I64, DType
from hbc.ir.lang.walk import nodes, rewrite
from hbc.ir.vectors.lane_masks import first_lanes_count, known_lanes, narrow_masks
from hbc.ir.vectors.take import Take

_WORD = """\
static inline {word} {name}(const {t} *p)
{{
    {word} bits;
    memcpy(&bits, p, sizeof bits);
    return bits;
}}
"""
_FIRST_WORD = """\
/* The first n elements, the others 0. */
static inline {word} {name}(const {t} *p, int64_t n)
{{
    {t} lanes[{width}] = {{0}};
    {word} bits;
    for (int i = 0; i < {width}; ++i)
        if (i < n)
            lanes[i] = p[i];
    memcpy(&bits, lanes, sizeof bits);
    return bits;
}}
"""


def word(t: DType, width: int, unit: Unit) -> str:
    """The function that loads `width` adjacent elements from a pointer."""
    name = f"load_word_{t}x{width}"
    text = _WORD.format(name=name, word=unsigned_type(width * t.bits), t=c_type(t))
    return unit.prelude.add(name, text)


def first_word(t: DType, width: int, unit: Unit) -> str:
    """The function that loads the first n of them, n being its second argument, of any size."""
    name = f"load_first_word_{t}x{width}"
    text = _FIRST_WORD.format(
        name=name, word=unsigned_type(width * t.bits), t=c_type(t), width=width
    )
    return unit.prelude.add(name, text)


def live_count(mask: ir.Expr, lanes: tuple[int, ...]) -> ir.Expr | None:
    """n, when these lanes of the mask are live up to the n-th and no further (n may be below 0 or
    beyond them); None when that is not seen."""
    if any(isinstance(n, ir.Var) and n.type.lanes > 1 for n in nodes(mask)):
        return None  # named before: a register by now
    chosen = simplify(Take()(mask, lanes))
    return _count(rewrite(chosen, lambda e: narrow_masks(e, 128)), len(lanes))


def _count(e: ir.Expr, lanes: int) -> ir.Expr | None:
    found = first_lanes_count(e)
    if found is not None:
        return found if found.type.element == I64 else None
    if isinstance(e, ir.Binary) and e.op in ir.COMPARISONS and (known := known_lanes(e)):
        first = known.index(False) if False in known else lanes
        return None if any(known[first:]) else ir.const_index(first)
    match e:
        case ir.Broadcast(value=ir.Const(value=v)):
            return ir.const_index(lanes if v else 0)
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            return select(v, ir.const_index(lanes), ir.const_index(0))
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            x, y = _count(a, lanes), _count(b, lanes)
            return None if x is None or y is None else minimum(x, y)
        case _:
            return None
