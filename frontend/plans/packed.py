"""Inputs and outputs of integers of 4 bits, as the bytes that hold two of them each.

    input W: i4[N, K]    W[i, k]                                   of i8
->  input W: u8[N, (K + 1) / 2]
                         i8(((W[i, k / 2] >> 4 * (k % 2)) + 8 & 15) - 8)

    output Q: i4[N, K]   Q[i, k] = f[i, k]                         of i8
->  output Q: u8[N, (K + 1) / 2]
                         Q[i, k] = u8(f[i, 2 * k]) & 15 | u8(f[i, 2 * k + 1]) << 4

The last dimension is packed, the one with the even number in the low bits; where K is odd, the last four
bits of a row are anything in inputs, and 0 in outputs. This is done once a file has been checked: whether a
read lies inside, and what its value can be, is known of the 4 bits; all that comes later knows bytes alone.
Loops of such an output go over its bytes.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.plans.inline import map_func
from hbc.frontend.program.funcs import Func, Image, Pipeline
from hbc.ir.algebra.linear import linear, to_expr
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, cast, floordiv, mod, mul, select, sub
from hbc.ir.lang.kernel import Packed
from hbc.ir.lang.types import I4, I64, PACKED, U8
from hbc.ir.lang.walk import rewrite, substitute

IN_A_BYTE = 2


def packed_as_bytes(p: Pipeline) -> Pipeline:
    """The pipeline with such inputs as bytes, and with their values out of these."""
    packed = {i.name: i for i in (*p.inputs, *p.outputs) if i.element in PACKED.values()}
    if not packed:
        return p
    stored = [_into_bytes(f, packed[f.name]) if f.name in packed else f for f in p.funcs]
    funcs = tuple(map_func(f, lambda e: rewrite(e, _out_of_bytes)) for f in stored)
    inputs, outputs = tuple(map(_as_bytes, p.inputs)), tuple(map(_as_bytes, p.outputs))
    return replace(p, inputs=inputs, outputs=outputs, funcs=funcs)


def _as_bytes(image: Image) -> Image:
    if image.element not in PACKED.values():
        return image
    *outer, last = image.extents
    count = to_expr(linear(floordiv(add(last, IN_A_BYTE - 1), IN_A_BYTE)))
    held = Packed(image.element, last)
    return replace(image, element=U8, extents=(*outer, count), packed=held)


def _into_bytes(func: Func, output: Image) -> Func:
    """The Func of an output, over its bytes: a pair of its values each, of which the second may be beyond."""
    last, extent = ir.Var(func.variables[-1]), output.extents[-1]
    first = mul(last, IN_A_BYTE)
    second = add(first, 1)

    def at(index: ir.Expr) -> ir.Expr:
        return cast(U8, substitute(func.pure, {last.name: index}))

    beyond = select(
        binary(ir.Op.LT, second, extent), at(binary(ir.Op.MIN, second, sub(extent, 1))), 0
    )
    both = binary(ir.Op.OR, binary(ir.Op.AND, at(first), 15), binary(ir.Op.SHL, beyond, 4))
    return replace(func, element=U8, pure=both)


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
