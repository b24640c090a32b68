"""Vector loads and stores of a GPU's threads: neighbouring elements of one statement move together.

    s[ramp(4 * t, 1, 4)] = f32x4(a.f16x4[ramp(i, 1, 4)])
->  allocate lanes: f16[4] in stack {
        lanes[ramp(0, 1, 4)] = a.f16x4[ramp(i, 1, 4)]
        allocate values: f32[4] in stack {
            values[ramp(0, 1, 4)] = f32x4(lanes.f16x4[ramp(0, 1, 4)])
            s[ramp(4 * t, 1, 4)] = values.f32x4[ramp(0, 1, 4)] } }

An access is of 16 bytes at most, and aligned to its length: buffers begin at such places, and what the
strides of arguments must be multiples of is tested around the loops over threads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from math import lcm

from hbc.codegen.gpu.partial_copies import partial_copy
from hbc.codegen.gpu.staged_body import staged_body
from hbc.ir.algebra.alignment import Alignment, alignment
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, eq, mod
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS
from hbc.ir.lang.names import unused
from hbc.ir.lang.types import BOOL, INDEX, TILES, DType, Memory
from hbc.ir.lang.walk import block, free_variables, map_stmt, nodes, nodes_of, rewrite, substitute
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.live_lanes import all_live

ACCESSES = (16, 8, 4)  # bytes, widest first


@mutable
class Copies:
    """The copies that were made, by identity (they are kept here so that it stays theirs)."""

    made: dict[int, ir.Store] = field(default_factory=dict)

    def holds(self, s: ir.Store) -> bool:
        return id(s) in self.made


def vector_copies(kernel: Kernel, copies: Copies) -> Kernel:
    """The kernel with copies of whole vectors wherever these are aligned; other vector statements are
    left as they are."""
    strides = {a.stride_name(d) for a in kernel.arguments for d in range(len(a.extents) - 1)}
    everything = list(nodes(kernel.body))
    allocated = [n for n in everything if isinstance(n, ir.Allocate)]
    private = {a.buffer for a in allocated if a.memory not in (Memory.SHARED, Memory.HEAP)}
    tiles = {a.buffer for a in allocated if a.memory in TILES}
    taken = {n.buffer for n in everything if isinstance(n, ir.Allocate | ir.Load | ir.Store)}
    units = {a.buffer: a.swizzle.unit for a in allocated if a.swizzle is not None}
    return kernel.map_body(_Work(copies, strides, private, tiles, taken, units).outside)


@mutable
class _Work:
    """`needed`: what strides are taken to be multiples of; nothing is taken unless `assuming`. `staged`:
    what asynchronous copies fill here, of one element too where that is large enough. `values`: of
    the names around."""

    copies: Copies
    strides: Collection[str]
    private: Collection[str]
    tiles: Collection[str]
    taken: set[str]
    units: Mapping[str, int]  # elements that stay together in swizzled arrays
    needed: dict[str, int] = field(default_factory=dict)
    assuming: bool = True
    staged: Collection[str] = ()
    values: Mapping[str, ir.Expr] = field(default_factory=dict)

    def outside(self, s: ir.Stmt) -> ir.Stmt:
        """Around the loops over threads: one nest for aligned strides, one for others."""
        if isinstance(s, ir.For) and s.marks.stages > 1:
            body = staged_body(s)
            staged = () if body is None else {a.buffer for a in body.buffers}
            return map_stmt(s, lambda e: e, replace(self, staged=staged).outside)
        if isinstance(s, ir.LetStmt) and s.value.type == INDEX:
            values = {**self.values, s.name: substitute(s.value, self.values)}
            return map_stmt(s, lambda e: e, replace(self, values=values).outside)
        if not isinstance(s, ir.For) or s.kind not in THREADS:
            made = map_stmt(s, lambda e: e, self.outside)
            return made if made is s or not isinstance(made, ir.Block) else _joined(made)
        self.needed, self.assuming = {}, True
        aligned = self._inside(s)
        if not self.needed:
            return aligned
        tests = [eq(mod(ir.Var(name), n), 0) for name, n in sorted(self.needed.items())]
        self.assuming = False
        return ir.If(and_(*tests), aligned, self._inside(s))

    def _inside(self, s: ir.Stmt) -> ir.Stmt:
        part = partial_copy(s) if self.staged else None
        if part is not None and part.buffer in self.staged and self._moves_at_once(part):
            self.copies.made[id(part)] = part
            return part
        if isinstance(s, ir.Store) and s.value.type.lanes > 1 and s.atomic is None:
            whole = self._where_whole(s)
            rest = s if s.mask is not None else self._store(s)
            return rest if whole is None else ir.If(whole[0], whole[1], rest)
        return map_stmt(s, lambda e: e, self._inside)

    def _moves_at_once(self, s: ir.Store) -> bool:
        """Whether a copy of so many elements, or some of them, is one access."""
        element, lanes = s.value.type.element, s.value.type.lanes
        source = s.value
        return (
            isinstance(source, ir.Load)
            and self._width(s.buffer, s.index, element) == lanes
            and self._width(source.buffer, source.index, element) == lanes
        )

    def _where_whole(self, s: ir.Store) -> tuple[ir.Expr, ir.Stmt] | None:
        """A masked copy where all lanes are live: the condition, and the copy without a mask."""
        mask = s.value.mask if isinstance(s.value, ir.Load) else None
        live = None if mask is None or s.mask not in (None, mask) else all_live(mask)
        if live is None or not isinstance(s.value, ir.Load):
            return None
        plain = replace(s, value=replace(s.value, mask=None), mask=None)
        made = self._store(plain)
        parts = made.body if isinstance(made, ir.Block) else (made,)
        wide = all(isinstance(c, ir.Store) and self.copies.holds(c) for c in parts)
        return (live, made) if wide else None

    def _store(self, s: ir.Store) -> ir.Stmt:
        """The loads of its value into registers, the value, and the store from there."""
        loads = nodes_of(s.value, ir.Load)
        if not {s.buffer, *(n.buffer for n in loads)}.isdisjoint(self.tiles):
            return s
        element, lanes = s.value.type.element, s.value.type.lanes
        to = self._width(s.buffer, s.index, element)
        if to and isinstance(s.value, ir.Load) and s.value.mask is None:
            width = min(to, self._width(s.value.buffer, s.value.index, element))
            if width:
                return block(*self._copied(s, s.value, width))
            if s.buffer in self.staged and element.bytes in ACCESSES:
                return s
        wide = {id(n): (n, w) for n in loads if n.mask is None and (w := self._of(n))}
        if not wide and not to:
            return s
        held = {key: self._fresh("lanes") for key in wide}

        def loaded(e: ir.Expr) -> ir.Expr:
            if isinstance(e, ir.Load) and id(e) in held:
                return ir.Load(held[id(e)], _dense(e.type.lanes), e.type, None, e.span)
            return e

        value = rewrite(s.value, loaded)
        body: ir.Stmt = ir.Store(s.buffer, s.index, value, None, s.span)
        if to:
            name = self._fresh("values")
            first = ir.Store(name, _dense(lanes), value, None, s.span)
            there = ir.Load(name, _dense(lanes), value.type)
            body = block(first, *self._copied(s, there, to))
            body = ir.Allocate(name, element, ir.const_index(lanes), Memory.STACK, body)
        for key, (n, width) in reversed(wide.items()):
            name, count = held[key], n.type.lanes
            copied = self._copied(ir.Store(name, _dense(count), n, None, n.span), n, width)
            inner = block(*copied, body)
            body = ir.Allocate(name, n.type.element, ir.const_index(count), Memory.STACK, inner)
        return body

    def _of(self, n: ir.Load) -> int:
        return self._width(n.buffer, n.index, n.type.element)

    def _width(self, buffer: str, index: ir.Expr, element: DType) -> int:
        """The elements of one access, of those that the index names; 0 where each is alone. What a
        thread holds needs no wide accesses."""
        known = None if buffer in self.private or element == BOOL else lane_offsets(index)
        if known is None:
            return 0
        base, offsets = known
        for size in ACCESSES:
            width = size // element.bytes
            if width < 2 or len(offsets) % width or width > self.units.get(buffer, width):
                continue
            starts = offsets[::width]
            runs = all(o == starts[n // width] + n % width for n, o in enumerate(offsets))
            if runs and all(self._is_aligned(add(base, o), width) for o in starts):
                return width
        return 0

    def _is_aligned(self, e: ir.Expr, width: int) -> bool:
        e = substitute(e, self.values)
        if _is_multiple(e, width, {}):
            return True
        names = sorted(free_variables(e) & frozenset(self.strides)) if self.assuming else []
        if not names or not _is_multiple(e, width, dict.fromkeys(names, (width, 0))):
            return False
        for name in names:
            self.needed[name] = lcm(self.needed.get(name, 1), width)
        return True

    def _copied(self, s: ir.Store, value: ir.Load, width: int) -> list[ir.Stmt]:
        """The store of loaded lanes, so many at a time."""
        left, right = lane_offsets(s.index), lane_offsets(value.index)
        assert left is not None and right is not None
        made: list[ir.Stmt] = []
        for n in range(0, len(left[1]), width):
            source = ir.Load(value.buffer, _run(right, n, width), value.type.with_lanes(width))
            store = ir.Store(s.buffer, _run(left, n, width), source, None, s.span)
            self.copies.made[id(store)] = store
            made.append(store)
        return made

    def _fresh(self, name: str) -> str:
        unique = unused(name, self.taken)
        self.taken.add(unique)
        return unique


def _joined(s: ir.Block) -> ir.Stmt:
    """With one test where the same strides are tested twice in a row."""
    made: list[ir.Stmt] = []
    for c in s.body:
        match made[-1:], c:
            case [ir.If(condition=tested, then=a, otherwise=b)], ir.If() if tested == c.condition:
                other = [x for x in (b, c.otherwise) if x is not None]
                made[-1] = ir.If(tested, block(a, c.then), block(*other) if other else None)
            case _:
                made.append(c)
    return block(*made)


def _is_multiple(e: ir.Expr, of: int, known: Mapping[str, Alignment]) -> bool:
    modulus, remainder = alignment(e, known)
    return modulus % of == 0 and remainder % of == 0


def _run(lanes: tuple[ir.Expr, tuple[int, ...]], first: int, count: int) -> ir.Expr:
    base, offsets = lanes
    return ir.Ramp(simplify(add(base, offsets[first])), ir.const_index(1), count)


def _dense(lanes: int) -> ir.Expr:
    return ir.Ramp(ir.const_index(0), ir.const_index(1), lanes)
