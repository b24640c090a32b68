"""The loop nest of one stage: from its plan and the region to compute, to statements.

Splits that do not divide are peeled: the nest is made once for the full pieces and once more for
the tail, where extents are names and vectors masked. Inside a tail nothing is peeled again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from hbc.frontend.directives.gpu_atomics import atomic_op
from hbc.frontend.lowering.early_end import (
    ends,
    iteration,
    noted,
    remembered,
    remembers,
)
from hbc.frontend.lowering.filled import filled_with_zeros
from hbc.frontend.lowering.gpu_nest import cut_by_blocks, nests_directly
from hbc.frontend.lowering.loop_kind import loop_kind
from hbc.frontend.lowering.stores import together, traced
from hbc.frontend.lowering.tail_order import rolled_outward
from hbc.frontend.plans.legal import scan_variables
from hbc.frontend.plans.place_on_gpu import THREADS
from hbc.frontend.plans.plan import At, Split, StagePlan, Tail, stage_text, step
from hbc.frontend.program.funcs import Func, values_of
from hbc.frontend.regions.index_values import aligned_values, at_position
from hbc.frontend.regions.joined import in_step, joined_at
from hbc.frontend.regions.nest import Nest, tree_splits
from hbc.frontend.regions.prefetch import prefetch_statements
from hbc.frontend.regions.program import Program, Scope, load_accesses
from hbc.frontend.regions.promises import PROMISES
from hbc.frontend.regions.shared_places import shared_places
from hbc.ir.algebra.bounds import Interval, prove
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, eq, floordiv, ge, gt, le, lt, minimum, mod, mul, sub
from hbc.ir.lang.kernel import Check
from hbc.ir.lang.target import GPU
from hbc.ir.lang.walk import block, contains, free_variables, substitute
from hbc.ir.vectors.vector_masks import conjuncts

AtLevel = Callable[[At, Nest, Scope, Callable[[Scope], ir.Stmt]], ir.Stmt]


@record
class Generator:
    """One stage being turned into loops; `at_level` places the Funcs computed in its loops."""

    program: Program
    func: Func
    at_level: AtLevel


def generate_nest(g: Generator, nest: Nest, scope: Scope) -> ir.Stmt:
    """The loops of a stage over roots `starts[v] .. starts[v] + extents[v] - 1`, and of those joined to it. A
    root with a limit is tested against it where the step's value is stored, unless it is `padded`."""
    main = _generate(g, nest, scope)
    for condition, special in reversed(nest.stage.special):
        then = _generate(g, replace(nest, stage=special), scope)
        main = ir.If(condition, then, main)
    return main


def _generate(g: Generator, nest: Nest, scope: Scope) -> ir.Stmt:
    nest = _promise_exact(g, nest, scope)
    joined = (replace(j, nest=_promise_exact(_of(g, j.nest), j.nest, scope)) for j in nest.joined)
    nest = replace(nest, joined=tuple(joined))
    needs: list[ir.Expr] = []
    for n in (nest, *(j.nest for j in nest.joined)):
        for s in n.stage.relations:
            if isinstance(s, Split) and s.tail is Tail.SHIFT:
                # What is left when an outer split gives its partial piece away.
                fits = ge(n.least_extent(s.old), s.factor)
                known = prove(fits, scope.ranges)
                if known is False:
                    return _loops(g, replace(nest, shifting=False), scope.tail(), 0)
                if known is None:
                    needs.append(simplify(fits))
    shifted = _loops(g, nest, scope, 0)
    if not needs:
        return shifted
    small = _loops(g, replace(nest, shifting=False), scope.tail(), 0)
    return ir.If(and_(*dict.fromkeys(needs)), shifted, small)


def _of(g: Generator, nest: Nest) -> Generator:
    """The same for the Func of a joined step."""
    return replace(g, func=g.program.plan[nest.stage.func].func)


def _promise_exact(g: Generator, nest: Nest, scope: Scope) -> Nest:
    """Splits with `tail = exact` are whole; what cannot be proved is tested on entry."""
    for s in nest.stage.relations:
        if not isinstance(s, Split):
            continue
        if s.tail is not Tail.EXACT or nest.divides(s):
            continue
        extent = nest.extent(s.old)
        if isinstance(extent, ir.Const):
            raise error(
                f"the factor {s.factor} does not divide the extent {extent.value} of `{s.old}`, as "
                "`tail = exact` promises", s.span,
                f"use `tail = mask`, or {_divisors(int(extent.value))} as the factor",
            )  # fmt: skip
        condition = simplify(scope.settled(eq(mod(extent, s.factor), 0)))
        if not free_variables(condition) <= g.program.sizes:
            raise error(
                f"cannot check on entry that {s.factor} divides the extent of `{s.old}`", s.span,
                "`tail = exact` needs an extent made of sizes alone; use `tail = mask`",
            )  # fmt: skip
        text = f"`{stage_text(nest.stage)}` {PROMISES} {s.factor} divides the extent of `{s.old}`"
        g.program.checks.append(Check(condition, text))
        nest = nest.with_whole(s)
    return nest


