"""Software pipelining of loops that multiply tiles: the tiles of later iterations are loaded before
those of this one are multiplied.

    for k in n: { t = load(k); use(t) }
->  even = load(0)
    for h in (n - 1) / 2: { odd = load(2h + 1); use(even); even = load(2h + 2); use(odd) }
    if (n - 1) % 2: { odd = load(n - 1); use(even); use(odd) } else use(even)

Tile registers are numbers, so values cannot move from one to the other: with `stages` of them for
each tile, so many iterations stand in the loop, each with its own. What cannot be loaded ahead, such as
tiles of memory that the loop fills itself, stays where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, replace

from hbc.ir.algebra.facts import NOTHING
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, eq, floordiv, ge, mod, mul, sub
from hbc.ir.lang.types import TILES
from hbc.ir.lang.walk import (
    block,
    free_variables,
    map_children,
    map_stmt,
    nodes_of,
    statements,
    substitute,
    substitute_stmt,
)

_NOTHING = ir.Block(())


def has_tiles(loop: ir.For) -> bool:
    """Whether the loop allocates tiles: then `pipeline_tiles` is for it."""
    return any(isinstance(s, ir.Allocate) and s.memory in TILES for s in statements(loop))


def pipeline_tiles(loop: ir.For) -> ir.Stmt:
    """The loop with the loads of its tiles `stages - 1` iterations ahead; itself, on one stage, when
    there is nothing to load ahead."""
    plain = replace(loop, marks=replace(loop.marks, stages=1))
    candidates = _Fills(
        loop.var, frozenset(s.buffer for s in statements(loop) if isinstance(s, ir.Store))
    )
    candidates.collect(loop.body, {})
    writes = Counter(s.buffer for s in statements(loop.body) if isinstance(s, ir.Store))
    fills = {
        t: fill for t, fill in candidates.fills.items() if writes[t] == 1 and t in candidates.tiles
    }
    if not fills:
        return plain
    ahead = loop.marks.stages - 1
    ring = _Ring(loop, fills, candidates.tiles)
    enough = ge(loop.extent, ahead)
    facts = NOTHING.with_condition(enough)
    turns = simplify(floordiv(sub(loop.extent, ahead), loop.marks.stages), facts)
    left = simplify(mod(sub(loop.extent, ahead), loop.marks.stages), facts)
    done = mul(turns, loop.marks.stages)
    first = [ring.load(t, n, ir.const_index(n)) for t in fills for n in range(ahead)]
    start = mul(ir.Var(loop.var), loop.marks.stages)
    steps = block(*(ring.iteration(add(start, n), n, ahead=True) for n in range(loop.marks.stages)))
    steady = replace(
        plain, start=ir.const_index(0), extent=turns, kind=ir.LoopKind.SERIAL, body=steps
    )
    last: ir.Stmt = ring.rest(done, loop.marks.stages - 1)
    for n in reversed(range(loop.marks.stages - 1)):
        last = ir.If(eq(left, n), ring.rest(done, n), last)
    whole: ir.Stmt = simplify_stmt(block(*first, steady, last), facts)
    for name, a in ring.allocations():
        note = f"runs ahead in loop `{loop.var}`"
        whole = replace(a, buffer=name, body=whole, note=note)
    # A loop of no iteration needs no copy that is not pipelined.
    return ir.If(enough, whole, None if ahead == 1 else plain, loop.span)


@mutable
class _Fills:
    """The loads of whole tiles in a loop's body that do not depend on what the body does, by tile."""

    variable: str
    written: frozenset[str]
    tiles: dict[str, ir.Allocate] = field(default_factory=dict)
    fills: dict[str, ir.Load] = field(default_factory=dict)

    def collect(self, s: ir.Stmt, names: Mapping[str, ir.Expr]) -> None:
        match s:
            case ir.Allocate(body=body):
                if s.memory in TILES:
                    self.tiles[s.buffer] = s
                self.collect(body, names)
            case ir.LetStmt(name=name, value=value, body=body):
                self.collect(body, {**names, name: substitute(value, names)})
            case ir.Block(body=body):
                for child in body:
                    self.collect(child, names)
            case ir.Store(buffer=buffer, value=ir.Load() as load) if buffer in self.tiles:
                whole = substitute(load, names)
                inner = nodes_of(whole, ir.Load)
                varies = self.variable in free_variables(whole)
                if len(inner) == 1 and load.buffer not in self.written and varies:
                    self.fills[buffer] = inner[0]
            case _:
                pass


@record
class _Ring:
    """The copies of each tile, and iterations of the loop on one of them."""

    loop: ir.For
    fills: dict[str, ir.Load]
    tiles: Mapping[str, ir.Allocate]

    def name(self, tile: str, turn: int) -> str:
        turns = self.loop.marks.stages
        word = ("even", "odd")[turn % 2] if turns == 2 else f"turn{turn % turns}"
        return f"{tile}_{word}"

    def allocations(self) -> list[tuple[str, ir.Allocate]]:
        turns = range(self.loop.marks.stages)
        return [(self.name(t, n), self.tiles[t]) for t in reversed(self.fills) for n in turns]

    def load(self, tile: str, turn: int, iteration: ir.Expr) -> ir.Stmt:
        """Fills the copy of a turn with what an iteration (counted from 0) needs."""
        load = self.fills[tile]
        at = {self.loop.var: add(self.loop.start, iteration)}
        index = simplify(substitute(load.index, at))
        (whole,) = [
            s.index
            for s in statements(self.loop.body)
            if isinstance(s, ir.Store) and s.buffer == tile
        ]
        return ir.Store(self.name(tile, turn), whole, replace(load, index=index), None, load.span)

    def iteration(self, iteration: ir.Expr, turn: int, *, ahead: bool) -> ir.Stmt:
        """The body on the copies of a turn; `ahead`: later tiles are loaded on the way."""
        later = self.loop.marks.stages - 1

        def below(s: ir.Stmt) -> ir.Stmt:
            match s:
                case ir.Allocate(buffer=buffer, body=body) if buffer in self.fills:
                    return below(body)
                case ir.Store(buffer=buffer) if buffer in self.fills:
                    if not ahead:
                        return _NOTHING
                    return self.load(buffer, turn + later, add(iteration, later))
                case ir.LetStmt(name=name, value=value, body=body):
                    inner = below(body)
                    if name not in free_variables(inner):
                        return inner  # only a load that ran ahead read it
                    return ir.LetStmt(name, self._on(value, turn), inner, s.span)
                case ir.Block(body=body):
                    return block(*(new for c in body if (new := below(c)) != _NOTHING))
                case _:
                    return map_stmt(s, lambda e: self._on(e, turn), below)

        at = {self.loop.var: add(self.loop.start, iteration)}
        return below(substitute_stmt(self.loop.body, at))

    def rest(self, done: ir.Expr, more: int) -> ir.Stmt:
        """The last iterations: `more` that still load ahead, and those that find all there."""
        count = more + self.loop.marks.stages - 1
        return block(*(self.iteration(add(done, n), n, ahead=n < more) for n in range(count)))

    def _on(self, e: ir.Expr, turn: int) -> ir.Expr:
        if isinstance(e, ir.Load) and e.buffer in self.fills:
            return replace(e, buffer=self.name(e.buffer, turn))
        return map_children(e, lambda c: self._on(c, turn))
