"""Proves that every read of an array lies inside it: what cannot is an error, what depends on the
sizes becomes a requirement, tested when the kernel is called.

From the outputs to the inputs: the ranges that the readers of a Func need are the ranges of its own
loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import reduce

from hbc.frontend.program.funcs import Func, Image, Pipeline, ReduceVar, Requirement, Update
from hbc.frontend.program.index_ranges import Values, narrowed, range_of
from hbc.frontend.program.outside import leaves, report_outside, report_unbounded, requirement
from hbc.frontend.program.prove import SizeFacts
from hbc.frontend.program.ranges import (
    Clauses,
    SymbolicRange,
    add,
    between,
    both,
    exactly,
    negate,
    scale,
    union,
)
from hbc.frontend.program.scope import Scope
from hbc.ir.algebra.facts import implied
from hbc.ir.algebra.linear import Linear, canonical, linear, minus, plus, shifted, to_expr
from hbc.ir.ground.record import mutable, record
from hbc.ir.ground.source import Span
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import children, nodes_of


@mutable
class Proof:
    """What is known while the Funcs are visited, readers first."""

    scope: Scope
    values: Values
    arrays: dict[str, tuple[ir.Expr, ...]]  # extents of inputs, outputs and tables
    outputs: Mapping[str, Image]
    facts: SizeFacts
    needed: dict[str, list[SymbolicRange]] = field(default_factory=dict)
    found: list[Requirement] = field(default_factory=list)
    bounded: dict[str, Func] = field(default_factory=dict)


@record
class Place:
    """Where a read stands: the ranges of the variables around it, and what `where` says of them."""

    ranges: dict[str, SymbolicRange]
    places: dict[str, Span | None]
    facts: SizeFacts
    guards: tuple[Linear, ...] = ()


def check_bounds(p: Pipeline, scope: Scope) -> tuple[tuple[Requirement, ...], dict[str, Func]]:
    """All requirements: those of the file, and those that reads turned out to need. Also, by name, the Funcs
    whose reductions run over intervals of data or of variables, now that these have bounds."""
    funcs = {f.name: f for f in p.funcs}
    values = Values(funcs, scope.bounds, scope.tables)
    arrays = {i.name: i.extents for i in (*p.inputs, *p.outputs)}
    for f in p.funcs:
        if f.table_shape is not None:
            arrays[f.name] = tuple(ir.const_index(n) for n in f.table_shape)
    arrays |= {name: o.extents for name, o in p.output_funcs.items()}
    proof = Proof(scope, values, arrays, p.output_funcs, stated(p))
    for image in (*p.inputs, *p.outputs):
        extents_hold(image, proof)
    for f in reversed(p.funcs):
        if f.name in proof.outputs:
            proof.needed[f.name] = [
                between(Linear(0), shifted(linear(e), -1)) for e in arrays[f.name]
            ]
        if f.name in proof.needed and f.table_shape is None:
            visit(bounded_ends(f, proof), proof)
    return (*p.requirements, *proof.found), proof.bounded


def stated(p: Pipeline) -> SizeFacts:
    """What `require` and fixed sizes say."""
    facts = SizeFacts()
    for r in p.requirements:
        for form in implied(r.condition):
            facts.learn(form)
    for size in p.sizes:
        if size.fixed is not None:
            form = linear(ir.Var(size.name))
            facts.learn(shifted(form, -size.fixed))
            facts.learn(minus(Linear(size.fixed), form))
    return facts


def extents_hold(image: Image, proof: Proof) -> None:
    """Extents such as H - T + 1 must not be negative. (H + T - 1 is only where both sizes are 0;
    no loop runs then.)"""
    for at, e in enumerate(image.extents):
        form = linear(e)
        ones = [linear(ir.Var(s)) for s in proof.scope.sizes]
        if proof.facts.extended([shifted(one, -1) for one in ones]).prove(form):
            continue
        span = image.span
        if proof.facts.prove(shifted(minus(Linear(0), form), -1)):
            found = f"the extent `{show(e)}` of `{image.name}` is negative for all sizes"
            proof.scope.report(found, span)
            continue
        message = f"extent {at} of `{image.name}` is negative"
        proof.found.append(requirement((((form,),)), message, span))
        proof.facts.learn(form)


def bounded_ends(f: Func, proof: Proof) -> Func:
    """The Func with an interval over the sizes for each reduction variable whose ends read more: one that
    holds all of them, for the points that readers need."""
    if not any(r.ends for u in f.updates for r in u.reduce):
        return f
    updates = []
    for u in f.updates:
        ranges = dict(pure_place(f, proof).ranges)
        bounded: list[ReduceVar] = []
        for r in u.reduce:
            bounded.append(r if r.ends is None else bounded_reduce(r, r.ends, ranges, proof))
            ranges[r.name] = reduce_range(bounded[-1])
        updates.append(replace(u, reduce=tuple(bounded)))
    proof.bounded[f.name] = replace(f, updates=tuple(updates))
    return proof.bounded[f.name]


def bounded_reduce(
    r: ReduceVar, ends: tuple[ir.Expr, ir.Expr], ranges: Mapping[str, SymbolicRange], proof: Proof
) -> ReduceVar:
    low, high = (range_of(e, ranges, proof.values) for e in ends)
    if not low.low or not high.high:
        end = ends[0] if not low.low else ends[1]
        side = "begins" if not low.low else "ends"
        data = next((a.name for a in accesses(end)), None)
        text = " ".join(end.span.text.split()) if end.span else "there"
        hint = f"write `clamp({text}, 0, N)`, with a size in the place of N"
        if data is not None and data not in proof.scope.bounds:
            hint = f"promise it, `bound {data} in 0 .. N + 1`, or " + hint
        proof.scope.report(
            f"nothing says where `{r.name}` {side} at the {'least' if not low.low else 'most'}: `{text}`",
            end.span or r.span, hint,
        )  # fmt: skip
        return replace(r, ends=None)
    start = reduce(build.minimum, map(to_expr, low.low[0]))
    stop = reduce(build.maximum, map(to_expr, high.high[0]))
    return replace(
        r, start=start, extent=to_expr(linear(build.sub(stop, start))), ends=None, narrow=True
    )


def visit(f: Func, proof: Proof) -> None:
    """The reads of a Func whose needed ranges are complete, and its own writes."""
    for u in f.updates:
        own(f, u, proof)
    place = pure_place(f, proof)
    walk(f.pure, place, f, proof)
    for u in f.updates:
        inner = update_place(f, u, proof)
        for e in (*u.indices, u.value):
            walk(e, inner, f, proof)
        if u.condition is not None:  # evaluated at every point, whether it holds there or not
            walk(u.condition, update_place(f, replace(u, condition=None), proof), f, proof)


def pure_place(f: Func, proof: Proof) -> Place:
    box = proof.needed[f.name]
    ranges = dict(zip(f.variables, box, strict=True))
    facts = proof.facts.extended([x for r in box for x in not_empty(r)])
    return Place(ranges, dict.fromkeys(f.variables, f.span), facts)


def update_place(f: Func, u: Update, proof: Proof) -> Place:
    outer = pure_place(f, proof)
    ranges, places, more = dict(outer.ranges), dict(outer.places), []
    for r in u.reduce:
        ranges[r.name] = reduce_range(r)
        places[r.name] = r.span
        more += not_empty(ranges[r.name])
    guards = tuple(implied(u.condition)) if u.condition is not None else ()
    sizes_only = [g for g in guards if not any(v in ranges for v in names(g))]
    return Place(ranges, places, outer.facts.extended(more + sizes_only), guards)


def names(form: Linear) -> list[str]:
    return [atom.name for atom, _ in form.terms if isinstance(atom, ir.Var)]


def reduce_range(r: ReduceVar) -> SymbolicRange:
    start = linear(r.start)
    return between(start, shifted(plus(start, linear(r.extent)), -1))


def not_empty(r: SymbolicRange) -> list[Linear]:
    """Inside a loop its range is not empty."""
    if len(r.low) == len(r.high) == 1 and len(r.low[0]) == len(r.high[0]) == 1:
        return [minus(r.high[0][0], r.low[0][0])]
    return []


def own(f: Func, u: Update, proof: Proof) -> None:
    """Widens the needed range of a Func to what its update writes and reads of itself."""
    place = update_place(f, u, proof)
    reads = [a for a in accesses(u.value) if a.name == f.name]
    if all(a.indices != u.indices for a in reads):
        reads.append(ir.Access(f.name, u.indices, f.element(), u.span))
    for access in reads:
        for at, i in enumerate(access.indices):
            if isinstance(i, ir.Var) and i.name == f.variables[at]:
                continue
            reach(access, at, index_range(i, place, proof), place, proof)


def accesses(e: ir.Expr) -> list[ir.Access]:
    return list(nodes_of(e, ir.Access))


def walk(e: ir.Node, place: Place, f: Func, proof: Proof) -> None:
    """Every read in the expression, `let` taken into account."""
    match e:
        case ir.Let(name=name, value=value, body=body):
            walk(value, place, f, proof)
            inner = {**place.ranges, name: range_of(value, place.ranges, proof.values)}
            walk(body, Place(inner, place.places, place.facts, place.guards), f, proof)
            return
        case ir.Access(name=name, indices=indices):
            if name != f.name:
                for at, i in enumerate(indices):
                    reach(e, at, index_range(i, place, proof), place, proof)
        case _:
            pass
    for child in children(e):
        walk(child, place, f, proof)


def index_range(i: ir.Expr, place: Place, proof: Proof) -> SymbolicRange:
    """The range of an index as written and in normal form, where terms such as i - i / 2 * 2
    meet: the better of both."""
    written = range_of(i, place.ranges, proof.values)
    normal = canonical(i)
    if isinstance(normal, (ir.Var, ir.Const)) or normal == i:
        return range_of(normal, place.ranges, proof.values)
    return both(written, range_of(normal, place.ranges, proof.values))


def reach(access: ir.Access, at: int, r: SymbolicRange, place: Place, proof: Proof) -> None:
    """Dimension `at` of a read: inside the array, or within what the Func is needed for."""
    name = access.name
    if name in proof.arrays:
        inside(access, at, r, place, proof)
        return
    if not r.bounded:
        report_unbounded(access, at, proof.scope)
        return
    index = access.indices[at]
    guards = [g for g in place.guards if bears_on(g, index, place)]
    r = narrowed(index, r, guards, lambda e: range_of(e, place.ranges, proof.values))
    rank = len(access.indices)
    box = proof.needed.setdefault(name, [SymbolicRange((), ())] * rank)
    box[at] = r if box[at] == SymbolicRange((), ()) else union(box[at], r)


def bears_on(guard: Linear, index: ir.Expr, place: Place) -> bool:
    """Whether they have a term in common besides sizes. What a condition says of sizes alone holds where its
    loops run; of the Func that is read there is as much elsewhere."""
    common = {*linear(index).keys} & {*guard.keys}
    return any(
        key in common and (not isinstance(atom, ir.Var) or atom.name in place.ranges)
        for key, (atom, _) in zip(guard.keys, guard.terms, strict=True)
    )


def inside(access: ir.Access, at: int, r: SymbolicRange, place: Place, proof: Proof) -> None:
    """Proves 0 <= index < extent, or reports it, or makes it a requirement."""
    extent = linear(proof.arrays[access.name][at])
    index = access.indices[at]
    low = SymbolicRange(r.low, r.high)
    room = add(exactly(shifted(extent, -1)), negate(r))
    for side, below in ((low, True), (room, False)):
        if not side.low:
            report_unbounded(access, at, proof.scope)
            return
        if holds(side.low, place.facts) or guarded(index, extent, below, place, proof):
            continue
        if fails(side.low, place.facts):
            report_outside(access, at, r, extent, below, place.ranges, place.places, proof.scope)
            return
        made = requirement(side.low, leaves(access, at, below, side.low, extent), access.span)
        if all(made.condition != earlier.condition for earlier in proof.found):
            proof.found.append(made)
        if len(side.low) == 1:
            for form in side.low[0]:
                proof.facts.learn(form)


def holds(clauses: Clauses, facts: SizeFacts) -> bool:
    """Some bound is at least 0 in all its forms."""
    return any(all(facts.prove(f) for f in clause) for clause in clauses)


def fails(clauses: Clauses, facts: SizeFacts) -> bool:
    """Every bound is negative for all sizes."""
    return all(
        any(facts.prove(shifted(minus(Linear(0), f), -1)) for f in clause) for clause in clauses
    )


def guarded(index: ir.Expr, extent: Linear, below: bool, place: Place, proof: Proof) -> bool:
    """Does one condition of `where`, with the ranges, keep the index inside?"""
    form = linear(index)
    room = form if below else minus(shifted(extent, -1), form)
    for guard in place.guards:
        rest = minus(room, guard)
        total = exactly(Linear(rest.constant))
        for atom, c in rest.terms:
            part = range_of(atom, place.ranges, proof.values)
            total = add(total, scale(part, c))
        if total.low and holds(total.low, place.facts):
            return True
    return False
