"""One lane of a vector expression, as a scalar expression of the lane's number."""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, cast, floordiv, mod, mul, select


def lane(e: ir.Expr, number: ir.Expr) -> ir.Expr | None:
    """Lane `number` of `e`; None where that is not an expression (a reduction, a gather)."""
    if e.type.lanes == 1:
        return e
    match e:
        case ir.Broadcast(value=v):
            return lane(v, _inner(number, v.type.lanes))
        case ir.Ramp(base=base, stride=stride):
            own = base.type.lanes
            x, y = lane(base, _inner(number, own)), lane(stride, _inner(number, own))
            if x is None or y is None:
                return None
            return add(x, mul(cast(x.type, floordiv(number, own)), y))
        case ir.Binary(op=op, a=a, b=b):
            x, y = lane(a, number), lane(b, number)
            return None if x is None or y is None else binary(op, x, y)
        case ir.Unary(op=uop, a=a):
            x = lane(a, number)
            return None if x is None else ir.Unary(uop, x, e.span)
        case ir.Cast(type=t, value=v):
            x = lane(v, number)
            return None if x is None else cast(t.element, x)
        case ir.Select(condition=c, a=a, b=b):
            z, x, y = lane(c, number), lane(a, number), lane(b, number)
            return None if z is None or x is None or y is None else select(z, x, y)
        case ir.Load(buffer=buffer, index=index, type=t, mask=None):
            x = lane(index, number)
            return None if x is None else ir.Load(buffer, x, t.with_lanes(1), None, e.span)
        case ir.Call(name=name, args=(a,), type=t):
            x = lane(a, number)
            return None if x is None else ir.Call(name, (x,), t.with_lanes(1), e.span)
        case _:
            return None


def _inner(number: ir.Expr, lanes: int) -> ir.Expr:
    return number if lanes == 1 else mod(number, lanes)
