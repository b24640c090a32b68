"""Stores that put zeros where their value is not wanted, so that whatever reads all of a buffer may.

if i < n { s[i] = f(A[i]) }   ->   if i < n { s[i] = f(A[i]) } else { s[i] = 0 }
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from hbc.ir.lang.build import and_, const, select
from hbc.ir.lang.nodes import Expr, If, Load, Stmt, Store
from hbc.ir.lang.walk import rewrite


def filled_with_zeros(s: Store, limits: Mapping[str, Expr], apart: Collection[str]) -> Stmt:
    """The store of zero where one of the limits, by variable, does not hold. Where vectors run along
    variables, `apart`, their limits choose among the lanes, and others between whole vectors."""
    zero = const(0, s.value.type)
    lanes = [c for root, c in limits.items() if root in apart or not apart]
    others = [c for root, c in limits.items() if not (root in apart or not apart)]
    chosen = s if not lanes else replace(s, value=_where(and_(*lanes), s.value, zero))
    return If(and_(*others), chosen, replace(s, value=zero)) if others else chosen


def _where(condition: Expr, value: Expr, zero: Expr) -> Expr:
    """The value where the condition holds, which nothing is loaded for elsewhere; else zero."""

    def masked(e: Expr) -> Expr:
        return replace(e, mask=condition) if isinstance(e, Load) and e.mask is None else e

    read = rewrite(value, masked)
    return read if isinstance(value, Load) else select(condition, read, zero)