def _divisors(n: int) -> str:
    divisors = [d for d in range(2, min(n, 512) + 1) if n % d == 0]
    return ", ".join(map(str, divisors[-6:])) or "1"


def _loops(g: Generator, nest: Nest, scope: Scope, depth: int) -> ir.Stmt:
    """The loops from `depth` inward."""
    if scope.in_tail:
        nest = rolled_outward(nest, depth, g.program.plan)
    stage = nest.stage
    if depth == len(stage.loops):
        return _statement(g, nest, scope)
    update = step(g.func, stage.update)
    if not nest.going and remembers(update, stage, depth, g.program):
        nest = replace(nest, going=scope.fresh("going", g.func.name))
        return remembered(nest, _loops(g, nest, scope.named(nest.going), depth))
    loop = stage.loops[depth]
    if nest.has_one_value(loop.dim):
        return _enter(g, nest, scope, depth)
    divided = dict(stage.parted).get(loop.dim)
    if divided is False and any(_partial_splits(nest, loop.dim)):
        scope = scope.tail()  # pieces are as long as they are, instead of full ones and a last one
    if not scope.in_tail and loop.kind not in ir.GPU_LOOPS:
        partial = list(_partial_splits(nest, loop.dim))
        for s in partial:
            in_order = any(j.loops > depth for j in nest.joined) or _is_ordered(g.func, stage, s)
            if nest.is_part(loop.dim, s.outer) or not in_order:
                return _peel(g, nest, scope, depth, s)
        if any(nest.is_made_from(loop.dim, s.outer) for s in partial):
            return _loops(g, nest, scope.tail(), depth)  # last pieces are between others
    kind, extent, guard = loop_kind(g.program, nest, loop, scope)
    from_start = loop.dim in stage.roots and kind not in ir.GPU_LOOPS
    start = nest.starts[loop.dim] if from_start else ir.const_index(0)
    name = scope.fresh(loop.name.replace(".", "_"), g.func.name)
    g.program.roots[name] = stage.root_of(loop.dim)
    last = simplify(sub(add(start, extent), 1))
    inside = scope.bind(name, Interval(start, last)).inside(kind)
    inner = nest.fix(loop.dim, simplify(sub(ir.Var(name), start)))
    if guard is not None and kind in THREADS:
        inner = replace(inner, pending=(*inner.pending, lt(sub(ir.Var(name), start), guard)))
        guard = None
    padded = loop.dim in nest.padded or g.func.name in g.program.padding.filled
    if kind in THREADS and loop.dim in nest.limits and not padded:
        inner = inner.limited(loop.dim)
    guards = () if guard is None else (lt(sub(ir.Var(name), start), guard),)
    body = _enter(g, inner, inside.where(*guards), depth)
    if ends(update, nest, loop):
        body = iteration(nest, name, body)
    if guards:
        body = ir.If(and_(*guards), body)
    # A tail has loops where full pieces have none, and little to gain, but for a GPU's blocks.
    alone = scope.in_tail and g.program.target.machine != GPU
    stages = 1 if alone else dict(stage.pipelined).get(loop.dim, 1)
    first = next((x for x in stage.loops if x.kind is ir.LoopKind.BLOCK), None)
    marks = replace(
        stage.marks if loop is first else ir.NO_MARKS, stages=stages,
        parted=None if divided is None else int(divided),
    )  # fmt: skip
    return ir.For(name, start, extent, kind, body, loop.note, loop.span, marks)


def _partial_splits(nest: Nest, dim: str) -> Iterator[Split]:
    """The splits of this dimension's variables that may have a partial last piece here."""
    for s in tree_splits(nest.stage, dim):
        settled = s in nest.whole or nest.divides(s) or nest.shifts(s) or s.outer in nest.fixed
        settled = settled or nest.is_shared_out(s)
        if not settled and not nest.has_one_value(s.old) and s not in nest.bases:
            yield s


def _is_ordered(func: Func, stage: StagePlan, s: Split) -> bool:
    """Whether the steps that the split divides must stay in order, so that its last piece comes last
    where its outer half is one loop, and not further out."""
    update = step(func, stage.update)
    return update is not None and not stage.root_of(s.old).isdisjoint(scan_variables(func, update))


