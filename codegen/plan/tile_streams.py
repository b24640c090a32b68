"""Which tiles are loaded past the first cache.

for io:                 A's rows of this block
  for jo:               ... are loaded again for every block of columns,
    for ko:             B's panel only after all of B has been:
      a = A[io, ko]
      b = B[jo, ko]     streamed

Of the operands that are loaded in one loop, those that come again soonest are worth keeping in the first
cache, and the others push them out of it. An instruction that loads past it (`stream` of a place) leaves it
to them: the second cache then gives one operand alone what it gave both. Where all of it fits, or so little
is worth keeping that it is read again before it is pushed out, nothing is gained. How much that is goes by
the sizes that the kernel is usually called with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

from hbc.codegen.plan.tile_steps import Fill, parts, tile_step
from hbc.ir.algebra.layout import layout
from hbc.ir.algebra.linear import difference
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value
from hbc.ir.lang.walk import free_variables, substitute

KEPT = 32 << 10
"""Bytes that the smallest first cache keeps beside what else passes through it: what is loaded
between two loads of the same element may be so much, and nothing is gained by streaming."""
LITTLE = 20 << 10
"""Bytes that stay there although others pass through it: with 5 to 16 KiB of rows of an image, layers of a
Xeon with AMX are 2 to 12 % faster without streaming, with 28 and 32 KiB 4 and 16 % slower."""


@record
class _Load:
    """A tile that is filled, the bytes of it, the loops that its place varies with, and where it lies."""

    tile: str
    bytes: int
    varies: frozenset[int]
    source: ir.Load


@record
class _Loop:
    """A loop by its variable, with the number of its iterations at the usual sizes, None where that is
    not known."""

    id: int
    var: str
    extent: int | None


@record
class _Around:
    """The loops around a statement, outermost first, the loops that names vary with, and the values of names
    at the usual sizes."""

    loops: tuple[_Loop, ...] = ()
    names: Mapping[str, frozenset[int]] = field(default_factory=dict)
    values: Mapping[str, ir.Expr] = field(default_factory=dict)

    def varies(self, e: ir.Expr) -> frozenset[int]:
        return frozenset().union(*(self.names.get(n, frozenset()) for n in free_variables(e)))

    def usually(self, e: ir.Expr) -> ir.Expr:
        """A number where that is known."""
        return simplify(substitute(e, self.values))


def streamed(
    body: ir.Stmt, tiles: Mapping[str, ir.Allocate], usual: Mapping[str, int] | None = None
) -> frozenset[str]:
    """The tiles that are better loaded past the first cache. A tile is filled in one place; one that
    is in several is streamed where all of them say so. `usual`: sizes, by name, as far as they are known."""
    found: dict[str, list[bool]] = defaultdict(list)
    for loops, loads in _groups(body, tiles, usual or {}):
        later = _later(loops, loads)
        for load in loads:
            found[load.tile].append(load.tile in later)
    return frozenset(tile for tile, answers in found.items() if all(answers))


def _groups(
    body: ir.Stmt, tiles: Mapping[str, ir.Allocate], usual: Mapping[str, int]
) -> Iterator[tuple[tuple[_Loop, ...], list[_Load]]]:
    """The loads that have the same loops around them, with these."""
    groups = _Groups(tiles)
    groups.visit(body, _Around(values={n: ir.const_index(size) for n, size in usual.items()}))
    yield from groups.found.values()


@mutable
class _Groups:
    tiles: Mapping[str, ir.Allocate]
    found: dict[int, tuple[tuple[_Loop, ...], list[_Load]]] = field(default_factory=dict)

    def visit(self, s: ir.Stmt, around: _Around) -> None:
        match s:
            case ir.Store():
                step = tile_step(s, self.tiles)
                if isinstance(step, Fill) and around.loops:
                    a = self.tiles[step.tile]
                    size = int(const_value(a.extent) or 0) * a.element.bytes
                    load = _Load(step.tile, size, around.varies(step.source.index), step.source)
                    inner = around.loops[-1].id
                    self.found.setdefault(inner, (around.loops, []))[1].append(load)
                return
            case ir.For(var=var):
                names = {**around.names, var: around.varies(s.start) | {id(s)}}
                extent = const_value(around.usually(s.extent))
                loop = _Loop(id(s), var, None if extent is None else int(extent))
                values = {**around.values, var: around.usually(s.start)}
                around = _Around((*around.loops, loop), names, values)
            case ir.LetStmt(name=name, value=value):
                around = replace(
                    around,
                    names={**around.names, name: around.varies(value)},
                    values={**around.values, name: around.usually(value)},
                )
        for part in parts(s):
            self.visit(part, around)


def _later(loops: tuple[_Loop, ...], loads: list[_Load]) -> set[str]:
    """The tiles that come again, but later than others."""
    loads = [_but_for_slides(loops, load, loads) for load in loads]
    again = {load.tile: a for load in loads if (a := _again(loops, load)) is not None}
    if not again:
        return set()
    soonest = max(again.values())
    between = {load.tile: _bytes(loops[soonest + 1 :], load) for load in loads}
    kept = [b for tile, b in between.items() if again.get(tile) == soonest]
    if _at_most(KEPT, between.values()) or _at_most(LITTLE, kept):
        return set()
    return {tile for tile, a in again.items() if a < soonest}


def _at_most(limit: int, sizes: Iterable[int | None]) -> bool:
    """Whether so many bytes are known to be enough."""
    known = list(sizes)
    return None not in known and sum(size or 0 for size in known) <= limit


def _again(loops: tuple[_Loop, ...], load: _Load) -> int | None:
    """The innermost loop whose iterations load the same; None where none do."""
    return next((n for n in reversed(range(len(loops))) if loops[n].id not in load.varies), None)


def _bytes(loops: tuple[_Loop, ...], load: _Load) -> int | None:
    """What is loaded in the loops; None where that is known only when the program runs."""
    size = load.bytes
    for loop in loops:
        if loop.id in load.varies:
            if loop.extent is None:
                return None
            size *= loop.extent
    return size


def _but_for_slides(loops: tuple[_Loop, ...], load: _Load, loads: list[_Load]) -> _Load:
    """Without the loops along which windows slide, as over an image: they load nearly the same again."""
    sliding = {n.id for n in loops if n.id in load.varies and _slides(n, load, loads)}
    return replace(load, varies=load.varies - sliding) if sliding else load


def _slides(loop: _Loop, load: _Load, loads: list[_Load]) -> bool:
    """Whether the next iteration reads nearly what was loaded before: the rows of this one but for the first,
    or those of another tile."""
    place = layout(load.source.index)
    if place is None or not place.dims:
        return False
    after = substitute(place.base, {loop.var: add(ir.Var(loop.var), 1)})
    others = [
        other.base
        for each in loads
        if each is not load and each.source.buffer == load.source.buffer
        if (other := layout(each.source.index)) is not None
    ]
    neighbours = [add(place.base, place.dims[0][1]), *others]
    return any(difference(after, base) == 0 for base in neighbours)
