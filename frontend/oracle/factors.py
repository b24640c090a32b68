"""Recognises sums of products of two factors that matrix products compute fast, and cuts them up.

What both factors mention is summed or batched. Where one factor is a window that slides (x and r
only as a * x + r), as in a convolution, x is cut into blocks: see `oracle_contract`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hbc.frontend.oracle.points import Ranges, chunks, linear
from hbc.frontend.oracle.program import CONTRACTED_POINTS, accesses
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.lang.walk import free_variables

BLOCK = 64
"""How many positions of a sliding window share a matrix."""


@record
class Window:
    """The first factor depends on `pure` and `reduce` only through `stride * pure + reduce`."""

    pure: str
    reduce: str
    stride: int


@record
class Contraction:
    """Two factors, and for each kind of variable those that it has. `exact`: products of the factors
    are exact at the declared type."""

    first: ir.Expr
    second: ir.Expr
    batch: tuple[str, ...]  # pure, in both
    left: tuple[str, ...]  # pure, in the first only
    right: tuple[str, ...]  # pure, in the second only
    summed: tuple[str, ...]  # reduce, in both
    first_only: tuple[str, ...]  # reduce
    second_only: tuple[str, ...]  # reduce
    window: Window | None
    exact: bool


def contraction(term: ir.Expr, element: DType, reduce: Ranges, pure: Ranges) -> Contraction | None:
    """How to compute the sums of `term` by matrix products; None when that is not faster."""
    if (
        not (isinstance(term, ir.Binary) and term.op is ir.Op.MUL)
        or element.is_narrow
        or element == BOOL
    ):
        return None
    for first, second in ((term.a, term.b), (term.b, term.a)):
        classified = _classify(first, second, element, reduce, pure)
        if _worthwhile(classified, reduce, pure):
            return classified
    return None


def _classify(
    first: ir.Expr, second: ir.Expr, element: DType, reduce: Ranges, pure: Ranges
) -> Contraction:
    one, two = free_variables(first), free_variables(second)
    left = tuple(v for v in pure if v in one and v not in two)
    summed = tuple(v for v in reduce if v in one and v in two)
    right = tuple(v for v in pure if v in two and v not in one)
    return Contraction(
        first,
        second,
        tuple(v for v in pure if v in one and v in two),
        left,
        right,
        summed,
        tuple(v for v in reduce if v in one and v not in two),
        tuple(v for v in reduce if v in two and v not in one),
        None if right else _window(first, left, summed, reduce),
        not element.is_float or _bits(first) + _bits(second) <= element.precision,
    )


def _worthwhile(c: Contraction, reduce: Ranges, pure: Ranges) -> bool:
    """Whether each evaluated element of a factor is used many times."""
    counts = {name: count for name, (_, count) in (*reduce.items(), *pure.items())}
    right = grid_size(c.right, counts) if c.window is None else min(BLOCK, counts[c.window.pure])
    return min(grid_size(c.left, counts), right) >= 8 and grid_size(c.summed, counts) >= 2


def grid_size(names: tuple[str, ...], counts: dict[str, int]) -> int:
    """The number of points over some variables."""
    return int(np.prod([counts[name] for name in names], dtype=np.int64))


def _window(
    first: ir.Expr, left: tuple[str, ...], summed: tuple[str, ...], reduce: Ranges
) -> Window | None:
    """The sliding window with most positions."""
    candidates = [
        Window(x, r, stride)
        for x in left
        for r in summed
        if (stride := _stride(first, x, r)) is not None and reduce[r][1] >= 4
    ]
    return max(candidates, key=lambda w: reduce[w.reduce][1], default=None)


def _stride(e: ir.Expr, x: str, r: str) -> int | None:
    """a, when `e` mentions x and r only as `a * x + r` inside indices."""
    strides = set()
    for one in accesses(e):
        for index in one.indices:
            if not {x, r} & free_variables(index):
                continue
            form = linear(index)
            terms = {} if form is None else dict(form.terms)
            if terms.get(r) != 1 or terms.get(x, 0) < 1:
                return None
            strides.add(terms[x])
    if len(strides) != 1 or not _only_indices(e):
        return None
    return strides.pop()


def _only_indices(e: ir.Expr) -> bool:
    """Casts and products of accesses: variables occur in indices only."""
    match e:
        case ir.Access():
            return True
        case ir.Cast(value=value):
            return _only_indices(value)
        case ir.Binary(op=ir.Op.MUL, a=a, b=b):
            return _only_indices(a) and _only_indices(b)
        case _:
            return False


def _bits(e: ir.Expr) -> int:
    """Significant bits that a float factor may have."""
    source = e.value.type.element if isinstance(e, ir.Cast) else e.type.element
    return source.precision if source.is_float else source.bits


def pieces(c: Contraction, reduce: Ranges, pure: Ranges, limit: int) -> dict[str, int]:
    """How many values of each reduce variable to take at once, so that the grids of both factors
    stay below `limit`."""
    lengths = {name: count for name, (_, count) in reduce.items()}
    counts = {name: count for name, (_, count) in pure.items()}
    shared = 1.0
    if c.window is not None:
        taps = lengths[c.window.reduce]
        block = min(BLOCK, counts[c.window.pure])
        shared = block * taps / (taps + c.window.stride * block)
    for kept, mine in (
        (c.batch + c.left, c.summed + c.first_only),
        (c.batch + c.right, c.summed + c.second_only),
    ):
        free = [v for v in mine if c.window is None or v != c.window.reduce]
        while grid_size(kept, counts) * grid_size(mine, lengths) > limit * shared:
            longest = max(free, key=lambda v: lengths[v], default=None)
            if longest is None or lengths[longest] == 1:
                break
            lengths[longest] = (lengths[longest] + 1) // 2
        shared = 1.0
    return lengths


def window_pieces(c: Contraction | None, pure: Ranges) -> Iterator[Ranges]:
    """Pieces of the pure ranges; the sliding variable cut where its last whole block ends."""
    for piece in chunks(pure, CONTRACTED_POINTS):
        if c is None or c.window is None:
            yield piece
            continue
        x = c.window.pure
        start, count = piece[x]
        whole = count // BLOCK * BLOCK
        for cut in ((start, whole), (start + whole, count - whole)):
            if cut[1]:
                yield {**piece, x: cut}
