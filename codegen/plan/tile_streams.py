"""Which tiles are loaded past the first cache.

for io:                 A's rows of this block
  for jo:               ... are loaded again for every block of columns,
    for ko:             B's panel only after all of B has been:
      a = A[io, ko]
      b = B[jo, ko]     streamed

Of the operands that are loaded in one loop, those that come again soonest are worth keeping in the first
cache, and the others push them out of it. An instruction that loads past it (`stream` of a place) leaves it
to them: the second cache then gives one operand alone what it gave both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from hbc.codegen.plan.tile_steps import Fill, parts, tile_step
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.walk import free_variables

KEPT = 32 << 10
"""Bytes that the smallest first cache keeps beside what else passes through it: what is loaded
between two loads of the same element may be so much, and nothing is gained by streaming."""


@record
class _Load:
    """A tile that is filled, the bytes of it, and the loops that its place varies with."""

    tile: str
    bytes: int
    varies: frozenset[int]


@record
class _Around:
    """The loops around a statement, outermost first, by id, the loops that names vary with."""

    loops: tuple[ir.For, ...] = ()
    names: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def varies(self, e: ir.Expr) -> frozenset[int]:
        return frozenset().union(*(self.names.get(n, frozenset()) for n in free_variables(e)))


def streamed(body: ir.Stmt, tiles: Mapping[str, ir.Allocate]) -> frozenset[str]:
    """The tiles that are better loaded past the first cache. A tile is filled in one place; one that
    is in several is streamed where all of them say so."""
    found: dict[str, list[bool]] = defaultdict(list)
    for loops, loads in _groups(body, tiles):
        later = _later(loops, loads)
        for load in loads:
            found[load.tile].append(load.tile in later)
    return frozenset(tile for tile, answers in found.items() if all(answers))


def _groups(
    body: ir.Stmt, tiles: Mapping[str, ir.Allocate]
) -> Iterator[tuple[tuple[ir.For, ...], list[_Load]]]:
    """The loads that have the same loops around them, with these."""
    groups = _Groups(tiles)
    groups.visit(body, _Around())
    yield from groups.found.values()


@dataclass(slots=True)
class _Groups:
    tiles: Mapping[str, ir.Allocate]
    found: dict[int, tuple[tuple[ir.For, ...], list[_Load]]] = field(default_factory=dict)

    def visit(self, s: ir.Stmt, around: _Around) -> None:
        match s:
            case ir.Store():
                step = tile_step(s, self.tiles)
                if isinstance(step, Fill) and around.loops:
                    a = self.tiles[step.tile]
                    size = int(const_value(a.extent) or 0) * a.element.bytes
                    load = _Load(step.tile, size, around.varies(step.source.index))
                    inner = around.loops[-1]
                    self.found.setdefault(id(inner), (around.loops, []))[1].append(load)
                return
            case ir.For(var=var):
                names = {**around.names, var: around.varies(s.start) | {id(s)}}
                around = _Around((*around.loops, s), names)
            case ir.LetStmt(name=name, value=value):
                around = replace(around, names={**around.names, name: around.varies(value)})
        for part in parts(s):
            self.visit(part, around)


def _later(loops: tuple[ir.For, ...], loads: list[_Load]) -> set[str]:
    """The tiles that come again, but later than others."""
    again = {load.tile: a for load in loads if (a := _again(loops, load)) is not None}
    if not again:
        return set()
    soonest = max(again.values())
    inside = loops[soonest + 1 :]
    between = [_bytes(inside, load) for load in loads]
    if all(b is not None for b in between) and sum(b or 0 for b in between) <= KEPT:
        return set()
    return {tile for tile, a in again.items() if a < soonest}


def _again(loops: tuple[ir.For, ...], load: _Load) -> int | None:
    """The innermost loop whose iterations load the same; None where none do."""
    return next((n for n in reversed(range(len(loops))) if id(loops[n]) not in load.varies), None)


def _bytes(loops: tuple[ir.For, ...], load: _Load) -> int | None:
    """What is loaded in the loops; None where that is known only when the program runs."""
    size = load.bytes
    for loop in loops:
        extent = const_value(loop.extent)
        if id(loop) in load.varies:
            if extent is None:
                return None
            size *= int(extent)
    return size
