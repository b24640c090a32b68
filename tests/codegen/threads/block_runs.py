"""Runs the blocks of a GPU's kernel thread by thread, for what they touch and not for what they compute.

Written from the meaning of the loops alone: it shares nothing with the passes under test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import add, and_, eq, ge, gt, itemgetter, le, lt, mul, ne, or_, sub
from typing import TypeVar

from hbc.ir.algebra.lane_at import at_lane
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import (
    Allocate,
    Barrier,
    BarrierScope,
    Binary,
    Block,
    Const,
    CopyCommit,
    CopyWait,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Op,
    Select,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.lang.types import CONDITION, INDEX, Memory
from hbc.ir.lang.walk import map_stmt, nodes

Env = Mapping[str, int]
Read = Callable[[Env], int]
T = TypeVar("T")
_BLOCK, _WARP = BarrierScope.BLOCK, BarrierScope.WARP
_NOBODY = -1
MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Touch:
    """One element touched by a thread, after so many barriers of its block and of its warp. `tile`: of a
    block that stays, which of its tiles that was for; in the device's memory those do not meet."""

    buffer: str
    element: int
    thread: int
    stores: bool
    blocks: int
    warps: int
    node: Load | Store = field(compare=False, repr=False)
    tile: int = 0
    shared: bool = False

    @property
    def atomic(self) -> Op | None:
        return self.node.atomic if isinstance(self.node, Store) else None

    def races(self, other: Touch) -> bool:
        if self.thread == other.thread or not (self.stores or other.stores):
            return False
        if self.atomic is not None and self.atomic is other.atomic:
            return False
        if self.blocks != other.blocks or (self.tile != other.tile and not self.shared):
            return False
        same_warp = self.thread // 32 == other.thread // 32
        return not (same_warp and self.warps != other.warps)


