"""Kernels that a GPU runs before those of the program, to bring factors into the order of instructions."""

from __future__ import annotations

from collections.abc import Iterator

from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, Severity
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, mul
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import children, contains, statements


def buffers_of(kernel: Kernel) -> frozenset[str]:
    """What is allocated anywhere in it."""
    return frozenset(n.buffer for n in statements(kernel.body) if isinstance(n, ir.Allocate))


def launched_copies(unselected: Kernel | None, done: Kernel) -> list[Diagnostic]:
    """A note on copies in the device's memory, with their bytes, that have a launch of their own:
    `unselected` is the kernel before instructions are chosen, `done` after all passes."""
    if unselected is None:
        return []
    scheduled = buffers_of(unselected)
    made = [
        n for n in statements(done.body)
        if isinstance(n, ir.Allocate) and n.memory is Memory.HEAP and n.buffer not in scheduled
    ]  # fmt: skip
    count = sum(bool(_stored(s) & {a.buffer for a in made}) for s in _launches(done.body))
    if not count:
        return []
    sizes = ", ".join(f"`{a.buffer}` ({_bytes(a)})" for a in made)
    run = "runs" if count == 1 else "run"
    message = (
        f"{counted(count, 'kernel')} {run} before this one, to copy its factors into the order in which the "
        f"instructions load them: {sizes}"
    )
    hint = (
        "what the block stages itself, by `.compute_at(..).store_in(shared)` of `X.in(..)`, is not copied "
        "before, unless it is a window or the taps of a convolution"
    )
    return [Diagnostic(message, _instruction(done), hint, severity=Severity.NOTE)]


def _launches(s: ir.Stmt) -> Iterator[ir.For]:
    """The outermost loops over blocks, of several versions the first."""
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.BLOCK:
        if not s.marks.version:
            yield s
        return
    for c in children(s):
        if isinstance(c, ir.Stmt):
            yield from _launches(c)


def _stored(s: ir.Stmt) -> set[str]:
    return {x.buffer for x in statements(s) if isinstance(x, ir.Store)}


def _bytes(a: ir.Allocate) -> str:
    size = simplify(mul(a.extent, a.element.bytes))
    known = const_value(size)
    return f"{show(size) if known is None else f'{int(known):,}'} bytes"


def _instruction(kernel: Kernel) -> Span | None:
    """The statement of the first instruction."""
    stores = (s for s in statements(kernel.body) if isinstance(s, ir.Store))
    return next((s.span for s in stores if s.span and contains(s.value, ir.Instruct)), None)
