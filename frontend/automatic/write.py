"""From placed Funcs to the lines of a schedule."""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.automatic.fused import fused_lines
from hbc.frontend.automatic.loose import loose_lines
from hbc.frontend.automatic.phases import phase_lines
from hbc.frontend.automatic.place import Placed, Placing, stage
from hbc.frontend.automatic.shape import Shape
from hbc.frontend.automatic.sums import extent_of, update_lines
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic.tiles import block_lines, sum_lines
from hbc.frontend.costs.dots import deep_loop, dot_for, factors_of, windows
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import own_names
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.frontend.program.constants import evaluate
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show

MANY = 4  # blocks of rows that make a copy worth while
APART = 2048  # bytes between rows from which on they are copied


def lines_of(placing: Placing) -> list[Line]:
    """Lines for every Func that is kept: readers before what they read."""
    placing = without_idle_strips(placing)
    lines: list[Line] = []
    for name, placed in placing.placed.items():
        holder = next((p for p in placing.placed.values() if name in p.shape.sums), None)
        if holder is not None:
            lines += _held(placing, name, placed, holder)
        else:
            lines += _own(placing, name, placed)
    return lines


def without_idle_strips(placing: Placing) -> Placing:
    """The same without the strips of Funcs that nothing is computed in."""
    graph = placing.graph
    names: dict[tuple[str, str], str] = {}
    new: dict[str, Placed] = {}
    for name, placed in placing.placed.items():
        strip = placed.shape.strip
        if strip is not None and graph.name(strip[0], "s") not in _levels_used(placing, name):
            outer, left = graph.name(strip[0], "s"), graph.name(strip[0], "t")
            names[name, left] = strip[0]
            loops = {
                u: tuple(
                    replace(x, name=strip[0]) if x.name == left else x
                    for x in each
                    if x.name != outer
                )
                for u, each in placed.loops.items()
            }
            placed = replace(placed, shape=replace(placed.shape, strip=None), loops=loops)
        new[name] = placed
    for name, placed in new.items():
        at = placed.at
        if at is not None and (at.func, at.loop) in names:
            new[name] = replace(placed, at=replace(at, loop=names[at.func, at.loop]))
    return Placing(graph, placing.machine, new, placing.costs)


def _place(placed: Placed, name: str, graph: Graph) -> list[str]:
    if name in graph.outputs:
        return []
    promised = graph.promised.get(name) or (None,) * len(placed.box)
    bounds = [
        call("bound", [v, span[0], length(span)])
        for v, span, here in zip(graph.funcs[name].variables, promised, placed.box, strict=True)
        if span == here and span is not None
    ]
    if placed.at is None:
        return ["compute_root()", *bounds]
    return [call("compute_at", [stage(placed.at), placed.at.loop]), *bounds]


def _tail(shape: Shape, placed: Placed, graph: Graph, v: str, factor: int) -> str:
    """A last piece moved back, where there is room for it and nothing depends on where pieces begin."""
    at = graph.funcs[shape.func].variables.index(v)
    wide = length(placed.box[at]) >= factor
    return "shift" if wide and v not in shape.aligned else ""


def _own(placing: Placing, name: str, placed: Placed) -> list[Line]:
    """A Func with loops of its own."""
    graph, machine, shape = placing.graph, placing.machine, placed.shape
    func = graph.funcs[name]
    place = _place(placed, name, graph)
    lane = shape.lanes if graph.innermost.get(name) == shape.lanes else None
    if lane is not None:
        place.append(call("reorder_storage", [*(v for v in func.variables if v != lane), lane]))
    lines: list[Line] = []
    whole = _whole_steps(graph, shape)
    if shape.tiles is not None and shape.lanes is not None:
        beside = None if shape.beside is None else shape.beside[0]
        cut = [v for v in (shape.rows, shape.lanes, beside) if v is not None]
        tails = {v: _tail(shape, placed, graph, v, shape.covered(v)) for v in cut}
        loops = [x.name for x in placed.loops[None]]
        return block_lines(
            graph, name, shape.tiles, shape.rows, shape.lanes, beside, loops, place, tails
        )
    if shape.fused is not None:
        return fused_lines(graph, machine, placed, place)
    if not func.updates:
        lines.append(Line(name, (*place, *_blocked(placing, placed), *whole)))
        return lines
    pure = []
    if lane is not None:
        pure.append(call("reorder", shape.order))
    if shape.lanes is not None and machine.vectors:
        pure.append(call("vectorize", [shape.lanes, shape.width]))
    if placed.at is None and len(func.variables) > 1:
        pure.append(call("parallel", [func.variables[0]]))
    lines.append(Line(name, (*place, *pure)))
    for s in graph.steps[name]:
        if s.update is not None:
            lines += loose_lines(graph, machine, placed, s, _levels_used(placing, name))
    return lines