def _peel(g: Generator, nest: Nest, scope: Scope, depth: int, s: Split) -> ir.Stmt:
    """The nest for the full pieces of a split, then for its tail."""
    extent = nest.extent(s.old)
    pieces = simplify(floordiv(extent, s.factor))
    covered = simplify(mul(pieces, s.factor))
    full: ir.Stmt = ir.Block(())
    if not (isinstance(pieces, ir.Const) and pieces.value == 0):
        whole = replace(nest.with_whole(s), extents={**nest.extents, s.old: covered})
        full = _loops(g, whole, scope, depth)
    name = scope.fresh(f"{_word(s.old)}_tail", g.func.name)
    # Vectors keep all their lanes in the tail, and so does what is computed for them.
    most = s.factor if _is_masked_vector(g, nest, s) else s.factor - 1
    remainder = simplify(mod(extent, s.factor))
    left = sub(extent, covered)  # of which more is known than of a remainder
    inside = scope.tail().bind(name, Interval(ir.const_index(1), ir.const_index(most)), left)
    rest: ir.Expr = ir.Var(name)
    if isinstance(remainder, ir.Const):
        rest, inside = remainder, scope.tail()
    cut = {} if s.old in nest.padded else {s.inner: rest}
    tail = _loops(g, nest.in_tail(s, simplify(sub(extent, rest)), pieces, cut), inside, depth)
    if isinstance(remainder, ir.Const):
        return block(full, tail)
    return block(full, ir.LetStmt(name, remainder, ir.If(gt(ir.Var(name), 0), tail)))


def _is_masked_vector(g: Generator, nest: Nest, s: Split) -> bool:
    """Whether the tail of the split is one vector under a mask, or several unrolled ones."""
    kinds = {x.kind for x in nest.stage.loops if nest.is_part(x.dim, s.inner)}
    vectors = ir.LoopKind.VECTOR in kinds and kinds <= {ir.LoopKind.VECTOR, ir.LoopKind.UNROLL}
    return vectors and s.tail is Tail.MASK and g.program.target.vector_bits > 0


def _enter(g: Generator, nest: Nest, scope: Scope, depth: int) -> ir.Stmt:
    """Inside loop `depth`. A GPU's block that has all of its piece gets code of its own."""
    stage = nest.stage
    if nests_directly(stage, depth):
        return _loops(g, nest, scope, depth + 1)
    if nest.pending:
        within = _enter(g, replace(nest, pending=()), scope.where(*nest.pending), depth)
        return ir.If(and_(*nest.pending), within)
    cut = () if scope.in_tail else cut_by_blocks(nest, stage.loops[depth])
    if not cut:
        return _inside(g, nest, scope, depth)
    tail = _inside(g, nest, scope.tail(), depth)
    if any(s.tail is Tail.GUARD for s in cut):
        return tail
    fits = [le(add(nest.base(s), s.factor), nest.extent(s.old)) for s in cut]
    whole = replace(nest, whole=nest.whole.union(cut))
    return ir.If(simplify(and_(*fits)), _inside(g, whole, scope.where(*fits), depth), tail)


def _inside(g: Generator, nest: Nest, scope: Scope, depth: int) -> ir.Stmt:
    """Inside loop `depth`: name what has become known, prefetch, place producers, go on."""
    stage = nest.stage
    loop = stage.loops[depth]
    entered = nest  # where pieces of this loop begin is not settled, but for later iterations too
    names: list[tuple[str, ir.Expr]] = []
    for s in stage.relations:
        if isinstance(s, Split) and s not in nest.bases and nest.is_determined(s.outer):
            nest, scope, bound = _settle(g, nest, scope, s)
            names += bound
    level = At(stage.func, stage.update, loop.name)
    ahead: list[ir.Stmt] = []
    for n in (entered, *joined_at(entered, loop.name)):
        ahead += prefetch_statements(_of(g, n).func, n, loop.dim, scope)
    inner = g.at_level(level, nest, scope, lambda inside: _steps(g, nest, inside, depth + 1))
    body = block(*ahead, inner)
    for name, value in reversed(names):
        body = ir.LetStmt(name, value, body)
    return body


def _steps(g: Generator, nest: Nest, scope: Scope, depth: int) -> ir.Stmt:
    """The loops from `depth` inward, and those of the steps that share no more than the ones around."""
    joined = [in_step(nest, j) for j in nest.joined if j.loops == depth]
    alone = not any(j.loops > depth for j in nest.joined)
    own = _where_needed(g, nest, scope, depth) if alone else _loops(g, nest, scope, depth)
    return block(own, *(_where_needed(_of(g, n), n, scope, depth) for n in joined))


