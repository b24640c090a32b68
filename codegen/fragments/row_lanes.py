"""Rows of fragments reduced by the lanes that have them: each its own elements, then shuffles.

    top[ramp(16 * w, 1, 16)] = max(top[..], reduce<max>(acc[ramp(0, 1, 256)], 16))
->  lanes l count 32 { allocate row: f32[1] { row[0] = max(acc[8 * (l / 4)], ..)
                                              warp by 4 atomic max top[16 * w + l / 4] = row[0] } .. }

Several fragments side by side in the same rows are reduced by each lane before anything is shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from hbc.codegen.fragments.fragment_kinds import FragmentKind
from hbc.ir.algebra.lane_at import at_lane
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, floordiv
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, nodes_of, rewrite
from hbc.ir.meaning.fragment_layout import Numbers
from hbc.ir.passes.halves import widen_halves

Place = Callable[[FragmentKind, int], ir.Expr]
"""The number in its fragment of an element of the lane at hand."""
_FIRST = ir.const_index(0)


@record
class RowReduction:
    """`store` updates the elements of rows by what the rows of a fragment come to, in which `value` is
    computed."""

    store: ir.Store
    op: ir.Op
    value: ir.Expr
    kind: FragmentKind

    @property
    def place(self) -> tuple[object, ...]:
        """The same for reductions that may be done together."""
        s = self.store
        return s.buffer, s.index, s.mask, self.op, self.run

    @property
    def run(self) -> int:
        """Elements of a row."""
        return self.value.type.lanes // self.store.value.type.lanes


def row_reduction(s: ir.Stmt, kinds: Mapping[str, FragmentKind]) -> RowReduction | None:
    """What the statement reduces; None where it reduces no fragment."""
    match s:
        case ir.Store(value=ir.Binary(op=op, a=ir.Load() as old, b=ir.VectorReduce() as new)) if (
            new.op is op and (old.buffer, old.index) == (s.buffer, s.index)
        ):
            read = [n.buffer for n in nodes_of(new, ir.Load) if n.buffer in kinds]
            return RowReduction(s, op, new.value, kinds[read[0]]) if read else None
        case _:
            return None


def reduced_rows(
    together: Sequence[RowReduction], lane: str, place: Place, fresh: Callable[[str], str]
) -> ir.Stmt:
    """The reductions, which are of one place, by the lanes that hold them."""
    first = together[0]
    s, t = first.store, first.value.type.element
    body: list[ir.Stmt] = []
    for row, lanes, values in _rows(together, place):
        name = fresh("row")
        own = ir.Load(name, _FIRST, t(1))
        steps: list[ir.Stmt] = []
        mask = None if s.mask is None else simplify(at_lane(s.mask, row))
        for n, value in enumerate(values):
            value = value if mask is None else _where(mask, value)
            value = value if n == 0 else binary(first.op, own, value)
            steps.append(ir.Store(name, _FIRST, widen_halves(value)))
        end = ir.Store(
            s.buffer, at_lane(s.index, row), own, mask, s.span, atomic=first.op, warp=lanes
        )
        one = ir.const_index(1)
        body.append(ir.Allocate(name, t, one, Memory.STACK, block(*steps, end), "", s.span))
    loop = ir.For(lane, _FIRST, ir.const_index(first.kind.lanes), ir.LoopKind.LANE, block(*body))
    return simplify_stmt(loop)


def _where(mask: ir.Expr, value: ir.Expr) -> ir.Expr:
    """What counts only where the mask holds: a row is of lanes of which it holds alike. Loads keep theirs:
    elsewhere there may be no memory."""

    def known(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Select(condition=c, a=a) if c == mask:
                return a
            case _:
                return e

    return rewrite(simplify(value), known)


def _rows(
    together: Sequence[RowReduction], place: Place
) -> Iterator[tuple[ir.Expr, int, list[ir.Expr]]]:
    """For each row that a lane has elements of: its number, how many neighbouring lanes share it, and what
    the elements of each fragment come to."""
    rows: dict[bytes, tuple[ir.Expr, int, list[ir.Expr]]] = {}
    for r in together:
        own: dict[bytes, list[int]] = {}
        for element in range(r.kind.count):
            numbers = r.kind.elements[:, element] // r.run
            own.setdefault(numbers.tobytes(), []).append(element)
        for key, elements in own.items():
            if key not in rows:
                numbers = np.frombuffer(key, r.kind.elements.dtype)
                row = floordiv(place(r.kind, elements[0]), r.run)
                rows[key] = row, _sharing(numbers), []
            parts = [at_lane(r.value, place(r.kind, e)) for e in elements]
            rows[key][2].append(_tree(r.op, parts))
    yield from rows.values()


def _sharing(rows: Numbers) -> int:
    """How many neighbouring lanes have elements of the same row, each row being of one such group."""
    for lanes in (32, 16, 8, 4, 2, 1):
        groups = rows.reshape(-1, lanes)
        alike = (groups == groups[:, :1]).all()
        if alike and len(np.unique(groups[:, 0])) == len(groups):
            return lanes
    raise InternalError("codegen: lanes that are apart have elements of one row")


def _tree(op: ir.Op, parts: Sequence[ir.Expr]) -> ir.Expr:
    """All of them, by as few steps one after the other as there can be."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return binary(op, _tree(op, parts[:half]), _tree(op, parts[half:]))
