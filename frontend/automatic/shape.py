"""The shape of a Func's loops: what is a lane, what a row, which loops others can be computed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from hbc.frontend.automatic.alignment import pieces_of, stays
from hbc.frontend.automatic.phases import Phases, phases_of, picked_block
from hbc.frontend.automatic.tiles import Tiles, tiles_for
from hbc.frontend.costs.blocks import Block, Pace, Sides, ranked_blocks
from hbc.frontend.costs.choices import Answer
from hbc.frontend.costs.dots import deep_loop, dot_for, factors_of, windows
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum, own_names, sums_of
from hbc.frontend.costs.lanes import FEW, lane_variable, operand, row_variable
from hbc.frontend.costs.machine import MULTIPLY_ADDS, Machine
from hbc.frontend.costs.moves import NEAR, Move, is_limited, move, pieces
from hbc.frontend.costs.spans import Box, length
from hbc.frontend.costs.storage import fused_variables, stored
from hbc.frontend.program.funcs import Func
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions, nodes


@record
class Loop:
    """A loop that stays one: its variable, and how many values of it one iteration covers."""

    name: str
    variable: str
    step: int


@record
class Shape:
    """`rows` and `lanes` are the variables of the block; `width` the lanes of a vector; `sums` the
    Funcs whose sums the block holds in registers; `order` the variables outermost first; `panel`: the
    blocks of lanes stand outside of `order[panel:]`."""

    func: str
    lanes: str | None
    rows: str | None
    width: int
    block: Block
    order: tuple[str, ...]
    sums: tuple[str, ...] = ()
    strip: tuple[str, int] | None = None
    panel: int | None = None
    moved: frozenset[str] = (
        frozenset()
    )  # variables of few values that stand outside of those before
    aligned: frozenset[str] = frozenset()  # variables whose blocks begin at multiples of their size
    phases: Phases | None = None
    tiles: Tiles | None = None
    beside: tuple[str, int] | None = None  # of tiles: a variable with several values in a block
    fused: tuple[str, str] | None = None  # the last two variables, as one loop
    whole: frozenset[str] = frozenset()  # variables of which a block has all values, as promised
    cycles: float = 0.0  # of a step of the reduction, for a vector of sums
    loops: tuple[Loop, ...] = field(default=())

    def covered(self, v: str) -> int:
        """How many values of a variable a block has."""
        if v == self.lanes:
            return self.block.vectors * self.width
        if self.beside is not None and v == self.beside[0]:
            return self.beside[1]
        return self.block.rows if v == self.rows else 1


LEAST_BITS = 8
MOST_COPIES = 16  # of a loop that is unrolled so that each copy is another formula
ROWS = 16  # of a block that is transposed in registers
STAYS = 256 << 10  # bytes of an operand that stay in the second cache beside the others


def element_bits(graph: Graph, step: Step) -> int:
    """The bits of the widest element that a step computes with."""
    func = graph.funcs[step.func]
    widths = [func.element.bits, LEAST_BITS]
    for e in _values(func, step.update):
        for n in nodes(e):
            if isinstance(
                n, ir.Access | ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call | ir.Const
            ):
                element = n.type.element
                widths += [] if element.name in ("i64", "bool") else [element.bits]
    return max(widths)


def _values(func: Func, update: int | None) -> tuple[ir.Expr, ...]:
    return (func.pure,) if update is None else (func.updates[update].value,)


def shape_of(graph: Graph, machine: Machine, name: str, box: Box, strip: int) -> Shape:
    """The shape of a Func that is computed for such a box."""
    made_for = machine, name, box, strip, graph.promised.get(name)
    known: list[tuple[list[Answer], Shape]] = graph.shapes.setdefault(made_for, [])
    return graph.choices.once(
        known, lambda c: _promised_shape(replace(graph, choices=c), machine, name, box, strip)
    )


def _promised_shape(graph: Graph, machine: Machine, name: str, box: Box, strip: int) -> Shape:
    shape = _shape_of(graph, machine, name, box, strip)
    promised = graph.promised.get(name)
    if promised is None:
        return shape
    lane = dict(zip(graph.funcs[name].variables, promised, strict=True)).get(shape.lanes or "")
    if lane is not None and length(lane) < shape.width and shape.block.vectors == 1:
        least = 1 << max(length(lane) - 1, 0).bit_length()
        shape = replace(shape, width=least)  # all lanes are used
    whole = {
        v
        for v, span, here in zip(graph.funcs[name].variables, promised, box, strict=True)
        if span is not None and span == here and shape.covered(v) == length(span) > 1
    }
    return replace(shape, whole=frozenset(whole))


def _shape_of(graph: Graph, machine: Machine, name: str, box: Box, strip: int) -> Shape:
    func = graph.funcs[name]
    extents = [length(s) for s in box]
    phases = phases_of(graph, func)
    if phases is not None:
        return _with_phases(graph, machine, func, phases, extents, strip)
    sums = sums_of(graph, name)
    if sums:
        return _with_sums(graph, machine, func, extents, sums, strip)
    main = graph.steps[name][-1]
    reads = [stored(a, graph, graph.innermost) for s in graph.steps[name] for a in s.reads]
    lane = graph.innermost.get(name) or lane_variable(func.variables, extents, reads)
    width = machine.lanes(max(element_bits(graph, s) for s in graph.steps[name]))
    rows, block, cycles = None, Block(1, 1), 0.0
    if not func.updates and lane is not None:
        rows = transposed(func, reads, lane, extents)
        if rows is not None:
            block = Block(min(width, ROWS, extents[func.variables.index(rows)]), 1)
    if func.updates and is_sum(func) and main.reduce:
        rows = row_variable(func.variables, extents, lane, main.reads, main.reduce)
        rows = _picked_rows(graph, name, rows, func.variables, extents, lane)
        block, cycles = _block(
            graph, machine, func.variables, extents, lane, rows, main, width, 1, name
        )
    fused = fused_variables(graph, func, extents, reads)
    if fused is not None:
        return Shape(
            name,
            fused[1],
            None,
            width,
            Block(1, 1),
            func.variables,
            fused=fused,
            whole=frozenset(fused),
        )
    decided = deciding(graph, func, lane, box)
    if decided is not None and not rows:
        rows, block = decided, Block(extents[func.variables.index(decided)], 1)
    order, moved = _order(func.variables, lane)
    if name in graph.innermost:  # as it lies in memory
        order, moved = (*(v for v in func.variables if v != lane), lane or ""), frozenset()
    aligned: set[str] = set()
    if lane is not None:
        repeated = [a for a in reads if move(a, lane) is Move.REPEATED]
        rest = [a for a in reads if a not in repeated]
        divisors = {q for a in rest for i in a.indices for q in pieces(i, lane)}
        if divisors and 4 <= min(divisors) <= width:
            width = min(divisors)  # what lies together is read together
            aligned.add(lane)
        elif divisors and not any(q % width for q in divisors):
            aligned.add(lane)  # no vector begins in one piece and ends in the next
        if any(is_limited(a, lane) for a in reads):
            aligned.add(lane)  # so that loops know where the limits hold
        if repeated:
            aligned.add(lane)  # so that vectors begin where an element is for all of its lanes
    if lane is not None and not func.updates and rows is None:
        fitting = [n for n in (2, 4, 8) if n * width <= extents[func.variables.index(lane)]]
        block = Block(1, graph.choices.pick(f"{name}.vectors", 1, fitting))
    return Shape(
        name, lane, rows, width, block, order, moved=moved, aligned=frozenset(aligned), cycles=cycles,
        strip=_strip(func.variables, extents, lane, strip),
        panel=None,
    )  # fmt: skip


def deciding(graph: Graph, func: Func, lane: str | None, box: Box) -> str | None:
    """A variable with few values, known beforehand, that decides what is computed or read: unrolled,
    every copy knows its own."""
    promised = graph.promised.get(func.name)
    if promised is None:
        return None
    for v, span, here in zip(func.variables, promised, box, strict=True):
        if v == lane or span is None or span != here or length(span) > MOST_COPIES:
            continue
        for n in (n for e in _all_values(func) for n in nodes(e)):
            if isinstance(n, ir.Select) and mentions(n.condition, v):
                return v
            if isinstance(n, ir.Access) and any(pieces(i, v) for i in n.indices):
                return v
    return None


def _all_values(func: Func) -> tuple[ir.Expr, ...]:
    return (func.pure, *(u.value for u in func.updates))


def transposed(func: Func, reads: list[ir.Access], lane: str, extents: list[int]) -> str | None:
    """The variable along which a copy reads neighbours that its lanes read from afar."""
    for a in reads:
        if move(a, lane) is Move.FAR:
            for v, n in zip(func.variables, extents, strict=True):
                if v != lane and n >= FEW and move(a, v) is Move.NEXT:
                    return v
    return None


def _with_sums(
    graph: Graph,
    machine: Machine,
    func: Func,
    extents: list[int],
    sums: tuple[str, ...],
    strip: int,
) -> Shape:
    (step,) = graph.steps[func.name]
    names: dict[str, dict[str, str]] = {}
    for a in step.reads:
        if a.name in sums:
            names[a.name] = own_names(a, graph.funcs[a.name])
    main = _main_sum(graph, sums)
    rename = names[main.func]
    back = {mine: theirs for theirs, mine in rename.items()}
    reads = [a for n in sums for s in graph.steps[n] for a in s.reads]
    theirs = [back[v] for v in func.variables]
    lane = lane_variable(theirs, extents, reads)
    width = min(
        machine.lanes(max(element_bits(graph, s) for n in sums for s in graph.steps[n])),
        machine.lanes(graph.funcs[main.func].element.bits),
    )
    rows = row_variable(theirs, extents, lane, main.reads, main.reduce)
    if len(sums) == 1 and any(d.tile is not None for d in graph.dots):
        known = dict(zip(theirs, extents, strict=True))
        tiles = tiles_for(graph, machine, main.func, rows, lane, known)
        if tiles is not None:
            return _in_tiles(func, tiles, rename, rows, lane, sums)
    if slides_in_lanes(graph, main, lane):
        rows = None
    rows = _picked_rows(graph, func.name, rows, theirs, extents, lane)
    steps = [s for n in sums for s in graph.steps[n]]
    stay = frozenset(v for v in (lane, rows) if v is not None and stays(graph, steps, v, v == lane))
    block, cycles = _block(
        graph, machine, theirs, extents, lane, rows, main, width, len(sums), func.name, stay
    )
    my_lane = None if lane is None else rename[lane]
    my_rows = None if rows is None else rename[rows]
    panel = None
    if lane is not None and extents[theirs.index(lane)] > block.vectors * width:
        panel = _panel(graph, main, theirs, lane)
    order, moved = _order(func.variables, my_lane)
    return Shape(
        func.name, my_lane, my_rows, width, block, order, sums,
        _strip(func.variables, extents, my_lane, strip), None if moved else panel, moved,
        frozenset(rename[v] for v in stay), cycles=cycles,
    )  # fmt: skip


def _in_tiles(
    func: Func, tiles: Tiles, rename: dict[str, str], rows: str | None, lane: str | None,
    sums: tuple[str, ...],
) -> Shape:  # fmt: skip
    """A block of tiles."""
    dot, tile = tiles.dot, tiles.block
    mine = None if rows is None or tile is None else rename[rows]
    block = Block(1, dot.rows) if tile is None else Block(tile.rows, tile.across)
    beside = None if tile is None or tiles.beside is None else (rename[tiles.beside], tile.beside)
    return Shape(
        func.name, rename[lane or ""], mine, dot.columns, block, func.variables, sums,
        panel=0 if tiles.panels else None, tiles=tiles, beside=beside, cycles=1.0,
    )  # fmt: skip


def slides_in_lanes(graph: Graph, main: Step, lane: str | None) -> bool:
    """Whether an instruction takes windows of what lies along the lanes: these are shared by steps of
    the reduction, not by rows."""
    if dot_for(graph, main, graph.dots, False) is None:
        return False
    deep, factors = deep_loop(graph, main), factors_of(graph, main)
    return deep is not None and factors is not None and windows(main, lane, deep, factors)


def _with_phases(
    graph: Graph, machine: Machine, func: Func, phases: Phases, extents: list[int], strip: int
) -> Shape:
    """Blocks of all phases: as many rows and vectors of each as there are registers for."""
    width = min(machine.lanes(element_bits(graph, s)) for s in graph.steps[phases.sums])
    rows, vectors = picked_block(graph, phases, machine.registers)
    block = Block(rows * phases.row_count, vectors)
    aligned = frozenset(v for v in (phases.rows, phases.lanes) if v is not None)
    return Shape(
        func.name, phases.lanes, phases.rows, width * phases.lane_count, block, func.variables,
        (phases.sums,), _strip(func.variables, extents, phases.lanes, strip), None,
        aligned=aligned, phases=phases, cycles=1.0,
    )  # fmt: skip


def _main_sum(graph: Graph, sums: tuple[str, ...]) -> Step:
    """The update that does most of the work."""
    steps = [s for n in sums for s in graph.steps[n] if s.update is not None]
    return max(steps, key=lambda s: graph.iterations(s, graph.box(s.func)))


def _block(
    graph: Graph,
    machine: Machine, variables: tuple[str, ...] | list[str], extents: list[int], lane: str | None,
    rows: str | None, main: Step, width: int, sums: int, name: str,
    stay: frozenset[str] = frozenset(),
) -> tuple[Block, float]:  # fmt: skip
    by = dict(zip(variables, extents, strict=True))
    dot = dot_for(graph, main, graph.dots, False)
    operands = [operand(a, rows, lane, main.reduce) for a in main.reads]
    if dot is not None:  # takes neighbours from each lane on
        operands = [o if o.lanes in NEAR else replace(o, lanes=Move.NEXT) for o in operands]
    along = 1 if lane is None else by[lane]
    down = 1 if rows is None else by[rows]
    unit_rows = 1 if rows is None else pieces_of(graph, (main,), rows)
    unit_lanes = 1 if lane is None else pieces_of(graph, (main,), lane)
    if unit_lanes > 256 or unit_rows > 14:
        unit_lanes = unit_rows = 1
    sides = Sides(down, along, unit_rows, unit_lanes, rows in stay, lane in stay)
    in_floats = graph.funcs[main.func].element.is_float
    adds = machine.multiply_adds if in_floats else MULTIPLY_ADDS
    pace, depth = Pace(adds, machine.latency), 1
    if dot is not None:
        latency = dot.latency if machine.measured else machine.latency
        pace, depth = Pace(dot.per_cycle, latency), dot.depth
    ranked = ranked_blocks(operands, machine, sums, sides, width, pace)
    each = [(b.rows, b.vectors) for b, _ in ranked]
    wanted = graph.choices.pick(f"{name}.block", each[0], each[1:])
    block, cycles = ranked[each.index(wanted)]
    return block, cycles / depth


def _picked_rows(
    graph: Graph, name: str, rows: str | None, variables: Sequence[str], extents: Sequence[int],
    lane: str | None,
) -> str | None:  # fmt: skip
    """The variable of the rows: the usual one, another with enough values, or none."""
    others = [v for v, n in zip(variables, extents, strict=True) if v != lane and n >= 2]
    return graph.choices.pick(f"{name}.rows", rows, (*others, None))


def _panel(graph: Graph, main: Step, variables: list[str], lane: str) -> int | None:
    """How many variables stand outside of the blocks of lanes: those that change an operand which
    all rows read, if it is too large for the second cache."""
    known = graph.known(main, graph.box(main.func))
    outside = 0
    changes = False
    for a in main.reads:
        if move(a, lane) is Move.FIXED:
            continue
        moving = [n for n, v in enumerate(variables) if v != lane and move(a, v) is not Move.FIXED]
        inner = {v for v in variables if v != lane and move(a, v) is Move.FIXED}
        size = a.type.element.bytes
        for name in {lane, *main.reduce}:
            size *= length(known[name]) if move(a, name) is not Move.FIXED else 1
        if inner and size > STAYS:
            changes = True
            outside = max([outside, *(n + 1 for n in moving)])
    return outside if changes else None


def _order(variables: tuple[str, ...], lane: str | None) -> tuple[tuple[str, ...], frozenset[str]]:
    """The variables outermost first: those behind the lanes, which have few values, before all."""
    if lane is None:
        return variables, frozenset()
    at = variables.index(lane)
    behind = variables[at + 1 :]
    return (*behind, *variables[: at + 1]), frozenset(behind)


def _strip(
    order: tuple[str, ...], extents: list[int], lane: str | None, height: int
) -> tuple[str, int] | None:
    """The outermost variable with many values, and how many of them a strip has."""
    if height == 0:
        return None
    for v, n in zip(order, extents, strict=True):
        if v != lane and n >= 2 * height:
            return v, height
    return None
