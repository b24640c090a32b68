"""What only copies memory is not copied when each element is read once: the reader reads the original.

    copy[32*r + c] = B[b + S*r + c]; pack[..] = copy[64*q + 32*t + l]
->  pack[..] = B[b + 2*S*q + S*t + l]

A copy is a map from places to places: the digits of a place, in the strides of the stores, are multiplied
with the strides of the loads. It is known where all stores to the copy agree on it and all loads
from it fall into digits too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from hbc.ir.algebra.layout import Layout, layout, refine, to_index
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, mul, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import (
    block,
    children,
    map_children,
    map_stmt,
    nodes,
    nodes_of,
    rewrite_stmt,
    statements,
)


@record
class _Map:
    """Place `sum(digit_n * digits[n])` of the copy is place `base + sum(digit_n * strides[n])` of
    `buffer`. `digits` fall, each a multiple of the next."""

    buffer: str
    base: ir.Expr
    digits: tuple[int, ...]
    strides: tuple[ir.Expr, ...]

    def at(self, places: Layout) -> Layout | None:
        """The places of the original that these of the copy are; None when one dim of them moves
        a digit over its end."""
        first = const_value(places.base)
        known = [(n, const_value(s)) for n, s in places.dims]
        if first is None or any(s is None or s < 0 for _, s in known):
            return None
        begin = self._split(int(first))
        steps = [step for n, s in known for step in self._cut(n, int(s or 0))]
        moves = [(n, self._split(s)) for n, s in steps]
        for i, (above, own) in enumerate(pairwise(self.digits), 1):
            if begin[i] + sum((n - 1) * move[i] for n, move in moves) >= above // own:
                return None
        base = add(self.base, self._sum(begin))
        return Layout(base, tuple((n, self._sum(move)) for n, move in moves))

    def _cut(self, count: int, step: int) -> list[tuple[int, int]]:
        """The dim as several that each move one digit, where it goes through whole ones."""
        for digit in self.digits:
            whole = digit // step if step else 0
            if whole > 1 and digit % step == 0 and count > whole and count % whole == 0:
                return [*self._cut(count // whole, digit), *self._cut(whole, step)]
        return [(count, step)] if count > 1 else []

    def _split(self, place: int) -> list[int]:
        counts = []
        for digit in self.digits:
            counts.append(place // digit)
            place %= digit
        return counts

    def _sum(self, digits: list[int]) -> ir.Expr:
        total: ir.Expr = ir.const_index(0)
        for n, stride in zip(digits, self.strides, strict=True):
            total = add(total, mul(stride, n))
        return canonical(total)


def forward(kernel: Kernel) -> Kernel:
    """The kernel without such copies of its inputs."""
    inputs = frozenset(a.name for a in kernel.arguments if not a.output)
    tiles = frozenset(
        n.buffer
        for n in statements(kernel.body)
        if isinstance(n, ir.Allocate) and n.memory in TILES
    )

    def below(s: ir.Stmt) -> ir.Stmt:
        s = map_stmt(s, lambda e: e, below)
        if isinstance(s, ir.Allocate) and s.memory in (Memory.STACK, Memory.HEAP):
            return _without(s, inputs, tiles)
        return s

    return kernel.map_body(below)


def _without(s: ir.Allocate, inputs: frozenset[str], tiles: frozenset[str]) -> ir.Stmt:
    """What is left of the allocation, which stays where its copy is needed."""
    stores, rest = _leading(s)
    copied = _map_of(stores)
    loads = _reads(rest, s.buffer, tiles)
    if copied is None or copied.buffer not in inputs or loads is None:
        return s
    reads: dict[ir.Load, ir.Load] = {}
    for load in loads:
        places = layout(load.index)
        original = None if places is None or load.mask is not None else copied.at(places)
        if original is None:
            return s
        reads[load] = replace(load, buffer=copied.buffer, index=to_index(original))
    if sum(load.type.lanes for load in loads) > sum(one.index.type.lanes for one in stores):
        return s  # what is read twice had better lie together
    return rewrite_stmt(rest, lambda e: _replaced(e, reads))


def _leading(s: ir.Allocate) -> tuple[list[ir.Store], ir.Stmt]:
    """The stores to the buffer that the body begins with, and what follows them."""
    body = s.body.body if isinstance(s.body, ir.Block) else (s.body,)
    count = 0
    while count < len(body):
        one = body[count]
        if not isinstance(one, ir.Store) or one.buffer != s.buffer:
            break
        count += 1
    return [c for c in body[:count] if isinstance(c, ir.Store)], block(*body[count:])


def _map_of(stores: list[ir.Store]) -> _Map | None:
    """The map that all of these copies agree on."""
    whole: _Map | None = None
    for store in stores:
        value = store.value
        if not isinstance(value, ir.Load) or store.mask is not None or value.mask is not None:
            return None
        to, source = layout(store.index), layout(value.index)
        if to is None or source is None:
            return None
        if whole is None:
            whole = _single(value.buffer, to, source)
            if whole is None:
                return None
        original = whole.at(to)
        if value.buffer != whole.buffer or original is None or not _same(original, source):
            return None
    return whole


def _single(buffer: str, to: Layout, source: Layout) -> _Map | None:
    """The map of one copy."""
    both = refine(to.dims, source.dims)
    if both is None:
        return None
    pairs: dict[int, ir.Expr] = {}
    for (_, d), (_, s) in zip(*both, strict=True):
        digit = const_value(d)
        if digit is None or digit <= 0 or pairs.setdefault(int(digit), s) != s:
            return None
    digits = tuple(sorted(pairs, reverse=True))
    first = const_value(to.base)
    if first is None or any(a % b for a, b in pairwise(digits)):
        return None
    plain = _Map(buffer, ir.const_index(0), digits, tuple(pairs[d] for d in digits))
    offset = plain.at(Layout(to.base))
    return None if offset is None else replace(plain, base=canonical(sub(source.base, offset.base)))


def _same(a: Layout, b: Layout) -> bool:
    both = refine(a.dims, b.dims)
    if both is None or const_value(canonical(sub(a.base, b.base))) != 0:
        return False
    return all(const_value(canonical(sub(s, t))) == 0 for (_, s), (_, t) in zip(*both, strict=True))


def _reads(s: ir.Stmt, buffer: str, tiles: frozenset[str]) -> list[ir.Load] | None:
    """The loads of the buffer; None when a loop repeats them, when they fill tiles, which want their
    rows in one piece, or when there are other accesses."""
    match s:
        case ir.For():
            touched = any(
                isinstance(n, ir.Load | ir.Store) and n.buffer == buffer for n in nodes(s)
            )
            return None if touched else []
        case ir.Store() | ir.Prefetch() if s.buffer == buffer:
            return None
    loads: list[ir.Load] = []
    for part in children(s):
        if isinstance(part, ir.Stmt):
            inner = _reads(part, buffer, tiles)
            if inner is None:
                return None
            loads += inner
        else:
            loads += [n for n in nodes_of(part, ir.Load) if n.buffer == buffer]
    filled = isinstance(s, ir.Store) and s.buffer in tiles
    return None if loads and filled else loads


def _replaced(e: ir.Expr, reads: Mapping[ir.Load, ir.Load]) -> ir.Expr:
    if isinstance(e, ir.Load) and e in reads:
        return reads[e]
    return map_children(e, lambda c: _replaced(c, reads))
