"""Atomic updates of one element, gathered first: over what a thread does, and over the lanes of a warp.

    threads t count 256 { for r { atomic + s[0] = x[t, r] } }
->  threads t count 256 { allocate own: f32[1] { own[0] = 0; for r { own[0] = own[0] + x[t, r] };
                                                 warp atomic + s[0] = own[0] } }

Updates of one place wait for each other in memory; a thread's own sum does not, nor does a warp's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, binary, gt
from hbc.ir.lang.identity import identity_of
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS, WARP, Tiles, by_warps, thread_loops, tiles_in
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, contains, free_variables, map_stmt, nodes, statements
from hbc.ir.passes.halves import widen_halves
from hbc.ir.vectors.vector_masks import conjuncts

_FIRST = ir.const_index(0)


def gathered_updates(kernel: Kernel) -> Kernel:
    """The kernel with its atomic updates gathered where they can be."""
    if not any(isinstance(n, ir.Store) and n.atomic is not None for n in statements(kernel.body)):
        return kernel
    everything = list(nodes(kernel.body))
    taken = {n.buffer for n in everything if isinstance(n, ir.Allocate | ir.Load | ir.Store)}
    return kernel.map_body(_Gather(taken, tiles_in(kernel.body)).outside)


@record
class _Gather:
    """`taken`: names of buffers; `tiles`: buffers in tile memory."""

    taken: set[str]
    tiles: Tiles

    def outside(self, s: ir.Stmt) -> ir.Stmt:
        """Down to the loops over threads."""
        if not isinstance(s, ir.For) or s.kind not in THREADS:
            return map_stmt(s, lambda e: e, self.outside)
        loops, body = thread_loops(s)
        varying = _varying(s, loops, self.tiles)
        new = self.in_thread(body if varying is None else self.of_warp(body, varying))
        for loop in reversed(loops):
            new = replace(loop, body=new)
        return new

    def of_warp(self, s: ir.Stmt, varying: frozenset[str]) -> ir.Stmt:
        """What all lanes of a warp come to. `varying`: names that differ between them."""

        def alike(e: ir.Expr) -> bool:
            names = free_variables(e)
            return names.isdisjoint(varying) and not contains(e, ir.Load)

        match s:
            case ir.Block():
                new = self.wrapped(s, varying, warp=True, least=2)
                if new is not s:
                    return new
                return map_stmt(s, lambda e: e, lambda c: self.of_warp(c, varying))
            case ir.LetStmt(value=value, body=body) if alike(value):
                return replace(s, body=self.of_warp(body, varying))
            case ir.If(condition=condition, then=then, otherwise=None):
                shared = [c for c in conjuncts(condition) if alike(c)]
                rest = [c for c in conjuncts(condition) if not alike(c)]
                inner = replace(s, condition=and_(*rest)) if rest else then
                if not shared:
                    return self.wrapped(s, varying, warp=True)
                return replace(s, condition=and_(*shared), then=self.of_warp(inner, varying))
            case ir.For(kind=ir.LoopKind.SERIAL) if alike(s.start) and alike(s.extent):
                new = self.wrapped(s, varying, warp=True)
                return new if new is not s else replace(s, body=self.of_warp(s.body, varying))
            case _:
                return self.wrapped(s, varying, warp=True)

    def in_thread(self, s: ir.Stmt) -> ir.Stmt:
        """A thread's loops, outermost first."""
        if isinstance(s, ir.For) and s.kind is ir.LoopKind.SERIAL:
            new = self.wrapped(s, frozenset(), warp=False)
            if new is not s:
                runs = simplify(gt(s.extent, 0))
                return new if isinstance(runs, ir.Const) else ir.If(runs, new)
        return map_stmt(s, lambda e: e, self.in_thread)

    def wrapped(
        self, s: ir.Stmt, varying: frozenset[str], *, warp: bool, least: int = 1
    ) -> ir.Stmt:
        """The statement with its updates of one element, the same each time, done once behind it, where
        there are so many of them."""
        places: dict[tuple[str, ir.Expr], list[ir.Store]] = {}
        for n in _updates(s):
            places.setdefault((n.buffer, n.index), []).append(n)
        new: ir.Stmt = s
        for first, *others in places.values():
            if first.atomic is None or len(others) + 1 < least:
                continue
            if _is_one_place(s, first, varying):
                new = self.gathered(new, first, first.atomic, warp)
        return new

    def gathered(self, s: ir.Stmt, update: ir.Store, op: ir.Op, warp: bool) -> ir.Stmt:
        if s is update:
            return replace(s, warp=WARP if warp else 0)
        name, count = f"{update.buffer}_own", 1
        while name in self.taken:
            count += 1
            name = f"{update.buffer}_own{count}"
        self.taken.add(name)
        t = update.value.type
        own = ir.Load(name, _FIRST, t)

        def changed(x: ir.Stmt) -> ir.Stmt:
            if isinstance(x, ir.Store) and (x.buffer, x.index) == (update.buffer, update.index):
                return ir.Store(
                    name, _FIRST, widen_halves(binary(op, own, x.value)), x.mask, x.span
                )
            return map_stmt(x, lambda e: e, changed)

        begin = ir.Store(name, _FIRST, identity_of(op, t.element), None, update.span)
        end = replace(update, value=own, mask=None, warp=WARP if warp else 0)
        body = block(begin, changed(s), end)
        return ir.Allocate(name, t.element, ir.const_index(1), Memory.STACK, body, "", update.span)


def _updates(s: ir.Stmt) -> Iterator[ir.Store]:
    return (n for n in statements(s) if isinstance(n, ir.Store) and n.atomic is not None)


def _varying(nest: ir.For, loops: tuple[ir.For, ...], tiles: Tiles) -> frozenset[str] | None:
    """The loops over threads that lanes of a warp are at different iterations of; None where not all
    of its lanes run them."""
    extents = [int(x.extent.value) if isinstance(x.extent, ir.Const) else 0 for x in loops]
    if loops[-1].kind is ir.LoopKind.LANE:
        return frozenset({loops[-1].var}) if extents[-1] == WARP else None
    if by_warps(nest, tiles):
        return None
    count, names = 1, set[str]()
    for loop, extent in zip(reversed(loops), reversed(extents), strict=True):
        count, names = count * extent, names | {loop.var}
        if count % WARP == 0:
            return frozenset(names) if count else None
    return None


def _is_one_place(s: ir.Stmt, update: ir.Store, varying: Collection[str]) -> bool:
    """Whether all that the statement does to the buffer are such updates, their place is the same for
    all lanes and iterations, and it is there where no lane and no iteration updates it."""
    inside = list(nodes(s))
    others = (
        n
        for n in inside
        if isinstance(n, ir.Load | ir.Store) and n.buffer == update.buffer
        if isinstance(n, ir.Load) or n.atomic is not update.atomic or n.warp
    )
    names = free_variables(update.index)
    bound = {n.var for n in inside if isinstance(n, ir.For)}
    bound |= {n.name for n in inside if isinstance(n, ir.LetStmt)}
    deciding = [n.condition for n in inside if isinstance(n, ir.If)]
    deciding += [e for n in inside if isinstance(n, ir.For) for e in (n.start, n.extent)]
    deciding += [n.mask for n in inside if isinstance(n, ir.Store) and n.mask is not None]
    depends = frozenset[str]().union(*(free_variables(e) for e in deciding))
    return (
        update.value.type.lanes == 1
        and not any(others)
        and not contains(update.index, ir.Load)
        and names.isdisjoint(bound | set(varying) | depends)
    )
