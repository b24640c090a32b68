"""The schedules to try for a program, the best first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.automatic.flat import flat_program
from hbc.frontend.automatic.place import Placing, placing
from hbc.frontend.automatic.rewritten import Rewritten, cached_sums
from hbc.frontend.automatic.text import Line, call, schedule_text
from hbc.frontend.automatic.typical import typical_sizes
from hbc.frontend.automatic.write import lines_of
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.dots import (
    deep_loop,
    dot_for,
    dots_of,
    factors_of,
    is_dot,
    sums,
    windows,
    worthwhile,
)  # fmt: skip
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.inlining import LONGEST as LONGEST_KEPT
from hbc.frontend.costs.inlining import inlined
from hbc.frontend.costs.machine import Machine, machine_of
from hbc.frontend.costs.spans import length
from hbc.frontend.plans.inline_limit import kept_apart
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.counted import counted
from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import Target, scheduled_for

STRIPS = (0, 8, 16, 32, 64, 128)  # rows of a strip in which several Funcs are computed
# Of the cycles, what one loop over the pixels of all rows is made for at most. On Zen 4 those of the 148
# layers that are below gain 5 to 17 % (46 to 48, 99 to 103), others nothing for sure (-2 to 3 %).
WORTH, WORTH_IN_TILES = 0.96, 0.9
# Nodes of a formula in the last candidate. Pyramids of eight to ten levels (samples/apps) are lowered in 5 to
# 7 s so, in 3.4 s with 400, in 8 to 9 s with 2,000; with 20,000 they were not done after minutes.
LONGEST_LAST = 1_000


@record
class Candidate:
    """A schedule as text, and in a few words what it does. `selects`: it wants tensor instructions."""

    text: str
    about: str
    selects: bool = False


def candidates(
    p: Pipeline, target: Target, given: Mapping[str, str], name: str,
    instructions: Sequence[Instruction] = (), machine: Machine | None = None,
) -> Iterator[Candidate]:  # fmt: skip
    """Schedules of that name, from the one that should be fastest to one that always fits. `machine`: with
    costs that were measured."""
    sizes = typical_sizes(p, given)
    machine = machine or machine_of(target)
    dots = worthwhile(dots_of(instructions), machine)
    flat = flat_program(p)
    for some, edges in ((dots, False), (dots, True), ((), True)) if dots else (((), True),):
        for rows, pixels in _programs(Rewritten(p), flat, sizes, some):
            graph = inlined(rows.pipeline, sizes, some, None, edges, lanes=machine.vectors)
            if not edges and not reads_inside(graph):
                continue  # there are no such edges, or a tail would have to look after them
            if some and not any(is_dot(graph, s) for s in sums(graph)):
                continue
            placed = placings(graph, machine)
            if pixels is not None:
                flattened = inlined(
                    pixels.pipeline, sizes, some, None, edges, lanes=machine.vectors
                )
                others = placings(flattened, machine)
                if is_quicker(others[0], placed[0]):
                    yield from _of_placings(others, target, name, bool(some), pixels)
            yield from _of_placings(placed, target, name, bool(some), rows)
    for longest in (LONGEST_KEPT, LONGEST_LAST):
        apart = kept_apart(p.funcs, p.output_funcs, longest)
        text = schedule_text(
            name, scheduled_for(target), safe_lines(p, machine.vectors, target, apart)
        )
        yield Candidate(text, "vectors along the innermost loops")


def _programs(
    plain: Rewritten, flat: Rewritten | None, sizes: Mapping[str, int], dots: tuple[Dot, ...]
) -> Iterator[tuple[Rewritten, Rewritten | None]]:
    """By rows and, where that can be, by pixels; first with Funcs for what instructions sum up in outputs."""
    apart = cached_sums(plain, sizes, dots) if dots else plain
    if apart is not plain:
        yield apart, None if flat is None else cached_sums(flat, sizes, dots)
    yield plain, flat


def reads_inside(graph: Graph) -> bool:
    """Whether Funcs are gone because the edges in them are never met, and instructions take all steps of
    the sums in whole."""
    if set(graph.funcs) == set(inlined(graph.pipeline, graph.numbers, graph.dots).funcs):
        return False
    for s in sums(graph):
        dot, deep = dot_for(graph, s, graph.dots, False), deep_loop(graph, s)
        known = graph.known(s, graph.box(s.func))
        if dot is not None and deep is not None and length(known[deep]) % dot.depth:
            return False
    return True


def rate_of(
    p: Pipeline, given: Mapping[str, str], instructions: Sequence[Instruction], machine: Machine
) -> float:
    """Products in a cycle of the instruction for the sums that take the most steps; 0 without one that is
    worth its while."""
    graph, main, fitting = _for_most(p, given, worthwhile(dots_of(instructions), machine))
    return max((d.rate * _filled(graph, main, d) for d in fitting), default=0.0) if main else 0.0


def why_idle(p: Pipeline, given: Mapping[str, str], instructions: Sequence[Instruction]) -> str:
    """What keeps instructions from the sums that take the most steps, where they are tiles, and there is one
    row at these sizes; "" where it is something else."""
    graph, main, fitting = _for_most(p, given, dots_of(instructions))
    if main is None or not fitting:
        return ""
    if any(d.rows == 1 or _filled(graph, main, d) * d.rows > 1 for d in fitting):
        return ""
    most = max(d.rows for d in fitting)
    return f"a tile has up to {counted(most, 'row')}, and `{main.func}` has one at these sizes"


def _for_most(
    p: Pipeline, given: Mapping[str, str], dots: tuple[Dot, ...]
) -> tuple[Graph, Step | None, list[Dot]]:
    """The sums that take the most steps, and the instructions whose types are theirs."""
    graph = inlined(p, typical_sizes(p, given), dots)
    steps = sums(graph)
    if not dots or not steps:
        return graph, None, []
    main = max(steps, key=lambda s: graph.iterations(s, graph.box(s.func)))
    fitting = (dot_for(graph, main, dots, tiles) for tiles in (True, False))
    return graph, main, [d for d in fitting if d is not None]


def _filled(graph: Graph, s: Step, d: Dot) -> float:
    """The share of an instruction's rows that there are: of one pixel, or a vector, a tile has one."""
    deep, factors = deep_loop(graph, s), factors_of(graph, s)
    if (
        deep is None
        or factors is None
        or any(windows(s, v, deep, factors, strided=True) for v in s.pure)
    ):
        return 1.0  # rows are pieces of one row then
    most = max((length(span) for span in graph.box(s.func)[:-1]), default=1)
    return min(most, d.rows) / d.rows


