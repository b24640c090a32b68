"""Barriers in a GPU's blocks: where a thread touches what another one stored, or stores what another
one reads, and only there.

    threads t { s[t] = .. }; threads t { .. = s[31 - t] }
->  threads t { s[t] = .. }; barrier warp; threads t { .. = s[31 - t] }

Goes through a block in order with the accesses since the last barrier, and puts one as late as it can.
Loops are gone through until what reaches their end agrees with what was assumed at their beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from hbc.ir.barrier_places import Place
from hbc.ir.barrier_scopes import barrier_count, common_first, weakened
from hbc.ir.bounds import constant_bounds
from hbc.ir.build import add
from hbc.ir.conflicts import Conflicts, Level, Never, Pending
from hbc.ir.kernel import Kernel
from hbc.ir.launches import THREADS, WARP, by_warps, thread_count, thread_loops
from hbc.ir.nodes import (
    Allocate,
    Barrier,
    BarrierScope,
    Block,
    CopyCommit,
    CopyWait,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
)  # fmt: skip
from hbc.ir.thread_access import (
    Counted,
    ThreadAccess,
    nest_accesses,
    uniform_accesses,
    warp_accesses,
)
from hbc.ir.types import TILES, Memory
from hbc.ir.walk import block, map_stmt, nodes, statements, substitute

MOST_ROUNDS = 4  # then whatever was found in any of them is assumed

_Waiting = dict[Pending, None]
_Found = tuple[Stmt, list[ThreadAccess]]


def barriers(kernel: Kernel) -> Kernel:
    """The kernel with the barriers that its blocks need."""
    strides = frozenset(
        a.stride_name(d) for a in kernel.arguments for d in range(len(a.extents) - 1)
    )
    return kernel.map_body(lambda s: _outside(s, strides, None))


def _outside(s: Stmt, strides: frozenset[str], tile: tuple[str, ...] | None) -> Stmt:
    """Down to the innermost loops over blocks. `tile`: the variables of those around that stay."""
    if not isinstance(s, For) or s.kind is not LoopKind.BLOCK:
        return map_stmt(s, lambda e: e, lambda c: _outside(c, strides, tile))
    if s.resident is not None or tile is not None:
        tile = (*(tile or ()), s.var)
    if any(isinstance(x, For) and x.kind is LoopKind.BLOCK for x in statements(s.body)):
        return map_stmt(s, lambda e: e, lambda c: _outside(c, strides, tile))
    walk = _Walk.of(s, strides, tile)
    body = s.body
    if walk.tracked:
        body = walk.complete(body)
        body = weakened(body, walk.complete)
    return s if body is s.body else replace(s, body=body)


@dataclass(slots=True)
class _Walk:
    """One block. `tracked`: the buffers that its threads share and store to; `scope`: of the barriers
    that it needs, a warp's where it is no more than one."""

    tracked: frozenset[str]
    tiles: frozenset[str]
    scope: BarrierScope
    conflicts: Conflicts | Never
    found: dict[tuple[int, int], _Found] = field(default_factory=dict)  # by statement and place
    whole: dict[int, tuple[For, For]] = field(default_factory=dict)  # with the barriers of warps
    tile: tuple[str, ...] | None = None  # of a block that stays: what tells its tiles apart
    shared: frozenset[str] = frozenset()
    top: Place = field(default_factory=Place)

    @staticmethod
    def of(nest: For, strides: frozenset[str], tile: tuple[str, ...] | None) -> _Walk:
        """`tile`: see below; `nest` is the innermost loop over blocks."""
        own = [n for n in nodes(nest) if isinstance(n, Allocate)]
        shared = frozenset(a.buffer for a in own if a.memory is Memory.SHARED)
        private = {a.buffer for a in own} - shared
        stored = {n.buffer for n in nodes(nest) if isinstance(n, Store)}
        tiles = frozenset(a.buffer for a in own if a.memory in TILES)
        most = max((thread_count(x, tiles) for x in _nests(nest)), default=1)
        conflicts = Conflicts(strides)
        scope = BarrierScope.WARP if most <= WARP else BarrierScope.BLOCK
        tracked = frozenset(stored - private)
        return _Walk(tracked, tiles, scope, conflicts, tile=tile, shared=shared)

    def complete(self, body: Stmt) -> Stmt:
        """The body with the barriers that it lacks; the same object when there are enough. Of a block that
        stays, the accesses of one tile wait in the next: those of shared memory, as no block touches
        what another one stores elsewhere."""
        entry: _Waiting = {}
        while True:
            made, left = self.stmt(body, entry, self.top)
            if self.tile is None:
                return made
            again = {p for p in left if p.access.buffer in self.shared}
            seen = _each(dict.fromkeys(again), self._of_tile_before)
            if seen.keys() <= entry.keys():
                return made
            entry = {**entry, **seen}

    def _of_tile_before(self, p: Pending) -> Pending:
        for name in self.tile or ():
            p = p.without_name(name)
        return p

    def stmt(self, s: Stmt, waiting: _Waiting, at: Place) -> tuple[Stmt, _Waiting]:
        """The statement with barriers, and the accesses since the last one behind it."""
        match s:
            case For(kind=kind) if kind in THREADS:
                s = self._synchronised(s, at)
                first, waiting = self._barrier(self._nest(s, at), waiting, at)
                return _joined(first, s), waiting
            case Barrier(scope=scope):
                return s, self._passed(waiting, scope)
            case CopyCommit():
                return s, _each(waiting, Pending.committed)
            case CopyWait(most=most):
                return s, _each(waiting, lambda p: p.waited(most))
            case Block(body=body):
                new: list[Stmt] = []
                for child in body:
                    made, waiting = self.stmt(child, waiting, at)
                    new.append(made)
                same = all(a is b for a, b in zip(new, body, strict=True))
                return (s if same else block(*new)), waiting
            case LetStmt(name=name, value=value, body=body):
                first, waiting = self._before(waiting, at, value)
                made, waiting = self.stmt(body, waiting, at.let(name, value))
                left = _each(waiting, lambda p: p.without_name(name))
                return _joined(first, s if made is body else replace(s, body=made)), left
            case If():
                return self._if(s, waiting, at)
            case For():
                return self._loop(s, waiting, at)
            case Allocate(body=body):
                made, waiting = self.stmt(body, waiting, at)
                return (s if made is body else replace(s, body=made)), waiting
            case _:
                return s, waiting

    def _if(self, s: If, waiting: _Waiting, at: Place) -> tuple[Stmt, _Waiting]:
        first, waiting = self._before(waiting, at, s.condition)
        then, left = self.stmt(s.then, waiting, at)
        other, also = s.otherwise, waiting
        if s.otherwise is not None:
            other, also = self.stmt(s.otherwise, waiting, at)
        same = then is s.then and other is s.otherwise
        made = s if same else common_first(replace(s, then=then, otherwise=other))
        return _joined(first, made), {**left, **also}

    def _loop(self, s: For, waiting: _Waiting, at: Place) -> tuple[Stmt, _Waiting]:
        """With a barrier before the loop where that saves one in each iteration."""
        first, waiting = self._before(waiting, at, s.start, s.extent)
        body, left = self._iterations(s, waiting, at)
        if waiting and barrier_count(body) > 0:
            alone, after = self._iterations(s, {}, at)
            if barrier_count(alone) < barrier_count(body):
                inside = list(self._accesses(s, at))
                passed = self._passed(waiting, self.scope)
                early, waiting = self._barrier(inside, waiting, at)
                first, body, left = early or first, alone, after
                waiting = passed if early is not None else waiting
        _, most = constant_bounds(substitute(s.extent, at.values), at.facts)
        extent = substitute(s.extent, at.values)
        counted = Counted(s.var, most, substitute(s.start, at.values), extent)
        left = _each(left, lambda p: p.after_loop(counted))
        return _joined(first, s if body is s.body else replace(s, body=body)), {**waiting, **left}

    def _iterations(self, s: For, waiting: _Waiting, at: Place) -> tuple[Stmt, _Waiting]:
        """The body of a loop, and what waits behind its last iteration."""
        inside, entry, rounds = at.loop(s), waiting, 0
        _, most = constant_bounds(substitute(s.extent, at.values), at.facts)
        while True:
            body, left = self.stmt(s.body, entry, inside)
            seen = (p.next_iteration(s.var, most) for p in left)
            again = {**waiting, **dict.fromkeys(p for p in seen if p is not None)}
            if again.keys() <= entry.keys():
                return body, left
            rounds += 1
            entry = {**entry, **again} if rounds > MOST_ROUNDS else again

    def _accesses(self, s: Stmt, at: Place) -> Iterator[ThreadAccess]:
        """All accesses of a loop, in any of its iterations."""
        _, left = replace(self, conflicts=Never()).stmt(s, {}, at)
        return (p.access for p in left)

    def _before(self, waiting: _Waiting, at: Place, *read: Expr) -> tuple[Barrier | None, _Waiting]:
        """The barrier before values that all threads compute alike."""
        return self._barrier(uniform_accesses(self.tracked, *read), waiting, at)

    def _synchronised(self, s: For, at: Place) -> For:
        """A nest of loops over threads with the barriers that the lanes of each warp need in it."""
        if id(s) not in self.whole:
            made = self._in_warps(s, at)
            self.whole[id(s)] = s, made
            self.whole[id(made)] = made, made
        return self.whole[id(s)][1]

    def _in_warps(self, s: For, at: Place) -> For:
        loops, body = thread_loops(s)
        if any(x.kind is LoopKind.LANE for x in loops) or not by_warps(s, self.tiles):
            return s
        place, values = at, dict(at.values)
        for x in loops:
            place = place.loop(x)
            values[x.var] = add(substitute(x.start, at.values), Var(x.var))
        met = self.tracked - _only_from_tiles(s, self.tiles)
        warp = _InWarp(met, self.tiles, BarrierScope.WARP, self.conflicts)
        new, _ = warp.stmt(body, {}, Place(place.facts, values))
        return s if new is body else _around(loops, new)

    def _nest(self, s: Stmt, at: Place) -> list[ThreadAccess]:
        key = id(s), id(at)
        if key not in self.found:
            self.found[key] = s, self._touched(s, at)
        return self.found[key][1]

    def _touched(self, s: Stmt, at: Place) -> list[ThreadAccess]:
        assert isinstance(s, For)
        found = nest_accesses(s, self.tracked, at.facts, self.tiles, at.values)
        return list(dict.fromkeys(found))

    def _barrier(
        self, found: list[ThreadAccess], waiting: _Waiting, at: Place
    ) -> tuple[Barrier | None, _Waiting]:
        if not found:
            return None, waiting
        level = self.conflicts.level(waiting, found, at.facts)
        new = dict.fromkeys(Pending.of(a) for a in found)
        if level is Level.NONE:
            return None, {**waiting, **new}
        return Barrier(self.scope), {**self._passed(waiting, self.scope), **new}

    def _passed(self, waiting: _Waiting, scope: BarrierScope) -> _Waiting:
        """What still waits behind a barrier."""
        if scope in (BarrierScope.BLOCK, self.scope):
            return {p: None for p in waiting if not p.landed}
        return _each(waiting, lambda p: replace(p, synced=True) if p.landed else p)


