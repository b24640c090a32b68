"""Inputs of integers of 4 bits, as the bytes that hold two of them each.

    input W: i4[N, K]    W[i, k]                                   of i8
->  input W: u8[N, (K + 1) / 2]
                         i8(((W[i, k / 2] >> 4 * (k % 2)) + 8 & 15) - 8)

The last dimension is packed, the one with the even number in the low bits; where K is odd, the last four
bits of a row are anything. This is done once a file has been checked: whether a read lies inside, and what
its value can be, is known of the 4 bits; all that comes later knows bytes alone.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.plans.inline import map_func
from hbc.frontend.program.funcs import Image, Pipeline
from hbc.ir.algebra.linear import linear, to_expr
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, cast, floordiv, mod, mul, sub
from hbc.ir.lang.kernel import Packed
from hbc.ir.lang.types import I4, I64, PACKED, U8
from hbc.ir.lang.walk import rewrite

IN_A_BYTE = 2


def packed_as_bytes(p: Pipeline) -> Pipeline:
    """The pipeline with such inputs as bytes, and with their values out of these."""
    if not any(i.element in PACKED.values() for i in p.inputs):
        return p
    funcs = tuple(map_func(f, lambda e: rewrite(e, _out_of_bytes)) for f in p.funcs)
    return replace(p, inputs=tuple(map(_as_bytes, p.inputs)), funcs=funcs)


def _as_bytes(image: Image) -> Image:
    if image.element not in PACKED.values():
        return image
    *outer, last = image.extents
    count = to_expr(linear(floordiv(add(last, IN_A_BYTE - 1), IN_A_BYTE)))
    held = Packed(image.element, last)
    return replace(image, element=U8, extents=(*outer, count), packed=held)


def _out_of_bytes(e: ir.Expr) -> ir.Expr:
    """The value of a read, which a cast to whole bytes is around."""
    match e:
        case ir.Cast(type=t, value=ir.Access(type=read) as a) if read.element in PACKED.values():
            *outer, last = a.indices
            at = (*outer, floordiv(last, IN_A_BYTE))
            byte = cast(I64, ir.Access(a.name, at, U8(1), a.span, a.part))
            value = binary(ir.Op.SHR, byte, mul(mod(last, IN_A_BYTE), 4))
            if read.element == I4:
                value = sub(binary(ir.Op.AND, add(value, 8), 15), 8)
            else:
                value = binary(ir.Op.AND, value, 15)
            return cast(t.element, value)
        case _:
            return e
