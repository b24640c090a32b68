"""Tests of strides go from the loops of blocks to the host, which chooses one of two launches.

    blocks io { for k { if A_stride0 % 8 == 0 { s[..] = A.f16x8[..] } else { .. } } }
->  if A_stride0 % 8 == 0 { blocks io { for k { s[..] = A.f16x8[..] } } }
    else { blocks io version 1 { for k { .. } } }

The first has no tests, so that its loops hold one way to copy. The other takes what is left: with several
tests it keeps them, as some of the arrays may be aligned there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import lcm

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, const_value, eq, mod
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import block, map_stmt, statements

Multiples = Mapping[str, int]
"""Strides, and what they are multiples of."""


def aligned_launches(kernel: Kernel) -> Kernel:
    """The kernel with two launches for one wherever a loop of its blocks tests strides of arguments."""
    strides = strides_of(kernel)
    return kernel.map_body(lambda s: _outside(s, strides))


def strides_of(kernel: Kernel) -> frozenset[str]:
    """The names of the strides of its arguments."""
    dims = ((a, d) for a in kernel.arguments for d in range(len(a.extents) - 1))
    return frozenset(a.stride_name(d) for a, d in dims)


def _outside(s: ir.Stmt, strides: Collection[str]) -> ir.Stmt:
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.BLOCK:
        return map_stmt(s, lambda e: e, lambda c: _outside(c, strides))
    if not any(_tests(loop.body, strides) for loop in _serial(s)):
        return s
    tests = _tests(s, strides)
    needed: dict[str, int] = {}
    for test in tests:
        for name, n in test:
            needed[name] = lcm(needed.get(name, 1), n)
    rest = s if len(tests) > 1 else without_tests(s, needed, False)
    assert isinstance(rest, ir.For)
    return ir.If(
        and_(*(eq(mod(ir.Var(name), n), 0) for name, n in sorted(needed.items()))),
        without_tests(s, needed, True),
        replace(rest, marks=replace(rest.marks, version=1)),
    )


def _serial(s: ir.Stmt) -> Iterator[ir.For]:
    return (x for x in statements(s) if isinstance(x, ir.For) and x.kind is ir.LoopKind.SERIAL)


def _tests(s: ir.Stmt, strides: Collection[str]) -> set[tuple[tuple[str, int], ...]]:
    """Of the conditions in the statement, those that ask for multiples of strides and nothing else."""
    conditions = (x.condition for x in statements(s) if isinstance(x, ir.If))
    found = {tuple(m) for c in conditions if (m := _multiples(c)) is not None}
    return {m for m in found if all(name in strides for name, _ in m)}


def _multiples(e: ir.Expr) -> list[tuple[str, int]] | None:
    """The names and numbers of `a % 8 == 0 and b % 4 == 0`; None of other conditions."""
    match e:
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            x, y = _multiples(a), _multiples(b)
            return None if x is None or y is None else [*x, *y]
        case ir.Binary(
            op=ir.Op.EQ, a=ir.Binary(op=ir.Op.MOD, a=ir.Var(name=name), b=n), b=zero
        ) if const_value(zero) == 0 and (count := const_value(n)) is not None:
            return [(name, int(count))]
        case _:
            return None


def without_tests(s: ir.Stmt, known: Multiples, holds: bool) -> ir.Stmt:
    """The statement where every test of `known` holds, or none does."""
    test = _multiples(s.condition) if isinstance(s, ir.If) else None
    if isinstance(s, ir.If) and test and all(known.get(name, 1) % n == 0 for name, n in test):
        taken = s.then if holds else s.otherwise
        return block() if taken is None else without_tests(taken, known, holds)
    return map_stmt(s, lambda e: e, lambda c: without_tests(c, known, holds))
