"""Conversions from one element type to another, as values to compile."""

from __future__ import annotations

from itertools import permutations

from lanes import Case, Read

from hbc.ir.lang.nodes import Call, Cast, Expr, MathOp
from hbc.ir.lang.types import BOOL, DTYPES, DType


def cast(source: DType, target: DType) -> Case:
    def value(read: Read) -> Expr:
        a = read("a", source)
        return Cast(target(a.type.lanes), a)

    return Case(f"{target}({source})", value)


def reinterpreted(source: DType, target: DType) -> Case:
    def value(read: Read) -> Expr:
        a = read("a", source)
        return Call(MathOp.REINTERPRET, (a,), target(a.type.lanes))

    return Case(f"{target} bits of {source}", value)


def all_cases() -> list[Case]:
    """Every cast, and all bits seen as another type."""
    pairs = list(permutations(DTYPES.values(), 2))
    bits = [
        (s, t)
        for s, t in pairs
        if s.bits == t.bits and s.is_float != t.is_float and BOOL not in (s, t)
    ]
    return [*(cast(s, t) for s, t in pairs), *(reinterpreted(s, t) for s, t in bits)]
