"""Software pipelining: loads of later iterations are issued before this iteration's arithmetic.

    for k in n: use(load(k))
->  t = load(0);  for k in n - 1: { now = t; t = load(k + 1); use(now) };  use(t)

with `stages - 1` such registers per load. A loop with fewer iterations runs as it was.
"""

from __future__ import annotations

import itertools
from dataclasses import field, replace

from hbc.ir.algebra.facts import NOTHING
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.diag import error
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, ge, sub
from hbc.ir.lang.types import BOOL, Memory
from hbc.ir.lang.walk import (
    block,
    free_variables,
    map_children,
    map_stmt,
    statements,
    substitute,
    substitute_stmt,
)
from hbc.ir.passes.rotate_tiles import has_tiles, pipeline_tiles


def rotate(s: ir.Stmt) -> ir.Stmt:
    """Every loop with `stages` above 1, pipelined. HbcError where its body is not straight-line."""
    if isinstance(s, ir.For) and s.marks.stages > 1:
        loop = replace(s, body=rotate(s.body))
        return pipeline_tiles(loop) if has_tiles(loop) else _pipeline(loop)
    return map_stmt(s, lambda e: e, rotate)


@mutable
class _Loads:
    """The loads of a loop body that can run ahead, in order of first use, with their names."""

    variable: str
    written: frozenset[str]
    names: dict[ir.Load, str] = field(default_factory=dict)

    def name(self, e: ir.Expr, bound: frozenset[str]) -> ir.Expr:
        """`e` with each such load replaced by its name."""
        if isinstance(e, ir.Load) and e.buffer not in self.written and not _is_mask(e):
            used = free_variables(e)
            if self.variable in used and used.isdisjoint(bound):
                name = self.names.setdefault(e, f"{e.buffer}_ahead{len(self.names)}")
                return ir.Var(name, e.type)
        return map_children(e, lambda c: self.name(c, bound))


def _is_mask(load: ir.Load) -> bool:
    """Vectors of bools are masks, of another form on each machine: registers do not hold them."""
    return load.type.element == BOOL and load.type.lanes > 1


def _pipeline(loop: ir.For) -> ir.Stmt:
    written = frozenset(n.buffer for n in statements(loop.body) if isinstance(n, ir.Store))
    loads = _Loads(loop.var, written)
    body = _collect(loop, loop.body, loads, frozenset())
    plain = replace(loop, marks=replace(loop.marks, stages=1))
    if not loads.names:
        return plain
    depth = loop.marks.stages - 1
    registers = {
        load: [f"{name}_{n}" if depth > 1 else name for n in range(depth)]
        for load, name in loads.names.items()
    }
    enough = ge(loop.extent, depth)
    facts = NOTHING.with_condition(enough)
    fill: list[ir.Stmt] = [
        _set(register, simplify(_at(load, loop, add(loop.start, n)), facts))
        for load, ring in registers.items()
        for n, register in enumerate(ring)
    ]
    steady = replace(
        plain,
        extent=simplify(sub(loop.extent, depth)),
        body=_iteration(registers, loads, body, _ahead(loop, depth)),
    )
    last = [
        simplify_stmt(
            substitute_stmt(
                _iteration(registers, loads, body, None),
                {loop.var: simplify(add(loop.start, sub(loop.extent, depth - n)))},
            ),
            facts,
        )
        for n in range(depth)
    ]
    whole: ir.Stmt = block(*fill, steady, *last)
    for load, ring in registers.items():
        for register in ring:
            element, lanes = load.type.element, load.type.lanes
            note = f"runs ahead in loop `{loop.var}`"
            whole = ir.Allocate(
                register, element, ir.const_index(lanes), Memory.REGISTER, whole, note, loop.span
            )
    return ir.If(enough, whole, plain)


def _collect(loop: ir.For, s: ir.Stmt, loads: _Loads, bound: frozenset[str]) -> ir.Stmt:
    """The body with its loads named; only straight-line code can be rotated."""
    match s:
        case ir.LetStmt(name=name, value=value, body=body):
            new = loads.name(value, bound)
            inner = _collect(loop, body, loads, bound | {name})
            return ir.LetStmt(name, new, inner, s.span)
        case ir.Store():
            return map_stmt(s, lambda e: loads.name(e, bound), lambda c: c)
        case ir.Block(body=body):
            return block(*(_collect(loop, c, loads, bound) for c in body))
        case ir.Comment():
            return s
        case _:
            raise error(
                f"`pipeline({loop.var}, {loop.marks.stages})` needs straight-line code in the loop, but "
                "there is another loop or a condition in it", loop.span,
                "pipeline the innermost loop that is not unrolled or vectorized, and let its splits "
                "divide",
            )  # fmt: skip


def _iteration(
    registers: dict[ir.Load, list[str]],
    loads: _Loads,
    body: ir.Stmt,
    ahead: dict[str, ir.Expr] | None,
) -> ir.Stmt:
    """One iteration: take the oldest values, move the others up, load new ones, compute."""
    moves: list[ir.Stmt] = []
    for load, ring in registers.items():
        for older, newer in itertools.pairwise(ring):
            moves.append(_set(older, _get(newer, load)))
        if ahead is not None:
            moves.append(_set(ring[-1], substitute(load, ahead)))
    whole: ir.Stmt = block(*moves, body)
    for load, ring in reversed(registers.items()):
        whole = ir.LetStmt(loads.names[load], _get(ring[0], load), whole)
    return whole


def _ahead(loop: ir.For, depth: int) -> dict[str, ir.Expr]:
    return {loop.var: add(ir.Var(loop.var), depth)}


def _at(load: ir.Load, loop: ir.For, value: ir.Expr) -> ir.Expr:
    return substitute(load, {loop.var: value})


def _lanes(load: ir.Load) -> ir.Expr:
    zero, count = ir.const_index(0), load.type.lanes
    return zero if count == 1 else ir.Ramp(zero, ir.const_index(1), count)


def _get(register: str, load: ir.Load) -> ir.Expr:
    return ir.Load(register, _lanes(load), load.type)


def _set(register: str, value: ir.Expr) -> ir.Stmt:
    lanes = value.type.lanes
    zero = ir.const_index(0)
    return ir.Store(
        register, zero if lanes == 1 else ir.Ramp(zero, ir.const_index(1), lanes), value
    )
