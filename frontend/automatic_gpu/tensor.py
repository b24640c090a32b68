"""Products on tensor cores: by warps with fragments of their own or by groups of warps, in pieces of the sum
where that takes less, as the model of time ranks them and the choices want them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from hbc.frontend.automatic.text import Line
from hbc.frontend.automatic_gpu.blocks import cycles, option, ranked
from hbc.frontend.automatic_gpu.group_lines import group_lines
from hbc.frontend.automatic_gpu.groups import group_cycles, group_dots, group_option, ranked_groups
from hbc.frontend.automatic_gpu.product_lines import computed_there, product_lines, taps_within
from hbc.frontend.automatic_gpu.products import Product, alone, warp_dots
from hbc.frontend.automatic_gpu.split import (
    PIECES,
    gathering,
    gathering_lines,
    in_pieces,
    split_lines,
)
from hbc.frontend.costs.choices import picked
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph
from hbc.ir.ground.record import record

GROUPS, MMA = "groups", "mma"


@record
class Way:
    """A block of a product: its cycles as estimated, itself as JSON has it and in a few words; `lines` by
    what the holder's first begins with; `again`: the cycles where a thread's registers are known."""

    cycles: float
    option: tuple[int, ...]
    about: str
    lines: Callable[[list[str]], list[Line]]
    again: Callable[[int], float]


@record
class Plan:
    """A product on tensor cores: `ways` by the number of pieces, each with the fewest cycles first."""

    product: Product
    kind: str
    ways: dict[int, tuple[float, Product, int, list[Way]]]

    @property
    def cycles(self) -> float:
        return min(each[0] for each in self.ways.values())


def tensor_plans(graph: Graph, p: Product, dots: Sequence[Dot]) -> list[Plan]:
    """One for each kind of block that there is for the product, the one with the fewest cycles first."""
    plans = (_plan(graph, p, dots, kind) for kind in (GROUPS, MMA))
    return sorted((x for x in plans if x.ways), key=lambda x: x.cycles)


def _plan(graph: Graph, p: Product, dots: Sequence[Dot], kind: str) -> Plan:
    found = _INSTRUCTIONS[kind](graph, p, dots)
    if kind == GROUPS:
        p = alone(p)
    there = [a.name for a in (p.a, p.b) if computed_there(graph, p, a)]
    ways = {}
    for count in (1, *(() if there else PIECES)) if found else ():
        piece = (p, 0) if count == 1 else in_pieces(graph, p, count)
        best = _WAYS[kind](graph, piece[0], found) if piece is not None else []
        if piece is not None and best:
            gathered = 0.0 if count == 1 else gathering(p, count)
            ways[count] = (best[0].cycles + gathered, *piece, best)
    return Plan(p, kind, ways)


def _group_ways(graph: Graph, p: Product, dots: Sequence[Dot]) -> list[Way]:
    return [
        Way(
            cost, group_option(b),
            _said(p, (b.rows, b.columns), b.dot, f"{b.groups} groups, {b.stages} stages of {b.depth}"),
            partial(group_lines, graph, p, b), partial(group_cycles, p, b),
        )
        for cost, b in ranked_groups(p, dots)
    ]  # fmt: skip


def _warp_ways(graph: Graph, p: Product, dots: Sequence[Dot]) -> list[Way]:
    """Blocks and the taps that one copy is for."""
    (dot,) = dots
    by = replace(p, dot=dot)
    found = []
    for within in taps_within(graph, by):
        for cost, b in ranked(by, within):
            sides = (*([b.beside] if b.beside > 1 else []), b.rows, b.columns)
            tile = f"{b.tile[0]} x {b.tile[1]}"
            warps = f"{b.warp_count} warps of {tile}, {b.stages} stages of {b.depth}"
            found.append(Way(
                cost, (*option(b), len(within)), _said(by, sides, dot, warps),
                partial(product_lines, graph, by, b, within), partial(cycles, by, b, within),
            ))  # fmt: skip
    return sorted(found, key=lambda way: way.cycles)


_INSTRUCTIONS = {GROUPS: group_dots, MMA: warp_dots}
_WAYS = {GROUPS: _group_ways, MMA: _warp_ways}
_CHOICES = {GROUPS: "groups", MMA: "block"}  # what they are called


def _said(p: Product, sides: Sequence[int], dot: Dot, what: str) -> str:
    """A block in a few words."""
    size = " x ".join(map(str, sides))
    return f"{p.holder or p.sums} in blocks of {size} by `{dot.instruction}` ({what})"


def tensor_lines(
    graph: Graph, plan: Plan, own: list[str], registers: int | None
) -> tuple[list[Line], str, float]:
    """The lines of a product, what they do in a few words, and its cycles. `own`: what the first line of its
    holder begins with."""
    p = plan.product
    counts = sorted(plan.ways, key=lambda count: plan.ways[count][0])
    pieces = graph.choices.pick(f"{p.sums}.pieces", counts[0], counts[1:])
    _, product, steps, ways = plan.ways[pieces]
    before: list[Line] = []
    if pieces > 1:
        before, own = split_lines(graph, p, product, steps)
    way = picked(graph.choices, f"{p.sums}.{_CHOICES[plan.kind]}", ways, lambda x: x.option)
    assert way is not None
    cost = way.cycles if registers is None else way.again(registers)
    lines, about = [*before, *way.lines(own)], way.about
    if pieces > 1:
        lines += gathering_lines(graph, p, pieces)
        about += f", {pieces} pieces of {steps} steps"
        cost += gathering(p, pieces)
    return lines, about, cost
