"""Which loops an update gets that others are computed in: of sums in memory, and of sums in registers."""

from __future__ import annotations

from enum import Enum, auto

from hbc.frontend.automatic.scans import block_of, scan_of
from hbc.frontend.automatic.shape import Loop, Shape
from hbc.frontend.automatic.sums import extent_of
from hbc.frontend.costs.dots import dot_for
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum, sums_along
from hbc.frontend.costs.machine import Machine
from hbc.frontend.costs.spans import length
from hbc.frontend.program.constants import evaluate
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions


class UpdateKind(Enum):
    """What `loose_lines` makes of an update."""

    NARROW = auto()  # what is around decides how far its loops go
    SCAN = auto()  # steps that wait for those before
    PARTIAL = auto()  # sums along the lanes: vectors of partial sums
    BLOCKS = auto()  # sums in blocks of rows and lanes
    LANES = auto()  # vectors along the lanes, reductions around them
    PLAIN = auto()  # as it stands


def kind_of(graph: Graph, shape: Shape, s: Step, vectors: bool) -> UpdateKind:
    """Of one update, on a machine with vectors or without."""
    func = graph.funcs[s.func]
    assert s.update is not None
    if any(r.narrow for r in func.updates[s.update].reduce):
        return UpdateKind.NARROW
    if scan_of(graph, s) is not None:
        return UpdateKind.SCAN
    if vectors and sums_along(graph, s, shape.lanes) is not None:
        return UpdateKind.PARTIAL
    if is_sum(func) and s.reduce and shape.lanes is not None:
        return UpdateKind.BLOCKS
    if vectors and shape.lanes is not None and shape.lanes in s.pure:
        return UpdateKind.LANES
    return UpdateKind.PLAIN


def update_loops(graph: Graph, shape: Shape, s: Step, vectors: bool) -> tuple[Loop, ...]:
    """Its loops outside of its reductions, as they are called in the schedule, outermost first."""
    plain = tuple(Loop(v, v, 1) for v in s.pure)
    match kind_of(graph, shape, s, vectors):
        case UpdateKind.SCAN:
            scan = scan_of(graph, s)
            assert scan is not None
            return (Loop(graph.name(scan.loop, "o"), scan.loop, block_of(graph, s)),)
        case UpdateKind.BLOCKS:
            row = shape.rows if shape.block.rows > 1 else None
            block = [v for v in (row, shape.lanes) if v is not None]
            cut = [v for v in block if v not in shape.whole]
            blocks = tuple(Loop(graph.name(v, "o"), v, shape.covered(v)) for v in cut)
            return (*(x for x in plain if x.variable not in block), *blocks)
        case UpdateKind.LANES if s.reduce:  # the lanes are inside of the reductions
            return tuple(x for x in plain if x.variable != shape.lanes)
        case UpdateKind.LANES:
            lanes = shape.lanes
            return tuple(
                Loop(x.name, x.variable, shape.width) if x.name == lanes else x for x in plain
            )
        case _:
            return plain


def blocks_of_steps(graph: Graph, machine: Machine, s: Step, width: int) -> tuple[Loop, ...]:
    """The loop over blocks of steps of an update whose sums are in registers, of which a Func that is read
    along them is computed a vector at once: then it is a small array with distances that are constants. Where
    how many steps there are is a constant, they are so anyway."""
    if dot_for(graph, s, graph.dots, False) is not None:
        return ()  # it takes its steps in an order of its own
    known = graph.known(s, graph.box(s.func))
    for r in s.reduce:
        funcs = [a.name for a in s.reads if a.name in graph.funcs and is_read_along(a, r)]
        windows = any(
            mentions(i, r) and any(mentions(i, v) for v in s.pure)
            for a in s.reads
            for i in a.indices
        )
        if not funcs or windows or evaluate(extent_of(graph, s, r)) is not None:
            continue
        steps = max(width, *(machine.lanes(graph.funcs[n].element.bits) for n in funcs))
        if length(known[r]) > steps:
            return (Loop(graph.name(r, "o"), r, steps),)
    return ()


def is_read_along(a: ir.Access, r: str) -> bool:
    """Whether the steps of a reduction read what lies side by side."""
    return bool(a.indices) and a.indices[-1] == ir.Var(r)
