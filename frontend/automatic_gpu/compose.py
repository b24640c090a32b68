"""A point of the search space as a schedule for a GPU: each Func by its class, from the outputs back.

What a point does not name is chosen as `auto` does; see frontend/automatic/points.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeVar

from hbc.frontend.automatic.text import Line
from hbc.frontend.automatic_gpu.blocks import Block, option, ranked
from hbc.frontend.automatic_gpu.elements import element_lines
from hbc.frontend.automatic_gpu.product_lines import computed_there, product_lines, taps_within
from hbc.frontend.automatic_gpu.products import Product, own_product, product_of, with_dot
from hbc.frontend.automatic_gpu.rows import row_lines, rows_of
from hbc.frontend.automatic_gpu.threads import ranked_threads, thread_lines, thread_option
from hbc.frontend.costs.choices import Option
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph
from hbc.ir.ground.record import mutable
from hbc.ir.lang.types import Memory

T = TypeVar("T")
SHOWN = 12  # options of a choice
MMA, THREADS, PLAIN = "mma", "threads", "plain"


@mutable
class Composed:
    """Lines, and in a few words what they do. `cycles`: of the products, as estimated. `selects`: tensor
    instructions are wanted. `held`: Funcs that others' loops compute."""

    lines: list[Line] = field(default_factory=list)
    about: list[str] = field(default_factory=list)
    cycles: float = 0.0
    selects: bool = False
    held: set[str] = field(default_factory=set)


def composed(graph: Graph, dots: Sequence[Dot]) -> Composed:
    """By the choices of the graph."""
    made = Composed()
    for name in reversed(graph.funcs):
        if name in made.held:
            continue
        own = ["compute_root()"] if name not in graph.outputs else []
        product = product_of(graph, name) or own_product(graph, name)
        if product is not None and _product(graph, dots, product, own, made):
            continue
        rows = rows_of(graph, name)
        if rows is not None and graph.choices.pick(f"{name}.rows", True, (False,)):
            made.lines += row_lines(graph, rows, own)
            made.held |= set(rows.reduced)
            made.about.append(f"a warp for each row of {name}")
            continue
        lines = element_lines(graph, name, own)
        if lines is not None and graph.choices.pick(f"{name}.elements", True, (False,)):
            made.lines += lines
            if len(lines) > 1:
                made.about.append(f"{name} in squares through shared memory")
        elif own and not graph.funcs[name].updates:
            made.lines.append(Line(name, tuple(own)))
    return made


def _product(
    graph: Graph, dots: Sequence[Dot], p: Product, own: list[str], made: Composed
) -> bool:  # fmt: skip
    """Adds the lines of a product; whether there are such."""
    tensor = with_dot(graph, p, dots, Memory.MMA)
    by = [THREADS, PLAIN] if tensor is None else [MMA, THREADS, PLAIN]
    kind = graph.choices.pick(f"{p.sums}.by", by[0], by[1:])
    start = own if p.holder is not None else ["compute_root()"]
    if kind == MMA and tensor is not None:
        ways = [(c, b, w) for w in taps_within(graph, tensor) for c, b in ranked(tensor, w)]
        ways.sort(key=lambda each: each[0])
        found = _picked(graph, f"{p.sums}.block", ways, lambda x: (*option(x[1]), len(x[2])))
        if found is None:
            return False
        cost, block, within = found
        made.lines += product_lines(graph, tensor, block, within, start)
        made.about.append(_said(tensor, block))
        made.selects = True
        made.held |= {a.name for a in (p.a, p.b) if computed_there(graph, p, a)}
    elif kind == THREADS:
        plain = [(c, t, ()) for c, t in ranked_threads(p)]
        chosen = _picked(graph, f"{p.sums}.threads", plain, lambda x: thread_option(x[1]))
        if chosen is None:
            return False
        cost, threads, _ = chosen
        made.lines += thread_lines(graph, p, threads, start)
        tile = " x ".join(map(str, threads.tile))
        size = f"{threads.rows} x {threads.columns} ({threads.count} threads of {tile})"
        made.about.append(f"{p.holder or p.sums} in blocks of {size}")
    else:
        return False
    made.cycles += cost
    made.held.add(p.sums)
    return True


def _said(p: Product, b: Block) -> str:
    """A block in a few words."""
    assert p.dot is not None
    beside = f"{b.beside} x " if b.beside > 1 else ""
    warps = f"{b.warp_count} warps of {b.tile[0]} x {b.tile[1]}, {b.stages} stages of {b.depth}"
    size = f"{beside}{b.rows} x {b.columns}"
    return f"{p.holder or p.sums} in blocks of {size} by `{p.dot.instruction}` ({warps})"


def _picked(graph: Graph, name: str, ways: Sequence[T], said: Callable[[T], Option]) -> T | None:
    """The way that the choices want."""
    if not ways:
        return None
    by_option = {said(way): way for way in reversed(ways[:SHOWN])}
    return by_option[graph.choices.pick(name, said(ways[0]), [said(w) for w in ways[1:SHOWN]])]
