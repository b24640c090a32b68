"""One block of a GPU's kernel gone through in order, with the accesses since the last barrier: a barrier
is put as late as it can be, and before a loop where that saves one in each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace

from hbc.codegen.threads.access import (
    Counted,
    ThreadAccess,
    nest_accesses,
    uniform_accesses,
    warp_accesses,
)
from hbc.codegen.threads.conflicts import Conflicts, SyncScope, UnsyncedAccess
from hbc.codegen.threads.loops import Loops, Waiting
from hbc.codegen.threads.places import Place
from hbc.codegen.threads.reasons import reasons
from hbc.codegen.threads.scopes import barrier_count, common_first
from hbc.ir.algebra.bounds import constant_bounds
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.launches import (
    THREADS,
    WARP,
    Tiles,
    lanes_of,
    thread_count,
    thread_loops,
    tiles_in,
)  # fmt: skip
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, children, map_stmt, nodes_of, statements, substitute

_Key = tuple[int, int]  # of a statement and a place, by identity


@record
class Made:
    """A barrier that was put in, who had to wait, and what decided it."""

    barrier: ir.Barrier
    level: SyncScope
    waiting: Waiting
    accesses: list[ThreadAccess]
    at: Place


@mutable
class Walk:
    """One block. `tracked`: the buffers that its threads share and store to; `scope`: of the barriers
    that it needs, a warp's where it is no more than one."""

    tracked: frozenset[str]
    tiles: Tiles
    scope: ir.BarrierScope
    conflicts: Conflicts
    shared: frozenset[str] = frozenset()
    by_products: frozenset[str] = frozenset()  # what asynchronous products read
    in_bulk: bool = False  # whether anything is copied so
    top: Place = field(default_factory=Place)
    loops: Loops = field(default_factory=Loops)
    found: dict[_Key, tuple[ir.Stmt, list[ThreadAccess]]] = field(default_factory=dict)
    whole: dict[int, tuple[ir.For, ir.For]] = field(
        default_factory=dict
    )  # with the barriers of warps
    inside: dict[_Key, tuple[ir.For, Place, list[ThreadAccess]]] = field(default_factory=dict)
    alone: dict[
        tuple[int, int, frozenset[UnsyncedAccess]], tuple[ir.For, Place, tuple[ir.Stmt, Waiting]]
    ] = field(default_factory=dict)
    made: dict[int, Made] = field(default_factory=dict)

    @staticmethod
    def of(nest: ir.For, strides: frozenset[str]) -> Walk:
        """For what stands in `nest`, the innermost loop over blocks."""
        own = [n for n in statements(nest) if isinstance(n, ir.Allocate)]
        shared = frozenset(a.buffer for a in own if a.memory is Memory.SHARED)
        private = {a.buffer for a in own} - shared
        stored = {n.buffer for n in statements(nest) if isinstance(n, ir.Store)}
        tiles = tiles_in(nest)
        most = max((thread_count(x, tiles) for x in _nests(nest)), default=1)
        scope = ir.BarrierScope.WARP if most <= WARP else ir.BarrierScope.BLOCK
        read = frozenset(_read_by_products(nest))
        bulk = any(isinstance(n, ir.BulkGroup) for n in statements(nest))
        return Walk(
            frozenset(stored - private), tiles, scope, Conflicts(strides), shared, read, bulk
        )

    def may_weaken(self, barrier: ir.Barrier) -> bool:
        """Whether a warp's barrier may do in place of this one: not where it was put between threads
        of different warps, nor where one thread's copies for all are ordered by it."""
        made = self.made.get(id(barrier))
        if made is None and self.in_bulk:
            return False
        weak = made is None or made.level is not SyncScope.BLOCK
        return barrier.scope is not ir.BarrierScope.WARP and weak

    def explained(self, s: ir.Stmt) -> ir.Stmt:
        """The statement, whose barriers say why they stand."""
        if not isinstance(s, ir.Barrier):
            return map_stmt(s, lambda e: e, self.explained)
        made = self.made.get(id(s))
        if made is None or s.note:
            return s
        note = reasons(self.conflicts.pairs(made.waiting, made.accesses, made.at.facts))
        new = replace(s, note=note)
        self.made[id(new)] = replace(made, barrier=new)
        return new

    def stmt(self, s: ir.Stmt, waiting: Waiting, at: Place) -> tuple[ir.Stmt, Waiting]:
        """The statement with barriers, and the accesses since the last one behind it."""
        match s:
            case ir.For(kind=kind) if kind in THREADS:
                s = self._synchronised(s, at)
                first, waiting = self._barrier(self._nest(s, at), waiting, at)
                return _joined(first, s), waiting
            case ir.Barrier(scope=scope):
                return s, self._passed(waiting, scope)
            case ir.CopyCommit(products=products):
                return s, _each(waiting, lambda p: p.committed(products))
            case ir.CopyWait(most=most, products=products):
                return s, _each(waiting, lambda p: p.waited(most, products))
            case ir.Fence(kind=ir.FenceKind.STORES):
                return s, _each(waiting, UnsyncedAccess.behind_fence)
            case ir.Block(body=body):
                new: list[ir.Stmt] = []
                for child in body:
                    made, waiting = self.stmt(child, waiting, at)
                    new.append(made)
                same = all(a is b for a, b in zip(new, body, strict=True))
                return (s if same else block(*new)), waiting
            case ir.LetStmt(name=name, value=value, body=body):
                first, waiting = self._before(waiting, at, value)
                made, waiting = self.stmt(body, waiting, at.let(name, value))
                left = _each(waiting, lambda p: p.without_name(name))
                return _joined(first, s if made is body else replace(s, body=made)), left
            case ir.If():
                return self._if(s, waiting, at)
            case ir.For():
                return self._loop(s, waiting, at)
            case ir.Allocate(body=body):
                made, waiting = self.stmt(body, waiting, at)
                return (s if made is body else replace(s, body=made)), waiting
            case _:
                return s, waiting

    def _if(self, s: ir.If, waiting: Waiting, at: Place) -> tuple[ir.Stmt, Waiting]:
        first, waiting = self._before(waiting, at, s.condition)
        then, left = self.stmt(s.then, waiting, at)
        other, also = s.otherwise, waiting
        if s.otherwise is not None:
            other, also = self.stmt(s.otherwise, waiting, at)
        same = then is s.then and other is s.otherwise
        made = s if same else common_first(replace(s, then=then, otherwise=other))
        return _joined(first, made), {**left, **also}

    def _loop(self, s: ir.For, waiting: Waiting, at: Place) -> tuple[ir.Stmt, Waiting]:
        """With a barrier before the loop where that saves one in each iteration."""
        first, waiting = self._before(waiting, at, s.start, s.extent)
        body, left = self._iterations(s, waiting, at)
        if any(p.landed for p in waiting) and barrier_count(body) > 0:
            passed = self._passed(waiting, self.scope)
            alone, after = self._alone(s, passed, at)
            if barrier_count(alone) < barrier_count(body):
                early, _ = self._barrier(self._accesses(s, at), waiting, at)
                first, body, left = early or first, alone, after
                waiting = waiting if early is None else passed
        left = _each(left, lambda p: p.after_loop(_counted(s, at)))
        return _joined(first, s if body is s.body else replace(s, body=body)), {**waiting, **left}

    def _iterations(self, s: ir.For, waiting: Waiting, at: Place) -> tuple[ir.Stmt, Waiting]:
        """The body of a loop, and what waits behind its last iteration."""
        inside, most = at.loop(s), _counted(s, at).extent
        return self.loops.iterations(
            s, most, waiting, at, lambda entry: self.stmt(s.body, entry, inside)
        )

    def _alone(self, s: ir.For, waiting: Waiting, at: Place) -> tuple[ir.Stmt, Waiting]:
        """The same behind a barrier, which depends on nothing before it but copies under way."""
        key = id(s), id(at), frozenset(waiting)
        if key not in self.alone:
            walk = replace(self, loops=Loops())
            self.alone[key] = s, at, walk._iterations(s, waiting, at)
        return self.alone[key][2]

    def _accesses(self, s: ir.For, at: Place) -> list[ThreadAccess]:
        """All accesses of a loop, in any of its iterations, as they are known behind it."""
        key = id(s), id(at)
        if key not in self.inside:
            accesses = dict.fromkeys(self._within(s, at))
            self.inside[key] = s, at, list(accesses)
        return self.inside[key][2]

    def _within(self, s: ir.Stmt, at: Place) -> list[ThreadAccess]:
        names: list[str] = []
        accesses: list[ThreadAccess] = []
        while isinstance(s, ir.LetStmt):
            names.append(s.name)
            accesses += uniform_accesses(self.tracked, s.value)
            at = at.let(s.name, s.value)
            s = s.body
        match s:
            case ir.For(kind=kind) if kind in THREADS:
                accesses += self._nest(s, at)
            case ir.For(body=body):
                counted = _counted(s, at)
                accesses += uniform_accesses(self.tracked, s.start, s.extent)
                accesses += [a.after_loop(counted) for a in self._within(body, at.loop(s))]
            case ir.Store():
                accesses += self._nest(s, at)
            case _:
                read = [c for c in children(s) if not isinstance(c, ir.Stmt)]
                accesses += uniform_accesses(self.tracked, *read)
                for c in children(s):
                    accesses += self._within(c, at) if isinstance(c, ir.Stmt) else []
        for name in reversed(names):
            accesses = [a.without_name(name) for a in accesses]
        return accesses

    def _before(
        self, waiting: Waiting, at: Place, *read: ir.Expr
    ) -> tuple[ir.Stmt | None, Waiting]:
        """The barrier before values that all threads compute alike."""
        return self._barrier(uniform_accesses(self.tracked, *read), waiting, at)

    def _synchronised(self, s: ir.For, at: Place) -> ir.For:
        """A nest of loops over threads with the barriers that the lanes of each warp need in it."""
        if id(s) not in self.whole:
            made = self._in_warps(s, at)
            self.whole[id(s)] = s, made
            self.whole[id(made)] = made, made
        return self.whole[id(s)][1]

    def _in_warps(self, s: ir.For, at: Place) -> ir.For:
        loops, body = thread_loops(s)
        lanes = lanes_of(s, self.tiles)
        if lanes == 1 or any(x.kind is ir.LoopKind.LANE for x in loops):
            return s
        place, values = at, dict(at.values)
        for x in loops:
            place = place.loop(x)
            values[x.var] = add(substitute(x.start, at.values), ir.Var(x.var))
        if lanes > WARP:
            return s  # its warps wait for each other outside alone
        met = self.tracked - _only_from_tiles(s, self.tiles)
        warp = _InWarp(met, self.tiles, ir.BarrierScope.WARP, self.conflicts, made=self.made)
        new, _ = warp.stmt(body, {}, Place(place.facts, values))
        return s if new is body else _around(loops, new)

    def _nest(self, s: ir.Stmt, at: Place) -> list[ThreadAccess]:
        key = id(s), id(at)
        if key not in self.found:
            self.found[key] = s, self._touched(s, at)
        return self.found[key][1]

    def _touched(self, s: ir.Stmt, at: Place) -> list[ThreadAccess]:
        assert isinstance(s, ir.For)
        accesses = nest_accesses(s, self.tracked, at.facts, self.tiles, at.values)
        return list(dict.fromkeys(accesses))

    def _barrier(
        self, accesses: list[ThreadAccess], waiting: Waiting, at: Place
    ) -> tuple[ir.Stmt | None, Waiting]:
        if not accesses:
            return None, waiting
        made = self._needed(accesses, waiting, at)
        new = dict.fromkeys(UnsyncedAccess.of(a) for a in accesses)
        if made is None:
            return None, {**waiting, **new}
        stores = (p for p in waiting if p.access.stores)
        products = [a for a in accesses if a.by_product]
        if not any(self.conflicts.pairs(stores, products, at.facts)):  # nor a fence
            return made, {**self._passed(waiting, self.scope), **new}
        fenced = _each(waiting, UnsyncedAccess.behind_fence)
        first = ir.Fence(ir.FenceKind.STORES)
        return block(first, made), {**self._passed(fenced, self.scope), **new}

    def _needed(
        self, accesses: list[ThreadAccess], waiting: Waiting, at: Place
    ) -> ir.Barrier | None:
        level = self.conflicts.level(waiting, accesses, at.facts)
        if level is SyncScope.NONE:
            return None
        made = ir.Barrier(self.scope)
        self.made[id(made)] = Made(made, level, waiting, accesses, at)
        return made

    def _passed(self, waiting: Waiting, scope: ir.BarrierScope) -> Waiting:
        """What still waits behind a barrier."""
        if scope in (ir.BarrierScope.BLOCK, self.scope):
            return dict.fromkeys(self._left(waiting))
        return _each(waiting, lambda p: replace(p, synced=True) if p.landed else p)

    def _left(self, waiting: Waiting) -> Iterator[UnsyncedAccess]:
        """What a barrier of the block does not end: what has not landed, and for products, stores that no
        fence came after."""
        for p in waiting:
            if not p.landed:
                yield p
            elif p.access.stores and not p.fenced and p.access.buffer in self.by_products:
                yield replace(p, passed=True)