def _where_needed(g: Generator, nest: Nest, scope: Scope, depth: int) -> ir.Stmt:
    """The same of one step, where the loops around are not beyond what it needs."""
    known = [root for root in nest.within if nest.is_determined(root)]
    if not known:
        return _loops(g, nest, scope, depth)
    rest = {root: ends for root, ends in nest.within.items() if root not in known}
    reached = nest.reached(known)
    body = _loops(g, replace(nest, within=rest), scope.where(*reached), depth)
    return ir.If(and_(*reached), body)


def _settle(
    g: Generator, nest: Nest, scope: Scope, s: Split
) -> tuple[Nest, Scope, list[tuple[str, ir.Expr]]]:
    """The outer half of a split is fixed: where its piece begins, and how long it is."""
    start = simplify(mul(nest.offset(s.outer), s.factor))
    extent = nest.extent(s.old)
    names: list[tuple[str, ir.Expr]] = []
    if nest.shifts(s) and s not in nest.whole and not nest.divides(s):
        last = simplify(sub(extent, s.factor))
        name = scope.fresh(f"{_word(s.old)}_base", g.func.name)
        names.append((name, minimum(start, last)))
        scope = scope.bind(name, Interval(ir.const_index(0), last), minimum(start, last))
        start = ir.Var(name)
    elif s in nest.whole or nest.divides(s) or s.inner in nest.extents or s.old in nest.padded:
        pass
    elif nest.is_touched(s.inner):
        # Loops over parts of the inner half are open already, and run over its full extent.
        nest = replace(nest, guarded=nest.guarded | {s})
    else:
        name = scope.fresh(f"{_word(s.old)}_n", g.func.name)
        length = simplify(minimum(sub(extent, start), s.factor))
        names.append((name, length))
        scope = scope.bind(name, Interval(ir.const_index(1), ir.const_index(s.factor)), length)
        nest = replace(nest, extents={**nest.extents, s.inner: ir.Var(name)})
    return replace(nest, bases={**nest.bases, s: start}), scope, names


def _statement(g: Generator, nest: Nest, scope: Scope) -> ir.Stmt:
    """The innermost statement: the step's store, under the conditions that guard it."""
    func, stage = g.func, nest.stage
    update = step(func, stage.update)
    values = {root: nest.value(root) for root in stage.roots}
    indices = tuple(ir.Var(v) for v in func.variables) if update is None else update.indices
    value = func.pure if update is None else update.value
    conditions = [
        lt(nest.offset(s.old), nest.extent(s.old))
        for s in nest.stage.relations
        if isinstance(s, Split) and s in nest.guarded
    ]
    conditions += nest.reached(nest.within)
    limits = {root: lt(nest.offset(root), limit) for root, limit in nest.limits.items()}
    filled = func.name in g.program.padding.filled
    if not filled:
        conditions += [c for root, c in limits.items() if root not in nest.padded]
    where: ir.Expr | None = None
    padding = g.program.padding
    adds_zeros = func.name in padding.whole and func.name not in padding.asking
    if update is not None and update.condition is not None and not adds_zeros:
        where = load_accesses(substitute(update.condition, values), scope)
        conditions += shared_places(g.program, func, nest, update, where, scope)
    aligned = aligned_values(nest)
    place = tuple(load_accesses(at_position(i, values, aligned), scope) for i in indices)
    span = func.span if update is None else update.span
    op = atomic_op(func, stage)
    stores: list[ir.Store] = []
    for part, e in zip(func.parts, values_of(value), strict=True):
        storage = scope.storages[part.name]
        stored = load_accesses(at_position(e, values, aligned), scope)
        if op is not None and isinstance(stored, ir.Binary):
            stored = stored.b
        at = storage.offset(place)
        stores.append(ir.Store(storage.buffer, at, stored, None, span, atomic=op))
    store = together(stores, scope)
    if filled and isinstance(store, ir.Store):
        vectors = [x.dim for x in stage.loops if x.kind is ir.LoopKind.VECTOR]
        apart = frozenset[str]().union(*(stage.root_of(dim) for dim in vectors))
        store = filled_with_zeros(store, limits, apart)
    if func.name in g.program.traced:
        store = block(store, *traced(stage, stores, place))
    if nest.going:
        store = noted(nest, store)
    if where is not None and contains(where, ir.Load):
        parts = conjuncts(where)
        while not contains(parts[0], ir.Load):
            conditions.append(parts.pop(0))
        store = ir.If(and_(*parts), store)  # read only where there is something to read
    elif where is not None:
        conditions.append(where)
    return ir.If(and_(*conditions), store) if conditions else store


def _word(dim: str) -> str:
    return dim.replace(".", "_")
