"""Shared memory is asked for once in a block: arrays that are not alive together are one.

    for k { allocate s: f32[64] in shared { .. } }; allocate s: f32[32] in shared { .. }
->  allocate s: f32[64] in shared { for k { .. }; .. }
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace

from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import maximum
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import DType, Memory
from hbc.ir.lang.walk import map_stmt, nodes_of, rename_buffer, statements


def reuse_shared(kernel: Kernel) -> Kernel:
    """The kernel with all shared memory allocated right inside of the loops over blocks."""
    return kernel.map_body(_outside)


def _outside(s: ir.Stmt) -> ir.Stmt:
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.BLOCK:
        return map_stmt(s, lambda e: e, _outside)
    if any(isinstance(x, ir.For) and x.kind is ir.LoopKind.BLOCK for x in statements(s.body)):
        return map_stmt(s, lambda e: e, _outside)
    names = {n.buffer for n in nodes_of(s, ir.Allocate, ir.Load, ir.Store, ir.Prefetch)}
    slots = _Slots(names)
    body = slots.stmt(s.body, ())
    for a in reversed(slots.arrays):
        body = replace(a, body=body)
    return s if body is s.body else replace(s, body=body)


@mutable
class _Slots:
    """`names`: of all buffers; `arrays`: those that there are so far, each with the extent of the
    largest that it holds."""

    names: Collection[str]
    arrays: list[ir.Allocate] = field(default_factory=list)

    def stmt(self, s: ir.Stmt, alive: tuple[int, ...]) -> ir.Stmt:
        if not isinstance(s, ir.Allocate) or s.memory is not Memory.SHARED:
            return map_stmt(s, lambda e: e, lambda c: self.stmt(c, alive))
        slot = self._slot(s, s.element, alive)
        body = self.stmt(s.body, (*alive, slot))
        name = self.arrays[slot].buffer
        return body if name == s.buffer else rename_buffer(body, s.buffer, name)

    def _slot(self, s: ir.Allocate, element: DType, alive: tuple[int, ...]) -> int:
        """An array of the element type, swizzled alike, that is free, best of the same name; else a new
        one."""
        free = [
            n
            for n, a in enumerate(self.arrays)
            if (a.element, a.swizzle) == (element, s.swizzle) and n not in alive
        ]
        same = [n for n in free if self.arrays[n].buffer == s.buffer]
        for n in (same or free)[:1]:
            old = self.arrays[n]
            self.arrays[n] = replace(old, extent=simplify(maximum(old.extent, s.extent)))
            return n
        taken = {a.buffer for a in self.arrays}
        name, count = s.buffer, 1
        while name in taken or (count > 1 and name in self.names):
            count += 1
            name = f"{s.buffer}_{count}"
        self.arrays.append(replace(s, buffer=name))
        return len(self.arrays) - 1
