"""Arithmetic of constant ranges of integers, as if none of it ever wrapped."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from hbc.ir.algebra.domain import Domain, Of
from hbc.ir.lang import nodes as ir

Range = tuple[int | None, int | None]
"""Least and greatest value, both included; None for unbounded."""

UNKNOWN: Range = (None, None)
Pick = Callable[[int, int], int]


def hull(a: Range, b: Range) -> Range:
    """What lies in one of the two, or between them."""
    return _both(min, a[0], b[0]), _both(max, a[1], b[1])


def meet(a: Range, b: Range) -> Range:
    """What lies in both."""
    return _any(max, a[0], b[0]), _any(min, a[1], b[1])


def of_unary(op: ir.UnaryOp, a: Range) -> Range:
    negated = _minus(a[1]), _minus(a[0])
    match op:
        case ir.UnaryOp.NEG:
            return negated
        case ir.UnaryOp.ABS if a[0] is not None:  # or it may be the least integer, which has none
            return meet(of_binary(ir.Op.MAX, a, negated), (0, None))
        case ir.UnaryOp.ABS:
            return UNKNOWN
        case _:
            return of_binary(ir.Op.SUB, (-1, -1), a)


def of_binary(op: ir.Op, a: Range, b: Range, bits: int = 64) -> Range:
    """`a op b`; shifts are by amounts below `bits`."""
    (al, ah), (bl, bh) = a, b
    match op:
        case ir.Op.ADD:
            return _plus(al, bl), _plus(ah, bh)
        case ir.Op.SUB:
            return _plus(al, _minus(bh)), _plus(ah, _minus(bl))
        case ir.Op.MIN:
            return _both(min, al, bl), _any(min, ah, bh)
        case ir.Op.MAX:
            return _any(max, al, bl), _both(max, ah, bh)
        case ir.Op.MUL if al is not None and ah is not None and bl is not None and bh is not None:
            corners = [x * y for x, y in product((al, ah), (bl, bh))]
            return min(corners), max(corners)
        case ir.Op.DIV if bl is not None and bl > 0:
            far = max(bl, abs(al or 0) + 1, abs(ah or 0) + 1) if bh is None else bh
            low = None if al is None else al // (bl if al < 0 else far)
            return low, None if ah is None else ah // (far if ah < 0 else bl)
        case ir.Op.MOD if bl is not None and bl > 0:
            if bl == bh and al is not None and ah is not None and al // bl == ah // bl:
                return al % bl, ah % bl
            return 0, _plus(bh, -1)
        case ir.Op.AND if bl is not None and bl >= 0:
            return 0, bh
        case ir.Op.SHL if bl is not None and bl == bh and 0 <= bl < bits:
            return of_binary(ir.Op.MUL, a, (1 << bl, 1 << bl))
        case ir.Op.SHR if bl is not None and bl == bh and 0 <= bl < bits:
            return of_binary(ir.Op.DIV, a, (1 << bl, 1 << bl))
        case ir.Op.SHR if bl is not None and bh is not None and 0 <= bl <= bh < bits:
            low = None if al is None else min(al >> bl, al >> bh)
            return low, None if ah is None else max(ah >> bl, ah >> bh)
        case _:
            return UNKNOWN


def of_indices(other: Callable[[ir.Expr, Of[Range]], Range]) -> Domain[Range]:
    """Ranges of index arithmetic, which never wraps. `other`: of what is no arithmetic."""
    return Domain(
        constant=constant,
        unary=lambda e, of: of_unary(e.op, of(e.a)),
        binary=lambda e, of: of_binary(e.op, of(e.a), of(e.b)),
        cast=lambda e, of: of(e.value) if e.type.element.is_int else UNKNOWN,
        select=lambda e, of: hull(of(e.a), of(e.b)),
        other=other,
    )


def constant(e: ir.Const) -> Range:
    return (int(e.value), int(e.value)) if not isinstance(e.value, float) else UNKNOWN


def _both(pick: Pick, a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else pick(a, b)


def _any(pick: Pick, a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return pick(a, b)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _minus(a: int | None) -> int | None:
    return None if a is None else -a
