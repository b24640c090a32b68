"""Updates of Funcs that keep their sums in memory: blocks in place, lanes of partial sums, scans."""

from __future__ import annotations

from hbc.frontend.automatic.place import Placed
from hbc.frontend.automatic.scans import scan_lines, scan_of
from hbc.frontend.automatic.sums import update_lines
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic.update_kinds import UpdateKind, kind_of
from hbc.frontend.costs.dots import dot_along
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum, sums_along
from hbc.frontend.costs.machine import Machine
from hbc.frontend.plans.plan import is_parallel_safe
from hbc.ir.lang.walk import free_variables

PARTIAL = 4  # vectors of partial sums, which do not wait for each other
BESIDE = 4  # vectors of a row that share what each step of a narrow reduction reads


def loose_lines(
    graph: Graph, machine: Machine, placed: Placed, s: Step, used: set[str]
) -> list[Line]:
    """The directives of one update. `used`: loops in which others are computed."""
    func = graph.funcs[s.func]
    assert s.update is not None
    u = func.updates[s.update]
    shape = placed.shape
    match kind_of(graph, shape, s, machine.vectors):
        case UpdateKind.NARROW:
            return _all_steps(graph, machine, placed, s, used)
        case UpdateKind.SCAN:
            scan = scan_of(graph, s)
            assert scan is not None
            blocked = graph.name(scan.loop, "o") in used
            return (
                scan_lines(graph, s, scan, blocked, shape.width)
                if machine.vectors or blocked
                else []
            )
        case UpdateKind.PARTIAL:
            return partial_lines(graph, machine, placed, s)
        case UpdateKind.BLOCKS:
            return _in_place(graph, machine, placed, s)
        case UpdateKind.LANES if s.func in graph.innermost and placed.at is None:
            return _all_steps(graph, machine, placed, s, used)
        case UpdateKind.LANES:
            order = [v for v in s.pure if v != shape.lanes]
            directives = []
            assert shape.lanes is not None
            if s.reduce:
                directives.append(call("reorder", [*order, *s.reduce, shape.lanes]))
            directives.append(call("vectorize", [shape.lanes, shape.width]))
            if placed.at is None and order:
                directives.append(call("parallel", [order[0]]))
            return [Line(s.text, tuple(directives))]
    if not s.pure or machine.vectors is False:
        safe = [r.name for r in u.reduce if is_parallel_safe(func, u, r)]
        if safe and machine.vectors and safe[-1] == s.reduce[-1]:
            return [Line(s.text, (call("vectorize", [safe[-1], shape.width]),))]
    return []


def _all_steps(
    graph: Graph, machine: Machine, placed: Placed, s: Step, used: set[str]
) -> list[Line]:
    """Reductions that begin or end where others are, as in a triangle, or steps that wait for each other:
    blocks of vectors along the lanes, if these do not decide how far, and all steps for each; inside of
    another Func, which is such a block, vectors."""
    if not s.pure or s.update is None:
        return []
    u = graph.funcs[s.func].updates[s.update]
    lanes, width = placed.shape.lanes, placed.shape.width
    ends = [e for r in u.reduce for e in (r.start, r.extent, *(r.ends or ()))]
    ends += [] if u.condition is None else [u.condition]
    decides = any(lanes in free_variables(e) for e in ends)
    inside = placed.at is not None
    if not machine.vectors or lanes not in s.pure or lanes in used or decides:
        return [] if inside else [Line(s.text, (call("parallel", [s.pure[0]]),))]
    if inside:
        order = [*(v for v in s.pure if v != lanes), *s.reduce, lanes]
        return [Line(s.text, (call("reorder", order), call("vectorize", [lanes, width])))]
    outer, inner = graph.name(lanes, "o"), graph.name(lanes, "i")
    several, lane = graph.name(lanes, "m"), graph.name(lanes, "v")
    order = [outer if v == lanes else v for v in s.pure]
    directives = (
        call("split", [lanes, outer, inner, BESIDE * width]),
        call("reorder", [*order, *s.reduce, inner]),
        call("split", [inner, several, lane, width]),
        call("vectorize", [lane]),
        call("unroll", [several]),
        call("parallel", [order[0]]),
    )
    return [Line(s.text, directives)]


def partial_lines(graph: Graph, machine: Machine, placed: Placed, s: Step) -> list[Line]:
    """Partial sums in lanes: a Func of its own, added up at the end."""
    func = graph.funcs[s.func]
    along = sums_along(graph, s, placed.shape.lanes)
    assert along is not None
    width = placed.shape.width
    count = graph.choices.pick(f"{s.text}.partial", PARTIAL, (2, 8, 1))
    outer, inner, lane = (graph.name(along, "o"), graph.name(along, "i"), graph.name("u", ""))
    partial = f"{s.func}_{lane}"
    dot = dot_along(graph, s, along)
    cut = [call("split", [along, outer, inner, count * width])]
    each: tuple[str, ...] = ()  # the steps that an instruction adds to one sum
    if dot is not None:
        width, whole = dot.columns, inner
        inner, step = graph.name(along, "v"), graph.name(along, "q")
        cut = [
            call("split", [along, outer, whole, count * width * dot.depth]),
            call("split", [whole, inner, step, dot.depth]),
        ]
        each = (step,)
    lines = [Line(s.text, (*cut, call("rfactor", [inner, lane])))]
    # Results of several values are put together one after the other.
    rest = ["atomic()", call("vectorize", [inner])] if is_sum(func) else []
    if placed.at is None and s.pure:
        rest.append(call("parallel", [s.pure[0]]))
    if rest:
        lines.append(Line(s.text, tuple(rest)))
    place = call("compute_at", [s.text, s.pure[-1]]) if s.pure else "compute_root()"
    kept = ("store_in(registers)",) if s.pure else ()
    marks = (call("vectorize", [lane, width]), call("unroll", [lane]))
    lines.append(Line(partial, (place, *kept, *marks)))
    others = [r for r in s.reduce if r != along]
    order = [*func.variables, *others, outer, lane, *each]
    steps = [m for v in each for m in ("atomic()", call("vectorize", [v]))]
    lines.append(Line(f"{partial}.update", (call("reorder", order), *steps, *marks)))
    return lines


def _in_place(graph: Graph, machine: Machine, placed: Placed, s: Step) -> list[Line]:
    """Blocks of the Func itself, which stay in registers while the reduction runs."""
    shape = placed.shape
    head: list[str] = []
    row = shape.rows if shape.block.rows > 1 else None
    lane = shape.lanes
    inner: list[str | None] = []
    for v in (row, lane):
        if v is None or v in shape.whole:
            inner.append(v)
            continue
        inner.append(graph.name(v, "i"))
        head.append(call("split", [v, graph.name(v, "o"), graph.name(v, "i"), shape.covered(v)]))
    lines = update_lines(
        graph, s, row, lane, shape.width, shape.block.vectors > 1, machine.vectors,
        tuple(head), (inner[0], inner[1]),
    )  # fmt: skip
    if placed.at is None and s.pure:
        first = next((v for v in s.pure if v not in (row, lane)), None)
        if first is None and head:
            first = head[0].split(",")[1].strip()
        if first is not None and len(lines) == 1:
            lines = [Line(lines[0].stage, (*lines[0].directives, call("parallel", [first])))]
    return lines
