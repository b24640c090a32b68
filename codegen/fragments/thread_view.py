"""A GPU block's program as one thread sees it: block-wide private buffers become the thread's own.

    acc[64 * it + 16 * iv + 4 * jt + jv]   ->   acc[4 * iv + jv]      (it, jt are digits of the thread)

Every access splits into a part that its thread's number decides, the same in all accesses, and a part
within the thread. The first goes, the second is made dense.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hbc.codegen.threads.access import ThreadAccess, nest_accesses
from hbc.codegen.threads.elements import Elements, Numbers, differences, elements
from hbc.ir.algebra.bounds import constant_bounds
from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.form import of_atom
from hbc.ir.algebra.linear import Linear, linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, sub
from hbc.ir.lang.launches import THREADS, Tiles, tiles_in
from hbc.ir.lang.types import INDEX, TILES, Memory
from hbc.ir.lang.walk import (
    children,
    contains,
    free_variables,
    map_stmt,
    nodes,
    reads,
    rewrite,
    substitute,
)

_PRIVATE = (Memory.REGISTER, Memory.STACK, Memory.AUTO)
MOST_HELD = 1 << 20  # elements of a block-wide buffer


def thread_view(nest: ir.For) -> ir.For:
    """The nest where buffers in registers outside of the loops over threads hold what one thread (or
    warp) uses, with its indices. HbcError when threads use what others hold. Only for printing: it
    means something for one thread alone. Tiles are private before: see `private_tiles`."""
    tiles = tiles_in(nest)
    made = in_blocks(nest, _PRIVATE, lambda a: _private(a, tiles), {})
    assert isinstance(made, ir.For)
    return made


def in_blocks(
    s: ir.Stmt, memories: Collection[Memory], change: Callable[[ir.Allocate], ir.Stmt],
    names: Mapping[str, ir.Expr],
) -> ir.Stmt:  # fmt: skip
    """`change` of the buffers in those memories that are outside of the loops over threads, inner ones first.
    `names`: the numbers that are known by one."""
    if isinstance(s, ir.For) and s.kind in THREADS:
        return s
    names = with_name(s, names)
    s = map_stmt(s, lambda e: e, lambda c: in_blocks(c, memories, change, names))
    if not isinstance(s, ir.Allocate) or s.memory not in memories:
        return s
    return change(spelled(s, names))


def with_name(s: ir.Stmt, names: Mapping[str, ir.Expr]) -> Mapping[str, ir.Expr]:
    """The names inside the statement that stand for numbers that do not depend on data."""
    if not isinstance(s, ir.LetStmt) or s.value.type != INDEX:
        return names
    if contains(s.value, ir.Load):
        return names
    return {**names, s.name: substitute(s.value, names)}


def spelled(s: ir.Allocate, names: Mapping[str, ir.Expr]) -> ir.Allocate:
    """With the names in the indices of the buffer replaced by what they stand for, so that they cancel."""
    new: dict[int, ir.Expr] = {}
    for n in nodes(s.body):
        if isinstance(n, ir.Load | ir.Store) and n.buffer == s.buffer:
            used = {v: names[v] for v in free_variables(n.index) if v in names}
            if used:
                new[id(n)] = simplify(substitute(n.index, used))
    return replace(s, body=with_indices(s.body, new)) if new else s


@record
class PrivateUse:
    """An access of a private buffer: what the thread's number adds to the index, by number, and the
    rest of the index."""

    access: ThreadAccess
    by_thread: Numbers
    inner: Linear
    digits: tuple[tuple[int, int], ...]  # (coefficient, extent) where the first is linear in them


def _private(s: ir.Allocate, tiles: Tiles) -> ir.Allocate:
    uses = [private_use(s, a) for a in private_accesses(s, tiles)]
    if not uses:
        return s
    check_owners(s, uses)
    inner, extent = _dense(s, uses)
    new = {id(u.access.node): _index(u, x) for u, x in zip(uses, inner, strict=True)}
    body = with_indices(s.body, new)
    return replace(s, extent=ir.const_index(extent), body=body)


def private_accesses(s: ir.Allocate, tiles: Tiles) -> Iterator[ThreadAccess]:
    """All accesses of the buffer, which are in loops over threads. HbcError for another."""
    yield from _below(s, s.body, tiles, NOTHING)


def _below(s: ir.Allocate, n: ir.Stmt, tiles: Tiles, facts: Facts) -> Iterator[ThreadAccess]:
    match n:
        case ir.For(kind=kind) if kind in THREADS:
            yield from nest_accesses(n, (s.buffer,), facts, tiles)
            return
        case ir.For(var=var, start=start, extent=extent):
            low, _ = constant_bounds(start, facts)
            _, most = constant_bounds(add(start, extent), facts)
            known = Interval(
                None if low is None else ir.const_index(low),
                None if most is None else ir.const_index(most - 1),
            )
            facts = facts.with_range(var, known)
        case ir.LetStmt(name=name, value=value):
            low, most = constant_bounds(value, facts)
            ends = [None if x is None else ir.const_index(x) for x in (low, most)]
            facts = facts.with_range(name, Interval(*ends))
        case _:
            pass
    for c in children(n):
        if isinstance(c, ir.Stmt):
            yield from _below(s, c, tiles, facts)
        elif reads(c, s.buffer):
            raise _elsewhere(s, n)


def private_use(s: ir.Allocate, a: ThreadAccess) -> PrivateUse:
    """HbcError where the two parts of an index cannot be told apart."""
    if a.index is None or any(d.extent is None for d in a.digits):
        raise _elsewhere(s, a.node)
    names = [d.name for d in a.digits]
    form = linear(a.index)
    mine, inner = Linear(0), Linear(form.constant)
    for atom, c in form.terms:
        used = free_variables(atom)
        if used.isdisjoint(names):
            inner = plus(inner, of_atom(atom, c))
        elif used <= set(names):
            mine = plus(mine, of_atom(atom, c))
        else:
            raise _elsewhere(s, a.node)
    by_thread = _by_number(a, mine)
    if by_thread is None:
        raise _elsewhere(s, a.node)
    offset = int(by_thread[0])
    extents = {d.name: d.extent or 1 for d in a.digits}
    digits = tuple((c, extents[atom.name]) for atom, c in mine.terms if isinstance(atom, ir.Var))
    linear_in_digits = len(digits) == len(mine.terms)
    return PrivateUse(
        a, by_thread - offset, plus(inner, Linear(offset)), digits if linear_in_digits else ()
    )


def _by_number(a: ThreadAccess, mine: Linear) -> Numbers | None:
    """What the thread's number adds to the index, for each number in turn (of a warp or group, its first)."""
    axes = {
        d.name: np.arange(d.extent or 1).reshape(
            [-1 if n == k else 1 for k in range(len(a.digits))]
        )
        for n, d in enumerate(a.digits)
    }
    shape = [d.extent or 1 for d in a.digits]
    total = np.zeros(shape, np.int64)
    number = np.zeros(shape, np.int64)
    for atom, c in mine.terms:
        value = evaluated(atom, axes)
        if value is None:
            return None
        total = total + c * value
    for d, weight in zip(a.digits, a.weights, strict=True):
        number = number + weight * axes[d.name]
    by_number = np.zeros(int(number.max()) // a.together + 1, np.int64)
    by_number[number.ravel() // a.together] = total.ravel()
    return by_number


def check_owners(s: ir.Allocate, uses: Sequence[PrivateUse]) -> None:
    """HbcError unless every element is of one thread, and all find theirs in the same way."""
    first = uses[0].by_thread
    extent = int(s.extent.value) if isinstance(s.extent, ir.Const) else MOST_HELD
    low = np.full(extent, 1 << 40)
    high = np.full(extent, -1)
    for u in uses:
        count = min(len(first), len(u.by_thread))
        if (
            u.access.together != uses[0].access.together
            or (first[:count] != u.by_thread[:count]).any()
        ):
            raise _elsewhere(s, u.access.node)
        first = u.by_thread if len(u.by_thread) > len(first) else first
        held = elements(u.access)
        shifts = None if held is None else differences(held.base, Linear(0))
        if held is None or shifts is None:
            raise _elsewhere(s, u.access.node)
        for shift in shifts:
            _note_owners(low, high, held, shift)
        lanes = u.access.together
        if ((high >= 0) & (low // lanes != high // lanes)).any():
            raise _elsewhere(s, u.access.node)


def _note_owners(low: Numbers, high: Numbers, held: Elements, shift: int) -> None:
    """Widens the ranges of who touches each element. Elements beyond the buffer are those that
    conditions exclude."""
    start = held.first + shift
    at, end = max(start, 0), min(start + len(held.low), len(low))
    if at < end:
        inside = slice(at - start, end - start)
        low[at:end] = np.minimum(low[at:end], held.low[inside])
        high[at:end] = np.maximum(high[at:end], held.high[inside])


def _dense(s: ir.Allocate, uses: Sequence[PrivateUse]) -> tuple[list[ir.Expr], int]:
    """The indices within a thread, and how many elements it has."""
    if all(u.inner.is_constant for u in uses):
        places = sorted({u.inner.constant + o for u in uses for o in u.access.offsets})
        rank = {place: n for n, place in enumerate(places)}
        indices = [rank[u.inner.constant + u.access.offsets[0]] for u in uses]
        if all(
            n % len(u.access.offsets) == 0 and _keeps(u, rank, n)
            for n, u in zip(indices, uses, strict=True)
        ):
            return [ir.const_index(n) for n in indices], len(places)
    forms = [u.inner for u in uses]
    extent = int(s.extent.value) if isinstance(s.extent, ir.Const) else MOST_HELD
    for c, n in sorted(max(uses, key=lambda u: len(u.digits)).digits, reverse=True):
        ranges = [_ranges(u) for u in uses]
        less = [_without_digit(f, c, n, r) for f, r in zip(forms, ranges, strict=True)]
        if all(x is not None for x in less):
            forms = [x for x in less if x is not None]
            extent = -(-extent // (c * n)) * c
    return [simplify(to_expr(f)) for f in forms], extent


def _keeps(u: PrivateUse, rank: dict[int, int], first: int) -> bool:
    """Whether the lanes of an access keep their distances."""
    start = u.access.offsets[0]
    return all(rank[u.inner.constant + o] - first == o - start for o in u.access.offsets)


def _ranges(u: PrivateUse) -> Facts:
    counted = ((x.name, x.extent) for x in u.access.loops)
    return Facts({name: Interval(ir.const_index(0), ir.const_index(max(n, 1) - 1))
                  for name, n in counted if n is not None})  # fmt: skip


def _without_digit(form: Linear, c: int, n: int, facts: Facts) -> Linear | None:
    """The index without a digit of so many values that are `c` elements apart: what lies above the
    digit moves down to its place. None where a part lies across it."""
    if c <= 0:
        return None
    below = Linear(form.constant % (c * n))
    above = Linear((form.constant - below.constant) // n)
    for atom, k in form.terms:
        if k % (c * n) == 0:
            above = plus(above, of_atom(atom, k // n))
        else:
            below = plus(below, of_atom(atom, k))
    low, high = constant_bounds(to_expr(below), facts)
    if low is None or high is None or low < 0 or high >= c:
        return None
    return plus(above, below)


def _index(u: PrivateUse, inner: ir.Expr) -> ir.Expr:
    """The private index of an access, in the names of its place."""
    for x in (*u.access.loops[::-1], *u.access.digits[::-1]):
        if x.start != ir.const_index(0):
            inner = substitute(inner, {x.name: sub(ir.Var(x.name), x.start)})
    inner, lanes = simplify(inner), u.access.node.index.type.lanes
    return inner if lanes == 1 else ir.Ramp(inner, ir.const_index(1), lanes)


def with_indices(s: ir.Stmt, new: dict[int, ir.Expr]) -> ir.Stmt:
    def load(e: ir.Expr) -> ir.Expr:
        index = new.get(id(e)) if isinstance(e, ir.Load) else None
        return replace(e, index=index) if isinstance(e, ir.Load) and index is not None else e

    made = map_stmt(s, lambda e: rewrite(e, load), lambda c: with_indices(c, new))
    if isinstance(made, ir.Store) and id(s) in new:
        return replace(made, index=new[id(s)])
    return made


def _elsewhere(s: ir.Allocate, n: ir.Node) -> HbcError:
    span = getattr(n, "span", None) or s.span
    if s.memory in TILES:
        return error(
            f"`{s.buffer}` is in fragments of the warps that compute it, and here others use it (or who "
            "does depends on more than the loops over threads)", span,
            f"give the loops that compute and read `{s.buffer}` to the warps in the same way",
        )  # fmt: skip
    return error(
        f"`{s.buffer}` is in the registers of the threads that compute it, and here others use it "
        "(or who does depends on more than the loops over threads)", span,
        f"give the loops that compute and read `{s.buffer}` to the threads in the same way, or "
        f"`{s.buffer}.store_in(shared)`",
    )  # fmt: skip
