"""A point of the search space as a schedule for a GPU: each Func by its class, from the outputs back.

What a point does not name is chosen as `auto` does; see frontend/automatic/points.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hbc.frontend.automatic.text import Line
from hbc.frontend.automatic_gpu.elements import element_lines
from hbc.frontend.automatic_gpu.phase_windows import phase_window_lines
from hbc.frontend.automatic_gpu.product_lines import computed_there
from hbc.frontend.automatic_gpu.products import Product, own_product, product_of
from hbc.frontend.automatic_gpu.rows import alone_lines, row_lines, rows_of, total_lines
from hbc.frontend.automatic_gpu.tensor import tensor_lines, tensor_plans
from hbc.frontend.automatic_gpu.threads import (
    ranked_threads,
    thread_cycles,
    thread_lines,
    thread_option,
)
from hbc.frontend.automatic_gpu.windows import window_lines, window_of
from hbc.frontend.costs.choices import picked
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph
from hbc.ir.ground.record import mutable

THREADS, PLAIN = "threads", "plain"


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
        window = window_of(graph, name, dots)
        if window is not None and graph.choices.pick(f"{name}.window", True, (False,)):
            made.lines += window_lines(graph, window, own)
            made.held.add(window.sums.func)
            made.selects = True
            made.about.append(f"{name} by bands of taps on tensor cores")
            continue
        phases = phase_window_lines(graph, name, dots, own)
        if phases is not None and graph.choices.pick(f"{name}.window", True, (False,)):
            made.lines += phases[0]
            made.held.add(phases[1])
            made.selects = True
            made.about.append(f"{name} by bands of the taps of its phases on tensor cores")
            continue
        rows = rows_of(graph, name)
        if rows is not None and graph.choices.pick(f"{name}.rows", True, (False,)):
            pieces = total_lines(graph, rows, own)
            split = pieces is not None and graph.choices.pick(f"{name}.split", True, (False,))
            made.lines += pieces if pieces is not None and split else row_lines(graph, rows, own)
            made.held |= set(rows.reduced)
            made.about.append(f"a warp for each {'piece of a ' if split else ''}row of {name}")
            continue
        alone = alone_lines(graph, name, own)
        if alone is not None and graph.choices.pick(f"{name}.rows", True, (False,)):
            made.lines += alone
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
    plans = {plan.kind: plan for plan in tensor_plans(graph, p, dots)}
    kinds = [*plans, THREADS, PLAIN]
    kind = graph.choices.pick(f"{p.sums}.by", kinds[0], kinds[1:])
    start = own if p.holder is not None else ["compute_root()"]
    if kind in plans:
        lines, about, cost = tensor_lines(graph, plans[kind], start, made.registers)
        made.selects = True
    elif kind == THREADS:
        chosen = picked(
            graph.choices, f"{p.sums}.threads", ranked_threads(p), lambda x: thread_option(x[1])
        )
        if chosen is None:
            return False
        cost, threads = chosen
        if made.registers is not None:
            cost = thread_cycles(p, threads, made.registers)
        lines = thread_lines(graph, p, threads, start)
        tile = " x ".join(map(str, threads.tile))
        size = f"{threads.rows} x {threads.columns} ({threads.count} threads of {tile})"
        about = f"{p.holder or p.sums} in blocks of {size}"
    else:
        return False
    made.lines += lines
    made.about.append(about)
    made.cycles += cost
    made.held |= {p.sums, *(a.name for a in (p.a, p.b) if computed_there(graph, p, a))}
    return True
