"""Launches of two kernels: one for rows that are aligned, in which nothing asks whether they are.

    blocks io { .. if A_stride0 % 8 == 0 { s[ramp] = A[ramp] } else { .. } .. }
->  if A_stride0 % 8 == 0 { blocks io { .. s[ramp] = A[ramp] .. } } else { blocks io { as it was } }

The second one still asks for each array, as rows of one may be aligned where those of another are not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import lcm

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, const_value, eq, mod
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import block, map_stmt, statements


def aligned_launches(kernel: Kernel) -> Kernel:
    """The kernel whose launches test the strides of arguments before, where their blocks would."""
    strides = frozenset(a.stride_name(d) for a in kernel.arguments for d in range(len(a.extents)))
    return kernel.map_body(lambda s: _host(s, strides))


def _host(s: ir.Stmt, strides: Collection[str]) -> ir.Stmt:
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.BLOCK:
        return map_stmt(s, lambda e: e, lambda c: _host(c, strides))
    wanted: dict[str, int] = {}
    for x in statements(s):
        for stride, n in (
            (_tests(x.condition, strides) or {}).items() if isinstance(x, ir.If) else ()
        ):
            wanted[stride] = lcm(wanted.get(stride, 1), n)
    if not wanted:
        return s
    tests = [eq(mod(ir.Var(stride), n), 0) for stride, n in sorted(wanted.items())]
    return ir.If(and_(*tests), _aligned(s, wanted), s)


def _aligned(s: ir.Stmt, known: Mapping[str, int]) -> ir.Stmt:
    """The statement where strides are multiples of these numbers."""
    if isinstance(s, ir.If):
        tests = _tests(s.condition, known)
        if tests is not None and all(known[stride] % n == 0 for stride, n in tests.items()):
            return _aligned(s.then, known)
    made = map_stmt(s, lambda e: e, lambda c: _aligned(c, known))
    return block(*made.body) if isinstance(made, ir.Block) and made is not s else made


def _tests(e: ir.Expr, strides: Collection[str]) -> dict[str, int] | None:
    """What strides are multiples of where a condition holds that asks for nothing else."""
    found: dict[str, int] = {}
    for term in _terms(e):
        match term:
            case ir.Binary(
                op=ir.Op.EQ, a=ir.Binary(op=ir.Op.MOD, a=ir.Var(name=name), b=n), b=zero
            ) if name in strides and const_value(zero) == 0:
                found[name] = lcm(found.get(name, 1), int(const_value(n) or 0))
            case _:
                return None
    return found if all(found.values()) else None


def _terms(e: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(e, ir.Binary) and e.op is ir.Op.AND:
        yield from _terms(e.a)
        yield from _terms(e.b)
    else:
        yield e
