"""Rewrites of the Func graph before loops exist: inlining, and wrapper Funcs for `X.in(consumer)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from hbc.frontend.plans.inline_limit import refuse_giants
from hbc.frontend.plans.plan import Inline, Plan
from hbc.frontend.program.funcs import Func, Pipeline, Update
from hbc.ir.ground.diag import did_you_mean, error
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import nodes_of, rewrite, substitute


def wrapper_name(name: str, consumer: str) -> str:
    """The Func that `name.in(consumer)` makes."""
    return f"{name}_in_{consumer}"


def map_func(func: Func, f: Callable[[ir.Expr], ir.Expr]) -> Func:
    """The Func with `f` applied to every expression of every step; the same object if unchanged."""
    pure = f(func.pure)
    updates = tuple(_map_update(u, f) for u in func.updates)
    if pure is func.pure and all(a is b for a, b in zip(updates, func.updates, strict=True)):
        return func
    return replace(func, pure=pure, updates=updates)


def _map_update(u: Update, f: Callable[[ir.Expr], ir.Expr]) -> Update:
    indices = tuple(f(i) for i in u.indices)
    value = f(u.value)
    condition = None if u.condition is None else f(u.condition)
    same = all(a is b for a, b in zip(indices, u.indices, strict=True))
    if same and value is u.value and condition is u.condition:
        return u
    return replace(u, indices=indices, value=value, condition=condition)


def inline_funcs(plan: Plan) -> Plan:
    """The plan without its inlined Funcs: each access becomes the value at those indices. HbcError
    for a formula that would become too long or too deep."""
    values: dict[str, Func] = {}
    copies = count(1)
    refuse_giants(plan)

    def expand(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Access) and e.name in values:
            func = values[e.name]
            # An index may hold a copy of the same value, inside of its own names.
            value = _with_own_names(func.value(e.part), copies)
            return substitute(value, dict(zip(func.variables, e.indices, strict=True)))
        return e

    kept: Plan = {}
    for name, f in plan.items():
        func = map_func(f.func, lambda e: rewrite(e, expand)) if values else f.func
        if isinstance(f.compute, Inline):
            values[name] = func
        else:
            kept[name] = f if func is f.func else replace(f, func=func)
    return kept


def _with_own_names(e: ir.Expr, copies: Iterator[int]) -> ir.Expr:
    """The expression with its `let`s bound to names that no other copy has."""

    def rename(n: ir.Expr) -> ir.Expr:
        if not isinstance(n, ir.Let):
            return n
        name = f"{n.name}.{next(copies)}"
        body = substitute(n.body, {n.name: ir.Var(name, n.value.type)})
        return ir.Let(name, n.value, body, n.span)

    return rewrite(e, rename)


def wrap_accesses(pipeline: Pipeline, name: str, consumer: str, span: Span | None) -> Pipeline:
    """Adds the Func `name_in_consumer`, a copy of `name`, which `consumer` reads instead.

    Its variables are those of the Func it copies; for an input, the first variable in each index of
    the consumer's access (`B[k, j]` gives k, j), or `_d` for dimension d where there is none."""
    new = wrapper_name(name, consumer)
    funcs = {f.name: f for f in pipeline.funcs}
    if new in funcs:
        return pipeline
    if consumer not in funcs:
        raise error(f"no Func `{consumer}` reads `{name}`", span, did_you_mean(consumer, funcs))
    reads = [a for e in _expressions(funcs[consumer]) for a in _accesses(e, name)]
    if not reads:
        read = sorted({a.array for e in _expressions(funcs[consumer]) for a in _accesses(e)})
        others = ", ".join(f"`{r}`" for r in read)
        raise error(
            f"`{consumer}` does not read `{name}`", span,
            did_you_mean(name, read) or (f"it reads {others}" if read else None),
        )  # fmt: skip
    read_name, part = reads[0].name, reads[0].part
    variables = funcs[read_name].variables if read_name in funcs else _index_names(reads[0])
    element = reads[0].type.element
    access = ir.Access(
        read_name, tuple(ir.Var(v) for v in variables), reads[0].type, reads[0].span, part
    )
    wrapper = Func(new, element, variables, access, span=span)

    def redirect(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Access) and e.array == name:
            return ir.Access(new, e.indices, e.type, e.span)
        return e

    out: list[Func] = []
    for f in pipeline.funcs:
        if f.name == consumer:
            out += [wrapper, map_func(f, lambda e: rewrite(e, redirect))]
        else:
            out.append(f)
    return replace(pipeline, funcs=tuple(out))


def _index_names(access: ir.Access) -> tuple[str, ...]:
    names: list[str] = []
    for d, index in enumerate(access.indices):
        names_of_index = [n.name for n in nodes_of(index, ir.Var) if n.name not in names]
        names.append(names_of_index[0] if names_of_index else f"_{d}")
    return tuple(names)


def _expressions(func: Func) -> list[ir.Expr]:
    expressions = [func.pure]
    for u in func.updates:
        expressions += [u.value, *u.indices, *(() if u.condition is None else (u.condition,))]
    return expressions


def _accesses(e: ir.Expr, name: str | None = None) -> list[ir.Access]:
    return [n for n in nodes_of(e, ir.Access) if name in (None, n.array)]
