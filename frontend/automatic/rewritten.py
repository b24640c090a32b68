"""A program as directives rewrite it before there are loops. Sums of outputs that instructions do get a Func
of their own, which may be kept where the instructions want it: in registers, tiles, fragments. (An output is
memory of the caller.)"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.dots import is_dot
from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.inlining import inlined
from hbc.frontend.directives.cache_write import CACHE_WRITE, cached
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.record import record


@record
class Rewritten:
    """The program, and the lines of a schedule that make it of the one of the file. `flat`: pixels of all
    rows are one loop."""

    pipeline: Pipeline
    lines: tuple[Line, ...] = ()
    flat: bool = False


def cached_sums(p: Rewritten, sizes: Mapping[str, int], dots: tuple[Dot, ...]) -> Rewritten:
    """With a Func for the sums of each output all of whose updates are done by instructions."""
    graph = inlined(p.pipeline, sizes, dots)
    return with_caches(p, [n for n in p.pipeline.output_funcs if _all_dots(graph, n)])


def with_caches(p: Rewritten, outputs: Collection[str]) -> Rewritten:
    """With one for each of these; the same object where there are none."""
    if not outputs:
        return p
    pipeline, suffix = p.pipeline, next(_suffixes(p.pipeline, outputs))
    for name in outputs:
        pipeline = cached(pipeline, name, suffix)
    said = (Line(name, (call(CACHE_WRITE, [suffix]),)) for name in outputs)
    return Rewritten(pipeline, (*p.lines, *said), p.flat)


def _all_dots(graph: Graph, name: str) -> bool:
    updates = [s for s in graph.steps.get(name, ()) if s.update is not None]
    return bool(updates) and all(is_dot(graph, s) for s in updates)


def _suffixes(p: Pipeline, outputs: Collection[str]) -> Iterator[str]:
    """Under which no name of the program is taken."""
    taken = {x.name for f in p.funcs for x in f.parts} | {i.name for i in p.inputs}
    own = [x.name for f in p.funcs if f.name in outputs for x in f.parts]
    number = 1
    while True:
        suffix = "acc" if number == 1 else f"acc{number}"
        if not any(f"{name}_{suffix}" in taken for name in own):
            yield suffix
        number += 1
