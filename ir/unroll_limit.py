"""Refuses loops that would be unrolled into more text than a C compiler can bear."""

from __future__ import annotations

from hbc.ir.diag import error
from hbc.ir.nodes import Block, Const, For, LoopKind, Stmt
from hbc.ir.walk import children

# gcc takes some ten seconds for so many; what people unroll by hand has a few hundred.
MOST_STATEMENTS = 20_000


def refuse_long(s: Stmt) -> Stmt:
    """The same statement. HbcError naming the outermost unrolled loop that makes too many."""
    _count(s)
    return s


def _count(s: Stmt) -> int:
    """How many statements `s` is once its UNROLL loops are written out."""
    if isinstance(s, For) and s.kind is LoopKind.UNROLL and isinstance(s.extent, Const):
        made = int(s.extent.value) * _count(s.body)
        if made > MOST_STATEMENTS:
            raise error(
                f"unrolling `{s.var}` and what is in it would make {made:,} statements, and "
                f"{MOST_STATEMENTS:,} are the most", s.span,
                "unroll fewer loops, or by smaller factors",
            )  # fmt: skip
        return made
    inside = sum(_count(child) for child in children(s) if isinstance(child, Stmt))
    return inside if isinstance(s, Block) else inside + 1