@dataclass(slots=True)
class _InWarp(_Walk):
    """What one warp does, in loops over warps: where its lanes touch what others of it stored."""

    def stmt(self, s: Stmt, waiting: _Waiting, at: Place) -> tuple[Stmt, _Waiting]:
        if isinstance(s, Store) or (isinstance(s, For) and s.kind in THREADS):
            first, waiting = self._barrier(self._nest(s, at), waiting, at)
            return _joined(first, s), waiting
        return _Walk.stmt(self, s, waiting, at)

    def _touched(self, s: Stmt, at: Place) -> list[ThreadAccess]:
        return warp_accesses(s, self.tracked, at.values, at.facts, self.tiles)


def _only_from_tiles(s: Stmt, tiles: frozenset[str]) -> set[str]:
    """The buffers of a nest that whole tiles are stored to, and nothing else is done with: which
    lane stores an element is the same each time."""
    loads = {n.buffer for n in nodes(s) if isinstance(n, Load)}
    stores = [n for n in statements(s) if isinstance(n, Store)]
    own = tiles | {a.buffer for a in nodes(s) if isinstance(a, Allocate) and a.memory in TILES}
    other = {n.buffer for n in stores if not (isinstance(n.value, Load) and n.value.buffer in own)}
    return {n.buffer for n in stores} - loads - other


def _around(loops: Sequence[For], body: Stmt) -> For:
    """The body in the loops again."""
    inner = replace(loops[-1], body=body)
    for x in reversed(loops[:-1]):
        inner = replace(x, body=inner)
    return inner


def _each(waiting: _Waiting, seen: Callable[[Pending], Pending]) -> _Waiting:
    return dict.fromkeys(seen(p) for p in waiting)


def _joined(first: Barrier | None, s: Stmt) -> Stmt:
    return s if first is None else block(first, s)


def _nests(s: Stmt) -> Iterator[For]:
    return (x for x in statements(s) if isinstance(x, For) and x.kind in THREADS)