def is_quicker(flat: Placing, plain: Placing) -> bool:
    """Whether one loop over the pixels of all rows is."""
    tiles, others = _tile_cycles(flat), _tile_cycles(plain)
    if tiles or others:
        return tiles > 0 and (not others or tiles < WORTH_IN_TILES * others)
    return flat.cycles < WORTH * plain.cycles


def _tile_cycles(placing: Placing) -> float:
    """Of all blocks of tiles."""
    shapes = [p.shape for p in placing.placed.values()]
    return sum(shape.tiles.cycles for shape in shapes if shape.tiles is not None)


def placings(graph: Graph, machine: Machine) -> list[Placing]:
    """In strips of every height, those that take the fewest cycles first."""
    each = in_strips(lambda: graph, machine, STRIPS)
    return sorted(each, key=lambda placing_of_strip: placing_of_strip.cycles)


def in_strips(
    graph: Callable[[], Graph], machine: Machine, heights: Sequence[int]
) -> list[Placing]:
    """A placing for strips of each height; the heights ascend. Where no loop is long enough for strips of one
    height, none is for those of greater ones."""
    found: list[Placing] = []
    for n in heights:
        short = found and heights[len(found) - 1] > 0 and not _has_strips(found[-1])
        found.append(found[-1] if short else placing(graph(), machine, n))
    return found


def _has_strips(made: Placing) -> bool:
    return any(p.shape.strip is not None for p in made.placed.values())


def _of_placings(
    placed: Sequence[Placing], target: Target, name: str, selects: bool, program: Rewritten
) -> Iterator[Candidate]:
    """Of a program, whose lines go before all others."""
    seen = set()
    for promised in (True, False):
        for placing_of_strip in placed:
            if not promised:
                graph = replace(placing_of_strip.graph, promised={})
                placing_of_strip = replace(placing_of_strip, graph=graph)
            lines = [*program.lines, *lines_of(placing_of_strip)]
            text = schedule_text(name, scheduled_for(target), lines)
            if text not in seen:
                seen.add(text)
                yield Candidate(text, about(placing_of_strip, program.flat), selects)


def about(placing: Placing, flat: bool = False) -> str:
    """What the schedule does, in a few words. `flat`: with pixels of all rows as one loop."""
    held = {name for p in placing.placed.values() for name in p.shape.sums}
    shapes = [p.shape for name, p in placing.placed.items() if name not in held]
    blocks = [x for x in shapes if x.sums or x.block.rows > 1]
    parts = []
    for shape in blocks[:2]:
        beside = "" if shape.beside is None else f"{shape.beside[1]} x "
        block = f"{beside}{shape.block.rows} x {shape.block.vectors * shape.width}"
        parts.append(f"{shape.func} in blocks of {block}{' of all pixels' if flat else ''}")
    inner = sum(p.at is not None for p in placing.placed.values())
    if inner:
        parts.append(f"{inner} of {len(placing.placed)} Funcs computed inside others")
    if not parts:
        width = max((p.shape.width for p in placing.placed.values()), default=1)
        parts.append(f"vectors of {width}")
    return ", ".join(parts)


def safe_lines(p: Pipeline, vectors: bool, target: Target, apart: Collection[str]) -> list[Line]:
    """Vectors along the last variable of every Func that is computed by itself, threads along the
    first of outputs. `apart`: those that would be too long inlined."""
    lines = []
    outputs = p.output_funcs
    for f in p.funcs:
        own = f.name in outputs or bool(f.updates)
        if f.table_shape is not None or not (own or f.name in apart) or not f.variables:
            continue
        marks = [] if own else ["compute_root()"]
        width = max((target.vector_bits or 512) // max(32, *(p.element.bits for p in f.parts)), 1)
        if vectors:
            marks.append(call("vectorize", [f.variables[-1], width]))
        if len(f.variables) > 1:
            marks.append(call("parallel", [f.variables[0]]))
        lines.append(Line(f.name, tuple(marks)))
    return lines
