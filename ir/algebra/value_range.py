"""Constant ranges of integer values of any width: what types, literals, clamps and casts promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from hbc.ir.algebra.form import ARITHMETIC
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX, Kind

Range = tuple[int | None, int | None]
UNKNOWN: Range = (None, None)


class HasLimits(Protocol):
    """What is known of a name: `lo` and `hi`, both included, None for unbounded."""

    @property
    def lo(self) -> ir.Expr | None: ...
    @property
    def hi(self) -> ir.Expr | None: ...


def value_range(
    e: ir.Expr, ranges: Mapping[str, HasLimits], index_range: Callable[[ir.Expr], Range]
) -> Range:
    """The least and greatest value of any lane, each None if unknown. `index_range` answers for
    scalar index arithmetic, which has a linear form."""

    def of(x: ir.Expr) -> Range:
        if x.type == INDEX and (isinstance(x, ir.Var) or _is_arithmetic(x)):
            return index_range(x)
        return _meet(_within_type(x), structure(x))

    def structure(x: ir.Expr) -> Range:
        match x:
            case ir.Const(value=v):
                return (int(v), int(v)) if not isinstance(v, float) else UNKNOWN
            case ir.Broadcast(value=v) | ir.Gather(value=v):
                low, high = of(v)
                zero = isinstance(x, ir.Gather) and -1 in x.lanes
                return _hull((low, high), (0, 0)) if zero else (low, high)
            case ir.Load(buffer=name) | ir.Access(name=name) if name in ranges:
                return _named(ranges[name], index_range)
            case ir.Cast(value=v):
                low, high = of(v)
                kept = not v.type.element.is_float and _fits((low, high), x)
                return (low, high) if kept else UNKNOWN
            case ir.Select(a=a, b=b):
                return _hull(of(a), of(b))
            case ir.Let(body=body):
                return _within_type(body)
            case ir.Binary(op=op, a=a, b=b):
                found = _operation(op, of(a), of(b))
                return found if _fits(found, x) else UNKNOWN
            case _:
                return UNKNOWN

    return of(e)


def _is_arithmetic(e: ir.Expr) -> bool:
    return isinstance(e, ir.Binary) and e.op in ARITHMETIC


def _operation(op: ir.Op, a: Range, b: Range) -> Range:
    """Without wrapping; the caller checks that the result fits."""
    (al, ah), (bl, bh) = a, b
    match op:
        case ir.Op.MIN:
            lows = None if al is None or bl is None else min(al, bl)
            return lows, _pick(min, ah, bh)
        case ir.Op.MAX:
            highs = None if ah is None or bh is None else max(ah, bh)
            return _pick(max, al, bl), highs
        case ir.Op.ADD:
            return _add(al, bl), _add(ah, bh)
        case ir.Op.SUB:
            return _add(al, None if bh is None else -bh), _add(ah, None if bl is None else -bl)
        case ir.Op.AND if bl is not None and bh is not None and bl >= 0:
            return 0, bh
        case ir.Op.MOD if bl is not None and bh is not None and bl > 0:
            return 0, bh - 1
        case ir.Op.DIV if bl is not None and bl == bh and bl > 0:
            return None if al is None else al // bl, None if ah is None else ah // bl
        case ir.Op.MUL if None not in (al, ah, bl, bh):
            corners = [x * y for x in (al, ah) for y in (bl, bh) if x is not None and y is not None]
            return min(corners), max(corners)
        case ir.Op.SHR if bl is not None and bl == bh and 0 <= bl < 8:  # below every width
            return None if al is None else al >> bl, None if ah is None else ah >> bl
        case _:
            return UNKNOWN


def _within_type(e: ir.Expr) -> Range:
    element = e.type.element
    if element.kind is Kind.BOOL or (element.is_int and element.bits < 64):
        return element.limits
    return UNKNOWN


def _named(known: HasLimits, index_range: Callable[[ir.Expr], Range]) -> Range:
    low = None if known.lo is None else index_range(known.lo)[0]
    high = None if known.hi is None else index_range(known.hi)[1]
    return low, high


def _fits(r: Range, e: ir.Expr) -> bool:
    element = e.type.element
    if not element.is_int:
        return False
    low, high = element.limits
    if element.bits == 64:
        return True
    return r[0] is not None and r[1] is not None and low <= r[0] and r[1] <= high


def _meet(a: Range, b: Range) -> Range:
    return _pick(max, a[0], b[0]), _pick(min, a[1], b[1])


def _hull(a: Range, b: Range) -> Range:
    (al, ah), (bl, bh) = a, b
    low = None if al is None or bl is None else min(al, bl)
    return low, None if ah is None or bh is None else max(ah, bh)


def _pick(choose: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return choose(a, b)


def _add(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
