"""Sums of products that an instruction does: which of the described ones, and how deep."""

from __future__ import annotations

from collections.abc import Iterable

from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.lanes import FEW
from hbc.frontend.costs.machine import Machine
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.frontend.program.funcs import ReduceVar
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction, Kind
from hbc.ir.lang.types import F32, DType, Memory
from hbc.ir.lang.walk import mentions

DEEP = 32  # steps of a convolution along the lanes that share what is loaded


def dots_of(instructions: Iterable[Instruction]) -> tuple[Dot, ...]:
    """The instructions that add several products to a sum; tiles first."""
    dots: dict[tuple[DType, frozenset[DType], int, Memory | None], Dot] = {}
    for i in instructions:
        dot = _dot(i)
        if dot is not None:
            key = (dot.sum, frozenset(dot.factors), dot.depth, dot.tile)
            if key not in dots or dot.columns > dots[key].columns:
                dots[key] = dot
    return tuple(sorted(dots.values(), key=lambda d: (d.tile is None, d.rows, -d.depth)))


def worthwhile(dots: Iterable[Dot], machine: Machine) -> tuple[Dot, ...]:
    """Those that do as many products in a cycle as the machine's vectors of f32 do. Others sum integers, of
    which vectors multiply fewer."""
    plain = machine.multiply_adds * machine.lanes(F32.bits)
    return tuple(d for d in dots if d.sum != F32 or d.rate >= plain)


def _dot(i: Instruction) -> Dot | None:
    if len(i.factors) != 2 or any(i.operands[f].function is not None for f in i.factors):
        return None
    sizes = {s.name: s.most for s in i.sizes}
    counts = {Kind.I: 1, Kind.J: 1, Kind.K: 1, Kind.BATCH: 1}
    for row in i.rows:
        if row.kind not in counts:
            return None
        extent = _number(row.extent, sizes)
        if extent is None:
            return None
        counts[row.kind] *= extent
    if counts[Kind.K] < 2:
        return None
    a, b = (i.operands[f].element for f in i.factors)
    in_tiles = i.place.memory is Memory.AMX_TILE
    if not in_tiles and i.place.memory is not Memory.REGISTER:
        return None
    columns = counts[Kind.J] * counts[Kind.BATCH]
    return Dot(
        i.name, i.operands[i.accumulator].element, (a, b), counts[Kind.K],
        i.place.memory if in_tiles else None, counts[Kind.I], columns, i.cost.per_cycle, i.cost.latency,
    )  # fmt: skip


def _number(e: ir.Expr, sizes: dict[str, int]) -> int | None:
    """The extent at the largest sizes."""
    form = linear(e)
    total = form.constant
    for atom, times in form.terms:
        name = getattr(atom, "name", "")
        if name not in sizes:
            return _quotient(e, sizes)
        total += times * sizes[name]
    return total


def _quotient(e: ir.Expr, sizes: dict[str, int]) -> int | None:
    match e:
        case ir.Binary(op=ir.Op.DIV, a=a, b=ir.Const(value=int(q))) if q > 0:
            inner = _number(a, sizes)
            return None if inner is None else inner // q
    return None


def factors_of(graph: Graph, s: Step) -> tuple[ir.Access, ir.Access] | None:
    """What a sum of products multiplies, without the conversions around it."""
    if s.update is None:
        return None
    u = graph.funcs[s.func].updates[s.update]
    if u.op is not ir.Op.ADD or not isinstance(u.value, ir.Binary):
        return None
    term: ir.Expr = u.value.b if _is_own(u.value.a, s.func) else u.value.a
    while isinstance(term, ir.Cast):
        term = term.value
    if not (isinstance(term, ir.Binary) and term.op is ir.Op.MUL):
        return None
    a, b = bare(term.a), bare(term.b)
    if isinstance(a, ir.Access) and isinstance(b, ir.Access):
        return a, b
    return None


def _is_own(e: ir.Expr, name: str) -> bool:
    return isinstance(e, ir.Access) and e.name == name


def bare(e: ir.Expr) -> ir.Expr:
    """Without the conversions around it."""
    while isinstance(e, ir.Cast):
        e = e.value
    return e


