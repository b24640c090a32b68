"""Operands put in another order, as instructions want them: nests of rows of memory, with and without
masks. Lanes that a mask turns off lie outside the array, behind which memory faults.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from lanes import QUICK, call
from values import values

from hbc.ir.algebra.layout import Layout, to_index
from hbc.ir.lang.build import add, and_, broadcast, lt, mul
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import Block, Expr, For, Load, LoopKind, Ramp, Stmt, Store, Var, const_index
from hbc.ir.lang.types import BF16, F32, I8, DType
from hbc.ir.meaning.numpy_types import Array

ROWS, COLUMNS = 19, 37
ROOM = 1088
K, N, STRIDE = Var("K"), Var("N"), Var("B_stride0")


@dataclass(frozen=True, slots=True)
class Nest:
    """Loops from the outermost in: how often, and how many rows and columns each step is."""

    name: str
    loops: tuple[tuple[int, int, int], ...]

    @property
    def lanes(self) -> int:
        return prod(n for n, _, _ in self.loops)

    def positions(self, row: int, column: int) -> list[tuple[int, int]]:
        """Row and column of every lane."""
        found = []
        for at in product(*(range(n) for n, _, _ in self.loops)):
            r = row + sum(i * dr for i, (_, dr, _) in zip(at, self.loops, strict=True))
            c = column + sum(i * dc for i, (_, _, dc) in zip(at, self.loops, strict=True))
            found.append((r, c))
        return found


NESTS = [
    *(Nest(f"{k} rows interleaved x {n}", ((n, 0, 1), (k, 1, 0)))
      for k, n in ((2, 16), (4, 16), (4, 8), (2, 8), (4, 4), (8, 8), (2, 12), (3, 16), (4, 5))),
    *(Nest(f"groups of {g} from {n} rows", ((n, 1, 0), (g, 0, 1)))
      for g, n in ((4, 16), (2, 16), (8, 8), (4, 8), (4, 4), (16, 4), (4, 5), (3, 7))),
    *(Nest(f"groups of {g} from {n} rows, {w} beside each other", ((w, 0, g), (n, 1, 0), (g, 0, 1)))
      for g, n, w in ((4, 16, 4), (2, 16, 4), (2, 8, 8), (8, 8, 2), (4, 8, 3), (1, 16, 16))),
    *(Nest(f"{m} x {n} transposed", ((n, 0, 1), (m, 1, 0)))
      for m, n in ((16, 16), (8, 8), (4, 4), (16, 4), (4, 16), (16, 8), (5, 7), (8, 12))),
    *(Nest(f"windows of {g} x {n}", ((n, 0, 1), (g, 0, 1))) for g, n in ((4, 16), (2, 16), (8, 8), (4, 8))),
    *(Nest(f"{n} copies of {g}", ((n, 0, 0), (g, 0, 1))) for g, n in ((4, 16), (2, 16), (8, 4), (4, 4))),
    Nest("rows from below", ((16, 0, 1), (4, -1, 0))),
    Nest("every second column of 4 rows", ((4, 1, 0), (16, 0, 2))),
    Nest("every second row", ((4, 2, 0), (16, 0, 1))),
    Nest("rows askew", ((16, 1, 1), (4, 0, 1))),
    Nest("two by two", ((8, 0, 2), (2, 1, 0), (2, 0, 1))),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A nest from a row and column on; masked, it reaches over the array's end."""

    nest: Nest
    row: int
    column: int
    by_rows: bool = False
    by_columns: bool = False

    def index(self, base: Expr, step: tuple[Expr, Expr]) -> Expr:
        dims = tuple((n, add(mul(step[0], dr), mul(step[1], dc))) for n, dr, dc in self.nest.loops)
        return to_index(Layout(base, dims))

    def load(self, t: DType) -> Expr:
        one, none = const_index(1), const_index(0)
        row, column = const_index(self.row), const_index(self.column)
        live: Expr | None = None
        if self.by_rows:
            live = lt(self.index(row, (one, none)), broadcast(K, self.nest.lanes))
        if self.by_columns:
            below = lt(self.index(column, (none, one)), broadcast(N, self.nest.lanes))
            live = below if live is None else and_(live, below)
        at = self.index(add(mul(STRIDE, self.row), self.column), (STRIDE, one))
        return Load("B", at, t(self.nest.lanes), live)

    def expected(self, b: Array) -> Array:
        result = np.zeros(self.nest.lanes, b.dtype)
        for lane, (r, c) in enumerate(self.nest.positions(self.row, self.column)):
            inside = (not self.by_rows or r < ROWS) and (not self.by_columns or c < COLUMNS)
            if inside:
                result[lane] = b[r, c]
        return result

    def __str__(self) -> str:
        under = " and ".join(["rows"] * self.by_rows + ["columns"] * self.by_columns)
        return self.nest.name + (f", masked by {under}" if under else "")


def cases() -> list[Case]:
    """Every nest inside, and beyond the last row, the last column, both."""
    found = []
    for nest in NESTS:
        places = nest.positions(0, 0)
        down, right = max(r for r, _ in places), max(c for _, c in places)
        up = -min(r for r, _ in places)
        found.append(Case(nest, ROWS - 1 - down, COLUMNS - 1 - right))
        rows, columns = down > 0, right > 0
        if rows and columns:
            found.append(Case(nest, ROWS - 1 - down // 3, COLUMNS - 2, True, True))
        if nest.lanes > 64:
            continue  # one mask is enough text
        if rows:
            found.append(Case(nest, max(up, ROWS - 1 - down // 2), 1, by_rows=True))
        if columns:
            found.append(Case(nest, up, COLUMNS - 1 - right // 3, by_columns=True))
    return found


def kernel_of(all_cases: list[Case], t: DType) -> Kernel:
    """Every case stored in its own row."""
    body: list[Stmt] = []
    for i, c in enumerate(all_cases):
        store = Store("P", Ramp(const_index(i * ROOM), const_index(1), c.nest.lanes), c.load(t))
        body.append(For("once", const_index(0), const_index(1), LoopKind.SERIAL, store, str(c)))
    b = Argument("B", t, (K, N), False)
    p = Argument("P", t, (const_index(len(all_cases) * ROOM),), True)
    return Kernel("packing", (Size("K"), Size("N")), (b, p), (), (), Block(tuple(body)))


@pytest.mark.parametrize("t", [I8, BF16, F32], ids=str)
def test_packing(t: DType, vector_target: str, tmp_path: Path) -> None:
    found = cases()
    whole = values(f"a_{t}")
    b = np.resize(np.roll(whole, 17), (ROWS, COLUMNS)).copy()
    sizes = {"K": ROWS, "N": COLUMNS}
    got = call(kernel_of(found, t), {"B": b}, vector_target, tmp_path, (*QUICK, "-O0"), sizes)["P"]
    wrong = [
        str(c)
        for i, c in enumerate(found)
        if got[i * ROOM : i * ROOM + c.nest.lanes].tobytes() != c.expected(b).tobytes()
    ]
    assert wrong == []
