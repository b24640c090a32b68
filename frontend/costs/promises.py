"""Variables of which constant values are needed whatever the sizes, as those of a tile: `bound`."""

from __future__ import annotations

from collections.abc import Mapping

from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.spans import Span, index_span, joined, length
from hbc.frontend.program.constants import evaluate

MOST = 256  # values of a variable that are worth a promise

Needs = list[Span | None]


def constant_needs(graph: Graph) -> Mapping[str, tuple[Span | None, ...]]:
    """For each Func that no output is, and each variable, the values that are needed at any sizes,
    where these are few and known."""
    by_func: dict[str, Needs] = {}
    read: set[str] = set()
    fixed = {s.name: (s.fixed, s.fixed) for s in graph.pipeline.sizes if s.fixed is not None}
    for name in reversed(graph.funcs):
        func = graph.funcs[name]
        needs = by_func.get(name, [None] * len(func.variables))
        known: dict[str, Span] = dict(fixed)
        known |= {v: s for v, s in zip(func.variables, needs, strict=True) if s is not None}
        for s in graph.steps[name]:
            inside = dict(known)
            if s.update is not None:
                for r in func.updates[s.update].reduce:
                    start, extent = evaluate(r.start), evaluate(r.extent)
                    if start is not None and extent is not None:
                        inside[r.name] = int(start), int(start) + int(extent) - 1
            for a in s.reads:
                if a.name not in graph.funcs:
                    continue
                spans = [index_span(i, inside, graph.funcs) for i in a.indices]
                if a.name in read:
                    spans = [joined(x, y) for x, y in zip(by_func[a.name], spans, strict=True)]
                by_func[a.name] = spans
                read.add(a.name)
    return {
        name: tuple(s if s is not None and length(s) <= MOST else None for s in spans)
        for name, spans in by_func.items()
        if name not in graph.outputs
    }