def _whole_steps(graph: Graph, shape: Shape) -> list[str]:
    """A copy of the loops for sums of which instructions take all steps in whole, as they do at typical
    sizes: beside code for what is left of a loop, compilers keep sums in memory."""
    conditions = []
    for s in (s for n in shape.sums for s in graph.steps[n] if s.update is not None):
        dot, deep = dot_for(graph, s, graph.dots, False), deep_loop(graph, s)
        factors = factors_of(graph, s)
        if dot is None or deep is None or factors is None:
            continue
        if any(windows(s, v, deep, factors) for v in s.pure):
            continue  # their steps have copies of their own
        extent = extent_of(graph, s, deep)
        steps = length(graph.known(s, graph.box(s.func))[deep])
        if evaluate(extent) is None and steps % dot.depth == 0:
            conditions.append(f"{show(extent)} % {dot.depth} == 0")
    usual = bool(conditions) and len(shape.sums) == 1
    if not usual or not graph.choices.pick(f"{shape.func}.whole", usual, (False,)):
        return []
    return [call("specialize", [" and ".join(dict.fromkeys(conditions))])]


def _blocked(placing: Placing, placed: Placed) -> list[str]:
    """The directives that make the loops of a shape."""
    graph, machine, shape = placing.graph, placing.machine, placed.shape
    directives: list[str] = []
    inner: list[str] = []
    marks: list[str] = []
    for v in shape.order:
        covered = shape.covered(v)
        left = v
        if shape.strip is not None and shape.strip[0] == v:
            strip = shape.strip[1]
            left = graph.name(v, "t")
            tail = _tail(shape, placed, graph, v, strip)
            directives.append(call("split", [v, graph.name(v, "s"), left, strip], tail))
        if covered > 1 and v not in shape.whole:
            i = graph.name(v, "i")
            tail = _tail(shape, placed, graph, v, covered)
            directives.append(call("split", [left, graph.name(v, "o"), i, covered], tail))
    for part in (shape.rows, shape.lanes):
        if part is None or shape.covered(part) == 1:
            continue
        v = part
        i = v if v in shape.whole else graph.name(v, "i")
        inner.append(i)
        if not machine.vectors:
            continue
        if v == shape.lanes:
            marks.append(call("vectorize", [i, shape.width]))
            if shape.block.vectors > 1:
                marks.append(call("unroll", [i]))
        else:
            marks.append(call("unroll", [i]))
    loops = [x.name for x in placed.loops[None]]
    order: list[str] = [*loops, *inner]
    if len(order) > 1:
        directives.append(call("reorder", order))
    directives += marks
    if placed.at is None and loops:
        directives.append(call("parallel", [loops[0]]))
    return directives


def _levels_used(placing: Placing, name: str) -> set[str]:
    """The loops of a Func that others are computed in."""
    return {p.at.loop for p in placing.placed.values() if p.at is not None and p.at.func == name}


