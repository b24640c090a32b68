"""A point of the search space as a schedule: what it says of the choices, and what else could be chosen.

A point is JSON: the name of a choice and the option that is wanted of it, `{"C.block": [6, 4]}`. What it does
not name is chosen as `auto` does. What is asked depends on what was chosen before, so the space is
found by making schedules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from hbc.frontend.automatic.candidates import STRIPS, about, in_strips, is_quicker, placings
from hbc.frontend.automatic.flat import flat_program
from hbc.frontend.automatic.place import Placing
from hbc.frontend.automatic.rewritten import Rewritten, cached_sums
from hbc.frontend.automatic.text import schedule_text
from hbc.frontend.automatic.typical import typical_sizes
from hbc.frontend.automatic.variants import variant
from hbc.frontend.automatic.write import lines_of
from hbc.frontend.costs.choices import Choices, Option, Point, as_json
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.dots import dot_for, dots_of, sums, worthwhile
from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.inlining import inlined
from hbc.frontend.costs.machine import Machine, machine_of
from hbc.frontend.program.by_size import is_for
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.frontend.text.blocks import schedule_blocks
from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import Target, schedule_order, scheduled_for

# Choices of the whole schedule.
FROM, INSTRUCTIONS, FLAT, STRIP = "from", "instructions", "flat", "strip"
AUTO = "auto"
ALL, DOTS, NONE = "all", "dots", "none"
BANDED = 2.0  # half of a band of taps are zeros


@record
class Made:
    """The schedule of a point. `point`: what of it had an effect; `asked`: the options of each choice, the
    usual first; `cycles`: as the model estimates them, None for a schedule of the file; `selects`: it
    wants tensor instructions; `shares`: what each Func has of the cycles."""

    text: str
    about: str
    point: Point
    asked: Mapping[str, tuple[Option, ...]]
    cycles: float | None
    selects: bool
    shares: Mapping[str, float]


@record
class Space:
    """All schedules of a kernel for a target. `own`: those of the file, to start from too. `flat`: with one
    loop over the pixels of all rows, where that can be; `flattens`: it is usual. `graphs`:
    those that were made for other points."""

    pipeline: Pipeline
    target: Target
    sizes: Mapping[str, int]
    machine: Machine
    dots: tuple[Dot, ...]
    name: str
    own: tuple[Schedule, ...]
    flat: Rewritten | None = None
    flattens: bool = False
    graphs: dict[Any, list[Any]] = field(default_factory=dict, compare=False, repr=False)

    def made(self, point: Point) -> Made:
        """The schedule of a point."""
        top = Choices(point)
        start = top.pick(FROM, AUTO, [s.name for s in self.own])
        if start != AUTO:
            schedule = next(s for s in self.own if s.name == start)
            text = variant(self.pipeline, schedule, self.name, scheduled_for(self.target), top)
            origin = f"schedule {start} of the file"
            return Made(text, origin, top.effective(), top.asked, None, False, {})
        kind = top.pick(INSTRUCTIONS, *_kinds(self))
        dots = {ALL: self.dots, DOTS: tuple(d for d in self.dots if d.tile is None), NONE: ()}[kind]
        base = Choices(point)
        flat = self.flat
        if flat is not None and not top.pick(FLAT, self.flattens, (not self.flattens,)):
            flat = None
        program = Rewritten(self.pipeline) if flat is None else flat
        program = cached_sums(program, self.sizes, dots) if dots else program
        graph = base.once(
            self.graphs.setdefault((kind, flat is None), []),
            lambda c: inlined(program.pipeline, self.sizes, dots, c, lanes=self.machine.vectors),
        )
        placed = self._placed(graph, point, top)
        lines = [*program.lines, *lines_of(placed)]
        text = schedule_text(self.name, scheduled_for(self.target), lines)
        chosen = placed.graph.choices
        asked = {**top.asked, **base.asked, **chosen.asked}
        point = {**top.effective(), **base.effective(), **chosen.effective()}
        placed = replace(placed, costs=_costs(placed))
        cycles = placed.cycles
        shares = {name: cost / cycles for name, cost in placed.costs.items()} if cycles else {}
        said = about(placed, program.flat)
        return Made(text, said, point, asked, cycles, bool(dots), shares)

    def _placed(self, graph: Graph, point: Point, top: Choices) -> Placing:
        """In the strips that take the fewest cycles, or those that are wanted."""
        wanted = as_json(point.get(STRIP))
        heights = [n for n in STRIPS if n == wanted] or list(STRIPS)
        made = in_strips(lambda: replace(graph, choices=Choices(point)), self.machine, heights)
        placings = list(zip(made, heights, strict=True))
        best, height = min(placings, key=lambda each: each[0].cycles)
        others = [n for _, n in sorted(placings, key=lambda each: each[0].cycles)]
        top.pick(STRIP, height, (*others, *STRIPS))
        if wanted == height:
            top.asked[STRIP] = (None, *top.asked[STRIP])  # so that it is not as usual
        return best


def _costs(placed: Placing) -> dict[str, float]:
    """The cycles of each Func, of tiles by the model of their blocks, to tell them from other instructions.
    (Where Funcs are placed they cost what vectors do: denoise_bf16 is 7 % faster by that.)"""
    costs = dict(placed.costs)
    for name, p in placed.placed.items():
        tiles = p.shape.tiles
        if tiles is None:
            continue
        steps = [
            s for inner in p.shape.sums for s in placed.graph.steps[inner] if s.update is not None
        ]
        products = sum(placed.graph.iterations(s, placed.graph.box(s.func)) for s in steps)
        banded = BANDED * products / tiles.dot.rate
        each = tiles.cycles * placed.iterations(p.at) if tiles.block is not None else banded
        costs |= dict.fromkeys((name, *p.shape.sums), each)
    return costs


def space_of(
    p: Pipeline, target: Target, given: Mapping[str, str], name: str,
    instructions: Sequence[Instruction] = (), machine: Machine | None = None,
) -> Space:  # fmt: skip
    """The space of a kernel at its typical sizes. Schedules are called `name`. `machine`: with costs that
    were measured."""
    serving = dict.fromkeys((target.name, *schedule_order(scheduled_for(target))[:2]))
    there, sizes = schedule_blocks(p.source), typical_sizes(p, given)
    fitting = [s for s in p.schedules if s.name in there and is_for(s, sizes)]
    own = [s for t in serving for s in fitting if t in s.targets]
    machine, dots = machine or machine_of(target), dots_of(instructions)
    flat = flat_program(p)
    flattens = flat is not None and is_quicker(
        *(placings(inlined(each, sizes, dots), machine)[0] for each in (flat.pipeline, p))
    )
    own = list(dict.fromkeys(own))
    return Space(p, target, sizes, machine, dots, name, tuple(own), flat, flattens)


def _kinds(space: Space) -> tuple[str, tuple[str, ...]]:
    """Which instructions are wanted usually, and which could be."""
    graph = inlined(space.pipeline, space.sizes, space.dots) if space.dots else None
    if graph is None:
        return NONE, ()
    tiles, dots = (
        any(dot_for(graph, s, space.dots, t) is not None for s in sums(graph))
        for t in (True, False)
    )
    kinds = (ALL, *((DOTS,) if tiles and dots else ()), NONE) if tiles or dots else (NONE,)
    worth = worthwhile(space.dots, space.machine)
    usual = (
        ALL
        if any(dot_for(graph, s, worth, t) for s in sums(graph) for t in (True, False))
        else NONE
    )
    return usual, tuple(kind for kind in kinds if kind != usual)
