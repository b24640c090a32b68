"""Asynchronous copies from a GPU's memory to shared memory.

__pipeline_memcpy_async(&s[4 * thread], &A[offset], 16);
ptx_cp_async_16(&s[4 * thread], &A[offset], 4 * count);         // the first `count`, and zeros
__pipeline_commit();
__pipeline_wait_prior(1);
"""

from __future__ import annotations

from hbc.codegen.gpu.partial_copies import live_count
from hbc.codegen.text.scalar import element, scalar
from hbc.codegen.text.unit import LOGIC_OR, Unit
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import mul
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import statements

HEADER = "cuda_pipeline.h"


def copies_ahead(kernel: Kernel) -> bool:
    """Whether anything is copied asynchronously, for which the file includes the header."""
    return any(isinstance(n, ir.CopyCommit) and not n.products for n in statements(kernel.body))


def copy_statement(s: ir.Stmt, unit: Unit) -> bool:
    """Prints a copy, the end of a group, or a wait; False for other statements."""
    match s:
        case ir.Store(asynchronous=True, value=ir.Load() as source):
            _copy(s, source, unit)
        case ir.CopyCommit():
            unit.out.line("__pipeline_commit();")
        case ir.CopyWait(most=most):
            unit.out.line(f"__pipeline_wait_prior({most});")
        case _:
            return False
    return True


def _copy(s: ir.Store, source: ir.Load, unit: Unit) -> None:
    size = source.type.element.bytes * source.type.lanes
    if (count := live_count(source.mask)) is not None:
        to, at = _place(s.buffer, s.index, unit), _place(source.buffer, source.index, unit)
        bytes_ = scalar(simplify(mul(count, source.type.element.bytes)), unit)
        unit.out.line(f"ptx_cp_async_{size}({to}, {at}, {bytes_});")
        return
    zeros = ""
    if source.mask is not None and source.mask != s.mask:
        zeros = f", {scalar(source.mask, unit).at(LOGIC_OR)} ? 0 : {size}"
    to, at = _place(s.buffer, s.index, unit), _place(source.buffer, source.index, unit)
    text = f"__pipeline_memcpy_async({to}, {at}, {size}{zeros});"
    if s.mask is None:
        unit.out.line(text)
        return
    unit.out.line(f"if ({scalar(s.mask, unit)})")
    unit.out.depth += 1
    unit.out.line(text)
    unit.out.depth -= 1


def _place(buffer: str, index: ir.Expr, unit: Unit) -> str:
    """The address of the first element."""
    if isinstance(index, ir.Ramp):
        index = index.base
    if index.type.lanes != 1:
        raise InternalError("codegen: an asynchronous copy of elements that are apart")
    return f"&{element(buffer, index, unit)}"
