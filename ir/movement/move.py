"""Vectors whose lanes lie apart are loaded and stored as whole registers, with shuffles between them.

    r = I[ramp(3*x, 3, 64)]; g = I[ramp(3*x + 1, 3, 64)]; b = I[ramp(3*x + 2, 3, 64)]
->  m[0..] = I[ramp(3*x, 1, 64)]; m[64..] = I[ramp(3*x + 64, 1, 64)]; m[128..] = ..
    m[192..] = m[<0, 3, 6, ..>]; ..                  one instruction each, from the library
    r = m[ramp(960, 1, 64)]; ..

All accesses of straight-line code that want the same stretch of memory are taken together: channels that are
interleaved, columns of a tile. Elements between those that are read may be read too, but for those of
buffers that the kernel writes, where another thread may be storing, or nobody has stored. What is
stored must fill whole registers. An access under a mask is left as it is, and so is one for which the
library knows no chain, or none that is shorter than what printers do by themselves.
"""

from __future__ import annotations

from collections import Counter

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import TILES
from hbc.ir.lang.walk import map_stmt, nodes_of, statements
from hbc.ir.movement.chain import Movement
from hbc.ir.movement.items import Bind, Registers, items_of, statement
from hbc.ir.movement.library import WIDTHS
from hbc.ir.movement.loads import loads
from hbc.ir.movement.moved import Moved
from hbc.ir.movement.places import IN_MEMORY, is_apart
from hbc.ir.movement.stores import stores
from hbc.ir.movement.widen import NARROW
from hbc.ir.movement.widened import widened
from hbc.ir.movement.work import Work, stored_by


def move(
    kernel: Kernel,
    target: Target,
    moved: list[Moved] | None = None,
    unknown: list[Movement] | None = None,
) -> Kernel:
    """The kernel with such accesses moved. `moved` takes what was done, `unknown` what the library does not
    know and would have been worth a try."""
    widths = tuple(w for w in WIDTHS.get(target.machine, ()) if w <= target.vector_bits)
    if not widths:
        return kernel
    accesses = (n for n in nodes_of(kernel.body, ir.Load, ir.Store))
    if not any(is_apart(a, (NARROW, *widths)) for a in accesses):
        return kernel
    allocated = [s for s in statements(kernel.body) if isinstance(s, ir.Allocate)]
    elsewhere = frozenset(a.buffer for a in allocated if a.memory not in IN_MEMORY)
    tiles = frozenset(a.buffer for a in allocated if a.memory in TILES)
    written = frozenset(stored_by(kernel.body))
    noted = [] if moved is None else moved, [] if unknown is None else unknown
    work = Work(target, widths, elsewhere, tiles, written, *noted)
    return kernel.map_body(lambda s: _statement(s, work))


def _statement(s: ir.Stmt, work: Work) -> ir.Stmt:
    def inner(part: ir.Stmt) -> ir.Stmt:
        return _statement(part, work)

    if not isinstance(s, ir.Block | ir.LetStmt | ir.Store):
        return map_stmt(s, lambda e: e, inner)
    old = list(items_of(s))
    items = [
        i if isinstance(i, Bind | Registers | ir.Store) else map_stmt(i, lambda e: e, inner)
        for i in old
    ]
    bound = Counter(i.name for i in items if isinstance(i, Bind))
    if max(bound.values(), default=0) <= 1:
        items = stores(loads(widened(items, work), work), work)
    same = len(items) == len(old) and all(a is b for a, b in zip(items, old, strict=True))
    return s if same else statement(items)
