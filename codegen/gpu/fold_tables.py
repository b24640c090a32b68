"""Values of tables at constant indices, as literals: operands of instructions that need no load.

table D: f16[2] = [0.25, 0.5];  acc = acc + f32(D[1]) * x   ->   acc = acc + f32(0.5) * x
"""

from __future__ import annotations

from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const, const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import rewrite, rewrite_stmt


def fold_tables(kernel: Kernel) -> Kernel:
    """The kernel without scalar loads from tables whose index is a literal."""
    values = {t.name: t.values for t in kernel.tables}

    def folded(e: ir.Expr) -> ir.Expr:
        if not isinstance(e, ir.Load) or e.buffer not in values or e.type.lanes > 1:
            return e
        at = const_value(simplify(e.index))
        known = at is not None and e.mask is None and 0 <= int(at) < len(values[e.buffer])
        return const(values[e.buffer][int(at)], e.type) if known and at is not None else e

    if not values:
        return kernel
    return kernel.map_body(lambda s: rewrite_stmt(s, lambda e: rewrite(e, folded)))
