"""`flatten`: two dimensions of an output are one from the start, over all pixels of arrays without gaps."""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.directives.loops import names
from hbc.frontend.plans.flat import Site, flattened, keeps_pixel, site_of
from hbc.frontend.program.funcs import Directive, Pipeline, Schedule, ScheduleLine, Stage
from hbc.ir.ground.diag import error

FLATTEN = "flatten"


def flatten(pipeline: Pipeline, schedule: Schedule, gpu: bool) -> Pipeline:
    """`for y: for x` -> `for p in extent(y) * extent(x)`, in arrays and in what is read pixel by pixel."""
    kept = _named(schedule)
    wanted = list(_wanted(schedule))
    while wanted:
        sites: dict[str, Site] = {}
        later = []
        for line, d in wanted:
            if line.stage.name in sites:
                later.append((line, d))  # of what the first one makes
            else:
                sites[line.stage.name] = _site(pipeline, line, d, gpu)
        pipeline, wanted = flattened(pipeline, sites, kept), later
    return pipeline


def _wanted(schedule: Schedule) -> Iterator[tuple[ScheduleLine, Directive]]:
    """All of a schedule. HbcError where other directives come before them."""
    others: set[str] = set()
    for line in schedule.lines:
        for d in line.directives:
            if d.name != FLATTEN:
                others.add(line.stage.name)
            elif line.stage.name in others:
                raise error(
                    f"`flatten` comes before all other directives of `{line.stage.name}`: they speak of "
                    "the loops that it makes", d.span, "write it first",
                )  # fmt: skip
            else:
                yield line, d


def _site(p: Pipeline, line: ScheduleLine, d: Directive, gpu: bool) -> Site:
    """The dimensions that become one. HbcError where they cannot."""
    outer, inner, pixel = names(d, 3)
    name, outputs = line.stage.name, p.output_funcs
    if gpu:
        hint = "on a GPU the loops of threads are enough: leave it out"
        raise error("`flatten` is for processors", d.span, hint)
    if name not in outputs or line.stage.update is not None or line.stage.consumer is not None:
        listed = " or ".join(f"`{o}.flatten({outer}, {inner}, {pixel})`" for o in outputs)
        raise error(
            "`flatten` is for outputs: what they read pixel by pixel is flattened with them",
            d.span, f"write {listed}",
        )  # fmt: skip
    func = p.func(name)
    own = [f"`{v}`" for v in func.variables]
    at = func.variables.index(outer) if outer in func.variables else -1
    if at < 0 or func.variables[at + 1 : at + 2] != (inner,):
        raise error(
            f"`{outer}` and `{inner}` are no two dimensions of `{name}` next to each other", d.span,
            f"its dimensions are {', '.join(own)}",
        )  # fmt: skip
    if not keeps_pixel(func, at):
        raise error(
            f"`{name}` is made of its own values elsewhere: `{outer}` and `{inner}` cannot become one",
            d.span, "leave it out",
        )  # fmt: skip
    if name in p.in_place:
        hint = "leave `flatten` out, or give the output memory of its own"
        raise error(f"`{name}` lies where an input lay, and keeps its dimensions", d.span, hint)
    taken = {*func.variables, *(r.name for u in func.updates for r in u.reduce)}
    if pixel in taken:
        raise error(f"`{name}` already has a loop `{pixel}`", d.span, "choose another name")
    return site_of(outputs[name], at, pixel)


def _named(schedule: Schedule) -> set[str]:
    """The Funcs that the schedule speaks of."""
    stages: list[Stage] = []
    for line in schedule.lines:
        stages.append(line.stage)
        stages += [a for d in line.directives for a in d.args if isinstance(a, Stage)]
    return {name for s in stages for name in (s.name, s.consumer) if name is not None}