def touches(kernel: Kernel, sizes: Mapping[str, int], row: int = 1) -> Iterator[list[Touch]]:
    """What each block touches of the memory that its threads share, in order. Rows of arrays are padded to a
    multiple of `row` elements: code for aligned rows is then executed, whatever the sizes."""
    env = dict(sizes)
    for a in kernel.arguments:
        stride = 1
        for d in reversed(range(len(a.extents) - 1)):
            stride *= -(-max(1, value(a.extents[d + 1], sizes)) // row) * row
            env[a.stride_name(d)] = stride
    yield from _host(kernel.body, env)


def races(kernel: Kernel, sizes: Mapping[str, int], row: int = 1) -> list[tuple[Touch, Touch]]:
    """The first race of each block: an element that two threads touch with no barrier between."""
    found = map(_race, touches(kernel, sizes, row))
    return [race for race in found if race is not None]


def is_racing(kernel: Kernel, sizes: Mapping[str, int], row: int = 1) -> bool:
    """Whether any block has a race; those behind it are not executed."""
    return any(map(_race, touches(kernel, sizes, row)))


def _race(block: list[Touch]) -> tuple[Touch, Touch] | None:
    seen: dict[tuple[str, int], list[Touch]] = defaultdict(list)
    for t in block:
        before = seen[t.buffer, t.element]
        if before and before[0].blocks != t.blocks:
            before.clear()
        for other in before:
            if t.races(other):
                return other, t
        before.append(t)
    return None


def _host(s: Stmt, env: Env) -> Iterator[list[Touch]]:
    match s:
        case For(kind=LoopKind.BLOCK):
            own = {n.buffer for n in nodes(s) if isinstance(n, Allocate)}
            shared = {
                n.buffer for n in nodes(s) if isinstance(n, Allocate) and n.memory is Memory.SHARED
            }
            yield from _blocks(s, env, _Run(own - shared, shared))
        case For():
            for inside in _iterations(s, env):
                yield from _host(s.body, inside)
        case Block(body=body):
            for c in body:
                yield from _host(c, env)
        case LetStmt(name=name, value=v, body=inner):
            yield from _host(inner, {**env, name: value(v, env)})
        case Allocate(body=inner):
            yield from _host(inner, env)
        case If(condition=c, then=then, otherwise=other):
            taken = then if value(c, env) else other
            if taken is not None:
                yield from _host(taken, env)
        case _:
            pass


def _blocks(s: For, env: Env, run: _Run) -> Iterator[list[Touch]]:
    """A run for each block; one for all iterations of a nest whose blocks stay."""
    for inside in _tiles(s, env):
        if s.marks.resident is None:
            run = replace(run, found=[], ahead=[[]], barriers=dict.fromkeys(BarrierScope, 0))
        run.block(_body(s), inside)
        if s.marks.resident is None:
            yield run.found
        run.tile += 1
    if s.marks.resident is not None:
        yield run.found


def _tiles(s: Stmt, env: Env) -> Iterator[Env]:
    if isinstance(s, For) and s.kind is LoopKind.BLOCK:
        for inside in _iterations(s, env):
            yield from _tiles(s.body, inside)
    else:
        yield env


def _body(s: Stmt) -> Stmt:
    while isinstance(s, For) and s.kind is LoopKind.BLOCK:
        s = s.body
    return s


@dataclass(slots=True)
class _Run:
    """One block. Asynchronous copies store when they begin and when they land; in between, they race with
    whatever touches the element: `ahead` has their groups, the last one not committed."""

    private: set[str]
    shared: set[str]
    tile: int = 0
    found: list[Touch] = field(default_factory=list)
    ahead: list[list[Touch]] = field(default_factory=lambda: [[]])
    barriers: dict[BarrierScope, int] = field(
        default_factory=lambda: dict.fromkeys(BarrierScope, 0)
    )

    def block(self, s: Stmt, env: Env) -> None:
        """What all threads of the block do together."""
        match s:
            case For(kind=LoopKind.THREAD | LoopKind.LANE):
                lanes = any(isinstance(n, For) and n.kind is LoopKind.LANE for n in nodes(s))
                self.nest(s, env, 0, 32 if lanes else 1)
            case For():
                for inside in _iterations(s, env):
                    self.block(s.body, inside)
            case Barrier(scope=scope):
                self.barriers[scope] += 1
            case CopyCommit():
                self.ahead.append([])
            case CopyWait(most=most):
                while len(self.ahead) > most + 1:
                    for t in self.ahead.pop(0):
                        counts = {"blocks": self.barriers[_BLOCK], "warps": self.barriers[_WARP]}
                        self.found.append(replace(t, **counts))
            case Block(body=body):
                for c in body:
                    self.block(c, env)
            case LetStmt(name=name, value=v, body=inner):
                self.block(inner, _bound(env, name, v))
            case Allocate(body=inner):
                self.block(inner, env)
            case If(condition=c, then=then, otherwise=other):
                taken = then if value(c, env) else other
                if taken is not None:
                    self.block(taken, env)
            case Store():
                raise AssertionError("a store outside of the loops over threads")
            case _:
                pass

    def nest(self, s: Stmt, env: Env, number: int, width: int) -> None:
        """The loops over threads, row-major; `number` counts those so far."""
        if isinstance(s, For) and s.kind is LoopKind.THREAD:
            extent = value(s.extent, env)
            for n, inside in enumerate(_iterations(s, env)):
                self.nest(s.body, inside, number * extent + n, width)
        elif isinstance(s, For) and s.kind is LoopKind.LANE:
            for n, inside in enumerate(_iterations(s, env)):
                self.thread(s.body, inside, number * width + n)
        else:
            self.thread(s, env, number * width)

    def thread(self, s: Stmt, env: Env, number: int) -> None:
        match s:
            case For():
                self.reads(s.start, env, number)
                self.reads(s.extent, env, number)
                for n, inside in enumerate(_iterations(s, env)):
                    self.thread(s.body, inside, number + n if s.kind is LoopKind.LANE else number)
            case Block(body=body):
                for c in body:
                    self.thread(c, env, number)
            case LetStmt(name=name, value=v, body=inner):
                self.reads(v, env, number)
                self.thread(inner, _bound(env, name, v), number)
            case Allocate(body=inner):
                self.thread(inner, env, number)
            case If(condition=c, then=then, otherwise=other):
                self.reads(c, env, number)
                taken = then if value(c, env) else other
                if taken is not None:
                    self.thread(taken, env, number)
            case Store():
                self.reads(s.value, env, number)
                self.touch(s, env, number)
            case _:
                raise AssertionError(f"{type(s).__name__} in a thread")

    def reads(self, e: Expr, env: Env, number: int) -> None:
        for n in _loads(e):
            self.touch(n, env, number)

    def touch(self, n: Load | Store, env: Env, number: int) -> None:
        if n.buffer in self.private:
            return
        for at in lane_values(n.index, n.mask, env):
            counts = self.barriers[_BLOCK], self.barriers[_WARP]
            stores, shared = isinstance(n, Store), n.buffer in self.shared
            touch = Touch(n.buffer, at, number, stores, *counts, n, self.tile, shared)
            for t in (t for group in self.ahead for t in group):
                if (t.buffer, t.element) == (n.buffer, at):
                    self.found.append(replace(t, thread=_NOBODY, blocks=counts[0], warps=counts[1]))
            self.found.append(touch)
            if isinstance(n, Store) and n.asynchronous:
                self.ahead[-1].append(touch)


def _iterations(s: For, env: Env) -> Iterator[Env]:
    start = value(s.start, env)
    for n in range(value(s.extent, env)):
        yield {**env, s.var: start + n}


def _bound(env: Env, name: str, v: Expr) -> Env:
    """With a name for a number or condition that does not depend on data."""
    if v.type not in (INDEX, CONDITION) or _loads(v):
        return env
    return {**env, name: value(v, env)}


def lane_values(index: Expr, mask: Expr | None, env: Env) -> list[int]:
    """The elements that an access names, where its mask holds."""
    lanes = _lanes(index, mask)
    return [at(env) for at, live in lanes if live is None or live(env)]


def value(e: Expr, env: Env) -> int:
    """An integer expression of known names."""
    return _read(e)(env)


def _once(make: Callable[..., T]) -> Callable[..., T]:
    """What is made of nodes, once for each: threads come to the same ones again and again."""
    made: dict[tuple[int, ...], tuple[tuple[object, ...], T]] = {}

    def kept(*of: object) -> T:
        key = tuple(map(id, of))
        if key not in made:
            if len(made) >= MOST_KEPT:
                made.clear()
            made[key] = of, make(*of)  # the nodes too, so that no other has their number
        return made[key][1]

    return kept


@_once
def _loads(e: Expr) -> list[Load]:
    return [n for n in nodes(e) if isinstance(n, Load)]


@_once
def _lanes(index: Expr, mask: Expr | None) -> list[tuple[Read, Read | None]]:
    found: list[tuple[Read, Read | None]] = []
    for n in range(index.type.lanes):
        at = at_lane(index, const_index(n))
        live = None if mask is None else at_lane(mask, const_index(n))
        assert at is not None
        found.append((_reading(at), None if live is None else _reading(live)))
    return found


def _reading(e: Expr) -> Read:
    """The function of names that the expression is."""
    match e:
        case Const(value=v):
            number = int(v)
            return lambda _: number
        case Var(name=name):
            return itemgetter(name)
        case Select(condition=c, a=a, b=b):
            test, yes, no = map(_reading, (c, a, b))
            return lambda env: yes(env) if test(env) else no(env)
        case Binary(op=op, a=a, b=b):
            apply, one, other = _OPERATIONS[op], _reading(a), _reading(b)
            return lambda env: apply(one(env), other(env))
        case _:
            raise AssertionError(f"{type(e).__name__} in an index")


_read = _once(_reading)
_OPERATIONS: Mapping[Op, Callable[[int, int], int]] = {
    Op.ADD: add, Op.SUB: sub, Op.MUL: mul,
    Op.DIV: lambda a, b: a // b if b else 0, Op.MOD: lambda a, b: a % b if b else 0,
    Op.MIN: min, Op.MAX: max, Op.LT: lt, Op.LE: le, Op.GT: gt, Op.GE: ge, Op.EQ: eq, Op.NE: ne,
    Op.AND: and_, Op.OR: or_,
}  # fmt: skip


def changed_barrier(kernel: Kernel, number: int, new: Stmt) -> Kernel:
    """The kernel with another statement in place of a barrier."""
    count = -1

    def change(s: Stmt) -> Stmt:
        nonlocal count
        if isinstance(s, Barrier):
            count += 1
            return new if count == number else s
        return map_stmt(s, lambda e: e, change)

    return replace(kernel, body=change(kernel.body))