def _held(placing: Placing, name: str, placed: Placed, holder: Placed) -> list[Line]:
    """Sums in the registers of the block of another Func."""
    graph, machine, shape = placing.graph, placing.machine, holder.shape
    if shape.phases is not None:
        width = shape.width // shape.phases.lane_count
        own = _place(placed, name, graph)
        return phase_lines(graph, shape.phases, width, own, machine.registers)
    (reader,) = graph.steps[shape.func]
    access = next(a for a in reader.reads if a.name == name)
    mine = {theirs: v for v, theirs in own_names(access, graph.funcs[name]).items()}
    rows = mine.get(shape.rows or "") if shape.block.rows > 1 else None
    lanes = mine.get(shape.lanes or "")
    several = shape.block.vectors > 1
    place = _place(placed, name, graph)
    if shape.tiles is not None and lanes is not None:
        return sum_lines(graph, name, shape.tiles, rows, lanes, place)
    if machine.vectors and placed.at is not None:
        place.append("store_in(registers)")
    marks = []
    if machine.vectors:
        if lanes is not None:
            marks.append(call("vectorize", [lanes, shape.width]))
            if several:
                marks.append(call("unroll", [lanes]))
        if rows is not None:
            marks.append(call("unroll", [rows]))
    lines = [Line(name, (*place, *marks))]
    used = _levels_used(placing, name)
    for s in graph.steps[name]:
        if s.update is not None:
            packs = _packed(placing, s, holder, rows, lanes) if machine.vectors and lanes else []
            cut = {x: graph.name(x.variable, "i") for x in placed.loops[s.update] if x.name in used}
            lines += update_lines(
                graph, s, rows, lanes, shape.width, several, machine.vectors,
                tuple(call("split", [x.variable, x.name, i, x.step]) for x, i in cut.items()),
                ahead=not packs, steps={x.variable: i for x, i in cut.items()},
            )  # fmt: skip
            lines += packs
    return lines


def _packed(
    placing: Placing, s: Step, holder: Placed, rows: str | None, lanes: str
) -> list[Line]:  # fmt: skip
    """Copies of what all rows read, in the order of the block: where rows of it lie far apart in
    memory, or neighbours along another loop than the lanes."""
    graph, shape = placing.graph, holder.shape
    panel = next((x for x in holder.loops[None] if x.variable == shape.lanes), None)
    lines = []
    known = graph.known(s, graph.box(s.func))
    for a in s.reads:
        names = [i.name for i in a.indices if isinstance(i, ir.Var)]
        if rows is None or panel is None or len(names) != len(a.indices) or rows in names:
            continue
        if a.name in graph.funcs and move(a, lanes) is Move.NEXT:
            continue
        if a.name not in graph.read_by(s.func) or dot_for(graph, s, graph.dots, False):
            continue
        again = length(known[rows]) >= MANY * shape.block.rows
        along = move(a, lanes)
        if not again or along is Move.FIXED or len(set(names)) != len(names):
            continue
        inner = length(known[names[-1]]) * a.type.element.bytes
        copy = f"{a.name}.in({s.func})"
        near = along is Move.NEXT and shape.panel is not None
        usual = (near and inner >= APART) or (along is Move.FAR and names[-1] in s.reduce)
        if not graph.choices.pick(f"{copy}.packed", usual, (not usual,) if near or usual else ()):
            continue
        place = call("compute_at", [shape.func, panel.name])
        if near:
            marks = [call("vectorize", [lanes, shape.width])]
            if shape.block.vectors > 1:
                marks.append(call("unroll", [lanes]))
            lines.append(Line(copy, (place, *marks)))
        else:
            order = [*(n for n in names if n != lanes), lanes]
            last = names[-1]
            cut = [last, lanes, *(graph.name(n, x) for x in "oi" for n in (last, lanes))]
            tile = call("tile", [*cut, shape.width, shape.width])
            loops = call("reorder", [*(n for n in order if n not in (last, lanes)), last, lanes])
            first = () if len(order) < 2 else (loops,)
            marks = [
                call("vectorize", [graph.name(lanes, "i")]), call("unroll", [graph.name(last, "i")]),
            ]  # fmt: skip
            lines.append(Line(copy, (place, call("reorder_storage", order), *first, tile, *marks)))
    return lines
