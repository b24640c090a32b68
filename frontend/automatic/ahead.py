"""What is asked of the caches ahead: rows of a picture that a sum walks down, each in a page of its own."""

from __future__ import annotations

from math import prod

from hbc.frontend.automatic.text import call
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import index_span, length
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.lang import nodes as ir

PAGE = 4096  # bytes, past which processors look for no pattern by themselves
LARGE = 1 << 20  # bytes of an input that stay in no second cache
STEPS = 32  # of a reduction, for which it is worth it
DISTANCE = 16  # steps


def prefetches(graph: Graph, step: Step, lanes: str | None, loop: str) -> list[str]:
    """For each input whose rows a step reads one of, and the next step another a page further."""
    if lanes is None or length(graph.known(step, graph.box(step.func))[loop]) < STEPS:
        return []
    found = []
    for a in step.reads:
        apart = _apart(graph, a, loop)
        if move(a, lanes) is not Move.NEXT or apart is None or apart < PAGE:
            continue
        distance = graph.choices.pick(f"{a.name}.in({step.func}).ahead", DISTANCE, (4, 32, 0))
        if distance:
            found.append(call("prefetch", [a.name, loop, distance, "L2"]))
    return found


def _apart(graph: Graph, a: ir.Access, loop: str) -> int | None:
    """Bytes between what an input that does not stay in the caches is read at in neighbouring steps."""
    extents = next((i.extents for i in graph.pipeline.inputs if i.name == a.name), None)
    if extents is None:
        return None
    spans = [index_span(e, graph.sizes, {}) for e in extents]
    sizes = [1 if s is None else s[1] for s in spans]
    if prod(sizes) * a.type.element.bytes < LARGE:
        return None
    moved = [coefficient(linear(i), loop) for i in a.indices]
    return sum(
        int(m) * prod(sizes[d + 1 :]) for d, m in enumerate(moved)
    ) * a.type.element.bytes  # fmt: skip
