"""Indices of swizzled arrays in shared memory, as they are printed.

A_in_acc[5120 * slot + swizzle_8_of_32(32 * row + 8 * unit)]
"""

from __future__ import annotations

from collections.abc import Callable

from hbc.codegen.gpu.swizzle import Bits, split_place, swizzle_bits
from hbc.codegen.text.prelude import Prelude
from hbc.codegen.text.unit import ADD, Text
from hbc.ir.algebra.linear import linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType

_FUNCTION = """\
/* Where element `at` lies: in rows of {row}, units of {unit} change places. */
template <class T> static inline T NAME(T at)
{{
    return at ^ (at >> {shift} & {mask});
}}
"""
_PIECES = """\
/* Where element `at` lies: rows of {row} in pieces of {lines} rows of {line}, whose units of {unit} change
   places. */
template <class T> static inline T NAME(T at)
{{
    const T rest = at & ~(T){inside}, row = at >> {bits} & {rows};
    return rest + ((at & {across}) << {down}) + row * {line} + ((at & {column}) ^ (at >> {shift} & {mask}));
}}
"""


def swizzled_index(
    index: ir.Expr,
    swizzle: ir.Swizzle,
    element: DType,
    prelude: Prelude,
    print_: Callable[[ir.Expr], Text],
) -> Text:
    """Where the element of that index lies."""
    bits = swizzle_bits(swizzle, element)
    outside, inside = split_place(linear(index), bits)
    if inside.is_constant:
        place = ir.const_index(bits.place(inside.constant))
        return print_(simplify(to_expr(plus(outside, linear(place)))))
    name = prelude.add_variant(f"swizzle_{swizzle.unit}_of_{swizzle.row}", _function(swizzle, bits))
    text = f"{name}({print_(simplify(to_expr(inside)))})"
    if outside.is_constant and outside.constant == 0:
        return Text(text)
    return Text(f"{print_(simplify(to_expr(outside))).at(ADD)} + {text}", ADD)


def _function(s: ir.Swizzle, bits: Bits) -> str:
    """In C."""
    if s.line in (0, s.row):  # a piece is as wide as the rows
        return _FUNCTION.format(row=s.row, unit=s.unit, shift=bits.shift, mask=bits.mask)
    return _PIECES.format(
        row=s.row, lines=s.lines, line=s.line, unit=s.unit, inside=bits.period - 1,
        bits=s.row.bit_length() - 1, rows=s.lines - 1, across=s.row - s.line,
        down=s.lines.bit_length() - 1, column=s.line - 1, shift=bits.shift, mask=bits.mask,
    )  # fmt: skip
