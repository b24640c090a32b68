"""Filters of which a reader interleaves the phases, as those that enlarge images: a warp has the same places
of all phases in fragments, from the same pixels, each with taps of its own."""

from __future__ import annotations

from collections.abc import Iterable

from hbc.frontend.automatic.phases import Phases, phases_of
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.automatic_gpu.products import factors
from hbc.frontend.automatic_gpu.windows import BAND, LEAST_TAPS
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory

WIDE = 256  # places of a row that a warp has


def phase_window_lines(
    graph: Graph, holder: str, dots: Iterable[Dot], own: list[str]
) -> tuple[list[Line], str] | None:  # fmt: skip
    """The lines of such a Func and of its sums, and the name of these; None where it is none, or where no
    instruction has its types. `own`: what the first line of it begins with."""
    phases = phases_of(graph, graph.funcs[holder])
    if phases is None or phases.row is None or len(graph.funcs[phases.sums].updates) != 1:
        return None
    s = graph.steps[phases.sums][-1]
    found = factors(graph, s)
    if found is None or found[2]:
        return None
    for weights, image in (found[:2], found[1::-1]):
        tap = _tap(graph, s, phases, weights, image)
        types = {weights.type.element, image.type.element}
        sums = graph.funcs[phases.sums].element
        fits = any(
            d.tile is Memory.WMMA and d.sum == sums and set(d.factors) == types for d in dots
        )
        if tap is not None and fits:
            lines = [*_holder(graph, holder, phases, own), *_sums(graph, s, phases, tap)]
            return [*lines, *_storage(graph, phases, weights)], phases.sums
    return None


def _tap(
    graph: Graph, s: Step, phases: Phases, weights: ir.Access, image: ir.Access
) -> str | None:  # fmt: skip
    """The tap along rows of the image, at all places with the same weights; None where it is no filter."""
    inner = [v for v, _ in phases.inner]
    places = [v for v in s.pure if v not in inner]
    last = linear(image.indices[-1])
    known = graph.known(s, graph.box(s.func))
    near = [r for r in s.reduce if coefficient(last, r) == 1 and move(weights, r) is not Move.FIXED]
    still = [move(weights, v) for v in places] + [move(image, v) for v in inner]
    if any(m is not Move.FIXED for m in still) or coefficient(last, phases.lane) != 1:
        return None
    if len(near) != 1 or length(known[near[0]]) < LEAST_TAPS or length(known[phases.lane]) < WIDE:
        return None
    return near[0] if s.pure[-1] in inner or s.pure[-1] == phases.lane else None


def _holder(graph: Graph, name: str, phases: Phases, own: list[str]) -> list[Line]:
    assert phases.rows is not None
    y, x = phases.rows, phases.lanes
    (yo, yi), (xo, xi) = ([graph.name(v, part) for part in "oi"] for v in (y, x))
    outer = [v for v in graph.funcs[name].variables if v not in (y, x)]
    sides = [phases.row_count, phases.lane_count * WIDE]
    blocks, level, order = [yo, xo], xo, []
    if outer:
        fused, level = one_grid(graph, [*outer, yo, xo])
        blocks, order = [level], [call("reorder", [*outer, yo, xo, yi, xi]), *fused]
    return [
        Line(name, (*own, call("tile", [y, x, yo, xo, yi, xi, *sides]), *order)),
        Line(name, (call("gpu_blocks", blocks), call("vectorize", [xi]), call("unroll", [yi]))),
        Line(phases.sums, (f"compute_at({name}, {level})", f"store_in({Memory.WMMA})")),
    ]


def _sums(graph: Graph, s: Step, phases: Phases, tap: str) -> list[Line]:
    assert phases.row is not None
    inner = [v for v, _ in phases.inner]
    outer = [v for v in s.pure if v not in (*inner, phases.row, phases.lane)]
    ro, ri = graph.name(tap, "o"), graph.name(tap, "i")
    others = [r for r in s.reduce if r != tap]
    unrolled = [call("unroll", [v]) for v in inner]
    across = [call("vectorize", [v]) for v in (phases.row, phases.lane)]
    bounds = [call("bound", [v, 0, n]) for v, n in phases.inner]
    order = call("reorder", [*outer, *others, ro, *inner, phases.row, phases.lane, ri])
    return [
        Line(s.func, tuple(bounds)),
        Line(
            s.func, (call("reorder", [*outer, *inner, phases.row, phases.lane]), *unrolled, *across)
        ),
        Line(s.text, (call("split", [tap, ro, ri, BAND]), order, *unrolled)),
        Line(s.text, ("atomic()", *across, call("vectorize", [ri]))),
    ]


def _storage(graph: Graph, phases: Phases, weights: ir.Access) -> list[Line]:
    """Taps of a phase beside each other, where the weights are computed."""
    func = graph.funcs.get(weights.name)
    if func is None:
        return []
    inner = {v for v, _ in phases.inner}
    own = [
        v for v, i in zip(func.variables, weights.indices, strict=True)
        if isinstance(i, ir.Var) and i.name in inner
    ]  # fmt: skip
    return [
        Line(
            func.name,
            (call("reorder_storage", [*own, *(v for v in func.variables if v not in own)]),),
        )
    ]
