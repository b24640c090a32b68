"""Where each Func is computed: dynamic programming from the outputs back, by estimated cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from itertools import combinations, permutations
from math import prod

from hbc.frontend.automatic.shape import Loop, Shape, shape_of
from hbc.frontend.automatic.update_kinds import blocks_of_steps, is_read_along, update_loops
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.inlining import cost_of
from hbc.frontend.costs.kinds import permuted, sums_along
from hbc.frontend.costs.lanes import FEW
from hbc.frontend.costs.machine import Machine
from hbc.frontend.costs.spans import Box, Span, length, volume
from hbc.frontend.program.constants import evaluate
from hbc.ir.ground.record import mutable, record

BEGIN = 30.0  # cycles to begin a stage once more
REUSED = 16.0  # how often a block of sums uses what it has loaded
ROOT = "root"  # before everything
PAGES = range(64 << 10, 4 << 20)  # bytes whose pages the system gives anew in each call, by 4 KB
POINTERS = 8  # to as many rows, of a distance that is no constant, stay in registers
ROWS_APART = 0.5  # cycles more to read one of more rows than these
FRESH = 0.3  # cycles of it for a byte: half a microsecond a page
NEARLY = 1.1  # what costs so much more is worth it further in, where more can follow


@record
class Level:
    """The body of a loop of a step."""

    func: str
    update: int | None
    loop: str


@record
class Placed:
    """Where a Func is computed (None: before everything) and for which box."""

    shape: Shape
    at: Level | None
    box: Box
    loops: Mapping[int | None, tuple[Loop, ...]]


@mutable
class Placing:
    """What has been decided; Funcs are placed after all that read them. `costs`: the cycles of each Func,
    of sums in the registers of another those of it all."""

    graph: Graph
    machine: Machine
    placed: dict[str, Placed]
    costs: dict[str, float] = field(default_factory=dict)

    @property
    def cycles(self) -> float:
        """Of everything."""
        held = {inner for p in self.placed.values() for inner in p.shape.sums}
        return sum(cycles for name, cycles in self.costs.items() if name not in held)

    def path(self, s: Step) -> tuple[Level, ...]:
        """All loops around the body of a step, outermost first."""
        placed = self.placed[s.func]
        own = tuple(Level(s.func, s.update, x.name) for x in placed.loops.get(s.update, ()))
        return (*self.path_to(placed.at), *own)

    def path_to(self, level: Level | None) -> tuple[Level, ...]:
        """The loops down to a level."""
        if level is None:
            return ()
        placed = self.placed[level.func]
        names = [x.name for x in placed.loops[level.update]]
        own = names[: names.index(level.loop) + 1]
        outer = self.path_to(placed.at)
        return (*outer, *(Level(level.func, level.update, n) for n in own))

    def candidates(self, name: str) -> list[Level]:
        """The loops that are around everything that reads the Func, outermost first."""
        readers = self.graph.readers(name)
        shared = self.path(readers[0])
        for s in readers[1:]:
            path = self.path(s)
            count = 0
            while count < min(len(shared), len(path)) and shared[count] == path[count]:
                count += 1
            shared = shared[:count]
        return list(shared)

    def inside(self, level: Level) -> dict[str, Span]:
        """The spans of names in an iteration of a loop, in the middle of its range."""
        placed = self.placed[level.func]
        loops = placed.loops[level.update]
        step = next(s for s in self.graph.steps[level.func] if s.update == level.update)
        known = self.graph.known(step, placed.box)
        for x in loops:
            first, last = known[x.variable]
            if x.step < last - first + 1:
                middle = first + (last - first + 1) // 2 // x.step * x.step
                known[x.variable] = middle, min(middle + x.step - 1, last)
            if x.name == level.loop:
                break
        return known

    def iterations(self, level: Level | None) -> float:
        """How often the body of a loop runs in all."""
        if level is None:
            return 1.0
        placed = self.placed[level.func]
        count = self.iterations(placed.at)
        ranges = dict(zip(self.graph.funcs[level.func].variables, placed.box, strict=True))
        left = {v: length(s) for v, s in ranges.items()}
        step = next(s for s in self.graph.steps[level.func] if s.update == level.update)
        known = self.graph.known(step, placed.box)
        left |= {r: length(known[r]) for r in step.reduce}
        for x in placed.loops[level.update]:
            have = left.get(x.variable, 1)
            count *= -(-have // x.step)
            left[x.variable] = min(x.step, have)
            if x.name == level.loop:
                break
        return count

    def box_at(self, name: str, level: Level) -> Box:
        """What is needed of a Func in an iteration of a loop."""
        boxes: dict[str, list[Box]] = {}
        order = [n for n in reversed(self.graph.funcs) if n in self.placed]
        for n in order:
            for s in self.graph.steps[n]:
                if s.func == level.func:
                    if s.update != level.update:
                        continue
                    known = self.inside(level)
                elif n in boxes and level in self.path(s):
                    known = self.graph.known(s, _around(boxes[n]))
                else:
                    continue
                for a in s.reads:
                    if a.name in self.graph.funcs:
                        boxes.setdefault(a.name, []).append(self.graph.read_box(a, known))
        return _around(boxes[name])

    def cost(self, name: str, level: Level | None, box: Box) -> float:
        """Cycles of a Func computed for the box in each iteration of a loop, and of reading it."""
        graph, func = self.graph, self.graph.funcs[name]
        width = self.machine.lanes(max(func.element.bits, 32))
        times = self.iterations(level)
        shape = shape_of(graph, self.machine, name, box, 0)
        points = volume(box)
        padded = box
        lane = func.variables[-1] if func.variables else None
        partial = any(sums_along(graph, s, lane) for s in graph.steps[name])
        if box and not partial:
            first, last = box[-1]
            padded = (*box[:-1], (first, first + -(-(last - first + 1) // width) * width - 1))
        work = 0.0
        for s in graph.steps[name]:
            if s.update is not None and shape.cycles and s.reduce:
                work += graph.iterations(s, box) * shape.cycles / shape.width
                continue
            value = func.pure if s.update is None else func.updates[s.update].value
            work += graph.iterations(s, padded) * max(cost_of(value, lane), 1.0) / width
        for inner in shape.sums:
            for s in graph.steps[inner]:
                own = graph.box(inner) if shape.phases else permuted(graph, name, inner, box)
                work += graph.iterations(s, own) * shape.cycles / shape.width
        size = points * func.element.bytes
        uses = apart = 0.0
        for s in graph.readers(name):
            count = len([a for a in s.reads if a.name == name])
            reused = REUSED if s.reduce else 1.0
            read = graph.iterations(s, graph.box(s.func)) * count / reused
            uses += read
            apart += read if self._rows_are_apart(name, s, level) else 0.0
        at = self.machine.access_cycles(size)
        if level is None and name not in graph.outputs and int(size) in PAGES:
            work += FRESH * size
        return times * (work + 2 * points * at + BEGIN) + uses * at + apart * ROWS_APART

    def _rows_are_apart(self, name: str, s: Step, level: Level | None) -> bool:
        """Whether a step of sums in registers reads many rows whose distance is no constant, of a Func
        computed at the level: within a block of steps it is one."""
        holder = next((p for p in self.placed.values() if s.func in p.shape.sums), None)
        if holder is None or holder.shape.block.rows <= POINTERS:
            return False
        blocks = self.placed[s.func].loops.get(s.update, ())
        along = any(is_read_along(a, x.variable) for a in s.reads if a.name == name for x in blocks)
        return along and (level is None or level.func != s.func)

    def cheapest(self, name: str) -> tuple[float, Level | None, Box]:
        """The innermost of the loops at which it takes little more than at the best."""
        graph = self.graph
        whole = graph.box(name)
        costs: list[tuple[float, Level | None, Box]] = [(self.cost(name, None, whole), None, whole)]
        if name not in graph.outputs:
            for level in self.candidates(name):
                box = self.box_at(name, level)
                costs.append((self.cost(name, level, box), level, box))
        least = min(cycles for cycles, _, _ in costs)
        usual = next(x for x in reversed(costs) if x[0] <= least * NEARLY)
        by_name = {name_of(level): (cycles, level, box) for cycles, level, box in costs}
        ranked = sorted(by_name, key=lambda n: by_name[n][0])
        return by_name[graph.choices.pick(f"{name}.at", name_of(usual[1]), ranked)]

    def place(self, name: str, strip: int) -> None:
        """Decides for one Func."""
        graph = self.graph
        holder = next((h for h, p in self.placed.items() if name in p.shape.sums), None)
        best: tuple[float, Level | None, Box]
        if holder is not None:
            loops = self.placed[holder].loops[None]
            at = Level(holder, None, loops[-1].name) if loops else None
            box = graph.box(name) if at is None else self.box_at(name, at)
            best = self.costs[holder], at, box
        else:
            best = self.cheapest(name)
        self.costs[name], at, box = best
        height = strip if at is None and holder is None else 0
        shape = shape_of(graph, self.machine, name, box, height)
        placed = with_loops(graph, shape, at, box, self.machine.vectors)
        if holder is not None:
            placed = replace(
                placed, loops={s.update: self._between(s, holder) for s in graph.steps[name]}
            )
        self.placed[name] = placed

    def _between(self, s: Step, holder: str) -> tuple[Loop, ...]:
        """The loops between the steps of sums in the registers of another Func."""
        shape = self.placed[holder].shape
        if s.update is None or shape.phases or shape.tiles or not self.machine.vectors:
            return ()
        return blocks_of_steps(self.graph, self.machine, s, shape.width)


def name_of(level: Level | None) -> str:
    """A place as a point names it: `root`, `C.jo`, `Y.update(1).to`."""
    if level is None:
        return ROOT
    return f"{stage(level)}.{level.loop}"


def stage(level: Level) -> str:
    """The stage of a level, as it is written."""
    if level.update is None:
        return level.func
    return f"{level.func}.update" + (f"({level.update})" if level.update else "")


def _around(boxes: Iterable[Box]) -> Box:
    hulls = list(boxes)
    return tuple(
        (min(b[d][0] for b in hulls), max(b[d][1] for b in hulls)) for d in range(len(hulls[0]))
    )


def with_loops(
    graph: Graph, shape: Shape, at: Level | None, box: Box, vectors: bool
) -> Placed:  # fmt: skip
    """The loops of a shape that stay loops, in order."""
    func = graph.funcs[shape.func]
    loops: list[Loop] = []
    lane_loop: Loop | None = None
    ranges = {v: length(s) for v, s in zip(func.variables, box, strict=True)}
    for v in shape.order:
        strip = shape.strip is not None and shape.strip[0] == v
        if strip and shape.strip is not None:
            where = len(loops)
            while where > 0 and ranges[loops[where - 1].variable] < FEW:
                where -= 1  # what does not change with few values is computed for all of them
            loops.insert(where, Loop(graph.name(v, "s"), v, shape.strip[1]))
        if v in shape.whole:
            continue
        covered = shape.covered(v)
        suffix = "o" if covered > 1 else "t" if strip else None
        name = v if suffix is None else graph.name(v, suffix)
        loop = Loop(name, v, covered)
        if v == shape.lanes:
            lane_loop = loop
        else:
            loops.append(loop)
    if lane_loop is not None:
        where = len(loops)
        if shape.panel is not None:
            outside = set(shape.order[: shape.panel])
            where = max([n + 1 for n, x in enumerate(loops) if x.variable in outside], default=0)
        elif has_few_points(graph, shape.func, shape.lanes):
            where = 0
        loops.insert(where, lane_loop)
    ordered = _in_order(graph, shape.func, tuple(loops))
    if func.updates:
        by: dict[int | None, tuple[Loop, ...]] = {None: ()}
        for s in graph.steps[shape.func]:
            if s.update is not None:
                by[s.update] = update_loops(graph, shape, s, vectors)
        return Placed(shape, at, box, by)
    return Placed(replace(shape, loops=ordered), at, box, {None: ordered})


FEW_POINTS = 64  # of a lane: a small matrix


def has_few_points(graph: Graph, name: str, lane: str | None) -> bool:
    """Whether an output has few points, as many at any sizes, for each lane: all of them are made for a
    block of lanes before the next, and what they are made of is computed there."""
    output = graph.pipeline.output_funcs.get(name)
    if output is None:
        return False
    variables = graph.funcs[name].variables
    counts = [evaluate(e) for v, e in zip(variables, output.extents, strict=True) if v != lane]
    return bool(counts) and None not in counts and prod(int(n or 1) for n in counts) <= FEW_POINTS


MOST_REORDERED = 4  # loops of which all orders are offered


def _in_order(graph: Graph, name: str, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The loops in the order that is wanted: any in which the pieces of a variable stay outside of what
    they consist of. The names stand for them."""
    if not 2 <= len(loops) <= MOST_REORDERED:
        return loops
    orders: dict[tuple[str, ...], tuple[Loop, ...]] = {}
    for order in permutations(loops):  # the first is that of the loops
        inside = [
            (a, b) for a, b in combinations(order, 2)
            if a.variable == b.variable and loops.index(a) > loops.index(b)
        ]  # fmt: skip
        if not inside:
            orders[tuple(_word(x, loops) for x in order)] = order
    usual, *others = orders
    return orders[graph.choices.pick(f"{name}.order", usual, others)]


def _word(x: Loop, loops: tuple[Loop, ...]) -> str:
    """The variable, with a mark for a loop of strips of it."""
    inner = [y for y in loops[loops.index(x) + 1 :] if y.variable == x.variable]
    return x.variable + "'" * len(inner)


def placing(graph: Graph, machine: Machine, strip: int) -> Placing:
    """Places every Func, outputs first."""
    result = Placing(graph, machine, {})
    for name in reversed(graph.funcs):
        result.place(name, strip)
    return result