@mutable
class _InWarp(Walk):
    """What one warp does, in loops over warps: where its lanes touch what others of it stored."""

    def stmt(self, s: ir.Stmt, waiting: Waiting, at: Place) -> tuple[ir.Stmt, Waiting]:
        if isinstance(s, ir.Store) or (isinstance(s, ir.For) and s.kind in THREADS):
            first, waiting = self._barrier(self._nest(s, at), waiting, at)
            return _joined(first, s), waiting
        return Walk.stmt(self, s, waiting, at)

    def _touched(self, s: ir.Stmt, at: Place) -> list[ThreadAccess]:
        return warp_accesses(s, self.tracked, at.values, at.facts, self.tiles)


def _only_from_tiles(s: ir.Stmt, tiles: Tiles) -> set[str]:
    """The buffers of a nest that whole tiles are stored to, and nothing else is done with: which
    lane stores an element is the same each time."""
    loads = {n.buffer for n in nodes_of(s, ir.Load)}
    stores = [n for n in statements(s) if isinstance(n, ir.Store)]
    own = {*tiles, *tiles_in(s)}
    other = {
        n.buffer for n in stores if not (isinstance(n.value, ir.Load) and n.value.buffer in own)
    }
    return {n.buffer for n in stores} - loads - other


def _counted(s: ir.For, at: Place) -> Counted:
    """The variable of a loop, with what is known of how often that runs."""
    start, extent = substitute(s.start, at.values), substitute(s.extent, at.values)
    _, most = constant_bounds(extent, at.facts)
    return Counted(s.var, most, start, extent)


def _around(loops: Sequence[ir.For], body: ir.Stmt) -> ir.For:
    """The body in the loops again."""
    inner = replace(loops[-1], body=body)
    for x in reversed(loops[:-1]):
        inner = replace(x, body=inner)
    return inner


def _each(waiting: Waiting, seen: Callable[[UnsyncedAccess], UnsyncedAccess]) -> Waiting:
    return dict.fromkeys(seen(p) for p in waiting)


def _read_by_products(s: ir.Stmt) -> Iterator[str]:
    for x in statements(s):
        if isinstance(x, ir.Store) and x.asynchronous and isinstance(x.value, ir.Instruct):
            yield from (n.buffer for n in nodes_of(x.value, ir.Load))


def _joined(first: ir.Stmt | None, s: ir.Stmt) -> ir.Stmt:
    return s if first is None else block(first, s)


def _nests(s: ir.Stmt) -> Iterator[ir.For]:
    return (x for x in statements(s) if isinstance(x, ir.For) and x.kind in THREADS)
