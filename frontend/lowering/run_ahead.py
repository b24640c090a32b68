"""`async`: of a loop, one thread computes what the next iteration reads, beside the one that reads it.

    for y { allocate f: [n]; f = P(y); R(y, f) }
->  allocate f: [2 * n]
    for y from -1 { parallel t in 2 { if (t == 0) f[(y + 1) % 2] = P(y + 1); else R(y, f[y % 2]) } }

What is computed before the first iteration, and what is not behind the last, says a condition, so that code
stands once. Without threads the two halves of an iteration run one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from hbc.frontend.regions.hoisted import at_most
from hbc.ir.algebra.bounds import Interval
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import Note, error
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, eq, ge, lt, mod, mul, sub
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import block, contains, map_stmt, move_accesses, nodes, substitute_stmt

AHEAD = "async"
"""The note of the loop over two threads that holds what is computed ahead and what reads it."""


def beside(produced: ir.Stmt, rest: ir.Stmt, name: str, span: Span | None = None) -> ir.Stmt:
    """The two, as a loop over two threads: of one iteration, until `run_ahead` has seen the loop around."""
    first = eq(ir.Var(name), 0)
    body = ir.If(first, produced, rest)
    return ir.For(
        name, ir.const_index(0), ir.const_index(2), ir.LoopKind.PARALLEL, body, AHEAD, span
    )


def run_ahead(s: ir.Stmt) -> ir.Stmt:
    """The statement with all such loops made; where no loop is around, as in a last piece of one iteration,
    what is computed comes first."""
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.SERIAL:
        spine, last = _spine(s.body)
        if _is_beside(last):
            return _ahead(s, spine, last)
    if _is_beside(s):
        assert isinstance(s, ir.For) and isinstance(s.body, ir.If) and s.body.otherwise is not None
        return block(run_ahead(s.body.then), run_ahead(s.body.otherwise))
    return map_stmt(s, lambda e: e, run_ahead)


Spine = list[ir.LetStmt | ir.Allocate]


def _spine(s: ir.Stmt) -> tuple[Spine, ir.Stmt]:
    """The names and arrays around a statement, and what is inside of all; what is prefetched there for the
    iteration that reads goes with it."""
    found: Spine = []
    before: list[ir.Stmt] = []
    while isinstance(s, ir.LetStmt | ir.Allocate | ir.Block):
        if not isinstance(s, ir.Block):
            found.append(s)
            s = s.body
        elif s.body and not any(isinstance(n, ir.Store) for x in s.body[:-1] for n in nodes(x)):
            before += s.body[:-1]
            s = s.body[-1]
        else:
            break
    if before and _is_beside(s) and isinstance(s, ir.For) and isinstance(s.body, ir.If):
        rest = block(*before, *([] if s.body.otherwise is None else [s.body.otherwise]))
        s = replace(s, body=replace(s.body, otherwise=rest))
    return found, s


def _is_beside(s: ir.Stmt) -> bool:
    return isinstance(s, ir.For) and s.note == AHEAD


def _ahead(s: ir.For, spine: Spine, two: ir.Stmt) -> ir.Stmt:
    assert isinstance(two, ir.For) and isinstance(two.body, ir.If)
    assert two.body.otherwise is not None
    produced, rest = run_ahead(two.body.then), run_ahead(two.body.otherwise)
    shared = [
        x for x in spine
        if isinstance(x, ir.Allocate) and _names(produced, x.buffer) and _names(rest, x.buffer)
    ]  # fmt: skip
    sizes = _sizes(s, spine, shared, two.span)
    half = mod(sub(ir.Var(s.var), s.start), 2)
    further = {name: partial(add, mul(half, size)) for name, size in sizes.items()}
    i, end = ir.Var(s.var), add(s.start, s.extent)
    early = _around(move_accesses(produced, further), spine, sizes)
    late = _around(move_accesses(rest, further), spine, sizes)
    following = ir.If(simplify(lt(add(i, 1), end)), substitute_stmt(early, {s.var: add(i, 1)}))
    own = ir.If(simplify(ge(i, s.start)), late)
    names = " and ".join(f"`{a.buffer}`" for a in shared)
    note = f"async: {names} of the next iteration, beside this one"
    body = replace(two, body=ir.If(two.body.condition, following, own), note=note)
    loop: ir.Stmt = replace(
        s, start=simplify(sub(s.start, 1)), extent=simplify(add(s.extent, 1)), body=body
    )
    for a in reversed(shared):
        loop = replace(a, extent=simplify(mul(sizes[a.buffer], 2)), body=loop)
    return loop


def _sizes(
    s: ir.For, spine: Spine, shared: list[ir.Allocate], span: Span | None
) -> dict[str, ir.Expr]:
    """How many elements of each of these arrays an iteration needs at most. HbcError where none says it."""
    ranges = {s.var: Interval(s.start, simplify(sub(add(s.start, s.extent), 1)))}
    for x in spine:
        if isinstance(x, ir.LetStmt):
            known = x.value.type == INDEX and not contains(x.value, ir.Load)
            ranges[x.name] = Interval(x.value, x.value) if known else Interval(None, None)
    sizes: dict[str, ir.Expr] = {}
    for a in shared:
        most = at_most(a.extent, ranges)
        if most is None:
            raise error(
                f"how much memory `{a.buffer}` needs at most is not known around the loop `{s.var}`, where"
                " `async` has two of it", span, "leave `async` out, or compute it at another loop",
                *(() if a.span is None else (Note("what is computed", a.span),)),
            )  # fmt: skip
        sizes[a.buffer] = simplify(most)
    return sizes


def _around(s: ir.Stmt, spine: Spine, shared: Mapping[str, ir.Expr]) -> ir.Stmt:
    """The statement with all of these names around it, and those of the arrays that it alone has."""
    for x in reversed(spine):
        if isinstance(x, ir.LetStmt) or (x.buffer not in shared and _names(s, x.buffer)):
            s = replace(x, body=s)
    return s


def _names(s: ir.Stmt, buffer: str) -> bool:
    """Whether it loads from the array or stores to it."""
    return any(isinstance(n, ir.Load | ir.Store) and n.buffer == buffer for n in nodes(s))
