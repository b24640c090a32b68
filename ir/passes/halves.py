"""Arithmetic on f16 and bf16 as f32 arithmetic that rounds after every operation.

    a * b   ->   bf16(f32(a) * f32(b))

Rounding twice is rounding once here: f32 has more than twice their bits plus two.
"""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import cast
from hbc.ir.lang.types import BOOL, F32, F64, DType


def widen_halves(e: ir.Expr) -> ir.Expr:
    """One node; to be applied bottom-up."""
    match e:
        case ir.Binary(op=op, a=a, b=b) if is_half(a.type.element):
            wide = ir.Binary(op, cast(F32, a), cast(F32, b), e.span)
            return wide if op in ir.COMPARISONS else cast(a.type.element, wide)
        case ir.Unary(op=uop, a=a) if is_half(a.type.element):
            return cast(a.type.element, ir.Unary(uop, cast(F32, a), e.span))
        case ir.Call(name=name, args=(a,), type=t) if name is not ir.MathOp.REINTERPRET and is_half(
            t.element
        ):
            return cast(t.element, ir.Call(name, (cast(F32, a),), F32(t.lanes), e.span))
        case ir.VectorReduce(op=op, value=v, lanes=lanes) if is_half(v.type.element):
            return cast(v.type.element, ir.VectorReduce(op, cast(F32, v), lanes, e.span))
        case ir.Cast(type=t, value=v) if is_half(v.type.element) and t.element not in (F32, BOOL):
            if is_half(t.element) or t.element == F64 or t.element.is_int:
                return cast(t.element, cast(F32, v))
            return e
        case ir.Cast(type=t, value=v) if is_half(t.element) and v.type.element.is_int:
            return cast(t.element, cast(F32, v)) if v.type.element.bits <= 16 else e
        case _:
            return e


def is_half(t: DType) -> bool:
    """f16 or bf16: stored, never computed with."""
    return t.is_float and t.bits == 16
