"""Where the temporaries of instruction selection lie on a GPU, and which threads fill them.

Fragments are moved from and to memory that all lanes of a warp see. So a temporary outside of all blocks
is filled by a kernel of its own, one in a block lies in shared memory and is filled by all its threads,
and one inside of a loop over warps has a slot in shared memory for each, which its lanes fill:

    threads w count 4 { allocate t: f16[256] in stack { t[ramp(0, 1, 256)] = x; fragment = t[..] } }
    ->
    allocate t: f16[1024] in shared {
        threads w count 4 { for u count 8 { lanes l count 32 { t[256 * w + 32 * u + l] = x } }; .. } }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from math import prod

from hbc.codegen.gpu.fills import at_number, iterations, joined, only_fills, perfect
from hbc.ir.algebra.bounds import Facts, Interval, constant_bounds
from hbc.ir.algebra.lane_at import NoLaneError, at_lane, by_distance
from hbc.ir.algebra.simplify import simplify_kernel
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, floordiv, lt, mul, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import WARP, Tiles, by_warps, thread_count, thread_loops, tiles_in
from hbc.ir.lang.names import unused
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import children, map_stmt, nodes, nodes_of, rewrite, statements

THREADS_A_BLOCK = 256
ALIGNED = 32  # elements: slots begin at multiples of 32 bytes at least, which fragments ask for
_OWN = (Memory.STACK, Memory.HEAP, Memory.AUTO)


def place_temporaries(kernel: Kernel) -> Kernel:
    """The kernel in which temporaries are where fragments may be moved from and to."""
    taken = {n.var for n in statements(kernel.body) if isinstance(n, ir.For)}
    pass_ = _Pass(taken, tiles_in(kernel.body))
    before = {id(s) for s in statements(kernel.body)}  # simplified, where they are left as they are
    return simplify_kernel(kernel.map_body(pass_.host), before)


@mutable
class _Pass:
    """The walk. `tiles`: the buffers in tile memory."""

    taken: set[str]
    tiles: Tiles
    threads: int = THREADS_A_BLOCK  # of the block that the walk is in
    slots: list[ir.Allocate] = field(default_factory=list)  # found in the nest that it is in
    live: set[str] = field(default_factory=set)  # the slots of statements around

    def fresh(self, word: str) -> str:
        name = unused(word, self.taken)
        self.taken.add(name)
        return name

    def host(self, s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.For) and s.kind is ir.LoopKind.BLOCK:
            return self.launch(s)
        if isinstance(s, ir.Allocate) and s.memory is Memory.STACK:
            s = replace(s, memory=Memory.HEAP)
        if isinstance(s, ir.Store | ir.For | ir.LetStmt | ir.If) and only_fills(s):
            return self.shared_out(s, THREADS_A_BLOCK, ir.LoopKind.BLOCK)
        return map_stmt(s, _same, self.host)

    def launch(self, s: ir.For) -> ir.Stmt:
        if isinstance(s.body, ir.For) and s.body.kind is ir.LoopKind.BLOCK:
            return replace(s, body=self.launch(s.body))
        counts = [thread_count(n, self.tiles) for n in _nests(s.body)]
        self.threads = max([WARP, *counts])
        return replace(s, body=self.in_block(s.body))

    def in_block(self, s: ir.Stmt) -> ir.Stmt:
        """What is in a block, and in no loop over threads."""
        if isinstance(s, ir.For) and s.kind is ir.LoopKind.THREAD:
            return self.nest(s)
        if isinstance(s, ir.Allocate) and s.memory in _OWN:
            s = replace(s, memory=Memory.SHARED)
        if isinstance(s, ir.Store | ir.For | ir.LetStmt | ir.If) and only_fills(s):
            return self.shared_out(s, self.threads, ir.LoopKind.SERIAL)
        return map_stmt(s, _same, self.in_block)

    def shared_out(self, s: ir.Stmt, threads: int, outer: ir.LoopKind) -> ir.Stmt:
        """The iterations of a loop nest, shared among so many threads, of many blocks or of one."""
        loops, body = perfect(joined(s, self.fresh))
        count = iterations(loops)
        piece, thread = self.fresh("fill"), self.fresh("t")
        number = add(mul(ir.Var(piece), threads), ir.Var(thread))
        body = at_number(loops, number, body)
        known = const_value(count)
        if known is None or int(known) % threads:
            body = ir.If(lt(number, count), body)
        body = ir.For(thread, _ZERO, ir.const_index(threads), ir.LoopKind.THREAD, body)
        return ir.For(piece, _ZERO, floordiv(add(count, threads - 1), threads), outer, body)

    def nest(self, s: ir.For) -> ir.Stmt:
        """A nest of loops over threads."""
        if not by_warps(s, self.tiles):
            return s
        loops, body = thread_loops(s)
        if any(x.kind is ir.LoopKind.LANE for x in loops):
            return s
        number: ir.Expr = _ZERO
        for x in loops:
            number = add(mul(number, x.extent), sub(ir.Var(x.var), x.start))
        warps = prod(int(const_value(x.extent) or 1) for x in loops)
        self.slots = []
        new = self.in_warp(body)
        starts: dict[str, ir.Expr] = {}
        slots = self.slots
        for a in slots:
            starts[a.buffer] = mul(number, _slot(a))
        new = _moved(new, starts)
        for x in reversed(loops):
            new = replace(x, body=new)
        for a in reversed(slots):
            new = replace(
                a, extent=ir.const_index(warps * _slot(a)), memory=Memory.SHARED, body=new
            )
        return new

    def in_warp(self, s: ir.Stmt) -> ir.Stmt:
        """What a warp does."""
        match s:
            case ir.Allocate(memory=memory) if memory in _OWN and const_value(s.extent) is not None:
                return self.in_slot(s)
            case ir.Store() if not self.on_tiles(s):
                return self.over_lanes(s)
            case ir.For(kind=ir.LoopKind.SERIAL) if only_fills(s) and not self.on_tiles(s):
                return self.filled_by_lanes(s)
            case _:
                return map_stmt(s, _same, self.in_warp)

    def in_slot(self, s: ir.Allocate) -> ir.Stmt:
        """The body of a temporary, which shares memory with those that are not alive with it."""
        used = _reach(s.body, s.buffer, Facts())
        if used is not None and used < int(const_value(s.extent) or 0):
            s = replace(s, extent=ir.const_index(used))
        free = (a for a in self.slots if a.buffer not in self.live and a.element == s.element)
        slot = next(free, s)
        larger = max(slot, s, key=_slot)
        self.slots = [a for a in self.slots if a is not slot]
        self.slots.append(replace(slot, extent=larger.extent))
        self.live.add(slot.buffer)
        body = self.in_warp(s.body)
        self.live.discard(slot.buffer)
        return _renamed(body, s.buffer, slot.buffer) if slot is not s else body

    def on_tiles(self, s: ir.Stmt) -> bool:
        """Whether a statement does something to tiles."""
        return any(isinstance(n, ir.Store | ir.Load) and n.buffer in self.tiles for n in nodes(s))

    def filled_by_lanes(self, s: ir.For) -> ir.Stmt:
        loops, body = perfect(joined(s, self.fresh))
        counts = [const_value(x.extent) for x in loops]
        if None in counts:
            return map_stmt(s, _same, self.in_warp)
        count = prod(int(n or 0) for n in counts)
        return self.lanes(count, lambda lane: at_number(loops, lane, body))

    def over_lanes(self, s: ir.Store) -> ir.Stmt:
        """A vector statement with its lanes spread over those of the warp."""

        own = (n for n in nodes_of(s.value, ir.Load) if n.buffer == s.buffer)
        if any(n.index != s.index for n in own):
            return self.lanes(1, lambda lane: s)  # all lanes are read before any is stored
        order = by_distance(s.index)

        def one(number: ir.Expr) -> ir.Stmt:
            lane = order(number)
            mask = None if s.mask is None else at_lane(s.mask, lane)
            index, value = at_lane(s.index, lane), at_lane(s.value, lane)
            return replace(s, index=index, value=value, mask=mask)

        try:
            return self.lanes(s.value.type.lanes, one)
        except NoLaneError:
            return self.lanes(1, lambda lane: s)

    def lanes(self, count: int, body: Callable[[ir.Expr], ir.Stmt]) -> ir.Stmt:
        """`body` for each number below `count`, on the lanes of a warp."""
        lane = self.fresh("lane")
        if count <= WARP:
            return ir.For(lane, _ZERO, ir.const_index(count), ir.LoopKind.LANE, body(ir.Var(lane)))
        step = self.fresh("step")
        number = add(mul(ir.Var(step), WARP), ir.Var(lane))
        inner = body(number)
        if count % WARP:
            inner = ir.If(lt(number, count), inner)
        inner = ir.For(lane, _ZERO, ir.const_index(WARP), ir.LoopKind.LANE, inner)
        return ir.For(step, _ZERO, ir.const_index(-(-count // WARP)), ir.LoopKind.SERIAL, inner)


_ZERO = ir.const_index(0)


def _same(e: ir.Expr) -> ir.Expr:
    return e


def _slot(a: ir.Allocate) -> int:
    """Elements that one warp has of a temporary."""
    return -(-int(const_value(a.extent) or 0) // ALIGNED) * ALIGNED


def _reach(n: ir.Node, buffer: str, facts: Facts) -> int | None:
    """How many elements from its first one on are touched of a buffer; None where that depends on names
    that are not of loops inside."""
    most = 0
    if isinstance(n, ir.Load | ir.Store) and n.buffer == buffer:
        _, last = constant_bounds(n.index, facts)
        if last is None:
            return None
        most = last + 1
    if isinstance(n, ir.For):
        facts = facts.with_range(n.var, Interval(n.start, sub(add(n.start, n.extent), 1)))
    for c in children(n):
        reach = _reach(c, buffer, facts)
        if reach is None:
            return None
        most = max(most, reach)
    return most


def _nests(s: ir.Stmt) -> list[ir.For]:
    return [x for x in statements(s) if isinstance(x, ir.For) and x.kind is ir.LoopKind.THREAD]


def _moved(s: ir.Stmt, starts: Mapping[str, ir.Expr]) -> ir.Stmt:
    """The statement with accesses of some buffers so much further."""

    def access(n: ir.Load | ir.Store) -> ir.Load | ir.Store:
        if n.buffer not in starts:
            return n
        return replace(n, index=add(starts[n.buffer], n.index))

    return _with_accesses(s, access)


def _renamed(s: ir.Stmt, old: str, new: str) -> ir.Stmt:
    return _with_accesses(s, lambda n: replace(n, buffer=new) if n.buffer == old else n)


def _with_accesses(s: ir.Stmt, f: Callable[[ir.Load | ir.Store], ir.Load | ir.Store]) -> ir.Stmt:
    """The statement with `f` applied to all its accesses."""

    def expr(e: ir.Expr) -> ir.Expr:
        access = f(e) if isinstance(e, ir.Load) else e
        assert not isinstance(access, ir.Store)
        return access

    def stmt(s: ir.Stmt) -> ir.Stmt:
        s = map_stmt(s, lambda e: rewrite(e, expr), stmt)
        access = f(s) if isinstance(s, ir.Store) else s
        assert not isinstance(access, ir.Load)
        return access

    return stmt(s)
