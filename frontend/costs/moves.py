"""How an access moves along a loop: not at all, to the next element, to it after some steps, further, or not
evenly."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from hbc.ir.algebra.form import Linear, coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions, nodes, nodes_of


class Move(StrEnum):
    """FIXED: the loop does not change the place. NEXT: to the next element in memory. REPEATED: to it after
    two, four, .. steps, as in `a[x / 4]`: a vector is a part of one in memory, spread. FAR: evenly, by more
    than an element. UNEVEN: by minima, other quotients or what is read elsewhere."""

    FIXED = "fixed"
    NEXT = "next"
    REPEATED = "repeated"
    FAR = "far"
    UNEVEN = "uneven"


PIECE = 16  # values of a remainder of which most vectors lie within one
NEAR = (Move.FIXED, Move.NEXT, Move.REPEATED)  # a vector is one load at most


def move(a: ir.Access, loop: str) -> Move:
    """How the access moves along a loop. Elements of the last dimension are neighbours."""
    slowest = Move.FIXED
    for d, index in enumerate(a.indices):
        if not mentions(index, loop):
            continue
        steps = _steps(index, loop)
        if steps is None:
            return Move.UNEVEN
        if steps == 0:
            continue
        first = d == len(a.indices) - 1 and slowest is Move.FIXED
        if steps.denominator >= PIECE and not first and _goes_on(a, index, loop):
            continue
        if steps.denominator > 1 and not first:
            return Move.UNEVEN
        if steps.denominator > 1:
            slowest = Move.REPEATED
        else:
            slowest = Move.NEXT if first and steps == 1 else Move.FAR
    return slowest


def _goes_on(a: ir.Access, index: ir.Expr, loop: str) -> bool:
    """Whether the remainders of a quotient are another index: most vectors lie within one piece."""
    rest = [i for i in a.indices if i is not index and mentions(i, loop)]
    return len(rest) == 1 and pieces(rest[0], loop) == pieces(index, loop)


def _steps(index: ir.Expr, loop: str) -> Fraction | None:
    """By how much the index grows with the loop, which is one in several steps where it is a quotient by a
    power of two, and as much as the dividend where it is a remainder by many; None where that is not
    constant. Limits of an index, as at the edges of an image, hold for few: they are looked through."""
    form = linear(index)
    total = Fraction(coefficient(form, loop))
    for atom, times in form.terms:
        if isinstance(atom, ir.Var) or not mentions(atom, loop):
            continue
        inner = _within_limits(atom, loop)
        step = _quotient(atom, loop) if inner is None else _steps(inner, loop)
        if step is None:
            return None
        if step.denominator > 1 and (times, _moving(form, loop)) != (1, 1):
            return None
        total += times * step
    return total


def _quotient(atom: ir.Expr, loop: str) -> Fraction | None:
    """The step of a quotient by a power of two whose dividend goes up by one, or by a lesser power: one in
    several."""
    match atom:
        case ir.Binary(op=ir.Op.DIV, a=dividend, b=ir.Const(value=int(q))) if q > 1:
            step = _steps(dividend, loop)
            several = None if step is None or step <= 0 else q / step
            if several is None or several.denominator > 1 or several < 2:
                return None
            return None if several.numerator & (several.numerator - 1) else 1 / several
        case ir.Binary(op=ir.Op.MOD, a=dividend, b=ir.Const(value=int(q))) if q >= PIECE:
            return _steps(dividend, loop)
        case _:
            return None


def _moving(form: Linear, loop: str) -> int:
    """How many terms change with the loop."""
    return sum(mentions(atom, loop) for atom, _ in form.terms)


def _within_limits(atom: ir.Expr, loop: str) -> ir.Expr | None:
    """What a minimum or maximum limits."""
    if isinstance(atom, ir.Binary) and atom.op in (ir.Op.MIN, ir.Op.MAX):
        moving = [x for x in (atom.a, atom.b) if mentions(x, loop)]
        if len(moving) == 1:
            return moving[0]
    return None


def pieces(e: ir.Expr, loop: str) -> frozenset[int]:
    """The constants q of the quotients and remainders by q of which the dividend moves with the loop:
    pieces of q of its values belong together."""
    return frozenset(
        int(n.b.value)
        for n in nodes_of(e, ir.Binary)
        if n.op in (ir.Op.DIV, ir.Op.MOD)
        and isinstance(n.b, ir.Const)
        and isinstance(n.b.value, int)
        and n.b.value > 1
        and mentions(n.a, loop)
    )


def is_limited(a: ir.Access, loop: str) -> bool:
    """Whether minima or maxima limit an index that moves with the loop, as at the edges of an image."""
    return any(
        isinstance(n, ir.Binary) and n.op in (ir.Op.MIN, ir.Op.MAX) and mentions(n, loop)
        for i in a.indices
        for n in nodes(i)
    )
