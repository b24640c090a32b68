"""`cache_write`: a Func is computed in another one, of which it becomes the copy.

    C[i] = 0;  C[i] += f(k)      C.cache_write(acc)
->  C_acc[i] = 0;  C_acc[i] += f(k);  C[i] = C_acc[i]

So sums of an output, which is memory of the caller, can be kept in registers, tiles or fragments.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.directives.loops import names
from hbc.frontend.plans.inline import map_func
from hbc.frontend.plans.operators import as_value, read_all
from hbc.frontend.plans.plan import stage_text
from hbc.frontend.program.funcs import Directive, Func, Pipeline, Schedule, Stage
from hbc.ir.ground.diag import error
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import rewrite

CACHE_WRITE = "cache_write"


def cache_write(pipeline: Pipeline, schedule: Schedule, _gpu: bool) -> Pipeline:
    """Computed in a Func of its own, `FUNC_NAME`, of which it becomes a copy: sums of outputs too."""
    for line in schedule.lines:
        for d in line.directives:
            if d.name == CACHE_WRITE:
                pipeline = _done(pipeline, line.stage, d)
    return pipeline


def _done(pipeline: Pipeline, stage: Stage, d: Directive) -> Pipeline:
    if stage.update is not None or stage.consumer is not None:
        raise error(
            f"`{d.name}` speaks of a whole Func, not of `{stage_text(stage)}`", d.span,
            f"write `{stage.name}.{d.name}(...)`" if stage.consumer is None else
            f"a copy has no sums: leave `{d.name}` out",
        )  # fmt: skip
    (suffix,) = names(d, 1)
    return cached(pipeline, stage.name, suffix, d.span)


def cached(pipeline: Pipeline, name: str, suffix: str, span: Span | None = None) -> Pipeline:
    """With the Func `NAME_SUFFIX` that has all steps of `name`, and `name` as its copy."""
    func = next((f for f in pipeline.funcs if f.name == name), None)
    if func is None:
        raise error(
            f"no Func `{name}` is computed that `{CACHE_WRITE}` could split", span,
            "it is for Funcs of the program, not for what other directives make",
        )  # fmt: skip
    taken = {p.name for f in pipeline.funcs for p in f.parts} | {i.name for i in pipeline.inputs}
    wanted = cached_func(func, suffix)
    for part in wanted.parts:
        if part.name in taken:
            raise error(f"`{part.name}` already exists", span, "choose another name")
    both = wanted, copy_of(func, wanted)
    funcs = (x for f in pipeline.funcs for x in (both if f is func else (f,)))
    return replace(pipeline, funcs=tuple(funcs))


def cached_func(func: Func, suffix: str) -> Func:
    """The same steps under the name `NAME_SUFFIX`, where they read what it has so far too."""
    own = {p.name for p in func.parts}
    renamed = f"{func.name}_{suffix}"

    def redirect(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Access) and e.name == func.name and e.array in own:
            return ir.Access(renamed, e.indices, e.type, e.span, e.part and f"{e.part}_{suffix}")
        return e

    parts = tuple(replace(p, name=f"{p.name}_{suffix}") for p in func.others)
    return replace(map_func(func, lambda e: rewrite(e, redirect)), name=renamed, others=parts)


def copy_of(func: Func, cached: Func) -> Func:
    """The Func that has its values from the other one."""
    place = tuple(ir.Var(v) for v in func.variables)
    return replace(func, pure=as_value(read_all(cached, place)), updates=())
