"""Tiles that are in no product: of which others they are a kind.

acc_2[..] = x256(0.0)               # the condition of the sum is false for all of it
C[..]     = acc_2.f32x256[..]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import same


def neighbours(tiles: Iterable[ir.Allocate], known: Collection[str]) -> dict[str, str]:
    """For the tiles that are not known, one that is and of the same size: the nearest allocated before it,
    as those of one buffer follow each other, else the nearest after. `tiles` as they are allocated; where
    none is of the size, a tile is left out."""
    order = list(tiles)
    pairs: dict[str, str] = {}
    for n, a in enumerate(order):
        if a.buffer in known:
            continue
        for other in [*reversed(order[:n]), *order[n + 1 :]]:
            if other.buffer in known and _are_of_a_size(a, other):
                pairs[a.buffer] = other.buffer
                break
    return pairs


def _are_of_a_size(a: ir.Allocate, b: ir.Allocate) -> bool:
    return a.element == b.element and a.memory is b.memory and same(a.extent, b.extent)
