"""What is known of an index modulo a power of two or any other number."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from hbc.ir.algebra.linear import Linear, linear
from hbc.ir.lang import nodes as ir

Alignment = tuple[int, int]
"""(modulus, remainder): the value is remainder modulo modulus; modulus 0 is a constant, 1 nothing."""

_NO_ALIGNMENTS: Mapping[str, Alignment] = {}


def alignment(e: ir.Expr, known: Mapping[str, Alignment] = _NO_ALIGNMENTS) -> Alignment:
    """Of a scalar index expression; `known` has that of variables."""
    form = linear(e)
    whole, terms = _floored(form)
    modulus, remainder = gcd(*whole), form.constant
    for atom, c in terms:
        m, r = _of_atom(atom, known)
        modulus = gcd(modulus, m * c)
        remainder += r * c
    return modulus, remainder % modulus if modulus else remainder


def _floored(form: Linear) -> tuple[list[int], list[tuple[ir.Expr, int]]]:
    """The terms without each c * x - c * (x % d), and what these are multiples of: c * d."""
    left = dict(form.terms)
    whole: list[int] = []
    for atom, c in form.terms:
        match atom:
            case ir.Binary(op=ir.Op.MOD, a=ir.Var() as x, b=ir.Const(value=d)) if (
                d > 0 and left.get(x) == -c
            ):
                whole.append(c * int(d))
                del left[atom], left[x]
            case _:
                pass
    return whole, list(left.items())


def _of_atom(atom: ir.Expr, known: Mapping[str, Alignment]) -> Alignment:
    match atom:
        case ir.Var(name=name):
            return known.get(name, (1, 0))
        case ir.Binary(op=ir.Op.MIN | ir.Op.MAX, a=a, b=b) | ir.Select(a=a, b=b):
            (m, r), (n, s) = alignment(a, known), alignment(b, known)
            both = gcd(m, n, r - s)
            return both, r % both if both else r
        case ir.Binary(op=ir.Op.MOD, a=a, b=ir.Const(value=d)) if d > 0:
            m, r = alignment(a, known)
            both = gcd(m, int(d))
            return both, r % both
        case ir.Binary(op=ir.Op.MUL, a=a, b=b):
            (m, r), (n, s) = alignment(a, known), alignment(b, known)
            both = gcd(m * n, m * s, n * r)
            return both, r * s % both if both else r * s
        case _:
            return 1, 0