def is_dot(graph: Graph, s: Step) -> bool:
    """Whether instructions of the graph do an update."""
    fitting = (dot_for(graph, s, graph.dots, tiles) for tiles in (True, False))
    return any(fitting) or between_channels(graph, s, graph.dots) is not None


def sums(graph: Graph) -> list[Step]:
    """All updates."""
    return [s for steps in graph.steps.values() for s in steps if s.update is not None]


def dot_for(graph: Graph, s: Step, dots: Iterable[Dot], tiles: bool) -> Dot | None:
    """The first instruction whose types are those of an update."""
    factors = factors_of(graph, s)
    if factors is None or not s.reduce or few_lanes(graph, s.func):
        return None
    return _fitting(factors, graph.funcs[s.func].element, dots, tiles)


def dot_along(graph: Graph, s: Step, along: str) -> Dot | None:
    """The instruction for sums whose lanes are steps along a reduction, where both factors are neighbours."""
    dot, factors = dot_for(graph, s, graph.dots, False), factors_of(graph, s)
    if dot is None or factors is None:
        return None
    return dot if all(move(a, along) is Move.NEXT for a in factors) else None


def _fitting(
    factors: tuple[ir.Access, ir.Access], element: DType, dots: Iterable[Dot], tiles: bool
) -> Dot | None:
    types = sorted(a.type.element.name for a in factors)
    for d in dots:
        same = types == sorted(t.name for t in d.factors)
        if same and d.sum == element and (d.tile is not None) == tiles and (tiles or d.rows == 1):
            return d
    return None


def between_channels(graph: Graph, s: Step, dots: Iterable[Dot]) -> Dot | None:
    """The instruction for a short sum of which pixels and their few channels are the lanes: one factor has
    neighbours along the channels, the other is the same for all lanes."""
    factors = factors_of(graph, s)
    if factors is None or len(s.reduce) != 1 or len(s.pure) < 2 or not few_lanes(graph, s.func):
        return None
    steps = length(graph.known(s, graph.box(s.func))[s.reduce[0]])
    extent = _reduce(graph, s).extent
    if not isinstance(extent, ir.Const) or steps > DEEP:
        return None
    moves = {tuple(move(a, v) for v in s.pure[-2:]) for a in factors}
    if moves != {(Move.FIXED, Move.FIXED), (Move.FAR, Move.NEXT)}:
        return None
    dot = _fitting(factors, graph.funcs[s.func].element, dots, False)
    channels = length(graph.box(s.func)[-1])
    return dot if dot is not None and dot.columns % channels == 0 else None


def _reduce(graph: Graph, s: Step) -> ReduceVar:
    assert s.update is not None
    return graph.funcs[s.func].updates[s.update].reduce[0]


def few_lanes(graph: Graph, name: str) -> bool:
    """Whether neighbours in memory are few, as channels of pixels are: too few for the lanes."""
    box = graph.whole.get(name)
    return bool(box) and box is not None and len(box) > 1 and length(box[-1]) < FEW


def deep_loop(graph: Graph, s: Step) -> str | None:
    """The reduction that becomes lanes: the last along which an operand has neighbours, of those
    with more than a few steps."""
    factors = factors_of(graph, s)
    if factors is None or not s.reduce:
        return None
    known = graph.known(s, graph.box(s.func))
    good = [r for r in s.reduce if any(move(a, r) is Move.NEXT for a in factors)]
    both = [r for r in good if all(move(a, r) is not Move.FIXED for a in factors)]
    usual = [r for r in both or good if length(known[r]) >= 2]
    return (usual or both or good or [s.reduce[-1]])[-1]


def windows(
    s: Step, lanes: str | None, deep: str, operands: Iterable[ir.Access], strided: bool = False
) -> bool:
    """Whether neighbouring lanes read what neighbouring steps of the reduction do; `strided`: or steps that
    are some apart."""
    for a in operands:
        last = a.indices[-1] if a.indices else None
        if last is None or lanes is None or not (mentions(last, lanes) and mentions(last, deep)):
            continue
        form = linear(last)
        stride = coefficient(form, lanes)
        if coefficient(form, deep) == 1 and (stride == 1 or (strided and stride > 1)):
            return True
    return False
