"""What fragments of tensor cores ask of the arrays that they are loaded from and stored to.

Their rows lie at multiples of 16 bytes, and they begin at multiples of 32 (CUDA C++ Programming Guide,
"Warp matrix functions", load_matrix_sync). Where strides of arguments decide that, the kernel tests them,
and goes through shared memory where they are odd.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import gcd, lcm

from hbc.ir.algebra.layout import layout
from hbc.ir.algebra.linear import factors, linear
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, const_value, eq, mod
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.launches import THREADS
from hbc.ir.lang.show import show
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, map_stmt, statements

_WHOLE = Memory.WMMA  # fragments that are moved as a whole
BEGIN, ROW = 32, 16
"""Bytes that the first element of a fragment, and each row, is aligned to."""


def moves_anywhere(kernel: Kernel) -> Kernel:
    """The kernel where fragments are loaded from arguments, and stored to them, whatever their strides."""
    allocated = [n for n in statements(kernel.body) if isinstance(n, ir.Allocate)]
    tiles = frozenset(a.buffer for a in allocated if a.memory is _WHOLE)
    arguments = {a.name: a for a in kernel.arguments}
    work = _Work(arguments, tiles, {a.buffer for a in allocated})
    return kernel.map_body(work.outside) if tiles else kernel


@mutable
class _Work:
    """The walk. `tiles`: the buffers that are fragments; `taken`: the names of all."""

    arguments: Mapping[str, Argument]
    tiles: Collection[str]
    taken: set[str]

    def outside(self, s: ir.Stmt) -> ir.Stmt:
        """Around the loops over threads: one nest for aligned strides of what is loaded, one for others.

        threads { tile = A[..] }  ->  if A_stride0 % 8 == 0 { threads { tile = A[..] } }
                                      else { threads { copy[..] = A[..]; tile = copy[..] } }
        """
        if not isinstance(s, ir.For) or s.kind not in THREADS:
            return map_stmt(s, lambda e: e, self.outside)
        needed: dict[str, int] = {}
        for n in statements(s):
            load = self._loaded(n)
            for stride, by in ({} if load is None else self._divisors(load)).items():
                needed[stride] = lcm(needed.get(stride, 1), by)
        if not needed:
            return self.inside(s, odd=False)
        return ir.If(_multiples(needed), self.inside(s, odd=False), self.inside(s, odd=True))

    def inside(self, s: ir.Stmt, odd: bool) -> ir.Stmt:
        """In a loop over threads: loads through memory if strides are `odd`, and each store under a
        test of its own.

        C[..] = tile  ->  if C_stride0 % 4 == 0 { C[..] = tile } else { copy[..] = tile; C[..] = copy[..] }
        """
        if not isinstance(s, ir.Store):
            return map_stmt(s, lambda e: e, lambda c: self.inside(c, odd))
        load = self._loaded(s)
        if load is not None:
            return self._by_copy(s, load) if odd and self._divisors(load) else s
        if (
            s.mask is not None
            or not isinstance(s.value, ir.Load)
            or s.value.buffer not in self.tiles
        ):
            return s
        needed = self._divisors(s)
        return ir.If(_multiples(needed), s, self._by_copy(s, s.value)) if needed else s

    def _loaded(self, s: ir.Stmt) -> ir.Load | None:
        """What a statement loads to a fragment: all of it, or one row again and again."""
        if not isinstance(s, ir.Store) or s.buffer not in self.tiles:
            return None
        value = s.value.value if isinstance(s.value, ir.Broadcast) else s.value
        return value if isinstance(value, ir.Load) and value.buffer not in self.tiles else None

    def _by_copy(self, s: ir.Store, moved: ir.Load) -> ir.Stmt:
        """The store with what it moves on its way in memory."""
        name, count = f"{moved.buffer}_copy", 0
        while name in self.taken:
            count += 1
            name = f"{moved.buffer}_copy_{count}"
        self.taken.add(name)
        place, extent = _aligned_rows(moved)
        copied: ir.Expr = ir.Load(name, place, moved.type)
        if isinstance(s.value, ir.Broadcast):
            copied = replace(s.value, value=copied)
        return ir.Allocate(
            name, moved.type.element, ir.const_index(extent), Memory.STACK,
            block(ir.Store(name, place, moved), replace(s, value=copied)),
            "a fragment on its way between rows that are not aligned",
        )  # fmt: skip

    def _divisors(self, at: ir.Load | ir.Store) -> dict[str, int]:
        """What must divide each stride of an argument where a fragment is moved."""
        a, flat = self.arguments.get(at.buffer), layout(at.index)
        if a is None or flat is None:
            return {}
        size = a.element.bytes
        rows = (stride for _, stride in flat.dims if const_value(stride) != 1)
        needed: dict[str, int] = {}
        for e, least in ((flat.base, BEGIN // size), *((s, ROW // size) for s in rows)):
            form = linear(e)
            for atom, coefficient in ((None, form.constant), *form.terms):
                short = least // gcd(least, coefficient)
                if short == 1:
                    continue
                stride = _stride_in(atom, a)
                if stride is None:
                    raise InternalError(f"a fragment of `{a.name}` is never aligned: {show(at)}")
                needed[stride] = lcm(needed.get(stride, 1), short)
        return needed


def _aligned_rows(moved: ir.Load) -> tuple[ir.Expr, int]:
    """Where the elements lie in memory of their own, row after row, each at a multiple of ROW bytes; and
    how many elements that takes."""
    lanes, flat = moved.type.lanes, layout(moved.index)
    dims = () if flat is None else flat.dims
    columns = dims[-1][0] if dims and const_value(dims[-1][1]) == 1 else lanes
    least = ROW // moved.type.element.bytes
    if columns % least == 0:
        return ir.Ramp(ir.const_index(0), ir.const_index(1), lanes), lanes
    pitch, rows = -(-columns // least) * least, lanes // columns
    row = ir.Ramp(ir.const_index(0), ir.const_index(1), columns)
    return ir.Ramp(row, ir.Broadcast(ir.const_index(pitch), columns), rows), pitch * rows


def _stride_in(atom: ir.Expr | None, a: Argument) -> str | None:
    """The stride of the argument that is a factor of a part of an index."""
    names = {a.stride_name(d) for d in range(len(a.extents) - 1)}
    strides = () if atom is None else factors(atom)
    return next((v.name for v in strides if isinstance(v, ir.Var) and v.name in names), None)


def _multiples(needed: Mapping[str, int]) -> ir.Expr:
    return and_(*(eq(mod(ir.Var(stride), n), 0) for stride, n in sorted(needed.items())))
