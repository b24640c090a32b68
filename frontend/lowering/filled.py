"""Stores that put zeros where their value is not wanted, so that whatever reads all of a buffer may.

if i < n { s[i] = f(A[i]) }   ->   if i < n { s[i] = f(A[i]) } else { s[i] = 0 }
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, const, select
from hbc.ir.lang.walk import rewrite


def filled_with_zeros(
    s: ir.Store, limits: Mapping[str, ir.Expr], apart: Collection[str]
) -> ir.Stmt:
    """The store of zero where one of the limits, by variable, does not hold. Where vectors run along
    variables, `apart`, their limits choose among the lanes, and others between whole vectors."""
    zero = const(0, s.value.type)
    lanes = [c for root, c in limits.items() if root in apart or not apart]
    others = [c for root, c in limits.items() if not (root in apart or not apart)]
    chosen = s if not lanes else replace(s, value=_where(and_(*lanes), s.value, zero))
    return ir.If(and_(*others), chosen, replace(s, value=zero)) if others else chosen


def _where(condition: ir.Expr, value: ir.Expr, zero: ir.Expr) -> ir.Expr:
    """The value where the condition holds, which nothing is loaded for elsewhere; else zero."""

    def masked(e: ir.Expr) -> ir.Expr:
        return replace(e, mask=condition) if isinstance(e, ir.Load) and e.mask is None else e

    read = rewrite(value, masked)
    return read if isinstance(value, ir.Load) else select(condition, read, zero)
