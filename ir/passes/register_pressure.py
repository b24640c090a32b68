"""Buffers in vector registers that are more than the machine has: the compiler keeps some in memory."""

from __future__ import annotations

from hbc.ir.ground.diag import Diagnostic, Severity
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, Target
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import statements


def register_pressure(kernel: Kernel, target: Target) -> list[Diagnostic]:
    """A warning for each buffer in registers that leaves none for anything else."""
    if target.vector_bits == 0 or target.machine == GPU:
        return []
    have = target.vector_registers
    held = (
        n
        for n in statements(kernel.body)
        if isinstance(n, ir.Allocate) and n.memory is Memory.REGISTER
    )
    most = {a.span: a for a in sorted(held, key=lambda a: _registers(a, target))}
    counts = ((a, _registers(a, target)) for a in most.values())
    return [_warning(a, count, have) for a, count in counts if count >= have]


def _registers(a: ir.Allocate, target: Target) -> int:
    """Whole registers that the elements fill."""
    extent = int(a.extent.value) if isinstance(a.extent, ir.Const) else 0
    return -(-extent * a.element.bytes * 8 // target.vector_bits)


def _warning(a: ir.Allocate, count: int, have: int) -> Diagnostic:
    stage = a.buffer.partition(".")[0]  # without the number of what a movement keeps
    return Diagnostic(
        f"`{stage}` fills {count} vector registers, and the machine has {have}: some of it will be in"
        " memory",
        a.span,
        "compute fewer of its elements at once: smaller tiles, or fewer loops unrolled",
        severity=Severity.WARNING,
    )
