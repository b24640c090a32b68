"""One lane of a vector expression, as a scalar expression of the lane's number."""

from __future__ import annotations

from hbc.ir.lang.build import add, binary, cast, floordiv, mod, mul, select
from hbc.ir.lang.nodes import Binary, Broadcast, Call, Cast, Expr, Load, Ramp, Select, Unary


def lane(e: Expr, number: Expr) -> Expr | None:
    """Lane `number` of `e`; None where that is not an expression (a reduction, a gather)."""
    if e.type.lanes == 1:
        return e
    match e:
        case Broadcast(value=v):
            return lane(v, _inner(number, v.type.lanes))
        case Ramp(base=base, stride=stride):
            own = base.type.lanes
            x, y = lane(base, _inner(number, own)), lane(stride, _inner(number, own))
            if x is None or y is None:
                return None
            return add(x, mul(cast(x.type, floordiv(number, own)), y))
        case Binary(op=op, a=a, b=b):
            x, y = lane(a, number), lane(b, number)
            return None if x is None or y is None else binary(op, x, y)
        case Unary(op=uop, a=a):
            x = lane(a, number)
            return None if x is None else Unary(uop, x, e.span)
        case Cast(type=t, value=v):
            x = lane(v, number)
            return None if x is None else cast(t.element, x)
        case Select(condition=c, a=a, b=b):
            z, x, y = lane(c, number), lane(a, number), lane(b, number)
            return None if z is None or x is None or y is None else select(z, x, y)
        case Load(buffer=buffer, index=index, type=t, mask=None):
            x = lane(index, number)
            return None if x is None else Load(buffer, x, t.with_lanes(1), None, e.span)
        case Call(name=name, args=(a,), type=t):
            x = lane(a, number)
            return None if x is None else Call(name, (x,), t.with_lanes(1), e.span)
        case _:
            return None


def _inner(number: Expr, lanes: int) -> Expr:
    return number if lanes == 1 else mod(number, lanes)
