"""Loops over blocks as one: a grid has no limit in its first dimension, and 65,535 in the others."""

from __future__ import annotations

from hbc.frontend.automatic.text import call
from hbc.frontend.costs.graph import Graph


def one_grid(graph: Graph, loops: list[str]) -> tuple[list[str], str]:
    """The directives that make one loop of neighbours, and its name."""
    fused: list[str] = []
    taken = set(loops)
    while len(loops) > 1:
        a, b, *rest = loops
        both = graph.name("block" if not rest else a, "" if not rest else "f")
        while both in taken:
            both += "f"
        taken.add(both)
        fused.append(call("fuse", [a, b, both]))
        loops = [both, *rest]
    return fused, loops[0]
