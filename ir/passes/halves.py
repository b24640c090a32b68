"""Arithmetic on narrow floats as f32 arithmetic that rounds after every operation.

    a * b   ->   bf16(f32(a) * f32(b))

Rounding twice is rounding once here: f32 has more than twice their bits plus two.
"""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import cast
from hbc.ir.lang.types import BOOL, F32, F64, DType, Kind


def widen_halves(e: ir.Expr) -> ir.Expr:
    """One node; to be applied bottom-up."""
    match e:
        case ir.Binary(op=op, a=a, b=b) if a.type.element.is_narrow:
            wide = ir.Binary(op, cast(F32, a), cast(F32, b), e.span)
            return wide if op in ir.COMPARISONS else cast(a.type.element, wide)
        case ir.Unary(op=uop, a=a) if a.type.element.is_narrow:
            return cast(a.type.element, ir.Unary(uop, cast(F32, a), e.span))
        case ir.Call(name=name, args=(a,), type=t) if (
            name is not ir.MathOp.REINTERPRET and t.element.is_narrow
        ):
            return cast(t.element, ir.Call(name, (cast(F32, a),), F32(t.lanes), e.span))
        case ir.VectorReduce(op=op, value=v, lanes=lanes) if v.type.element.is_narrow:
            return cast(v.type.element, ir.VectorReduce(op, cast(F32, v), lanes, e.span))
        case ir.Cast(type=t, value=v) if v.type.element.is_narrow and t.element not in (F32, BOOL):
            if t.element.is_narrow or t.element == F64 or t.element.is_int:
                return cast(t.element, cast(F32, v))
            return e
        case ir.Cast(type=t, value=v) if t.element.is_narrow and v.type.element.is_int:
            return cast(t.element, cast(F32, v)) if _by_f32(v.type.element, t.element) else e
        case _:
            return e


def _by_f32(source: DType, target: DType) -> bool:
    """Whether integers round the same by way of f32: what that does not hold is beyond floats of 8 bits."""
    return source.bits < F32.precision or target.kind is Kind.FLOAT8
