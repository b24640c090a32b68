"""Funcs whose last variable has few values, as channels of pixels: one loop over it and the one before."""

from __future__ import annotations

from hbc.frontend.automatic.place import Placed
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.dots import between_channels
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.machine import Machine
from hbc.frontend.costs.spans import length

FUSED = 4  # vectors of sums over pixels and channels


def fused_lines(graph: Graph, machine: Machine, placed: Placed, place: list[str]) -> list[Line]:
    """The Func and its update."""
    shape = placed.shape
    assert shape.fused is not None
    a, b = shape.fused
    others = [v for v in shape.order if v not in shape.fused]
    root = [call("parallel", [others[0]])] if placed.at is None and others else []
    updates = [s for s in graph.steps[shape.func] if s.update is not None]
    dots = [between_channels(graph, s, graph.dots) for s in updates]
    if machine.vectors and len(dots) == 1 and dots[0] is not None:
        pixels = dots[0].columns // length(graph.box(shape.func)[-1])
        lanes = (call("vectorize", [a, pixels]), call("vectorize", [b]))
        return [
            Line(shape.func, (*place, call("reorder", [*others, a, b]), *lanes, *root)),
            _dots(updates[0], others, a, b, lanes),
        ]
    both = graph.name(a + b, "")
    vectors = [call("vectorize", [both, shape.width])] if machine.vectors else []
    lines = [Line(shape.func, (*place, call("fuse", [a, b, both]), *vectors, *root))]
    outer, inner = graph.name(both, "o"), graph.name(both, "i")
    for s in updates:
        marks = [call("vectorize", [inner, shape.width]), call("unroll", [inner])]
        directives = [
            call("fuse", [a, b, both]),
            call("split", [both, outer, inner, FUSED * shape.width]),
            call("reorder", [*others, outer, *s.reduce, inner]),
        ]
        lines.append(Line(s.text, (*directives, *(marks if machine.vectors else []))))
    return lines


def _dots(s: Step, others: list[str], a: str, b: str, lanes: tuple[str, ...]) -> Line:
    """All steps at once, in lanes of an instruction: between neighbours in memory lie other channels."""
    (deep,) = s.reduce
    order = call("reorder", [*others, a, b, deep])
    return Line(s.text, (order, "atomic()", *lanes, call("vectorize", [deep])))
