"""A point of the search space as a schedule for a GPU: each Func by its class, from the outputs back.

What a point does not name is chosen as `auto` does; see frontend/automatic/points.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeVar

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.blocks import Block, cycles, option, ranked
from hbc.frontend.automatic_gpu.elements import element_lines
from hbc.frontend.automatic_gpu.product_lines import computed_there, product_lines, taps_within
from hbc.frontend.automatic_gpu.products import Product, own_product, product_of, with_dot
from hbc.frontend.automatic_gpu.rows import row_lines, rows_of
from hbc.frontend.automatic_gpu.split import PIECES, gathering, in_pieces, split_lines
from hbc.frontend.automatic_gpu.threads import (
    ranked_threads,
    thread_cycles,
    thread_lines,
    thread_option,
)
from hbc.frontend.automatic_gpu.totals import total_lines
from hbc.frontend.costs.choices import Option
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph
from hbc.ir.ground.record import mutable
from hbc.ir.lang.types import Memory

T = TypeVar("T")
Way = tuple[float, Block, tuple[str, ...]]
SHOWN = 12  # options of a choice
MMA, THREADS, PLAIN = "mma", "threads", "plain"


@mutable
class Composed:
    """Lines, and in a few words what they do. `cycles`: of the products, as estimated. `selects`: tensor
    instructions are wanted. `held`: Funcs that others' loops compute. `registers` of a thread, where a
    compiler has said so."""

    lines: list[Line] = field(default_factory=list)
    about: list[str] = field(default_factory=list)
    cycles: float = 0.0
    selects: bool = False
    held: set[str] = field(default_factory=set)
    registers: int | None = None


def composed(graph: Graph, dots: Sequence[Dot], registers: int | None = None) -> Composed:
    """By the choices of the graph."""
    made = Composed(registers=registers)
    for name in reversed(graph.funcs):
        if name in made.held:
            continue
        own = ["compute_root()"] if name not in graph.outputs else []
        product = product_of(graph, name) or own_product(graph, name)
        if product is not None and _product(graph, dots, product, own, made):
            continue
        rows = rows_of(graph, name)
        if rows is not None and graph.choices.pick(f"{name}.rows", True, (False,)):
            pieces = total_lines(graph, rows, own)
            split = pieces is not None and graph.choices.pick(f"{name}.split", True, (False,))
            made.lines += pieces if pieces is not None and split else row_lines(graph, rows, own)
            made.held |= set(rows.reduced)
            made.about.append(f"a warp for each {'piece of a ' if split else ''}row of {name}")
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
        cost = _tensor(graph, tensor, start, made)
        if cost is None:
            return False
    elif kind == THREADS:
        plain = [(c, t, ()) for c, t in ranked_threads(p)]
        chosen = _picked(graph, f"{p.sums}.threads", plain, lambda x: thread_option(x[1]))
        if chosen is None:
            return False
        cost, threads, _ = chosen
        if made.registers is not None:
            cost = thread_cycles(p, threads, made.registers)
        made.lines += thread_lines(graph, p, threads, start)
        tile = " x ".join(map(str, threads.tile))
        size = f"{threads.rows} x {threads.columns} ({threads.count} threads of {tile})"
        made.about.append(f"{p.holder or p.sums} in blocks of {size}")
    else:
        return False
    made.cycles += cost
    made.held |= {p.sums, *(a.name for a in (p.a, p.b) if computed_there(graph, p, a))}
    return True


def _tensor(graph: Graph, p: Product, own: list[str], made: Composed) -> float | None:
    """Adds the lines of a product on tensor cores, in pieces where that takes less; its cycles."""
    there = [a.name for a in (p.a, p.b) if computed_there(graph, p, a)]
    ways: list[tuple[float, int, Way]] = []
    for count in (1, *(() if there else PIECES)):
        piece = (p, 0) if count == 1 else in_pieces(graph, p, count)
        best = _ways(graph, piece[0])[:1] if piece is not None else []
        gathered = 0.0 if count == 1 else gathering(p, count)
        ways += [(way[0] + gathered, count, way) for way in best]
    if not ways:
        return None
    ways.sort(key=lambda each: each[0])
    pieces = graph.choices.pick(f"{p.sums}.pieces", ways[0][1], [w[1] for w in ways[1:]])
    product, steps = (p, 0) if pieces == 1 else in_pieces(graph, p, pieces) or (p, 0)
    before: list[Line] = []
    if product is not p:
        before, own = split_lines(graph, p, product, steps)
    name = f"{p.sums}.block"
    chosen = _picked(graph, name, _ways(graph, product), lambda x: (*option(x[1]), len(x[2])))
    assert chosen is not None and p.dot is not None
    cost, block, within = chosen
    if made.registers is not None:
        cost = cycles(product, block, within, made.registers)
    made.lines += [*before, *product_lines(graph, product, block, within, own)]
    made.selects = True
    about = _said(p, block)
    if product is not p and p.holder is not None:
        made.lines += element_lines(graph, p.holder, [], vectors=False) or []
        level = graph.name(graph.funcs[p.holder].variables[-1], "i")
        made.lines.append(Line(p.sums, (call("compute_at", [p.holder, level]),)))
        about += f", {pieces} pieces of {steps} steps"
        cost += gathering(p, pieces)
    made.about.append(about)
    return cost


def _ways(graph: Graph, p: Product) -> list[Way]:
    """Blocks and the taps that one copy is for, the fewest cycles first."""
    ways = [(c, b, w) for w in taps_within(graph, p) for c, b in ranked(p, w)]
    return sorted(ways, key=lambda each: each[0])


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
