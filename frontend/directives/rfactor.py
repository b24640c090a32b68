"""`rfactor`: splits a reduction into partial results over a new pure variable, then their sum.

    acc[i] += f(k)   .split(k, ko, ki, 8).rfactor(ki, u)
->  acc_u[i, u] = 0;  acc_u[i, u] += f(ko * 8 + u);  acc[i] += acc_u[i, ki] over ki in 8
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.directives.loops import find, names
from hbc.frontend.plans.operators import Operator, as_value, operator_of, read_all
from hbc.frontend.plans.plan import (
    FuncPlan,
    Plan,
    Split,
    StagePlan,
    default_plan,
    default_stage,
    stage_text,
    step,
)
from hbc.frontend.program.funcs import Directive, Func, Part, Pipeline, ReduceVar, Update
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, const, floordiv, lt, mul
from hbc.ir.lang.walk import substitute


def rfactor(
    pipeline: Pipeline, plan: Plan, f: FuncPlan, stage: StagePlan, d: Directive
) -> Pipeline:
    """Partial results over a new variable: the Func `FUNC_VARIABLE`, added to the pipeline and the plan."""
    loop_name, variable = names(d, 2)
    update = step(f.func, stage.update)
    operator = None if update is None else operator_of(f.func, stage.update or 0)
    if update is None or operator is None:
        several = (
            ", and on a `select` that keeps the better value with its place: the only reduction "
            "variable, which begins with a number not above its first"
        )
        raise error(
            f"`{stage_text(stage)}` is not an associative reduction, so it cannot be factored",
            d.span, "`rfactor` works on `+= *= min= max= |= &= ^=` whose term does not read the Func"
            + (several if f.func.others else ""),
        )  # fmt: skip
    loop = find(stage, loop_name, d)
    if not stage.root_of(loop.dim) <= stage.reduce:
        along = [f"`{x.name}`" for x in stage.loops if stage.root_of(x.dim) <= stage.reduce]
        raise error(
            f"`{loop_name}` is not a loop of the reduction", d.span,
            f"name one of its loops: {', '.join(along)}" if along else None,
        )  # fmt: skip
    name = f"{f.func.name}_{variable}"
    if name in plan or variable in f.func.variables:
        raise error(f"`{name}` already exists", d.span, "choose another variable name")
    ranges = {r.name: (r.start, r.extent) for r in update.reduce}
    values, domain, condition = _split_domain(stage, ranges, update.condition, d)
    variables = (*f.func.variables, variable)
    parts = [Part(f"{p.name}_{variable}", p.element) for p in f.func.parts]
    begun = tuple(const(e, p.element) for e, p in zip(operator.identity, parts, strict=True))
    partial = Func(
        name, f.func.element, variables, begun[0] if len(begun) == 1 else ir.Tuple(begun), span=d.span,
        others=tuple(parts[1:]),
    )  # fmt: skip
    partial_update = _partial(partial, update, operator, values, domain, condition, loop.dim)
    partial = replace(partial, updates=(partial_update,))
    combined = _combine(f.func, partial, operator, ReduceVar(loop_name, *domain[loop.dim], d.span))
    at = stage.update or 0
    func = replace(f.func, updates=(*f.func.updates[:at], combined, *f.func.updates[at + 1 :]))
    stages = (*f.stages[: at + 1], default_stage(func, at), *f.stages[at + 2 :])
    order = list(plan.items())
    plan.clear()
    for key, value in order:
        if key == f.func.name:
            plan[name] = default_plan(partial, False)
            value = replace(f, func=func, stages=stages)
        plan[key] = value
    funcs: list[Func] = []
    for g in pipeline.funcs:
        funcs += [partial, func] if g.name == func.name else [g]
    return replace(pipeline, funcs=tuple(funcs))


Domain = dict[str, tuple[ir.Expr, ir.Expr]]


def _split_domain(
    stage: StagePlan, ranges: Domain, condition: ir.Expr | None, d: Directive
) -> tuple[dict[str, ir.Expr], Domain, ir.Expr | None]:
    """Values of the original reduction variables in terms of the loops', those loops' ranges, and
    the condition that guards partial pieces."""
    domain: Domain = dict(ranges)
    values: dict[str, ir.Expr] = {name: ir.Var(name) for name in ranges}
    for r in stage.relations:
        if not isinstance(r, Split):
            if stage.root_of(r.fused) & stage.reduce:
                raise error(
                    "`rfactor` does not work on fused loops", d.span,
                    "name one of the loops that were fused, in a line before `fuse` or without it",
                )  # fmt: skip
            continue
        if r.old not in domain:
            continue
        start, extent = domain.pop(r.old)
        factor = ir.const_index(r.factor)
        pieces = floordiv(add(extent, ir.const_index(r.factor - 1)), factor)
        domain[r.outer], domain[r.inner] = (ir.const_index(0), pieces), (ir.const_index(0), factor)
        offset = add(mul(ir.Var(r.outer), factor), ir.Var(r.inner))
        whole = {r.old: add(start, offset)}
        values = {k: substitute(v, whole) for k, v in values.items()}
        if condition is not None:  # what an outer split asks for speaks of what this one divides
            condition = substitute(condition, whole)
        if not (isinstance(extent, ir.Const) and int(extent.value) % r.factor == 0):
            guard = lt(offset, extent)
            # First: the condition may read data, which are there only where it holds.
            condition = guard if condition is None else and_(guard, condition)
    return values, domain, condition


def _partial(
    partial: Func, update: Update, operator: Operator, values: dict[str, ir.Expr], domain: Domain,
    condition: ir.Expr | None, dim: str,
) -> Update:  # fmt: skip
    """`name[indices, u] op= term`, the factored loop having become the variable u."""
    variable = partial.variables[-1]
    rename = {dim: ir.Var(variable)}
    values = {k: substitute(v, rename) for k, v in values.items()}
    indices = tuple(substitute(i, values) for i in update.indices)
    terms = tuple(substitute(e, values) for e in operator.terms)
    rest = tuple(
        ReduceVar(n, lo, extent, update.span) for n, (lo, extent) in domain.items() if n != dim
    )
    where = None if condition is None else substitute(condition, rename)
    place = (*indices, ir.Var(variable))
    value = as_value(operator.taken(read_all(partial, place), terms))
    return Update(place, value, update.op, rest, where, update.span)


def _combine(func: Func, partial: Func, operator: Operator, r: ReduceVar) -> Update:
    """`f[variables] op= name[variables, r]`: at every point, whatever indices were scattered to."""
    place = tuple(ir.Var(v) for v in func.variables)
    parts = read_all(partial, (*place, ir.Var(r.name)))
    value = as_value(operator.joined(read_all(func, place), parts))
    op = value.op if isinstance(value, ir.Binary) else None
    return Update(place, value, op, (r,), None, partial.updates[0].span)
