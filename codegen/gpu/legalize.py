"""Vector statements for a GPU, whose threads are scalar: lanes become statements of their own.

What only copies neighbouring elements stays together, 16 bytes at most: see `gpu_copies`.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.codegen.gpu.copies import Copies, vector_copies
from hbc.codegen.gpu.swizzle import refuse_swizzled
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.walk import map_stmt, rewrite
from hbc.ir.passes.legalize import legalize


def gpu_legalize(kernel: Kernel, target: Target) -> Kernel:
    """The kernel whose only vector statements are copies, of one access each."""
    refuse_swizzled(kernel.body)
    copies = Copies()
    kernel = vector_copies(kernel, copies)
    scalar = legalize(kernel, replace(target, vector_bits=0), copies.holds)
    return scalar.map_body(_without_masks)


def _without_masks(s: ir.Stmt) -> ir.Stmt:
    """Masks go where a lane is live in any case."""
    s = map_stmt(s, lambda e: rewrite(e, _unmasked), _without_masks)
    if isinstance(s, ir.Store) and s.mask is not None and const_value(s.mask) is True:
        return replace(s, mask=None)
    return s


def _unmasked(e: ir.Expr) -> ir.Expr:
    if isinstance(e, ir.Load) and e.mask is not None and const_value(e.mask) is True:
        return replace(e, mask=None)
    return e
