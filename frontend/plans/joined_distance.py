"""How far apart iterations of shared loops are in which two steps touch the same element.

g[y, x] = ..            written in iteration y of the shared loop
f[y, x] = g[y - 1, x]   read one iteration later: g comes before f
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.plan import Fuse, Loop, Plan, Split, StagePlan, stage_text, step
from hbc.frontend.program.funcs import Func
from hbc.ir.algebra.bounds import Interval, constant_bounds
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, sub

Indices = tuple[ir.Expr, ...]
_IN_ORDER = (ir.LoopKind.SERIAL, ir.LoopKind.UNROLL)


def first_made_later(
    plan: Plan, first: StagePlan, second: StagePlan
) -> tuple[ir.Access, str, str] | None:
    """An element that `second` touches before `first` is done with it, why, and what to do, where both run in
    the loops they share, `first` before `second` in each iteration. None if there surely is none."""
    f, g = plan[first.func].func, plan[second.func].func
    count = min(s.shared for s in (first, second) if s.joins is not None)
    for access in _read(f, first, g.name) if f is not g else ():
        why = f"`{stage_text(first)}`, which comes first in each iteration, reads `{g.name}`"
        return access, why, f"write `compute_with` in the line of `{stage_text(first)}`"
    for own, other, access in _pairs(f, g, first, second):
        loop = _unordered(f, g, first, second, own, other, count)
        if loop is not None:
            read = " ".join(access.span.text.split()) if access.span else f"{access.name}[...]"
            what = f"`{read}` may be what a later iteration of `{loop.name}` makes"
            if loop.kind not in _IN_ORDER:
                what = f"`{read}` may be what another iteration of the {loop.kind} loop `{loop.name}` makes"
            return access, what, "share fewer loops, or give each step its own"
    return None


def _pairs(
    f: Func, g: Func, first: StagePlan, second: StagePlan
) -> Iterator[tuple[Indices, Indices, ir.Access]]:
    """Where both may touch the same element, one of them by writing it."""
    written, rewritten = _written(f, first), _written(g, second)
    for access in _read(g, second, f.name):
        yield written, access.indices, access
    if f is g:
        yield written, rewritten, ir.Access(g.name, rewritten, g.pure.type, g.span)
        for access in _read(f, first, f.name):
            yield access.indices, rewritten, access


def _written(func: Func, stage: StagePlan) -> Indices:
    update = step(func, stage.update)
    return tuple(ir.Var(v) for v in func.variables) if update is None else update.indices


def _read(func: Func, stage: StagePlan, name: str) -> list[ir.Access]:
    return [a for a in stage_accesses(func, stage.update) if a.name == name]


def _unordered(
    f: Func, g: Func, first: StagePlan, second: StagePlan, own: Indices, other: Indices, count: int
) -> Loop | None:
    """The shared loop along which `first` may touch the element at `own` after `second` did at `other`; from
    the outermost on, each where those around it are in the same iteration."""
    before: list[str] = []
    for loop in first.loops[:count]:
        before.append(loop.dim)
        roots = first.root_of(loop.dim)
        ahead = [_ahead(f, g, first, second, own, other, root) for root in sorted(roots)]
        if all(x == (0, 0) for x in ahead):
            continue
        least = ahead[0][0]
        order = _digits(first, next(iter(roots))) if len(roots) == 1 else None
        done = [dim for dim in before if order is not None and dim in order]
        if loop.kind not in _IN_ORDER or least is None or least < 0:
            return loop
        if order is None or done != order[: len(done)]:
            return loop
        if least > 0 and done == order:
            return None
    return None


def _ahead(
    f: Func, g: Func, first: StagePlan, second: StagePlan, own: Indices, other: Indices, root: str
) -> tuple[int | None, int | None]:
    """How much larger a variable at least and at most is where `second` touches an element than where
    `first` did. Each index is the variable and something between two constants."""
    least: int | None = None
    most: int | None = None
    for a, b in zip(own, other, strict=True):
        (a_low, a_high), (b_low, b_high) = _beyond(f, first, a, root), _beyond(g, second, b, root)
        if a_low is not None and b_high is not None:
            least = a_low - b_high if least is None else max(least, a_low - b_high)
        if a_high is not None and b_low is not None:
            most = a_high - b_low if most is None else min(most, a_high - b_low)
    return least, most


def _beyond(
    func: Func, stage: StagePlan, index: ir.Expr, root: str
) -> tuple[int | None, int | None]:
    """What an index is beyond a variable, at least and at most."""
    update = step(func, stage.update)
    ranges = {
        r.name: Interval(r.start, simplify(sub(add(r.start, r.extent), 1)))
        for r in (() if update is None else update.reduce)
        if r.name != root
    }
    return constant_bounds(simplify(sub(index, ir.Var(root))), ranges)


def _digits(stage: StagePlan, dim: str) -> list[str] | None:
    """The dimensions that a variable is made of by splits, from the outermost, as the digits of a number.
    None where one of them was fused."""
    for r in stage.relations:
        if isinstance(r, Fuse) and dim in (r.outer, r.inner):
            return None
        if isinstance(r, Split) and r.old == dim:
            outer, inner = _digits(stage, r.outer), _digits(stage, r.inner)
            return None if outer is None or inner is None else outer + inner
    return [dim]
