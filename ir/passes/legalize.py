"""Cuts vector statements into pieces that registers hold, and half floats into f32 arithmetic.

    c[ramp(x, 1, 40)] = ...   ->   c[ramp(x, 1, 16)] = ..; c[ramp(x + 16, 1, 16)] = ..;
                                   c[ramp(x + 32, 1, 8)] = ..        (f32 on 512 bits)

On a scalar target every lane becomes a statement of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from itertools import pairwise

from hbc.ir.algebra.bounds import prove
from hbc.ir.algebra.facts import Facts
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const, select
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import BOOL, TILES
from hbc.ir.lang.walk import block, map_stmt, nodes, rewrite
from hbc.ir.passes.halves import widen_halves
from hbc.ir.passes.transpose import Group, transposed, transpositions
from hbc.ir.vectors.lane_masks import narrow_masks
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.lane_rows import lane_rows
from hbc.ir.vectors.take import Picks, Take, powers

# Shorter vectors than an SSE register are not worth their shuffles: scalars instead.
LEAST_BITS = 128


def legalize(
    kernel: Kernel, target: Target, is_native: Callable[[ir.Store], bool] = lambda s: False
) -> Kernel:
    """The kernel with every vector statement native to `target`. Those that `is_native` knows to be so
    stay as they are."""
    work = _Legalize(target.vector_bits, Take(target.vector_bits), is_native)
    return kernel.map_body(work.stmt)


@mutable
class _Legalize:
    bits: int
    take: Take
    is_native: Callable[[ir.Store], bool]
    made: int = 0
    facts: Facts = field(default_factory=Facts)
    tiles: set[str] = field(default_factory=set)  # buffers in tile memory

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        match s:
            case ir.Store() if self.is_native(s):
                return s
            case ir.Store():
                return self._selected(s) if self._is_selected(s) else self._store(s)
            case ir.Allocate(buffer=buffer, memory=memory) if memory in TILES:
                self.tiles.add(buffer)
                return map_stmt(s, self._scalar, self.stmt)
            case ir.LetStmt(name=name, value=value, body=body) if value.type.lanes > 1:
                value = rewrite(value, _plain)
                self.take.named[name] = self.take.widest(value)
                with self.take.scope(name) as asked:
                    inner = self.stmt(body)
                for picks, new in reversed(asked.items()):
                    inner = ir.LetStmt(new, self._piece(value, picks), inner, s.span)
                return inner
            case _:
                return map_stmt(s, self._scalar, self.stmt)

    def _is_selected(self, s: ir.Store) -> bool:
        """Whether tensor instructions do the statement: it has the size they want already."""
        return s.buffer in self.tiles or any(
            isinstance(n, ir.Instruct) or (isinstance(n, ir.Load) and n.buffer in self.tiles)
            for n in nodes(s.value)
        )

    def _selected(self, s: ir.Store) -> ir.Store:
        """Native already, but for its masks."""
        if s.buffer in self.tiles or not self.bits:
            return s
        value = rewrite(s.value, lambda e: narrow_masks(_plain_mask(e), self.bits))
        return s if value is s.value else replace(s, value=value)

    def _scalar(self, e: ir.Expr) -> ir.Expr:
        return self._piece(rewrite(e, _plain), tuple(range(e.type.lanes)))

    def _piece(self, e: ir.Expr, picks: Picks) -> ir.Expr:
        return rewrite(self.take(e, picks), self._masked)

    def _masked(self, e: ir.Expr) -> ir.Expr:
        """Masks in their narrow form, and zeros where no lane of a load is live."""
        if isinstance(e, ir.Load):
            if e.mask is not None and prove(e.mask, self.facts) is False:
                return const(False if e.type.element == BOOL else 0, e.type)
        elif isinstance(e, ir.Binary) and self.bits:
            return narrow_masks(e, self.bits)
        return e

    def _store(self, s: ir.Store) -> ir.Stmt:
        lanes = s.index.type.lanes
        value = rewrite(s.value, _plain)
        mask = None if s.mask is None else rewrite(s.mask, _plain)
        s = replace(s, index=rewrite(s.index, _plain))  # data may say where
        widest = max(self.take.widest(e) for e in (value, mask) if e is not None)
        widest = max(widest, value.type.element.bits)
        native, least = self.bits // widest, max(2, LEAST_BITS // widest)
        elsewhere = _reads_elsewhere(s)
        parts = _pieces(s.index, _shortest(rows(s.index), least, lanes), native, least)
        groups = [] if elsewhere else _transpositions(value, parts, native)
        if sum(len(g.parts) for g in groups) < len(parts):
            parts = _pieces(s.index, _shortest(_rows_of(s), least, lanes), native, least)
            if isinstance(value, ir.Load) and mask is None and _has_long_rows(value, native):
                parts = _pieces(s.index, _shortest(rows(s.index), least, lanes), native, least)
            groups = [] if elsewhere else _transpositions(value, parts, native)

        def part(picks: Picks, value: ir.Expr) -> ir.Stmt:
            live = None if mask is None else self._piece(mask, picks)
            if live is not None and prove(live, self.facts) is False:
                return block()  # the place may lie beyond the memory
            return replace(s, index=self.take(s.index, picks), value=value, mask=live)

        made = {n for group in groups for n in group.parts}
        stores = [
            part(picks, self._piece(value, picks)) for n, picks in enumerate(parts) if n not in made
        ]
        if elsewhere and len(stores) > 1:
            return self._values_first([s for s in stores if isinstance(s, ir.Store)])
        for group in groups:
            self.made += 1
            stores.append(
                transposed(
                    group, value.type.element, self.made, lambda picks: self._piece(value, picks),
                    lambda n, new: part(parts[n], new),
                )
            )  # fmt: skip
        return block(*stores)

    def _values_first(self, stores: list[ir.Store]) -> ir.Stmt:
        """All lanes are loaded before any is stored."""
        named: list[tuple[str, ir.Expr]] = []

        def name(e: ir.Expr) -> ir.Expr:
            self.made += 1
            named.append((f"lanes_{self.made}", e))
            return ir.Var(named[-1][0], e.type)

        result = block(
            *(replace(s, value=name(s.value), mask=s.mask and name(s.mask)) for s in stores)
        )
        for variable, value in reversed(named):
            result = ir.LetStmt(variable, value, result)
        return result


def _transpositions(value: ir.Expr, parts: list[Picks], native: int) -> list[Group]:
    """The parts that are better made four at a time."""
    if not isinstance(value, ir.Load) or len(parts) < 4 or native < 4:
        return []
    rows = lane_rows(value.index)
    whole = [picks if len(picks) == native else () for picks in parts]
    return [] if rows is None else transpositions(rows, whole, value.type.element.bits)


def _has_long_rows(e: ir.Load, native: int) -> bool:
    """Whether few loads, each of adjacent elements, fill a register."""
    rows = lane_rows(e.index) if native and e.type.lanes % native == 0 else None
    if rows is None:
        return False
    for row in rows:
        offsets = sorted(row.offsets)
        ends = [i for i, (a, b) in enumerate(pairwise(offsets), 1) if b != a + 1]
        lengths = [b - a for a, b in pairwise([0, *ends, len(offsets)])]
        if any(n * e.type.element.bits < LEAST_BITS or native % n for n in lengths):
            return False
    return True


def _shortest(lengths: set[int], least: int, default: int) -> int:
    """The shortest row that is worth a vector of its own."""
    return min((r for r in lengths if r >= least), default=default)


def _plain_mask(e: ir.Expr) -> ir.Expr:
    """A load under a condition that has no arithmetic of f16 or bf16."""
    if not isinstance(e, ir.Load) or e.mask is None:
        return e
    return replace(e, mask=rewrite(e.mask, _plain))


def _plain(e: ir.Expr) -> ir.Expr:
    """Half floats computed as f32; vectors of bools neither cast from nor to."""
    if isinstance(e, ir.Cast) and e.type.lanes > 1 and e.type.element != e.value.type.element:
        if e.value.type.element == BOOL:
            return select(e.value, const(1, e.type), const(0, e.type))
        if e.type.element == BOOL:
            return widen_halves(ir.Binary(ir.Op.NE, e.value, const(0, e.value.type)))
    return widen_halves(e)


def _reads_elsewhere(s: ir.Store) -> bool:
    """Whether a piece stored early could be loaded by a later one."""
    wholes = [s.value] if s.mask is None else [s.value, s.mask]
    return any(
        isinstance(n, ir.Load) and n.buffer == s.buffer and n.index != s.index
        for whole in wholes
        for n in nodes(whole)
    )


def _rows_of(s: ir.Store) -> set[int]:
    wholes = (s.index, s.value) if s.mask is None else (s.index, s.value, s.mask)
    return set().union(*(rows(e) for e in wholes))


def _pieces(index: ir.Expr, row: int, native: int, least: int) -> list[Picks]:
    """The lanes of a store in runs of neighbouring elements, each cut into native pieces. No piece
    crosses a multiple of `row` lanes."""
    pieces: list[Picks] = []
    for start, end in _runs(index, row):
        at = start
        while native and end - at >= native:
            pieces.append(tuple(range(at, at + native)))
            at += native
        for first, count in powers(at, end - at):
            if native and count >= least:
                pieces.append(tuple(range(first, first + count)))
            else:
                pieces += [(lane,) for lane in range(first, first + count)]
    return pieces


def _runs(index: ir.Expr, row: int) -> list[tuple[int, int]]:
    """Maximal ranges of lanes that go through memory at a constant step, inside one row."""
    lanes = index.type.lanes
    known = lane_offsets(index)
    if known is None:
        return [(i, min(i + row, lanes)) for i in range(0, lanes, row)]
    offsets = known[1]
    steps = [b - a for a, b in pairwise(offsets)]
    common = 1 if 1 in steps else steps[0] if steps else 1
    runs, start = [], 0
    for i, step in enumerate(steps, 1):
        if step != common or i % row == 0:
            runs.append((start, i))
            start = i
    return [*runs, (start, lanes)]


def rows(e: ir.Expr) -> set[int]:
    """The lengths of the innermost runs of the nested index vectors in `e`."""
    lengths = set()
    for n in nodes(e):
        inner = n
        while isinstance(inner, ir.Ramp | ir.Broadcast) and constant_lanes(inner) is None:
            is_one = isinstance(inner, ir.Broadcast) and inner.value.type.lanes == 1
            if inner is not n and not is_one:
                lengths.add(inner.type.lanes)
            inner = inner.base if isinstance(inner, ir.Ramp) else inner.value
    return lengths - {1}
